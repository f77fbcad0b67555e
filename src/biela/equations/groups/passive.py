"""Passive spins: turns that move nothing else.

A rod with a ball at each end can turn about the line of the two balls; no other body notices.  So
can a strut of two halves that slide in each other.  For kinematics such a turn is held by one row,
ω · u = 0 along the line u (the source's slider dyad has φ₂ = 0 instead).

Balls are elements that pass no moment.  Bodies that other elements join hang together; where all
elements from such a set T to bodies outside are balls, the motions of T with everything else at
rest are the null space of its rows.  They are passive spins if each is a turn of bodies about one
line, and the balls are on two different bodies: a door on two balls in one frame swings, and wants
a driver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from biela.equations.groups.determined import null_space
from biela.equations.groups.units import Rows
from biela.graph import components

__all__ = ["Spin", "passive_spins", "with_locks"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Sine of an angle, or distance in parts of the size, below which lines are the same.
_SAME = 1e-6
#: Bodies that turn together at most.
_MOST = 6


@dataclass(frozen=True)
class Spin:
    """A passive spin: the bodies that turn, the balls, the body that is held and its axis.

    Attributes:
        body: The body that is held.
        bodies: All that turn.
        balls: The elements at the ends.
        axes: For each position the unit vector of the line.
        points: Where the balls are at the first position.
    """

    body: int
    bodies: tuple[int, ...]
    balls: tuple[int, ...]
    axes: tuple[Floats, ...]
    points: tuple[Floats, ...]


def passive_spins(rows: Rows) -> list[Spin]:
    """The passive spins of a spatial model; a planar one has none."""
    if rows.width != 6:
        return []
    balls = _balls(rows)
    ball = balls.there
    root = _sets(rows, ball)
    size = np.bincount(root, minlength=rows.bodies)
    # a set that something else than a ball holds to the ground turns about nothing
    touched = rows.elements.touched
    stiff = touched[~ball]
    alone = stiff[(stiff >= 0).sum(axis=1) == 1, 0]
    held = np.zeros(rows.bodies, dtype=bool)
    held[root[alone]] = True
    candidates = np.flatnonzero(~held[root] & (size[root] <= _MOST))
    # and one needs two balls at least
    ends = touched[ball]
    count = np.bincount(root[ends[ends >= 0]], minlength=rows.bodies)
    sets: dict[int, list[int]] = defaultdict(list)
    for b in candidates[count[root[candidates]] >= 2].tolist():
        sets[int(root[b])].append(b)
    return [spin for bodies in sets.values() for spin in _spins(rows, bodies, balls)]


@dataclass(frozen=True, eq=False)
class _Balls:
    """Which elements pass no moment, and the point of each at every position.

    Attributes:
        there: (elements,) whether it is one.
        full: (elements,) whether it holds the point in all directions.
        points: For each position (elements, 3).
    """

    there: Flags
    full: Flags
    points: tuple[Floats, ...]


def _balls(rows: Rows) -> _Balls:
    """Elements that pass no moment about a point of theirs: all their rows meet in a point.

    Rows [f, m] on a body meet in a point p with m = (p - r) x f; the sum of squares of what is
    left is least for the p that solves Σ [f]ᵀ[f] (p - r) = Σ [f]ᵀ m.
    """
    count = len(rows.elements)
    there = np.ones(count, dtype=bool)
    full = np.bincount(rows.element, minlength=count) == 3
    points = []
    for position in range(len(rows.values)):
        place = np.zeros((count, 3))
        for k in range(rows.touched.shape[1] - 1, -1, -1):
            left, p, mine = _meeting(rows, position, k)
            there[left] = False
            place[mine] = p[mine]
        points.append(place)
    return _Balls(there, full & there, tuple(points))


def _meeting(rows: Rows, position: int, slot: int) -> tuple[Integers, Floats, Flags]:
    """Elements whose rows on the body of a slot meet in no point; the points; those with a body."""
    count = len(rows.elements)
    own = rows.touched[:, slot] >= 0
    value = rows.values[position][own, slot]
    F, M, owner = value[:, :3], value[:, 3:], rows.element[own]
    cross = np.zeros((len(F), 3, 3))
    # (p - r) x f = -[f] (p - r)
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = F[:, 2], -F[:, 1], F[:, 0]
    cross -= np.swapaxes(cross, 1, 2)
    normal, right = np.zeros((count, 3, 3)), np.zeros((count, 3))
    np.add.at(normal, owner, np.swapaxes(cross, 1, 2) @ cross)
    np.add.at(right, owner, np.einsum("nji,nj->ni", cross, M))
    p = np.einsum("nij,nj->ni", np.linalg.pinv(normal, rcond=1e-10, hermitian=True), right)
    left = np.abs(M - np.einsum("nij,nj->ni", cross, p[owner])).max(axis=1, initial=0.0)
    mine = np.zeros(count, dtype=bool)
    mine[owner] = True
    body = rows.elements.touched[:, slot]
    return owner[left > _SAME], p + rows.centres[position][np.maximum(body, 0)], mine


def _sets(rows: Rows, ball: Flags) -> Integers:
    """The lowest body of the set that each hangs together with, without balls."""
    touched = rows.elements.touched[~ball]
    a = [touched[:, 0][there := touched[:, k] >= 0] for k in range(1, touched.shape[1])]
    b = [touched[:, k][touched[:, k] >= 0] for k in range(1, touched.shape[1])]
    del there
    none = np.zeros(0, dtype=np.int64)
    return components(rows.bodies, np.concatenate([none, *a]), np.concatenate([none, *b]))


def _spins(rows: Rows, bodies: list[int], balls: _Balls) -> Iterable[Spin]:
    elements = rows.elements_of(bodies)
    ends = [e for e in elements if balls.there[e]]
    outside = {
        tuple(sorted({int(b) for b in rows.elements.touched[e]} - {*bodies, -1})) for e in ends
    }
    if len(ends) < 2 or len(outside) < 2:
        return []
    if len(bodies) == 1 and len(ends) == len(elements) == 2 and balls.full[ends].all():
        return _rod(bodies[0], ends, balls)
    numbers = rows.rows_of(elements)
    spaces = [null_space(rows.matrix(k, numbers, bodies)) for k in range(len(rows.values))]
    least = min(N.shape[1] for N in spaces)
    if not 1 <= least <= len(bodies):
        return []
    usable = [k for k, N in enumerate(spaces) if N.shape[1] == least]
    lines = [_line(rows, k, bodies, spaces[k]) for k in usable]
    if any(line is None for line in lines):
        return []
    N = spaces[usable[0]].reshape(len(bodies), 6, least)
    u = lines[0]
    assert u is not None
    turns = np.einsum("i,bik->bk", u, N[:, 3:, :])
    found = []
    axes = tuple(
        line if (line := dict(zip(usable, lines, strict=True)).get(k)) is not None else u
        for k in range(len(rows.values))
    )
    for _ in range(least):
        # of bodies that turn alike the one with fewest elements, whatever their numbers are
        k = min(
            (k for k in range(len(bodies)) if np.abs(turns[k]).max() > 1e-3),
            key=lambda k: (
                len(rows.elements_of([bodies[k]])),
                -round(float(np.abs(turns[k]).max()), 3),
            ),
        )
        together = [b for b, turn in zip(bodies, turns, strict=True) if np.abs(turn).max() > 1e-6]
        points = tuple(balls.points[0][e] for e in ends)
        found.append(Spin(bodies[k], tuple(together), tuple(ends), axes, points))
        # what is left of the turns with this body held
        w = turns[k] / np.linalg.norm(turns[k])
        turns = turns - np.outer(turns @ w, w)
    return found


def _rod(body: int, ends: list[int], balls: _Balls) -> list[Spin]:
    """A body between two balls, which needs no null space."""
    gaps = [place[ends[1]] - place[ends[0]] for place in balls.points]
    sizes = [float(np.linalg.norm(gap)) for gap in gaps]
    if min(sizes) < 1e-9:
        return []
    axes = tuple(gap / size for gap, size in zip(gaps, sizes, strict=True))
    points = tuple(balls.points[0][e] for e in ends)
    return [Spin(body, (body,), tuple(ends), axes, points)]


def _line(rows: Rows, position: int, bodies: list[int], N: Floats) -> Floats | None:
    """The unit vector of the line about which all motions of a null space turn; None if not."""
    V = N.reshape(len(bodies), 6, -1)
    r = rows.centres[position][bodies]
    omega = np.moveaxis(V[:, 3:, :], 1, 2).reshape(-1, 3)
    speed = np.moveaxis(V[:, :3, :], 1, 2).reshape(-1, 3)
    place = np.repeat(r, N.shape[1], axis=0)
    sizes = np.linalg.norm(omega, axis=1)
    turning = sizes > 1e-7
    if not turning.any() or np.abs(speed[~turning]).max(initial=0.0) > 1e-7:
        return None
    u = omega[int(np.argmax(sizes))] / sizes.max()
    omega, speed, place, sizes = omega[turning], speed[turning], place[turning], sizes[turning]
    on_line = place + np.cross(omega, speed) / sizes[:, None] ** 2
    scale = 1e-9 + np.abs(on_line - on_line[0]).max(initial=0.0)
    apart = np.abs(np.cross(on_line - on_line[0], u)).max(initial=0.0)
    screws = np.abs((omega * speed).sum(axis=1)).max(initial=0.0)
    slanted = np.abs(np.cross(omega / sizes[:, None], u)).max(initial=0.0)
    same = slanted < _SAME and screws < _SAME and apart < _SAME * max(scale, 1.0)
    return np.asarray(u) if same else None


def with_locks(rows: Rows, spins: list[Spin]) -> Rows:
    """The rows with one more for each passive spin: u · ω = 0."""
    if not spins:
        return rows
    elements = rows.elements.with_locks([spin.body for spin in spins])
    count = len(spins)
    most = rows.touched.shape[1]
    values = []
    for k, old in enumerate(rows.values):
        more = np.zeros((count, most, rows.width))
        more[:, 0, 3:] = [spin.axes[k] for spin in spins]
        values.append(np.concatenate([old, more]))
    first = len(rows.elements.element)
    return replace(
        rows,
        elements=elements,
        number=np.concatenate([rows.number, first + np.arange(count)]),
        element=np.concatenate([rows.element, rows.elements.proper + np.arange(count)]),
        values=tuple(values),
    )
