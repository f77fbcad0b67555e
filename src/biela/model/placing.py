"""Where the frames of a model are, in numbers: bodies at the start, markers on them, the tree.

Poses are 4 x 4 matrices T that take components in the frame to components in the ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.model.joints import Joint
from biela.model.joints.moves import Rotate, transform
from biela.model.markers import Marker
from biela.model.orientation import Orientation

if TYPE_CHECKING:
    from biela.model.bodies import Body
    from biela.model.model import Model

Floats = npt.NDArray[np.float64]


def matrix(model: Model, orientation: Orientation) -> Floats:
    """R of an orientation."""
    turns = [Rotate(axis, model.number(angle, "angle")) for axis, angle in orientation.turns]
    R: Floats = np.array(orientation.axes) @ transform(turns)[:3, :3]
    return R


def posed(position: Sequence[float], R: Floats | None = None) -> Floats:
    """T of a place and a rotation."""
    T = np.eye(4)
    T[:3, 3] = position
    if R is not None:
        T[:3, :3] = R
    return T


def marker_pose(model: Model, marker: Marker) -> Floats:
    """A marker seen from its body."""
    place = [model.number(x, "length") for x in marker.position]
    return posed(place, matrix(model, marker.orientation))


def body_pose(model: Model, body: Body) -> Floats:
    """A body where it starts, as far as it was given."""
    place = [model.number(x, "length") for x in body.position or (0.0, 0.0, 0.0)]
    return posed(place, matrix(model, body.orientation or Orientation()))


def relative_pose(model: Model, joint: Joint, before: Floats, after: Floats) -> Floats:
    """Marker j seen from marker i, for poses of the two bodies."""
    T_i = before @ marker_pose(model, joint.i)
    T_j = after @ marker_pose(model, joint.j)
    return np.asarray(np.linalg.inv(T_i) @ T_j)


def joint_values(model: Model, joint: Joint, T: Floats | None) -> dict[str, float | Floats]:
    """The coordinates of a joint at the start: given ones, else read from a pose, else zero.

    A rotation is the matrix that is left when the moves before it are undone.
    """
    found: dict[str, float | Floats] = {}
    for coordinate in joint.coordinates:
        given = joint.start.get(coordinate.name)
        if coordinate.manifold == "rotation":
            found[coordinate.name] = np.eye(3) if T is None else T[:3, :3]
        elif given is not None:
            dimension = {"rad": "angle", "m": "length"}.get(coordinate.unit, "any")
            found[coordinate.name] = model.number(given, dimension)
        elif T is not None and coordinate.reading is not None:
            found[coordinate.name] = coordinate.reading.number(T)
        else:
            found[coordinate.name] = 0.0
    return found


def joint_transform(model: Model, joint: Joint, values: Mapping[str, float | Floats]) -> Floats:
    """Marker j seen from marker i for given coordinates."""
    q = [v if isinstance(v := values[c.name], float) else 0.0 for c in joint.coordinates]
    rotations = {
        k: np.asarray(values[c.name])
        for k, c in enumerate(joint.coordinates)
        if c.manifold == "rotation"
    }
    return transform(joint.moves(q, model.number), rotations)
