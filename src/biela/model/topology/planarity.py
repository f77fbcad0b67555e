"""Does a mechanism move in a plane, and in which?

Call a motion planar for a normal n if every body turns about n and moves across it.  What is left
of a twist (ω, v) of a body beside that are three numbers, its part out of the plane

    x = (a · ω, b · ω, n · v₀),      a, b, n orthonormal, v₀ at the origin.

A joint allows a difference of its two bodies in a space S of such triples, the image of its own
twists: nothing for a hinge along n or a slide across it, all of it for a free joint.  The motion is
planar if the equations

    x_j - x_i ∈ S,   x_ground = 0

have no solution but zero.  That holds whatever the joints are that make it so: a ball and a sleeve
at the ends of a rod do as well as two hinges.  It holds for a structure too, which does not move at
all; so every joint that leaves something free must leave something free in the plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.graph import components
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.joints.moves import Rotate, Turn
from biela.model.joints.primitives import (
    Along,
    Coincide,
    Parallel,
    Perpendicular,
    Primitive,
    Projection,
)
from biela.model.placing import (
    joint_transform,
    joint_values,
    marker_pose,
    matrix,
    relative_pose,
)

if TYPE_CHECKING:
    from biela.model.model import Model

Floats = npt.NDArray[np.float64]
PLANES = {"yz": 0, "xz": 1, "xy": 2}

_STEP = 1e-6
#: Sine of an angle, or distance, below which directions are the same; differences are good to 1e-9.
_SAME = 1e-6
#: Groups of bodies above which the equations are not solved.
_LARGEST = 300


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane a mechanism moves in: its normal, and "xy", "xz" or "yz" if it is one of these."""

    normal: Floats
    name: str | None

    def __str__(self) -> str:
        if self.name is not None:
            return f"the {self.name} plane"
        x, y, z = (float(c) for c in np.round(self.normal, 6) + 0.0)
        return f"a plane across ({x:g}, {y:g}, {z:g})"


# -------------------------------------------------------------------------------- one joint


def joint_twists(model: Model, joint: Joint, T: Floats | None = None) -> Floats:
    """The twists (ω, v at the point of i) that a joint allows, (6, freedoms), along the axes of i.

    ``T`` is the pose of j seen from i, from which coordinates are read that are not given.  It is
    found by differences of the moves; a joint that carries no body has none to look at.

    Raises:
        ModelError: It carries no body.
    """
    values = joint_values(model, joint, T)
    columns: list[Floats] = []
    inverse = np.linalg.inv(joint_transform(model, joint, values))
    for coordinate in joint.coordinates:
        here = values[coordinate.name]
        steps: list[Floats] | list[float]
        if coordinate.manifold == "rotation":
            steps = [(np.asarray(here) @ _turn(k, h)) for k in range(3) for h in (_STEP, -_STEP)]
        else:
            assert isinstance(here, float)
            steps = [here + _STEP, here - _STEP]
        poses = [joint_transform(model, joint, {**values, coordinate.name: q}) for q in steps]
        for ahead, behind in zip(poses[::2], poses[1::2], strict=True):
            D = (ahead - behind) @ inverse / (2 * _STEP)
            columns.append(np.array([D[2, 1], D[0, 2], D[1, 0], *D[:3, 3]]))
    return np.array(columns).reshape(-1, 6).T


def _turn(axis: int, angle: float) -> Floats:
    R = np.eye(3)
    a, b = (axis + 1) % 3, (axis + 2) % 3
    R[a, a] = R[b, b] = np.cos(angle)
    R[a, b], R[b, a] = -np.sin(angle), np.sin(angle)
    return R


def planar_removes(model: Model, joint: Joint, plane: str) -> int:
    """How many of the three freedoms in a plane a joint removes.

    Of a joint that carries a body these are 3 less the dimension of its twists in the plane; of
    others the conditions are counted that are no matter of course in the plane.
    """
    R_i, R_j = (matrix(model, marker.orientation) for marker in (joint.i, joint.j))
    n = np.eye(3)[PLANES[plane]]
    if not joint.carries:
        rows = sum(_planar_count(p, R_i, R_j, n) for p in joint.conditions())
        return min(3, rows + len(joint.laws))
    return 3 - _shared(joint_twists(model, joint), R_i.T @ n)


def _shared(W: Floats, n: Floats) -> int:
    """The dimension of the twists W that are motions in a plane across n."""
    P = np.zeros((6, 3))
    P[:3, 0], (P[3:, 1], P[3:, 2]) = n, _across(n)
    own, both = (np.linalg.matrix_rank(A, tol=_SAME) for A in (W, np.hstack([W, P])))
    return int(own + 3 - both)


def _outside(W: Floats, n: Floats) -> Floats:
    """What is left of twists beside motions in a plane across n, (3, freedoms)."""
    M = np.zeros((3, 6))
    M[:2, :3] = _across(n)
    M[2, 3:] = n
    return np.asarray(M @ W)


