"""A driven coordinate of a point."""

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
class PositionDriver(Driver):
    """A point is driven along one axis of the ground: c · (r_j - r_i) = f(t).

    Without a marker ``i`` it counts from the origin of the ground.  (CD with a law: codes 3 to 5,
    ``posm``, of Peinado's thesis; its second derivative of the law is missing there.)
    """

    marker: Marker = quantity("marker", "marker whose point is driven")
    axis: str = quantity("text", "axis of the ground: x, y or z")
    law: Law = quantity("law", "its coordinate as a function of the time t", "length")
    i: Marker | None = quantity("marker", "marker to count from; else the origin", default=None)

    kind: ClassVar[str] = "position"

    def __post_init__(self) -> None:
        if self.axis not in ("x", "y", "z"):
            raise ModelError(f"driver {self.name}: the axis is x, y or z, not {self.axis!r}")

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """C · d - f = 0."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        k = "xyz".index(self.axis)
        root = derivation.space.root
        target = derivation.law(self.law, "length")
        value = pair.gap.components(root)[k] - target
        speed = pair.speed.components(root)[k] - derivation.space.time_rate(target)
        axis = root.vector(*(int(n == k) for n in range(3)))
        return [Row(self.axis, value, speed, axis, Vector(derivation.space, {}))]
