"""The symbols of the equations of a group: unknowns x, known numbers h and parameters p.

Unknowns are what the group gives, known numbers what an earlier group or a law has given, and
parameters have a row of values, one for each instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Poses
from biela.equations.groups.items import Item
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system_derivation import SystemDerivation

__all__ = ["Column", "GroupSymbols", "Known", "Unknown"]


@dataclass(frozen=True, eq=False)
class Unknown:
    """A coordinate of the group that its equations give.

    Attributes:
        symbol: In the equations.
        name: For people: "joint.coordinate" or "body.x" of the first instance.
        start: Its values at a position, for all instances.
        turns: Whether it is an angle, known up to whole turns.
    """

    symbol: Atom
    name: str
    start: Callable[[Poses], Floats]
    turns: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """A number that an earlier group, or a law, gives: a component of an item."""

    symbol: Atom
    item: Item
    component: int


@dataclass(frozen=True, eq=False)
class Column:
    """A parameter: its symbol, and its values in all instances."""

    symbol: Atom
    values: Floats


class GroupSymbols(SystemDerivation):
    """A derivation that keeps account of its symbols.

    Attributes:
        unknowns: In the order of x.
        known: In the order of h.
        columns: The parameters, in the order of p.
    """

    def __init__(self) -> None:
        super().__init__(SymbolicSystem("group"))
        self.unknowns: list[Unknown] = []
        self.known: list[Known] = []
        self.columns: list[Column] = []
        self._remembered: dict[object, list[Atom]] = {}
        self._count = 0

    def column(self, name: str, values: Floats) -> Atom:
        """A parameter; the number itself where it is 0, 1 or -1 in all instances."""
        values = np.asarray(values, dtype=float)
        first = float(values[0])
        if first in (0.0, 1.0, -1.0) and (values == first).all():
            return self.workspace.atom(first)
        (symbol,) = self.system.parameters([self.fresh(name)])
        self.columns.append(Column(symbol, values))
        return symbol

    def unknown(self, name: str, start: Callable[[Poses], Floats], *, turns: bool = False) -> Atom:
        """A coordinate of the group."""
        (symbol,) = self.system.coordinates([f"x{len(self.unknowns)}"])
        self.unknowns.append(Unknown(symbol, name, start, turns))
        return symbol

    def given(self, item: Item, component: int) -> Atom:
        """A component of an item that is known."""
        (symbol,) = self.system.coordinates([f"h{len(self.known)}"])
        self.known.append(Known(symbol, item, component))
        return symbol

    def fresh(self, name: str) -> str:
        """A name that nobody has used."""
        self._count += 1
        return f"{name}_{self._count}"

    def remembered(self, key: object, make: Callable[[], list[Atom]]) -> list[Atom]:
        """Atoms that are made once for a key."""
        if key not in self._remembered:
            self._remembered[key] = make()
        return self._remembered[key]
