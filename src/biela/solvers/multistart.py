"""Bounded least squares from one start after the other, for any number of problems.

The first start is the one that is given.  The others are drawn from a table of numbers between 0
and 1: within the bounds of a coordinate that has two, else around the first start.
"""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.bounded_least_squares import bounded_least_squares, move_within
from biela.solvers.newton import CONVERGED

__all__ = ["search_all"]

#: An open equation weighs so much more than a target that is missed, where ends are compared.
HARDNESS = 1e3
#: Coordinates with bounds nearer to infinity than this have none.
UNBOUNDED = 1e100


@routine(
    q="k", place="n", lower="n", upper="n", spread="n", draw="n", step="n", move="k, n -> k", x="k"
)
def draw_start(
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
    times="count",
    starts="count, k",
    p="m",
    targets="count, w",
    evaluate="1, k, m -> r, r*n",
    move="k, n -> k",
    place="n",
    lower="n",
    upper="n",
    weight="r",
    scale="n",
    spread="n",
    draws="restarts, n",
    rows="count, r",
    states="count",
    effort="2*count",
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
    best="k",
    info="2",
)
def search_all(
    count: Int,
    w: Int,
    k: Int,
    n: Int,
    m: Int,
    r: Int,
    hard: Int,
    restarts: Int,
    follows: Int,
    times: Vector,
    starts: Matrix,
    p: Vector,
    targets: Matrix,
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
    rows: Matrix,
    states: IntVector,
    effort: IntVector,
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
    best: Vector,
    info: IntVector,
) -> Int:
    """Solve `count` problems that differ in time, start and the last `w` entries of p.

    Each is solved from its start, and if that fails from the starts that the rows of `draws` give,
    in at most `iterations` steps.  Where none succeeds, the best end is followed for `closing`
    iterations more, to the minimum of |f| near it.

    With `follows` 1 or 2 they are the instants of a path: the first start alone is read, and there
    are no restarts after it.  Each of the others starts from the solution before it; with 2 from
    where it would be if it moved on as between the two before.  Motions that the rows leave free
    would never come to rest that way: 2 is for rows that leave none.

    `starts` become the positions, `rows` their residuals without weights, `states` what
    `bounded_least_squares` returned, `effort` evaluations and restarts, by turns.  The rest is as
    in `bounded_least_squares`.  Returns how many converged.
    """
    solved = 0
    for case in range(count):
        t[0] = times[case]
        for i in range(w):
            p[m - w + i] = targets[case, i]
        info[0] = 0
        info[1] = 0

        # the first start, brought into the bounds
        attempts = restarts + 1
        for i in range(k):
            trial[i] = starts[case, i]
        for j in range(n):
            room[j] = 0.0
        if follows > 0 and case > 0:
            attempts = 1
            ratio = 0.0
            if follows == 2 and case > 1 and times[case - 1] != times[case - 2]:
                ratio = (times[case] - times[case - 1]) / (times[case - 1] - times[case - 2])
            for i in range(k):
                trial[i] = starts[case - 1, i]
            for j in range(n):
                if case > 1 and place[j] >= 0:
                    room[j] = ratio * (starts[case - 1, place[j]] - starts[case - 2, place[j]])
        move_within(k, n, move, trial, room[0:n], place, lower, upper, starts[case])
        for i in range(k):
            x[i] = starts[case, i]
            best[i] = x[i]

        # one attempt after the other, and a last one from the best end
        least = 1e300
        for attempt in range(attempts + 1):
            limit = iterations
            waiting = patience
            if attempt == attempts:
                limit = closing
                waiting = 0
                for i in range(k):
                    x[i] = best[i]
            elif attempt > 0:
                draw_start(
                    k,
                    n,
                    move,
                    starts[case],
                    place,
                    lower,
                    upper,
                    spread,
                    draws[attempt - 1],
                    room[0:n],
                    x,
                )
                info[1] += 1
            states[case] = bounded_least_squares(
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
            if states[case] == CONVERGED:
                solved += 1
                break
            size = 0.0
            for i in range(r):
                size += (f[i] * HARDNESS) ** 2 if i < hard else (f[i] * weight[i]) ** 2
            # a nan is no improvement
            if size < least:
                least = size
                for i in range(k):
                    best[i] = x[i]
        for i in range(k):
            starts[case, i] = x[i]
        for i in range(r):
            rows[case, i] = f[i]
        effort[2 * case] = info[0]
        effort[2 * case + 1] = info[1]
    return solved
