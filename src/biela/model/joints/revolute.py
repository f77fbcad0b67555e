"""The revolute joint: a hinge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate
from biela.model.joints.primitives import Coincide, Parallel, Primitive
from biela.model.joints.readings import Angle
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """A hinge: the points of both markers are one, and they turn about their common z axis."""

    kind: ClassVar[str] = "revolute"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("angle", "rad", Angle()),)
    shares: ClassVar[frozenset[str]] = frozenset({"point", "axis"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A turn about z."""
        del number
        return [Rotate("z", q[0])]

    def conditions(self) -> Sequence[Primitive]:
        """One point, one axis: 5 rows."""
        return [Coincide(), Parallel()]
