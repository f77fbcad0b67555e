"""Which constraints depend on each other wherever a mechanism is assembled, found at its start.

The rank of Φ_v that a motion has is looked for on a walk: from the start along the motions that the
joints allow, every step brought back onto the constraints to rounding.  The largest rank of the
walk counts, for a start may be singular (a flat parallelogram).

Where the rank is the same beside the constraints, where the stages of an integrator are, nothing is
to be told: rows that depend on others are seen by their pivots there.  So it is for parallel
hinges, in joint coordinates.  Where it is larger, it cannot be asked for in the stages (see
`biela.equations.ranked_rows`).

A self-stress s, with Φ_vᵀ s = 0, tells which rows depend on each other: those where s is not zero.
Of these, the joints that come first are often independent in every position, as those along a tree
are; they stay with the ordinary rows, and the best are chosen among the few that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import Instant, lever_units, unit_rows
from biela.analysis.reach import drive_rows
from biela.analysis.singularity import owner
from biela.equations import System
from biela.equations.positions import notable_places
from biela.equations.ranked_rows import RankedRows
from biela.singular_values import svd

Floats = npt.NDArray[np.float64]

#: Singular values of unit rows below this part of the largest are rounding, on the constraints.
RANK: Final = 1e-7
#: The same beside the constraints, where nothing is left of an assembly that is not exact.
ROUNDING: Final = 1e-11
#: Residual of rows of length 1 to which a position of the walk is assembled.
ASSEMBLED: Final = 1e-11
#: Length of a step of the walk (m, rad), and their number in each direction.
STEP: Final = 0.05
STEPS: Final = 4
#: Gap of rows of length 1 that a step along the tangent leaves where constraints are flat.
FLAT: Final = 1e-9
#: Positions that a walk must have found for its rank to count.
FEWEST: Final = 4
#: Directions of the walk, each both ways.
DIRECTIONS: Final = 3
#: Entries of a self-stress below this are rounding.
TAKES_PART: Final = 1e-6
#: Joints whose rows keep this part beside those before them, in every position, are independent.
INDEPENDENT: Final = 0.02


#: Sets of dependent constraints, by their places, and how many of each count.
Sets = tuple[tuple[tuple[int, ...], int], ...]


class Closure(Protocol):
    """The constraints of a mechanism at an instant, as functions of its position."""

    def Phi(self, q: Floats) -> Floats:
        """The geometric constraints."""

    def Phi_v(self, q: Floats) -> Floats:
        """The rows of all constraints; those of geometric ones come first."""

    def moved(self, q: Floats, delta: Floats) -> Floats:
        """The position after a displacement."""


@dataclass(frozen=True, eq=False)
class InProportion:
    """Constraints with displacements measured in units that suit the size of the mechanism.

    A turn of 1 rad and a displacement by the size of the mechanism then weigh alike, so that the
    rank, and the steps of the walk, are the same for a watch and for a crane.
    """

    closure: Closure
    units: Floats

    def Phi(self, q: Floats) -> Floats:
        """The geometric constraints, as they are."""
        return self.closure.Phi(q)

    def Phi_v(self, q: Floats) -> Floats:
        """The rows of all constraints for velocities in these units."""
        return self.closure.Phi_v(q) * self.units

    def moved(self, q: Floats, delta: Floats) -> Floats:
        """The position after a displacement in these units."""
        return self.closure.moved(q, delta * self.units)


def in_proportion(closure: Closure, q: Floats, lengths: npt.NDArray[np.bool_]) -> InProportion:
    """The constraints with lengths in units of the longest lever arm, see `lever_units`."""
    return InProportion(closure, lever_units(closure.Phi_v(q), lengths))


def ranked_rows(
    system: System, t: float, q: Floats, u: Floats, p: Floats, count: int | None = None
) -> Sets:
    """The dependent constraints of a system; none for ordinary mechanisms.

    ``count`` takes the first constraints only.
    """
    names = system.multipliers if count is None else system.multipliers[:count]
    instant = Instant(system, t, u, p)
    lengths = np.array([entry.unit == "m/s" for entry in system.v], dtype=bool)
    closure = in_proportion(instant, q, lengths)

    def joints() -> list[int]:
        drives = drive_rows(instant, q)
        return [k for k in range(system.geometric) if not drives[k]]

    return dependent_sets(
        closure,
        q,
        names,
        range(system.geometric),
        joints,
        lambda: list(notable_places(system, q)[:6]),
    )


def dependent_sets(
    closure: Closure,
    q: Floats,
    names: Sequence[str],
    geometric: Sequence[int],
    joints: Callable[[], Sequence[int]],
    places: Callable[[], Sequence[Floats]],
    by_pivots: bool = False,
) -> Sets:
    """The dependent ones of some constraints.

    Args:
        closure: The constraints.
        q: A position that fulfils them.
        names: Of the constraints that are looked at, the first ones; their joints come first.
        geometric: Places of those on positions.
        joints: Places of those on positions that are no drives.
        places: Some positions near and far, whether they fulfil the constraints or not.
        by_pivots: Whether rows are chosen by their pivots in every position otherwise, so that
            only those count whose number changes along a motion.
    """
    m = len(names)
    if not m:
        return ()

    def rows(place: Floats) -> Floats:
        return unit_rows(closure.Phi_v(place)[:m])[0]

    here = rows(q)
    if not np.isfinite(here).all() or _rank(here) == m:
        return ()
    free = list(joints())
    visited = walk(closure, q, geometric, free)
    looked = [rows(place) for place in visited]
    ranks = [_rank(found) for found in looked]
    rank = max(ranks)
    if rank == m or len(visited) < FEWEST:
        return ()
    # of the joints alone: with drives there may be as many rows as velocities
    beside = [
        rows(place)[free]
        for at in visited[1::3][:3]
        for place in _beside(closure, at, free, by_pivots)
    ]
    on = max(_rank(found[free]) for found in looked)
    if max((_rank(found, ROUNDING) for found in beside), default=0) <= on:
        return ()
    regular = [found for found, r in zip(looked, ranks, strict=True) if r == rank]
    linked = np.zeros((m, m), dtype=bool)
    for found in regular:
        U = svd(found)[0][:, rank:]
        linked |= np.abs(U @ U.T) > TAKES_PART
    anywhere = [rows(place) for place in places()]
    anywhere = [found for found in anywhere if np.isfinite(found).all()]
    sets = []
    alone = set(np.flatnonzero(~linked.diagonal()).tolist())
    for members in _components(linked):
        others = [k for k in range(m) if k not in members]
        loose = len(members) - (_joint_rank(regular, range(m)) - _joint_rank(regular, others))
        safe = _independent(names, members, sorted(alone), [*regular, *anywhere])
        left = tuple(k for k in members if k not in safe)
        sets.append((left, len(left) - loose))
    return tuple(sets)


def measured(
    found: Sequence[tuple[tuple[int, ...], int]], sizes: Sequence[float], lengths: Sequence[float]
) -> tuple[RankedRows, ...]:
    """The sets with the sizes of their rows, given for all rows."""
    return tuple(
        RankedRows(
            rows, rank, tuple(sizes[k] for k in rows), tuple(float(lengths[k]) for k in rows)
        )
        for rows, rank in found
    )


def walk(
    instant: Closure, q: Floats, geometric: Sequence[int], joints: Sequence[int], seed: int = 0
) -> list[Floats]:
    """The position, brought onto the constraints, and others along the motions of the joints."""
    random = np.random.default_rng(seed)
    place = _assembled(instant, q, geometric)
    found = [q if place is None else place]
    n = instant.Phi_v(q).shape[1]
    for k in range(DIRECTIONS):
        direction = np.asarray(random.normal(size=n), dtype=float)
        for way in (direction, -direction):
            at = found[0]
            ahead = way
            for _ in range(STEPS):
                R = _null(instant.Phi_v(at)[list(joints)])
                if not R.shape[1]:
                    return found
                ahead = R @ (R.T @ ahead)
                size = float(np.linalg.norm(ahead))
                if not size > 1e-9:
                    break
                ahead = ahead / size
                near = _assembled(instant, instant.moved(at, STEP * ahead), joints)
                if near is None:
                    break
                at = near
                found.append(at)
        if _null(instant.Phi_v(found[0])[list(joints)]).shape[1] == 1 and k == 0:
            break
    return found


def _beside(closure: Closure, q: Floats, joints: Sequence[int], by_pivots: bool) -> list[Floats]:
    """Positions beside the constraints, where the stages of a step may be.

    None where the constraints are flat, as those of equal cranks are in their angles: a step along
    the motions that the joints allow then stays on them.  Positions that stages never reach,
    aside of these motions, show rows that other rows may replace elsewhere; by pivots that is done
    anyway, and they count only as accelerations lead to them: parallel hinges stay so.
    """
    picked = list(joints)
    random = np.random.default_rng(0)
    rows, lengths = unit_rows(closure.Phi_v(q)[picked])
    free = _null(rows).T
    mixed = random.normal(size=(DIRECTIONS, len(free))) @ free if len(free) > 1 else free[:0]
    found = []
    for way in [*free[:DIRECTIONS], *mixed]:
        ahead = closure.moved(q, STEP * way / np.linalg.norm(way))
        gap = closure.Phi(ahead)[picked] / lengths
        if not np.abs(gap).max(initial=0.0) > FLAT:
            continue
        found.append(ahead)
        if by_pivots:
            back = np.asarray(np.linalg.lstsq(rows, -gap, rcond=RANK)[0], dtype=float)
            found += [closure.moved(ahead, part * back) for part in (0.5, -0.5)]
        else:
            aside: Floats = random.normal(size=len(way))
            found.append(closure.moved(ahead, STEP**2 * aside))
    return found


def _assembled(instant: Closure, q: Floats, rows: Sequence[int]) -> Floats | None:
    """A position nearby that fulfils some of the geometric constraints; None if none is found."""
    picked = list(rows)
    for _ in range(30):
        # rows of length 1, so that metres and radians weigh alike in mechanisms of any size
        J, lengths = unit_rows(instant.Phi_v(q)[picked])
        residual = instant.Phi(q)[picked] / lengths
        if not np.isfinite(residual).all():
            return None
        # beside the constraints the redundant rows are nearly dependent: small values are cut
        step = np.asarray(np.linalg.lstsq(J, -residual, rcond=1e-5)[0], dtype=float)
        q = instant.moved(q, step)
        if np.abs(residual).max(initial=0.0) <= ASSEMBLED:
            return q
        if not np.linalg.norm(step) < 1.0:
            return None
    return None


def _rank(rows: Floats, least: float = RANK) -> int:
    s = np.linalg.svd(rows, compute_uv=False)
    return int((s > least * s[0]).sum()) if len(s) else 0


def _null(rows: Floats) -> Floats:
    if not len(rows):
        return np.eye(rows.shape[1])
    _, s, Vt = svd(unit_rows(rows)[0])
    return np.asarray(Vt[int((s > RANK * s[0]).sum()) :].T)


def _joint_rank(samples: Sequence[Floats], rows: Sequence[int]) -> int:
    return max((_rank(found[list(rows)]) for found in samples if len(rows)), default=0)


def _components(linked: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Sets of rows that self-stresses link, in order."""
    left = {int(k) for k in np.flatnonzero(linked.diagonal())}
    found = []
    while left:
        front = {min(left)}
        members: set[int] = set()
        while front:
            members |= front
            around = {int(j) for k in front for j in np.flatnonzero(linked[k])}
            front = (around & left) - members
        left -= members
        found.append(sorted(members))
    return found


