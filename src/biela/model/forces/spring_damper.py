"""A spring, a damper and an actuator in the line between two points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import Atom, maximum, minimum, select
from biela.errors import ModelError
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces.characteristic import characteristic, check_pairs, linear
from biela.model.forces.force import Force
from biela.model.joints.readings import Length
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Pair
from biela.model.quantities.values import Value
from biela.space import Vector

_ONLY = ("", "tension", "compression")


@dataclass(frozen=True, kw_only=True)
class SpringDamper(Force):
    """A spring, damper and actuator in the line between two points: pull = k (l - l0) + c l' - f.

    The force f of the actuator pushes the points apart.  A spring alone whose length l0 is the
    number 0 pulls by k times the gap, which is regular where the points meet; any other has no
    direction there.

    With ``only="tension"`` it is a cable: slack below its length, and never pushing; with
    "compression" a buffer, never pulling.  The damper acts while the spring is strained, so its
    force starts with a step; the event "<name>" is where the spring meets its length.
    """

    i: Marker = quantity("marker", "marker on one body")
    j: Marker = quantity("marker", "marker on the other body")
    stiffness: Value = quantity("stiffness", "spring constant k", default=0.0)
    length: Value = quantity("length", "length l0 without force", default=0.0)
    damping: Value = quantity("damping", "damping constant c", default=0.0)
    force: Law | None = quantity(
        "law", "push of an actuator as a function of the time t", "force", default=None
    )
    actuated: bool = quantity("flag", "the push has an input of the system added", default=False)
    only: str = quantity("text", 'acts in "tension" or "compression" only', default="")
    characteristic: Sequence[tuple[Value, Value]] = quantity(
        "data", "pairs (extension, pull) in place of a stiffness, joined by lines", default=()
    )

    kind: ClassVar[str] = "spring_damper"

    def __post_init__(self) -> None:
        who = f"force {self.name}"
        if self.only not in _ONLY:
            raise ModelError(
                f'{who}: only="{self.only}" is not known; use "tension" or "compression"'
            )
        check_pairs(who, self.characteristic)
        if len(self.characteristic) and self.stiffness != 0.0:
            raise ModelError(f"{who} has a stiffness and a characteristic; give one of them")
        if self.i.body == self.j.body:
            raise ModelError(f"{who}: both its ends are on body {self.i.body}; it does nothing")

    def act(self, derivation: Derivation) -> None:
        """Pull both points towards each other."""
        pair = derivation.pair(self.i, self.j)
        stiffness = derivation.number(self.stiffness, "stiffness")
        length = derivation.number(self.length, "length")
        damping = derivation.number(self.damping, "damping")
        pushes = self.force is not None or self.actuated
        plain = not (pushes or self.only or len(self.characteristic))
        if plain and length.value == 0 and damping.value == 0:
            along = pair.gap * stiffness
            derivation.store(stiffness * pair.gap.norm2() / 2)
        else:
            along = self._in_line(derivation, pair, stiffness, length, damping)
        nothing = Vector(derivation.space, {})
        derivation.apply(self.i, along, nothing)
        derivation.apply(self.j, -along, nothing)

    def _in_line(
        self, derivation: Derivation, pair: Pair, stiffness: Atom, length: Atom, damping: Atom
    ) -> Vector:
        distance = Length().value(pair)
        rate = pair.gap.dot(pair.speed) / distance
        extension = distance - length
        strained = extension
        if self.only == "tension":
            strained = maximum(extension, 0)
        elif self.only == "compression":
            strained = minimum(extension, 0)
        if len(self.characteristic):
            force, energy = characteristic(
                derivation.workspace,
                f"force {self.name}",
                self.name,
                self.characteristic,
                ("length", "force"),
            )
            pull, stored = force(strained), energy(strained)
            if self.only:
                # a cable is slack at its length, whatever the points say
                pull = select(_acts(self.only, extension), pull, 0)
        else:
            pull, stored = linear(stiffness, strained)
        derivation.store(stored)
        if damping.value != 0:
            pull = pull + damping * rate
            if self.only:
                limited = maximum(pull, 0) if self.only == "tension" else minimum(pull, 0)
                pull = select(_acts(self.only, extension), limited, 0)
        if self.only:
            derivation.watch(self.name, extension)
        if self.force is not None:
            pull = pull - derivation.law(self.force, "force")
        if self.actuated:
            pull = pull - derivation.input(self.name, "N")
        return pair.gap * (pull / distance)


def _acts(only: str, extension: Atom) -> Atom:
    return extension > 0 if only == "tension" else extension < 0
