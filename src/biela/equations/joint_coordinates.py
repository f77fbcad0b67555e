"""Joint coordinates: bodies along a tree of joints, the other joints as closure equations.

The coordinates are those of the joints in the tree; each chord, a joint that is not in it, closes a
loop with the rows of its primitives (García de Jalón & Bayo 1994, §2.1.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.placement import identifier
from biela.equations.reference_point import place_freely
from biela.model import Model
from biela.model.forces import Force
from biela.model.joints import Coupling, Joint
from biela.model.placing import matrix
from biela.model.sensors import Sensor
from biela.model.topology.planarity import keeps_plane
from biela.model.topology.tree import (
    Branch,
    JointTree,
    Values,
    joint_tree,
    quaternion,
    start_poses,
)


def carrying_tree(model: Model, *, loads: bool = True) -> JointTree:
    """The joints that carry bodies, and those that close loops.

    A joint whose reaction a force or sensor asks for closes a loop: its multipliers are needed.  So
    does one that would let its body leave the plane of the model.  Without ``loads`` the tree is
    the same whether somebody asks for reactions or not.
    """
    elements: list[Force | Sensor] = [*model.forces.values(), *model.sensors.values()]
    elements = elements if loads else []
    loaded = {name for element in elements for name in element.needs_reactions}

    def usable(joint: Joint) -> bool:
        return joint.carries and joint.name not in loaded and stays_in_plane(model, joint)

    return joint_tree(model, usable, _preferred(model))


def stays_in_plane(model: Model, joint: Joint) -> bool:
    """Whether a joint keeps bodies in the plane of a model, if it has one."""
    if model.plane is None:
        return True
    return keeps_plane(joint, matrix(model, joint.i.orientation), model.plane)


def placed(model: Model) -> MechanismDerivation:
    """Bodies along the tree; loops closed by equations."""
    tree = carrying_tree(model)
    poses, values = start_poses(model, tree)
    derivation = MechanismDerivation(model)
    derivation.along_tree = True
    # what no usable joint reaches has coordinates of its own
    for name in tree.floating:
        place_freely(derivation, name, poses[name])
    waiting = list(tree.branches)
    for branch in waiting:
        _carry(derivation, branch, values.get(branch.joint.name, {}))
    for joint in tree.closing:
        derivation.hold_joint(joint)
    return derivation


def _carry(derivation: MechanismDerivation, branch: Branch, values: Values) -> None:
    joint, system = branch.joint, derivation.system
    derivation.carried.add(joint.name)
    q: list[Atom | float] = []
    turns: dict[int, str] = {}
    for k, coordinate in enumerate(joint.coordinates):
        full = f"{joint.name}.{coordinate.name}"
        if coordinate.manifold == "rotation":
            turns[k] = identifier(full)
            q.append(0.0)
        else:
            q.append(derivation.declare(full))
    name = identifier(branch.after)
    place = derivation.placer.carried(
        derivation.bodies[branch.before],
        joint,
        q,
        turns,
        name=name,
        backwards=branch.backwards,
    )
    derivation.bodies[branch.after] = place
    derivation.solid(branch.after, place)
    begin: dict[Atom | str, float] = {}
    for k, coordinate in enumerate(joint.coordinates):
        value = values.get(coordinate.name)
        symbol = q[k]
        if k in turns:
            turned = system.orientations[turns[k]]
            for number, e in enumerate(turned.parameters):
                derivation.names[e.name] = f"{joint.name}.{coordinate.name}_e{number}"
            for axis, speed in zip("xyz", turned.angular_velocity, strict=True):
                derivation.names[speed.name] = f"{joint.name}.{coordinate.name}_w{axis}"
            if isinstance(value, np.ndarray):
                R = value.T if branch.backwards else value
                begin |= zip(turned.parameters, map(float, quaternion(R)), strict=True)
        elif isinstance(symbol, Atom) and isinstance(value, float):
            begin[symbol] = value
    system.start(begin)


def _preferred(model: Model) -> set[str]:
    """Joints whose coordinates somebody asks for: drivers, forces, gears, sensors, rotors."""
    asked: set[str] = set(_named(model, list(model.rotors)))
    elements = [*model.drivers.values(), *model.forces.values(), *model.sensors.values()]
    for element in elements:
        for name, described in element.settings().items():
            if described.metadata["dimension"] == "coordinate":
                asked.update(_named(model, [getattr(element, name)]))
    for joint in model.joints.values():
        if isinstance(joint, Coupling):
            asked.update(_named(model, joint.couples))
    return asked


def _named(model: Model, coordinates: Sequence[str | None]) -> list[str]:
    found = []
    for name in coordinates:
        if name:
            found.append(name if name in model.joints else name.rpartition(".")[0])
    return found
