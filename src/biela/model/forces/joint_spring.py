"""A spring, a damper and a motor along the coordinate of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces.characteristic import characteristic, check_pairs, linear
from biela.model.forces.force import Force
from biela.model.laws.law import Law
from biela.model.quantities.values import Value


@dataclass(frozen=True, kw_only=True)
class JointSpring(Force):
    """A spring, damper and motor along a coordinate: Q = -k (q - q0) - c q' + f(t).

    It acts on the coordinate over any number of turns; where that is a coordinate of the equations
    such a force stands alone in its row (García de Jalón & Bayo 1994, ch. 5).
    """

    coordinate: str = quantity("coordinate", "coordinate along which it acts, e.g. hinge.angle")
    stiffness: Value = quantity("any", "spring constant k", default=0.0)
    rest: Value = quantity("any", "value q0 of the coordinate without force", default=0.0)
    damping: Value = quantity("any", "damping constant c", default=0.0)
    force: Law | None = quantity("law", "force of a motor as a function of the time", default=None)
    characteristic: Sequence[tuple[Value, Value]] = quantity(
        "data", "pairs (deflection, opposing force) in place of a stiffness", default=()
    )

    #: Unit of the coordinate; dimensions of coordinate, force, stiffness and damping.
    unit: ClassVar[str] = ""
    dimensions: ClassVar[tuple[str, str, str, str]] = ("any", "any", "any", "any")

    def __post_init__(self) -> None:
        check_pairs(f"force {self.name}", self.characteristic)
        if len(self.characteristic) and self.stiffness != 0.0:
            raise ModelError(
                f"force {self.name} has a stiffness and a characteristic; give one of them"
            )

    def act(self, derivation: Derivation) -> None:
        """Push along the coordinate.

        Raises:
            ModelError: The coordinate is of another unit.
        """
        unit = derivation.unit(self.coordinate)
        if unit != self.unit:
            raise ModelError(
                f"force {self.name}: {self.kind} is for a coordinate in {self.unit}, and "
                f"{self.coordinate} is in {unit or 'a unit of its own'}"
            )
        of_q, of_force, of_stiffness, of_damping = self.dimensions
        force = derivation.workspace.atom(0)
        stiffness = derivation.number(self.stiffness, of_stiffness)
        if len(self.characteristic) or stiffness.value != 0:
            # the coordinate before its speed: where it is one, both are symbols
            deflection = derivation.coordinate(self.coordinate)
            deflection = deflection - derivation.number(self.rest, of_q)
            if len(self.characteristic):
                who = f"force {self.name}"
                curve, energy = characteristic(
                    derivation.workspace, who, self.name, self.characteristic, (of_q, of_force)
                )
                pull, stored = curve(deflection), energy(deflection)
            else:
                pull, stored = linear(stiffness, deflection)
            derivation.store(stored)
            force = force - pull
        rate = derivation.speed(self.coordinate)
        force = force - derivation.number(self.damping, of_damping) * rate
        if self.force is not None:
            force = force + derivation.law(self.force, of_force)
        derivation.push(rate, force)


@dataclass(frozen=True, kw_only=True)
class Torsional(JointSpring):
    """A torsional spring, damper and motor: a torque along the angle of a joint."""

    stiffness: Value = quantity("torsional stiffness", "spring constant k", default=0.0)
    rest: Value = quantity("angle", "angle without torque", default=0.0)
    damping: Value = quantity("torsional damping", "damping constant c", default=0.0)

    kind: ClassVar[str] = "torsional"
    unit: ClassVar[str] = "rad"
    dimensions: ClassVar[tuple[str, str, str, str]] = (
        "angle",
        "torque",
        "torsional stiffness",
        "torsional damping",
    )


@dataclass(frozen=True, kw_only=True)
class Axial(JointSpring):
    """A spring, damper and motor along the displacement of a joint."""

    stiffness: Value = quantity("stiffness", "spring constant k", default=0.0)
    rest: Value = quantity("length", "displacement without force", default=0.0)
    damping: Value = quantity("damping", "damping constant c", default=0.0)

    kind: ClassVar[str] = "axial"
    unit: ClassVar[str] = "m"
    dimensions: ClassVar[tuple[str, str, str, str]] = ("length", "force", "stiffness", "damping")
