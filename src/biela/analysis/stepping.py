"""One way to drive fixed and adaptive integrators: from output time to output time.

Both stop at events and go on from there; a fixed step finds back to its grid by one shorter step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from biela.budgets import STEPS, about, check_memory, within
from biela.errors import ModelError, ShapeError
from biela.results import RunStatistics
from biela.solvers.integrators import (
    EVENT,
    FINISHED,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    FixedStep,
    Problem,
    VariableStep,
    VariableStepRun,
)

Floats = npt.NDArray[np.float64]

#: What happens within this part of the time happens at once.
_AT_ONCE = 1e-12
#: An adaptive run that takes more steps than this is given up.
MOST_STEPS = 50_000_000


@dataclass(frozen=True)
class Progressed:
    """How far an integrator came: the output times it passed, and where it stands.

    ``times`` and ``t`` are those of the clock, ``elapsed`` is t since the start of the run, which
    is not rounded where the clock shows large numbers.  ``inputs`` are those that a controller held
    at the output times, ``first`` those it held first.  ``landed`` are the states behind singular
    positions that were leapt across.
    """

    status: int
    times: Floats
    states: Floats
    inputs: Floats
    first: Floats
    t: float
    elapsed: float
    x: Floats
    fired: npt.NDArray[np.int64]
    landed: tuple[tuple[float, Floats], ...] = ()


class Stepper(Protocol):
    """What drives a run.

    It counts time from the start of the run, so that steps are as exact at t = 10⁹ s as at 0; laws
    and controllers are given the sum with the time of the start.

    One call takes at most ``pause`` steps, so that interrupts are answered and the state is looked
    at whatever the output times are; ``leaps`` counts singular positions leapt across, and ``mean``
    is the mean step of an adaptive run so far: who takes over from another goes on with both.
    """

    leaps: int
    mean: float
    pause: int

    def start(
        self, elapsed: float, x: Floats, p: Floats, times: Floats, origin: float = 0.0
    ) -> None:
        """Begin so long after the time ``origin`` of the clock; output times count from it too."""

    def restart(self, x: Floats) -> None:
        """Go on from the time reached with another state."""

    def advance(self, count: int) -> Progressed:
        """Go on for so many output times, to an event before, or until it is time to pause."""

    def counts(self) -> dict[str, Any]:
        """What it cost so far, as fields of `RunStatistics`."""


class AdaptiveStepper:
    """Drives an adaptive method.

    Where a mechanism passes a singular position, accelerations are dominated by rounding; an
    adaptive method would creep into it, and could leave its branch there.  If the step falls to a
    thousandth of its mean and ``singular(t, x)`` says that such a position is near, one step of
    mean length, of a method without error control, leads across.
    """

    def __init__(
        self,
        problem: Problem,
        method: str,
        end: float,
        singular: Callable[[float, Floats], bool] | None = None,
        stops: Floats | None = None,
        **options: Any,
    ) -> None:
        self._integrator = VariableStep(problem, method, end=end, **options)
        self._across = FixedStep(problem, "rk4")
        self._end = end
        self._stops = np.zeros(0) if stops is None else stops
        free = not problem.nu and not problem.ne
        self._singular = self._first_singular = singular if free else None
        # the mean step is to be known before the first singular position is met
        self.leaps, self.mean, self.pause = 0, 0.0, 500 if self._singular is None else 40

    def start(
        self, elapsed: float, x: Floats, p: Floats, times: Floats, origin: float = 0.0
    ) -> None:
        """Begin somewhere; the output times are known."""
        self._integrator.start(elapsed, x, p, origin)
        self._left, self._first, self._origin = times, elapsed, origin
        self._watch(elapsed)

    def restart(self, x: Floats) -> None:
        """Go on from the time reached with another state."""
        self._integrator.restart(x)
        self._singular = self._first_singular

    def advance(self, count: int) -> Progressed:
        """Go on for so many output times, or to an event before."""
        wanted = self._left[:count]
        self._integrator.max_steps = self.pause
        run = self._forward(wanted)
        times, states, inputs = [run.times], [run.states], [run.inputs]
        self._landed: list[tuple[float, Floats]] = []
        wanted, self._left = wanted[len(run.times) :], self._left[len(run.times) :]
        while run.status == STEP_TOO_SMALL and self._can_leap(run.t, run.x):
            leapt, rows = self._leap(run.t, run.x, wanted)
            times.append(leapt)
            states.append(rows)
            inputs.append(np.zeros((len(leapt), 0)))
            wanted, self._left = wanted[len(leapt) :], self._left[len(leapt) :]
            run = self._forward(wanted)
            times.append(run.times)
            states.append(run.states)
            inputs.append(run.inputs)
            wanted, self._left = wanted[len(run.times) :], self._left[len(run.times) :]
        self._watch(run.t)
        if run.status == EVENT:
            # the step that ends at the event may have passed output times not yet asked for
            late = self._left[self._left <= run.t]
            if len(late):
                more = self._integrator.advance(late)
                times.append(more.times)
                states.append(more.states)
                inputs.append(more.inputs)
                self._left = self._left[len(more.times) :]
        t, x, u = (np.concatenate(parts) for parts in (times, states, inputs))
        status = run.status
        if status == TOO_MANY_STEPS and self._integrator.statistics.steps < MOST_STEPS:
            status = FINISHED  # so far
        now = self._origin + run.t
        return Progressed(
            *(status, self._origin + t, x, u, u[:1], now, run.t, run.x, run.fired),
            tuple(self._landed),
        )

    def _forward(self, wanted: Floats) -> VariableStepRun:
        """Go on to the last of some output times, and begin anew at every stop before."""
        solver, parts = self._integrator, []
        while True:
            ahead = self._stops[self._stops > self._origin + solver.time] - self._origin
            ahead = ahead[ahead < self._end]
            solver.end = float(ahead[0]) if len(ahead) else self._end
            within = wanted[wanted <= solver.end]
            last = len(within) == len(wanted)
            found = solver.advance(within if last else np.append(within, solver.end))
            kept = min(len(found.times), len(within))
            parts.append((found.times[:kept], found.states[:kept], found.inputs[:kept]))
            wanted = wanted[kept:]
            if last or found.status != FINISHED:
                break
            after = ahead[1] if len(ahead) > 1 else np.inf
            if after - ahead[0] < _AT_ONCE * max(abs(self._origin + after), self._end):
                solver.leap(float(after), found.x)  # a law jumps
                passed = wanted[wanted < after]
                rows = np.repeat(found.x[None], len(passed), 0)
                parts.append((passed, rows, np.repeat(found.inputs[-1:], len(passed), 0)))
                wanted = wanted[len(passed) :]
            else:
                solver.restart()
        solver.end = self._end
        if len(parts) == 1:
            return found
        t, x, u = (np.concatenate(rows) for rows in zip(*parts, strict=True))
        return replace(found, times=t, states=x, inputs=u)

    def _mean_step(self, t: float) -> float:
        steps = self._integrator.statistics.steps
        return (t - self._first) / steps if steps >= 20 else self.mean

    def _watch(self, t: float) -> None:
        self.mean = self._mean_step(t)
        if self._singular is not None:
            self._integrator.give_up_below(1e-3 * self._mean_step(t))

    def _can_leap(self, t: float, x: Floats) -> bool:
        if self._singular is None or not self._mean_step(t):
            return False
        if self.leaps >= 10_000:
            return False
        if not self._singular(self._origin + t, x):
            # short steps have another reason: they are wanted
            self._singular = None
            self._integrator.give_up_below(0.0)
        return True

    def _leap(self, t: float, x: Floats, wanted: Floats) -> tuple[Floats, Floats]:
        """One step across; the output times that it passes, and the states there."""
        if self._singular is None:
            return np.zeros(0), np.zeros((0, len(x)))
        self.leaps += 1
        p, mean, clock = self._integrator.parameters, self._mean_step(t), self._origin + t

        def across(end: float) -> tuple[float, float, Floats]:
            """How much a whole step and two halves differ, the end, and the state there."""
            end = min(end, self._end)
            whole = self._across.run(clock, x, p, end - t, 1).x
            halves = self._across.run(clock, x, p, (end - t) / 2, 2).x
            apart = float(np.abs(whole - halves).max())
            return apart if np.isfinite(apart) else np.inf, end, halves

        # a stage may fall onto the singular position itself: of some lengths, the best
        tries = (across(t + mean * part) for part in (1.0, 0.73, 1.37, 0.59, 1.71))
        _, end, reached = min(tries, key=lambda found: found[:2])
        passed = wanted[wanted <= end]
        rows = [self._across.run(clock, x, p, s - t, 1).x if s > t else x for s in passed]
        self._integrator.leap(end, reached)
        self._landed.append((self._origin + end, reached))
        return passed, np.array(rows).reshape(len(passed), len(x))

    def counts(self) -> dict[str, Any]:
        """What it cost so far."""
        s = self._integrator.statistics
        found = {"steps": s.steps, "failed_steps": s.failed, "evaluations": s.evaluations}
        if s.jacobians:
            found |= {"iterations": s.iterations, "jacobians": s.jacobians}
            found |= {"factorisations": s.factorisations}
        return found


class FixedStepper:
    """Drives a method of fixed step h; output times are every ``stride`` steps.

    ``evaluations`` of the equations are counted for each call of f, which may be a whole step.
    """

    def __init__(
        self,
        problem: Problem,
        method: Any,
        h: float,
        stride: int,
        control_every: int,
        evaluations: int = 1,
    ) -> None:
        self._each = evaluations
        self.leaps, self.mean, self.pause = 0, 0.0, 5000
        self._integrator = FixedStep(problem, method, control_every=control_every)
        self._h, self._stride = h, stride
        self._steps = self._evaluations = 0

    def start(
        self, elapsed: float, x: Floats, p: Floats, times: Floats, origin: float = 0.0
    ) -> None:
        """Begin somewhere; steps and outputs are counted from the start of the run."""
        self._left, self._origin = times, origin
        self._k = round(elapsed / self._h)
        self._final = round(float(times[-1]) / self._h)
        self._elapsed, self._x, self._p = elapsed, x.copy(), p.copy()
        self._off_grid = False

    def restart(self, x: Floats) -> None:
        """Go on from the time reached with another state."""
        self._x = x.copy()

    def advance(self, count: int) -> Progressed:
        """Go on for so many output times, or to an event before."""
        ahead = self._left[:count]
        last = round(float(ahead[-1]) / self._h)
        stop = min(last, self._k + self.pause)
        indices: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
        states: list[Floats] = [np.zeros((0, len(self._x)))]
        inputs: list[Floats] = [np.zeros((0, self._integrator.problem.nu))]
        first = np.zeros((0, self._integrator.problem.nu))
        status, fired = FINISHED, np.zeros(0, np.int64)
        while self._k < stop and status == FINISHED:
            samples, stride, h = self._portion(stop)
            t = self._origin + self._elapsed
            run = self._integrator.run(
                t, self._x, self._p, h, samples, stride, control=not self._off_grid
            )
            first = run.inputs[:1] if not len(first) else first
            k = self._k + run.steps - self._steps
            self._steps, self._evaluations = run.steps, run.evaluations
            status, fired = run.status, run.fired
            # the rows that stand at output times: an event may stop between two of them
            reached = self._k + stride * np.arange(len(run.states))
            rows = (reached % self._stride == 0) | (reached == self._final)
            rows[0] = False
            states.append(run.states[rows])
            inputs.append(run.inputs[rows])
            indices.append(reached[rows])
            self._k, self._x = k, run.x
            self._off_grid = status == EVENT
            self._elapsed = self._elapsed + run.elapsed if status == EVENT else k * self._h
        outputs = np.concatenate(indices)
        self._left = self._left[len(outputs) :]
        return Progressed(
            status,
            self._origin + self._h * outputs.astype(float),
            np.concatenate(states),
            np.concatenate(inputs),
            first,
            self._origin + self._elapsed,
            self._elapsed,
            self._x,
            fired,
        )

    def _portion(self, stop: int) -> tuple[int, int, float]:
        """Samples, stride and step of the next native call."""
        if self._off_grid:
            # after an event, a shorter step leads back to the grid
            return 1, 1, (self._k + 1) * self._h - self._elapsed
        samples = (stop - self._k) // self._stride
        if self._k % self._stride == 0 and samples:
            return samples, self._stride, self._h
        return 1, min(stop - self._k, self._stride - self._k % self._stride), self._h

    def counts(self) -> dict[str, Any]:
        """What it cost so far."""
        return {
            "steps": self._steps,
            "failed_steps": 0,
            "evaluations": self._each * self._evaluations,
        }


def followed(
    stepper: Stepper, t: float, x: Floats, p: Floats, times: Floats
) -> tuple[Floats, Floats] | None:
    """The instants and states from a start through all output times, which count from it.

    None if it stops before.
    """
    stepper.start(0.0, x, p, times, t)
    instants, states, done = [np.array([t])], [x[None].copy()], 0
    while done < len(times):
        found = stepper.advance(len(times) - done)
        if found.status != FINISHED:
            return None
        instants.append(found.times)
        states.append(found.states)
        done += len(found.times)
    return np.concatenate(instants), np.concatenate(states)


def statistics(costs: Mapping[str, Any], **more: Any) -> RunStatistics:
    """The statistics of a run, with what its integrators cost."""
    known = {item.name for item in fields(RunStatistics)}
    return RunStatistics(**{name: c for name, c in costs.items() if name in known}, **more)


#: Instants are this many doubles apart at least: their distances are then good to half a percent.
_DOUBLES_BETWEEN = 100


def resolved(start: float, duration: float, step: float, what: str) -> None:
    """See that double precision can tell instants apart, and that they are not too many.

    ``what`` is the step between them.

    >>> resolved(1e9, 1.0, 1e-3, "the step")
    >>> resolved(1e16, 1.0, 1e-3, "the step")
    Traceback (most recent call last):
    ...
    biela.errors.ModelError: the step 0.001 s is not resolved at t = 1e+16 s, where neighbouring \
    double-precision numbers are 2 s apart; start nearer to t = 0, or take 200 s or more

    Raises:
        ModelError: They lie closer together than `_DOUBLES_BETWEEN` doubles, or are more than the
            limit.
    """
    duration, step = float(duration), float(step)
    within(
        STEPS,
        duration / step if step else np.inf,
        f"{what} {step:g} s would make {{}} steps in {duration:g} s",
        "take a longer one, or a shorter duration",
    )
    last = max(abs(start), abs(start + duration))
    apart = float(np.spacing(last))
    if not step >= _DOUBLES_BETWEEN * apart:
        raise ModelError(
            f"{what} {step:g} s is not resolved at t = {last:g} s, where neighbouring "
            f"double-precision numbers are {apart:.3g} s apart; start nearer to t = 0, or take "
            f"{_DOUBLES_BETWEEN * apart:.3g} s or more"
        )


def storable(instants: float, columns: int) -> None:
    """See that so many numbers at so many instants are within the limit of memory.

    Raises:
        ModelError: They are not.
    """
    check_memory(
        instants * columns,
        f"{about(instants)} instants with {columns:,} numbers or more each would take {{}}",
        "store fewer with output=…, take a longer step, or a shorter duration",
    )


def whole_steps(duration: float, step: float, what: str, of: str = "") -> int:
    """How many steps make the duration; ``what`` is to be a multiple ``of`` another time.

    Raises:
        ShapeError: They do not fit into it.
    """
    count = round(duration / step)
    if count < 1 or abs(count * step - duration) > 1e-9 * max(duration, step):
        if of:
            nearest = step * max(count, 1)
            raise ShapeError(
                f"{what} = {duration} s is no multiple of {of}, {step} s; {nearest:g} s would be"
            )
        raise ShapeError(
            f"{what} {step} s does not divide {duration} s; {duration / max(count, 1)} s would"
        )
    return count
