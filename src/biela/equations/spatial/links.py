"""Links: the moves of joints as steps of one coordinate, and what each step carries.

A joint of several freedoms is a chain of steps with links between them that have no mass: a
universal joint is two hinges, a free joint three slides and a ball.  Every recursion then knows
one kind of link only,

    frame of the link = frame of the parent · place · way d(q) · turn θ(q) about z,

and the frame may be chosen such that most numbers in it vanish (`biela.equations.spatial.frames`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from biela.atoms import Atom, cos, diff, sin
from biela.equations.spatial.turning import (
    AxisTurn,
    Matrix,
    MatrixTurn,
    Pose,
    Scalar,
    Triple,
    Turn,
    inward,
    plus,
    product,
    transposed,
    turns_of,
    zero,
)
from biela.errors import ModelError
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.moves import Turn as AnyTurn

#: The pseudo-inertia [[Σ, s], [sᵀ, m]] of a link: second moments Σ = ∫ x xᵀ dm, first moments
#: s = ∫ x dm, mass.
Pseudo: TypeAlias = Matrix

NOTHING: Triple = [0.0, 0.0, 0.0]


@dataclass(frozen=True, eq=False)
class Step:
    """How a link moves relative to its place: first along d(q), then about z by θ(q), or freely.

    Attributes:
        v: Numbers of its velocities; none for a part of a joint that is fixed.
        angle: θ, and ``rate`` = dθ/dq.
        offset: A constant angle added to θ.
        way: D along the axes of the place, with its first and second derivatives by q.
        quaternion: Four symbols, for a rotation of any kind.
        velocity: The symbol q' of a way that bends, d'' ≠ 0.
    """

    v: tuple[int, ...]
    angle: Scalar = 0.0
    rate: Scalar = 0.0
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
    joint: str
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

    def moved(self, X: Pose) -> Link:
        """The same link with its frame moved by X, a screw about z that its step does not see.

        C · way · Rz(θ) · X = C · (translation of X) · way · Rz(θ + angle of X).
        """
        angle = math.atan2(float(X.R[1][0]), float(X.R[0][0]))  # type: ignore[arg-type]
        back = X.inverse()
        if self.step.turns:
            place = self.place @ Pose.at(*X.p)
            step = replace(self.step, offset=_turn(self.step.offset + angle))
        else:
            place, step = self.place @ X, self.step
        inertia = congruent(back, self.inertia)
        return replace(self, place=place, step=step, inertia=inertia, grouped=inertia)


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
    return product(product(rows, J), transposed(rows))


def added(A: Pseudo, B: Pseudo) -> Pseudo:
    """The sum of two pseudo-inertias."""
    return [plus(a, b) for a, b in zip(A, B, strict=True)]


# -------------------------------------------------------------------------- steps


@dataclass(frozen=True, eq=False)
class Segment:
    """A step of a joint and its place after the step before it."""

    place: Pose
    step: Step


def segments(
    joint: str,
    start: Pose,
    moves: Sequence[Move],
    coordinates: Mapping[int, int],
    velocities: Mapping[int, tuple[int, ...]],
    quaternions: Mapping[int, tuple[Atom, ...]],
) -> tuple[list[Segment], Pose]:
    """The moves of a joint as steps, and the constant pose that is left after the last.

    Args:
        joint: Its name, for messages.
        start: Where the first move starts, in the frame of the link before.
        moves: The way from one marker to the other.
        coordinates: Number of the coordinate of the joint, by the reference of its symbol.
        velocities: Numbers of the velocities of each coordinate of the joint.
        quaternions: Symbols of each coordinate that is a rotation.
    """
    place, found = start, []
    for group in _groups(joint, moves, coordinates):
        first = group[0]
        if isinstance(first, AnyTurn):
            k = first.coordinate
            found.append(Segment(place, Step(velocities[k], quaternion=quaternions[k])))
            place = Pose.at()
            continue
        number = _coordinate(first, coordinates)
        if number is None:
            place = place @ _constant(first)
            continue
        axis = next((m.axis for m in group if isinstance(m, Rotate)), None)
        if axis is None:
            axes = {m.axis for m in group if isinstance(m, Translate)}
            axis = axes.pop() if len(axes) == 1 else "z"
        Q = _facing(axis)
        symbol = _symbol(first, coordinates)
        step = _step(group, Q, symbol, velocities[number])
        found.append(Segment(place @ Q, step))
        place = Q.inverse()
    return found, place


def _groups(joint: str, moves: Sequence[Move], coordinates: Mapping[int, int]) -> list[list[Move]]:
    """Moves that share a coordinate belong together: a screw, a way along a curve."""
    groups: list[list[Move]] = []
    last: int | None = None
    seen: set[int] = set()
    for move in moves:
        number = None if isinstance(move, AnyTurn) else _coordinate(move, coordinates)
        if number is not None and number == last and _commute(groups[-1], move):
            groups[-1].append(move)
        elif number in seen:
            raise ModelError(
                f"joint {joint} turns and then moves on by the same coordinate; write its "
                f"moves with the translations first, or use formulate(model)"
            )
        else:
            groups.append([move])
        last = number
        if number is not None:
            seen.add(number)
    return groups


def _commute(group: Sequence[Move], move: Move) -> bool:
    """Whether a move may come before the turn of a group: a way along its axis, or no turn."""
    turns = [other.axis for other in group if isinstance(other, Rotate)]
    return not turns or (isinstance(move, Translate) and turns == [move.axis])


def _amount(move: Move) -> Scalar:
    if isinstance(move, Rotate):
        return move.angle
    assert isinstance(move, Translate)
    return move.distance


def _symbols(move: Move, coordinates: Mapping[int, int]) -> list[int]:
    amount = _amount(move)
    if not isinstance(amount, Atom):
        return []
    return [ref for ref in amount.table.live([amount.ref]) if ref in coordinates]


def _coordinate(move: Move, coordinates: Mapping[int, int]) -> int | None:
    if isinstance(move, AnyTurn):
        return None
    found = {coordinates[ref] for ref in _symbols(move, coordinates)}
    if len(found) > 1:
        raise ModelError(
            "a move of a joint depends on two of its coordinates; use formulate(model)"
        )
    return found.pop() if found else None


def _symbol(move: Move, coordinates: Mapping[int, int]) -> Atom:
    amount = _amount(move)
    assert isinstance(amount, Atom)
    return Atom(amount.table, _symbols(move, coordinates)[0])


def _constant(move: Move) -> Pose:
    assert isinstance(move, Rotate | Translate)
    k, amount = "xyz".index(move.axis), _amount(move)
    if isinstance(move, Translate):
        return Pose.at(*(amount if i == k else 0.0 for i in range(3)))
    if isinstance(amount, Atom) and amount.value is None:
        return Pose(AxisTurn(k, cos(amount), sin(amount)).matrix, list(NOTHING))
    angle = float(amount.value if isinstance(amount, Atom) else amount)  # type: ignore[arg-type]
    return Pose.at() @ Pose(AxisTurn(k, math.cos(angle), math.sin(angle)).matrix, list(NOTHING))


def _facing(axis: str) -> Pose:
    """The frame whose z axis is along "x", "y" or "z"."""
    k = "xyz".index(axis)
    columns: Matrix = [[float(i == (k + shift) % 3) for i in range(3)] for shift in (1, 2, 0)]
    return Pose(transposed(columns), list(NOTHING))


def _step(group: Sequence[Move], Q: Pose, symbol: Atom, v: tuple[int, ...]) -> Step:
    way: Triple = list(NOTHING)
    angle: Scalar = 0.0
    rate: Scalar = 0.0
    for move in group:
        if isinstance(move, Rotate):
            angle, rate = move.angle, _derivative(move.angle, symbol)
        else:
            assert isinstance(move, Translate)
            k = "xyz".index(move.axis)
            way[k] = way[k] + move.distance
    way = list(inward((MatrixTurn(Q.R),), way))
    slope = [_derivative(x, symbol) for x in way]
    return Step(
        v,
        angle=angle,
        rate=rate,
        way=way,
        way_rate=slope,
        way_bend=[_derivative(x, symbol) for x in slope],
    )


def _derivative(x: Scalar, symbol: Atom) -> Scalar:
    """Dx/dq, a number where it is one."""
    if not isinstance(x, Atom):
        return 0.0
    found = diff(x, symbol)
    return found if found.value is None else float(found.value)
