"""Bounded least squares from one start after the other, for one problem or for many.

The first start is the one that is given.  The others are drawn from a table of numbers between 0
and 1: within the bounds of a coordinate that has two, else around the first start.
"""

from __future__ import annotations

from math import sqrt

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.bounded_least_squares import bounded_least_squares, move_within
from biela.solvers.newton import CONVERGED, NOT_CONVERGED

__all__ = ["search_from_starts"]

#: An open equation weighs so much more than a target that is missed, where ends are compared.
HARDNESS = 1e3
#: Coordinates with bounds nearer to infinity than this have none.
UNBOUNDED = 1e100


@routine(
    q="k", place="n", lower="n", upper="n", spread="n", draw="n", step="n", move="k, n -> k", x="k"
)
def drawn_start(
    k: Int,
    n: Int,
    move: Kernel,
    q: Vector,
    place: IntVector,
    lower: Vector,
    upper: Vector,
    spread: Vector,
    draw: Vector,
    step: Vector,
    x: Vector,
) -> None:
    """Set x to a start drawn around q."""
    for j in range(n):
        step[j] = (2.0 * draw[j] - 1.0) * spread[j]
        if place[j] >= 0 and lower[j] > -UNBOUNDED and upper[j] < UNBOUNDED:
            step[j] = lower[j] + draw[j] * (upper[j] - lower[j]) - q[place[j]]
    move_within(k, n, move, q, step, place, lower, upper, x)


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
    spread="n",
    draws="restarts, n",
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
    best="k",
    info="2",
)
def search_from_starts(
    k: Int,
    n: Int,
    m: Int,
    r: Int,
    hard: Int,
    restarts: Int,
    attempts: Int,
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
    spread: Vector,
    draws: Matrix,
    tolerance: Real,
    iterations: Int,
    patience: Int,
    closing: Int,
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
    best: Vector,
    info: IntVector,
) -> Int:
    """Solve from q, and if that fails from starts that the rows of `draws` give.

    There are at most `attempts` starts, the first included.

    Where none succeeds, the best end is followed for `closing` iterations more, to the minimum of
    |f| near it.  `info` has grown by the evaluations and by the restarts made.  The rest is as in
    `bounded_least_squares`; q becomes the best position.
    """
    least = 1e300
    for i in range(k):
        trial[i] = q[i]
    for j in range(n):
        room[j] = 0.0
    # the start may lie outside of the bounds
    move_within(k, n, move, trial, room[0:n], place, lower, upper, q)
    for i in range(k):
        x[i] = q[i]
        best[i] = q[i]
    status = NOT_CONVERGED
    last = min(attempts, restarts + 1)
    for attempt in range(last + 1):
        limit = iterations
        waiting = patience
        if attempt == last:
            limit = closing
            waiting = 0
            for i in range(k):
                x[i] = best[i]
        elif attempt > 0:
            drawn_start(
                k, n, move, q, place, lower, upper, spread, draws[attempt - 1], room[0:n], x
            )
            info[1] += 1
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
            limit,
            waiting,
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
        if status == CONVERGED:
            break
        size = 0.0
        for i in range(r):
            size += (f[i] * HARDNESS) ** 2 if i < hard else (f[i] * weight[i]) ** 2
        size = sqrt(size)
        # a nan is no improvement
        if size < least:
            least = size
            for i in range(k):
                best[i] = x[i]
    for i in range(k):
        q[i] = x[i]
    return status
