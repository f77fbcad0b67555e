"""Gears: a relation between the angles of two joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.element import Evaluate, quantity
from biela.model.joints.joint import Coupling
from biela.model.quantities.values import Number, Value


@dataclass(frozen=True, kw_only=True)
class Gear(Coupling):
    """A pair of gears: second - second0 = ratio (first - first0), measured from their carrier.

    Both angles are those of joints to the same carrier.  The ratio is negative for external teeth
    (-z₁/z₂) and positive for internal ones, belts and chains.
    """

    first: str = quantity("coordinate", "coordinate of the driving gear, e.g. shaft.angle")
    second: str = quantity("coordinate", "coordinate of the driven gear")
    ratio: Value = quantity("none", "turns of the second for a turn of the first")
    phase: Value = quantity("angle", "angle of the second where the first is at zero", default=0.0)

    kind: ClassVar[str] = "gear"

    def check(self, number: Evaluate) -> None:
        """Refuse gears of which one does not turn.

        Raises:
            ModelError: The ratio is zero.
        """
        super().check(number)
        self.check_not_zero(number, "ratio", "to hold an angle use a rotary driver")

    @property
    def couples(self) -> tuple[str, ...]:
        """The two angles."""
        return self.first, self.second

    def law(self, q: Sequence[Atom], number: Number) -> Atom:
        """Second - ratio first - phase = 0."""
        return q[1] - number(self.ratio, "none") * q[0] - number(self.phase, "angle")
