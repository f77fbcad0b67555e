"""Where a point is and how fast it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.markers import Marker
from biela.model.reference import pair_from_ground
from biela.model.sensors.sensor import Sensor


@dataclass(frozen=True, kw_only=True)
class PointSensor(Sensor):
    """The point of a marker: "<name>.x", ".y", ".z", and its velocity ".vx", ".vy", ".vz".

    Both are seen from the frame of marker ``i``, which may move, or from the ground.
    """

    marker: Marker = quantity("marker", "marker whose point is measured")
    i: Marker | None = quantity("marker", "marker to see it from; else the ground", default=None)
    velocity: bool = quantity("flag", "measure the velocity too", default=True)

    kind: ClassVar[str] = "point"

    def read(self, derivation: Derivation) -> None:
        """Position and velocity, along the axes of i."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        for axis, value in zip("xyz", pair.gap.components(pair.i.base), strict=True):
            derivation.measure(f"{self.name}.{axis}", value, "m")
        if not self.velocity:
            return
        for axis, value in zip("xyz", pair.relative_speed.components(pair.i.base), strict=True):
            derivation.measure(f"{self.name}.v{axis}", value, "m/s")
