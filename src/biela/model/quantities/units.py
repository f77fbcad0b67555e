"""Numbers with units: "120 mm", "2*r + 5 mm", "sqrt(a^2 + b^2)".

The problem: a file or a person gives a value, alone or as arithmetic of named parameters, and it
has to become a number in SI units, of the dimension that is wanted there.  The text is not trusted:
nothing in it is executed.

A unit stands straight after a number, π or a parenthesis and belongs to it before anything else:
``3 mm/2`` is 1.5 mm, ``1/2 mm`` is refused as the reciprocal of a length, where anything goes too:
what is meant is written ``(1/2) mm`` or ``1/(2 mm)``.  A unit may be a product,
without blanks around its signs: ``N*m/rad``, ``kg m^2``, ``N/(m/s)``.  A parameter may have the
name of a unit: in ``7850 kg/m^3`` and ``2 m`` the m is the metre, in ``2 kg * m`` and ``2*m`` it is
the parameter.

What is known of dimensions is checked:

* a sum needs equal dimensions, and so do ``min`` and ``max``;
* a plain number is a pure factor (``2 * 5 mm``), and 0 is nothing of anything; a text without any
  unit is in SI units;
* radians and plain numbers mix (``pi/2 + 30 deg``), ``sin`` takes an angle, ``acos`` gives one;
* parameters are numbers in SI units and may be anything.

The units are a table in `biela.model.quantities.dimensions`, which says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real

from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.quantities.dimensions import described, dimension_of, si_unit
from biela.model.quantities.quantity_text import Measured, Reader
from biela.model.quantities.unit_text import names_in

__all__ = ["evaluate", "expression", "format_quantity", "parameters_of", "quantity", "unit_of"]

_PLAIN = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*\Z")


def quantity(value: str | float, dimension: str = "any") -> float:
    """A value in SI units.

    >>> quantity("120 mm", "length"), quantity("90 deg", "angle"), quantity(7850, "density")
    (0.12, 1.5707963267948966, 7850.0)

    Args:
        value: A number, which is in SI units, or a text with units.
        dimension: What it must be, a name in `quantities.dimensions.DIMENSIONS`; "any" for whatever
            it is.

    Raises:
        ParseError: The text cannot be read, or adds what cannot be added.
        ModelError: It has another dimension, is not a finite number, or is a text such as "1/2 mm".
    """
    return evaluate(value, {}, dimension)


def evaluate(
    text: str | float, parameters: Mapping[str, float] | None = None, dimension: str = "any"
) -> float:
    """The value, in SI units, of arithmetic with units and named parameters.

    >>> evaluate("2*r + 5 mm", {"r": 0.01}, "length")
    0.025

    Args:
        text: What to evaluate; a number is returned as it is.
        parameters: The parameters by name, in SI units.
        dimension: What it must be, see `quantity`.

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
        ModelError: It has another dimension, or is not a finite number.
    """
    found = _value(text, parameters or {}, dimension)
    assert not isinstance(found, Atom), "parameters that are numbers give a number"
    return found


def expression(
    text: str | float, parameters: Mapping[str, Atom | float], dimension: str = "any"
) -> Atom | float:
    """The same with parameters that are atoms: an atom, or a number if it depends on none.

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
        ModelError: It has another dimension, or is not a finite number.
    """
    return _value(text, parameters, dimension)


def parameters_of(text: str | float) -> frozenset[str]:
    """The names in a text that are neither units, functions nor π; the time t is one of them.

    >>> sorted(parameters_of("2*r + 5 mm*cos(phi)"))
    ['phi', 'r']

    Raises:
        ParseError: The text holds characters that belong to no expression.
    """
    return frozenset(names_in(text)) if isinstance(text, str) else frozenset()


def unit_of(text: str | float, parameters: Mapping[str, float] | None = None) -> str:
    """The SI unit of a value, "" where it has none or does not tell.

    >>> unit_of("120 mm"), unit_of("60 rpm"), unit_of("2*r", {"r": 1.0}), unit_of(7850)
    ('m', 'rad/s', '', '')

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
    """
    if not isinstance(text, str) or _PLAIN.match(text):
        return ""
    found = Reader(text, parameters or {}).whole()
    return "" if found.plain or found.dimension is None else si_unit(found.dimension)


def format_quantity(value: float, dimension: str = "any") -> str:
    """A value in SI units as the text to save: `quantity` reads the very same double from it.

    Raises:
        ModelError: It is not a finite number, or the dimension is unknown.
    """
    dimension_of(dimension)
    return repr(_finite(value, repr(value)))


def _value(
    text: str | float, parameters: Mapping[str, Atom | float], dimension: str
) -> Atom | float:
    wanted = dimension_of(dimension)
    if not isinstance(text, str):
        return _number(text)
    if _PLAIN.match(text):
        return _finite(float(text), repr(text))
    found = Reader(text, parameters).whole()
    if wanted is not None and not _fits(found, wanted):
        assert found.dimension is not None
        upside_down = tuple(-e for e in found.dimension) == wanted
        raise ModelError(
            f'"{_short(text)}" is {described(found.dimension)}; {described(wanted)} is wanted'
            + (": a unit belongs to the number before it, so write (1/2) mm" * upside_down)
        )
    if wanted is None and found.reciprocal:
        raise ModelError(
            f'"{_short(text)}" divides by the unit too, which belongs to the number before it: '
            f"write {found.reciprocal}"
        )
    if isinstance(found.value, Atom):
        return found.value
    return _finite(found.value, f'"{_short(text)}"')


def _number(given: object) -> float:
    if type(given) is float and math.isfinite(given):
        return given
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ModelError(f'{given!r} is no value: give a number, or a text such as "120 mm"')
    return _finite(float(given), repr(given))


def _fits(found: Measured, wanted: tuple[object, ...]) -> bool:
    if found.dimension is None or found.plain:
        return True
    return found.dimension == wanted


def _finite(value: float, shown: str) -> float:
    if not math.isfinite(value):
        raise ModelError(f"{shown} is not a finite number")
    return float(value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
