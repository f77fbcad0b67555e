"""What the forces of a model do along the velocities of a tree: springs, friction, drag, laws.

A force along a coordinate pushes its velocity.  One between markers is a wrench on links, and
Hᵀ ρ F along the velocities.  Actuators are left out: the joint forces τ stand in their place.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from biela.atoms import Atom, diff
from biela.equations.spatial.link_space import LinkSpace
from biela.equations.spatial.newton_euler import gathered
from biela.equations.spatial.tree_derivation import TreeDerivation
from biela.equations.spatial.turning import Scalar, cross, plus
from biela.errors import ModelError
from biela.model.forces.actuator import Actuator
from biela.model.forces.force import Force
from biela.model.joints import Coordinate, Joint
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.values import Value
from biela.space import Space, Vector

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


def passive_forces(tree: SpatialTree) -> tuple[list[Atom], Atom, dict[int, list[Scalar]]]:
    """The force along each velocity, the energy stored, and wrenches by link, part of the first.

    Raises:
        ModelError: A force depends on reactions, or has an input of its own.
    """
    acting = Acting(tree)
    for force in tree.model.forces.values():
        if not isinstance(force, Actuator):
            acting.force = force
            force.act(acting)
    return acting.along_velocities(), acting.stored, acting.wrenches


class Acting(TreeDerivation):
    """What forces ask for and say (`biela.model.derivation.Derivation`) on a tree."""

    force: Force

    def __init__(self, tree: SpatialTree) -> None:
        super().__init__(tree)
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
        """The force that is being derived."""
        return f"force {self.force.name} ({self.force.kind})"

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
        raise ModelError(
            f"{self._tree.model.name}: {self.asking} depends on the "
            f"reaction of joint {joint}, which comes after the accelerations here; give it levels "
            f"that do not, or use formulate(model)"
        )

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """Inputs of forces are not among the joint forces.

        Raises:
            ModelError: Always.
        """
        del unit, value, dimension
        raise ModelError(
            f"{self._tree.model.name}: {self.asking} has the input "
            f"{name}, and a robot has joint forces only: give it a law of time, or give the push "
            f"as external wrenches"
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
        """Outputs are of no interest here."""
        del name, value, unit, rate, turns

    def watch(self, name: str, expression: Atom) -> None:
        """Events are of no interest here."""
        del name, expression

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
