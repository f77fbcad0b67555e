"""A mechanism in plain numbers, and what any simulation of it is judged by.

A tree of bodies with joints of one freedom each, and closures that hold points of two bodies
together.  Coordinates are those of the joints, body by body, which is also the order of the
symbolic examples.  Positions and velocities follow joint by joint from the ground: a slide along e
and a hinge about e of a frame (R, p), turning at ω with its origin at v (all in ground axes), give

    p ← p + q R e,    v ← v + q̇ R e + ω × q R e        and        R ← R exp(q ẽ),    ω ← ω + q̇ R e.

Energy and gaps are computed here for every simulator alike, from its coordinates alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Triple = tuple[float, float, float]

AXES = {"x": 0, "y": 1, "z": 2}
ORIGIN: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Joint:
    """One freedom along or about an axis of the frame reached so far; perhaps with a spring."""

    kind: str  # "slide" or "hinge"
    axis: str  # "x", "y" or "z"
    stiffness: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True)
class Body:
    """A rigid body whose frame follows from that of its parent by an offset and its joints."""

    name: str
    parent: str  # "" is the ground
    offset: Triple  # from the origin of the parent, in its axes
    joints: tuple[Joint, ...]
    mass: float
    com: Triple  # from the origin of the body, in its axes
    inertia: tuple[float, float, float, float, float, float]  # central: xx yy zz xy xz yz

    @property
    def tensor(self) -> Floats:
        """The central inertia as a matrix."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class Closure:
    """Two points held together; along ``axes`` only where the rest holds by the plane."""

    name: str
    first: tuple[str, Triple]
    second: tuple[str, Triple]
    axes: str = "xyz"


@dataclass(frozen=True)
class Motion:
    """The frames of all bodies, ground under "", in ground axes: R, p, and their rates ω, v."""

    R: Mapping[str, Floats]
    p: Mapping[str, Floats]
    omega: Mapping[str, Floats]
    v: Mapping[str, Floats]

    def point(self, body: str, place: Sequence[float]) -> tuple[Floats, Floats]:
        """Position and velocity of a point of a body."""
        arm = self.R[body] @ np.asarray(place, dtype=float)
        return self.p[body] + arm, self.v[body] + np.cross(self.omega[body], arm)


@dataclass(frozen=True)
class Mechanism:
    """Bodies, closures, gravity, a start, and a point to compare trajectories by."""

    name: str
    bodies: tuple[Body, ...]
    closures: tuple[Closure, ...]
    gravity: Triple
    marked: tuple[str, Triple]
    q: tuple[float, ...] = ()
    v: tuple[float, ...] = ()

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints in the order of the coordinates."""
        return tuple(joint for body in self.bodies for joint in body.joints)

    def motion(self, q: Floats, v: Floats) -> Motion:
        """The frames of all bodies; ``q`` and ``v`` may have leading axes, such as samples."""
        q, v = np.broadcast_arrays(q, v)
        lead = q.shape[:-1]
        R = {"": np.broadcast_to(np.eye(3), (*lead, 3, 3))}
        p, omega, speed = ({"": np.zeros((*lead, 3))} for _ in range(3))
        k = 0
        for body in self.bodies:
            turn, spin = R[body.parent], omega[body.parent]
            arm = turn @ np.array(body.offset)
            place, rate = p[body.parent] + arm, speed[body.parent] + np.cross(spin, arm)
            for joint in body.joints:
                along = turn[..., AXES[joint.axis]]
                if joint.kind == "slide":
                    arm = q[..., k, None] * along
                    place, rate = place + arm, rate + np.cross(spin, arm) + v[..., k, None] * along
                else:
                    turn, spin = turn @ _turn(joint.axis, q[..., k]), spin + v[..., k, None] * along
                k += 1
            R[body.name], omega[body.name], p[body.name], speed[body.name] = turn, spin, place, rate
        return Motion(R, p, omega, speed)

    def energies(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Kinetic and potential energy, of gravity and of the springs of the joints."""
        motion = self.motion(q, v)
        kinetic = potential = np.zeros(np.shape(q)[:-1])
        for body in self.bodies:
            centre, speed = motion.point(body.name, body.com)
            spin = np.einsum("...ji,...j", motion.R[body.name], motion.omega[body.name])
            kinetic = kinetic + body.mass * (speed**2).sum(-1) / 2
            kinetic = kinetic + np.einsum("...i,ij,...j", spin, body.tensor, spin) / 2
            potential = potential - body.mass * centre @ np.array(self.gravity)
        for k, joint in enumerate(self.joints):
            potential = potential + joint.stiffness * (q[..., k] - joint.rest) ** 2 / 2
        return kinetic, potential

    def gaps(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Second point minus first of every closure, and their rates; shape (…, closures, 3)."""
        motion = self.motion(q, v)
        pairs = []
        for closure in self.closures:
            one, other = motion.point(*closure.first), motion.point(*closure.second)
            pairs.append((other[0] - one[0], other[1] - one[1]))
        return np.stack([g for g, _ in pairs], -2), np.stack([r for _, r in pairs], -2)

    def marked_point(self, q: Floats) -> Floats:
        """The position of the point that trajectories are compared by."""
        return self.motion(q, np.zeros_like(q)).point(*self.marked)[0]

    def started(self, q: Sequence[float], v: Sequence[float], given: Sequence[int]) -> Mechanism:
        """This mechanism with a start that closes its loops, in position and in velocity.

        The coordinates ``given`` keep their values; the others are found by Newton's method from
        theirs, which choose the branch, and their velocities from linear equations.

        Raises:
            ValueError: If the loops do not close near there.
        """
        position, speed = np.array(q, dtype=float), np.array(v, dtype=float)
        free = np.array([k for k in range(len(position)) if k not in set(given)])
        for _ in range(50):
            gap, J = self._closure(position)
            if np.abs(gap).max() < 1e-15 * (1 + np.abs(position).max()):
                break
            change = np.linalg.lstsq(J[:, free], gap, rcond=None)[0]
            position[free] -= change
            if np.abs(change).max() < 1e-15:
                break
        gap, J = self._closure(position)
        if np.abs(gap).max() > 1e-13:
            raise ValueError(f"{self.name}: the loops do not close near the start given")
        speed[free] = 0
        speed[free] = np.linalg.lstsq(J[:, free], -J @ speed, rcond=None)[0]
        return replace(self, q=tuple(position.tolist()), v=tuple(speed.tolist()))

    def _closure(self, q: Floats) -> tuple[Floats, Floats]:
        """The gaps as one vector and their Jacobian, column by column from unit velocities."""
        gap, columns = self.gaps(q, np.eye(len(q)))
        return gap[0].ravel(), columns.reshape(len(q), -1).T


def _turn(axis: str, angle: Floats) -> Floats:
    """The matrix of a turn about an axis."""
    i, j, k = np.roll(np.arange(3), -AXES[axis])
    R = np.zeros((*angle.shape, 3, 3))
    R[..., i, i] = 1
    R[..., j, j] = R[..., k, k] = np.cos(angle)
    R[..., k, j] = np.sin(angle)
    R[..., j, k] = -R[..., k, j]
    return R
