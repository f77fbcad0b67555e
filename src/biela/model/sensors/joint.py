"""The coordinate of a joint, as an encoder reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.sensors.sensor import Sensor


@dataclass(frozen=True, kw_only=True)
class JointSensor(Sensor):
    """The coordinate of a joint, "<name>", over any number of turns, and its rate "<name>_rate"."""

    coordinate: str = quantity("coordinate", "coordinate that is measured, e.g. crank.angle")

    kind: ClassVar[str] = "joint"

    def read(self, derivation: Derivation) -> None:
        """Coordinate and rate."""
        value, turns = derivation.reading(self.coordinate)
        rate, unit = derivation.speed(self.coordinate), derivation.unit(self.coordinate)
        derivation.measure(self.name, value, unit, rate=rate, turns=turns)
