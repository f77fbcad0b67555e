"""Dimensions and the table of units.

A dimension is the tuple of exponents of length, mass, time, angle and electric current.  The angle
counts as a base dimension here, although the radian is the number one in the SI (BIPM, *The
International System of Units*, 9th ed. 2019, §2.3.4): that is what tells a torque from a torsional
stiffness and 10 Hz from 10 rad/s.

A table and no library of units: there are some seventy of them, they never enter the equations, and
what is wanted is that a file with "120 mm" in it is read exactly and a "120 ms" is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from biela.errors import ModelError
from biela.spelling import alike

__all__ = [
    "DIMENSIONS",
    "NUMBER",
    "UNITS",
    "Dimension",
    "Unit",
    "described",
    "dimension_of",
    "near",
    "si_unit",
]

Dimension: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction, Fraction]

_BASE = ("m", "kg", "s", "rad", "A")
#: SI units that have names of their own, by dimension.
_NAMED = {
    "frequency": "Hz",
    "force": "N",
    "torque": "N*m",
    "power": "W",
    "pressure": "Pa",
    "stiffness": "N/m",
    "damping": "N*s/m",
    "torsional stiffness": "N*m/rad",
    "torsional damping": "N*m*s/rad",
    "voltage": "V",
    "resistance": "ohm",
    "inductance": "H",
    "torque constant": "N*m/A",
    "back-emf constant": "V*s/rad",
}

#: Exponents of metre, kilogram, second, radian and ampere.
_EXPONENTS = {
    "none": (0, 0, 0, 0, 0),
    "length": (1, 0, 0, 0, 0),
    "angle": (0, 0, 0, 1, 0),
    "mass": (0, 1, 0, 0, 0),
    "time": (0, 0, 1, 0, 0),
    "area": (2, 0, 0, 0, 0),
    "volume": (3, 0, 0, 0, 0),
    "velocity": (1, 0, -1, 0, 0),
    "acceleration": (1, 0, -2, 0, 0),
    "angular velocity": (0, 0, -1, 1, 0),
    "angular acceleration": (0, 0, -2, 1, 0),
    "frequency": (0, 0, -1, 0, 0),
    "force": (1, 1, -2, 0, 0),
    "torque": (2, 1, -2, 0, 0),
    "energy": (2, 1, -2, 0, 0),
    "power": (2, 1, -3, 0, 0),
    "inertia": (2, 1, 0, 0, 0),
    "momentum": (1, 1, -1, 0, 0),
    "angular momentum": (2, 1, -1, 0, 0),
    "density": (-3, 1, 0, 0, 0),
    "area density": (-2, 1, 0, 0, 0),
    "linear density": (-1, 1, 0, 0, 0),
    "pressure": (-1, 1, -2, 0, 0),
    "stiffness": (0, 1, -2, 0, 0),
    "damping": (0, 1, -1, 0, 0),
    "torsional stiffness": (2, 1, -2, -1, 0),
    "torsional damping": (2, 1, -1, -1, 0),
    "lead": (1, 0, 0, -1, 0),
    "current": (0, 0, 0, 0, 1),
    "voltage": (2, 1, -3, 0, -1),
    "resistance": (2, 1, -3, 0, -2),
    "inductance": (2, 1, -2, 0, -2),
    "torque constant": (2, 1, -2, 0, -1),
    "back-emf constant": (2, 1, -2, -1, -1),
}


def _exact(exponents: tuple[int, int, int, int, int]) -> Dimension:
    a, b, c, d, e = (Fraction(n) for n in exponents)
    return a, b, c, d, e


DIMENSIONS: dict[str, Dimension] = {name: _exact(row) for name, row in _EXPONENTS.items()}
NUMBER = DIMENSIONS["none"]


@dataclass(frozen=True)
class Unit:
    """A unit is ratio · π^pi of the SI unit of its dimension.

    The ratio is exact, so that "120 mm" is the double nearest to 0.12 and "180 deg" is π.
    """

    ratio: Fraction
    dimension: Dimension
    pi: int = 0

    def times(self, other: Unit, power: int = 1) -> Unit:
        """This unit times a power of another."""
        a, b, c, d, e = (
            x + power * y for x, y in zip(self.dimension, other.dimension, strict=True)
        )
        ratio = self.ratio * other.ratio**power
        return Unit(ratio, (a, b, c, d, e), self.pi + power * other.pi)

    def value(self, number: Fraction) -> float:
        """So many of this unit, in SI units."""
        exact = number * self.ratio
        if not self.pi:
            return float(exact)
        return float(exact.numerator * math.pi**self.pi / exact.denominator)


_POUND = Fraction("0.45359237")
_GRAVITY = Fraction("9.80665")
_INCH = Fraction("0.0254")

#: What a unit is, in SI units, and of which dimension; the avoirdupois pound, the inch and the
#: standard gravity are exact by definition (NIST Special Publication 811, 2008, appendix B).
_TABLE: dict[str, dict[str, Fraction | int | str]] = {
    "length": {
        "m": 1,
        "km": 1000,
        "dm": "0.1",
        "cm": "0.01",
        "mm": "0.001",
        "um": "1e-6",
        "µm": "1e-6",
        "nm": "1e-9",
        "in": _INCH,
        "ft": 12 * _INCH,
        "yd": 36 * _INCH,
        "mi": 63360 * _INCH,
    },
    "mass": {
        "kg": 1,
        "g": "1e-3",
        "mg": "1e-6",
        "t": 1000,
        "lb": _POUND,
        "oz": _POUND / 16,
        "slug": _POUND * _GRAVITY / (12 * _INCH),
    },
    "time": {"s": 1, "ms": "1e-3", "us": "1e-6", "µs": "1e-6", "min": 60, "h": 3600},
    "angle": {"rad": 1, "mrad": "1e-3"},
    "frequency": {"Hz": 1, "kHz": 1000},
    "force": {
        "N": 1,
        "mN": "1e-3",
        "kN": 1000,
        "MN": 10**6,
        "kgf": _GRAVITY,
        "lbf": _POUND * _GRAVITY,
    },
    "pressure": {
        "Pa": 1,
        "kPa": 1000,
        "MPa": 10**6,
        "GPa": 10**9,
        "mbar": 100,
        "bar": 10**5,
        "psi": _POUND * _GRAVITY / _INCH**2,
    },
    "energy": {"J": 1, "mJ": "1e-3", "kJ": 1000, "Nm": 1},
    "power": {"W": 1, "mW": "1e-3", "kW": 1000},
    "current": {"A": 1, "mA": "1e-3"},
    "voltage": {"V": 1, "mV": "1e-3", "kV": 1000},
    "resistance": {"ohm": 1},
    "inductance": {"H": 1, "mH": "1e-3"},
}
#: The units with a π in them.
_WITH_PI = {
    "deg": (Fraction(1, 180), "angle"),
    "°": (Fraction(1, 180), "angle"),
    "arcmin": (Fraction(1, 180 * 60), "angle"),
    "arcsec": (Fraction(1, 180 * 3600), "angle"),
    "turn": (Fraction(2), "angle"),
    "rev": (Fraction(2), "angle"),
    "rpm": (Fraction(2, 60), "angular velocity"),
}

UNITS: dict[str, Unit] = {
    **{
        name: Unit(Fraction(ratio), DIMENSIONS[dimension])
        for dimension, units in _TABLE.items()
        for name, ratio in units.items()
    },
    **{name: Unit(ratio, DIMENSIONS[of], pi=1) for name, (ratio, of) in _WITH_PI.items()},
}


def dimension_of(name: str) -> Dimension | None:
    """The dimension of that name; None for "any".

    Raises:
        ModelError: There is no such dimension.
    """
    if name == "any":
        return None
    if name not in DIMENSIONS:
        raise ModelError(f"unknown dimension {name!r}{near(name, [*DIMENSIONS, 'any'])}")
    return DIMENSIONS[name]


def described(dimension: Dimension) -> str:
    """A dimension in words: "a length", or the unit it has if there is no word for it."""
    for name, known in DIMENSIONS.items():
        if known == dimension and name != "none":
            return f"{'an' if name[0] in 'aei' else 'a'} {name}"
    if dimension == NUMBER:
        return "a pure number"
    parts = []
    for unit, power in zip(_BASE, dimension, strict=True):
        if power:
            parts.append(unit if power == 1 else f"{unit}^{power}")
    return f"in {'*'.join(parts)}"


@cache
def si_unit(dimension: Dimension) -> str:
    """The SI unit of a dimension, as one types it; "" of a pure number.

    >>> si_unit(DIMENSIONS["density"]), si_unit(DIMENSIONS["torsional stiffness"])
    ('kg/m^3', 'N*m/rad')
    """
    for name, unit in _NAMED.items():
        if DIMENSIONS[name] == dimension:
            return unit
    powers = dict(zip(_BASE, dimension, strict=True))
    # the order in which such units are said: kg m², rad/s, A s
    above, below = (
        [
            unit + ("" if abs(powers[unit]) == 1 else f"^{abs(powers[unit])}")
            for unit in ("kg", "m", "rad", "A", "s")
            if sign * powers[unit] > 0
        ]
        for sign in (1, -1)
    )
    over, under = "*".join(above), "*".join(below)
    if not below:
        return over
    return f"{over or 1}/({under})" if len(below) > 1 else f"{over or 1}/{under}"


def near(name: str, known: list[str]) -> str:
    """A hint of names like this one, "" if there is none."""
    found = alike(name, known, 2, 0.5)
    return f": did you mean {' or '.join(repr(f) for f in found)}?" if found else ""
