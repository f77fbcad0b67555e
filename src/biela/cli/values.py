"""Values and laws given on the command line, as ``name=value``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import biela as bl
from biela.errors import BielaError, ModelError

#: A number with its unit behind it, 40deg: read as 40*deg.
_DEGREES: Final = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[ ]*deg\b")


def assignments(option: str, given: Sequence[str]) -> dict[str, float]:
    """Values by name; a value is a number or an expression of numbers, ``pi`` and ``deg``.

    All values are in SI units, angles in radians; ``deg`` is pi/180.

    >>> assignments("--q", ["theta=pi/4", "x=-0.2", "phi=90*deg", "psi=90deg"])
    {'theta': 0.7853981633974483, 'x': -0.2, 'phi': 1.5707963267948966, 'psi': 1.5707963267948966}

    Raises:
        ModelError: A text is not of that form, or a name is given twice.
    """
    ws = bl.Workspace("values")
    deg = ws.symbol("deg")
    found: dict[str, float] = {}
    for name, value in laws(option, given, "0.5").items():
        text = f"{name}={value}"
        try:
            written = ws.parse(_DEGREES.sub(r"(\1*deg)", value))
            number = bl.substitute(written, {deg: math.pi / 180}).value
        except BielaError as error:
            reason = str(error).splitlines()[0]
            raise ModelError(f"{option} {text}: {value} is not a number ({reason})") from error
        if number is None:
            raise ModelError(f"{option} {text}: {value} is not a number")
        found[name] = float(number)
    return found


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
