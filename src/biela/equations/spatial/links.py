"""Links: how each moves relative to the one before it, and its inertia.

A joint of several freedoms is a chain of steps (`segments`).  Every recursion then knows one kind
of link only,

    frame of the link = frame of the parent · place · way d(q) · turn θ(q) about z,

and the frame may be chosen such that most numbers in it vanish (`biela.equations.spatial.frames`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from biela.atoms import Atom, cos, sin
from biela.equations.spatial.turning import (
    AxisTurn,
    Matrix,
    MatrixTurn,
    Pose,
    Scalar,
    Triple,
    Turn,
    are_numbers,
    inward,
    plus,
    product,
    transposed,
    turns_of,
    zero,
)

#: The pseudo-inertia [[Σ, s], [sᵀ, m]] of a link: second moments Σ = ∫ x xᵀ dm, first moments
#: s = ∫ x dm, mass.
Pseudo: TypeAlias = Matrix

NOTHING: Triple = [0.0, 0.0, 0.0]


@dataclass(frozen=True, eq=False)
class Step:
    """How a link moves relative to its place: first along d(q), then about z by θ(q), or freely.

    Attributes:
        v: Numbers of its velocities; none for a part of a joint that is fixed.
        angle: θ, with its first and second derivatives by q.
        offset: A constant angle added to θ.
        way: D along the axes of the place, with its first and second derivatives by q.
        quaternion: Four symbols, for a rotation of any kind.
    """

    v: tuple[int, ...]
    angle: Scalar = 0.0
    rate: Scalar = 0.0
    bend: Scalar = 0.0
    offset: float = 0.0
    way: Triple = field(default_factory=lambda: list(NOTHING))
    way_rate: Triple = field(default_factory=lambda: list(NOTHING))
    way_bend: Triple = field(default_factory=lambda: list(NOTHING))
    quaternion: tuple[Atom, ...] = ()

    @property
    def turns(self) -> bool:
        """Whether it turns about z."""
        return not zero(self.rate)

    @property
    def slides(self) -> bool:
        """Whether it has a way."""
        return not all(map(zero, self.way_rate))

    @property
    def is_straight(self) -> bool:
        """Whether its way is along z."""
        return all(map(zero, self.way[:2]))

    def from_offset(self, offset: float) -> Step:
        """The same with another constant angle."""
        way, way_rate, way_bend = self.way, self.way_rate, self.way_bend
        return Step(self.v, self.angle, self.rate, self.bend, offset, way, way_rate, way_bend)

    @cached_property
    def turn(self) -> tuple[Turn, ...]:
        """Its rotation."""
        if self.quaternion:
            return (MatrixTurn(rotation_of(self.quaternion)),)
        if not self.turns:
            return ()
        quarters = round(self.offset / (math.pi / 2))
        if abs(self.offset - quarters * math.pi / 2) > 1e-15:
            angle = self.angle + self.offset
            return (AxisTurn(2, cos(angle), sin(angle)),)
        c, s = cos(self.angle), sin(self.angle)
        for _ in range(quarters % 4):
            c, s = -s, c
        return (AxisTurn(2, c, s),)


@dataclass(frozen=True, eq=False)
class Link:
    """A link of the tree: a body, or a frame between two freedoms of a joint.

    Attributes:
        name: The body it carries, or the joint it is within.
        parent: Number of the link before it; -1 for the ground.
        place: Where the step starts, in the frame of the parent.
        inertia: Its pseudo-inertia, in its frame.
        grouped: The same after what no motion shows was moved to the parent.
    """

    name: str
    parent: int
    place: Pose
    step: Step
    inertia: Pseudo
    grouped: Pseudo

    @property
    def v(self) -> tuple[int, ...]:
        """Numbers of its velocities."""
        return self.step.v

    @cached_property
    def before(self) -> tuple[Turn, ...]:
        """The constant part of its rotation from the parent."""
        return turns_of(self.place.R)

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Its whole rotation from the parent."""
        return (*self.before, *self.step.turn)

    @cached_property
    def H(self) -> tuple[list[Scalar], ...]:
        """The motions it allows, [angular; linear] in its own frame: one 6-vector a velocity."""
        if self.step.quaternion:
            return tuple([float(i == k) for i in range(6)] for k in range(3))
        if not self.v:
            return ()
        along = inward(self.step.turn, self.step.way_rate) if self.step.slides else list(NOTHING)
        if self.step.slides and self.step.is_straight:
            along = self.step.way_rate
        return ([0.0, 0.0, self.step.rate, *along],)

    def moved(self, X: Pose, back: Pose) -> Link:
        """The same link with its frame moved by X, a screw about z that its step does not see.

        ``back`` is the inverse of X.

        C · way · Rz(θ) · X = C · (translation of X) · way · Rz(θ + angle of X).
        """
        angle = math.atan2(float(X.R[1][0]), float(X.R[0][0]))  # type: ignore[arg-type]
        if self.step.turns:
            place = self.place.ahead(X.p)
            step = self.step.from_offset(_turn(self.step.offset + angle))
        else:
            place, step = self.place @ X, self.step
        inertia = congruent(back, self.inertia)
        return Link(self.name, self.parent, place, step, inertia, inertia)


