"""The nearest solutions to wanted positions, for many problems, one after the other."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.newton import CONVERGED
from biela.solvers.objective_descent import descend_objective

__all__ = ["descend_all"]


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
    are left alone.  `rows` become the residuals, `effort` grows by the evaluations.
    """
    for case in range(count):
        if states[case] != CONVERGED:
            continue
        t[0] = times[case]
        for i in range(w):
            p[m - w + i] = targets[case, i]
        info[0] = 0
        info[1] = 0
        descend_objective(
            k,
            n,
            m,
            r,
            hard,
            t,
            positions[case],
            p,
            evaluate,
            move,
            place,
            lower,
            upper,
            weight,
            scale,
            centres[case],
            length,
            tolerance,
            iterations,
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
            way,
            info,
        )
        evaluate(t, positions[case], p, f, A)
        for i in range(r):
            rows[case, i] = f[i]
        effort[2 * case] += info[0]
