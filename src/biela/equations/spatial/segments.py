"""The moves of a joint as a chain of steps.

A joint of several freedoms becomes as many steps, with links between them that have no mass: a
universal joint is two hinges, a free joint three slides and a ball.  Moves that share a coordinate
are one step: a screw, a way along a curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from biela.atoms import Atom, cos, diff, sin
from biela.equations.spatial.links import NOTHING, Step
from biela.equations.spatial.turning import (
    AxisTurn,
    Matrix,
    MatrixTurn,
    Pose,
    Scalar,
    Triple,
    inward,
    transposed,
)
from biela.errors import ModelError
from biela.model.joints.moves import Move, Rotate, Translate
from biela.model.joints.moves import Turn as AnyTurn


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
    if not moves:
        return [], start
    geared = len(set(velocities.values())) < len(velocities)
    for group in _groups(joint, moves, coordinates, geared):
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
        place = _back(axis)
    return found, place


def _groups(
    joint: str, moves: Sequence[Move], coordinates: Mapping[int, int], geared: bool
) -> list[list[Move]]:
    """Moves that share a coordinate belong together: a screw, a way along a curve.

    Those of coordinates that a gear ties to each other may be apart: each is a step, and all of
    them move by one velocity.
    """
    groups: list[list[Move]] = []
    last: int | None = None
    seen: set[int] = set()
    for move in moves:
        number = None if isinstance(move, AnyTurn) else _coordinate(move, coordinates)
        if number is not None and number == last and _commute(groups[-1], move):
            groups[-1].append(move)
        elif number in seen and not geared:
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


@cache
def _facing(axis: str) -> Pose:
    """The frame whose z axis is along "x", "y" or "z"."""
    k = "xyz".index(axis)
    columns: Matrix = [[float(i == (k + shift) % 3) for i in range(3)] for shift in (1, 2, 0)]
    return Pose(transposed(columns), list(NOTHING))


@cache
def _back(axis: str) -> Pose:
    return _facing(axis).inverse()


def _step(group: Sequence[Move], Q: Pose, symbol: Atom, v: tuple[int, ...]) -> Step:
    way: Triple = list(NOTHING)
    angle: Scalar = 0.0
    rate: Scalar = 0.0
    bend: Scalar = 0.0
    for move in group:
        if isinstance(move, Rotate):
            angle, rate = move.angle, _derivative(move.angle, symbol)
            bend = _derivative(rate, symbol)
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
        bend=bend,
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
