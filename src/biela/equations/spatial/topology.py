"""The joints that carry the bodies of a model, and those that close loops."""

from __future__ import annotations

import copy
from dataclasses import replace

from biela.equations.joint_coordinates import carrying_tree, stays_in_plane
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Free, Joint, Planar
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.markers import Marker
from biela.model.orientation import along, by_rows
from biela.model.topology.planarity import check_plane
from biela.model.topology.tree import (
    Floats,
    JointTree,
    floating_branches,
    joint_tree,
    start_poses,
)


def carried_by_joints(model: Model) -> tuple[Model, JointTree]:
    """The joints of a model from the ground to the tips, each body carried by one of them.

    Of a model with loops they are those of `biela.formulate(model)`; the others close loops, and so
    do joints that would let their body leave the plane of a planar model.  A body that no joint
    carries gets a joint of its own name to the ground, free or planar, in a copy of the model.

    Raises:
        ModelError: The model does not lie in its plane, or the name of a body that floats is taken.
    """
    tree = joint_tree(model)
    if model.plane is not None:
        check_plane(model, model.plane)
    leaving = not all(stays_in_plane(model, branch.joint) for branch in tree.branches)
    if tree.closing or leaving:
        tree = carrying_tree(model)
    return _floating(model, tree) if tree.floating else (model, tree)


def _floating(model: Model, tree: JointTree) -> tuple[Model, JointTree]:
    """A copy of a model with joints for the bodies that a tree does not reach, and its tree."""
    kind = "free" if model.plane is None else "planar"
    taken = [name for name in tree.floating if name in model.joints]
    if taken:
        raise ModelError(
            f"{model.name}: no joint carries body {taken[0]}, and a joint has its name; give it a "
            f"{kind} joint to the ground"
        )
    poses, _ = start_poses(model, tree)
    whole = copy.copy(model)
    whole.bodies = dict(model.bodies)
    for name, way in floating_branches(model, tree).items():
        if way is not None:  # it starts where a joint that closes a loop has it
            R, r = poses[name][:3, :3], poses[name][:3, 3]
            x, y, z = (float(c) for c in r)
            whole.bodies[name] = replace(
                model.bodies[name], position=(x, y, z), orientation=by_rows(R)
            )
    made = {name: _carrier(model.plane, name, poses[name]) for name in tree.floating}
    whole.joints = {**made, **model.joints}
    tree = joint_tree(whole)
    if tree.closing:
        tree, plain = carrying_tree(whole), carrying_tree(whole, loads=False)
        # a joint closes no loop only because its reaction is asked for
        opens, closes = ({joint.name for joint in t.closing} <= set(made) for t in (plain, tree))
        if opens and not closes:
            tree = plain
    # of bodies that float together one has a joint to the ground, and the others hang on it
    spare = {joint.name for joint in tree.closing} & set(made)
    whole.joints = {name: joint for name, joint in whole.joints.items() if name not in spare}
    closing = tuple(joint for joint in tree.closing if joint.name not in spare)
    return whole, replace(tree, closing=closing)


def _carrier(plane: str | None, name: str, pose: Floats) -> Joint:
    """A joint to the ground for a body that floats, or that floats in a plane across z, say."""
    if plane is None:
        return Free(name=name, i=Marker(GROUND, f"{name}.place"), j=Marker(name, "frame"))
    normal = NORMAL[plane]
    level = [float(pose[k, 3]) if axis == normal else 0.0 for k, axis in enumerate("xyz")]
    turned = along(name, normal)
    i = Marker(GROUND, f"{name}.place", (level[0], level[1], level[2]), turned)
    return Planar(name=name, i=i, j=Marker(name, "frame", orientation=turned))


def inverse_move(move: Move) -> Move:
    """The way back."""
    if isinstance(move, Rotate):
        return Rotate(move.axis, -move.angle)
    if isinstance(move, Translate):
        return Translate(move.axis, -move.distance)
    return move  # its coordinate is then the rotation of the body before seen from after
