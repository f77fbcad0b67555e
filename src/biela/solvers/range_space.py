"""Accelerations and multipliers of constrained motion from numbers, by the range-space method.

M and Φ come as lists of their entries that are not zero in every position, M by its lower triangle.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Matrix, Vector, routine
from biela.solvers.ldlt import DROP_TOLERANCE, best_rows_solve, ldlt_factor, ldlt_solve

__all__ = ["range_space_accelerations"]


@routine(
    values="nz", row="nz", column="nz", entries="ne", i_of="ne", j_of="ne", stiff="m", Q="n",
    c="m", J="m, n", L="n, n", Y="m, n", G="m, m", h="n", lam="m", a="n",
    sizes="m", step="m",
)  # fmt: skip
def range_space_accelerations(
    n: Int,
    m: Int,
    most: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    ne: Int,
    entries: Vector,
    i_of: IntVector,
    j_of: IntVector,
    stiff: Vector,
    Q: Vector,
    c: Vector,
    J: Matrix,
    L: Matrix,
    Y: Matrix,
    G: Matrix,
    h: Vector,
    lam: Vector,
    a: Vector,
    sizes: Vector,
    step: IntVector,
) -> Int:
    """Solve (Φ M⁻¹ Φᵀ) λ = Φ M⁻¹ Q - c, then M a = Q - Φᵀ λ; return the rank of the first.

    M must be regular: to make it so, `stiff` times the squares of constraint rows is added to it,
    which changes neither a nor λ.  Dependent constraints are dropped, their multipliers are 0; of
    the constraints the best `most` are taken, where it is known that there are fewer than m.

    von Schwerin 1999, Multibody System Simulation, §3.2.
    """
    for i in range(m):
        for j in range(n):
            J[i, j] = 0.0
    for e in range(ne):
        J[i_of[e], j_of[e]] = entries[e]
    for i in range(n):
        h[i] = Q[i]
        for j in range(n):
            L[i, j] = 0.0
    for e in range(nz):
        L[row[e], column[e]] = values[e]
    for k in range(m):
        if stiff[k] != 0.0:
            for i in range(n):
                h[i] += stiff[k] * J[k, i] * c[k]
                for j in range(i + 1):
                    L[i, j] += stiff[k] * J[k, i] * J[k, j]
    ldlt_factor(n, L, 0.0)
    for k in range(m):
        for i in range(n):
            Y[k, i] = J[k, i]
        ldlt_solve(n, L, Y[k])
    for k in range(m):
        for l in range(k + 1):
            total = 0.0
            for i in range(n):
                total += J[k, i] * Y[l, i]
            G[k, l] = total
        lam[k] = -c[k]
        for i in range(n):
            lam[k] += Y[k, i] * h[i]
    rank = 0
    if most < m:
        rank = best_rows_solve(m, most, DROP_TOLERANCE, G, sizes, step, lam)
    else:
        rank = ldlt_factor(m, G, DROP_TOLERANCE)
        ldlt_solve(m, G, lam)
    for i in range(n):
        a[i] = h[i]
        for k in range(m):
            a[i] -= J[k, i] * lam[k]
    ldlt_solve(n, L, a)
    return rank