def plane_faults(model: Model, plane: str) -> Iterator[str]:
    """What does not fit a plane: tilted bodies, and joints that cannot move in it.

    Places are those in the bodies, whose frames turn about the normal of the plane only; parts are
    looked at by their own models.
    """
    letter = "xyz"[PLANES[plane]]
    n = np.eye(3)[PLANES[plane]]
    for name, body in model.bodies.items():
        if body.orientation is not None and not _along(matrix(model, body.orientation) @ n, n):
            yield f"body {name} is turned out of the {plane} plane; give it a frame that lies in it"
    for joint in model.joints.values():
        if not isinstance(joint, Joint) or not joint.carries:
            continue
        R_i, R_j = (matrix(model, marker.orientation) for marker in (joint.i, joint.j))
        who = f"joint {joint.name} ({joint.kind})"
        if joint.kind == "revolute":
            if not all(_along(R[:, 2], n) for R in (R_i, R_j)):
                yield (
                    f"{who} cannot turn in the {plane} plane: its axis is not along the "
                    f'normal {letter} of the plane; give it axis="{letter}"'
                )
        elif not joint.coordinates:
            if joint.kind == "fixed" and not _along(R_i.T @ n, R_j.T @ n):
                yield f"{who} turns {joint.j.body} out of the {plane} plane"
        elif planar_removes(model, joint, plane) == 3:
            yield (
                f"{who} leaves nothing free in the {plane} plane, whose normal is {letter}: "
                f"turn its axis"
            )


def keeps_plane(joint: Joint, axes: Floats, plane: str) -> bool:
    """Whether a joint keeps the bodies of a planar model in their plane, so that it can carry one.

    A ball does not, nor does a hinge that is not along the normal.  ``axes`` are those of marker i
    in its body, (3, 3), or (n, 3, 3) of several joints of one kind.
    """
    n = np.eye(3)[PLANES[plane]]
    for move in joint.moves([1.0] * len(joint.coordinates), lambda value, dimension: 1.0):
        if isinstance(move, Turn):
            return False
        axis = axes[..., :, "xyz".index(move.axis)]
        off = np.cross(axis, n) if isinstance(move, Rotate) else axis @ n
        if np.abs(off).max() > _SAME:
            return False
    return True


def _along(a: Floats, n: Floats) -> bool:
    """Whether two unit vectors are parallel."""
    return bool(np.linalg.norm(np.cross(a, n)) < _SAME)


def _planar_count(primitive: Primitive, R_i: Floats, R_j: Floats, n: Floats) -> int:
    def normal(axis: Floats) -> bool:
        return abs(abs(float(axis @ n)) - 1.0) < _SAME

    if isinstance(primitive, Coincide):
        return 2
    if isinstance(primitive, Parallel):
        return 0 if normal(_axis(R_i, "z")) else 1
    if isinstance(primitive, Perpendicular):
        return 0 if normal(_axis(R_i, primitive.a)) or normal(_axis(R_j, primitive.b)) else 1
    if isinstance(primitive, Along):
        return 0 if normal(_axis(R_i, primitive.a)) else 1
    if isinstance(primitive, Projection):
        return 0 if normal(_axis(np.eye(3), primitive.axis)) else 1
    return primitive.count


def _axis(R: Floats, letter: str) -> Floats:
    return np.asarray(R[:, "xyz".index(letter[-1])])


def _across(n: Floats) -> tuple[Floats, Floats]:
    """Two directions that with n are orthonormal."""
    a = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    a /= np.linalg.norm(a)
    return a, np.cross(n, a)


# --------------------------------------------------------------------------- the mechanism


def plane_of_motion(model: Model, poses: Mapping[str, Floats]) -> Plane | None:
    """The plane in which a mechanism moves, as far as its joints tell; None if there is none.

    ``poses`` are those of the bodies where a motion starts; parts must be written out before.
    Joints that carry no body only ever hold a motion back and are left aside, and so is a plane
    that shows only where many bodies that can leave it hold each other.
    """
    joints = [j for j in model.joints.values() if isinstance(j, Joint) and j.carries]
    if not joints or not model.bodies:
        return None
    index = {name: k for k, name in enumerate([GROUND, *model.bodies])}
    twists = [_in_ground(model, joint, poses) for joint in joints]
    ends = np.array([[index[j.i.body], index[j.j.body]] for j in joints], dtype=np.int64)
    for normal in _candidates(twists):
        if not all(_fits(W, normal) for W in twists if W.shape[1]):
            continue
        if _stays(len(index), ends, twists, normal):
            return Plane(normal, _named(normal))
    return None


