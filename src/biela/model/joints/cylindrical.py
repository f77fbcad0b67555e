"""The cylindrical joint: a shaft that turns and slides in a bush."""

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
class Cylindrical(Joint):
    """A shaft in a bush: marker j turns about the z axis of marker i and moves along it."""

    kind: ClassVar[str] = "cylindrical"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (
        Coordinate("displacement", "m", Offset("z")),
        Coordinate("angle", "rad", Angle()),
    )
    shares: ClassVar[frozenset[str]] = frozenset({"axis"})

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A way along z and a turn about it."""
        del number
        return [Translate("z", q[0]), Rotate("z", q[1])]

    def conditions(self) -> Sequence[Primitive]:
        """One line: 4 rows."""
        return [Parallel(), Along("x"), Along("y")]
