"""Least squares with equations that hold and bounds on the unknowns, from any start.

    minimise  |f(t, q, p)|²     with   Φ(t, q, p) = 0   and   l <= q <= u

Steps are those of `bounded_step`, with the damping λ = μ (|f|² + |Φ|²): near a solution it vanishes
fast enough for quadratic convergence, even where the Jacobian is singular, and far from one it is
strong (Yamashita & Fukushima 2001, "On the rate of convergence of the Levenberg-Marquardt method",
Computing Suppl. 15; Sugihara 2011, "Solvability-unconcerned inverse kinematics by the
Levenberg-Marquardt method", IEEE Trans. Robotics 27).  μ follows how well the linear model foretold
the reduction of

    |f|² + σ |Φ|

an exact penalty: σ grows until each step reduces its model (Nocedal & Wright 2006, Numerical
Optimization, §18.3).  Positions need not form a vector space: a step is taken by q ⊕ δ.
"""

from __future__ import annotations

from math import isfinite, sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.bounded_step import bounded_step
from biela.solvers.damped import STALLED
from biela.solvers.minimum_norm import NOT_FINITE
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, norm

__all__ = ["bounded_least_squares", "move_within", "rooms"]

#: The first μ, and the bounds of what it may become.
FIRST_MU = 0.1
LEAST_MU = 1e-6
GREATEST_MU = 1e12
#: λ is at least this, in parts of the rows.
LEAST_DAMPING = 1e-16
#: A foretold reduction below this part of |f|² is rounding.
INVISIBLE = 1e-15
#: A step that leaves more than this part of |f| is slow.
SLOW = 0.95


@routine(q="k", place="n", lower="n", upper="n", scale="n", low="n", high="n")
def rooms(
    k: Int,
    n: Int,
    q: Vector,
    place: IntVector,
    lower: Vector,
    upper: Vector,
    scale: Vector,
    low: Vector,
    high: Vector,
) -> None:
    """Set the bounds of a step, in scaled unknowns, from those of the coordinates it moves."""
    for j in range(n):
        low[j] = -1e300
        high[j] = 1e300
        if place[j] >= 0:
            low[j] = min((lower[j] - q[place[j]]) / scale[j], 0.0)
            high[j] = max((upper[j] - q[place[j]]) / scale[j], 0.0)


@routine(move="k, n -> k", q="k", step="n", place="n", lower="n", upper="n", trial="k")
def move_within(
    k: Int,
    n: Int,
    move: Kernel,
    q: Vector,
    step: Vector,
    place: IntVector,
    lower: Vector,
    upper: Vector,
    trial: Vector,
) -> None:
    """Set trial = q ⊕ step, with every coordinate brought back into its bounds."""
    move(q, step, trial)
    for j in range(n):
        if place[j] >= 0:
            trial[place[j]] = min(max(trial[place[j]], lower[j]), upper[j])


@routine(f="r", A="r, n", weight="r", scale="n")
def scale_rows(r: Int, n: Int, f: Vector, A: Matrix, weight: Vector, scale: Vector) -> None:
    """Weigh the rows, and change to the unknowns δ_j / s_j."""
    for i in range(r):
        f[i] *= weight[i]
        for j in range(n):
            A[i, j] *= weight[i] * scale[j]


