"""The driver of adaptive methods: output times, projections, sampled control and events.

A method (`AdaptiveMethod`) is four routines that share one list of arguments:

    begin        the slope at a new start, and the first step
    attempt      a trial step: the new state, whether it is good enough, the next step length
    commit       a step that stays: what the next one needs of it
    interpolate  the solution inside the last step

`driver(method)` puts them into one native loop. An attempt changes nothing that a second attempt
from the same state needs, so that an event is located by attempts of other lengths.

All of it is written in the language of routines, for its explicit types and its cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.code.routines import Int, IntVector, Kernel, Matrix, Real, Routine, Vector, routine
from biela.solvers.integrators.adaptive_memory import (
    BEGIN,
    CLOCK,
    CORRECTIONS,
    COUNTS,
    EPSILON,
    FAILED,
    FRESH,
    H_MAX,
    H_MIN,
    NOW,
    ORIGIN,
    OUTPUTS,
    PERIOD,
    REJECTED,
    SAMPLES,
    STEPS,
    STORE,
    USED,
    H,
)
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
    root_point,
    root_update,
    sign,
)
from biela.solvers.integrators.status import (
    EVENT,
    FINISHED,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)

__all__ = ["AdaptiveMethod", "driver"]


@dataclass(frozen=True, eq=False)
class AdaptiveMethod:
    """An adaptive method: its four routines and the memory they need.

    Attributes:
        name: for messages.
        begin: `begin(n, m, ns, rows, size, keep, end, …)`; `keep` 1 keeps the step length.
        attempt: `attempt(n, m, ns, rows, size, h, …, y)`; 1 accepted, 0 rejected, -1 not finite.
        commit: `commit(n, m, ns, rows, size, h, changed, …, start)`; `changed` is not 0 if a
            projection has moved x.
        interpolate: `interpolate(n, m, ns, rows, size, h, at, …, start, y)`.
        rows: rows of n reals it remembers.
        table: its coefficients, and scratch of a fixed size.
        dense_first: 1 if `interpolate` is good before `commit`: events are then first looked for
            on the continuous solution.
        implicit: whether it needs matrices.
    """

    name: str
    begin: Routine[..., None]
    attempt: Routine[..., int]
    commit: Routine[..., None]
    interpolate: Routine[..., None]
    rows: int
    table: NDArray[np.float64]
    dense_first: int
    implicit: bool = False


def driver(method: AdaptiveMethod) -> Callable[..., Any]:
    """Return the routine `integrate` of a method; methods of the same routines share it."""
    return _driver(
        method.begin, method.attempt, method.commit, method.interpolate, method.dense_first
    )


@cache
def _driver(
    begin: Routine[..., None],
    attempt: Routine[..., int],
    commit: Routine[..., None],
    interpolate: Routine[..., None],
    dense_first: int,
) -> Callable[..., Any]:
    @routine(
        t="1", x="n", p="m", f="1, n, m -> n", jacobian="1, n, m -> ns*ns",
        project_q="1, n, m -> n + 1", project_v="1, n, m -> n + 1", events="1, n, m -> ne", g="ne",
        atol="n", store=str(STORE), counts=str(COUNTS), memory="rows, n", table="size", J="ns, ns",
        E1="ns, ns", E2="2*ns, 2*ns", pivots="3*ns", delta="3*ns", start="n", y="n", trial="n + 1",
    )  # fmt: skip
    def shortened(
        n: Int, m: Int, ne: Int, ns: Int, rows: Int, size: Int, h: Real, t: Vector, x: Vector,
        p: Vector, f: Kernel, jacobian: Kernel, project_q: Kernel, q_iterations: Int,
        project_v: Kernel, v_iterations: Int, threshold: Real, events: Kernel, g: Vector,
        atol: Vector, store: Vector, counts: IntVector, memory: Matrix, table: Vector, J: Matrix,
        E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, start: Vector, y: Vector,
        trial: Vector,
    ) -> Int:  # fmt: skip
        """Take the step from `start` again with another length; -1 if the state is not finite."""
        t[0] = store[CLOCK] + store[BEGIN]
        for i in range(n):
            x[i] = start[i]
        good = attempt(
            n, m, ns, rows, size, h, t, x, p, f, jacobian, atol, store, counts, memory, table, J,
            E1, E2, pivots, delta, y,
        )  # fmt: skip
        store[NOW] = store[BEGIN] + h
        t[0] = store[CLOCK] + store[NOW]
        for i in range(n):
            x[i] = y[i]
        taken = correct(
            n, m, t, x, p, project_q, q_iterations, project_v, v_iterations, threshold, trial
        )
        counts[CORRECTIONS] += taken
        events(t, x, p, g)
        return good if finite(n, x) == 1 else -1

    @routine(
        t="1", x="n", p="m", f="1, n, m -> n", jacobian="1, n, m -> ns*ns",
        project_q="1, n, m -> n + 1", project_v="1, n, m -> n + 1", control="1, n, m -> nu",
        events="1, n, m -> ne", directions="ne", signs="ne", fired="ne", g="3, ne", atol="n",
        store=str(STORE), counts=str(COUNTS), memory="rows, n", table="size", J="ns, ns",
        E1="ns, ns", E2="2*ns, 2*ns", pivots="3*ns", delta="3*ns", start="n", y="n", trial="n + 1",
        z="7", moment="1", times="outputs", states="outputs, n", inputs="outputs, nu",
    )  # fmt: skip
    def integrate(
        n: Int, m: Int, nu: Int, ne: Int, ns: Int, rows: Int, size: Int, outputs: Int, limit: Int,
        end: Real, t: Vector, x: Vector, p: Vector, f: Kernel, jacobian: Kernel, project_q: Kernel,
        q_iterations: Int, project_v: Kernel, v_iterations: Int, threshold: Real, control: Kernel,
        u_first: Int, events: Kernel, directions: IntVector, signs: IntVector, fired: IntVector,
        g: Matrix, atol: Vector, store: Vector, counts: IntVector, memory: Matrix, table: Vector,
        J: Matrix, E1: Matrix, E2: Matrix, pivots: IntVector, delta: Vector, start: Vector,
        y: Vector, trial: Vector, z: Vector, moment: Vector, times: Vector, states: Matrix,
        inputs: Matrix,
    ) -> Int:  # fmt: skip
        """Integrate until all output times are passed, never beyond `end`; return a status.

        (NOW, x) is the end of the last step, and `states` the solution at the output times,
        projected onto its constraints; `inputs` are those that a controller held until then. At
        most `limit` steps are tried.
        """
        counts[OUTPUTS] = 0
        unsigned = counts[FRESH]
        keep = 0
        stopped = 0
        good = 1
        for k in range(limit + 1):
            # outputs inside the last step
            written = counts[OUTPUTS]
            for o in range(written, outputs):
                if times[o] > store[NOW]:
                    break
                if times[o] == store[NOW] or store[USED] == 0.0:
                    for i in range(n):
                        states[o, i] = x[i]
                else:
                    interpolate(
                        n, m, ns, rows, size, store[USED], times[o] - store[BEGIN], t, x, p, f,
                        jacobian, atol, store, counts, memory, table, J, E1, E2, pivots, delta,
                        start, states[o],
                    )  # fmt: skip
                    moment[0] = store[CLOCK] + times[o]
                    taken = correct(
                        n, m, moment, states[o], p, project_q, q_iterations, project_v,
                        v_iterations, threshold, trial,
                    )  # fmt: skip
                    counts[CORRECTIONS] += taken
                for j in range(nu):
                    inputs[o, j] = p[u_first + j]
                counts[OUTPUTS] = o + 1
            if stopped != 0:
                return EVENT
            if counts[OUTPUTS] == outputs or store[NOW] >= end:
                return FINISHED
            if k == limit:
                return TOO_MANY_STEPS
            if unsigned != 0:
                # not before a step is taken: reading outputs up to an event must not forget it
                first_signs(n, m, ne, t, x, p, events, signs, fired, g[0])
                unsigned = 0

            # a sample of the controller, and the start after it or after an event
            if nu > 0 and store[NOW] >= store[ORIGIN] + counts[SAMPLES] * store[PERIOD]:
                if counts[FRESH] == 0:
                    keep = 1
                counts[FRESH] = 1
                counts[SAMPLES] += 1
                control(t, x, p, p[u_first : u_first + nu])

            if counts[FRESH] != 0:
                store[BEGIN] = store[NOW]
                store[USED] = 0.0
                begin(
                    n, m, ns, rows, size, keep, end, t, x, p, f, jacobian, atol, store, counts,
                    memory, table, J, E1, E2, pivots, delta,
                )  # fmt: skip
                counts[FRESH] = 0
                counts[REJECTED] = 0
                keep = 0

            # length: up to 10 % more to land on the end, or on the next sample of the controller
            bound = end
            if nu > 0:
                bound = min(end, store[ORIGIN] + counts[SAMPLES] * store[PERIOD])
            h = min(store[H], store[H_MAX])
            lands = 1 if 1.1 * h >= bound - store[NOW] else 0
            if lands == 1:
                h = bound - store[NOW]
            elif not h > max(4.0 * EPSILON * abs(store[NOW]), store[H_MIN]):
                return NOT_FINITE if good < 0 else STEP_TOO_SMALL
            proposed = store[H]
            good = attempt(
                n, m, ns, rows, size, h, t, x, p, f, jacobian, atol, store, counts, memory, table,
                J, E1, E2, pivots, delta, y,
            )  # fmt: skip
            if good != 1:
                counts[FAILED] += 1
                counts[REJECTED] += 1
                continue

            # the new state, on its constraints
            store[BEGIN] = store[NOW]
            for i in range(n):
                start[i] = x[i]
                x[i] = y[i]
            store[NOW] = bound if lands == 1 else store[BEGIN] + h
            t[0] = store[CLOCK] + store[NOW]
            changed = correct(
                n, m, t, x, p, project_q, q_iterations, project_v, v_iterations, threshold, trial
            )
            counts[CORRECTIONS] += changed
            if finite(n, x) == 0:
                store[NOW] = store[BEGIN]
                t[0] = store[CLOCK] + store[NOW]
                for i in range(n):
                    x[i] = start[i]
                return NOT_FINITE

            # events: the earliest root, by attempts from the start of the step
            length = h
            if ne > 0:
                events(t, x, p, g[1])
            for e in range(ne):
                if crossing(signs[e], sign(g[1, e]), directions[e]) != 0:
                    tolerance = event_tolerance(h, store[NOW])
                    guess = 0.0
                    if dense_first == 1 and stopped == 0:
                        # on the continuous solution, for a good first point
                        root_begin(0.0, g[0, e], length, g[1, e], z)
                        closed = 1 if g[1, e] == 0.0 else 0
                        for _r in range(ROOT_LIMIT):
                            if closed != 0:
                                break
                            guess = root_point(z)
                            interpolate(
                                n, m, ns, rows, size, h, guess, t, x, p, f, jacobian, atol, store,
                                counts, memory, table, J, E1, E2, pivots, delta, start, y,
                            )  # fmt: skip
                            moment[0] = store[CLOCK] + (store[BEGIN] + guess)
                            events(moment, y, p, g[2])
                            closed = root_update(guess, g[2, e], max(tolerance, 1e-8 * h), z)
                    stopped = 1
                    root_begin(0.0, g[0, e], length, g[1, e], z)
                    closed = 1 if g[1, e] == 0.0 else 0
                    tried = length
                    for r in range(ROOT_LIMIT):
                        if closed != 0:
                            break
                        tried = root_point(z)
                        if r == 0 and guess > 0.0 and guess < length:
                            tried = guess
                        good = shortened(
                            n, m, ne, ns, rows, size, tried, t, x, p, f, jacobian, project_q,
                            q_iterations, project_v, v_iterations, threshold, events, g[1], atol,
                            store, counts, memory, table, J, E1, E2, pivots, delta, start, y, trial,
                        )  # fmt: skip
                        closed = root_update(tried, g[1, e], tolerance, z)
                        if good < 0:
                            break
                    length = root_after(z)
                    if tried != length:
                        good = shortened(
                            n, m, ne, ns, rows, size, length, t, x, p, f, jacobian, project_q,
                            q_iterations, project_v, v_iterations, threshold, events, g[1], atol,
                            store, counts, memory, table, J, E1, E2, pivots, delta, start, y, trial,
                        )  # fmt: skip
                    changed = 1
            if finite(n, x) == 0:
                store[NOW] = store[BEGIN]
                t[0] = store[CLOCK] + store[NOW]
                for i in range(n):
                    x[i] = start[i]
                return NOT_FINITE
            if stopped != 0:
                fire(ne, g[1], directions, signs, fired)
            else:
                keep_signs(ne, g[0], g[1], signs)

            # the step stays
            commit(
                n, m, ns, rows, size, length, changed, t, x, p, f, jacobian, atol, store, counts,
                memory, table, J, E1, E2, pivots, delta, start,
            )  # fmt: skip
            counts[STEPS] += 1
            counts[REJECTED] = 0
            counts[FRESH] = stopped
            store[USED] = length
            if lands == 1:
                store[H] = max(store[H], proposed)
        return TOO_MANY_STEPS

    return integrate
