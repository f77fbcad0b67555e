"""Markers of a planar group as arrows: in their bodies, at a position, and as atoms where known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import CastMarker, Owner, Poses
from biela.equations.groups.closed_forms.arrows import Arrow, column_arrow
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.reference_point import NORMAL
from biela.space import position

__all__ = ["PlanarView"]


@dataclass(frozen=True, eq=False)
class PlanarView:
    """What closed forms ask of the markers of a group; a marker is (element, number)."""

    derivation: GroupDerivation

    @cached_property
    def axes(self) -> tuple[int, int]:
        """The two axes of the plane, in the order that turns to the left about its normal."""
        assert self.derivation.plane is not None
        k = "xyz".index(NORMAL[self.derivation.plane])
        return (k + 1) % 3, (k + 2) % 3

    @property
    def drawn(self) -> bool:
        """Whether left is left where the plane is drawn, its first letter to the right.

        The plane "xz" is looked at against y, from behind.
        """
        a, b = self.axes
        return self.derivation.plane == "xyz"[a] + "xyz"[b]

    @property
    def normal(self) -> int:
        """The number of the axis across the plane."""
        assert self.derivation.plane is not None
        return "xyz".index(NORMAL[self.derivation.plane])

    def marker(self, key: tuple[int, int]) -> CastMarker:
        """A marker as it is cast."""
        return self.derivation.cast.elements[key[0]].markers[key[1]]

    # ------------------------------------------------------------- in bodies: numbers

    def local(self, key: tuple[int, int]) -> Arrow:
        """Its point in the frame of its body."""
        a, b = self.axes
        place = self.marker(key).frames.place
        return Arrow(place[:, a], place[:, b])

    def local_axis(self, key: tuple[int, int], axis: int = 2) -> Arrow:
        """One of its axes in the frame of its body."""
        a, b = self.axes
        rows = self.marker(key).frames.axes[:, :, axis]
        return Arrow(rows[:, a], rows[:, b])

    def up(self, key: tuple[int, int]) -> Floats:
        """1 where the z axis of a marker of a hinge points along the normal, -1 where against."""
        return np.sign(self.marker(key).frames.axes[:, self.normal, 2])

    def at(self, key: tuple[int, int], poses: Poses) -> Arrow:
        """Its point at a position."""
        a, b = self.axes
        place, _ = poses.of(self.marker(key).frames)
        return Arrow(place[:, a], place[:, b])

    def axis_at(self, key: tuple[int, int], poses: Poses, axis: int = 2) -> Arrow:
        """One of its axes at a position."""
        a, b = self.axes
        _, R = poses.of(self.marker(key).frames)
        return Arrow(R[:, a, axis], R[:, b, axis])

    def flat(self, slot: int, rows: Floats) -> Arrow:
        """What a vector in the frame of a body has in the plane."""
        del slot
        a, b = self.axes
        return Arrow(rows[:, a], rows[:, b])

    # ---------------------------------------------------------------- in space: atoms

    def raised_point(self, slot: int, rows: Floats, point: Arrow) -> list[Atom]:
        """A point of a body with three components, given where it is in the plane."""
        del slot, rows
        return self._three(point, self.derivation.workspace.atom(0))

    def raised_direction(self, slot: int, rows: Floats, way: Arrow) -> list[Atom]:
        """A direction of a body with three components, given what it is in the plane."""
        del slot
        return self._three(way, self.derivation.column("across", rows[:, self.normal]))

    def _three(self, arrow: Arrow, across: Atom) -> list[Atom]:
        a, b = self.axes
        found = [across] * 3
        found[a], found[b] = arrow.x, arrow.y
        return found

    # ---------------------------------------------------------------- known: atoms

    def fixed(self, key: tuple[int, int]) -> bool:
        """Whether a marker does not move against the plane."""
        return self.marker(key).slot == Owner.GROUND

    def known(self, key: tuple[int, int]) -> Arrow:
        """The point of a marker on a known body or the ground."""
        derivation = self.derivation
        place = derivation.marker(*key)
        found = position(derivation.system.origin, place.point).components(derivation.system.base)
        a, b = self.axes
        return Arrow(found[a], found[b])

    def known_axis(self, key: tuple[int, int], axis: str = "z") -> Arrow:
        """An axis of a marker on a known body or the ground."""
        derivation = self.derivation
        found = derivation.marker(*key).axis(axis).components(derivation.system.base)
        a, b = self.axes
        return Arrow(found[a], found[b])

    def column(self, name: str, rows: Arrow) -> Arrow:
        """Numbers as parameters."""
        return column_arrow(self.derivation, name, rows)