def _independent(
    names: Sequence[str], members: Sequence[int], before: Sequence[int], samples: Sequence[Floats]
) -> set[int]:
    """The rows of whole joints, or bodies, independent of those before them in all samples."""
    bases = [_span(rows[list(before)]) for rows in samples]
    found: set[int] = set()
    groups: dict[str, list[int]] = {}
    for k in members:
        groups.setdefault(_group(names[k]), []).append(k)
    for own in groups.values():
        beside = [
            _beside_span(rows[own], basis) for rows, basis in zip(samples, bases, strict=True)
        ]
        if all(_least(rest) > INDEPENDENT for rest in beside):
            found.update(own)
            bases = [
                np.concatenate([basis, np.linalg.qr(rest.T)[0].T])
                for rest, basis in zip(beside, bases, strict=True)
            ]
    return found


def _span(rows: Floats) -> Floats:
    """An orthonormal basis of the span of some rows, as rows."""
    _, s, Vt = svd(rows, full_matrices=False)
    return np.asarray(Vt[s > RANK * s.max(initial=0.0)])


def _beside_span(rows: Floats, basis: Floats) -> Floats:
    """What rows have beside an orthonormal basis; twice, so that rounding does not add up."""
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows


def _least(rows: Floats) -> float:
    """The smallest singular value of some rows; 0 if there are more than columns."""
    if len(rows) > rows.shape[1]:
        return 0.0
    return float(np.linalg.svd(rows, compute_uv=False)[-1])


def _group(name: str) -> str:
    """The joint of a row, or the body whose shape it keeps in natural coordinates."""
    shape = name.rpartition(".")[2] in ("length", "unit", "dot")
    return name.partition(".")[0] if shape else owner(name)
