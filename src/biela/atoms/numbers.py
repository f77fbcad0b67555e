"""Exact arithmetic on the numbers of an expression.

A number is an ``int``, a ``Fraction`` or a ``float``, and which of them depends on its value alone:
2.0 is the integer 2 and 0.5 the fraction 1/2, while 0.1 is a float.  Integers and fractions stay
exact for as long as only they meet; a float makes the result a float, computed as the machine
would.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Final

import numpy as np

from biela.errors import DomainError

Number = int | Fraction | float

#: Floats that are multiples of 2^-20 are taken as exact; the others as rounded.
_EXACT_STEPS: Final = 2.0**20
#: Fractions longer than this become floats, so that both parts are doubles and nothing grows.
_EXACT_BITS: Final = 1000


def number(value: object) -> Number:
    """``value`` as an int, a Fraction or a finite float, in lowest terms.

    Raises:
        DomainError: If the value is not a finite real number of the range of a double.
    """
    kind = value.__class__
    if kind is int:
        return _in_range(value)  # type: ignore[arg-type]
    if kind is float:
        return _finite(value)  # type: ignore[arg-type]
    if isinstance(value, (bool, np.bool_)):
        raise DomainError(
            f"{value!r} is a truth value, not a number; write 1 or 0, or select(condition, a, b)"
        )
    if isinstance(value, (int, np.integer)):
        return _in_range(int(value))
    if isinstance(value, Rational):
        top, bottom = int(value.numerator), int(value.denominator)
        if bottom == 1:
            return _in_range(top)
        _in_range(top // bottom)
        if max(top.bit_length(), bottom.bit_length()) > _EXACT_BITS:
            return _finite(top / bottom)
        if bottom & (bottom - 1) == 0:  # a float too: its form must be that of the float
            rounded = top / bottom
            if Fraction(rounded) == value:
                return _finite(rounded)
        return Fraction(top, bottom)
    if isinstance(value, (Real, np.floating)):
        return _finite(float(value))
    raise DomainError(f"{value!r} of type {type(value).__name__} is not a real number")


def magnitude(value: Number) -> Number:
    """The size of a number without its sign, of the same type."""
    return -value if value < 0 else value


def spelled(value: Number) -> str:
    """A number as people write it; halves, quarters and the like as decimals."""
    if isinstance(value, Fraction) and value != float(value):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Fraction) or (abs(value) >= 2**53 and value == float(value)):
        return repr(float(value))
    return repr(value)


def is_exact(value: Number) -> bool:
    """Whether arithmetic on ``value`` is free of rounding."""
    return not isinstance(value, float)


def reciprocal_is_exact(value: Number) -> bool:
    """Whether 1/value loses nothing: exact numbers, and powers of two."""
    return not isinstance(value, float) or abs(math.frexp(value)[0]) == 0.5


def square_root(value: Number) -> Number:
    """The root of a number that is not negative; exact for perfect squares."""
    if not isinstance(value, float):
        top, bottom = value.numerator, value.denominator
        root_top, root_bottom = math.isqrt(top), math.isqrt(bottom)
        if root_top * root_top == top and root_bottom * root_bottom == bottom:
            return number(Fraction(root_top, root_bottom))
    return number(math.sqrt(value))


def _in_range(value: int) -> int:
    try:
        float(value)
    except OverflowError:
        raise DomainError(
            f"an integer of about {int(value.bit_length() * 0.30103) + 1} digits is outside the "
            f"range of a double"
        ) from None
    return value


def _finite(value: float) -> Number:
    if not math.isfinite(value):
        raise DomainError(f"{value} is not a finite number and cannot be part of an expression")
    if value.is_integer():
        return int(value)
    return Fraction(value) if (value * _EXACT_STEPS).is_integer() else value
