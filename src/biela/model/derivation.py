"""What a formulation offers to the elements of a model while its equations are derived.

Joints, drivers, forces and sensors ask for markers, coordinates and numbers as expressions, and say
what they hold, push and measure.  They never see which coordinates the formulation has chosen.
"""

from __future__ import annotations

from typing import Protocol

from biela.atoms import Atom, Workspace
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.values import Value
from biela.space import Space, Vector


class Derivation(Protocol):
    """Equations in the making."""

    @property
    def space(self) -> Space:
        """Where points and bases live."""

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""

    @property
    def time(self) -> Atom:
        """The time."""

    # ---------------------------------------------------------------- what there is

    def number(self, value: Value, dimension: str) -> Atom:
        """A value: a constant, or an expression of the parameters of the model."""

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time."""

    def place(self, marker: Marker) -> Place:
        """A marker: its point and its base."""

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers."""

    def coordinate(self, name: str) -> Atom:
        """The coordinate "joint.coordinate" of a joint, over any number of turns."""

    def speed(self, name: str) -> Atom:
        """The time derivative of such a coordinate."""

    def unit(self, name: str) -> str:
        """The unit of such a coordinate: "rad", "m", or none."""

    def reading(self, name: str) -> tuple[Atom, bool]:
        """Such a coordinate as it can be read, and whether that is up to whole turns only.

        Unlike `coordinate`, this adds none to a joint that closes a loop.
        """

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row coordinate = target, in the form that is best for it; ``rate`` is that of target.

        A joint that closes a loop gets no coordinate for it: see `Reading.row`.
        """

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Force and moment that a joint exerts on the body of its marker j, at that marker.

        They are expressions of the multipliers of the joint.
        """

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """A quantity given from outside at every instant, with a value if nobody gives another."""

    # ------------------------------------------------------------ what elements say

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its body."""

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed: the power is force times rate, and Q gets force ∂rate/∂v."""

    def store(self, energy: Atom) -> None:
        """Potential energy of what pushes."""

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """An output; with ``turns`` it is an angle up to whole turns, to be counted by its rate."""

    def watch(self, name: str, expression: Atom) -> None:
        """An event: the expression changes its sign."""
