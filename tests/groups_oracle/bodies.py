"""Any planar or spatial mechanism as plain numbers: bodies, joints between markers, drivers.

A body is placed by its reference point r and rotation A (world from body); body 0 is the frame.
Rows are written on twists (v of the reference point, ω; both in world axes):

    Φ,    Φ̇ = Σ J_body (v, ω) - ż,    Φ̈ = Σ J_body (v̇, ω̇) + c - z̈

with z the law of a driver and c what is quadratic in the velocities.  Four primitives make all
joints: coincidence of points, u·w of directions, u·d of a direction and the vector between the
points, and the length of that vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def cross(a: Floats, b: Floats) -> Floats:
    """a × b of two vectors; NumPy's own is made for arrays and slow for three numbers."""
    (a1, a2, a3), (b1, b2, b3) = a, b
    return np.array([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1])


def frame_along(axis: Sequence[float]) -> Floats:
    """A rotation whose third column is along ``axis``."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, cross(z, x), z], axis=1)


@dataclass(frozen=True)
class Marker:
    """A place on a body: its point and axes (columns) in the axes of the body."""

    body: int
    point: Floats
    axes: Floats = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True)
class Joint:
    """A joint of a kind of `KINDS` between two markers; ``size`` is a length, pitch or cosine.

    | kind | what it keeps |
    |---|---|
    | fixed, revolute, prismatic, cylindrical | axis z common to both markers |
    | spherical | the points |
    | universal | the points; z of both at the angle whose cosine is ``size`` |
    | helical | as cylindrical, z slide = ``size`` × angle |
    | planar | the plane square to z |
    | point on line, point in plane | the second point on the first's z axis, or xy plane |
    | parallel | the z axes |
    | rod | the distance ``size`` of the points |
    """

    kind: str
    a: Marker
    b: Marker
    size: float = 0.0


@dataclass(frozen=True)
class Driver:
    """A law (value, rate, acceleration) imposed on a coordinate between two markers.

    | kind | the coordinate |
    |---|---|
    | angle | of x of the second from x of the first about z of the first |
    | slide | along z of the first |
    | distance | of the points |
    | cosine | z of the first · z of the second |
    """

    kind: str
    a: Marker
    b: Marker


@dataclass(frozen=True)
class Mechanism:
    """``bodies`` moving bodies, numbered from 1; ``planar`` keeps them in the xy plane."""

    bodies: int
    joints: tuple[Joint, ...]
    drivers: tuple[Driver, ...] = ()
    planar: bool = False


class State(NamedTuple):
    """Poses, twists and accelerations of all bodies; the frame is the first entry, at rest."""

    r: Floats
    A: Floats
    v: Floats
    w: Floats
    a: Floats
    dw: Floats


def at_rest(r: Sequence[Sequence[float]], A: Sequence[Any] | None = None) -> State:
    """Bodies 1, 2, … at the points ``r`` with rotations ``A`` (none: not turned)."""
    points = np.vstack([np.zeros(3), np.asarray(r, dtype=float).reshape(-1, 3)])
    n = len(points)
    turned = np.stack([np.eye(3)] * n)
    if A is not None:
        turned[1:] = A
    zero = np.zeros((n, 3))
    return State(points, turned, zero, zero, zero, zero)


class Row(NamedTuple):
    """A scalar constraint: value, blocks on the twists of its bodies, quadratic part."""

    value: float
    blocks: tuple[tuple[int, Floats], ...]
    quadratic: float


# --- primitives -----------------------------------------------------------------------------------


class _Seen:
    """A marker in the world: point, axes, and their rates without the accelerations' share."""

    def __init__(self, marker: Marker, s: State) -> None:
        k = self.body = marker.body
        A, self.w = s.A[k], s.w[k]
        self.arm = A @ marker.point
        self.x = s.r[k] + self.arm
        self.v = s.v[k] + cross(self.w, self.arm)
        self.bias = cross(self.w, cross(self.w, self.arm))
        self.axes = A @ marker.axes

    def axis(self, k: int) -> tuple[Floats, Floats, Floats]:
        """A direction with its rate and the part of its acceleration quadratic in ω."""
        u = self.axes[:, k]
        du = cross(self.w, u)
        return u, du, cross(self.w, du)


def _apart(a: _Seen, b: _Seen, u: Floats) -> tuple[tuple[int, Floats], ...]:
    """Blocks of u·(velocity of b's point - that of a's), u held."""
    return (
        (a.body, np.concatenate([-u, -cross(a.arm, u)])),
        (b.body, np.concatenate([u, cross(b.arm, u)])),
    )


def _turning(body: int, m: Floats) -> tuple[int, Floats]:
    return body, np.concatenate([np.zeros(3), m])


def _coincide(a: _Seen, b: _Seen) -> list[Row]:
    d, bias = b.x - a.x, b.bias - a.bias
    return [Row(d[k], _apart(a, b, np.eye(3)[k]), bias[k]) for k in range(3)]


def _directions(a: _Seen, i: int, b: _Seen, j: int, k: float = 0.0) -> Row:
    """u·w - k."""
    (u, du, ddu), (w, dw, ddw) = a.axis(i), b.axis(j)
    blocks = (_turning(a.body, cross(u, w)), _turning(b.body, cross(w, u)))
    return Row(float(u @ w) - k, blocks, float(ddu @ w + 2 * du @ dw + u @ ddw))


