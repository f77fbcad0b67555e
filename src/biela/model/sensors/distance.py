"""The distance between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.joints.readings import Length
from biela.model.markers import Marker
from biela.model.sensors.sensor import Sensor


@dataclass(frozen=True, kw_only=True)
class DistanceSensor(Sensor):
    """The distance "<name>" between the points of two markers, and its rate "<name>_rate".

    The rate is not defined where the points meet.
    """

    i: Marker = quantity("marker", "marker on one body")
    j: Marker = quantity("marker", "marker on the other body")
    rate: bool = quantity("flag", "measure the rate too", default=False)

    kind: ClassVar[str] = "distance"

    def read(self, derivation: Derivation) -> None:
        """|d|, and d · d' / |d|."""
        pair = derivation.pair(self.i, self.j)
        rate = Length().rate(pair) if self.rate else None
        derivation.measure(self.name, Length().value(pair), "m", rate=rate)
