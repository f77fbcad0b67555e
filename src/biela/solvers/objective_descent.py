"""The position that is nearest to a wanted one among those that fulfil equations and bounds.

    minimise  h = Σ w_j (q_j - c_j)²     with   f(t, q, p) = 0   and   l <= q <= u

From a solution the way to c is projected on the equations,

    minimise  Σ w_j (q_j + δ_j - c_j)²     with   f + J δ = 0   and   l <= q + δ <= u

and taken as far as it reduces h, after the equations have been restored at its end: a method of
feasible directions (Rosen 1961, "The gradient projection method for nonlinear programming II",
J. SIAM 9).  The curvature of the equations is not in that problem; how far the next way should be
followed is foretold by how the last two differ (Barzilai & Borwein 1988, "Two-point step size
gradient methods", IMA J. Numer. Anal. 8).
"""

from __future__ import annotations

from math import isfinite, sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.bounded_least_squares import bounded_least_squares, move_within, rooms
from biela.solvers.bounded_step import bounded_step
from biela.solvers.newton import CONVERGED

__all__ = ["descend_all"]

#: How often a way is halved.
HALVINGS = 12
#: The longest way, in parts of the one to the minimum of the linear problem.
LONGEST = 4.0
#: Steps to restore the equations.
RESTORING = 12
#: A coordinate nearer to its bound than this is at it.
AT_BOUND = 1e-10
#: The search ends where the way left is shorter than this.
NEAR = 1e-9


@routine(q="k", place="n", centre="n", length="n")
def distance(k: Int, n: Int, q: Vector, place: IntVector, centre: Vector, length: Vector) -> Real:
    """Σ ((q_j - c_j) / s_j)² of the coordinates that displacements move."""
    total = 0.0
    for j in range(n):
        if place[j] >= 0:
            total += ((q[place[j]] - centre[j]) / length[j]) ** 2
    return total


@routine(
    times="count",
    positions="count, k",
    p="m",
    targets="count, w",
    states="count",
    rows="count, r",
    effort="2*count",
    evaluate="1, k, m -> r, r*n",
    move="k, n -> k",
    place="n",
    lower="n",
    upper="n",
    weight="r",
    scale="n",
    centres="count, n",
    length="n",
    t="1",
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
    x="k",
    way="2*n",
    info="2",
)
def descend_all(
    count: Int,
    w: Int,
    k: Int,
    n: Int,
    m: Int,
    r: Int,
    hard: Int,
    times: Vector,
    positions: Matrix,
    p: Vector,
    targets: Matrix,
    states: IntVector,
    rows: Matrix,
    effort: IntVector,
    evaluate: Kernel,
    move: Kernel,
    place: IntVector,
    lower: Vector,
    upper: Vector,
    weight: Vector,
    scale: Vector,
    centres: Matrix,
    length: Vector,
    tolerance: Real,
    iterations: Int,
    t: Vector,
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
    x: Vector,
    way: Vector,
    info: IntVector,
) -> None:
    """Move the solutions of `count` problems towards their `centres`.

    The problems differ in time and the last `w` entries of p; those whose state is not CONVERGED
    are left alone.  `length`[j] is 1/√w_j.  `rows` become the residuals, `effort` grows by the
    evaluations.  The rest is as in `bounded_least_squares`.
    """
    for case in range(count):
        if states[case] != CONVERGED:
            continue
        t[0] = times[case]
        for i in range(w):
            p[m - w + i] = targets[case, i]
        info[0] = 0
        h = distance(k, n, positions[case], place, centres[case], length)
        first = 1.0
        for turn in range(iterations):
            evaluate(t, positions[case], p, f, A)
            info[0] += 1
            rooms(k, n, positions[case], place, lower, upper, length, room[0:n], room[n : 2 * n])
            # the way to the centre d, and what is to be added to it: A (d + η) = -f.  What is at a
            # bound already is held there; the others stop at the first bound that one of them meets
            for j in range(n):
                way[j] = (
                    (centres[case, j] - positions[case, place[j]]) / length[j]
                    if place[j] >= 0
                    else 0.0
                )
                room[j] = -way[j] if room[j] * length[j] > -AT_BOUND else -1e300
                room[n + j] = -way[j] if room[n + j] * length[j] < AT_BOUND else 1e300
            for i in range(r):
                for j in range(n):
                    A[i, j] *= length[j]
                    f[i] += A[i, j] * way[j]
            bounded_step(
                r,
                n,
                r,
                0.0,
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
            total = 0.0
            reach = 1.0
            for j in range(n):
                way[j] = (way[j] + room[2 * n + j]) * length[j]
                total += way[j] ** 2
                if place[j] >= 0 and held[j] == 0:
                    if way[j] * reach > upper[j] - positions[case, place[j]]:
                        reach = max(upper[j] - positions[case, place[j]], 0.0) / way[j]
                    elif way[j] * reach < lower[j] - positions[case, place[j]]:
                        reach = min(lower[j] - positions[case, place[j]], 0.0) / way[j]
            if not (isfinite(total) and sqrt(total) > NEAR):
                break

            # as far as h falls, beginning with the length that two ways foretell
            square = 0.0
            change = 0.0
            for j in range(n):
                before = way[n + j] / length[j]
                square += before**2
                change += before * (before - way[j] / length[j])
                way[n + j] = way[j]
            part = min(first * square / change, LONGEST) if change > 0.0 else LONGEST
            part = min(part if turn > 0 else 1.0, reach)
            moved = 0
            found = h
            for _h in range(HALVINGS):
                for j in range(n):
                    room[j] = part * way[j]
                move_within(k, n, move, positions[case], room[0:n], place, lower, upper, x)
                status = bounded_least_squares(
                    k,
                    n,
                    m,
                    r,
                    hard,
                    t,
                    x,
                    p,
                    evaluate,
                    move,
                    place,
                    lower,
                    upper,
                    weight,
                    scale,
                    tolerance,
                    RESTORING,
                    0,
                    held,
                    f,
                    A,
                    g,
                    B,
                    G,
                    L,
                    work,
                    room,
                    trial,
                    info,
                )
                found = distance(k, n, x, place, centres[case], length)
                if status == CONVERGED and found < h:
                    moved = 1
                    break
                part *= 0.5
            if moved == 0:
                break
            first = part
            gained = h - found
            h = found
            for i in range(k):
                positions[case, i] = x[i]
            if gained <= 1e-14 * h:
                break
        evaluate(t, positions[case], p, f, A)
        for i in range(r):
            rows[case, i] = f[i]
        effort[2 * case] += info[0]
