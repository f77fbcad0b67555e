"""Any expression of coordinates, speeds, the time and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.quantities.units import expression, parameters_of
from biela.model.sensors.sensor import Sensor

_RATE = ".rate"


@dataclass(frozen=True, kw_only=True)
class ExpressionSensor(Sensor):
    """An expression as a text: "k*(knee.angle - 30 deg)^2/2 + c*knee.angle.rate*t".

    Coordinates are written "joint.coordinate", their rates "joint.coordinate.rate", the time t;
    other names are parameters of the model.
    """

    text: str = quantity("text", "the expression")
    unit: str = quantity("text", "unit of its value", default="")

    kind: ClassVar[str] = "expression"

    def read(self, derivation: Derivation) -> None:
        """The value of the expression."""
        names = {name: self._named(derivation, name) for name in parameters_of(self.text)}
        value = expression(self.text, names, "any")
        derivation.measure(self.name, derivation.workspace.atom(value), self.unit)

    @staticmethod
    def _named(derivation: Derivation, name: str) -> Atom:
        if name == "t":
            return derivation.time
        if "." not in name:
            return derivation.number(name, "any")
        if name.endswith(_RATE):
            return derivation.speed(name.removesuffix(_RATE))
        value, up_to_turns = derivation.reading(name)
        return derivation.coordinate(name) if up_to_turns else value
