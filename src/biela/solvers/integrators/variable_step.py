"""Runs with an adaptive step, from Python: arrays are allocated once, the loop is native."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.solvers.integrators import adaptive_memory as place
from biela.solvers.integrators.adaptive import AdaptiveMethod, driver
from biela.solvers.integrators.problem import Problem
from biela.solvers.integrators.status import EVENT, FINISHED, WITHOUT

__all__ = ["ADAPTIVE_METHODS", "Statistics", "VariableStep", "VariableStepRun"]

#: Modules of the built-in methods; the method has the name of its module.
ADAPTIVE_METHODS: Final = ("dormand_prince", "adams", "radau")


@cache
def _named(name: str) -> AdaptiveMethod:
    if name not in ADAPTIVE_METHODS:
        names = ", ".join(ADAPTIVE_METHODS)
        raise ShapeError(f"no adaptive method is called {name!r}; there are {names}")
    module = import_module(f"biela.solvers.integrators.{name}")
    method: AdaptiveMethod = getattr(module, name)
    return method


@dataclass(frozen=True)
class Statistics:
    """What an integration has cost since its start.

    Attributes:
        steps: steps accepted.
        failed: steps tried and rejected.
        evaluations: calls of f, those for differences included.
        corrections: projections taken.
        iterations: iterations of Newton's method.
        factorisations: of the matrices of an implicit method.
        jacobians: Jacobians taken.
    """

    steps: int
    failed: int
    evaluations: int
    corrections: int
    iterations: int
    factorisations: int
    jacobians: int


@dataclass(frozen=True)
class VariableStepRun:
    """Outcome of one call of `advance`.

    Attributes:
        status: FINISHED, EVENT, NOT_FINITE, STEP_TOO_SMALL or TOO_MANY_STEPS.
        times: the output times that were reached.
        states: the solution there, one row a time.
        inputs: what the controller held until then, one row a time.
        t: end of the last step: the time of the event, if one has stopped the integration.
        x: state there.
        fired: for each event 0, or 1 (rising) or -1 (falling) if it has stopped the integration.
    """

    status: int
    times: NDArray[np.float64]
    states: NDArray[np.float64]
    inputs: NDArray[np.float64]
    t: float
    x: NDArray[np.float64]
    fired: NDArray[np.int64]


class VariableStep:
    """Integrates a problem with an adaptive step, output time by output time.

    >>> import numba, numpy as np
    >>> P = numba.types.CPointer(numba.types.float64)
    >>> @numba.cfunc(numba.types.void(P, P, P, P))
    ... def decay(t, x, p, xdot):
    ...     xdot[0] = -x[0]
    >>> solver = VariableStep(Problem(decay, 1), end=1.0, rtol=1e-9, atol=1e-12)
    >>> solver.start(0.0, [1.0])
    >>> run = solver.advance([0.5, 1.0])
    >>> np.allclose(run.states[:, 0], np.exp([-0.5, -1.0]), rtol=1e-8)
    True

    Args:
        problem: what is integrated.
        method: `"dormand_prince"`, `"adams"`, `"radau"` or a method of your own.
        end: time beyond which no step goes; discontinuities belong there.
        rtol: relative tolerance.
        atol: absolute tolerance, one number or one for each of x.
        h_max: longest step; without it, (with `matlab`) a tenth of the first span.
        first_step: length of the first step; without it, it is chosen.
        max_steps: steps tried in one call of `advance`, at most.
        control_period: time between samples of the controller.
        matlab: error norm and step control of ode45 and ode113, to compare counts.

    Raises:
        ShapeError: there is no such method, or a number does not make sense.
    """

    def __init__(
        self,
        problem: Problem,
        method: str | AdaptiveMethod = "dormand_prince",
        *,
        end: float,
        rtol: float = 1e-6,
        atol: ArrayLike = 1e-6,
        h_max: float = np.inf,
        first_step: float = 0.0,
        max_steps: int = 1_000_000,
        control_period: float = 0.0,
        matlab: bool = False,
    ) -> None:
        self.problem = problem
        self.method = _named(method) if isinstance(method, str) else method
        self.end = float(end)
        self.max_steps = max_steps
        n, ne = problem.n, problem.ne
        ns = n if self.method.implicit else 0
        if not rtol > 0 or not np.all(np.asarray(atol) >= 0):
            raise ShapeError(
                f"tolerances are positive, not rtol = {rtol}, atol = {np.asarray(atol)}"
            )
        if problem.nu > 0 and not control_period > 0:
            raise ShapeError("the problem has a controller: give its control_period")
        self._atol = np.array(np.broadcast_to(np.asarray(atol, dtype=np.float64), (n,)))
        self._store = np.zeros(place.STORE)
        self._store[place.RTOL], self._store[place.H_MAX] = rtol, h_max
        self._store[place.FIRST], self._store[place.PERIOD] = first_step, control_period
        self._counts = np.zeros(place.COUNTS, np.int64)
        self._counts[place.CONVENTION] = int(matlab)
        self._limited = np.isfinite(h_max) or not matlab
        self._memory = (np.zeros((self.method.rows, n)), self.method.table.copy())
        self._matrices = (np.zeros((ns, ns)), np.zeros((ns, ns)), np.zeros((2 * ns, 2 * ns)))
        self._matrices_pivots = (np.zeros(3 * ns, np.int64), np.zeros(3 * ns))
        self._signs, self._fired = np.zeros(ne, np.int64), np.zeros(ne, np.int64)
        self._g = np.zeros((3, ne))
        self._scratch = (np.zeros(n), np.zeros(n), np.zeros(n + 1), np.zeros(7), np.zeros(1))
        self._ns = ns
        self._t, self._x, self._p = np.zeros(1), np.zeros(n), np.zeros(problem.m)
        self._last = -np.inf

    def start(self, t: float, x: ArrayLike, p: ArrayLike = (), clock: float = 0.0) -> None:
        """Begin at (t, x) with the parameters p; the statistics begin anew.

        All times, also `end`, are counted from ``clock``: kernels are given clock + t.  A motion
        that begins at t = 10⁹ s is followed from t = 0 with that clock, where steps are exact.
        """
        problem = self.problem
        self._store[place.CLOCK] = clock
        self._set_time(t)
        self._x[:] = problem.state("x", x, problem.n)
        self._p[:] = problem.state("p", p, problem.m)
        kept = self._counts[place.CONVENTION]
        self._counts[:] = 0
        self._counts[place.CONVENTION], self._counts[place.FRESH] = kept, 1
        self._counts[place.WITH_JACOBIAN] = int(problem.jacobian is not None)
        self._store[place.ORIGIN] = t
        self._signs[:] = 0
        self._last = float(t)
        if not self._limited:
            self._store[place.H_MAX] = 0.1 * (self.end - t)

    def restart(self, x: ArrayLike | None = None, p: ArrayLike | None = None) -> None:
        """Go on from the time reached with another state or other parameters.

        The time reached is that of the event, after an event, or `end`. Events that have just
        fired do not fire again at once.
        """
        problem = self.problem
        if x is not None:
            self._x[:] = problem.state("x", x, problem.n)
        if p is not None:
            self._p[:] = problem.state("p", p, problem.m)
        self._counts[place.FRESH] = 1
        self._last = float(self._store[place.NOW])

    def leap(self, t: float, x: ArrayLike) -> None:
        """Go on from another time and state, reached in another way."""
        self._set_time(t)
        self.restart(x)

    def _set_time(self, t: float) -> None:
        self._store[place.NOW] = t
        self._t[0] = self._store[place.CLOCK] + t

    @property
    def time(self) -> float:
        """The end of the last step."""
        return float(self._store[place.NOW])

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The present p, with what a controller has written to it."""
        return self._p.copy()

    def give_up_below(self, h_min: float) -> None:
        """Stop with STEP_TOO_SMALL where the step would have to be shorter."""
        self._store[place.H_MIN] = h_min

    def advance(self, times: ArrayLike) -> VariableStepRun:
        """Integrate up to the last of the output times, which rise and do not pass `end`.

        The next call goes on from there; times already passed are not given again.

        Raises:
            ShapeError: the times do not rise, or lie outside what is left.
        """
        wanted = np.array(times, dtype=np.float64).reshape(-1)
        if np.any(np.diff(wanted) < 0) or (wanted.size and wanted[0] < self._last):
            raise ShapeError(f"output times rise from {self._last}, where the solution stands")
        if wanted.size and wanted[-1] > self.end:
            raise ShapeError(f"output time {wanted[-1]} lies beyond end = {self.end}")
        problem, k = self.problem, self.problem.kernel
        states = np.empty((wanted.size, problem.n))
        inputs = np.empty((wanted.size, problem.nu))
        status = driver(self.method)(
            *(problem.n, problem.m, problem.nu, problem.ne, self._ns, self.method.rows),
            *(len(self.method.table), wanted.size, self.max_steps, self.end),
            *(self._t, self._x, self._p, problem.f, k("jacobian") if self._ns else WITHOUT),
            *(k("project_q"), problem.q_iterations, k("project_v"), problem.v_iterations),
            *(problem.threshold, k("control"), problem.u_first, k("events")),
            *(problem.event_directions, self._signs, self._fired, self._g, self._atol, self._store),
            *(self._counts, *self._memory, *self._matrices, *self._matrices_pivots),
            *(*self._scratch, wanted, states, inputs),
        )
        reached = int(self._counts[place.OUTPUTS])
        if reached:
            self._last = float(wanted[reached - 1])
        if status not in (FINISHED, EVENT):
            # an attempt that came to nothing has written over the continuous solution
            self._last = max(self._last, float(self._store[place.NOW]))
        fired = self._fired.copy() if status == EVENT else np.zeros(problem.ne, np.int64)
        return VariableStepRun(
            status,
            wanted[:reached],
            states[:reached],
            inputs[:reached],
            float(self._store[place.NOW]),
            self._x.copy(),
            fired,
        )

    @property
    def statistics(self) -> Statistics:
        """Cost since the start."""
        return Statistics(*(int(c) for c in self._counts[: place.JACOBIANS + 1]))
