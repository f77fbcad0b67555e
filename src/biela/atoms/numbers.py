"""Exact arithmetic on the numbers of an expression.

A number is an ``int``, a ``Fraction`` or a ``float``.  Integers and fractions stay exact for as
long as only integers and fractions meet; a float makes the result a float, computed as the machine
would.  Numbers equal in value (2, 2.0) are one number.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational, Real
from typing import Final

import numpy as np

from biela.errors import DomainError

Number = int | Fraction | float

_EXACT_FLOAT: Final = 2.0**53


def number(value: object) -> Number:
    """``value`` as an int, a Fraction or a finite float, in lowest terms.

    Raises
    ------
    DomainError
        If the value is not a finite real number of the range of a double.
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
        if value.denominator == 1:
            return _in_range(int(value.numerator))
        _in_range(value.numerator // value.denominator)
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, (Real, np.floating)):
        return _finite(float(value))
    raise DomainError(f"{value!r} of type {type(value).__name__} is not a real number")


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
            f"a number of {len(str(abs(value)))} digits is outside the range of a double"
        ) from None
    return value


def _finite(value: float) -> Number:
    if not math.isfinite(value):
        raise DomainError(f"{value} is not a finite number and cannot be part of an expression")
    if value.is_integer() and abs(value) < _EXACT_FLOAT:
        return int(value)
    return value
