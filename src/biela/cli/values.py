"""Values and laws given on the command line, as ``name=value``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import typer

import biela as bl
from biela.errors import BielaError, ModelError
from biela.model.quantities.units import quantity

#: A number with its unit behind it, 40deg: read as 40*deg.
_DEGREES: Final = re.compile(r"(?<![\w.])((?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?)[ ]*+deg\b")


def assignments(option: str, given: Sequence[str]) -> dict[str, float]:
    """Values by name, in SI units; a value is a number, or arithmetic with units and ``pi``.

    >>> assignments("--q", ["theta=pi/4", "x=-0.2", "r=45mm", "phi=90*deg"])
    {'theta': 0.7853981633974483, 'x': -0.2, 'r': 0.045, 'phi': 1.5707963267948966}

    Raises:
        ModelError: A text is not of that form, or a name is given twice.
    """
    return {
        name: _number(f"{option} {name}={value}", value)
        for name, value in laws(option, given, "0.5").items()
    }


def quantities(option: str, given: Sequence[str]) -> dict[str, float | str]:
    """The same, with units left in the texts for those who know which are wanted.

    >>> quantities("--q", ["A=20 deg", "x=2*deg"])
    {'A': '20 deg', 'x': 0.03490658503988659}

    Raises:
        ModelError: A text is not of that form, or a name is given twice.
    """
    texts, found = laws(option, given, "0.5"), assignments(option, given)
    return {name: texts[name] if _is_quantity(texts[name]) else found[name] for name in found}


def seconds(text: str) -> float:
    """A time, "3s", "20 ms" or a number of seconds.

    Raises:
        typer.BadParameter: It is none.
    """
    try:
        return quantity(text, "time")
    except BielaError as error:
        raise typer.BadParameter(f"{text!r} is no time: {str(error).splitlines()[0]}") from error


def _number(shown: str, value: str) -> float:
    try:
        return quantity(value)
    except BielaError as error:
        reason = str(error).splitlines()[0]
    # a unit by itself is a factor here: 40*deg
    ws = bl.Workspace("values")
    deg = ws.symbol("deg")
    try:
        written = ws.parse(_DEGREES.sub(r"(\1*deg)", value))
        number = bl.substitute(written, {deg: math.pi / 180}).value
    except BielaError as error:
        raise ModelError(f"{shown}: {value} is not a number ({reason})") from error
    if number is None:
        raise ModelError(f"{shown}: {value} is not a number ({reason})")
    return float(number)


def _is_quantity(text: str) -> bool:
    """Whether it can be read with the units that it has."""
    try:
        quantity(text)
    except BielaError:
        return False
    return True


def laws(option: str, given: Sequence[str], example: str = "2*pi*t") -> dict[str, str]:
    """Texts by name.

    >>> laws("--drive", ["A.angle = 2*pi*t"])
    {'A.angle': '2*pi*t'}

    Raises:
        ModelError: A text is not of that form, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ModelError(f"{option} {text}: write name=value, such as {option} theta={example}")
        if name in found:
            raise ModelError(f"{option}: {name} is given twice")
        found[name] = value
    return found
