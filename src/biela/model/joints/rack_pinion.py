"""The rack on a pinion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.element import Evaluate, quantity
from biela.model.joints.joint import Coupling
from biela.model.quantities.values import Number, Value


@dataclass(frozen=True, kw_only=True)
class RackPinion(Coupling):
    """A rack on a pinion: way of the rack = radius · angle of the pinion + offset."""

    pinion: str = quantity("coordinate", "coordinate of the pinion, e.g. wheel.angle")
    rack: str = quantity("coordinate", "coordinate of the rack, e.g. slide.displacement")
    radius: Value = quantity("length", "pitch radius; negative: the rack goes the other way")
    offset: Value = quantity("length", "way of the rack at angle zero", default=0.0)

    kind: ClassVar[str] = "rack_pinion"

    def check(self, number: Evaluate) -> None:
        """Refuse a pinion without size.

        Raises:
            ModelError: The radius is zero.
        """
        super().check(number)
        self.check_not_zero(number, "radius", "to hold the rack use a translational driver")

    @property
    def couples(self) -> tuple[str, ...]:
        """The angle and the way."""
        return self.pinion, self.rack

    def law(self, q: Sequence[Atom], number: Number) -> Atom:
        """Way - radius angle - offset = 0."""
        return q[1] - number(self.radius, "length") * q[0] - number(self.offset, "length")
