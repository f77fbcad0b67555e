"""Iterations to f(t, q, p) = 0 for q on a manifold, with a sparse Jacobian, by one of five methods.

    Newton          δ = J⁺ f                           quadratic; violent near a singular J
    damped          δ = (Jᵀ J + λ²)⁻¹ Jᵀ f              bounded steps; linear where J is singular
    transpose       δ = α Jᵀ f,  α = <f, JJᵀf>/<JJᵀf, JJᵀf>      no solve at all; linear
    BFGS, DFP       δ = α H Jᵀ f, H learnt, α by a line search    no solve; superlinear

and q ← q ⊕ (-δ).  (Ben-Israel 1966; Wampler 1986; Balestrino, De Maria & Sciavicco 1984; Nocedal &
Wright 2006, §6.1.)  The first three go back to the best place and halve their steps when |f| has
grown three times in a row, or is no number.
"""

from __future__ import annotations

from math import isfinite

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.damped import STALLED
from biela.solvers.minimum_norm import NOT_FINITE
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, norm
from biela.solvers.quasi_newton import iterate_quasi_newton
from biela.solvers.saddle_steps import (
    displace,
    saddle_factor,
    saddle_step,
    sparse_gradient,
    sparse_product,
)

__all__ = ["BFGS", "DAMPED", "DFP", "NEWTON", "TRANSPOSE", "iterate_position"]

NEWTON = 0
DAMPED = 1
TRANSPOSE = 2
BFGS = 3
DFP = 4

#: Growths of |f| in a row after which the steps are halved.
PATIENCE = 3


@routine(
    t="1",
    q="nq",
    p="m",
    residual="1, nq, m -> r",
    entries="1, nq, m -> e",
    retract="nq, n -> nq",
    first="e",
    second="e",
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    f="r",
    J="e",
    best="nq",
    trial="nq",
    step="n + r",
    y="n + r",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
    info="2",
)
def iterate_linear(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    method: Int,
    damping: Real,
    tolerance: Real,
    by_correction: Int,
    fewest: Int,
    iterations: Int,
    drop: Real,
    t: Vector,
    q: Vector,
    p: Vector,
    residual: Kernel,
    entries: Kernel,
    retract: Kernel,
    first: IntVector,
    second: IntVector,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    f: Vector,
    J: Vector,
    best: Vector,
    trial: Vector,
    step: Vector,
    y: Vector,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
    info: IntVector,
) -> Int:
    """Iterate by NEWTON, DAMPED or TRANSPOSE; see `iterate_position`."""
    info[0] = 0
    residual(t, q, p, f)
    size = norm(r, f)
    if not isfinite(size):
        return NOT_FINITE
    least = size
    before = size
    scale = 1.0
    grown = 0
    length = 0.0
    for j in range(nq):
        best[j] = q[j]

    for k in range(iterations):
        if by_correction == 0 and k >= fewest and size < tolerance:
            return CONVERGED

        entries(t, q, p, J)
        if method == TRANSPOSE:
            sparse_gradient(n, r, e, first, second, J, f, step[0:n])
            sparse_product(n, r, e, first, second, J, step[0:n], y[0:r])
            slope = norm(n, step[0:n])
            bend = norm(r, y[0:r])
            if not bend > 0.0:
                return CONVERGED if size < tolerance else STALLED
            for j in range(n):
                step[j] *= (slope / bend) ** 2
        else:
            saddle_factor(
                n, r, e, fill, updates, start, rows, order, targets, scatter, J,
                damping if method == DAMPED else 0.0, drop, A, LD, accumulated, ratios, dropped,
            )  # fmt: skip
            saddle_step(n, r, fill, start, rows, order, LD, f, step, y)
        displace(nq, n, -scale, q, step[0:n], retract, trial)
        length = norm(n, step[0:n])
        for j in range(nq):
            q[j] = trial[j]
        info[0] = k + 1
        residual(t, q, p, f)
        size = norm(r, f)

        if size < least:
            least = size
            for j in range(nq):
                best[j] = q[j]
        if by_correction == 1 and length < tolerance and isfinite(size):
            return CONVERGED
        # nan is neither more nor less: it counts as the last of the growths
        if size < before:
            grown = 0
            scale = min(1.0, 2.0 * scale)
        elif isfinite(size):
            grown += 1
        else:
            grown = PATIENCE
        before = size
        if grown == PATIENCE:
            grown = 0
            scale *= 0.5
            for j in range(nq):
                q[j] = best[j]
            residual(t, q, p, f)
            size = norm(r, f)
            before = size

    if size < tolerance and by_correction == 0:
        return CONVERGED
    for j in range(nq):
        q[j] = best[j]
    residual(t, q, p, f)
    return NOT_CONVERGED


@routine(
    t="1",
    q="nq",
    p="m",
    residual="1, nq, m -> r",
    entries="1, nq, m -> e",
    retract="nq, n -> nq",
    first="e",
    second="e",
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    f="r",
    J="e",
    places="2, nq",
    step="n + r",
    y="n + r",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
    H="n, n",
    vectors="3, n",
    info="2",
)
def iterate_position(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    method: Int,
    damping: Real,
    tolerance: Real,
    by_correction: Int,
    fewest: Int,
    iterations: Int,
    drop: Real,
    t: Vector,
    q: Vector,
    p: Vector,
    residual: Kernel,
    entries: Kernel,
    retract: Kernel,
    first: IntVector,
    second: IntVector,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    f: Vector,
    J: Vector,
    places: Matrix,
    step: Vector,
    y: Vector,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
    H: Matrix,
    vectors: Matrix,
    info: IntVector,
) -> Int:
    """Solve f(t, q, p) = 0 from the start q by a method, in `fewest` to `iterations` steps.

    It ends where |f| < `tolerance`, or with `by_correction` = 1 where |δ| is.  `f` ends as the
    residual at q, and `info[0]` as the number of steps; the other arrays are scratch.

    Returns CONVERGED (0), NOT_CONVERGED (1), STALLED (3) where no step reduces |f|, or
    NOT_FINITE (4) where f is not finite at the start; q is the best place found.
    """
    if method >= BFGS:
        return iterate_quasi_newton(
            nq, n, r, e, m, 1 if method == BFGS else 0, tolerance, by_correction, fewest,
            iterations, t, q, p, residual, entries, retract, first, second, f, J, places[0], H,
            vectors[0], vectors[1], step[0:n], vectors[2], y[0:r], info,
        )  # fmt: skip
    return iterate_linear(
        nq, n, r, e, m, fill, updates, method, damping, tolerance, by_correction, fewest,
        iterations, drop, t, q, p, residual, entries, retract, first, second, start, rows, order,
        targets, scatter, f, J, places[0], places[1], step, y, A, LD, accumulated, ratios, dropped,
        info,
    )  # fmt: skip
