"""The trapezoidal rule, of order two and A-stable, with a fixed number of Newton iterations.

    x₁ = x₀ + h/2 (f(t₀, x₀) + f(t₀ + h, x₁))

The Jacobian ∂f/∂x is taken once a step, at the predictor x₀ + h f(t₀, x₀): simplified Newton.

Hairer & Wanner 1996, Solving Ordinary Differential Equations II, §IV.3.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.integrators.differences import difference_jacobian
from biela.solvers.lu import lu_factor, lu_solve

__all__ = ["trapezoidal_step"]


@routine(
    t="1",
    x="n",
    p="m",
    f="1, n, m -> n",
    jacobian="1, n, m -> ns*ns",
    work="5, n",
    J="ns, ns",
    pivots="ns",
    delta="ns",
)
def trapezoidal_step(
    n: Int,
    ns: Int,
    m: Int,
    iterations: Int,
    with_jacobian: Int,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    f: Kernel,
    jacobian: Kernel,
    work: Matrix,
    J: Matrix,
    pivots: IntVector,
    delta: Vector,
) -> Int:
    """Take one step of length h in place; ns is n. Return 0, or 1 if the matrix is singular.

    Without a Jacobian (`with_jacobian` 0) differences of f serve. t advances too.
    """
    # x0 + h/2 f0 is what stays the same over the iterations
    f(t, x, p, work[0])
    t[0] += h
    for i in range(n):
        work[4, i] = x[i] + h / 2.0 * work[0, i]
        x[i] += h * work[0, i]

    # iteration matrix 1 - h/2 J
    if with_jacobian != 0:
        jacobian(t, x, p, J)
    else:
        f(t, x, p, work[0])
        for i in range(n):
            work[1, i] = abs(h * work[0, i])
        difference_jacobian(n, ns, m, t, x, p, f, work[0], work[1], work[2], work[3], J)
    for i in range(n):
        for j in range(n):
            J[i, j] *= -h / 2.0
        J[i, i] += 1.0
    singular = lu_factor(ns, J, pivots)
    if singular != 0:
        return 1

    # simplified Newton
    for _k in range(iterations):
        f(t, x, p, work[0])
        for i in range(n):
            delta[i] = work[4, i] + h / 2.0 * work[0, i] - x[i]
        lu_solve(ns, J, pivots, delta)
        for i in range(n):
            x[i] += delta[i]
    return 0
