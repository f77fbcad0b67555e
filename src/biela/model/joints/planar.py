"""The planar joint: a block on a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Along, Parallel, Primitive
from biela.model.joints.readings import Angle, Offset
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Planar(Joint):
    """A block on a table: marker j stays in the xy plane of marker i and turns about its normal."""

    kind: ClassVar[str] = "planar"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("x", "m", Offset("x")),
        Coordinate("y", "m", Offset("y")),
        Coordinate("angle", "rad", Angle()),
    )

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """Two ways in the plane and a turn in it."""
        del number
        return [Translate("x", q[0]), Translate("y", q[1]), Rotate("z", q[2])]

    def conditions(self) -> Sequence[Primitive]:
        """Parallel planes, no gap between them: 3 rows."""
        return [Parallel(), Along("z")]
