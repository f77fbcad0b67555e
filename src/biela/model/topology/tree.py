"""The tree of joints along which bodies are placed, and where everything starts.

Of all trees the one that keeps the joints which remove most freedoms: fewest closure equations are
left.  A joint that ``closes`` is never in it.  Driven joints and those with forces along their
coordinates come first among equals, so that their coordinates are there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.graph.spanning_tree import spanning_tree
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints import Joint
from biela.model.placing import (
    body_pose,
    joint_transform,
    joint_values,
    marker_pose,
    relative_pose,
)

Floats = npt.NDArray[np.float64]
Values = dict[str, "float | Floats"]


@dataclass(frozen=True)
class Branch:
    """A joint that carries a body: from one that has its place to one that gets it."""

    joint: Joint
    before: str
    after: str
    #: Whether the body after is that of marker i.
    backwards: bool


@dataclass(frozen=True)
class JointTree:
    """Joints that carry bodies, those that close loops, and bodies that no joint reaches."""

    branches: tuple[Branch, ...]
    closing: tuple[Joint, ...]
    floating: tuple[str, ...]


def joint_tree(
    model: Model,
    usable: Callable[[Joint], bool] = lambda joint: joint.carries,
    preferred: Collection[str] = (),
) -> JointTree:
    """The tree of a model."""
    bodies = [GROUND, *model.bodies]
    index = {name: k for k, name in enumerate(bodies)}
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    edges = [(index[joint.i.body], index[joint.j.body]) for joint in joints]
    weights = [
        2.0 * joint.removes + (joint.name in preferred)
        if usable(joint) and not joint.closes
        else -1.0
        for joint in joints
    ]
    tree = spanning_tree(len(bodies), edges, weights)
    branches = []
    for k, start, end in tree.order:
        joint = joints[k]
        backwards = joint.i.body == bodies[end]
        branches.append(Branch(joint, bodies[start], bodies[end], backwards))
    carried = {id(branch.joint) for branch in branches}
    closing = tuple(joint for joint in joints if id(joint) not in carried)
    return JointTree(tuple(branches), closing, tuple(bodies[v] for v in tree.missing))


def start_poses(model: Model, tree: JointTree) -> tuple[dict[str, Floats], dict[str, Values]]:
    """Where each body starts, and the coordinates of the joints of the tree there.

    A body whose pose was given is there; any other follows the joint that carries it: where a
    driver has it at t = 0, at the values given for its coordinates, or else at zero.
    """
    poses: dict[str, Floats] = {GROUND: np.eye(4)}
    values: dict[str, Values] = {}
    driven = _driven(model)
    for name in tree.floating:
        poses[name] = body_pose(model, model.bodies[name])
    for branch in tree.branches:
        joint, body = branch.joint, model.bodies[branch.after]
        given = body.position is not None or body.orientation is not None
        if branch.before not in poses:
            continue
        if given:
            poses[branch.after] = body_pose(model, body)
            before, after = poses[joint.i.body], poses[joint.j.body]
            values[joint.name] = joint_values(
                model, joint, relative_pose(model, joint, before, after)
            )
            continue
        values[joint.name] = joint_values(model, joint, None) | driven.get(joint.name, {})
        T = joint_transform(model, joint, values[joint.name])
        M_i, M_j = marker_pose(model, joint.i), marker_pose(model, joint.j)
        step = M_i @ T @ np.linalg.inv(M_j)
        if branch.backwards:
            step = np.linalg.inv(step)
        poses[branch.after] = poses[branch.before] @ step
    return poses, values


def start_values(model: Model, tree: JointTree) -> dict[str, Values]:
    """The coordinates alone; where no pose of a body is given, no pose is needed for them."""
    bodies = model.bodies.values()
    if any(body.position is not None or body.orientation is not None for body in bodies):
        return start_poses(model, tree)[1]
    driven = _driven(model)
    joints = [branch.joint for branch in tree.branches]
    return {
        joint.name: joint_values(model, joint, None) | driven.get(joint.name, {})
        for joint in joints
    }


def _driven(model: Model) -> dict[str, Values]:
    """The coordinates that drivers set at the time 0, by joint."""
    found: dict[str, Values] = {}
    for driver in model.drivers.values():
        if isinstance(driver, JointDriver):
            name = driver.coordinate
            joint = model.joints.get(name) or model.joints.get(name.rpartition(".")[0])
            if isinstance(joint, Joint) and joint.coordinates:
                part = "" if joint.name == name else name.rpartition(".")[2]
                known = part or joint.coordinates[0].name
                found.setdefault(joint.name, {})[known] = driver.law.value(0.0, model.parameters)
    return found


def quaternion(R: Floats) -> Floats:
    """The Euler parameters of a rotation, e0 not negative (Shepperd 1978)."""
    trace = np.trace(R)
    squares = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(squares))
    e = np.empty(4)
    if k == 0:
        e[0] = 1 + trace
        e[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        e[1 + i] = 1 + 2 * R[i, i] - trace
        e[0] = R[l, j] - R[j, l]
        e[1 + j], e[1 + l] = R[i, j] + R[j, i], R[i, l] + R[l, i]
    e /= np.linalg.norm(e)
    return e if e[0] >= 0 else -e
