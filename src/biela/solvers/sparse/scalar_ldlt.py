"""Sparse LDLᵀ on a static pattern: order and schedule once, factor with fixed work ever after.

The matrix is symmetric: positive definite, or of the saddle-point form

    [ M   Φᵀ ] [ v̇ ]   [ Q ]
    [ Φ   0  ] [ λ ] = [ γ ]

with every multiplier eliminated after all the unknowns it acts on. Then LDLᵀ needs neither pivoting
nor a shift, and a redundant row of Φ shows as a pivot that is rounding only: it is dropped.

Elimination is right-looking. For each column j of L in turn

    1/d_j,   l_aj = y_aj / d_j,   a_aa -= y_aj l_aj,   y_ab -= y_aj l_bj   (a > b > j)

and the places of all the y_ab are stored beforehand, one after the other (`targets`), so that a
factorisation has no search and no branch that depends on the pattern.

Duff, Erisman & Reid 2017, Direct Methods for Sparse Matrices, §10; Benzi, Golub & Liesen 2005,
"Numerical solution of saddle point problems", Acta Numerica 14, §7.
"""

from __future__ import annotations

from math import floor, isfinite, isnan, log, pow

from biela.code.routines import Int, IntVector, Real, Vector, routine

LOG_2 = log(2.0)

__all__ = [
    "sparse_equilibrate",
    "sparse_ldlt_factor",
    "sparse_ldlt_refine",
    "sparse_ldlt_residual",
    "sparse_ldlt_solve",
]


@routine(
    start="n + 1",
    rows="fill",
    order="n",
    targets="updates",
    scatter="entries",
    A="entries",
    LD="n + fill",
    accumulated="n",
    ratios="n",
    dropped="n",
)
def sparse_ldlt_factor(
    n: Int,
    fill: Int,
    entries: Int,
    updates: Int,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    A: Vector,
    tolerance: Real,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
) -> Int:
    """Factor P A Pᵀ = L D Lᵀ and return its rank.

    `A` are the values of the entries; entry k is added to `LD[scatter[k]]`. `LD` becomes the n
    reciprocal pivots, then L by columns, whose rows are `rows[start[j]:start[j + 1]]`.

    A redundant row leaves a pivot that is rounding only. It is judged against the magnitudes that
    were accumulated in it, where a term counts for more if it comes from a pivot that had itself
    cancelled, as its relative error is then larger:

        e_i = |a_ii| + Σ_j |y_ij l_ij| c_j / |d_j|,    c_j = |a_jj| + Σ_k |y_jk l_jk|

    Where |d_i| <= tolerance e_i the row is dropped: 1/d_i is 0, and so are its column of L and its
    unknown, and `dropped` is 1 for row `order[i]` of A. A nan is kept, to be seen in the result.
    `ratios` becomes |d_i| / e_i, `accumulated` is c.
    """
    for k in range(n + fill):
        LD[k] = 0.0
    for k in range(entries):
        LD[scatter[k]] += A[k]
    for j in range(n):
        accumulated[j] = abs(LD[j])
        ratios[j] = abs(LD[j])

    rank = 0
    next_target = 0
    for j in range(n):
        # pivot, against the magnitudes it is made of
        pivot = LD[j]
        redundant = 1 if abs(pivot) <= tolerance * ratios[j] else 0
        reciprocal = 0.0 if redundant != 0 else 1.0 / pivot
        cancelled = accumulated[j] * abs(reciprocal)
        LD[j] = reciprocal
        ratios[j] = abs(pivot) / ratios[j] if ratios[j] > 0.0 else 0.0
        dropped[order[j]] = redundant
        rank += 1 - redundant

        # column j of L, and what it takes from the columns to the right
        for b in range(start[j], start[j + 1]):
            y = LD[n + b]
            l = y * reciprocal
            i = rows[b]
            LD[i] -= y * l
            accumulated[i] += abs(y * l)
            ratios[i] += abs(y * l) * cancelled
            shift = next_target - b - 1
            for a in range(b + 1, start[j + 1]):
                LD[targets[shift + a]] -= LD[n + a] * l
            next_target += start[j + 1] - b - 1
            LD[n + b] = l
    return rank


@routine(start="n + 1", rows="fill", order="n", LD="n + fill", x="n", y="n")
def sparse_ldlt_solve(
    n: Int,
    fill: Int,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    LD: Vector,
    x: Vector,
    y: Vector,
) -> None:
    """Solve A x = b in place: x is b on entry. `LD` comes from `sparse_ldlt_factor`.

    Unknown `order[k]` is the k-th eliminated; `y` is scratch. Unknowns of dropped rows are 0.
    """
    for k in range(n):
        y[k] = x[order[k]]

    # forward substitution with unit L, by columns
    for j in range(n):
        value = y[j]
        for b in range(start[j], start[j + 1]):
            y[rows[b]] -= LD[n + b] * value

    # reciprocal pivots, 0 where a row was dropped, and back substitution
    for j in range(n - 1, -1, -1):
        value = y[j] * LD[j]
        for b in range(start[j], start[j + 1]):
            value -= LD[n + b] * y[rows[b]]
        y[j] = value

    for k in range(n):
        x[order[k]] = y[k]


