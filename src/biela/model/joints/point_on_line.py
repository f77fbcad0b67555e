"""A point that stays on a line: a ball in a straight groove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Translate, Turn
from biela.model.joints.primitives import Along, Primitive
from biela.model.joints.readings import Offset
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class PointOnLine(Joint):
    """A ball in a groove: the point of marker j stays on the z axis of marker i."""

    kind: ClassVar[str] = "point_on_line"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("displacement", "m", Offset("z")),
        Coordinate("rotation", "", manifold="rotation"),
    )

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A way along z, then any rotation."""
        del number
        return [Translate("z", q[0]), Turn(1)]

    def conditions(self) -> Sequence[Primitive]:
        """No gap across the line: 2 rows."""
        return [Along("x"), Along("y")]
