"""Runs with a fixed step, from Python: arrays are allocated once, the loop is native."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.code.routines import Routine
from biela.errors import ShapeError
from biela.solvers.integrators.march import STEPS, march, marching
from biela.solvers.integrators.problem import Problem
from biela.solvers.integrators.roots import root_after
from biela.solvers.integrators.status import EVENT, UNSUITABLE, WITHOUT
from biela.solvers.integrators.steps import (
    EXPLICIT_EULER,
    HEUN,
    NYSTROM,
    ONE_STEP_MAP,
    RK4,
    SECOND_ORDER_EULER,
    SEMI_IMPLICIT_EULER,
    TRAPEZOIDAL,
)

__all__ = ["METHODS", "FixedStep", "FixedStepRun"]

#: Numbers of the built-in methods, as `march` takes them.
METHODS: Final = {
    "explicit_euler": EXPLICIT_EULER,
    "semi_implicit_euler": SEMI_IMPLICIT_EULER,
    "second_order_euler": SECOND_ORDER_EULER,
    "heun": HEUN,
    "rk4": RK4,
    "nystrom": NYSTROM,
    "trapezoidal": TRAPEZOIDAL,
    "one_step_map": ONE_STEP_MAP,
}


@dataclass(frozen=True)
class FixedStepRun:
    """Outcome of one run.

    Attributes:
        status: FINISHED, NOT_FINITE or EVENT.
        t: time reached: that of the event, or of the last good step.
        elapsed: the same since the start of this run, without the rounding of t.
        x: state then.
        times: times of the rows of `states`.
        states: x at the start and after every stride, as far as the run came.
        inputs: what the controller held until then, one row a time.
        fired: for each event 0, or 1 (rising) or -1 (falling) if it stopped the run.
        steps: whole steps taken since the start; likewise the others.
        evaluations: calls of f.
        corrections: projections taken.
    """

    status: int
    t: float
    elapsed: float
    x: NDArray[np.float64]
    times: NDArray[np.float64]
    states: NDArray[np.float64]
    inputs: NDArray[np.float64]
    fired: NDArray[np.int64]
    steps: int
    evaluations: int
    corrections: int


class FixedStep:
    """Integrates a problem with a fixed step.

    A run that an event stopped is gone on with by `run` from the time and state it gave, changed
    or not. To get back onto the grid of samples, take first one step to its next point
    with `control=False`, as the controller is sampled on the grid only.

    Args:
        problem: what is integrated.
        method: name of a built-in method (`METHODS`), or a routine
            `step(n, m, h, t, x, p, f, work)` with `work` of a fixed number of rows. A function
            jitted by numba is run as `"one_step_map"`, with a `numba.cfunc` of it as f.
        control_every: the controller is called every so many steps.
        newton_iterations: iterations a step of implicit methods.
        evaluations: calls of f a step of a method of your own.

    Raises:
        ShapeError: there is no such method, or it does not suit the state.
    """

    def __init__(
        self,
        problem: Problem,
        method: str | Routine[..., Any] = "rk4",
        *,
        control_every: int = 1,
        newton_iterations: int = 3,
        evaluations: int = 1,
    ) -> None:
        self.problem = problem
        self._number, rows, self._march = -1, 5, march
        if isinstance(method, str):
            if method not in METHODS:
                raise ShapeError(f"no method is called {method!r}; there are {', '.join(METHODS)}")
            self._number = METHODS[method]
        else:
            self._march = marching(method, evaluations)
            rows = method.checked.parameters[-1].type.shape[0].value({})  # type: ignore[union-attr]
        if control_every < 1:
            raise ShapeError(
                f"control_every is {control_every}; it is a number of steps, 1 or more"
            )
        self._control_every = control_every
        self._newton = newton_iterations
        n, ne = problem.n, problem.ne
        ns = n if method == "trapezoidal" else 0
        self._ns = ns
        self._signs, self._fired = np.zeros(ne, np.int64), np.zeros(ne, np.int64)
        self._counts = np.zeros(4, np.int64)
        self._scratch = (np.zeros((2, ne)), np.zeros(n), np.zeros(n + 1), np.zeros(7))
        self._work = (np.zeros((rows, n)), np.zeros((ns, ns)), np.zeros(ns, np.int64), np.zeros(ns))

    def run(
        self,
        t: float,
        x: ArrayLike,
        p: ArrayLike,
        h: float,
        samples: int,
        stride: int = 1,
        *,
        control: bool = True,
    ) -> FixedStepRun:
        """Take samples × stride steps of length h from (t, x); p is written to by a controller."""
        problem = self.problem
        time, state = np.array([t], dtype=np.float64), problem.state("x", x, problem.n)
        inputs = p if isinstance(p, np.ndarray) else problem.state("p", p, problem.m)
        trajectory = np.empty((samples + 1, problem.n))
        nu = problem.nu if control else 0
        held = np.empty((samples + 1, nu))
        k = problem.kernel
        before = int(self._counts[STEPS])
        status = self._march(
            *(self._number, problem.nq, problem.n, problem.m, nu),
            *(
                problem.ne,
                self._ns,
                samples,
                stride,
                self._newton,
                int(problem.jacobian is not None),
            ),
            *(h, time, state, inputs, problem.f, k("jacobian") if self._ns else WITHOUT),
            *(k("project_q"), problem.q_iterations, k("project_v"), problem.v_iterations),
            *(problem.threshold, k("control") if control else WITHOUT, self._control_every),
            *(problem.u_first, k("events"), problem.event_directions, self._signs, self._fired),
            *(*self._scratch, *self._work, trajectory, held, self._counts),
        )
        if status == UNSUITABLE:
            raise ShapeError(
                f"method {self._number} is for x = (q, v) with as many positions as velocities, "
                f"not nq = {problem.nq} of n = {problem.n}"
            )
        rows = int(self._counts[3]) + 1
        if not control:  # whatever p holds
            u = inputs[problem.u_first : problem.u_first + problem.nu]
            held = np.repeat(u[None], samples + 1, 0)
        times = t + h * stride * np.arange(rows, dtype=np.float64)
        steps, evaluations, corrections, _ = map(int, self._counts)
        fired = self._fired.copy() if status == EVENT else np.zeros(problem.ne, np.int64)
        elapsed = (steps - before) * h + (root_after(self._scratch[-1]) if status == EVENT else 0.0)
        return FixedStepRun(
            status, float(time[0]), elapsed, state, times, trajectory[:rows], held[:rows], fired,
            steps, evaluations, corrections,
        )  # fmt: skip
