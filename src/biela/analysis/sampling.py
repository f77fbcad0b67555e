"""Instants at equal steps: at which ones a motion is found, and which of them are stored."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real

import numpy as np
import numpy.typing as npt

from biela.analysis.stepping import resolved, storable, whole_steps
from biela.errors import ModelError

__all__ = ["Sampling", "sampling"]


@dataclass(frozen=True)
class Sampling:
    """Equal steps, of which every so manieth end is stored.

    Attributes:
        t: Start, s.
        step: Time between instants, s.
        steps: How many steps there are.
        stride: How many of them lie between stored instants.
    """

    t: float
    step: float
    steps: int
    stride: int

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """All instants, the start among them."""
        return np.asarray(self.t + self.step * np.arange(self.steps + 1, dtype=float))

    def check_memory(self, columns: int) -> None:
        """See that the stored instants, with so many numbers each, are within the limit of memory.

        Raises:
            ModelError: They are not.
        """
        storable(self.steps // self.stride + 1, columns)

    def stored(self, end_point: bool = True, found: int | None = None) -> npt.NDArray[np.int64]:
        """Numbers of the stored instants.

        Args:
            end_point: Whether the last of all instants may be one of them.
            found: How many instants there are of a motion that stopped.

        >>> sampling(1.0, 0.1, output=0.5).stored()
        array([ 0,  5, 10])
        >>> sampling(1.0, 0.1, output=0.5).stored(end_point=False)
        array([0, 5])
        """
        count = self.steps + end_point
        return np.arange(0, count if found is None else min(count, found), self.stride)


def sampling(
    duration: float,
    step: float,
    *,
    t: float = 0.0,
    output: float | None = None,
) -> Sampling:
    """The steps of a motion.

    Args:
        duration: Time to simulate, s.
        step: Time between instants, s.
        t: Start time, s.
        output: Time between stored instants, s; None stores all.

    Raises:
        ModelError: A time is not positive, the step so small beside t that instants coincide, or
            there are more of them than the limit.
        ShapeError: The step does not divide the duration or the time between stored instants.
    """
    between = step if output is None else output
    for what, value in (("duration", duration), ("step", step), ("output", between)):
        if not _positive(value):
            raise ModelError(f"the {what} must be a positive time, not {value!r}")
    resolved(t, duration, step, "the step")
    steps, stride = (whole_steps(time, step, "the step") for time in (duration, between))
    storable(steps + 1, 1)  # their times
    # beyond the end it is as good as any
    return Sampling(float(t), float(step), steps, min(stride, steps + 1))


def _positive(value: object) -> bool:
    """Whether something is a positive number, whatever a user gives."""
    return isinstance(value, Real) and 0 < float(value) < inf
