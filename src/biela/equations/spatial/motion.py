"""Poses, velocities and accelerations of links, from the ground to the tips.

All vectors are in the axes of their own link.  Accelerations are those of the origin of the link
(the derivative of its velocity), not Featherstone's; gravity is an acceleration of the ground,

    a_0 = -g,     a = Rᵀ (a_p + U_p p) + …,     U = [α]× + [ω]×[ω]×,

so that a + U x is the acceleration of the point x of a link (Khalil & Kleinfinger 1987, IEEE J.
Robotics and Automation 3(6); Jaramillo 1998, eqs. 1.55 to 1.58 with the corrections of a slide).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from biela.equations.spatial.links import Link
from biela.equations.spatial.turning import (
    Matrix,
    Pose,
    Scalar,
    Triple,
    cross,
    inward,
    outward,
    plus,
    scaled,
    times,
    zero,
)

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree

NOTHING: Triple = [0.0, 0.0, 0.0]


@dataclass(frozen=True, eq=False)
class Spin:
    """Angular velocity ω and acceleration α of a link."""

    omega: Triple
    alpha: Triple

    @cached_property
    def _products(self) -> tuple[Scalar, ...]:
        x, y, z = self.omega
        return x * x, y * y, z * z, x * y, x * z, y * z

    @cached_property
    def U(self) -> Matrix:
        """The matrix [α]× + [ω]×[ω]×."""
        xx, yy, zz, xy, xz, yz = self._products
        a, b, c = self.alpha
        return [
            [-(yy + zz), xy - c, xz + b],
            [xy + c, -(xx + zz), yz - a],
            [xz - b, yz + a, -(xx + yy)],
        ]

    def moment(self, S: Matrix) -> Triple:
        """∫ x × U x dm for second moments Σ = S: the axial vector of U Σ, which is I α + ω × I ω.

        The diagonal of U only counts by its differences, ω_z² - ω_y² …
        """
        xx, yy, zz, xy, xz, yz = self._products
        (sxx, sxy, sxz), (_, syy, syz), (_, _, szz) = S[0][:3], S[1][:3], S[2][:3]
        U, (x, y, z) = self.U, self.alpha
        return [
            _across(U[2][1], U[1][2], yz, x, syy, szz)
            + U[2][0] * sxy
            - U[1][0] * sxz
            + (zz - yy) * syz,
            _across(U[0][2], U[2][0], xz, y, szz, sxx)
            + U[0][1] * syz
            - U[2][1] * sxy
            + (xx - zz) * sxz,
            _across(U[1][0], U[0][1], xy, z, sxx, syy)
            + U[1][2] * sxz
            - U[0][2] * syz
            + (yy - xx) * sxy,
        ]


def _across(
    up: Scalar, down: Scalar, product: Scalar, alpha: Scalar, first: Scalar, second: Scalar
) -> Scalar:
    """(product + α) first - (product - α) second, in the shorter way.

    Where both moments are there it is product (first - second) + α (first + second), which does
    without the matrix U and is one term for equal moments.
    """
    if zero(first) or zero(second):
        return up * first - down * second
    if isinstance(first, float) and isinstance(second, float):
        return product * (first - second) + alpha * (first + second)
    return up * first - down * second


@dataclass(frozen=True, eq=False)
class Acceleration:
    """The motion of a link at an instant: its spin, and the acceleration of its origin."""

    spin: Spin
    a: Triple


def accelerations(
    tree: SpatialTree,
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar] = NOTHING,
) -> list[Acceleration]:
    """The motion of every link for velocities and accelerations of the joints."""
    ground = Acceleration(Spin(NOTHING, NOTHING), [-g for g in gravity])
    found: list[Acceleration] = []
    for link in tree.links:
        found.append(following(link, ground if link.parent < 0 else found[link.parent], v, a))
    return found


def following(
    link: Link, parent: Acceleration, v: Sequence[Scalar], a: Sequence[Scalar]
) -> Acceleration:
    """The motion of a link, of that of its parent."""
    step, p = link.step, link.place.p
    spin = parent.spin
    acc = plus(parent.a, times(spin.U, p)) if not all(map(zero, p)) else parent.a
    omega, alpha, acc = (inward(link.before, x) for x in (spin.omega, spin.alpha, acc))
    if step.slides:
        (k,) = step.v
        before = Spin(omega, alpha)
        acc = plus(acc, times(before.U, step.way))
        acc = plus(acc, scaled(cross(omega, step.way_rate), 2 * v[k]))
        acc = plus(acc, scaled(step.way_rate, a[k]))
        if not all(map(zero, step.way_bend)):
            acc = plus(acc, scaled(step.way_bend, v[k] * v[k]))
    omega, alpha, acc = (inward(step.turn, x) for x in (omega, alpha, acc))
    if step.quaternion:
        own, own_rate = [v[k] for k in step.v], [a[k] for k in step.v]
    elif step.turns:
        (k,) = step.v
        rate = step.rate * a[k]
        if not zero(step.bend):
            rate = rate + step.bend * (v[k] * v[k])
        own, own_rate = [0.0, 0.0, step.rate * v[k]], [0.0, 0.0, rate]
    else:
        return Acceleration(Spin(omega, alpha), acc)
    return Acceleration(Spin(plus(omega, own), plus(plus(alpha, cross(omega, own)), own_rate)), acc)


@dataclass(frozen=True, eq=False)
class Velocity:
    """Angular velocity of a link, and velocity of its origin."""

    omega: Triple
    v: Triple

    @property
    def six(self) -> list[Scalar]:
        """[ω; v]."""
        return [*self.omega, *self.v]


def velocities(tree: SpatialTree, v: Sequence[Scalar]) -> list[Velocity]:
    """The velocity of every link."""
    found: list[Velocity] = []
    for link in tree.links:
        step = link.step
        here = Velocity(NOTHING, NOTHING) if link.parent < 0 else found[link.parent]
        omega = inward(link.before, here.omega)
        speed = inward(link.before, plus(here.v, cross(here.omega, link.place.p)))
        if step.slides:
            (k,) = step.v
            speed = plus(plus(speed, cross(omega, step.way)), scaled(step.way_rate, v[k]))
        omega, speed = inward(step.turn, omega), inward(step.turn, speed)
        if step.quaternion:
            omega = plus(omega, [v[k] for k in step.v])
        elif step.turns:
            omega = plus(omega, [0.0, 0.0, step.rate * v[step.v[0]]])
        found.append(Velocity(omega, speed))
    return found


def to_child(link: Link, x: Sequence[Scalar]) -> list[Scalar]:
    """Φᵀ x: a motion [angular; linear] at the origin of the parent, seen at that of the link."""
    angular, linear = list(x[:3]), list(x[3:])
    linear = plus(linear, cross(angular, link.place.p))
    angular, linear = inward(link.before, angular), inward(link.before, linear)
    if link.step.slides:
        linear = plus(linear, cross(angular, link.step.way))
    return [*inward(link.step.turn, angular), *inward(link.step.turn, linear)]


def to_parent(link: Link, x: Sequence[Scalar]) -> list[Scalar]:
    """Φ x: a force [moment; force] at the origin of the link, seen at that of its parent."""
    moment, force = outward(link.step.turn, x[:3]), outward(link.step.turn, x[3:])
    if link.step.slides:
        moment = plus(moment, cross(link.step.way, force))
    moment, force = outward(link.before, moment), outward(link.before, force)
    return [*plus(moment, cross(link.place.p, force)), *force]


def poses(tree: SpatialTree) -> list[Pose]:
    """The pose of every link in the ground."""
    found: list[Pose] = []
    for link in tree.links:
        before = Pose.at() if link.parent < 0 else found[link.parent]
        p = plus(before.p, times(before.R, link.place.p))
        rows = [inward(link.before, row) for row in before.R]
        if link.step.slides:
            p = plus(p, times(rows, link.step.way))
        found.append(Pose([inward(link.step.turn, row) for row in rows], p))
    return found


def frame_pose(tree: SpatialTree, name: str, links: Sequence[Pose] | None = None) -> Pose:
    """The pose of a named frame in the ground."""
    k, here = tree.frame(name)
    if k < 0:
        return here
    known = poses(tree) if links is None else links
    return known[k] @ here


def to_frame(here: Pose, x: Sequence[Scalar]) -> list[Scalar]:
    """A motion at the origin of a link, seen at and along the axes of a frame fixed to it."""
    angular, linear = list(x[:3]), plus(x[3:], cross(x[:3], here.p))
    back = [list(row) for row in zip(*here.R, strict=True)]
    return [*times(back, angular), *times(back, linear)]


def from_frame(here: Pose, x: Sequence[Scalar]) -> list[Scalar]:
    """A force at and along the axes of a frame, seen at the origin of its link."""
    moment, force = times(here.R, x[:3]), times(here.R, x[3:])
    return [*plus(moment, cross(here.p, force)), *force]
