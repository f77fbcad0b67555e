"""Newton's method with a bound on its iterations, for square systems r(x, p) = 0."""

from __future__ import annotations

from math import sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.lu import lu_factor, lu_solve

__all__ = ["CONVERGED", "NOT_CONVERGED", "SINGULAR", "newton", "newton_fixed", "newton_step"]

CONVERGED = 0
NOT_CONVERGED = 1
SINGULAR = 2


@routine(x="n")
def norm(n: Int, x: Vector) -> Real:
    """Euclidean norm √(Σ xᵢ²). A nan anywhere gives nan, which is below no tolerance."""
    total = 0.0
    for i in range(n):
        total += x[i] ** 2
    return sqrt(total)


@routine(x="n", p="m", r="n", J="n, n", pivots="n", jacobian="n, m -> n*n")
def newton_step(
    n: Int,
    m: Int,
    x: Vector,
    p: Vector,
    jacobian: Kernel,
    r: Vector,
    J: Matrix,
    pivots: IntVector,
) -> Int:
    """Take one step x ← x - J(x, p)⁻¹ r, where r is the residual at x; 0, or 2 if J is singular.

    On return r holds the step J⁻¹ r. If J is singular, x is not changed.
    """
    jacobian(x, p, J)
    singular = lu_factor(n, J, pivots)
    if singular != 0:
        return SINGULAR
    lu_solve(n, J, pivots, r)
    for i in range(n):
        x[i] -= r[i]
    return CONVERGED


@routine(x="n", p="m", r="n", J="n, n", pivots="n", residual="n, m -> n", jacobian="n, m -> n*n")
def newton(
    n: Int,
    m: Int,
    x: Vector,
    p: Vector,
    residual: Kernel,
    jacobian: Kernel,
    tolerance: Real,
    iterations: Int,
    r: Vector,
    J: Matrix,
    pivots: IntVector,
) -> Int:
    """Solve r(x, p) = 0 from the start x, in at most `iterations` steps.

        J(x_k, p) (x_k - x_{k+1}) = r(x_k, p)        until  |r| <= tolerance

    `jacobian` gives J = ∂r/∂x by rows. `r`, `J` and `pivots` are scratch; `r` ends as the residual
    at x, except after a singular Jacobian.

    Returns CONVERGED (0), NOT_CONVERGED (1) or SINGULAR (2); x is the last iterate.

    Dennis & Schnabel 1996, Numerical Methods for Unconstrained Optimization and Nonlinear
    Equations, §5.1.
    """
    residual(x, p, r)
    for _k in range(iterations):
        if norm(n, r) <= tolerance:
            return CONVERGED
        status = newton_step(n, m, x, p, jacobian, r, J, pivots)
        if status != CONVERGED:
            return status
        residual(x, p, r)
    return CONVERGED if norm(n, r) <= tolerance else NOT_CONVERGED


@routine(x="n", p="m", r="n", J="n, n", pivots="n", residual="n, m -> n", jacobian="n, m -> n*n")
def newton_fixed(
    n: Int,
    m: Int,
    x: Vector,
    p: Vector,
    residual: Kernel,
    jacobian: Kernel,
    tolerance: Real,
    iterations: Int,
    r: Vector,
    J: Matrix,
    pivots: IntVector,
) -> Int:
    """Solve r(x, p) = 0 in exactly `iterations` steps: for real time, where each step costs alike.

    As `newton`, but the tolerance only decides the status returned at the end.
    """
    residual(x, p, r)
    for _k in range(iterations):
        status = newton_step(n, m, x, p, jacobian, r, J, pivots)
        if status != CONVERGED:
            return status
        residual(x, p, r)
    return CONVERGED if norm(n, r) <= tolerance else NOT_CONVERGED
