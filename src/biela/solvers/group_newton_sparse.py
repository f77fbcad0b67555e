"""Sparse LU of unsymmetric matrices, pivots found among the rows and kept as long as they serve.

*Analysis* takes the columns in a fixed order and finds, of each, what is left of it after those
before by a walk over L (Gilbert & Peierls 1988, "Sparse partial pivoting in time proportional to
arithmetic operations", SIAM J. Sci. Stat. Comput. 9).  The pivot is one of the rows with at least a
tenth of the largest entry, that with fewest entries in the matrix.  *Refactoring* repeats the same
operations on other numbers without a look at patterns; a pivot that has become small against the
rest of its column is told, and the matrix is analysed anew.  Nothing is ever divided by what
happened to be large before.

There may be more rows than columns: those that get no pivot are left out.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Vector, routine
from biela.solvers.lu import PIVOT_TOLERANCE

__all__ = ["sparse_lu_analyse", "sparse_lu_refactor", "sparse_lu_sign", "sparse_lu_solve"]

#: Part of the largest entry that a pivot has to be when it is chosen, and later on.
CHOSEN_PART = 0.1
KEPT_PART = 0.01


@routine(
    column_start="m + 1", row_of="e", take="e", order="m", row_counts="r", V="e", pivot_row="m",
    step_of="r", L_start="m + 1", L_row="nl", L="nl", U_start="m + 1", U_step="nu", U="nu", D="m",
    x="r", mark="r", stack="r", at="r", found="r",
)  # fmt: skip
def sparse_lu_analyse(
    r: Int, m: Int, e: Int, nl: Int, nu: Int, column_start: IntVector, row_of: IntVector,
    take: IntVector, order: IntVector, row_counts: IntVector, V: Vector, pivot_row: IntVector,
    step_of: IntVector, L_start: IntVector, L_row: IntVector, L: Vector, U_start: IntVector,
    U_step: IntVector, U: Vector, D: Vector, x: Vector, mark: IntVector, stack: IntVector,
    at: IntVector, found: IntVector,
) -> Int:  # fmt: skip
    """Factor with new pivots; return 1, or 0 if the matrix is singular to working precision.

    Column `order[k]` is the k-th: its entries are `V[take[p]]` in the rows `row_of[p]`, p from
    `column_start[order[k]]` on.  Column k of L has a unit at the row `pivot_row[k]`, and the rows
    `L_row` from `L_start[k]` on; that of U has D[k], and above it the steps `U_step` from
    `U_start[k]` on, each after those it depends on.  `step_of[i]` is the step whose pivot is row i.
    """
    for i in range(r):
        step_of[i] = -1
        mark[i] = -1
        x[i] = 0.0
    L_start[0] = 0
    U_start[0] = 0
    for k in range(m):
        j = order[k]
        # which rows the column has an entry in, once those before are eliminated: found[top:],
        # every row after the rows whose pivots change it
        top = r
        scale = 0.0
        for p in range(column_start[j], column_start[j + 1]):
            row = row_of[p]
            if mark[row] == k:
                continue
            depth = 0
            stack[0] = row
            mark[row] = k
            at[0] = 0
            # each row is pushed once, and each entry of L looked at once
            for _ in range(2 * r + nl):
                row = stack[depth]
                step = step_of[row]
                deeper = 0
                if step >= 0:
                    begin = L_start[step] + at[depth]
                    for p2 in range(begin, L_start[step + 1]):
                        if mark[L_row[p2]] != k:
                            at[depth] = p2 + 1 - L_start[step]
                            deeper = 1
                            row = L_row[p2]
                            break
                if deeper == 1:
                    depth += 1
                    stack[depth] = row
                    mark[row] = k
                    at[depth] = 0
                    continue
                top -= 1
                found[top] = row
                depth -= 1
                if depth < 0:
                    break
        for p in range(column_start[j], column_start[j + 1]):
            x[row_of[p]] = V[take[p]]

        # eliminate, and look for the pivot
        fill = U_start[k]
        largest = 0.0
        finite = 1
        for t in range(top, r):
            row = found[t]
            step = step_of[row]
            value = x[row]
            if step >= 0:
                U_step[fill] = step
                U[fill] = value
                fill += 1
                scale = max(scale, abs(value))
                for p in range(L_start[step], L_start[step + 1]):
                    x[L_row[p]] -= L[p] * value
            else:
                largest = max(largest, abs(value))
                if not abs(value) <= 1e300:
                    finite = 0
        U_start[k + 1] = fill
        best = -1
        fewest = 0
        for t in range(top, r):
            row = found[t]
            if step_of[row] >= 0 or abs(x[row]) < CHOSEN_PART * largest:
                continue
            if best < 0 or row_counts[row] < fewest:
                best = row
                fewest = row_counts[row]
        if best < 0 or finite == 0 or not largest > PIVOT_TOLERANCE * max(scale, largest):
            for t in range(top, r):
                x[found[t]] = 0.0
            return 0
        D[k] = x[best]
        pivot_row[k] = best
        step_of[best] = k
        fill = L_start[k]
        for t in range(top, r):
            row = found[t]
            if step_of[row] < 0:
                L_row[fill] = row
                L[fill] = x[row] / D[k]
                fill += 1
            x[row] = 0.0
        L_start[k + 1] = fill
    return 1


@routine(
    column_start="m + 1", row_of="e", take="e", order="m", V="e", pivot_row="m", L_start="m + 1",
    L_row="nl", L="nl", U_start="m + 1", U_step="nu", U="nu", D="m", x="r",
)  # fmt: skip
def sparse_lu_refactor(
    r: Int, m: Int, e: Int, nl: Int, nu: Int, column_start: IntVector, row_of: IntVector,
    take: IntVector, order: IntVector, V: Vector, pivot_row: IntVector, L_start: IntVector,
    L_row: IntVector, L: Vector, U_start: IntVector, U_step: IntVector, U: Vector, D: Vector,
    x: Vector,
) -> Int:  # fmt: skip
    """Factor with the pivots of the last analysis; return 1, or 0 if one of them is too small.

    Rows without a pivot are no matter here: x, which is zero before and after, has them too.
    """
    for k in range(m):
        j = order[k]
        for p in range(column_start[j], column_start[j + 1]):
            x[row_of[p]] = V[take[p]]
        scale = 0.0
        for p in range(U_start[k], U_start[k + 1]):
            step = U_step[p]
            row = pivot_row[step]
            value = x[row]
            U[p] = value
            x[row] = 0.0
            scale = max(scale, abs(value))
            for p2 in range(L_start[step], L_start[step + 1]):
                x[L_row[p2]] -= L[p2] * value
        pivot = x[pivot_row[k]]
        x[pivot_row[k]] = 0.0
        D[k] = pivot
        largest = abs(pivot)
        for p in range(L_start[k], L_start[k + 1]):
            value = x[L_row[p]]
            x[L_row[p]] = 0.0
            largest = max(largest, abs(value))
            L[p] = value / pivot
        good = abs(pivot) >= KEPT_PART * largest and abs(pivot) > PIVOT_TOLERANCE * scale
        if not good:
            # the rows of later columns were not touched
            return 0
    return 1


@routine(
    pivot_row="m", order="m", L_start="m + 1", L_row="nl", L="nl", U_start="m + 1", U_step="nu",
    U="nu", D="m", b="r", y="m", solution="m",
)  # fmt: skip
def sparse_lu_solve(
    r: Int, m: Int, nl: Int, nu: Int, order: IntVector, pivot_row: IntVector, L_start: IntVector,
    L_row: IntVector, L: Vector, U_start: IntVector, U_step: IntVector, U: Vector, D: Vector,
    b: Vector, y: Vector, solution: Vector,
) -> None:  # fmt: skip
    """Solve A x = b for the rows with pivots; `b` is overwritten, `y` is scratch."""
    for k in range(m):
        value = b[pivot_row[k]]
        y[k] = value
        if value != 0.0:
            for p in range(L_start[k], L_start[k + 1]):
                b[L_row[p]] -= L[p] * value
    for k in range(m - 1, -1, -1):
        value = y[k] / D[k]
        solution[order[k]] = value
        for p in range(U_start[k], U_start[k + 1]):
            y[U_step[p]] -= U[p] * value


@routine(pivot_row="m", order="m", D="m", chosen="r", mark="r")
def sparse_lu_sign(
    r: Int, m: Int, pivot_row: IntVector, order: IntVector, D: Vector, chosen: IntVector,
    mark: IntVector,
) -> Int:  # fmt: skip
    """The sign of the determinant of the rows with pivots, in their order.

    `chosen[i]` becomes the number of row i among them, or -1; `mark` is scratch.
    """
    for i in range(r):
        chosen[i] = -1
    for k in range(m):
        chosen[pivot_row[k]] = 0
    count = 0
    for i in range(r):
        if chosen[i] == 0:
            chosen[i] = count
            count += 1
    # the permutation that takes the k-th column to the k-th pivot's row, by its cycles
    sign = 1
    for k in range(m):
        mark[order[k]] = chosen[pivot_row[k]]
        if D[k] < 0.0:
            sign = -sign
    for k in range(m):
        if mark[k] < 0:
            continue
        following = mark[k]
        mark[k] = -1
        for _ in range(m):
            if following == k:
                break
            here = following
            following = mark[here]
            mark[here] = -1
            sign = -sign
    return sign