def _turn(angle: float) -> float:
    """An angle within (-π, π], without dust on quarter turns."""
    angle = math.remainder(angle, 2 * math.pi)
    quarters = round(angle / (math.pi / 2))
    return quarters * math.pi / 2 if abs(angle - quarters * math.pi / 2) < 1e-14 else angle


def rotation_of(e: Sequence[Scalar]) -> Matrix:
    """R of a unit quaternion (e0, e1, e2, e3).

    Away from |e| = 1, where the stages of an integrator are, it is that of `biela.space`.
    """
    e0, x, y, z = e
    x2, y2, z2 = x + x, y + y, z + z
    wx, wy, wz = e0 * x2, e0 * y2, e0 * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    ww = e0 * (e0 + e0) - 1.0
    return [
        [ww + x * x2, xy - wz, xz + wy],
        [xy + wz, ww + y * y2, yz - wx],
        [xz - wy, yz + wx, ww + z * z2],
    ]


# ------------------------------------------------------------------------ inertia


def pseudo(mass: Scalar, com: Sequence[Scalar], moments: Sequence[Scalar]) -> Pseudo:
    """The pseudo-inertia of mass, centre and central moments (xx, yy, zz, xy, xz, yz).

    Σ = ½ tr(I) 1 - I + m c cᵀ.
    """
    xx, yy, zz, xy, xz, yz = moments
    half = (xx + yy + zz) / 2
    central = [[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]]
    s = [mass * c for c in com]
    rows: Matrix = [
        [
            central[i][j] + s[i] * com[j] if i <= j else central[i][j] + s[j] * com[i]
            for j in range(3)
        ]
        for i in range(3)
    ]
    return [[*rows[0], s[0]], [*rows[1], s[1]], [*rows[2], s[2]], [*s, mass]]


def no_inertia() -> Pseudo:
    """That of a frame without mass."""
    return [[0.0] * 4 for _ in range(4)]


def congruent(T: Pose, J: Pseudo) -> Pseudo:
    """T J Tᵀ: the pseudo-inertia J seen from the frame in which its own is at T."""
    rows = [[*T.R[i], T.p[i]] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]
    if are_numbers(rows) and are_numbers(J):
        return _congruent_numbers(rows, J)
    return product(product(rows, J), transposed(rows))


def _congruent_numbers(T: Any, J: Any) -> Pseudo:
    """T J Tᵀ of numbers, J symmetric, without asking each for what it is."""
    columns = list(zip(*J, strict=True))
    half = [[a * x + b * y + c * z + d * w for x, y, z, w in columns] for a, b, c, d in T[:3]]
    (a, b, c, d), (e, f, g, h), (i, j, k, l) = T[:3]
    (x0, y0, z0, w0), (x1, y1, z1, w1), (x2, y2, z2, w2) = half
    xx = x0 * a + y0 * b + z0 * c + w0 * d
    xy = x0 * e + y0 * f + z0 * g + w0 * h
    xz = x0 * i + y0 * j + z0 * k + w0 * l
    yy = x1 * e + y1 * f + z1 * g + w1 * h
    yz = x1 * i + y1 * j + z1 * k + w1 * l
    zz = x2 * i + y2 * j + z2 * k + w2 * l
    return [[xx, xy, xz, w0], [xy, yy, yz, w1], [xz, yz, zz, w2], [w0, w1, w2, J[3][3]]]


def added(A: Pseudo, B: Pseudo) -> Pseudo:
    """The sum of two pseudo-inertias."""
    return [plus(a, b) for a, b in zip(A, B, strict=True)]
