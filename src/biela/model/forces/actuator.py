"""An actuator: a force along the coordinate of a joint, given from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import maximum, minimum
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import Evaluate, quantity
from biela.model.forces.force import Force
from biela.model.laws.law import Law
from biela.model.quantities.conjugate import force_along
from biela.model.quantities.units import parameters_of
from biela.model.quantities.values import Value


@dataclass(frozen=True, kw_only=True)
class Actuator(Force):
    """A torque or force along a coordinate: Q = gear u, with u an input of the system.

    The input is called like the actuator.  With a law there is no input, and u is that law.  A
    motor gives at most ``limit``: u is cut off beyond ±limit.
    """

    coordinate: str = quantity("coordinate", "coordinate along which it acts, e.g. elbow.angle")
    value: Value = quantity("any", "value of the input if nobody gives another", default=0.0)
    law: Law | None = quantity(
        "law", "u as a function of the time, in place of the input", default=None
    )
    gear: Value = quantity("any", "force along the coordinate for one unit of u", default=1.0)
    limit: Value | None = quantity("any", "largest size of u", default=None)

    kind: ClassVar[str] = "actuator"

    def __post_init__(self) -> None:
        if self.law is not None and self.value != 0.0:
            raise ModelError(f"actuator {self.name} has a value and a law; give one of them")

    def check(self, number: Evaluate) -> None:
        """Refuse a limit below zero, and a value that is no number.

        Raises:
            ModelError: The largest size of the input is negative, or its value depends on
                parameters, which may change when it is set already.
        """
        named = sorted(parameters_of(self.value))
        if named:
            raise ModelError(
                f"actuator {self.name}: its value {self.value!r} depends on the parameter "
                f"{named[0]}, and an input is a number; give a law, or value=1 and a gear"
            )
        self.check_not_negative(number, "limit")

    def act(self, derivation: Derivation) -> None:
        """Push along the coordinate."""
        dimension, unit = force_along(derivation.unit(self.coordinate))
        # with a gear the input is what the user says it is: a current, a pressure
        plain = self.gear == 1.0
        dimension, unit = (dimension, unit) if plain else ("any", "")
        if self.law is not None:
            u = derivation.law(self.law, dimension)
        else:
            u = derivation.input(self.name, unit, self.value, dimension)
        if self.limit is not None:
            limit = derivation.number(self.limit, dimension)
            u = maximum(-limit, minimum(limit, u))
        gear = derivation.number(self.gear, "any")
        derivation.push(derivation.speed(self.coordinate), gear * u)
