"""When a run steps, and when it stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant
from biela.analysis.leading import LedState, led_state
from biela.analysis.stepping import (
    AdaptiveStepper,
    FixedStepper,
    Stepper,
    resolved,
    storable,
    whole_steps,
)
from biela.budgets import DURATION, within
from biela.equations import System
from biela.errors import ModelError
from biela.solvers.integrators import Problem
from biela.solvers.integrators.variable_step import ADAPTIVE_METHODS

Floats = npt.NDArray[np.float64]

#: Mechanisms that are smaller get a smaller absolute tolerance of lengths.
_CENTIMETRE = 1e-2
#: The fewest steps of an adaptive run: at rest any step would do, and pass what happens later.
FEWEST = 50
#: Instants between two stops that an interval is seen at, which is run once more.
_CLOSE = 20
#: Instants of an adaptive run at which constraints that may contradict each other are looked at.
_LOOKS = 2000


@dataclass(frozen=True)
class Plan:
    """When to step and when to store; ``times``, to store at, count from the start.

    Adaptive steps do not pass ``stops``, times of the clock between which laws change quickly.
    Where constraints are looked at more often than is stored, ``stored`` says which of the times
    are stored; all are without it.  ``columns`` is how many numbers are kept of an instant.
    """

    integrator: Any
    start: float
    duration: float
    step: float | None
    stride: int
    times: Floats
    control_every: int
    sample_time: float
    stops: Floats = field(default_factory=lambda: np.zeros(0))
    stored: npt.NDArray[np.bool_] | None = None
    columns: int = 1

    @classmethod
    def make(
        cls,
        integrator: Any,
        duration: float,
        start: float,
        step: float | None,
        output: float | None,
        sample_time: float | None,
        controlled: bool,
        columns: int = 1,
    ) -> Plan:
        """The plan for what was asked for, with defaults where nothing was.

        Raises:
            ModelError: A time is not positive, one that is needed is missing, or there would be
                more steps or stored instants than the limit.
        """
        chosen = integrator or ("rk4" if step is not None else "dormand_prince")
        adaptive = isinstance(chosen, str) and chosen in ADAPTIVE_METHODS
        value: Any
        for name, value in (("step", step), ("output", output), ("sample_time", sample_time)):
            try:
                positive = value is None or bool(np.isfinite(value) and value > 0)
            except (TypeError, ValueError):  # texts, arrays, objects
                raise ModelError(f"{name} is a number of seconds, not {value!r}") from None
            if not positive:
                raise ModelError(f"{name} must be a positive time, not {value!r}")
        if sample_time is not None and not controlled:
            raise ModelError("sample_time is that of a controller: give control=…, or leave it out")
        if adaptive and step is not None:
            raise ModelError(
                f"integrator {chosen!r} chooses its own steps: leave step out, or use output=… for "
                f"the time between stored instants"
            )
        if adaptive:
            interval = output or duration / 500
            within(
                DURATION, duration, "the duration would be {} s", "adaptive steps do not get so far"
            )
            resolved(start, duration, interval, "the time between stored instants")
            count = max(1, int(np.floor(duration / interval * (1 + 1e-12))))
            storable(count, columns)
            times: Floats = interval * np.arange(1.0, count + 1)
            if duration - times[-1] > 1e-9 * duration:
                times = np.append(times, duration)
            times[-1] = min(times[-1], duration)
            if controlled and sample_time is None:
                raise ModelError("an adaptive run with a controller needs sample_time=…, in s")
            return cls(
                chosen, start, duration, None, 1, times, 1, sample_time or 0.0, columns=columns
            )
        h = step or 1e-3
        resolved(start, duration, h, "the step")
        steps = whole_steps(duration, h, "the step")
        stride = whole_steps(output, h, "output", of="the step") if output else 0
        stride = min(stride, steps) or max(1, -(-steps // 2000))
        rows = -(-steps // stride)
        storable(rows, columns)
        stored: Floats = h * np.minimum(stride * np.arange(1.0, rows + 1), float(steps))
        every = whole_steps(sample_time, h, "sample_time", of="the step") if sample_time else 1
        return cls(chosen, start, duration, h, stride, stored, every, every * h, columns=columns)

    def stepper(
        self,
        problem: Problem,
        tolerance: float,
        fused: bool = False,
        singular: Callable[[float, Floats], bool] | None = None,
        sizes: Floats | float = 1.0,
    ) -> Stepper:
        """The integrator, ready to start; ``fused`` if f is a whole step.

        ``sizes`` of the entries of the state are what the absolute tolerance is in proportion to.
        """
        if self.step is None:
            return AdaptiveStepper(
                problem,
                self.integrator,
                self.duration,
                singular,
                rtol=tolerance,
                stops=self.stops,
                atol=0.01 * tolerance * sizes,
                control_period=self.sample_time,
                h_max=self.duration / FEWEST,
            )
        if fused:
            h, stride, every = self.step, self.stride, self.control_every
            return FixedStepper(problem, "one_step_map", h, stride, every, evaluations=4)
        return FixedStepper(problem, self.integrator, self.step, self.stride, self.control_every)

    def looking(self, dependent: bool) -> Plan:
        """The same, for a look at constraints that laws of time move, between stored instants too.

        There the laws may ask for a place that cannot be reached, or contradict each other.  Fixed
        steps are looked at one by one.  An adaptive method finds no step into a place that cannot
        be reached; but where constraints are ``dependent``, it does not see those that it leaves
        out, and is looked at often.
        """
        if self.step is not None:
            storable(self.steps, self.columns)
            count = np.arange(1.0, self.steps + 1)
            stored = (count % self.stride == 0) | (count == self.steps)
            return (
                self
                if self.stride == 1
                else replace(self, stride=1, times=self.step * count, stored=stored)
            )
        if not dependent:
            return self
        inside = self.stops[(self.stops > self.start) & (self.stops < self.start + self.duration)]
        short = [np.linspace(a, b, _CLOSE) for a, b in pairwise((inside - self.start).tolist())]
        evenly = np.linspace(0.0, float(self.times[-1]), _LOOKS + 1)[1:]
        times = np.unique(np.concatenate([self.times, evenly, *short]))
        return replace(self, times=times, stored=np.isin(times, self.times))

    def led(self, system: System, q: Floats, v: Floats, u: Floats, p: Floats) -> LedState | None:
        """The state that a motion out of a singular position is led to; see `led_state`.

        It comes before the first output, or is the end of the first step.
        """
        most = self.step or 0.999 * float(self.times[0])
        fixed = self.step is not None
        if fixed and len(self.times) == 1 and self.stride == 1:
            return None  # a single step
        return led_state(Instant(system, self.start, u, p), q, v, most, exactly=fixed)

    def sizes(self, q: Floats, v: Floats, units: Sequence[str], rates: Sequence[str]) -> Floats:
        """What entries of a state (q, v) count as, from its units and the start.

        That is 1 (m, rad, per s) in mechanisms of a centimetre and more.  In smaller ones lengths
        count as less: otherwise the absolute tolerance, 1e-10 m by default, would be a ten
        thousandth of a motion of a micrometre.
        """
        lengths = np.array([unit == "m" for unit in units], dtype=bool)
        speeds = np.array([unit == "m/s" for unit in rates], dtype=bool)
        far = float(np.abs(q[lengths]).max(initial=0.0))
        fast = float(np.abs(v[speeds]).max(initial=0.0)) * min(self.duration, 1.0)
        size = min(1.0, max(far, fast) / _CENTIMETRE) or 1.0
        return np.where(np.concatenate([lengths, speeds]), size, 1.0)

    def checked_tolerance(self, who: str, given: float | None) -> float:
        """The relative tolerance of an adaptive run, 1e-8 if none is given.

        Raises:
            ModelError: Steps are fixed, which no tolerance changes.
        """
        if given is None:
            return 1e-8
        if not self.adaptive:
            raise ModelError(
                f"{who}: steps of fixed length ({self.name}) have no tolerance: leave tolerance "
                f"out, or step"
            )
        return float(given)

    @property
    def steps(self) -> int:
        """Number of fixed steps."""
        return 0 if self.step is None else round(self.duration / self.step)

    @property
    def adaptive(self) -> bool:
        """Whether the integrator chooses its steps."""
        return self.step is None

    @property
    def name(self) -> str:
        """The integrator, as shown to people."""
        name = self.integrator if isinstance(self.integrator, str) else self.integrator.name
        return name if self.step is None else f"{name}, {self.step:g} s"


def closer(plan: Plan, start: float, end: float, finer: int, seen: int) -> Plan:
    """The plan of a part of a run, with about so many stored instants and steps so much finer."""
    if plan.step is None:
        inside = plan.stops[(plan.stops > start) & (plan.stops < end)] - start
        short = [np.linspace(a, b, _CLOSE) for a, b in pairwise(inside[: 2 * _CLOSE])]
        evenly = np.linspace(0.0, end - start, seen + 1)[1:]
        h, stride, times = None, 1, np.unique(np.concatenate([evenly, *short]))
    else:
        steps = max(1, int(np.ceil((end - start) / plan.step - 1e-6))) * finer
        h, stride = (end - start) / steps, -(-steps // seen)
        count = -(-steps // stride)
        times = h * np.minimum(stride * np.arange(1.0, count + 1), float(steps))
        times[-1] = end - start
    return replace(
        plan, start=start, duration=end - start, step=h, stride=stride, times=times, stored=None
    )
