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
* parameters are numbers in SI units, of the dimension that they were given with; one without a
  unit may be anything, and so may a plain number that is added to parameters;
* where parameters stand in it, the radian is the number one: r*phi is a length.

The units are a table in `biela.model.quantities.dimensions`, which says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

from biela.atoms import Atom, Workspace
from biela.budgets import LARGEST
from biela.errors import ModelError, ParseError
from biela.model.quantities.dimensions import (
    DIMENSIONS,
    NUMBER,
    Dimension,
    described,
    dimension_of,
    si_unit,
)
from biela.model.quantities.quantity_text import Measured, Reader
from biela.model.quantities.unit_text import names_in
from biela.model.quantities.values import SiText

__all__ = [
    "check_law",
    "dimension_in",
    "evaluate",
    "expression",
    "format_quantity",
    "parameters_of",
    "quantity",
    "unit_of",
]

#: What float() reads too, which takes fewer characters for blanks than others do; the rest is read
#: word by word.
_PLAIN = re.compile(r"\s*[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?\s*+\Z", re.ASCII)


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
    text: str | float,
    parameters: Mapping[str, float] | None = None,
    dimension: str = "any",
    dimensions: Mapping[str, Dimension] | None = None,
) -> float:
    """The value, in SI units, of arithmetic with units and named parameters.

    >>> evaluate("2*r + 5 mm", {"r": 0.01}, "length")
    0.025

    Args:
        text: What to evaluate; a number is returned as it is.
        parameters: The parameters by name, in SI units.
        dimension: What it must be, see `quantity`.
        dimensions: Those of the parameters, as far as they are known.

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
        ModelError: It has another dimension, or is not a finite number.
    """
    found = _value(text, parameters or {}, dimension, dimensions)
    assert not isinstance(found, Atom), "parameters that are numbers give a number"
    return found


def expression(
    text: str | float,
    parameters: Mapping[str, Atom | float],
    dimension: str = "any",
    dimensions: Mapping[str, Dimension] | None = None,
) -> Atom | float:
    """The same with parameters that are atoms: an atom, or a number if it depends on none.

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
        ModelError: It has another dimension, or is not a finite number.
    """
    return _value(text, parameters, dimension, dimensions)


def parameters_of(text: str | float) -> frozenset[str]:
    """The names in a text that are neither units, functions nor π; the time t is one of them.

    >>> sorted(parameters_of("2*r + 5 mm*cos(phi)"))
    ['phi', 'r']

    Raises:
        ParseError: The text holds characters that belong to no expression.
    """
    if isinstance(text, SiText):
        named = {name for name, _ in text.steps}
        return frozenset(n for _, step in text.steps for n in names_in(step)) - named
    return frozenset(names_in(text)) if isinstance(text, str) else frozenset()


def dimension_in(
    text: str | float,
    parameters: Mapping[str, float] | None = None,
    dimensions: Mapping[str, Dimension] | None = None,
) -> Dimension | None:
    """The dimension of a value, None where it is a pure number or does not tell.

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
    """
    if not isinstance(text, str) or _PLAIN.match(text):
        return None
    found = Reader(text, parameters or {}, dimensions).whole()
    return None if found.plain or found.dimension == NUMBER else found.dimension


def check_law(
    text: str,
    parameters: Mapping[str, float],
    dimension: str,
    dimensions: Mapping[str, Dimension],
) -> None:
    """Refuse a text of t whose units, or parameters with dimensions, do not fit.

    The time counts as a time, or as a number, as in the law "2*pi*t" of an angle; and plain numbers
    may be of any dimension, as in the law "1 + t" of a length.

    Raises:
        ModelError: It has another dimension, or adds what cannot be added.
    """
    names = parameters_of(text)
    known = {name: d for name, d in dimensions.items() if name in names}
    wanted = dimension_of(dimension)
    if wanted is None or not (known or names <= {*parameters, "t"}):
        return  # a name may be declared later
    faults: list[ModelError] = []
    # a symbol: a number would be refused where the law ends before it, as sqrt(1/4 - t) does
    values: dict[str, Atom | float] = {**parameters, "t": Workspace().time}
    for time in (NUMBER, DIMENSIONS["time"]):
        try:
            found = Reader(text, values, {**known, "t": time}, bare=False).whole()
        except ParseError as error:
            listed = _listed(text, dimensions)
            has = f": it has {listed}" if listed else ""
            faults.append(ModelError(f'{error.message} in "{_short(text)}"{has}'))
            continue
        if found.fits(wanted) or (found.dimension in (NUMBER, time) and not known):
            return
        faults.append(_misfit(text, found, wanted, dimensions))
    raise faults[0]


