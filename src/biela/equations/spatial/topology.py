"""The joints that carry the bodies of a model, and those that close loops."""

from __future__ import annotations

import copy

from biela.equations.joint_coordinates import carrying_tree
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Free, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.markers import Marker
from biela.model.topology.planarity import check_plane, leaves_plane
from biela.model.topology.tree import JointTree, joint_tree


def carried_by_joints(model: Model) -> tuple[Model, JointTree]:
    """The joints of a model from the ground to the tips, each body carried by one of them.

    Of a model with loops they are those of `biela.formulate(model)`; the others close loops.  A
    body that no joint reaches gets a free joint of its own name, in a copy of the model.

    Raises:
        ModelError: A body of a plane hangs on no joint, a joint lets its body leave the plane, or
            the name of a body that floats is taken.
    """
    tree = joint_tree(model)
    if tree.closing:
        tree = carrying_tree(model)
    if model.plane is not None:
        check_plane(model, model.plane)
        _check_leaving(model, tree)
    if not tree.floating:
        return model, tree
    if model.plane is not None:
        raise ModelError(
            f"{model.name}: no joint reaches {tree.floating[0]}; give it a planar joint to the "
            f"ground"
        )
    whole = copy.copy(model)
    free = {name: _free(name) for name in tree.floating}
    taken = [name for name in free if name in model.joints]
    if taken:
        raise ModelError(
            f"{model.name}: no joint reaches body {taken[0]}, and a joint has its name; give it a "
            f"free joint to the ground"
        )
    whole.joints = {**free, **model.joints}
    tree = joint_tree(whole)
    return whole, carrying_tree(whole) if tree.closing else tree


def _check_leaving(model: Model, tree: JointTree) -> None:
    """Refuse joints of a planar model with freedoms across the plane, which trees would take.

    Raises:
        ModelError: There is one.
    """
    for branch in tree.branches:
        joint = branch.joint
        if leaves_plane(model, joint):
            raise ModelError(
                f"{model.name}: joint {joint.name} ({joint.kind}) lets {joint.j.body} leave the "
                f"{model.plane} plane, in which a robot takes joints as they are in space: use a "
                f"revolute, prismatic or planar joint there, or model.in_space()"
            )


def _free(name: str) -> Joint:
    return Free(name=name, i=Marker(GROUND, f"{name}.place"), j=Marker(name, "frame"))


def inverse_move(move: Move) -> Move:
    """The way back."""
    if isinstance(move, Rotate):
        return Rotate(move.axis, -move.angle)
    if isinstance(move, Translate):
        return Translate(move.axis, -move.distance)
    return move  # its coordinate is then the rotation of the body before seen from after
