"""Ranges of sliders: how far a value may be moved to either side of what a model says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Range", "around", "coordinate_range", "entry_ranges", "input_range"]

#: Steps of a slider from one end to the other.
_STEPS: Final = 200
#: How far velocities go, in units of their own, rad/s; along slides as many sizes a second.
_FASTEST: Final = 12.0
#: Units of what may as well be zero or reversed.
_EITHER_WAY: Final = ("rad", "rad/s", "m/s")
#: An end nearer to zero than this part of the range is zero.
_NOTHING: Final = 1e-2
#: Digits of a number in a box.
_DIGITS: Final = 4


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

    @property
    def shown(self) -> float:
        """The value with so few digits that it fits into a box."""
        return min(max(float(f"{self.value:.{_DIGITS}g}"), self.low), self.high)

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name}, {self.unit.replace(' ', '·')}" if self.unit else self.name


def around(
    name: str, usual: float, value: float, unit: str = "", either_way: bool = False
) -> Range:
    """From a quarter of the usual value to the double of it; about zero to one either way.

    Angles and speeds, and what else may go ``either_way``, go to the double of it both ways, angles
    to half a turn at least.

    >>> around("r", 0.4, 0.5)
    Range(name='r', value=0.5, low=0.1, high=0.8, unit='')
    >>> around("speed", -3.0, 2.0, "rad/s")
    Range(name='speed', value=2.0, low=-6.0, high=6.0, unit='rad/s')
    """
    ends = (0.25 * usual, 2.0 * usual) if usual else (-1.0, 1.0)
    if either_way or unit in _EITHER_WAY:
        span = 2.0 * abs(usual) if usual else 1.0
        span = max(span, math.pi) if unit == "rad" else span
        ends = (-span, span)
    return _holding(name, value, min(ends), max(ends), unit)


def coordinate_range(name: str, usual: float, value: float, unit: str, size: float) -> Range:
    """Half a turn, or half the size of the mechanism, to either side; velocities likewise."""
    spans = {"rad": math.pi, "m": 0.5 * size, "rad/s": _FASTEST, "m/s": 2.0 * size}
    span = spans.get(unit, 1.0)
    return _holding(name, value, usual - span, usual + span, unit)


def entry_ranges(
    entries: Iterable[Any],
    given: Mapping[str, float],
    size: float,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> list[Range]:
    """Ranges of coordinates or velocities of a system.

    Args:
        entries: The quantities.
        given: Values other than theirs.
        size: Of the mechanism (m).
        limits: Lowest and highest values by name, of those that have some.
    """
    found = []
    for e in entries:
        value, known = given.get(e.name, e.value), (limits or {}).get(e.name)
        if known is None:
            found.append(coordinate_range(e.name, e.value, value, e.unit, size))
        else:
            found.append(Range(e.name, value, min(known[0], value), max(known[1], value), e.unit))
    return found


def input_range(name: str, value: float, span: float, unit: str) -> Range:
    """As far one way as the other."""
    return _holding(name, value, -span, span, unit)


def _holding(name: str, value: float, low: float, high: float, unit: str) -> Range:
    """The range between round numbers, made so wide that the value is in it."""
    nothing = _NOTHING * (high - low)
    ends = [0.0 if abs(end) < nothing else float(f"{end:.3g}") for end in (low, high)]
    return Range(name, value, min(ends[0], value), max(ends[1], value), unit)


def round_step(step: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a step.

    >>> round_step(0.037)
    0.02
    """
    power = 10.0 ** math.floor(math.log10(step))
    digit = max(d for d in (1.0, 2.0, 5.0) if d <= step / power * (1 + 1e-12))
    return float(f"{digit * power:.1g}")
