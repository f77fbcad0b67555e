"""Fixed steps: one driver for all methods, with projections, sampled control and events.

`march` runs the built-in methods; `marching(step)` makes the same driver for a step of your own.
Both are routines: no Python runs inside the loop, and they print as C99.

After every step the positions and then the velocities are projected onto their constraints.
A controller is sampled every so many steps, and its output held in p. If an event function has
changed its sign at the end of a step, the step is taken again, shortened, until the event lies at
its end: the run stops there.
"""

from __future__ import annotations

from typing import Any

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Routine, Vector, routine
from biela.code.routines.types import ArrayType
from biela.errors import ShapeError
from biela.solvers.integrators.corrections import correct, finite
from biela.solvers.integrators.events import (
    crossing,
    event_tolerance,
    fire,
    first_signs,
    keep_signs,
)
from biela.solvers.integrators.roots import (
    ROOT_LIMIT,
    root_after,
    root_begin,
    root_close,
    root_point,
    root_update,
    sign,
)
from biela.solvers.integrators.status import EVENT, FINISHED, NOT_FINITE
from biela.solvers.integrators.steps import EVALUATIONS, built_in_step

__all__ = ["march", "marching"]

# places in `counts`
STEPS = 0
CORRECTIONS = 2
SAMPLES = 3


def marching(step: Routine[..., Any], evaluations: int = 1) -> Routine[..., Any]:
    """Return the driver `march` for a step of your own instead of the built-in ones.

    Args:
        step: a routine `step(n, m, h, t, x, p, f, work)` that advances x and t, where `work` has
            a fixed number of rows of n. `march` then takes `work` of that shape, and ignores
            `method` and `nq`.
        evaluations: how often the step calls f, for the statistics.

    Raises:
        ShapeError: the routine has no such `work`.
    """
    work = step.checked.parameters[-1].type
    if not isinstance(work, ArrayType) or work.shape[0].names:
        raise ShapeError(
            f"{step!r} is not a step: write step(n, m, h, t, x, p, f, work) with work of a fixed "
            "number of rows of n"
        )
    rows = str(work.shape[0])
    cost = evaluations

    @routine(
        t="1",
        x="n",
        p="m",
        f="1, n, m -> n",
        jacobian="1, n, m -> ns*ns",
        work=f"{rows}, n",
        J="ns, ns",
        pivots="ns",
        delta="ns",
        counts="4",
    )
    def user_step(
        method: Int,
        nq: Int,
        n: Int,
        m: Int,
        ns: Int,
        iterations: Int,
        with_jacobian: Int,
        h: Real,
        t: Vector,
        x: Vector,
        p: Vector,
        f: Kernel,
        jacobian: Kernel,
        work: Matrix,
        J: Matrix,
        pivots: IntVector,
        delta: Vector,
        counts: IntVector,
    ) -> Int:
        """Take one step of the method given."""
        step(n, m, h, t, x, p, f, work)
        counts[EVALUATIONS] += cost
        return FINISHED

    return _driver(user_step, rows)


