"""The helical joint: a screw in a nut."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from biela.atoms import Atom
from biela.model.element import Evaluate, quantity
from biela.model.joints.joint import Coordinate, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.primitives import Along, Parallel, Primitive, Row
from biela.model.joints.readings import Angle, Offset
from biela.model.pair import Pair
from biela.model.quantities.values import Number, Value


@dataclass(frozen=True, kw_only=True)
class Helical(Joint):
    """A screw: marker j turns about the z axis of marker i and advances by the pitch each turn."""

    pitch: Value = quantity("length", "advance along z in one turn about z; negative: left-handed")

    kind: ClassVar[str] = "helical"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (Coordinate("angle", "rad", Angle()),)
    shares: ClassVar[frozenset[str]] = frozenset({"axis"})
    needs: ClassVar[tuple[str, ...]] = ("angle",)
    laws: ClassVar[tuple[str, ...]] = ("screw",)

    def check(self, number: Evaluate) -> None:
        """Refuse a screw that does not advance.

        Raises:
            ModelError: The pitch is zero.
        """
        super().check(number)
        self.check_not_zero(number, "pitch", "without an advance use a revolute joint")

    def moves(self, q: Sequence[Atom | float], number: Number) -> Sequence[Move]:
        """A turn about z, and the way along z that belongs to it."""
        lead = number(self.pitch, "length") / (2 * math.pi)
        return [Translate("z", lead * q[0]), Rotate("z", q[0])]

    def conditions(self) -> Sequence[Primitive]:
        """One line: 4 rows; the fifth is the law."""
        return [Parallel(), Along("x"), Along("y")]

    def law_rows(self, q: Mapping[str, Atom], pair: Pair) -> Sequence[Row]:
        """Z_i · d = pitch θ / 2π; the thread turns the body by what it pushes."""
        lead = pair.number(self.pitch, "length") / (2 * math.pi)
        row = Offset("z").held(pair, lead * q["angle"])
        return [replace(row, moment=pair.i.axis("z") * -lead)]
