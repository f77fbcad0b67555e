"""Projections of a state onto its constraints, taken after a step."""

from __future__ import annotations

from math import isfinite

from biela.code.routines import Int, Kernel, Real, Vector, routine

__all__ = ["correct", "finite"]


@routine(t="1", x="n", p="m", project="1, n, m -> n + 1", trial="n + 1")
def correct_by(
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    project: Kernel,
    iterations: Int,
    threshold: Real,
    trial: Vector,
) -> Int:
    """Correct x at most `iterations` times; return how often.

    `project` gives the corrected state and, last, the residual max|Φ| of the state it was given;
    the correction is taken if that is above the threshold.
    """
    taken = 0
    for _k in range(iterations):
        project(t, x, p, trial)
        # a nan is below no threshold: it is taken, to be seen in the state
        if trial[n] <= threshold:
            break
        for i in range(n):
            x[i] = trial[i]
        taken += 1
    return taken


@routine(
    t="1",
    x="n",
    p="m",
    project_q="1, n, m -> n + 1",
    project_v="1, n, m -> n + 1",
    trial="n + 1",
)
def correct(
    n: Int,
    m: Int,
    t: Vector,
    x: Vector,
    p: Vector,
    project_q: Kernel,
    q_iterations: Int,
    project_v: Kernel,
    v_iterations: Int,
    threshold: Real,
    trial: Vector,
) -> Int:
    """Correct positions, then velocities; return the number of corrections."""
    taken = correct_by(n, m, t, x, p, project_q, q_iterations, threshold, trial)
    more = correct_by(n, m, t, x, p, project_v, v_iterations, threshold, trial)
    return taken + more


@routine(x="n")
def finite(n: Int, x: Vector) -> Int:
    """Return 1 if all of x is finite, else 0."""
    for i in range(n):
        if not isfinite(x[i]):
            return 0
    return 1
