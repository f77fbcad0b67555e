"""From where bodies are to the unknowns of a group, whatever its coordinates.

An unknown says of itself only what it is at any position (its ``start``).  That is enough: looked
at in some random positions of the bodies it turns out to be

    a component of a point          r_k + R_k · u
    a component of a direction      R_k · u
    the angle of a planar body      against the ground, and a constant
    one of the two angles of a rod  about an upright axis

for one body and a u that is solved for, or it is none of these.  Coordinates of joints are read
from the markers of the joint, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.atoms import Atom, cos, sin, sqrt
from biela.equations.blocks.populations import Floats, clean
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.closed_forms.angles import angle_of
from biela.equations.groups.closed_forms.found import Found
from biela.equations.groups.closed_forms.spatial_view import dot, minus
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.placing import angle_in_plane, upright_axis
from biela.equations.groups.symbols import Unknown
from biela.equations.reference_point import NORMAL
from biela.model.joints.readings import Angle, Offset

__all__ = ["Value", "value_of"]

#: How well an unknown has to be what it is taken for.
_SAME: Final = 1e-11


@dataclass(frozen=True, eq=False)
class Value:
    """An unknown as an expression.

    An angle that counts turns is the one next to a prediction p: with the sine s and the cosine c
    of the angle, p + atan2(s cos p - c sin p, c cos p + s sin p).

    Attributes:
        value: The expression; an angle is between -π and π.
        parts: Sine and cosine of an angle, or a multiple of both.
        counts: Whether it is an angle over any number of turns.
    """

    value: Atom
    parts: tuple[Atom, Atom] | None = None
    counts: bool = False

    def next_to(self, prediction: Atom) -> Atom:
        """The value, of an angle that counts turns the one next to a prediction."""
        if self.parts is None or not self.counts:
            return self.value
        (s, c), sp, cp = self.parts, sin(prediction), cos(prediction)
        return prediction + angle_of(s * cp - c * sp, c * cp + s * sp)


def value_of(found: Found, unknown: Unknown, poses: Poses) -> Value | None:
    """An unknown where the bodies are; None if it is nothing that is known here."""
    derivation = found.derivation
    for (element, name), symbol in derivation.coordinates.items():
        if symbol.ref == unknown.symbol.ref:
            return _coordinate(found, element, name)
    looks = [_scattered(derivation.cast, derivation.plane, poses, k) for k in range(4)]
    seen = [np.asarray(unknown.start(look), dtype=float) for look in looks]
    if not all(np.isfinite(s).all() for s in seen):
        return None
    if not unknown.turns:
        return _component(found, looks, seen)
    if derivation.plane is not None:
        return _planar_angle(found, looks, seen)
    return _rod_angle(found, looks, seen, poses)


def _coordinate(found: Found, element: int, name: str) -> Value | None:
    """The coordinate of a joint, read from its markers."""
    derivation = found.derivation
    joint = derivation.cast.elements[element].joint
    (coordinate,) = (c for c in joint.coordinates if c.name == name)
    reading = coordinate.reading

    def product(axes: tuple[str, str]) -> Atom:
        """Of an axis of i and one of j."""
        i, j = (found.marker_axis(element, k, axes[k]) for k in range(2))
        result: Atom = dot(i, j)
        return result

    if isinstance(reading, Angle):
        sine, cosine = product(reading.sine), product(reading.cosine)
        return Value(angle_of(sine, cosine), (sine, cosine), counts=True)
    if isinstance(reading, Offset):
        gap = minus(*(found.marker_point(element, k) for k in (1, 0)))
        return Value(dot(found.marker_axis(element, 0, reading.axis), gap))
    return None


def _scattered(cast: Cast, plane: str | None, poses: Poses, seed: int) -> Poses:
    """Random poses of the bodies of a group, the same ones in all instances."""
    random = np.random.default_rng(seed)
    place, axes = np.zeros_like(poses.place), np.array(poses.axes)
    for slot in range(cast.size):
        at = random.uniform(-1.0, 1.0, 3)
        R = np.linalg.qr(random.normal(size=(3, 3)))[0]
        R[:, 0] *= np.sign(np.linalg.det(R))
        if plane is not None:
            k = "xyz".index(NORMAL[plane])
            a, b = (k + 1) % 3, (k + 2) % 3
            angle = random.uniform(-3.0, 3.0)
            at[k] = 0.0
            R = np.eye(3)
            R[a, a] = R[b, b] = np.cos(angle)
            R[b, a], R[a, b] = np.sin(angle), -np.sin(angle)
        place[cast.bodies[:, slot]], axes[cast.bodies[:, slot]] = at, R
    return Poses(place, axes, plane, poses.coordinates)


def _component(found: Found, looks: list[Poses], seen: list[Floats]) -> Value | None:
    """A component of a point or of a direction of some body."""
    derivation = found.derivation
    axes = [0, 1, 2] if derivation.plane is None else _plane_axes(derivation)
    for slot in range(derivation.cast.size):
        one = derivation.cast.bodies[0, slot]
        for k in axes:
            rows = np.array([look.axes[one][k, axes] for look in looks])
            place = np.array([look.place[one][k] for look in looks])
            for is_point in (True, False):
                right = np.array(seen) - (place[:, None] if is_point else 0.0)
                u, *_ = np.linalg.lstsq(rows, right, rcond=None)
                if np.abs(rows @ u - right).max() <= _SAME * (1 + np.abs(right).max()):
                    local = np.zeros((derivation.cast.count, 3))
                    local[:, axes] = clean(u.T)
                    make = found.point if is_point else found.direction
                    return Value(make(slot, local)[k])
    return None


def _plane_axes(derivation: GroupDerivation) -> list[int]:
    assert derivation.plane is not None
    k = "xyz".index(NORMAL[derivation.plane])
    return [(k + 1) % 3, (k + 2) % 3]


def _planar_angle(found: Found, looks: list[Poses], seen: list[Floats]) -> Value | None:
    """The angle of some body against the ground, and a constant."""
    derivation = found.derivation
    assert derivation.plane is not None
    a, b = _plane_axes(derivation)
    for slot in range(derivation.cast.size):
        bodies = derivation.cast.bodies[:, slot]
        offs = [
            s - angle_in_plane(derivation.plane, look.axes[bodies])
            for s, look in zip(seen, looks, strict=True)
        ]
        if all(np.abs(np.sin(0.5 * (off - offs[0]))).max() <= _SAME for off in offs):
            local = np.zeros((derivation.cast.count, 3))
            local[:, a], local[:, b] = clean(np.cos(offs[0])), clean(np.sin(offs[0]))
            way = found.direction(slot, local)
            return Value(angle_of(way[b], way[a]), (way[b], way[a]))
    return None


def _rod_angle(found: Found, looks: list[Poses], seen: list[Floats], poses: Poses) -> Value | None:
    """One of the angles of a rod: ψ about the upright axis, or θ, with R = Rz(ψ) Ry(θ)."""
    cast = found.derivation.cast
    for spin in cast.spins:
        along = spin.second - spin.first
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        bodies = cast.bodies[:, spin.slot]
        for way in (along, -along):
            upright = upright_axis(np.einsum("nij,nj->ni", poses.axes[bodies], way))
            d = [np.einsum("nij,nj->ni", look.axes[bodies], way) @ upright for look in looks]
            psi = [np.arctan2(x[:, 1], x[:, 0]) for x in d]
            theta = [-np.arctan2(x[:, 2], np.hypot(x[:, 0], x[:, 1])) for x in d]
            for name, guess in (("psi", psi), ("theta", theta)):
                if max(np.abs(g - s).max() for g, s in zip(guess, seen, strict=True)) > _SAME:
                    continue
                world = found.direction(spin.slot, way)
                order = [int(np.argmax(upright[:, k])) for k in range(3)]
                x, y, z = (world[k] for k in order)
                if name == "psi":
                    return Value(angle_of(y, x), (y, x))
                level = sqrt(x * x + y * y)
                return Value(-angle_of(z, level), (-z, level))
    return None
