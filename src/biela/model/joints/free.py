"""The free joint: no joint at all, but coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Translate, Turn
from biela.model.joints.primitives import Primitive
from biela.model.joints.readings import Offset
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Free(Joint):
    """No constraint: it gives the six freedoms of a floating body names and a start."""

    kind: ClassVar[str] = "free"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("x", "m", Offset("x")),
        Coordinate("y", "m", Offset("y")),
        Coordinate("z", "m", Offset("z")),
        Coordinate("rotation", "", manifold="rotation"),
    )

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """Three ways, then any rotation."""
        del number
        return [*(Translate(axis, q[k]) for k, axis in enumerate("xyz")), Turn(3)]

    def conditions(self) -> Sequence[Primitive]:
        """None."""
        return []
