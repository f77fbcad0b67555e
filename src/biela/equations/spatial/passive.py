"""What the forces of a model do along the velocities of a tree: springs, friction, drag, laws.

A force along a coordinate pushes its velocity.  One between markers is a wrench on links, and
Hᵀ ρ F along the velocities.  In dynamics functions actuators are left out: the joint forces τ stand
in their place.  In a motion they act, by the inputs of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from biela.atoms import Atom, diff
from biela.equations.spatial.link_space import LinkSpace
from biela.equations.spatial.newton_euler import gathered
from biela.equations.spatial.tree_derivation import TreeDerivation
from biela.equations.spatial.turning import Scalar, cross, plus
from biela.errors import ModelError
from biela.model.element import Element
from biela.model.forces.actuator import Actuator
from biela.model.joints import Coordinate, Joint
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.units import quantity
from biela.model.quantities.values import Value
from biela.space import Space, Vector

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


@dataclass(frozen=True, eq=False)
class Input:
    """A quantity that a force takes from outside."""

    name: str
    symbol: Atom
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class Measured:
    """What a sensor measures; ``rate`` names the rate of an angle up to whole turns."""

    name: str
    value: Atom
    unit: str
    rate: str = ""


class NotInTreeError(ModelError):
    """A force asks for what a tree does not know before the accelerations."""


def passive_forces(tree: SpatialTree, *, inputs: bool = False) -> Acting:
    """All forces of the model, as they push; with ``inputs`` those of actuators are among them."""
    acting = Acting(tree, inputs=inputs)
    for force in tree.model.forces.values():
        if isinstance(force, Actuator) and not inputs:
            continue
        acting.element = force
        try:
            force.act(acting)
        except NotInTreeError as error:
            acting.refused.append(str(error))
    return acting


def measured(tree: SpatialTree) -> list[Measured]:
    """What the sensors of the model measure, but for reactions."""
    acting = Acting(tree)
    for sensor in tree.model.sensors.values():
        acting.element = sensor
        if not sensor.needs_reactions:
            sensor.read(acting)
    return acting.measured


class Acting(TreeDerivation):
    """What forces ask for and say (`biela.model.derivation.Derivation`) on a tree."""

    element: Element

    def __init__(self, tree: SpatialTree, *, inputs: bool = False) -> None:
        super().__init__(tree)
        self._takes_inputs = inputs
        self.inputs: list[Input] = []
        self.watched: dict[str, Atom] = {}
        self.measured: list[Measured] = []
        #: Why forces could not be written, in words.
        self.refused: list[str] = []
        self.pushed: list[Atom] = [self.workspace.atom(0)] * len(tree.v)
        self.stored: Atom = self.workspace.atom(0)
        self.wrenches: dict[int, list[Scalar]] = {}
        self._numbers = {v.ref: k for k, v in enumerate(tree.v)}

    @cached_property
    def _links(self) -> LinkSpace:
        return LinkSpace(self._tree)

    def along_velocities(self) -> list[Atom]:
        """All forces along the velocities."""
        if not self.wrenches:
            return self.pushed
        F = [self.wrenches.get(k, [0.0] * 6) for k in range(len(self._tree.links))]
        along = gathered(self._tree, F)
        return [p + f for p, f in zip(self.pushed, along, strict=True)]

    # ---------------------------------------------------------------- what there is

    @property
    def space(self) -> Space:
        """Where points and bases live."""
        return self._links.space

    @property
    def asking(self) -> str:
        """The force or sensor that is being derived."""
        return f"{self.element.category} {self.element.name} ({self.element.kind})"

    def place(self, marker: Marker) -> Place:
        """A marker."""
        return self._links.place(marker)

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers."""
        return self._links.pair(i, j)

    def unit(self, name: str) -> str:
        """The unit of a coordinate."""
        closing = self._closing(name)
        if closing is not None:
            return closing[1].unit
        joint, _, part = self._full(name).rpartition(".")
        found = self._tree.model.joints[joint]
        return str(next(c.unit for c in found.coordinates if c.name == part))  # type: ignore[attr-defined]

    def coordinate(self, name: str) -> Atom:
        """A coordinate of a joint; that of one that closes a loop is read from its markers.

        An angle that is read lies between -π and π.
        """
        closing = self._closing(name)
        if closing is None:
            return self._tree.coordinates.value(self._full(name))[0]
        joint, coordinate = closing
        assert coordinate.reading is not None
        return coordinate.reading.value(self.pair(joint.i, joint.j))

    def reading(self, name: str) -> tuple[Atom, bool]:
        """A coordinate, and whether that is up to whole turns only."""
        closing = self._closing(name)
        turns = closing is not None and closing[1].reading is not None
        return self.coordinate(name), bool(turns and closing[1].reading.turns)  # type: ignore[index, union-attr]

    def speed(self, name: str) -> Atom:
        """Its rate."""
        closing = self._closing(name)
        if closing is not None:
            joint, coordinate = closing
            assert coordinate.reading is not None
            return coordinate.reading.rate(self.pair(joint.i, joint.j))
        value, k = self._tree.coordinates.value(self._full(name))
        return diff(value, self._tree.coordinates.leader(k)) * self._tree.v[k]

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Reactions are not known before the accelerations.

        Raises:
            ModelError: Always.
        """
        raise NotInTreeError(
            f"{self._tree.model.name}: {self.asking} depends on the "
            f"reaction of joint {joint}, which comes after the accelerations here; give it levels "
            f"that do not, or use simulate or formulate(model)"
        )

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """An input of a force, which is not among the joint forces of a dynamics function.

        Raises:
            ModelError: This is for such a function.
        """
        if self._takes_inputs:
            symbol = self.workspace.input(f"input_{len(self.inputs)}")
            self.inputs.append(Input(name, symbol, unit, quantity(value, dimension)))
            return symbol
        raise NotInTreeError(
            f"{self._tree.model.name}: {self.asking} has the input "
            f"{name}, and the dynamics of a robot have joint forces only: give it a law of time, "
            f"give the push as external wrenches, or use simulate"
        )

    # ------------------------------------------------------------ what elements say

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its link."""
        k, pose = self._tree.marker(marker)
        if k < 0:
            return
        axes = self._links.link(k).base
        f, n = list(force.components(axes)), list(moment.components(axes))
        wrench = [*plus(n, cross(pose.p, f)), *f]
        known = self.wrenches.get(k)
        self.wrenches[k] = wrench if known is None else plus(known, wrench)

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed: the force ∂rate/∂v along each velocity."""
        live = self.workspace.table.live([rate.ref])
        for k in sorted(self._numbers[ref] for ref in live if ref in self._numbers):
            self.pushed[k] = self.pushed[k] + diff(rate, self._tree.v[k]) * force

    def store(self, energy: Atom) -> None:
        """Energy of a spring."""
        self.stored = self.stored + energy

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """An output, and its rate."""
        counted = f"{name}_rate" if turns and rate is not None else ""
        self.measured.append(Measured(name, value, unit, counted))
        if rate is not None:
            slope = f"{unit}/s" if unit else "1/s"
            self.measured.append(Measured(f"{name}_rate", rate, slope))

    def watch(self, name: str, expression: Atom) -> None:
        """An event."""
        self.watched[name] = expression

    # ----------------------------------------------------------------------- inside

    def _full(self, name: str) -> str:
        return self._tree.coordinate_name(name)

    def _closing(self, name: str) -> tuple[Joint, Coordinate] | None:
        """The joint that closes a loop, and its coordinate, of a name."""
        for joint in self._tree.closing:
            for coordinate in joint.coordinates:
                whole = name == joint.name and len(joint.coordinates) == 1
                if (whole or name == f"{joint.name}.{coordinate.name}") and coordinate.reading:
                    return joint, coordinate
        return None
