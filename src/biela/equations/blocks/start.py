"""Where the bodies of all populations start.

As `biela.model.topology.tree.start_poses`, for all instances at once: a body whose pose was
given is there; any other follows the joint that carries it, at the value that is given for its
coordinate, or that its driver has, or else at zero.  Loops are assembled from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import numpy as np

from biela.atoms import Workspace, evaluate
from biela.equations.blocks.populations import (
    NO_BODY,
    Floats,
    NotVectorisedError,
    Population,
    turn,
)
from biela.equations.blocks.world import World, pose_matrices
from biela.model import Model
from biela.model.drivers import JointDriver
from biela.model.joints import Joint
from biela.model.joints.moves import Translate, Turn
from biela.model.markers import Marker
from biela.model.orientation import Orientation
from biela.model.quantities.values import Value
from biela.model.topology.tree import Branch, floating_branches, is_placed, joint_tree

_DIMENSIONS = {"rad": "angle", "m": "length"}


#: Poses of the bodies of parts seen from their ground, by part and body, (instances, 4, 4).
Relative = Mapping[str, Mapping[str, Floats]]


def start_poses(world: World, t: float, known: Relative | None = None) -> Floats:
    """The poses of all bodies, (bodies, 4, 4); those of ``known`` parts as given.

    Raises:
        NotVectorisedError: Bodies of a part hang on joints outside of it.
    """
    poses = np.tile(np.eye(4), (world.count, 1, 1))
    for population in world.populations:
        name = next((n for n, p in world.parts.items() if p is population), "")
        relative = (known or {}).get(name) or _relative(world, population, t)
        ground = _grounds(population, relative, poses)
        for name, T in relative.items():
            poses[population.bodies(name)] = ground @ T
    return poses


def _grounds(population: Population, relative: Mapping[str, Floats], poses: Floats) -> Floats:
    """Where the ground of each instance is; that of a chain follows the instance before."""
    frames = population.ground
    F = pose_matrices(frames.place, frames.axes)
    inside = frames.body >= population.first
    outer = np.tile(np.eye(4), (population.count, 1, 1))
    moving = (frames.body != NO_BODY) & ~inside
    outer[moving] = poses[frames.body[moving]]
    ground = outer @ F
    if not inside.any():
        return ground
    names = list(population.local)
    link = names[int((frames.body[1] - population.first) % len(names))]
    steps = relative[link][:-1] @ F[1:]
    for k in range(1, population.count):
        ground[k] = ground[k - 1] @ steps[k - 1]
    return ground


def _relative(world: World, population: Population, t: float) -> dict[str, Floats]:
    """Poses of the bodies of the prototype seen from its ground, (instances, 4, 4) each."""
    model = population.prototype
    known = {*population.local, "ground"}
    own = copy(model)
    own.joints = {
        name: joint
        for name, joint in model.joints.items()
        if not isinstance(joint, Joint) or {joint.i.body, joint.j.body} <= known
    }
    driven = _driven(model)
    # joints that know where they start carry bodies, rather than those that would start at zero
    known_starts = [
        name
        for name, joint in own.joints.items()
        if isinstance(joint, Joint)
        and (joint.start or any(d in driven for d in _coordinates(joint)))
    ]
    tree = joint_tree(own, preferred=known_starts)
    count = population.count
    poses: dict[str, Floats] = {"ground": np.tile(np.eye(4), (count, 1, 1))}
    outside = len(own.joints) < len(model.joints) or (
        population is not world.host and (world.model.joints or _joined(world, population))
    )
    for branch in tree.branches:
        if is_placed(model.bodies[branch.after]):
            poses[branch.after] = _given(population, branch.after)
        else:
            step = _step(population, branch, driven, t)
            poses[branch.after] = poses[branch.before] @ step
    for name, way in floating_branches(own, tree).items():
        if way is None and outside and not is_placed(model.bodies[name]):
            raise NotVectorisedError(f"body {name} hangs on joints outside of its part")
        poses[name] = (
            _given(population, name)
            if way is None
            else poses[way.before] @ _step(population, way, driven, t)
        )
    del poses["ground"]
    return poses


def _joined(world: World, population: Population) -> bool:
    return any(
        world.parts[part.name] is population and part.between for part in world.model.parts.values()
    )


def _given(population: Population, name: str) -> Floats:
    body = population.prototype.bodies[name]
    place = population.rows(body.position or (0.0, 0.0, 0.0), "length")
    return pose_matrices(place, population.axes(body.orientation or Orientation()))


def _driven(model: Model) -> dict[str, JointDriver]:
    """The drivers of coordinates by the names of these."""
    return {d.coordinate: d for d in model.drivers.values() if isinstance(d, JointDriver)}


def _coordinates(joint: Joint) -> list[str]:
    """The names by which drivers may call its coordinates."""
    return [joint.name, *(f"{joint.name}.{c.name}" for c in joint.coordinates)]


def _step(
    population: Population, branch: Branch, driven: Mapping[str, JointDriver], t: float
) -> Floats:
    joint = branch.joint
    q = []
    for coordinate in joint.coordinates:
        full = f"{joint.name}.{coordinate.name}"
        driver = driven.get(full) or (
            driven.get(joint.name) if len(joint.coordinates) == 1 else None
        )
        value: float | Floats = 0.0
        if coordinate.name in joint.start:
            dimension = _DIMENSIONS.get(coordinate.unit, "any")
            value = population.value(joint.start[coordinate.name], dimension)
        elif driver is not None:
            value = _law_value(population, driver, t)
        q.append(value)
    T_i, T_j = (_marker(population, marker) for marker in (joint.i, joint.j))
    step = T_i @ _moved(population, joint, q) @ np.linalg.inv(T_j)
    found: Floats = np.linalg.inv(step) if branch.backwards else step
    return found


def _law_value(population: Population, driver: JointDriver, t: float) -> float | Floats:
    given = {name: population.value(name) for name in driver.law.parameters}
    rows = {n: v for n, v in given.items() if isinstance(v, np.ndarray)}
    numbers = {n: v for n, v in given.items() if not isinstance(v, np.ndarray)}
    if not rows:
        return float(driver.law.value(t, numbers))
    workspace = Workspace("start")
    symbols = {n: workspace.parameter(f"row{k}") for k, n in enumerate(rows)}
    f = driver.law.expression(workspace, {**numbers, **symbols})
    values = {workspace.time: t} | {symbols[n]: row for n, row in rows.items()}
    return np.array(np.broadcast_to(evaluate([f], values)[0], (population.count,)), dtype=float)


def _marker(population: Population, marker: Marker) -> Floats:
    place = population.rows(marker.position, "length")
    return pose_matrices(place, population.axes(marker.orientation))


def _moved(population: Population, joint: Joint, q: list[float | Floats]) -> Floats:
    """Marker j seen from marker i, (instances, 4, 4)."""

    def number(value: Value, dimension: str) -> float | Floats:
        return population.value(value, dimension)

    count = population.count
    T = np.tile(np.eye(4), (count, 1, 1))
    for move in joint.moves(q, number):  # type: ignore[arg-type]  # rows do as well as numbers
        step = np.tile(np.eye(4), (count, 1, 1))
        if isinstance(move, Turn):
            continue  # a ball starts unturned
        if isinstance(move, Translate):
            step[:, "xyz".index(move.axis), 3] = np.asarray(move.distance, dtype=float)
        else:
            angle = np.broadcast_to(np.asarray(move.angle, dtype=float), (count,))
            step[:, :3, :3] = turn(move.axis, angle)
        T = T @ step
    return T


def quaternions(R: Floats) -> Floats:
    """Euler parameters of rotations (n, 3, 3), e0 not negative (Shepperd 1978)."""
    trace = np.trace(R, axis1=1, axis2=2)
    diagonal = np.stack([trace, R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    best = np.argmax(diagonal, axis=1)
    e = np.zeros((len(R), 4))
    e[:, 0] = 1 + trace
    e[:, 1] = R[:, 2, 1] - R[:, 1, 2]
    e[:, 2] = R[:, 0, 2] - R[:, 2, 0]
    e[:, 3] = R[:, 1, 0] - R[:, 0, 1]
    for i in range(3):
        at = best == i + 1
        j, k = (i + 1) % 3, (i + 2) % 3
        S = R[at]
        e[at, 0] = S[:, k, j] - S[:, j, k]
        e[at, 1 + i] = 1 + 2 * S[:, i, i] - trace[at]
        e[at, 1 + j] = S[:, i, j] + S[:, j, i]
        e[at, 1 + k] = S[:, i, k] + S[:, k, i]
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    return np.where(e[:, :1] < 0, -e, e)
