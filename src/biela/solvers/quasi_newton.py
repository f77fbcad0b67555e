"""Quasi-Newton methods: equations f = 0 solved as minima of |f|²/2, with a curvature learnt.

A step is δ = -α H g with the gradient g = Jᵀ f and α by a line search; H approximates the inverse
of the curvature and is updated after it.

With the step δ and the change γ of the gradient along it,

    DFP     H ← H + δ δᵀ/(δ·γ) - (Hγ)(Hγ)ᵀ/(γ·Hγ)
    BFGS    H ← the same + (γ·Hγ) u uᵀ,     u = δ/(δ·γ) - Hγ/(γ·Hγ)

Both stay positive definite as long as δ·γ > 0.  BFGS recovers from a bad H, DFP hardly does.
Davidon 1959, Fletcher & Powell 1963; Broyden, Fletcher, Goldfarb and Shanno 1970; Nocedal & Wright
2006, Numerical Optimization, §6.1.
"""

from __future__ import annotations

from math import isfinite

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.damped import STALLED
from biela.solvers.minimum_norm import NOT_FINITE
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, norm
from biela.solvers.saddle_steps import displace, sparse_gradient, sparse_product

__all__ = ["curvature_product", "curvature_reset", "curvature_update", "iterate_quasi_newton"]

#: The part of |δ| |γ| that δ·γ must have for an update.
LEAST = 1e-10
#: Halvings of a line search, at most.
SHORTENINGS = 40
#: A reduction of |f|² of at least this part of what the slope promises is enough (Armijo).
SUFFICIENT = 1e-4


@routine(H="n, n")
def curvature_reset(n: Int, scale: Real, H: Matrix) -> None:
    """Set H = scale times the identity."""
    for i in range(n):
        for j in range(n):
            H[i, j] = scale if i == j else 0.0


@routine(H="n, n", x="n", y="n")
def curvature_product(n: Int, H: Matrix, x: Vector, y: Vector) -> None:
    """Set y = H x."""
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += H[i, j] * x[j]
        y[i] = total


@routine(H="n, n", step="n", change="n", Hc="n")
def curvature_update(n: Int, bfgs: Int, H: Matrix, step: Vector, change: Vector, Hc: Vector) -> Int:
    """Update H for a step and the change of the gradient along it; 0 if they do not allow it.

    `bfgs` is 1 for BFGS, 0 for DFP; `Hc` is scratch, and becomes H change.
    """
    curvature_product(n, H, change, Hc)
    along = 0.0
    bent = 0.0
    lengths = 0.0
    sizes = 0.0
    for i in range(n):
        along += step[i] * change[i]
        bent += change[i] * Hc[i]
        lengths += step[i] ** 2
        sizes += change[i] ** 2
    # the product of the squares would underflow near the solution
    if not (along > 0.0 and bent > 0.0):
        return 0
    if along * along <= LEAST * LEAST * lengths * sizes:
        return 0
    for i in range(n):
        for j in range(n):
            H[i, j] += step[i] * step[j] / along - Hc[i] * Hc[j] / bent
            if bfgs == 1:
                ui = step[i] / along - Hc[i] / bent
                uj = step[j] / along - Hc[j] / bent
                H[i, j] += bent * ui * uj
    return 1


@routine(
    t="1",
    q="nq",
    p="m",
    residual="1, nq, m -> r",
    entries="1, nq, m -> e",
    retract="nq, n -> nq",
    first="e",
    second="e",
    f="r",
    J="e",
    trial="nq",
    H="n, n",
    g="n",
    change="n",
    step="n",
    Hc="n",
    w="r",
    info="2",
)
def iterate_quasi_newton(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    bfgs: Int,
    tolerance: Real,
    by_correction: Int,
    fewest: Int,
    iterations: Int,
    t: Vector,
    q: Vector,
    p: Vector,
    residual: Kernel,
    entries: Kernel,
    retract: Kernel,
    first: IntVector,
    second: IntVector,
    f: Vector,
    J: Vector,
    trial: Vector,
    H: Matrix,
    g: Vector,
    change: Vector,
    step: Vector,
    Hc: Vector,
    w: Vector,
    info: IntVector,
) -> Int:
    """Iterate by BFGS (`bfgs` = 1) or DFP on |f|²/2; see `iterate_position`."""
    info[0] = 0
    residual(t, q, p, f)
    size = norm(r, f)
    if not isfinite(size):
        return NOT_FINITE
    entries(t, q, p, J)
    sparse_gradient(n, r, e, first, second, J, f, g)
    fresh = 0
    for k in range(iterations):
        if by_correction == 0 and k >= fewest and size < tolerance:
            return CONVERGED

        # H starts as the length of steepest descent
        if fresh == 0:
            sparse_product(n, r, e, first, second, J, g, w)
            slope = norm(n, g)
            bend = norm(r, w)
            if not bend > 0.0:
                return CONVERGED if size < tolerance else STALLED
            curvature_reset(n, (slope / bend) ** 2, H)
            fresh = 1
        curvature_product(n, H, g, step)
        descent = 0.0
        for j in range(n):
            descent += step[j] * g[j]

        # shorter and shorter, until |f|² falls by enough; nan is no fall
        taken = 0
        part = 1.0
        found = size
        for _i in range(SHORTENINGS):
            displace(nq, n, -1.0 if part == 1.0 else 0.5, q, step, retract, trial)
            residual(t, trial, p, w)
            found = norm(r, w)
            if found**2 <= size**2 - 2.0 * SUFFICIENT * part * descent:
                taken = 1
                break
            part *= 0.5
        info[0] = k + 1
        if taken == 0:
            if fresh == 2:
                # H has gone bad: once more from steepest descent
                fresh = 0
                continue
            return CONVERGED if size < tolerance else STALLED

        for j in range(nq):
            q[j] = trial[j]
        for i in range(r):
            f[i] = w[i]
        size = found
        if by_correction == 1 and norm(n, step) < tolerance:
            return CONVERGED
        entries(t, q, p, J)
        for j in range(n):
            change[j] = -g[j]
        sparse_gradient(n, r, e, first, second, J, f, g)
        for j in range(n):
            change[j] += g[j]
        curvature_update(n, bfgs, H, step, change, Hc)
        fresh = 2
    return CONVERGED if size < tolerance and by_correction == 0 else NOT_CONVERGED
