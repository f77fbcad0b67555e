"""Accelerations of constrained motion from numbers, by a basis of the motions allowed.

    M v' + Φᵀ λ = Q,      Φ v' = c,      Φ v = b,

with v = T (w_d, ż) and ΦT = (J_d  J_i) of a `CoordinateBasis`.  Everything is reduced to systems
with the square J_d, factored once (García de Jalón & Bayo 1994, §5.2; Serna, Avilés & García de
Jalón 1982):

    R = T (-J_d⁻¹ J_i ; 1),      S b = T (J_d⁻¹ b ; 0),      v = S b + R ż.

M and Φ come as lists of their entries that are not zero in every position, M by its lower triangle.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Vector, routine
from biela.solvers.dependent import (
    dependent_factor,
    dependent_solve,
    dependent_solve_transposed,
)
from biela.solvers.ldlt import ldlt_factor, ldlt_solve
from biela.solvers.lu import lu_factor, lu_solve

__all__ = [
    "factor_dependent",
    "mass_product",
    "matrix_r_accelerations",
    "motion_basis",
    "null_space_accelerations",
    "particular_motion",
    "reactions_of_dependent",
]


@routine(
    values="nz", row="nz", column="nz", position="n", T="n, n", J="r, n", JT="r, n", A="r, r",
    pivots="r", factor="nz -> 1", status="1",
)  # fmt: skip
def factor_dependent(
    kind: Int,
    n: Int,
    r: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    selects: Int,
    position: IntVector,
    T: Matrix,
    J: Matrix,
    JT: Matrix,
    A: Matrix,
    pivots: IntVector,
    factor: Kernel,
    status: Vector,
) -> Int:
    """Gather the chosen rows J of Φ, form JT, and factor its first r columns.

    `row` is the place of an entry among the chosen rows, negative for rows left out; column j of J
    becomes column `position[j]` of JT where T `selects`.  Entries that are zero in every position
    are never written.  Returns 1 if the matrix is singular.
    """
    for e in range(nz):
        if row[e] >= 0:
            J[row[e], column[e]] = values[e]
            if selects != 0:
                JT[row[e], position[column[e]]] = values[e]
    if selects == 0:
        for i in range(r):
            for j in range(n):
                total = 0.0
                for l in range(n):
                    total += J[i, l] * T[l, j]
                JT[i, j] = total
    if kind == 0:
        for i in range(r):
            for j in range(r):
                A[i, j] = JT[i, j]
    return dependent_factor(kind, r, A, pivots, nz, values, factor, status)


@routine(order="n", T="n, n", w="r", x="n")
def spread_dependent(
    n: Int, r: Int, selects: Int, order: IntVector, T: Matrix, w: Vector, x: Vector
) -> None:
    """Set x = T (w, 0)."""
    for i in range(n):
        x[i] = 0.0
    for j in range(r):
        if selects != 0:
            x[order[j]] = w[j]
        else:
            for i in range(n):
                x[i] += T[i, j] * w[j]


@routine(
    order="n",
    T="n, n",
    JT="r, n",
    A="r, r",
    pivots="r",
    solve="r -> r",
    room="r",
    w="r",
    x="n",
    R="n, n - r",
)
def motion_basis(
    kind: Int,
    n: Int,
    r: Int,
    selects: Int,
    order: IntVector,
    T: Matrix,
    JT: Matrix,
    A: Matrix,
    pivots: IntVector,
    solve: Kernel,
    room: Vector,
    w: Vector,
    x: Vector,
    R: Matrix,
) -> None:
    """Set R, whose columns are the motions with one independent velocity 1 and the others 0."""
    for c in range(n - r):
        for i in range(r):
            w[i] = -JT[i, r + c]
        dependent_solve(kind, r, A, pivots, solve, room, w)
        spread_dependent(n, r, selects, order, T, w, x)
        for i in range(n):
            R[i, c] = x[i]
            if selects == 0:
                R[i, c] += T[i, r + c]
        if selects != 0:
            R[order[r + c], c] += 1.0


@routine(
    order="n",
    T="n, n",
    A="r, r",
    pivots="r",
    solve="r -> r",
    room="r",
    rows="r",
    b="m",
    w="r",
    x="n",
)
def particular_motion(
    kind: Int,
    n: Int,
    m: Int,
    r: Int,
    selects: Int,
    order: IntVector,
    T: Matrix,
    A: Matrix,
    pivots: IntVector,
    solve: Kernel,
    room: Vector,
    rows: IntVector,
    b: Vector,
    w: Vector,
    x: Vector,
) -> None:
    """Set x = S b: the motion that fulfils Φ x = b with the independent entries 0."""
    for i in range(r):
        w[i] = b[rows[i]]
    dependent_solve(kind, r, A, pivots, solve, room, w)
    spread_dependent(n, r, selects, order, T, w, x)


@routine(values="nz", row="nz", column="nz", x="n", y="n")
def mass_product(
    n: Int, nz: Int, values: Vector, row: IntVector, column: IntVector, x: Vector, y: Vector
) -> None:
    """Set y = M x, with M given by its lower triangle."""
    for i in range(n):
        y[i] = 0.0
    for e in range(nz):
        y[row[e]] += values[e] * x[column[e]]
        if row[e] != column[e]:
            y[column[e]] += values[e] * x[row[e]]


@routine(
    values="nz", row="nz", column="nz", Q="n", R="n, f", Sc="n", MR="n, f", K="f, f", h="n", z="f",
    a="n",
)  # fmt: skip
def null_space_accelerations(
    n: Int,
    f: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    Q: Vector,
    R: Matrix,
    Sc: Vector,
    MR: Matrix,
    K: Matrix,
    h: Vector,
    z: Vector,
    a: Vector,
) -> None:
    """Set a = S c + R z̈ with RᵀMR z̈ = Rᵀ (Q - M S c), a positive definite system of f unknowns."""
    project_mass(n, f, nz, values, row, column, R, MR)
    mass_product(n, nz, values, row, column, Sc, h)
    for i in range(n):
        h[i] = Q[i] - h[i]
    for c in range(f):
        z[c] = 0.0
        for i in range(n):
            z[c] += R[i, c] * h[i]
        for d in range(c + 1):
            total = 0.0
            for i in range(n):
                total += R[i, c] * MR[i, d]
            K[c, d] = total
    ldlt_factor(f, K, 0.0)
    ldlt_solve(f, K, z)
    for i in range(n):
        a[i] = Sc[i]
        for c in range(f):
            a[i] += R[i, c] * z[c]


@routine(values="nz", row="nz", column="nz", R="n, f", MR="n, f")
def project_mass(
    n: Int,
    f: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    R: Matrix,
    MR: Matrix,
) -> None:
    """Set MR = M R."""
    for i in range(n):
        for c in range(f):
            MR[i, c] = 0.0
    for e in range(nz):
        for c in range(f):
            MR[row[e], c] += values[e] * R[column[e], c]
            if row[e] != column[e]:
                MR[column[e], c] += values[e] * R[row[e], c]


@routine(
    values="nz", row="nz", column="nz", Q="n", R="n, f", J="r, n", rows="r", c="m", MR="n, f",
    E="n, n", swaps="n", a="n",
)  # fmt: skip
def matrix_r_accelerations(
    n: Int,
    m: Int,
    f: Int,
    r: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    Q: Vector,
    R: Matrix,
    J: Matrix,
    rows: IntVector,
    c: Vector,
    MR: Matrix,
    E: Matrix,
    swaps: IntVector,
    a: Vector,
) -> Int:
    """Solve (Φ ; RᵀM) a = (c ; RᵀQ), n equations for all accelerations; return 1 if singular.

    Kamman & Huston 1984; García de Jalón & Bayo 1994, §5.2.1.
    """
    project_mass(n, f, nz, values, row, column, R, MR)
    for i in range(r):
        for j in range(n):
            E[i, j] = J[i, j]
        a[i] = c[rows[i]]
    for d in range(f):
        a[r + d] = 0.0
        for j in range(n):
            E[r + d, j] = MR[j, d]
            a[r + d] += R[j, d] * Q[j]
    singular = lu_factor(n, E, swaps)
    if singular == 0:
        lu_solve(n, E, swaps, a)
    return singular


@routine(
    values="nz", row="nz", column="nz", Q="n", a="n", order="n", T="n, n", A="r, r", pivots="r",
    solve="r -> r", room="r", rows="r", h="n", w="r", lam="m",
)  # fmt: skip
def reactions_of_dependent(
    kind: Int,
    n: Int,
    m: Int,
    r: Int,
    nz: Int,
    values: Vector,
    row: IntVector,
    column: IntVector,
    Q: Vector,
    a: Vector,
    selects: Int,
    order: IntVector,
    T: Matrix,
    A: Matrix,
    pivots: IntVector,
    solve: Kernel,
    room: Vector,
    rows: IntVector,
    h: Vector,
    w: Vector,
    lam: Vector,
) -> None:
    """Set λ from J_dᵀ λ = (Q - M a)_d, with the factors of J_d; 0 for the rows left out."""
    mass_product(n, nz, values, row, column, a, h)
    for i in range(n):
        h[i] = Q[i] - h[i]
    for j in range(r):
        if selects != 0:
            w[j] = h[order[j]]
        else:
            w[j] = 0.0
            for i in range(n):
                w[j] += T[i, j] * h[i]
    dependent_solve_transposed(kind, r, A, pivots, solve, room, w)
    for i in range(m):
        lam[i] = 0.0
    for i in range(r):
        lam[rows[i]] = w[i]
