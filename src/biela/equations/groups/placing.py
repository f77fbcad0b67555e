"""Rules that several ways to place the bodies of a group share: rods, spins, frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats, clean
from biela.equations.groups.cast import Poses, Spin
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.reference_point import NORMAL
from biela.model.drivers.joint_driver import JointDriver
from biela.model.joints.primitives import Row
from biela.model.pair import Place
from biela.model.topology.tree import quaternion
from biela.space import Base, Vector

__all__ = [
    "add_quaternion",
    "angle_in_plane",
    "driven_coordinates",
    "frame_along",
    "hold_spin",
    "level_frame",
    "own_rotation",
    "upright_axis",
]

#: Rotations whose x axis is along the rod and whose third axis is x, y or z of the ground first.
_UPRIGHT: Final = {
    "z": np.eye(3),
    "x": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
}


def frame_along(first: Floats, second: Floats, plane: str | None) -> Floats:
    """Axes (n, 3, 3), in the frame of a body, the first one of which leads from a point to another.

    In a planar model that is the first axis in the plane after its normal.
    """
    along = second - first
    if plane is not None:
        k = "xyz".index(NORMAL[plane])
        a, b = (k + 1) % 3, (k + 2) % 3
        length = np.hypot(along[:, a], along[:, b])
        cosine = np.where(length > 0, along[:, a] / np.where(length > 0, length, 1), 1.0)
        sine = np.where(length > 0, along[:, b] / np.where(length > 0, length, 1), 0.0)
        R = np.zeros((len(along), 3, 3))
        R[:, k, k] = 1.0
        R[:, a, a] = R[:, b, b] = cosine
        R[:, b, a], R[:, a, b] = sine, -sine
        return R
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    other = np.eye(3)[np.abs(x).argmin(axis=1)]
    z = np.cross(x, other)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=2)


def angle_in_plane(plane: str, R: Floats) -> Floats:
    """The angles (n,) of rotations about the normal of a plane."""
    k = "xyz".index(NORMAL[plane])
    a, b = (k + 1) % 3, (k + 2) % 3
    return np.arctan2(R[:, b, a], R[:, a, a])


def add_quaternion(
    derivation: GroupDerivation, parent: Base, name: str, start: Callable[[Poses], Floats]
) -> Base:
    """A base free to turn: four Euler parameters as unknowns, and their norm as an equation.

    ``start`` gives the rotations (n, 3, 3) seen from the parent.
    """

    def component(k: int) -> Callable[[Poses], Floats]:
        return lambda poses: np.array([quaternion(R)[k] for R in start(poses)])

    e = [derivation.unknown(f"{name}.e{k}", component(k)) for k in range(4)]
    nothing = Vector(derivation.space, {})
    norm = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1
    derivation.further.append(Row("norm", norm, None, nothing, nothing))
    return parent.by_euler_parameters(derivation.fresh(name), e, homogeneous=True)


def upright_axis(directions: Floats) -> Floats:
    """The axis of the ground that rods are least along, as the third of three axes (3, 3).

    Their two angles are turns about it and about the second axis after that: singular only where a
    rod is along it.
    """
    worst = np.abs(directions).max(axis=0)
    # z unless another is clearly better: the angles are then those of the textbooks
    order = sorted("zyx", key=lambda axis: worst["xyz".index(axis)] - 0.2 * (axis == "z"))
    return _UPRIGHT[order[0]]


def hold_spin(derivation: GroupDerivation, spin: Spin, poses: Poses) -> None:
    """Hold the passive spin of a body: an axis across its line stays level.

    With d along the line, u across it in the body and w the upright axis, u · w = 0: what the
    source gets by leaving the last of three angles at zero.
    """
    cast = derivation.cast
    _, axes = poses.body(cast.bodies[:, spin.slot])
    line = spin.second - spin.first
    line = line / np.linalg.norm(line, axis=1, keepdims=True)
    direction = np.einsum("nij,nj->ni", axes, line)
    upright = upright_axis(direction)[:, 2]
    level = np.cross(upright, direction)
    level /= np.linalg.norm(level, axis=1, keepdims=True)
    across = np.einsum("nji,nj->ni", axes, level)
    place, frame = derivation.frames[spin.slot]
    del place
    local = np.einsum("nji,nj->ni", frame, across)
    body = derivation.bodies[spin.slot]
    u = derivation.vector_of(body.base, f"spin{spin.slot}", local)
    w = derivation.system.base.vector(*(float(c) for c in upright))
    nothing = Vector(derivation.space, {})
    derivation.further.append(Row("spin", u.dot(w), None, nothing, nothing))


def own_rotation(
    derivation: GroupDerivation, slot: int, frame: Floats
) -> Callable[[Poses], Floats]:
    """The rotations in the ground of a frame fixed in a body, at a position."""
    numbers = derivation.cast.bodies[:, slot]
    return lambda poses: poses.body(numbers)[1] @ frame


def level_frame(derivation: GroupDerivation, slot: int, along: Floats, poses: Poses) -> Floats:
    """Axes (n, 3, 3) in a rod, the first along it, the second level where the motion starts.

    A rod that turns as its two angles say then starts as it stands in the model.
    """
    _, R = poses.body(derivation.cast.bodies[:, slot])
    direction = np.einsum("nij,nj->ni", R, along)
    upright = upright_axis(direction)[:, 2]
    level = np.cross(upright, direction)
    level /= np.linalg.norm(level, axis=1, keepdims=True)
    frame = np.stack([direction, level, np.cross(direction, level)], axis=2)
    return clean(np.swapaxes(R, 1, 2) @ frame)


def rod_base(
    derivation: GroupDerivation, spin: Spin, axes: Floats, poses: Poses, label: str
) -> Base:
    """The base of a rod by two angles: R = Rz(ψ) Ry(θ), the x axis along the rod, no spin.

    ``axes`` is the frame along the rod in its body; (44) with φ = 0 of the source.
    """
    slot = spin.slot
    rotation = own_rotation(derivation, slot, axes)
    upright = upright_axis(rotation(poses)[:, :, 0])

    def direction(poses: Poses) -> Floats:
        found: Floats = rotation(poses)[:, :, 0] @ upright
        return found

    def psi(poses: Poses) -> Floats:
        d = direction(poses)
        return np.arctan2(d[:, 1], d[:, 0])

    def theta(poses: Poses) -> Floats:
        d = direction(poses)
        return -np.arctan2(d[:, 2], np.hypot(d[:, 0], d[:, 1]))

    root = derivation.system.base
    if not np.array_equal(upright, np.eye(3)):
        root = root.by_matrix(derivation.fresh("upright"), upright.tolist())
    t = derivation.unknown(f"{label}.theta", theta, turns=True)
    p = derivation.unknown(f"{label}.psi", psi, turns=True)
    return root.rotated(derivation.fresh("psi"), "z", p).rotated(derivation.fresh("theta"), "y", t)


def place_by_point(
    derivation: GroupDerivation, slot: int, name: str, start: Callable[[Poses], Floats]
) -> list[Atom]:
    """Unknowns of the place of a point: two in a planar model, three in space."""
    axes = derivation.plane or "xyz"

    def component(axis: str) -> Callable[[Poses], Floats]:
        return lambda poses: start(poses)[:, "xyz".index(axis)]

    found = {axis: derivation.unknown(f"{name}.{axis}", component(axis)) for axis in axes}
    zero = derivation.workspace.atom(0)
    return [found.get(axis, zero) for axis in "xyz"]


def origin_place(derivation: GroupDerivation, r: list[Atom], base: Base, name: str) -> Place:
    """A place with those coordinates in the ground."""
    vector = derivation.system.base.vector(r[0], r[1], r[2])
    return Place(derivation.system.origin.offset(derivation.fresh(name), vector), base)


def driven_coordinates(derivation: GroupDerivation) -> dict[tuple[int, str], int]:
    """The coordinates of joints of the group that drivers give, and the drivers."""
    found: dict[tuple[int, str], int] = {}
    for number, cast in enumerate(derivation.cast.elements):
        if isinstance(cast.element, JointDriver):
            with derivation.element(number):
                joint, _, coordinate = derivation.named(cast.element.coordinate)
            if isinstance(joint, int):
                found.setdefault((joint, coordinate.name), number)
    return found
