"""The distance joint: a rod without mass between two balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.errors import ModelError
from biela.model.element import Evaluate, quantity
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move
from biela.model.joints.primitives import Distance as Apart
from biela.model.joints.primitives import Primitive
from biela.model.joints.readings import Length
from biela.model.quantities.values import Number, Value


@dataclass(frozen=True, kw_only=True)
class Distance(Joint):
    """A rod without mass: the points of the markers stay a length apart.  It closes loops only."""

    length: Value = quantity("length", "distance between the two points; above zero")

    kind: ClassVar[str] = "distance"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("length", "m", Length()),)
    carries: ClassVar[bool] = False

    def check(self, number: Evaluate) -> None:
        """Refuse a rod without length.

        Raises:
            ModelError: The length is not above zero.
        """
        super().check(number)
        self.check_above_zero(number, "length", "for points that coincide use a spherical joint")

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """It carries no body."""
        del q, number
        raise ModelError(f"joint {self.name}: a distance joint cannot carry a body in a tree")

    def conditions(self) -> Sequence[Primitive]:
        """|d| = L: 1 row."""
        return [Apart(self.length)]