def _along(a: _Seen, i: int, b: _Seen, k: float = 0.0) -> Row:
    """u·d - k, with u on the first body."""
    u, du, ddu = a.axis(i)
    d, dd = b.x - a.x, b.v - a.v
    blocks = (*_apart(a, b, u), _turning(a.body, cross(u, d)))
    return Row(float(u @ d) - k, blocks, float(ddu @ d + 2 * du @ dd + u @ (b.bias - a.bias)))


def _distance(a: _Seen, b: _Seen, k: float) -> Row:
    d, dd = b.x - a.x, b.v - a.v
    length = float(np.linalg.norm(d))
    e = d / length
    quadratic = e @ (b.bias - a.bias) + (dd @ dd - (e @ dd) ** 2) / length
    return Row(length - k, _apart(a, b, e), float(quadratic))


def _speed(row: Row, s: State) -> float:
    return float(sum(J @ np.concatenate([s.v[k], s.w[k]]) for k, J in row.blocks))


def _angle(a: _Seen, b: _Seen, s: State) -> Row:
    """Angle of x of b from x of a: atan2 of its cosines with y and x of a."""
    sine, cosine = _directions(a, 1, b, 0), _directions(a, 0, b, 0)
    n = sine.value**2 + cosine.value**2
    p, q = cosine.value / n, -sine.value / n
    ds, dc = _speed(sine, s), _speed(cosine, s)
    rate = p * ds + q * dc
    slip = 2 * rate * (cosine.value * dc + sine.value * ds) / n
    blocks = tuple((k, p * J) for k, J in sine.blocks) + tuple((k, q * J) for k, J in cosine.blocks)
    value = float(np.arctan2(sine.value, cosine.value))
    return Row(value, blocks, p * sine.quadratic + q * cosine.quadratic - slip)


# --- joints and drivers ---------------------------------------------------------------------------


def _aligned(a: _Seen, b: _Seen) -> list[Row]:
    return [_directions(a, 0, b, 2), _directions(a, 1, b, 2)]


def _helical(a: _Seen, b: _Seen, joint: Joint, s: State) -> list[Row]:
    slide, angle = _along(a, 2, b), _angle(a, b, s)
    pitch = joint.size
    # of all turns the one nearest to where the slide is
    turns = round((slide.value / pitch - angle.value) / (2 * np.pi))
    value = slide.value - pitch * (angle.value + 2 * np.pi * turns)
    blocks = slide.blocks + tuple((k, -pitch * J) for k, J in angle.blocks)
    quadratic = slide.quadratic - pitch * angle.quadratic
    line = [_along(a, 0, b), _along(a, 1, b)]
    return [*_aligned(a, b), *line, Row(value, blocks, quadratic)]


KINDS: dict[str, Callable[[_Seen, _Seen, Joint, State], list[Row]]] = {
    "fixed": lambda a, b, j, s: [*_coincide(a, b), *_aligned(a, b), _directions(a, 0, b, 1)],
    "revolute": lambda a, b, j, s: [*_coincide(a, b), *_aligned(a, b)],
    "prismatic": lambda a, b, j, s: [
        *_aligned(a, b),
        _directions(a, 0, b, 1),
        _along(a, 0, b),
        _along(a, 1, b),
    ],
    "cylindrical": lambda a, b, j, s: [*_aligned(a, b), _along(a, 0, b), _along(a, 1, b)],
    "spherical": lambda a, b, j, s: _coincide(a, b),
    "universal": lambda a, b, j, s: [*_coincide(a, b), _directions(a, 2, b, 2, j.size)],
    "helical": _helical,
    "planar": lambda a, b, j, s: [*_aligned(a, b), _along(a, 2, b)],
    "point on line": lambda a, b, j, s: [_along(a, 0, b), _along(a, 1, b)],
    "point in plane": lambda a, b, j, s: [_along(a, 2, b)],
    "parallel": lambda a, b, j, s: _aligned(a, b),
    "rod": lambda a, b, j, s: [_distance(a, b, j.size)],
}


def joint_rows(joint: Joint, s: State) -> list[Row]:
    """The rows of a joint.

    Raises:
        KeyError: there is no such kind.
    """
    return KINDS[joint.kind](_Seen(joint.a, s), _Seen(joint.b, s), joint, s)


def driver_row(driver: Driver, value: float, s: State) -> Row:
    """The row of a driver at a value of its law; an angle is compared within half a turn.

    Raises:
        ValueError: there is no such kind.
    """
    a, b = _Seen(driver.a, s), _Seen(driver.b, s)
    if driver.kind == "slide":
        return _along(a, 2, b, value)
    if driver.kind == "distance":
        return _distance(a, b, value)
    if driver.kind == "cosine":
        return _directions(a, 2, b, 2, value)
    if driver.kind != "angle":
        raise ValueError(f"no driver of kind {driver.kind!r}")
    row = _angle(a, b, s)
    away = (row.value - value + np.pi) % (2 * np.pi) - np.pi
    return row._replace(value=float(away))
