"""The spherical joint: a ball in a socket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Turn
from biela.model.joints.primitives import Coincide, Primitive
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Spherical(Joint):
    """A ball in a socket: the points of both markers are one; they turn as they like."""

    kind: ClassVar[str] = "spherical"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("rotation", "", manifold="rotation"),
    )
    shares: ClassVar[frozenset[str]] = frozenset({"point"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """Any rotation."""
        del q, number
        return [Turn(0)]

    def conditions(self) -> Sequence[Primitive]:
        """One point: 3 rows."""
        return [Coincide()]
