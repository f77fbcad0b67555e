"""Where the bodies of a group are, as expressions of what is known: what a closed form gives.

Points and directions of a body are asked for by rows of numbers in its frame.  Those that the
geometry gives by itself (the pin of a dyad) are answered as they are, all others through the pose
of the body.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import CastMarker
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.planar_view import PlanarView
from biela.equations.groups.derivation import GroupDerivation
from biela.model.pair import Place

__all__ = ["Found", "PlanarFound"]


class Found(ABC):
    """Points and directions of the bodies of a group, in the ground."""

    derivation: GroupDerivation

    @abstractmethod
    def point(self, slot: int, local: Floats) -> list[Atom]:
        """A point of a body, (n, 3) in its frame: three components."""

    @abstractmethod
    def direction(self, slot: int, local: Floats) -> list[Atom]:
        """A direction of a body, (n, 3) in its frame: three components."""

    def place(self, element: int, number: int) -> Place:
        """A marker."""
        derivation = self.derivation
        marker: CastMarker = derivation.cast.elements[element].markers[number]
        if marker.slot < 0:
            return derivation.marker(element, number)
        frames, root = marker.frames, derivation.system.base
        x, y, z = self.point(marker.slot, frames.place)
        columns = [self.direction(marker.slot, frames.axes[:, :, k]) for k in range(3)]
        base = root.by_matrix(derivation.fresh("found"), list(zip(*columns, strict=True)))
        point = derivation.system.origin.offset(derivation.fresh("found"), root.vector(x, y, z))
        return Place(point, base)


@dataclass(eq=False)
class PlanarFound(Found):
    """Bodies in a plane.

    Attributes:
        view: The markers.
        points: Points that are found by themselves: body, where in it, and where in the ground.
        turns: How bodies are turned; made when somebody asks.
    """

    view: PlanarView
    points: list[tuple[int, Arrow, Arrow]] = field(default_factory=list)
    turns: dict[int, Callable[[], Arrow]] = field(default_factory=dict)
    _made: dict[int, Arrow] = field(default_factory=dict)

    @property
    def derivation(self) -> GroupDerivation:  # type: ignore[override]
        """The equations of the group."""
        return self.view.derivation

    def turn(self, slot: int) -> Arrow:
        """How a body is turned."""
        if slot not in self._made:
            self._made[slot] = self.turns[slot]()
        return self._made[slot]

    def point(self, slot: int, local: Floats) -> list[Atom]:
        """In its plane; the component across it is zero."""
        a, b = self.view.axes
        wanted = Arrow(local[:, a], local[:, b])
        mine = [(at, point) for s, at, point in self.points if s == slot]
        for at, point in mine:
            if at.same(wanted):
                return self._three(point)
        at, point = mine[0]
        way = self.view.column("to", wanted - at)
        return self._three(point + way.turned(self.turn(slot)))

    def direction(self, slot: int, local: Floats) -> list[Atom]:
        """A direction turns with its body; what it has across the plane stays."""
        a, b = self.view.axes
        across = self.derivation.column("across", local[:, self.view.normal])
        rows = Arrow(local[:, a], local[:, b])
        if not np.any(rows.x) and not np.any(rows.y):
            zero = self.derivation.workspace.atom(0)
            return self._three(Arrow(zero, zero), across)
        return self._three(self.view.column("way", rows).turned(self.turn(slot)), across)

    def _three(self, arrow: Arrow, across: Atom | None = None) -> list[Atom]:
        a, b = self.view.axes
        zero = self.derivation.workspace.atom(0)
        found = [zero if across is None else across] * 3
        found[a], found[b] = arrow.x, arrow.y
        return found
