"""Bounded least squares with restarts for many problems, one after the other."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.bounded_least_squares import move_within
from biela.solvers.multistart import search_from_starts
from biela.solvers.newton import CONVERGED

__all__ = ["search_all"]


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

    With `follows` 1 they are the instants of a path: the first start alone is read, each of the
    others is the solution before it, moved on as far as between the two before, and there are no
    restarts after the first instant.

    `starts` become the positions, `rows` their residuals, `states` what
    `search_from_starts` returned, `effort` evaluations and restarts, by turns.  Returns how many
    converged.
    """
    solved = 0
    for case in range(count):
        t[0] = times[case]
        for i in range(w):
            p[m - w + i] = targets[case, i]
        attempts = restarts + 1
        if follows == 1 and case > 0:
            attempts = 1
            ratio = 0.0
            if case > 1 and times[case - 1] != times[case - 2]:
                ratio = (times[case] - times[case - 1]) / (times[case - 1] - times[case - 2])
            for j in range(n):
                room[j] = 0.0
                if case > 1 and place[j] >= 0:
                    room[j] = ratio * (starts[case - 1, place[j]] - starts[case - 2, place[j]])
            move_within(k, n, move, starts[case - 1], room[0:n], place, lower, upper, starts[case])
        info[0] = 0
        info[1] = 0
        states[case] = search_from_starts(
            k,
            n,
            m,
            r,
            hard,
            restarts,
            attempts,
            t,
            starts[case],
            p,
            evaluate,
            move,
            place,
            lower,
            upper,
            weight,
            scale,
            spread,
            draws,
            tolerance,
            iterations,
            patience,
            closing,
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
            x,
            best,
            info,
        )
        for i in range(r):
            rows[case, i] = f[i]
        effort[2 * case] = info[0]
        effort[2 * case + 1] = info[1]
        if states[case] == CONVERGED:
            solved += 1
    return solved
