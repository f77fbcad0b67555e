"""Dense LU of the Jacobian of a group, with rows exchanged; superfluous rows are left out.

A matrix comes as a list of entries.  With more rows than columns the square matrix is that of
`chosen` rows; which ones suit is found by elimination with pivots among all of them.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Matrix, Vector, routine
from biela.solvers.lu import PIVOT_TOLERANCE, lu_solve

__all__ = [
    "CARRIED",
    "CHANGED",
    "KNOWN",
    "carry_sign",
    "choose_rows",
    "dense_jacobian_factor",
    "dense_jacobian_solve",
    "row_lu_factor",
]

#: What an instance keeps: the sign that the determinant of its rows counts with, whether these have
#: changed, and whether there are entries of an instant before.
CARRIED, CHANGED, KNOWN = 0, 1, 2
#: A pivot below this part of the largest entry of its column asks for other rows, if there are any.
WEAK = 1e-3


@routine(A="n, n", pivots="n", weakest="1")
def row_lu_factor(n: Int, A: Matrix, pivots: IntVector, weakest: Vector) -> Int:
    """Factor P A = L U in place, row by row; return the sign of det A, 0 if A is singular.

    Row i loses l_ik times row k for each pivot k < i: whole rows are added, which the lanes of the
    processor do, and a row with nothing in column k is left alone.  Pivots are the largest of their
    columns; A is singular if one is below 1e-14 of the largest entry of its column in U, or no
    number.  `weakest` is the smallest part that a pivot is of that entry.

    Golub & Van Loan 2013, Matrix Computations, §3.4.
    """
    weakest[0] = 1.0
    sign = 1
    # a column is measured by what elimination has made of it, above its pivot and below
    for k in range(n):
        scale = 0.0
        for i in range(k):
            scale = max(scale, abs(A[i, k]))
        largest = -1.0
        best = k
        for i in range(k, n):
            if abs(A[i, k]) > largest:
                largest = abs(A[i, k])
                best = i
        scale = max(scale, largest)
        pivots[k] = best
        if not largest > PIVOT_TOLERANCE * scale:
            weakest[0] = 0.0
            return 0
        weakest[0] = min(weakest[0], largest / scale)
        if best != k:
            sign = -sign
            for j in range(n):
                held = A[k, j]
                A[k, j] = A[best, j]
                A[best, j] = held
        if A[k, k] < 0.0:
            sign = -sign
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                part = A[i, k] / A[k, k]
                A[i, k] = part
                for j in range(k + 1, n):
                    A[i, j] -= part * A[k, j]
    return sign


@routine(rows="e", columns="e", V="e", chosen="r", A="m, m", pivots="m", weakest="1")
def factor_chosen(
    r: Int, m: Int, e: Int, rows: IntVector, columns: IntVector, V: Vector, chosen: IntVector,
    A: Matrix, pivots: IntVector, weakest: Vector,
) -> Int:  # fmt: skip
    """Factor the square matrix of the chosen rows; return the sign of its determinant.

    `chosen[i]` is the place of row i in the square matrix, or negative.
    """
    for i in range(m):
        for j in range(m):
            A[i, j] = 0.0
    for k in range(e):
        place = chosen[rows[k]]
        if place >= 0:
            A[place, columns[k]] = V[k]
    return row_lu_factor(m, A, pivots, weakest)


@routine(rows="e", columns="e", V="e", chosen="r", B="r, m")
def choose_rows(
    r: Int, m: Int, e: Int, rows: IntVector, columns: IntVector, V: Vector, chosen: IntVector,
    B: Matrix,
) -> Int:  # fmt: skip
    """Choose m independent rows, by elimination with the largest pivots; return 0 if there are not.

    Columns are taken in order, rows as they have the largest entry left.  The chosen rows keep
    their order in `chosen`, so that the sign of their determinant does not depend on the pivots.
    """
    for i in range(r):
        chosen[i] = -1
        for j in range(m):
            B[i, j] = 0.0
    for k in range(e):
        B[rows[k], columns[k]] = V[k]
    for k in range(m):
        largest = 0.0
        best = -1
        for i in range(r):
            if chosen[i] < 0 and abs(B[i, k]) > largest:
                largest = abs(B[i, k])
                best = i
        if best < 0:
            return 0
        chosen[best] = k
        for i in range(r):
            if chosen[i] < 0 and B[i, k] != 0.0:
                part = B[i, k] / B[best, k]
                for j in range(k + 1, m):
                    B[i, j] -= part * B[best, j]
    count = 0
    for i in range(r):
        if chosen[i] >= 0:
            chosen[i] = count
            count += 1
    return 1


@routine(state="3", previous="e", given="e + 2", sign="1")
def carry_sign(
    e: Int, found: Int, before: Int, state: IntVector, previous: Vector, given: Vector, sign: Vector
) -> None:
    """Count the sign of a determinant as its rows do, and keep the entries of a solved instant."""
    counted = found * state[CARRIED]
    sign[0] = float(counted)
    if counted == before and given[e] == 1.0:
        state[KNOWN] = 1
        for k in range(e):
            previous[k] = given[k]


@routine(
    rows="e", columns="e", chosen="r", state="3", previous="e", A="m, m", B="r, m", pivots="m",
    weakest="1", given="e + 2", sign="1",
)  # fmt: skip
def dense_jacobian_factor(
    r: Int, m: Int, e: Int, rows: IntVector, columns: IntVector, chosen: IntVector,
    state: IntVector, previous: Vector, A: Matrix, B: Matrix, pivots: IntVector, weakest: Vector,
    given: Vector, sign: Vector,
) -> None:  # fmt: skip
    """Factor from the entries; `sign` is that of the determinant, 0 where it is singular.

    After the entries `given` says whether these are the last factors of an instant (1, or 2 if it
    was not solved), and the sign that the instant before had.

    With rows to spare others are chosen where those chosen are nearly dependent.  Their determinant
    has a sign of its own, which counts as it would have at the instant before.  The determinant of
    some rows may also change sign where others would not; it is a dead point only if that of the
    rows which suit best now has changed as well.
    """
    found = factor_chosen(r, m, e, rows, columns, given[0:e], chosen, A, pivots, weakest)
    if r > m and weakest[0] < WEAK:
        state[CHANGED] = 1
        found = choose_rows(r, m, e, rows, columns, given[0:e], chosen, B)
        if found == 1:
            found = factor_chosen(r, m, e, rows, columns, given[0:e], chosen, A, pivots, weakest)
    if given[e] == 0.0 or r == m or found == 0:
        sign[0] = float(found)
        return
    before = -1 if given[e + 1] < 0.0 else 1
    # where nothing is known of the instant before: no change, unless there seems to be one
    unknown = 1
    if state[CHANGED] == 0 and found * state[CARRIED] != before:
        state[CHANGED] = 1
        unknown = -1
        found = choose_rows(r, m, e, rows, columns, given[0:e], chosen, B)
    if state[CHANGED] == 1:
        then = 0
        if state[KNOWN] == 1:
            then = factor_chosen(r, m, e, rows, columns, previous, chosen, A, pivots, weakest)
        found = factor_chosen(r, m, e, rows, columns, given[0:e], chosen, A, pivots, weakest)
        state[CARRIED] = before * (then if then != 0 else unknown * found)
        state[CHANGED] = 0
    carry_sign(e, found, before, state, previous, given, sign)


@routine(chosen="r", A="m, m", pivots="m", b="r", x="m")
def dense_jacobian_solve(
    r: Int, m: Int, chosen: IntVector, A: Matrix, pivots: IntVector, b: Vector, x: Vector
) -> None:
    """Solve with the last factors, for the rows that were chosen."""
    for i in range(r):
        if chosen[i] >= 0:
            x[chosen[i]] = b[i]
    lu_solve(m, A, pivots, x)