def _in_ground(model: Model, joint: Joint, poses: Mapping[str, Floats]) -> Floats:
    """The twists of a joint along the axes of the ground, at its origin."""
    before, after = poses[joint.i.body], poses[joint.j.body]
    W = joint_twists(model, joint, relative_pose(model, joint, before, after))
    T = before @ marker_pose(model, joint.i)
    omega, v = T[:3, :3] @ W[:3], T[:3, :3] @ W[3:]
    return np.vstack([omega, v + np.cross(T[:3, 3], omega, axisb=0, axisc=0)])


def _candidates(twists: list[Floats]) -> list[Floats]:
    """Normals worth a try: axes of joints with one axis, then those of the ground."""
    found: list[Floats] = []
    for W in twists:
        omega = W[:3, np.linalg.norm(W[:3], axis=0) > _SAME]
        if omega.shape[1]:
            u, s, _ = np.linalg.svd(omega)
            if np.count_nonzero(s > _SAME) == 1:
                found.append(u[:, 0])
    found.extend(np.eye(3)[k] for k in (2, 1, 0))
    distinct: list[Floats] = []
    for n in found:
        n = n * np.sign(n[np.argmax(np.abs(n))])
        if all(np.linalg.norm(np.cross(n, m)) > _SAME for m in distinct):
            distinct.append(n)
        if len(distinct) > 8:
            break
    return distinct


def _fits(W: Floats, n: Floats) -> bool:
    """Whether a joint with these twists leaves something free in a plane across n."""
    return _shared(W, n) > 0


def _stays(size: int, ends: npt.NDArray[np.int64], twists: list[Floats], n: Floats) -> bool:
    """Whether nothing can leave the plane across n."""
    outside = [_outside(W, n) for W in twists]
    kept = np.array([bool(np.abs(S).max(initial=0.0) < _SAME) for S in outside])
    root = components(size, ends[kept, 0], ends[kept, 1])
    groups, group = np.unique(root, return_inverse=True)
    if len(groups) == 1:
        return True
    if len(groups) > _LARGEST:
        return False
    rows = []
    for k in np.flatnonzero(~kept):
        i, j = group[ends[k]]
        u, s, _ = np.linalg.svd(outside[k])
        N = u[:, np.count_nonzero(s > _SAME) :].T
        row = np.zeros((len(N), 3 * len(groups)))
        row[:, 3 * j : 3 * j + 3] += N
        row[:, 3 * i : 3 * i + 3] -= N
        rows.append(row)
    A = np.vstack([np.eye(3, 3 * len(groups)), *rows])  # the group of the ground is the first
    return int(np.linalg.matrix_rank(A, tol=_SAME)) == 3 * len(groups)


def _named(n: Floats) -> str | None:
    for name, k in PLANES.items():
        if abs(abs(n[k]) - 1.0) < _SAME:
            return name
    return None


# ----------------------------------------------------------------------------- planar copy


def in_plane(model: Model, plane: str) -> Model:
    """A copy of a model that is declared to move in a plane: three freedoms a body.

    `plane_of_motion` says whether it does.  Gravity stays as it is.

    Raises:
        ModelError: The plane is none, or a part, a body or a joint is turned out of it.
    """
    if plane not in PLANES:
        raise ModelError(f"{model.name}: the plane of a model is xy, xz or yz, not {plane!r}")
    n = np.eye(3)[PLANES[plane]]
    for name, part in model.parts.items():
        if np.linalg.norm(np.cross(matrix(model, part.orientation) @ n, n)) > _SAME:
            raise ModelError(f"{model.name}: part {name} is turned out of the {plane} plane")
    check_plane(model, plane)
    return copied(model, plane)


def check_plane(model: Model, plane: str) -> None:
    """Refuse a plane that a model, or one of its parts, does not lie in.

    Raises:
        ModelError: With the bodies and joints that are tilted.
    """
    faults = list(plane_faults(model, plane))
    if faults:
        more = f"; and {len(faults) - 4} more" if len(faults) > 4 else ""
        raise ModelError(f"{model.name} does not move in a plane: {'; '.join(faults[:4])}{more}")
    for part in model.parts.values():
        check_plane(part.model, plane)


def in_space(model: Model) -> Model:
    """A copy of a model with six freedoms a body."""
    return copied(model, None)


def copied(model: Model, plane: str | None) -> Model:
    """A copy in a plane, or in space, to be changed apart from the model."""
    copy = type(model)(model.name, gravity=model.gravity, plane=plane)
    copy.description, copy.written_out = model.description, model.written_out
    copy.parameters = model.parameters.copy()
    copy.rotors, copy.aliases = dict(model.rotors), dict(model.aliases)
    copy.ground = replace(model.ground, markers=dict(model.ground.markers))
    for name, body in model.bodies.items():
        copy.bodies[name] = replace(body, markers=dict(body.markers))
    copy.joints, copy.drivers = dict(model.joints), dict(model.drivers)
    copy.forces, copy.sensors = dict(model.forces), dict(model.sensors)
    copy.run = dict(model.run)
    for name, part in model.parts.items():
        copy.parts[name] = replace(part, model=copied(part.model, plane))
    return copy
