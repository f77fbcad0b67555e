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

from biela.errors import ModelError
from biela.graph.spanning_tree import spanning_tree
from biela.model import Model
from biela.model.bodies import GROUND, Body
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


def start_poses(
    model: Model, tree: JointTree, t: float = 0.0
) -> tuple[dict[str, Floats], dict[str, Values]]:
    """Where each body starts, and the coordinates of the joints of the tree there.

    A body whose pose was given is there; any other follows the joint that carries it: where a
    driver has it at the time t, at the values given for its coordinates, or else at zero.  Bodies
    that the tree does not reach follow joints likewise, from those that have their place.
    """
    poses: dict[str, Floats] = {GROUND: np.eye(4)}
    values: dict[str, Values] = {}
    driven = _driven(model, t)
    for branch in tree.branches:
        joint, body = branch.joint, model.bodies[branch.after]
        if is_placed(body):
            poses[branch.after] = body_pose(model, body)
            before, after = poses[joint.i.body], poses[joint.j.body]
            values[joint.name] = joint_values(
                model, joint, relative_pose(model, joint, before, after)
            )
            continue
        values[joint.name] = joint_values(model, joint, None) | driven.get(joint.name, {})
        poses[branch.after] = poses[branch.before] @ _step(model, branch, values[joint.name])
    for name, way in floating_branches(model, tree).items():
        if way is None:
            poses[name] = body_pose(model, model.bodies[name])
        else:
            own = joint_values(model, way.joint, None) | driven.get(way.joint.name, {})
            poses[name] = poses[way.before] @ _step(model, way, own)
    return poses, values


def is_placed(body: Body) -> bool:
    """Whether somebody gave the pose of a body."""
    return body.position is not None or body.orientation is not None


def floating_branches(model: Model, tree: JointTree) -> dict[str, Branch | None]:
    """How bodies that the tree does not reach start, in an order in which that can be done.

    Those whose pose was given by themselves (None); the others by joints which could carry them,
    the ones that remove most freedoms first; the first of those that no joint ties to a placed one
    by itself again.
    """
    found: dict[str, Branch | None] = {
        name: None for name in tree.floating if is_placed(model.bodies[name])
    }
    left = [name for name in tree.floating if name not in found]
    joints = [joint for joint in tree.closing if joint.carries and not joint.closes]
    joints.sort(key=lambda joint: -joint.removes)
    ways = [Branch(joint, joint.i.body, joint.j.body, False) for joint in joints]
    ways = [way for one in ways for way in (one, Branch(one.joint, one.after, one.before, True))]
    while left:
        way = next((w for w in ways if w.after in left and w.before not in left), None)
        name = left[0] if way is None else way.after
        found[name] = way
        left.remove(name)
    return found


def _step(model: Model, branch: Branch, values: Values) -> Floats:
    """The body after a joint seen from that before, for the values of its coordinates."""
    joint = branch.joint
    T = joint_transform(model, joint, values)
    M_i, M_j = marker_pose(model, joint.i), marker_pose(model, joint.j)
    step = M_i @ T @ np.linalg.inv(M_j)
    return np.asarray(np.linalg.inv(step) if branch.backwards else step)


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


def _driven(model: Model, t: float = 0.0) -> dict[str, Values]:
    """The coordinates that drivers set at a time, by joint."""
    found: dict[str, Values] = {}
    for driver in model.drivers.values():
        if isinstance(driver, JointDriver):
            name = driver.coordinate
            joint = model.joints.get(name) or model.joints.get(name.rpartition(".")[0])
            if isinstance(joint, Joint) and joint.coordinates:
                part = "" if joint.name == name else name.rpartition(".")[2]
                known = part or joint.coordinates[0].name
                found.setdefault(joint.name, {})[known] = _asked(model, driver, t)
    return found


def _asked(model: Model, driver: JointDriver, t: float) -> float:
    """What the law of a driver asks for at a time.

    Raises:
        ModelError: Its law has an unknown name, or is not finite then; it tells the driver.
    """
    unknown = sorted(driver.law.parameters - set(model.parameters))
    if unknown:
        raise ModelError(
            f"{model.name}: the law of driver {driver.name!r} has {', '.join(unknown)}, which is "
            f"neither the time t nor a parameter of the model; declare it with "
            f"parameters({unknown[0]}=…), or in [parameters] of the file"
        )
    with np.errstate(all="ignore"):
        value = float(driver.law.value(t, model.parameters))
    if not np.isfinite(value):
        raise ModelError(
            f"{model.name}: the law of driver {driver.name!r} is {value} at t = {t:.6g} s; a "
            f"motion needs finite numbers from its first instant on"
        )
    return value


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