@routine(
    t="1",
    q="k",
    p="m",
    evaluate="1, k, m -> r, r*n",
    move="k, n -> k",
    place="n",
    lower="n",
    upper="n",
    weight="r",
    scale="n",
    held="n",
    f="r",
    A="r, n",
    g="r",
    B="r, n",
    G="r, r",
    L="r, r",
    work="2*r",
    room="4*n",
    trial="k",
    info="2",
)
def bounded_least_squares(
    k: Int,
    n: Int,
    m: Int,
    r: Int,
    hard: Int,
    t: Vector,
    q: Vector,
    p: Vector,
    evaluate: Kernel,
    move: Kernel,
    place: IntVector,
    lower: Vector,
    upper: Vector,
    weight: Vector,
    scale: Vector,
    tolerance: Real,
    iterations: Int,
    patience: Int,
    held: IntVector,
    f: Vector,
    A: Matrix,
    g: Vector,
    B: Matrix,
    G: Matrix,
    L: Matrix,
    work: Vector,
    room: Vector,
    trial: Vector,
    info: IntVector,
) -> Int:
    """Reduce |f| from the start q, with the first `hard` of the rows held at zero.

    `evaluate` gives the rows and their Jacobian by the displacements δ, `move` gives q ⊕ δ.
    Displacement j moves the coordinate `place`[j] within `lower`[j] and `upper`[j]; a place of -1
    has no bounds.  `weight` are those of the rows in the sum of squares, `scale` the lengths in
    which displacements are measured.  All rows together, without weights, are to be within
    `tolerance`.  It is given up after `patience` slow steps in a row, never if that is 0.

    On return q is the best position, `f` its rows without weights, `held` 1 for displacements that
    a bound stopped in the last step.  `info`[0] has grown by the number of evaluations.  The rest
    is scratch.

    Returns CONVERGED (0), NOT_CONVERGED (1), STALLED (3) where no step reduces |f|, or
    NOT_FINITE (4).
    """
    evaluate(t, q, p, f, A)
    info[0] += 1
    error = norm(r, f)
    if not isfinite(error):
        return NOT_FINITE
    scale_rows(r, n, f, A, weight, scale)
    mu = FIRST_MU
    penalty = 1.0
    slow = 0
    status = NOT_CONVERGED
    polished = 0
    for j in range(n):
        held[j] = 0
    for _k in range(iterations):
        # one step more than needed leaves rounding only
        if error <= tolerance:
            status = CONVERGED
            if polished == 1 or error == 0.0:
                break
            polished = 1

        # a step, and what it should bring
        open_rows = norm(hard, f[0:hard])
        size = 0.0
        for i in range(hard, r):
            size += f[i] ** 2
        rooms(k, n, q, place, lower, upper, scale, room[0:n], room[n : 2 * n])
        bounded_step(
            r,
            n,
            hard,
            LEAST_DAMPING if polished == 1 else mu * (size + open_rows**2) + LEAST_DAMPING,
            A,
            f,
            room[0:n],
            room[n : 2 * n],
            held,
            G,
            L,
            work[0:r],
            work[r : 2 * r],
            room[2 * n : 3 * n],
        )
        closed = 0.0
        model = 0.0
        for i in range(r):
            total = f[i]
            for j in range(n):
                total += A[i, j] * room[2 * n + j]
            if i < hard:
                closed += total**2
            else:
                model += total**2
        closing = open_rows - sqrt(closed)
        if closing > 0.0 and 0.5 * penalty * closing < model - size:
            penalty = 2.0 * (model - size) / closing
        foretold = size - model + penalty * closing
        for j in range(n):
            room[3 * n + j] = room[2 * n + j] * scale[j]
        if not foretold > INVISIBLE * (size + penalty * open_rows) and polished == 0:
            # a long step that bounds have bent may promise nothing where a short one does; with
            # other starts at hand that is not worth the time
            mu *= 64.0
            if patience > 0 or mu > GREATEST_MU:
                status = STALLED
                break
            continue
        move_within(k, n, move, q, room[3 * n : 4 * n], place, lower, upper, trial)
        evaluate(t, trial, p, g, B)
        info[0] += 1
        found_error = norm(r, g)
        scale_rows(r, n, g, B, weight, scale)
        found = 0.0
        for i in range(hard, r):
            found += g[i] ** 2
        found_open = norm(hard, g[0:hard])
        gained = size - found + penalty * (open_rows - found_open)
        if polished == 1 and not found_error < error:
            break

        # a nan is no gain
        if gained > 1e-4 * foretold or polished == 1:
            slow = slow + 1 if found > SLOW**2 * size else 0
            if gained > 0.75 * foretold:
                mu = max(0.2 * mu, LEAST_MU)
            elif gained < 0.25 * foretold:
                mu = min(4.0 * mu, GREATEST_MU)
            for i in range(k):
                q[i] = trial[i]
            for i in range(r):
                f[i] = g[i]
                for j in range(n):
                    A[i, j] = B[i, j]
            error = found_error
        else:
            mu = 8.0 * mu
            slow += 1
            if mu > GREATEST_MU:
                status = STALLED
                break
        if patience > 0 and slow >= patience:
            status = STALLED
            break
    if status == NOT_CONVERGED and error <= tolerance:
        status = CONVERGED
    for i in range(r):
        f[i] /= weight[i]
    return status
