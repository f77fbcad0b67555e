"""A driven point: it follows a path in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.drivers.driver import Driver
from biela.model.element import quantity
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.reference import pair_from_ground
from biela.space import Vector


@dataclass(frozen=True, kw_only=True)
class Path(Driver):
    """The point of a marker follows x(t), y(t), z(t): a_i · d = f_a(t) along each given axis.

    The axes are those of the marker ``i``, which may move, or of the ground.  An axis that is left
    out is free.  (The three CD rows of a hand that is led along a path, Peinado's thesis, example
    2.)
    """

    marker: Marker = quantity("marker", "marker whose point is led")
    x: Law | None = quantity(
        "law", "x as a function of the time t; free if left out", "length", default=None
    )
    y: Law | None = quantity(
        "law", "y as a function of the time t; free if left out", "length", default=None
    )
    z: Law | None = quantity(
        "law", "z as a function of the time t; free if left out", "length", default=None
    )
    i: Marker | None = quantity("marker", "marker to see it from; else the ground", default=None)

    kind: ClassVar[str] = "path"

    def __post_init__(self) -> None:
        if not self._laws():
            raise ModelError(f"driver {self.name}: a path needs at least one of x, y and z")

    def _laws(self) -> dict[str, Law]:
        laws = {"x": self.x, "y": self.y, "z": self.z}
        return {axis: law for axis, law in laws.items() if law is not None}

    @property
    def removes(self) -> int:
        """One for each axis that is given."""
        return len(self._laws())

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """A_i · d - f_a = 0 for each axis."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        gap = pair.gap.components(pair.i.base)
        speed = pair.relative_speed.components(pair.i.base)
        rows = []
        for letter, law in self._laws().items():
            k = "xyz".index(letter)
            target = derivation.law(law, "length")
            rate = derivation.space.time_rate(target)
            nothing = Vector(derivation.space, {})
            rows.append(Row(letter, gap[k] - target, speed[k] - rate, pair.i.axis(letter), nothing))
        return rows
