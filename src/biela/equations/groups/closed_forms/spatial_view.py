"""Vectors of space as three atoms, and what closed forms ask of the markers of a spatial group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats, clean
from biela.equations.groups.cast import CastMarker
from biela.equations.groups.closed_forms.dyad import Key
from biela.equations.groups.closed_forms.found import Found
from biela.equations.groups.derivation import GroupDerivation
from biela.singular_values import pinv
from biela.space import position

__all__ = ["SpatialFound", "SpatialView", "Three", "combined", "cross", "dot", "minus", "plus"]

#: Three components along the axes of the ground.
Three: TypeAlias = list[Any]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Sequence[Any], b: Sequence[Any]) -> Three:
    """The vector product."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def plus(a: Sequence[Any], b: Sequence[Any]) -> Three:
    """The sum."""
    return [x + y for x, y in zip(a, b, strict=True)]


def minus(a: Sequence[Any], b: Sequence[Any]) -> Three:
    """The difference."""
    return [x - y for x, y in zip(a, b, strict=True)]


def combined(factors: Sequence[Any], vectors: Sequence[Sequence[Any]]) -> Three:
    """The sum of vectors with factors."""
    found = [factors[0] * x for x in vectors[0]]
    for factor, vector in zip(factors[1:], vectors[1:], strict=True):
        found = [a + factor * b for a, b in zip(found, vector, strict=True)]
    return found


@dataclass(frozen=True, eq=False)
class SpatialView:
    """Markers of a spatial group; a marker is (element, number)."""

    derivation: GroupDerivation

    def marker(self, key: Key) -> CastMarker:
        """A marker as it is cast."""
        return self.derivation.cast.elements[key[0]].markers[key[1]]

    def local(self, key: Key) -> Floats:
        """(n, 3) its point in the frame of its body."""
        return self.marker(key).frames.place

    def local_axis(self, key: Key, axis: int = 2) -> Floats:
        """(n, 3) one of its axes in the frame of its body."""
        found: Floats = self.marker(key).frames.axes[:, :, axis]
        return found

    def known(self, key: Key) -> Three:
        """The point of a marker on a known body or the ground."""
        derivation = self.derivation
        place = derivation.marker(*key)
        return list(
            position(derivation.system.origin, place.point).components(derivation.system.base)
        )

    def known_axes(self, key: Key) -> list[Three]:
        """The three axes of a marker on a known body or the ground."""
        derivation = self.derivation
        place, root = derivation.marker(*key), derivation.system.base
        return [list(place.axis(axis).components(root)) for axis in "xyz"]

    def columns(self, name: str, rows: Floats) -> list[Atom]:
        """(n, 3) numbers as parameters."""
        rows = clean(rows)
        return [self.derivation.column(f"{name}{c}", rows[:, k]) for k, c in enumerate("xyz")]


@dataclass(eq=False)
class SpatialFound(Found):
    """Bodies in space.

    Attributes:
        derivation: The equations of the group.
        points: Points of bodies: body, where in it (n, 3), and where in the ground.
        bases: Directions of bodies, (n, 3) in them and in the ground; three that are independent,
            or for a rod one, if nobody asks for others.
    """

    derivation: GroupDerivation
    points: list[tuple[int, Floats, Three]] = field(default_factory=list)
    bases: dict[int, list[tuple[Floats, Three]]] = field(default_factory=dict)

    def point(self, slot: int, local: Floats) -> list[Atom]:
        """A point: one that is found, or one that is reached from it.

        Raises:
            LookupError: The body is a rod, and the point is beside it.
        """
        mine = [(at, point) for s, at, point in self.points if s == slot]
        if not mine:
            raise LookupError
        for at, point in mine:
            if np.abs(at - local).max() <= 1e-13 * (1 + np.abs(local).max()):
                return point
        at, point = mine[0]
        return plus(point, self.direction(slot, local - at))

    def direction(self, slot: int, local: Floats) -> list[Atom]:
        """A direction as a sum of those that are found.

        Raises:
            LookupError: They are too few.
        """
        base = self.bases[slot]
        B = np.stack([rows for rows, _ in base], axis=2)
        factors = np.einsum("nij,nj->ni", pinv(B), local)
        missed = np.abs(np.einsum("nij,nj->ni", B, factors) - local).max()
        if missed > 1e-12 * (1 + np.abs(local).max()):
            raise LookupError
        kept = [
            (self.derivation.column("part", clean(factors[:, k])), base[k][1])
            for k in range(len(base))
            if np.abs(factors[:, k]).max() > 1e-15
        ]
        if not kept:
            zero = self.derivation.workspace.atom(0)
            return [zero, zero, zero]
        return combined([f for f, _ in kept], [v for _, v in kept])
