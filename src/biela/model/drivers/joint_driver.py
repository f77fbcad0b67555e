"""Drivers of the coordinate of a joint: motors."""

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


@dataclass(frozen=True, kw_only=True)
class JointDriver(Driver):
    """The coordinate of a joint follows a law: q = f(t).

    Where the joint carries a body the row is q - f.  An angle that is read from the markers is
    driven by the sine of the difference, s cos f - c sin f, whose slope is 1 at the solution for
    every f: it goes through any number of turns (see `biela.model.joints.readings`).  The
    multiplier is the torque or force of the motor.
    """

    coordinate: str = quantity("coordinate", "coordinate that is driven, e.g. crank.angle")
    law: Law = quantity("law", "its value as a function of the time t")

    #: Unit and dimension of the coordinates that it drives, and what to use for others.
    unit: ClassVar[str] = ""
    dimension: ClassVar[str] = ""
    other: ClassVar[str] = ""

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """Q - f(t) = 0.

        Raises:
            ModelError: The coordinate is of the other kind.
        """
        unit = derivation.unit(self.coordinate)
        if unit != self.unit:
            raise ModelError(
                f"driver {self.name}: a {self.kind} driver is for {self.dimension}s ({self.unit}), "
                f"and {self.coordinate} is in {unit or 'a unit of its own'}; use {self.other}"
            )
        target = derivation.law(self.law, self.dimension)
        return [derivation.driven(self.coordinate, target, derivation.space.time_rate(target))]


@dataclass(frozen=True, kw_only=True)
class Rotary(JointDriver):
    """A motor that turns: the angle of a joint follows a law, over any number of turns."""

    kind: ClassVar[str] = "rotary"
    unit: ClassVar[str] = "rad"
    dimension: ClassVar[str] = "angle"
    other: ClassVar[str] = 'the kind "translational"'


@dataclass(frozen=True, kw_only=True)
class Translational(JointDriver):
    """A motor that shifts: the displacement or length of a joint follows a law."""

    kind: ClassVar[str] = "translational"
    unit: ClassVar[str] = "m"
    dimension: ClassVar[str] = "length"
    other: ClassVar[str] = 'the kind "rotary"'
