"""Newton's method for r equations in n unknowns, f(t, x, p) = 0, of any shape and rank.

Steps are of minimum norm, x ← x - J⁺ f: a mechanism with freedoms left moves no more than it must,
and redundant equations do no harm as long as they agree. The norm is weighted, |δ|² = Σ w_i δ_i²
with w_i > 0, so that lengths and angles can be compared; w_i is large for an unknown that should
stay where it is. For a metric that is not diagonal, such as the mass matrix, the same step is the
solution of a saddle-point system: see `SparseLDLT`.

Ben-Israel 1966, "A Newton-Raphson method for the solution of systems of equations", J. Math. Anal.
Appl. 15.
"""

from __future__ import annotations

from math import isfinite, sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, norm
from biela.solvers.pseudo_inverse import orthogonal_factor, orthogonal_solve

__all__ = ["NOT_FINITE", "minimum_norm_step", "newton_minimum_norm", "newton_minimum_norm_fixed"]

NOT_FINITE = 4


@routine(
    t="1",
    x="n",
    p="m",
    jacobian="1, n, m -> r*n",
    weight="n",
    f="r",
    J="r, n",
    S="r, n",
    rows="r",
    work="4*r",
    step="n",
)
def minimum_norm_step(
    r: Int,
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    jacobian: Kernel,
    weight: Vector,
    rank_tolerance: Real,
    f: Vector,
    J: Matrix,
    S: Matrix,
    rows: IntVector,
    work: Vector,
    step: Vector,
) -> Int:
    """Set step = J⁺ f in the weighted norm, and return the rank of J.

    With the unknowns √w_i δ_i the norm is the plain one, and column i of J is divided by √w_i.
    """
    jacobian(t, x, p, J)
    for i in range(r):
        for j in range(n):
            J[i, j] /= sqrt(weight[j])
    rank = orthogonal_factor(
        r, n, J, rank_tolerance, rows, work[0:r], S, work[r : 2 * r], work[2 * r : 3 * r]
    )
    orthogonal_solve(r, n, J, rows, work[0:r], S, work[r : 2 * r], f, step, work[3 * r : 4 * r])
    for j in range(n):
        step[j] /= sqrt(weight[j])
    return rank


@routine(
    t="1",
    x="n",
    p="m",
    residual="1, n, m -> r",
    jacobian="1, n, m -> r*n",
    weight="n",
    f="r",
    J="r, n",
    S="r, n",
    rows="r",
    work="4*r",
    step="n",
    info="2",
)
def newton_minimum_norm(
    r: Int,
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    residual: Kernel,
    jacobian: Kernel,
    weight: Vector,
    tolerance: Real,
    rank_tolerance: Real,
    iterations: Int,
    f: Vector,
    J: Matrix,
    S: Matrix,
    rows: IntVector,
    work: Vector,
    step: Vector,
    info: IntVector,
) -> Int:
    """Solve f(t, x, p) = 0 from the start x, in at most `iterations` steps of minimum norm.

        x_{k+1} = x_k - J(x_k)⁺ f(x_k)        until  |f| <= tolerance

    `f` ends as the residual at x. `info` becomes the number of steps and the rank of J at the last
    of them, where the first `rank` of `rows` are independent; r, and no order, if there was none.
    The other arrays are scratch.

    Returns CONVERGED (0), NOT_CONVERGED (1) or NOT_FINITE (4); x is the last iterate.
    """
    info[0] = 0
    info[1] = r
    residual(t, x, p, f)
    for k in range(iterations):
        size = norm(r, f)
        if size <= tolerance:
            return CONVERGED
        if not isfinite(size):
            return NOT_FINITE
        rank = minimum_norm_step(
            r, n, m, t, x, p, jacobian, weight, rank_tolerance, f, J, S, rows, work, step
        )
        for i in range(n):
            x[i] -= step[i]
        info[0] = k + 1
        info[1] = rank
        residual(t, x, p, f)
    last = norm(r, f)
    if not isfinite(last):
        return NOT_FINITE
    return CONVERGED if last <= tolerance else NOT_CONVERGED


@routine(
    t="1",
    x="n",
    p="m",
    residual="1, n, m -> r",
    jacobian="1, n, m -> r*n",
    weight="n",
    f="r",
    J="r, n",
    S="r, n",
    rows="r",
    work="4*r",
    step="n",
    info="2",
)
def newton_minimum_norm_fixed(
    r: Int,
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    residual: Kernel,
    jacobian: Kernel,
    weight: Vector,
    tolerance: Real,
    rank_tolerance: Real,
    iterations: Int,
    f: Vector,
    J: Matrix,
    S: Matrix,
    rows: IntVector,
    work: Vector,
    step: Vector,
    info: IntVector,
) -> Int:
    """Solve f(t, x, p) = 0 in exactly `iterations` steps: for real time, where each costs alike.

    As `newton_minimum_norm`, but the tolerance only decides the status returned at the end.
    """
    info[0] = iterations
    info[1] = r
    residual(t, x, p, f)
    for _k in range(iterations):
        info[1] = minimum_norm_step(
            r, n, m, t, x, p, jacobian, weight, rank_tolerance, f, J, S, rows, work, step
        )
        for i in range(n):
            x[i] -= step[i]
        residual(t, x, p, f)
    last = norm(r, f)
    if not isfinite(last):
        return NOT_FINITE
    return CONVERGED if last <= tolerance else NOT_CONVERGED