def _driver(step: Routine[..., int], rows: str) -> Routine[..., Any]:
    """The driver around one step with projections, events and so on."""

    @routine(
        t="1",
        x="n",
        p="m",
        f="1, n, m -> n",
        jacobian="1, n, m -> ns*ns",
        project_q="1, n, m -> n + 1",
        project_v="1, n, m -> n + 1",
        trial="n + 1",
        work=f"{rows}, n",
        J="ns, ns",
        pivots="ns",
        delta="ns",
        counts="4",
    )
    def corrected_step(
        method: Int,
        nq: Int,
        n: Int,
        m: Int,
        ns: Int,
        iterations: Int,
        with_jacobian: Int,
        start: Real,
        h: Real,
        t: Vector,
        x: Vector,
        p: Vector,
        f: Kernel,
        jacobian: Kernel,
        project_q: Kernel,
        q_iterations: Int,
        project_v: Kernel,
        v_iterations: Int,
        threshold: Real,
        trial: Vector,
        work: Matrix,
        J: Matrix,
        pivots: IntVector,
        delta: Vector,
        counts: IntVector,
    ) -> Int:
        """Take a step of length h from the time `start`, and project; return a status."""
        status = step(
            method, nq, n, m, ns, iterations, with_jacobian, h, t, x, p, f, jacobian, work, J,
            pivots, delta, counts,
        )  # fmt: skip
        if status != FINISHED:
            return status
        t[0] = start + h
        taken = correct(
            n, m, t, x, p, project_q, q_iterations, project_v, v_iterations, threshold, trial
        )
        counts[CORRECTIONS] += taken
        return FINISHED if finite(n, x) == 1 else NOT_FINITE

    @routine(
        t="1",
        x="n",
        p="m",
        f="1, n, m -> n",
        jacobian="1, n, m -> ns*ns",
        project_q="1, n, m -> n + 1",
        project_v="1, n, m -> n + 1",
        control="1, n, m -> nu",
        events="1, n, m -> ne",
        directions="ne",
        signs="ne",
        fired="ne",
        g="2, ne",
        held="n",
        trial="n + 1",
        z="7",
        work=f"{rows}, n",
        J="ns, ns",
        pivots="ns",
        delta="ns",
        trajectory="samples + 1, n",
        inputs="samples + 1, nu",
        counts="4",
    )
    def march(
        method: Int,
        nq: Int,
        n: Int,
        m: Int,
        nu: Int,
        ne: Int,
        ns: Int,
        samples: Int,
        stride: Int,
        iterations: Int,
        with_jacobian: Int,
        h: Real,
        t: Vector,
        x: Vector,
        p: Vector,
        f: Kernel,
        jacobian: Kernel,
        project_q: Kernel,
        q_iterations: Int,
        project_v: Kernel,
        v_iterations: Int,
        threshold: Real,
        control: Kernel,
        control_every: Int,
        u_first: Int,
        events: Kernel,
        directions: IntVector,
        signs: IntVector,
        fired: IntVector,
        g: Matrix,
        held: Vector,
        trial: Vector,
        z: Vector,
        work: Matrix,
        J: Matrix,
        pivots: IntVector,
        delta: Vector,
        trajectory: Matrix,
        inputs: Matrix,
        counts: IntVector,
    ) -> Int:
        """Take samples × stride steps of length h; row k of `trajectory` is x after k strides.

        Row k of `inputs` is what the controller held in the step that ended there; row 0 what it
        holds in the first. Time is t0 + k h, without accumulated rounding. `counts` adds up steps,
        evaluations of f and corrections, and ends with the number of the last row written.

        Returns FINISHED; NOT_FINITE, with t and x at the end of the last good step; EVENT, with t
        and x at the event, the directions of those that fired in `fired`, and the shortened step
        not among the steps counted; or UNSUITABLE for a method that does not fit.
        """
        start = t[0]
        counts[SAMPLES] = 0
        for i in range(n):
            trajectory[0, i] = x[i]
        first_signs(n, m, ne, t, x, p, events, signs, fired, g[0])
        for k in range(samples * stride):
            if nu > 0 and counts[STEPS] % control_every == 0:
                control(t, x, p, p[u_first : u_first + nu])
            if k == 0:
                for j in range(nu):
                    inputs[0, j] = p[u_first + j]
            begin = start + k * h
            for i in range(n):
                held[i] = x[i]
            status = corrected_step(
                method, nq, n, m, ns, iterations, with_jacobian, begin, h, t, x, p, f, jacobian,
                project_q, q_iterations, project_v, v_iterations, threshold, trial, work, J, pivots,
                delta, counts,
            )  # fmt: skip
            if status != FINISHED:
                t[0] = begin
                for i in range(n):
                    x[i] = held[i]
                return status

            # events: the earliest root, by steps of the method from the start of this one
            length = h
            found = 0
            if ne > 0:
                events(t, x, p, g[1])
            for e in range(ne):
                if crossing(signs[e], sign(g[1, e]), directions[e]) != 0:
                    found = 1
                    root_begin(0.0, g[0, e], length, g[1, e], z)
                    tolerance = event_tolerance(h, 0.0)
                    closed = 1 if g[1, e] == 0.0 else 0
                    for _r in range(ROOT_LIMIT):
                        if closed != 0:
                            break
                        s = root_point(z)
                        t[0] = begin
                        for i in range(n):
                            x[i] = held[i]
                        status = corrected_step(
                            method, nq, n, m, ns, iterations, with_jacobian, begin, s, t, x, p, f,
                            jacobian, project_q, q_iterations, project_v, v_iterations, threshold,
                            trial, work, J, pivots, delta, counts,
                        )  # fmt: skip
                        if status != FINISHED:
                            break
                        events(t, x, p, g[1])
                        closed = root_update(s, g[1, e], tolerance, z)
                    # a little behind it: on the root itself, rounding would tell on which side of a
                    # law that jumps there the next step begins
                    length = min(root_after(z) + tolerance, length)
                    root_close(length, z)
                    # the state there, for the events still to be looked at
                    t[0] = begin
                    for i in range(n):
                        x[i] = held[i]
                    status = corrected_step(
                        method, nq, n, m, ns, iterations, with_jacobian, begin, length, t, x, p, f,
                        jacobian, project_q, q_iterations, project_v, v_iterations, threshold,
                        trial, work, J, pivots, delta, counts,
                    )  # fmt: skip
                    if status != FINISHED:
                        break
                    events(t, x, p, g[1])
            if status != FINISHED:
                t[0] = begin
                for i in range(n):
                    x[i] = held[i]
                return status
            if found != 0:
                fire(ne, g[1], directions, signs, fired)
                return EVENT
            keep_signs(ne, g[0], g[1], signs)

            t[0] = start + (k + 1) * h
            counts[STEPS] += 1
            if (k + 1) % stride == 0:
                counts[SAMPLES] = (k + 1) // stride
                for i in range(n):
                    trajectory[(k + 1) // stride, i] = x[i]
                for j in range(nu):
                    inputs[(k + 1) // stride, j] = p[u_first + j]
        return FINISHED

    return march


march = _driver(built_in_step, "5")
