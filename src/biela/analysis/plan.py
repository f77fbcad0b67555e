"""When a run steps, and when it stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.stepping import AdaptiveStepper, FixedStepper, Stepper, whole_steps
from biela.errors import ModelError
from biela.solvers.integrators import Problem
from biela.solvers.integrators.variable_step import ADAPTIVE_METHODS

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """When to step and when to store."""

    integrator: Any
    start: float
    duration: float
    step: float | None
    stride: int
    times: Floats
    control_every: int
    sample_time: float

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
    ) -> Plan:
        """The plan for what was asked for, with defaults where nothing was.

        Raises:
            ModelError: A time is not positive, or one that is needed is missing.
        """
        chosen = integrator or ("rk4" if step is not None else "dormand_prince")
        adaptive = isinstance(chosen, str) and chosen in ADAPTIVE_METHODS
        for name, value in (("step", step), ("output", output), ("sample_time", sample_time)):
            if value is not None and not (np.isfinite(value) and value > 0):
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
            count = max(1, int(np.floor(duration / interval * (1 + 1e-12))))
            times: Floats = start + interval * np.arange(1.0, count + 1)
            if start + duration - times[-1] > 1e-9 * duration:
                times = np.append(times, start + duration)
            times[-1] = min(times[-1], start + duration)
            if controlled and sample_time is None:
                raise ModelError("an adaptive run with a controller needs sample_time=…, in s")
            return cls(chosen, start, duration, None, 1, times, 1, sample_time or 0.0)
        h = step or 1e-3
        steps = whole_steps(duration, h, "the step")
        stride = whole_steps(output, h, "output", of="the step") if output else 0
        stride = stride or max(1, -(-steps // 2000))
        rows = -(-steps // stride)
        stored: Floats = start + h * np.minimum(stride * np.arange(1.0, rows + 1), float(steps))
        every = whole_steps(sample_time, h, "sample_time", of="the step") if sample_time else 1
        return cls(chosen, start, duration, h, stride, stored, every, every * h)

    def stepper(
        self,
        problem: Problem,
        tolerance: float,
        fused: bool = False,
        singular: Callable[[float, Floats], bool] | None = None,
    ) -> Stepper:
        """The integrator, ready to start; ``fused`` if f is a whole step."""
        if self.step is None:
            return AdaptiveStepper(
                problem,
                self.integrator,
                self.start + self.duration,
                singular,
                rtol=tolerance,
                atol=0.01 * tolerance,
                control_period=self.sample_time,
            )
        if fused:
            h, stride, every = self.step, self.stride, self.control_every
            return FixedStepper(problem, "one_step_map", h, stride, every, evaluations=4)
        return FixedStepper(problem, self.integrator, self.step, self.stride, self.control_every)

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
        h, stride, times = None, 1, np.linspace(start, end, seen + 1)[1:]
    else:
        steps = max(1, int(np.ceil((end - start) / plan.step - 1e-6))) * finer
        h, stride = (end - start) / steps, -(-steps // seen)
        count = -(-steps // stride)
        times = start + h * np.minimum(stride * np.arange(1.0, count + 1), float(steps))
        times[-1] = end
    return replace(plan, start=start, duration=end - start, step=h, stride=stride, times=times)
