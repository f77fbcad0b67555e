"""Units as they are shown on axes, and what they measure."""

from __future__ import annotations

import re

__all__ = ["is_rate", "labelled", "quantity", "shown"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER = re.compile(r"(?:\*\*|\^)\(?(-?\d+)\)?")

_QUANTITIES = {
    "rad": "angle",
    "deg": "angle",
    "m": "position",
    "mm": "position",
    "rad/s": "angular velocity",
    "m/s": "velocity",
    "rad/s²": "angular acceleration",
    "m/s²": "acceleration",
    "N": "force",
    "N·m": "torque",
    "J": "energy",
    "W": "power",
    "s": "time",
    "kg·m/s": "momentum",
    "V": "voltage",
    "A": "current",
}


def shown(unit: str) -> str:
    """The unit in print.

    >>> shown("kg*m**2/s^2"), shown("N m")
    ('kg·m²/s²', 'N·m')
    """
    raised = _POWER.sub(lambda match: match[1].translate(_SUPERSCRIPTS), unit.strip())
    return re.sub(r"\s*\*\s*|\s+", "·", raised)


def quantity(unit: str) -> str:
    """What is measured in this unit, "" where that is not known."""
    return _QUANTITIES.get(shown(unit), "")


def labelled(name: str, unit: str) -> str:
    """Name and unit, as on an axis: "theta1 [rad]"; a pure number has no bracket."""
    return f"{name} [{shown(unit)}]".strip() if unit else name


def is_rate(rate: str, unit: str) -> bool:
    """Whether `rate` is `unit` per second, as far as the usual spellings go.

    >>> is_rate("rad/s", "rad"), is_rate("m/s^2", "m/s"), is_rate("m/s", "rad")
    (True, True, False)
    """
    rate, unit = shown(rate), shown(unit)
    if unit.endswith("/s"):
        return rate == f"{unit}²"
    return rate == f"{unit or '1'}/s" or rate == unit == ""
