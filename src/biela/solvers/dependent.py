"""Systems with the square matrix of the dependent coordinates, factored once and solved often.

A derivative of the state in independent coordinates solves several systems with one matrix, the
columns of the dependent coordinates in the Jacobian of the constraints,

    Φ_q^d x = b,        (Φ_q^d)ᵀ y = c,

for the basis R, the velocities, the accelerations, the positions and the reactions: one
factorisation serves them all (García de Jalón & Bayo 1994, §5.2.4).

`DEPENDENT_SOLVERS` names the ways.  "dense" is done here; any other one is three kernels, which
factor the matrix from the entries of the whole Jacobian and solve (`dependent_blocks`).
"""

from __future__ import annotations

from typing import Final

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.lu import lu_factor, lu_solve

__all__ = [
    "DEPENDENT_SOLVERS",
    "dependent_factor",
    "dependent_solve",
    "dependent_solve_transposed",
    "pivot_ratio",
]

#: The solvers, and their numbers in the routines.
DEPENDENT_SOLVERS: Final = {"dense": 0, "reordered": 1}


@routine(A="n, n", pivots="n", entries="nz", factor="nz -> 1", status="1")
def dependent_factor(
    kind: Int,
    n: Int,
    A: Matrix,
    pivots: IntVector,
    nz: Int,
    entries: Vector,
    factor: Kernel,
    status: Vector,
) -> Int:
    """Factor A in place, or from the entries of the Jacobian; return 0, or else if it is singular.

    The full matrix, with partial pivoting, is the reference of all others.
    """
    if kind != 0:
        factor(entries, status)
        return int(status[0])
    return lu_factor(n, A, pivots)


@routine(LU="n, n", pivots="n", solve="n -> n", room="n", x="n")
def dependent_solve(
    kind: Int, n: Int, LU: Matrix, pivots: IntVector, solve: Kernel, room: Vector, x: Vector
) -> None:
    """Solve A x = b in place: x is b on entry."""
    if kind != 0:
        for i in range(n):
            room[i] = x[i]
        solve(room, x)
    else:
        lu_solve(n, LU, pivots, x)


@routine(LU="n, n", pivots="n", solve="n -> n", room="n", x="n")
def dependent_solve_transposed(
    kind: Int, n: Int, LU: Matrix, pivots: IntVector, solve: Kernel, room: Vector, x: Vector
) -> None:
    """Solve Aᵀ x = b in place, with the same factors."""
    if kind != 0:
        for i in range(n):
            room[i] = x[i]
        solve(room, x)
    else:
        # Uᵀ, then unit Lᵀ, both by rows of the factors
        for i in range(n):
            x[i] /= LU[i, i]
            for j in range(i + 1, n):
                x[j] -= LU[i, j] * x[i]
        for i in range(n - 1, -1, -1):
            for j in range(i):
                x[j] -= LU[i, j] * x[i]
        # exchanges, the last one first
        for i in range(n - 1, -1, -1):
            held = x[i]
            x[i] = x[pivots[i]]
            x[pivots[i]] = held


@routine(LU="n, n", J="n, k")
def pivot_ratio(n: Int, LU: Matrix, k: Int, J: Matrix) -> Real:
    """The smallest pivot over the largest entry of all columns J; 1 if there are no rows.

    It falls towards 0 near a dead point of the independent coordinates: a cheap sign of one.
    """
    least = 0.0
    most = 0.0
    for i in range(n):
        size = abs(LU[i, i])
        if i == 0 or not size >= least:
            least = size
        for j in range(k):
            most = max(most, abs(J[i, j]))
    return least / most if most > 0.0 else 1.0
