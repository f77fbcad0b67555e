"""The universal joint: a cross between two forks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate
from biela.model.joints.primitives import Coincide, Perpendicular, Primitive
from biela.model.joints.readings import Angle
from biela.model.quantities.values import Number


@dataclass(frozen=True, kw_only=True)
class Universal(Joint):
    """A cross without mass: it turns in fork i about x_i and in fork j about y_j.

    The two axes of the cross stay perpendicular.  Both shafts are along z at zero angles.
    """

    kind: ClassVar[str] = "universal"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("first", "rad", Angle(("z", "y"), ("y", "y"))),
        Coordinate("second", "rad", Angle(("x", "z"), ("x", "x"))),
    )
    shares: ClassVar[frozenset[str]] = frozenset({"point"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A turn about x, then one about y."""
        del number
        return [Rotate("x", q[0]), Rotate("y", q[1])]

    def conditions(self) -> Sequence[Primitive]:
        """One point, two axes at a right angle: 4 rows."""
        return [Coincide(), Perpendicular("x", "y")]
