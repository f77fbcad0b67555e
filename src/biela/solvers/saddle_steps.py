"""Steps δ towards J δ = f for a sparse J of any shape and rank, by sparse LDLᵀ.

    [ 1   Jᵀ  ] [ δ ]   [ 0 ]
    [ J  -λ²  ] [ μ ] = [ f ],        δ = Jᵀ (J Jᵀ + λ²)⁻¹ f = (Jᵀ J + λ²)⁻¹ Jᵀ f

With λ = 0 it is the step of minimum norm, J⁺ f, and dependent rows are dropped as long as they
agree; with λ > 0 that of damped least squares, which minimises |J δ - f|² + λ² |δ|² and stays
bounded where J loses rank (Wampler 1986; Nakamura & Hanafusa 1986).  Entry k of J stands in row
`first[k]` and column `second[k]`; the schedule of the elimination is prepared once, see
[`SparseLDLT`][biela.solvers.SparseLDLT].
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Real, Vector, routine
from biela.solvers.sparse.scalar_ldlt import sparse_ldlt_factor, sparse_ldlt_solve

__all__ = ["displace", "saddle_factor", "saddle_step", "sparse_gradient", "sparse_product"]


@routine(first="e", second="e", J="e", x="n", y="r")
def sparse_product(
    n: Int, r: Int, e: Int, first: IntVector, second: IntVector, J: Vector, x: Vector, y: Vector
) -> None:
    """Set y = J x."""
    for i in range(r):
        y[i] = 0.0
    for k in range(e):
        y[first[k]] += J[k] * x[second[k]]


@routine(first="e", second="e", J="e", f="r", g="n")
def sparse_gradient(
    n: Int, r: Int, e: Int, first: IntVector, second: IntVector, J: Vector, f: Vector, g: Vector
) -> None:
    """Set g = Jᵀ f."""
    for j in range(n):
        g[j] = 0.0
    for k in range(e):
        g[second[k]] += J[k] * f[first[k]]


@routine(
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    J="e",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
)
def saddle_factor(
    n: Int,
    r: Int,
    e: Int,
    fill: Int,
    updates: Int,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    J: Vector,
    damping: Real,
    tolerance: Real,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
) -> Int:
    """Factor the matrix above and return the rank of J; `damping` is λ.

    The entries are the n ones, the r numbers -λ², and those of J, in this order.
    """
    for j in range(n):
        A[j] = 1.0
    for i in range(r):
        A[n + i] = -(damping * damping)
    for k in range(e):
        A[n + r + k] = J[k]
    rank = sparse_ldlt_factor(
        n + r, fill, n + r + e, updates, start, rows, order, targets, scatter, A, tolerance, LD,
        accumulated, ratios, dropped,
    )  # fmt: skip
    return rank - n


@routine(
    start="n + r + 1",
    rows="fill",
    order="n + r",
    LD="n + r + fill",
    f="r",
    x="n + r",
    y="n + r",
)
def saddle_step(
    n: Int,
    r: Int,
    fill: Int,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    LD: Vector,
    f: Vector,
    x: Vector,
    y: Vector,
) -> None:
    """Set the first n of x to the step δ for the residual f; the rest are the μ."""
    for j in range(n):
        x[j] = 0.0
    for i in range(r):
        x[n + i] = f[i]
    sparse_ldlt_solve(n + r, fill, start, rows, order, LD, x, y)


@routine(
    q="nq",
    delta="n",
    retract="nq, n -> nq",
    trial="nq",
)
def displace(
    nq: Int, n: Int, scale: Real, q: Vector, delta: Vector, retract: Kernel, trial: Vector
) -> None:
    """Set trial = q ⊕ scale delta; delta becomes that displacement."""
    for j in range(n):
        delta[j] *= scale
    retract(q, delta, trial)
