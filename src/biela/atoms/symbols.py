"""Symbols and their kinds.

The kind says how often a symbol changes: a parameter stays for a whole run, time moves once a
step, coordinates and their rates move at every evaluation.  Code generation uses it to compute
each atom as seldom as possible.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from biela.errors import DomainError
from biela.given_files import text_of


class Kind(IntEnum):
    """What a symbol stands for; the order is how often it changes, slowest first."""

    PARAMETER = 1
    TIME = 2
    COORDINATE = 3
    VELOCITY = 4
    ACCELERATION = 5
    INPUT = 6
    UNKNOWN = 7  # joint unknowns and Lagrange multipliers
    FREE = 8  # anything else


@dataclass(slots=True)
class Symbol:
    """The record of a symbol: its name, its kind and, if it has one, its rate.

    ``rate`` is the reference of the time derivative: the velocity of a coordinate, or an expression
    of other symbols; the acceleration of a velocity.  ``rate_of`` is the way back from a symbol
    that is a rate; 0 where there is none.
    """

    name: str
    kind: Kind
    rate: int = 0
    rate_of: int = 0


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def checked_name(name: str) -> str:
    """``name`` if every target language can spell it.

    Raises:
        DomainError: If it is not an ASCII identifier.
    """
    if not _NAME.match(text_of(name, DomainError, "the name of a symbol")):
        raise DomainError(
            f"{name!r} cannot name a symbol: use letters, digits and _, not starting with a digit"
        )
    return name
