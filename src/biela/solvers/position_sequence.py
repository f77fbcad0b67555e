"""Instants of a motion that equations define, one after the other; see `implicit_motion`."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Vector, routine
from biela.solvers.newton import CONVERGED
from biela.solvers.position_iteration import iterate_position
from biela.solvers.saddle_steps import displace, saddle_factor, saddle_step, sparse_product

__all__ = ["follow_positions", "solve_rates"]


@routine(
    t="1",
    x="nq + 2*n",
    p="m",
    entries="1, nq, m -> e",
    beta="1, nq, m -> r",
    gamma="1, nq + n, m -> r",
    first="e",
    second="e",
    start="n + r + 1",
    rows="fill",
    order="n + r",
    targets="updates",
    scatter="n + r + e",
    f="r",
    J="e",
    step="n + r",
    y="n + r",
    A="n + r + e",
    LD="n + r + fill",
    accumulated="n + r",
    ratios="n + r",
    dropped="n + r",
)
def solve_rates(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    drop: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    entries: Kernel,
    beta: Kernel,
    gamma: Kernel,
    first: IntVector,
    second: IntVector,
    start: IntVector,
    rows: IntVector,
    order: IntVector,
    targets: IntVector,
    scatter: IntVector,
    f: Vector,
    J: Vector,
    step: Vector,
    y: Vector,
    A: Vector,
    LD: Vector,
    accumulated: Vector,
    ratios: Vector,
    dropped: IntVector,
) -> None:
    """Correct v and a of the state x = (q, v, a), each in two rounds, the second a refinement."""
    entries(t, x[0:nq], p, J)
    saddle_factor(
        n, r, e, fill, updates, start, rows, order, targets, scatter, J, 0.0, drop, A, LD,
        accumulated, ratios, dropped,
    )  # fmt: skip
    for _round in range(2):
        beta(t, x[0:nq], p, f)
        sparse_product(n, r, e, first, second, J, x[nq : nq + n], y[0:r])
        for i in range(r):
            f[i] -= y[i]
        saddle_step(n, r, fill, start, rows, order, LD, f, step, y)
        for j in range(n):
            x[nq + j] += step[j]
    for _round in range(2):
        gamma(t, x[0 : nq + n], p, f)
        sparse_product(n, r, e, first, second, J, x[nq + n : nq + 2 * n], y[0:r])
        for i in range(r):
            f[i] -= y[i]
        saddle_step(n, r, fill, start, rows, order, LD, f, step, y)
        for j in range(n):
            x[nq + n + j] += step[j]


@routine(
    t="1",
    x="nq + 2*n",
    p="m",
    residual="1, nq, m -> r",
    entries="1, nq, m -> e",
    retract="nq, n -> nq",
    beta="1, nq, m -> r",
    gamma="1, nq + n, m -> r",
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
    trajectory="steps + 1, nq + 2*n",
)
def follow_positions(
    nq: Int,
    n: Int,
    r: Int,
    e: Int,
    m: Int,
    fill: Int,
    updates: Int,
    steps: Int,
    predictor: Int,
    method: Int,
    damping: Real,
    tolerance: Real,
    by_correction: Int,
    fewest: Int,
    iterations: Int,
    drop_position: Real,
    drop_velocity: Real,
    h: Real,
    t: Vector,
    x: Vector,
    p: Vector,
    residual: Kernel,
    entries: Kernel,
    retract: Kernel,
    beta: Kernel,
    gamma: Kernel,
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
    trajectory: Matrix,
) -> Int:
    """Take `steps` steps of length h from the state x = (q, v, a) at t; return how many were good.

    `info[1]` becomes the number of iterations of all of them.
    """
    begin = t[0]
    total = 0
    for j in range(nq + 2 * n):
        trajectory[0, j] = x[j]
    for k in range(steps):
        for j in range(n):
            step[j] = 0.0
            if predictor >= 1:
                step[j] += h * x[nq + j]
            if predictor >= 2:
                step[j] += h * h / 2.0 * x[nq + n + j]
        displace(nq, n, 1.0, x[0:nq], step[0:n], retract, places[0])
        for j in range(nq):
            x[j] = places[0, j]
        t[0] = begin + (k + 1) * h
        status = iterate_position(
            nq, n, r, e, m, fill, updates, method, damping, tolerance, by_correction, fewest,
            iterations, drop_position, t, x[0:nq], p, residual, entries, retract, first, second,
            start, rows, order, targets, scatter, f, J, places, step, y, A, LD, accumulated,
            ratios, dropped, H, vectors, info,
        )  # fmt: skip
        total += info[0]
        info[1] = total
        if status != CONVERGED:
            return k
        solve_rates(
            nq, n, r, e, m, fill, updates, drop_velocity, t, x, p, entries, beta, gamma, first,
            second, start, rows, order, targets, scatter, f, J, step, y, A, LD, accumulated,
            ratios, dropped,
        )  # fmt: skip
        for j in range(nq + 2 * n):
            trajectory[k + 1, j] = x[j]
    return steps
