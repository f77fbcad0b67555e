"""Ranges of sliders: how far a value may be moved to either side of what a model says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Range", "around", "coordinate_range", "entry_ranges"]

#: Steps of a slider from one end to the other.
_STEPS: Final = 200
#: How far velocities go, in units of their own, rad/s; along slides as many sizes a second.
_FASTEST: Final = 12.0


@dataclass(frozen=True)
class Range:
    """A value and how far a slider takes it.

    Attributes:
        name: Of what.
        value: The present value, SI.
        low: The lowest.
        high: The highest.
        unit: As it is shown, "" if it is not known.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str = ""

    @property
    def step(self) -> float:
        """A step of the slider: a round number, 1, 2 or 5 times a power of ten."""
        return round_step((self.high - self.low) / _STEPS)


def around(name: str, usual: float, value: float) -> Range:
    """From a quarter of the usual value to the double of it; about zero to one either way.

    >>> around("r", 0.4, 0.5)
    Range(name='r', value=0.5, low=0.1, high=0.8, unit='')
    """
    ends = (0.25 * usual, 2.0 * usual) if usual else (-1.0, 1.0)
    return _holding(name, value, min(ends), max(ends), "")


def coordinate_range(name: str, usual: float, value: float, unit: str, size: float) -> Range:
    """Half a turn, or half the size of the mechanism, to either side; velocities likewise."""
    spans = {"rad": math.pi, "m": 0.5 * size, "rad/s": _FASTEST, "m/s": 2.0 * size}
    span = spans.get(unit, 1.0)
    return _holding(name, value, usual - span, usual + span, unit)


def entry_ranges(entries: Iterable[Any], given: Mapping[str, float], size: float) -> list[Range]:
    """Ranges of coordinates or velocities of a system; ``given`` has values other than theirs."""
    return [
        coordinate_range(e.name, e.value, given.get(e.name, e.value), e.unit, size) for e in entries
    ]


def _holding(name: str, value: float, low: float, high: float, unit: str) -> Range:
    """The range between round numbers, made so wide that the value is in it."""
    ends = (float(f"{low:.3g}"), float(f"{high:.3g}"))
    return Range(name, value, min(ends[0], value), max(ends[1], value), unit)


def round_step(step: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a step.

    >>> round_step(0.037)
    0.02
    """
    power = 10.0 ** math.floor(math.log10(step))
    digit = max(d for d in (1.0, 2.0, 5.0) if d <= step / power * (1 + 1e-12))
    return float(f"{digit * power:.1g}")