def unit_of(text: str | float, parameters: Mapping[str, float] | None = None) -> str:
    """The SI unit of a value, "" where it has none or does not tell.

    >>> unit_of("120 mm"), unit_of("60 rpm"), unit_of("2*r", {"r": 1.0}), unit_of(7850)
    ('m', 'rad/s', '', '')

    Raises:
        ParseError: The text cannot be read, has an unknown name, or adds what cannot be added.
    """
    found = dimension_in(text, parameters)
    return "" if found is None else si_unit(found)


def format_quantity(value: float, dimension: str = "any") -> str:
    """A value in SI units as the text to save: `quantity` reads the very same double from it.

    Raises:
        ModelError: It is not a finite number, or the dimension is unknown.
    """
    dimension_of(dimension)
    return repr(_finite(value, repr(value)))


def _value(
    text: str | float,
    parameters: Mapping[str, Atom | float],
    dimension: str,
    dimensions: Mapping[str, Dimension] | None = None,
) -> Atom | float:
    wanted = dimension_of(dimension)
    if not isinstance(text, str):
        return _number(text)
    if _PLAIN.match(text):
        return _finite(float(text), repr(text))
    if isinstance(text, SiText):
        found = _stepwise(text, parameters)
    else:
        found = Reader(text, parameters, dimensions).whole()
    if wanted is not None and not found.fits(wanted):
        raise _misfit(text, found, wanted, dimensions or {})
    if wanted is None and found.reciprocal:
        raise ModelError(
            f'"{_short(text)}" divides by the unit too, which belongs to the number before it: '
            f"write {found.reciprocal}"
        )
    if isinstance(found.value, Atom):
        return found.value
    return _finite(found.value, f'"{_short(text)}"')


def _stepwise(text: SiText, parameters: Mapping[str, Atom | float]) -> Measured:
    """The value of a text with steps."""
    *steps, (_, whole) = text.steps
    known = dict(parameters)
    for name, step in steps:
        known[name] = Reader(step, known, blind=True).whole().value
    return replace(Reader(whole, known, blind=True).whole(), dimension=None)


def _number(given: object) -> float:
    if type(given) is float and abs(given) <= LARGEST:
        return given
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ModelError(f'{given!r} is no value: give a number, or a text such as "120 mm"')
    try:
        return _finite(float(given), repr(given))
    except OverflowError:  # of whole numbers and fractions
        raise ModelError(f"{str(given)[:6]}… is too large a number") from None


def _misfit(
    text: str, found: Measured, wanted: Dimension, dimensions: Mapping[str, Dimension]
) -> ModelError:
    """What to say of a text of another dimension."""
    assert found.dimension is not None
    upside_down = not found.named and tuple(-e for e in found.dimension) == wanted
    known = _listed(text, dimensions)
    return ModelError(
        f'"{_short(text)}" is {described(found.dimension)}; {described(wanted)}'
        + (f", in {si_unit(wanted)}," * bool(known and si_unit(wanted)))
        + f" is wanted{known and f': it has {known}, and plain numbers are factors without a unit'}"
        + (": a unit belongs to the number before it, so write (1/2) mm" * upside_down)
    )


def _listed(text: str, dimensions: Mapping[str, Dimension]) -> str:
    """The parameters in a text whose units are known, for messages; "" if there are none."""
    known = [
        f"{name} in {si_unit(dimensions[name])}"
        for name in sorted(parameters_of(text))
        if name in dimensions
    ]
    return f"the parameter{'s' * (len(known) > 1)} {', '.join(known)}" if known else ""


def _finite(value: float, shown: str) -> float:
    if not math.isfinite(value):
        raise ModelError(f"{shown} is not a finite number")
    if abs(value) > LARGEST:
        raise ModelError(f"{shown} is too large a number; the limit is {LARGEST:g}")
    return float(value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
