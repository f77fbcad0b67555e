"""Passive spins: turns that move nothing else.

A rod with a ball at each end can turn about the line of the two balls; no other body notices.  So
can a strut of two halves that slide in each other.  For kinematics such a turn is held by one row,
ω · u = 0 along the line u (the source's slider dyad has φ₂ = 0 instead).

Balls are elements that pass no moment.  Bodies that other elements join hang together; where all
elements from such a set T to bodies outside are balls, the motions of T with everything else at
rest are the null space of its rows.  They are passive spins if each is a turn of bodies about one
line, and the balls are on two different bodies: a door on two balls in one frame swings, and wants
a driver.

Where T has other motions besides, as two halves that slide along an axis beside the line of the
balls have, its passive spins are the turn of all of T about that line, if all its balls are on it,
and the turn of a half by itself about an axis through its ball.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from biela.equations.groups.determined import null_space
from biela.equations.groups.units import Rows
from biela.graph import components
from biela.singular_values import pinv

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
    candidates = candidates[count[root[candidates]] >= 2]
    rods, others = _rods(rows, candidates[size[root[candidates]] == 1], balls)
    sets: dict[int, list[int]] = defaultdict(list)
    for b in (*candidates[size[root[candidates]] > 1].tolist(), *others.tolist()):
        sets[int(root[b])].append(b)
    found = [spin for bodies in sets.values() for spin in _spins(rows, bodies, balls)]
    return sorted(rods + found, key=lambda spin: spin.body)


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
    number = np.bincount(rows.element, minlength=count)
    # rows that meet in a point are three at most, and none is a moment alone
    there = (number >= 1) & (number <= 3)
    force = np.abs(rows.values[0][:, :, :3]).max(axis=(1, 2), initial=0.0)
    there[rows.element[force < _SAME]] = False
    points = tuple(np.zeros((count, 3)) for _ in rows.values)
    for m in (1, 2, 3):
        for position, place in enumerate(points):
            for slot in range(rows.touched.shape[1] - 1, -1, -1):
                touched = rows.elements.touched[:, slot]
                own = np.flatnonzero(there & (number == m) & (touched >= 0))
                p, meet = _meeting(rows, position, slot, own, m)
                there[own[~meet]] = False
                place[own] = p + rows.centres[position][touched[own]]
    return _Balls(there, there & (number == 3), points)


def _meeting(rows: Rows, position: int, slot: int, own: Integers, m: int) -> tuple[Floats, Flags]:
    """Where the m rows of elements on the body of a slot meet, from its centre; and whether."""
    start, order = rows.by_element
    value = rows.values[position][order[start[own][:, None] + np.arange(m)], slot]
    F, M = value[:, :, :3], value[:, :, 3:]
    cross = np.zeros((len(own), m, 3, 3))
    # (p - r) x f = -[f] (p - r)
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = F[..., 2], -F[..., 1], F[..., 0]
    cross -= np.swapaxes(cross, 2, 3)
    A, b = cross.reshape(len(own), 3 * m, 3), M.reshape(len(own), 3 * m)
    normal, right = np.swapaxes(A, 1, 2) @ A, np.einsum("nki,nk->ni", A, b)
    clear = np.linalg.det(normal) > 1e-6
    p = np.zeros((len(own), 3))
    p[clear] = np.linalg.solve(normal[clear], right[clear][:, :, None])[:, :, 0]
    inverse = pinv(normal[~clear], rcond=1e-10, hermitian=True)
    p[~clear] = np.einsum("nij,nj->ni", inverse, right[~clear])
    left = np.abs(np.einsum("nki,ni->nk", A, p) - b).max(axis=1, initial=0.0)
    return p, left <= _SAME


def _sets(rows: Rows, ball: Flags) -> Integers:
    """The lowest body of the set that each hangs together with, without balls."""
    touched = rows.elements.touched[~ball]
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for k in range(1, touched.shape[1]):
        there = touched[:, k] >= 0
        first.append(touched[there, 0])
        second.append(touched[there, k])
    return components(rows.bodies, np.concatenate(first), np.concatenate(second))


def _spins(rows: Rows, bodies: list[int], balls: _Balls) -> Iterable[Spin]:
    elements = rows.elements_of(bodies)
    ends = [e for e in elements if balls.there[e]]
    outside = {
        tuple(sorted({int(b) for b in rows.elements.touched[e]} - {*bodies, -1})) for e in ends
    }
    if len(ends) < 2 or len(outside) < 2:
        return []
    numbers = rows.rows_of(elements)
    spaces = [null_space(rows.matrix(k, numbers, bodies)) for k in range(len(rows.values))]
    least = min(N.shape[1] for N in spaces)
    if not 1 <= least <= len(bodies):
        return []
    usable = [k for k, N in enumerate(spaces) if N.shape[1] == least]
    lines = [_line(rows, k, bodies, spaces[k]) for k in usable]
    if any(line is None for line in lines):
        return _some_spins(rows, bodies, ends, balls)
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
        # of bodies that turn alike one with balls rather than what stands on it, and then one
        # with few elements, whatever their numbers are
        k = min(
            (k for k in range(len(bodies)) if np.abs(turns[k]).max() > 1e-3),
            key=lambda k: (
                -sum(bodies[k] in rows.elements.touched[e] for e in ends),
                len(rows.elements_of([bodies[k]])),
            ),
        )
        together = [b for b, turn in zip(bodies, turns, strict=True) if np.abs(turn).max() > 1e-6]
        points = tuple(balls.points[0][e] for e in ends)
        found.append(Spin(bodies[k], tuple(together), tuple(ends), axes, points))
        # what is left of the turns with this body held
        w = turns[k] / np.linalg.norm(turns[k])
        turns = turns - np.outer(turns @ w, w)
    return found


def _some_spins(
    rows: Rows, bodies: list[int], ends: Sequence[int], balls: _Balls
) -> Iterable[Spin]:
    """The passive spins of a set that has other motions besides."""
    positions = range(len(rows.values))
    found = []
    for b in bodies:
        own = [e for e in ends if b in rows.elements.touched[e]]
        numbers = rows.rows_of(rows.elements_of([b]))
        spaces = [null_space(rows.matrix(k, numbers, [b])) for k in positions]
        if not own or any(N.shape[1] != 1 for N in spaces):
            continue
        axes = [_line(rows, k, [b], N) for k, N in enumerate(spaces)]
        if all(axis is not None for axis in axes):
            u, first = tuple(axis for axis in axes if axis is not None), balls.points[0][own[0]]
            found.append(Spin(b, (b,), tuple(own), u, (first, first + u[0])))
    alone = {spin.body for spin in found}
    others = [b for b in bodies if b not in alone]
    whole = [_turn(rows, k, bodies, balls.points[k][list(ends)]) for k in positions]
    if others and all(axis is not None for axis in whole):
        axes_of = tuple(axis for axis in whole if axis is not None)
        held = min(
            others,
            key=lambda b: (
                -sum(b in rows.elements.touched[e] for e in ends),
                len(rows.elements_of([b])),
            ),
        )
        points = tuple(balls.points[0][e] for e in ends)
        found.append(Spin(held, tuple(bodies), tuple(ends), axes_of, points))
    return found


def _turn(rows: Rows, position: int, bodies: list[int], points: Floats) -> Floats | None:
    """The line of some balls, if all bodies of a set can turn about it as one; else None."""
    away = points - points[0]
    far = away[int(np.argmax(np.linalg.norm(away, axis=1)))]
    size = float(np.linalg.norm(far))
    if size < 1e-9 or np.abs(np.cross(away, far)).max() > _SAME * size * size:
        return None
    u: Floats = far / size
    arms = rows.centres[position][bodies] - points[0]
    turn = np.concatenate([np.cross(u, arms), np.tile(u, (len(bodies), 1))], axis=1)
    numbers = rows.rows_of(rows.elements_of(bodies))
    moved = rows.matrix(position, numbers, bodies) @ turn.ravel()
    return u if np.abs(moved).max(initial=0.0) <= _SAME * (1 + size) else None


def _rods(rows: Rows, single: Integers, balls: _Balls) -> tuple[list[Spin], Integers]:
    """The spins of single bodies between two balls, which need no null space; and the others."""
    start, numbers = rows.of_body
    two = single[start[single + 1] - start[single] == 2]
    ends = numbers[start[two][:, None] + np.arange(2)]
    touched = rows.elements.touched[ends]
    beside = np.where(touched == two[:, None, None], -1, touched).max(axis=2)
    rod = balls.full[ends].all(axis=1) & (beside[:, 0] != beside[:, 1])
    gaps = [place[ends[:, 1]] - place[ends[:, 0]] for place in balls.points]
    sizes = [np.linalg.norm(gap, axis=1) for gap in gaps]
    rod &= np.min(sizes, axis=0) > 1e-9
    axes = [gap / np.maximum(size, 1e-300)[:, None] for gap, size in zip(gaps, sizes, strict=True)]
    places = balls.points[0][ends]
    found = [
        Spin(b, (b,), (e, f), tuple(axis[k] for axis in axes), (places[k, 0], places[k, 1]))
        for k, (b, (e, f)) in enumerate(zip(two.tolist(), ends.tolist(), strict=True))
        if rod[k]
    ]
    return found, np.setdiff1d(single, two[rod])


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
