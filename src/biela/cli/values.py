"""Values given on the command line, as ``name=value``."""

from __future__ import annotations

from collections.abc import Sequence

import biela as bl
from biela.errors import BielaError, ModelError


def assignments(option: str, given: Sequence[str]) -> dict[str, float]:
    """Values by name; a value is a number or an expression of numbers.

    >>> assignments("--q", ["theta=pi/4", "x=-0.2"])
    {'theta': 0.7853981633974483, 'x': -0.2}

    Raises:
        ModelError: A text is not of that form, or a name is given twice.
    """
    ws = bl.Workspace("values")
    found: dict[str, float] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ModelError(f"{option} {text}: write name=value, such as {option} theta=0.5")
        if name in found:
            raise ModelError(f"{option}: {name} is given twice")
        try:
            number = ws.parse(value).value
        except BielaError as error:
            reason = str(error).splitlines()[0]
            raise ModelError(f"{option} {text}: {value} is not a number ({reason})") from error
        if number is None:
            raise ModelError(f"{option} {text}: {value} is not a number")
        found[name] = float(number)
    return found
