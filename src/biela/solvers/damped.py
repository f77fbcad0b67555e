"""Newton's method from far guesses: steps of minimum norm inside a trust region.

Each step reduces |f|². Inside the radius Δ the minimum-norm step x - J⁺ f is taken as it is; where
it is longer, Powell's dogleg bends it towards steepest descent:

    d = c g + s (J⁺ f - c g),   g = Jᵀ f,   c = |g|² / |J g|²,   |d| = Δ

Δ follows how well the linear model foretold the reduction. The path ends at a solution, or at a
point from which no small move reduces |f|: the equations then contradict each other there, or the
start lay on a ridge. All norms are weighted as in `newton_minimum_norm`.

Powell 1970, "A hybrid method for nonlinear equations"; Nocedal & Wright 2006, Numerical
Optimization, §4.1 and §11.2.
"""

from __future__ import annotations

from math import isfinite, sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.minimum_norm import NOT_FINITE
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, norm
from biela.solvers.pseudo_inverse import orthogonal_factor, orthogonal_solve

__all__ = ["STALLED", "newton_damped"]

STALLED = 3

#: |Jᵀ f| below this part of |J| |f| is a gradient of zero.
FLAT = 1e-8
#: Relative changes of |f|² or x below this are rounding.
INVISIBLE = 1e-15


@routine(J="r, n", x="n", y="r")
def product(r: Int, n: Int, J: Matrix, x: Vector, y: Vector) -> None:
    """Set y = J x."""
    for i in range(r):
        total = 0.0
        for j in range(n):
            total += J[i, j] * x[j]
        y[i] = total


@routine(J="r, n", f="r", g="n")
def gradient(r: Int, n: Int, J: Matrix, f: Vector, g: Vector) -> None:
    """Set g = Jᵀ f."""
    for j in range(n):
        g[j] = 0.0
    for i in range(r):
        for j in range(n):
            g[j] += J[i, j] * f[i]


@routine(step="n", g="n")
def dogleg(n: Int, delta: Real, cauchy: Real, step: Vector, g: Vector) -> Real:
    """The s at which |c g + s (step - c g)| is Δ; -1 where c g alone is longer than that."""
    a = 0.0
    b = 0.0
    c = 0.0
    for j in range(n):
        first = cauchy * g[j]
        along = step[j] - first
        a += along**2
        b += along * first
        c += first**2
    c -= delta**2
    if c >= 0.0:
        return -1.0
    # the positive root of a s² + 2 b s + c, in the form without cancellation
    root = sqrt(b**2 - a * c)
    return -c / (b + root) if b > 0.0 else (root - b) / a


@routine(
    t="1",
    x="n",
    p="m",
    residual="1, n, m -> r",
    jacobian="1, n, m -> r*n",
    weight="n",
    f="r",
    J="r, n",
    Q="r, n",
    S="r, n",
    rows="r",
    work="7*r",
    step="n",
    g="n",
    trial="n",
    info="2",
)
def newton_damped(
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
    radius: Real,
    f: Vector,
    J: Matrix,
    Q: Matrix,
    S: Matrix,
    rows: IntVector,
    work: Vector,
    step: Vector,
    g: Vector,
    trial: Vector,
    info: IntVector,
) -> Int:
    """Solve f(t, x, p) = 0 from any start x, in at most `iterations` evaluations of f.

    `radius` is the first Δ. `f` ends as the residual at x; `info` becomes the number of evaluations
    after the first, and the rank of J where it was last computed. The other arrays are scratch.

    Returns CONVERGED (0), NOT_CONVERGED (1), STALLED (3) where |f| is at a minimum that is not 0,
    or NOT_FINITE (4) where f or J is not finite at x; x is the best iterate.
    """
    info[0] = 0
    info[1] = r
    residual(t, x, p, f)
    size = norm(r, f)
    if not isfinite(size):
        return NOT_FINITE
    delta = radius
    largest = 0.0
    slope = 0.0
    newton_length = 0.0
    cauchy = 0.0
    stale = 1
    for k in range(iterations):
        if size <= tolerance:
            return CONVERGED

        # J in the scaled unknowns, its gradient and its minimum-norm step
        if stale == 1:
            jacobian(t, x, p, J)
            total = 0.0
            for i in range(r):
                for j in range(n):
                    J[i, j] /= sqrt(weight[j])
                    Q[i, j] = J[i, j]
                    total += J[i, j] ** 2
            if not isfinite(total):
                return NOT_FINITE
            largest = max(largest, sqrt(total))
            gradient(r, n, J, f, g)
            slope = norm(n, g)
            info[1] = orthogonal_factor(
                r, n, Q, rank_tolerance, rows, work[0:r], S, work[r : 2 * r], work[2 * r : 3 * r]
            )
            orthogonal_solve(
                r, n, Q, rows, work[0:r], S, work[r : 2 * r], f, step, work[3 * r : 4 * r]
            )
            newton_length = norm(n, step)
            product(r, n, J, g, work[4 * r : 5 * r])
            product(r, n, J, step, work[5 * r : 6 * r])
            curvature = norm(r, work[4 * r : 5 * r])
            cauchy = (slope / curvature) ** 2 if curvature > 0.0 else 0.0
            stale = 0
        if slope <= FLAT * largest * size:
            return STALLED

        # d = a g + b step
        a = 0.0
        b = 1.0
        if newton_length > delta:
            b = dogleg(n, delta, cauchy, step, g)
            a = cauchy * (1.0 - b)
            if b < 0.0:
                a = delta / slope
                b = 0.0
        length = 0.0
        reach = 0.0
        for j in range(n):
            d = a * g[j] + b * step[j]
            length += d**2
            reach += weight[j] * x[j] ** 2
            trial[j] = x[j] - d / sqrt(weight[j])
        length = sqrt(length)

        # the reduction of |f|² foretold, and the one found
        model = 0.0
        for i in range(r):
            model += (f[i] - a * work[4 * r + i] - b * work[5 * r + i]) ** 2
        foretold = size**2 - model
        if foretold <= INVISIBLE * size**2 or length <= INVISIBLE * sqrt(reach):
            return STALLED
        residual(t, trial, p, work[6 * r : 7 * r])
        info[0] = k + 1
        found = norm(r, work[6 * r : 7 * r])
        gain = (size**2 - found**2) / foretold

        # a nan is no gain
        if gain > 1e-4:
            for j in range(n):
                x[j] = trial[j]
            for i in range(r):
                f[i] = work[6 * r + i]
            size = found
            stale = 1
            if gain > 0.75:
                delta = max(delta, 2.0 * length)
            elif gain < 0.25:
                delta = 0.5 * length
        else:
            delta = 0.25 * length
    return CONVERGED if size <= tolerance else NOT_CONVERGED
