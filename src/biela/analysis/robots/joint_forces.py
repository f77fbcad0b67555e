"""The joint forces τ of a robot as forces of its model: each an input "tau.joint.coordinate"."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final

from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.spatial import SpatialTree
from biela.errors import UnknownNameError
from biela.model import Model
from biela.model.derivation import Derivation
from biela.model.element import quantity
from biela.model.forces import Force
from biela.model.joints import Joint
from biela.model.quantities.conjugate import force_along
from biela.spelling import nearest

#: What the names of joint forces begin with; those of the model have no dots.
TAU: Final = "tau."


@dataclass(frozen=True, kw_only=True)
class JointForce(Force):
    """A force along the coordinate of a joint.

    ``counts`` makes what it acts along a coordinate of the equations, an angle over all its turns.
    """

    coordinate: str = quantity("coordinate", "coordinate along which it acts")
    counts: bool = False

    def act(self, derivation: Derivation) -> None:
        """Push along the coordinate."""
        if self.counts and isinstance(derivation, MechanismDerivation):
            derivation.as_coordinate(self.coordinate)
        _, unit = force_along(derivation.unit(self.coordinate))
        force = derivation.input(self.name, unit)
        derivation.push(derivation.speed(self.coordinate), force)


@dataclass(frozen=True, kw_only=True)
class JointMoment(Force):
    """A moment along one axis of the body after a joint that turns about all of them."""

    joint: Joint
    axis: int
    backwards: bool

    def act(self, derivation: Derivation) -> None:
        """Push along that component of the angular velocity."""
        pair = derivation.pair(self.joint.i, self.joint.j)
        turning, base = pair.turning, pair.j.base
        if self.backwards:
            turning, base = -turning, pair.i.base
        rate = turning.components(base)[self.axis]
        derivation.push(rate, derivation.input(self.name, "N m"))


def with_joint_forces(tree: SpatialTree, names: Sequence[str], *, counts: bool = False) -> Model:
    """The model with joint forces, whose inputs have these names.

    Args:
        tree: The model as a tree; a body that floats has a joint there.
        names: "tau.joint.coordinate", or "tau.joint.rotation_wx" for a moment.
        counts: Whether these become coordinates of the equations where they are not.

    Raises:
        UnknownNameError: There is no such joint.
    """
    found = copy(tree.model)
    found.forces = dict(found.forces)
    for name in names:
        owner, _, part = name.removeprefix(TAU).rpartition(".")
        joint = found.joints.get(owner)
        if not isinstance(joint, Joint):
            raise UnknownNameError(
                f"{found.name}: there is no joint {owner!r} for the input {name}"
                f"{nearest(owner, found.joints)}"
            )
        if part in {c.name for c in joint.coordinates}:
            made: Force = JointForce(name=name, coordinate=f"{owner}.{part}", counts=counts)
        else:
            backwards = tree.carriers.get(joint.i.body) == joint.j.body
            made = JointMoment(
                name=name, joint=joint, axis="xyz".index(part[-1]), backwards=backwards
            )
        found.forces[name] = made
    return found