@routine(
    first="entries", second="entries", A="entries", dropped="n", b="n", x="n", r="n", magnitude="n"
)
def sparse_ldlt_residual(
    n: Int,
    entries: Int,
    first: IntVector,
    second: IntVector,
    A: Vector,
    dropped: IntVector,
    b: Vector,
    x: Vector,
    r: Vector,
    magnitude: Vector,
) -> Real:
    """Set r = b - A x and return the backward error over the rows that were not dropped.

        max_i |r_i| / (|A| |x| + |b|)_i

    is the smallest relative change of the entries of A and b that makes x exact (Oettli & Prager
    1964); it does not depend on units. Entry k stands in row `first[k]`, column `second[k]` and,
    off the diagonal, mirrored. A dropped row has no unknown to correct it with: what it leaves in
    r is the inconsistency of the redundant row, and not an error of the solution.
    """
    for i in range(n):
        r[i] = b[i]
        magnitude[i] = abs(b[i])
    for k in range(entries):
        row = first[k]
        column = second[k]
        r[row] -= A[k] * x[column]
        magnitude[row] += abs(A[k] * x[column])
        if row != column:
            r[column] -= A[k] * x[row]
            magnitude[column] += abs(A[k] * x[row])

    error = 0.0
    for i in range(n):
        if dropped[i] == 0 and r[i] != 0.0:
            ratio = abs(r[i]) / magnitude[i]
            if ratio > error or isnan(ratio):
                error = ratio
    return error


@routine(
    start="n + 1",
    rows="fill",
    order="n",
    first="entries",
    second="entries",
    A="entries",
    dropped="n",
    LD="n + fill",
    b="n",
    x="n",
    r="n",
    y="n",
)
def sparse_ldlt_refine(
    n: Int,
    fill: Int,
    entries: Int,
    sweeps: Int,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    first: IntVector,
    second: IntVector,
    A: Vector,
    dropped: IntVector,
    LD: Vector,
    b: Vector,
    x: Vector,
    r: Vector,
    y: Vector,
) -> Real:
    """Improve x by exactly `sweeps` sweeps x ← x + A⁺(b - A x); return its backward error.

    Nothing is added to the unknowns of dropped rows: a change of the multipliers in the null space
    of Φᵀ does not show in the residual and is left alone. `r` and `y` are scratch.

    Higham 2002, Accuracy and Stability of Numerical Algorithms, §12.
    """
    error = sparse_ldlt_residual(n, entries, first, second, A, dropped, b, x, r, y)
    for _sweep in range(sweeps):
        sparse_ldlt_solve(n, fill, start, rows, order, LD, r, y)
        for i in range(n):
            x[i] += r[i]
        error = sparse_ldlt_residual(n, entries, first, second, A, dropped, b, x, r, y)
    return error


@routine(first="entries", second="entries", A="entries", scale="n", largest="n")
def sparse_equilibrate(
    n: Int,
    entries: Int,
    first: IntVector,
    second: IntVector,
    A: Vector,
    scale: Vector,
    largest: Vector,
) -> None:
    """Find powers of two s_i such that s_i a_ij s_j has a diagonal near 1.

    A row with a zero on the diagonal, that of a multiplier, gets its largest entry near 1 instead.
    Powers of two add no rounding. LDLᵀ without pivoting computes the same digits with and without
    them, and its drop rule has no units; what scaling prevents is overflow. `largest` is scratch.

    van der Sluis 1969, "Condition numbers and equilibration of matrices", Numer. Math. 14.
    """
    for i in range(n):
        largest[i] = 0.0
    for k in range(entries):
        if first[k] == second[k]:
            largest[first[k]] += A[k]
    for i in range(n):
        scale[i] = reciprocal_root(abs(largest[i]))
    for i in range(n):
        # 0 where there is no diagonal: no such row takes part in the scale of another
        largest[i] = 0.0
    for k in range(entries):
        row = first[k]
        column = second[k]
        largest[row] = max(largest[row], abs(A[k]) * scale[column])
        largest[column] = max(largest[column], abs(A[k]) * scale[row])
    for i in range(n):
        if scale[i] == 0.0:
            scale[i] = reciprocal_root(largest[i]) ** 2
            if scale[i] == 0.0:
                scale[i] = 1.0


@routine()
def reciprocal_root(value: Real) -> Real:
    """The power of two next to 1/√value; 0 for 0 and for what is not finite."""
    if not (value > 0.0 and isfinite(value)):
        return 0.0
    return pow(2.0, -floor(log(value) / (2.0 * LOG_2) + 0.5))
