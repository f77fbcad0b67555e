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
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.planar_view import PlanarView
from biela.equations.groups.derivation import GroupDerivation
from biela.space import position

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

    def marker_point(self, element: int, number: int) -> list[Atom]:
        """The point of a marker on any body."""
        derivation = self.derivation
        marker = derivation.cast.elements[element].markers[number]
        if marker.slot >= 0:
            return self.point(marker.slot, marker.frames.place)
        point = derivation.marker(element, number).point
        return list(position(derivation.system.origin, point).components(derivation.system.base))

    def marker_axis(self, element: int, number: int, letter: str) -> list[Atom]:
        """An axis of a marker on any body: "x", "y", "z", or "-x" …"""
        derivation = self.derivation
        marker = derivation.cast.elements[element].markers[number]
        if marker.slot >= 0:
            rows = marker.frames.axes[:, :, "xyz".index(letter[-1])]
            return self.direction(marker.slot, -rows if letter[0] == "-" else rows)
        axis = derivation.marker(element, number).axis(letter)
        return list(axis.components(derivation.system.base))


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

    def __post_init__(self) -> None:
        self.derivation = self.view.derivation

    def turn(self, slot: int) -> Arrow:
        """How a body is turned."""
        if slot not in self._made:
            self._made[slot] = self.turns[slot]()
        return self._made[slot]

    def point(self, slot: int, local: Floats) -> list[Atom]:
        """A point that is found, or one that is reached from it."""
        wanted = self.view.flat(slot, local)
        mine = [(at, point) for s, at, point in self.points if s == slot]
        for at, point in mine:
            if at.same(wanted):
                return self.view.raised_point(slot, local, point)
        at, point = mine[0]
        way = self.view.column("to", wanted - at).turned(self.turn(slot))
        return self.view.raised_point(slot, local, point + way)

    def direction(self, slot: int, local: Floats) -> list[Atom]:
        """A direction turns with its body; what it has across the plane stays."""
        rows = self.view.flat(slot, local)
        zero = self.derivation.workspace.atom(0)
        if not np.any(rows.x) and not np.any(rows.y):
            return self.view.raised_direction(slot, local, Arrow(zero, zero))
        turned = self.view.column("way", rows).turned(self.turn(slot))
        return self.view.raised_direction(slot, local, turned)
