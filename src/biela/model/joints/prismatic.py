"""The prismatic joint: a slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Translate
from biela.model.joints.primitives import Along, Parallel, Perpendicular, Primitive
from biela.model.joints.readings import Offset
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Prismatic(Joint):
    """A slide: marker j moves along the z axis of marker i and does not turn."""

    kind: ClassVar[str] = "prismatic"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("displacement", "m", Offset("z")),)
    shares: ClassVar[frozenset[str]] = frozenset({"axis"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A way along z."""
        del number
        return [Translate("z", q[0])]

    def conditions(self) -> Sequence[Primitive]:
        """One line, no turning about it: 5 rows."""
        return [Parallel(), Along("x"), Along("y"), Perpendicular("x", "y", alike=("x", "x"))]
