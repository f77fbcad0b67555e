"""Which bodies the equations determine, by rank: where counting does not tell.

Let K be bodies of known motion and C others.  The bodies of C that the rows on C and K determine
are those whose velocity is zero in the whole null space of these rows on C.  A set T is
*determined* if the rows on T and K alone determine all of it; the union of determined sets is
determined, so every set has a largest determined subset, found by taking away what is not until
nothing changes.

Body c *needs* body b if no determined set has c without b: if c is not in the largest determined
subset of C without b.  Bodies that need each other are solved together.  Redundant equations leave
several ways to determine a body, and what it needs may then not be enough: it is solved together
with the bodies that need it, whichever way would do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.equations.groups.units import RANK, Rows
from biela.graph.structure import condensed
from biela.singular_values import svd

__all__ = [
    "Split",
    "dependent",
    "largest_determined",
    "null_space",
    "pieces",
    "rows_among",
    "split",
]

Floats = npt.NDArray[np.float64]

#: Bodies up to which a piece is looked at as a whole.
_WHOLE = 40


@dataclass(frozen=True)
class Split:
    """What was found.

    Attributes:
        groups: Sets of bodies, each after those it rests on.
        left: Bodies that nothing determines.
    """

    groups: tuple[tuple[int, ...], ...]
    left: tuple[int, ...]


def rows_among(
    rows: Rows, bodies: Collection[int], known: Collection[int]
) -> npt.NDArray[np.int64]:
    """The rows that touch some bodies, and otherwise known ones only."""
    inside = set(bodies)
    found = []
    for e in rows.elements_of(sorted(inside)):
        others = (b for b in rows.elements.touched[e].tolist() if b >= 0)
        if all(b in inside or b in known for b in others):
            found.append(e)
    return rows.rows_of(found)


def null_space(A: Floats) -> Floats:
    """An orthonormal basis of the null space, (columns, dimension)."""
    if not len(A) or not A.shape[1]:
        return np.eye(A.shape[1])
    _, s, Vt = svd(A)
    rank = int(np.count_nonzero(s > RANK * max(float(s[0]), 1e-300)))
    return np.asarray(Vt[rank:].T)


def _still(rows: Rows, bodies: Sequence[int], known: Collection[int]) -> list[int]:
    """The bodies whose velocity is zero in the null space of the rows on them and known ones.

    Of several positions those count in which the rank is highest: a lower one is singular.
    """
    among = rows_among(rows, bodies, known)
    spaces = [null_space(rows.matrix(k, among, bodies)) for k in range(len(rows.values))]
    least = min(N.shape[1] for N in spaces)
    still = np.ones(len(bodies), dtype=bool)
    for N in spaces:
        if N.shape[1] == least:
            sizes = np.abs(N.reshape(len(bodies), rows.width, -1)).max(axis=(1, 2), initial=0.0)
            still &= sizes < 1e-6
    return [b for b, fixed in zip(bodies, still, strict=True) if fixed]


def largest_determined(rows: Rows, bodies: Iterable[int], known: Collection[int]) -> list[int]:
    """The largest subset of some bodies that is determined."""
    now = sorted(bodies)
    while now:
        still = _still(rows, now, known)
        if len(still) == len(now):
            break
        now = still
    return now


def split(rows: Rows, bodies: Iterable[int], known: Collection[int]) -> Split:
    """The finest determined sets of some bodies, and what is left of them."""
    rest, seen = set(bodies), set(known)
    groups: list[tuple[int, ...]] = []
    while rest:
        found = [g for piece in pieces(rows, rest) for g in _piece(rows, piece, seen)]
        if not found:
            break
        groups += found
        done = {b for g in found for b in g}
        rest -= done
        seen |= done
    return Split(tuple(groups), tuple(sorted(rest)))


def pieces(rows: Rows, bodies: set[int]) -> list[list[int]]:
    """The bodies in sets that no element joins."""
    found, rest = [], set(bodies)
    while rest:
        piece, ahead = set(), [min(rest)]
        while ahead:
            b = ahead.pop()
            if b in piece:
                continue
            piece.add(b)
            ahead += _neighbours(rows, b, rest)
        found.append(sorted(piece))
        rest -= piece
    return found


def _neighbours(rows: Rows, body: int, inside: set[int]) -> list[int]:
    found = {int(b) for e in rows.elements_of([body]) for b in rows.elements.touched[e]}
    return sorted((found & inside) - {body})


def _piece(rows: Rows, piece: list[int], known: set[int]) -> list[tuple[int, ...]]:
    if len(piece) <= _WHOLE:
        determined = largest_determined(rows, piece, known)
        return _ordered(rows, determined, known)
    # in a large piece, the smallest surroundings of bodies beside known ones that are determined
    inside = set(piece)
    balls = {b: {b} for b in piece}
    while balls:
        found: dict[int, list[tuple[int, ...]]] = {}
        for b, ball in balls.items():
            determined = largest_determined(rows, ball, known)
            if determined:
                found[b] = _ordered(rows, determined, known)
        if found:
            return _disjoint(groups[0] for groups in found.values())
        wider = {
            b: ball | {c for a in ball for c in _neighbours(rows, a, inside)}
            for b, ball in balls.items()
        }
        balls = {b: ball for b, ball in wider.items() if ball != balls[b]}
    return []


def _disjoint(groups: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Sets without those that a smaller one meets, and with those that meet put together."""
    found: list[set[int]] = []
    for group in sorted(set(groups), key=lambda g: (len(g), g)):
        if any(other < set(group) for other in found):
            continue
        meeting = [other for other in found if other & set(group)]
        merged = set(group).union(*meeting)
        found = [other for other in found if other not in meeting] + [merged]
    return [tuple(sorted(group)) for group in found]


def _ordered(rows: Rows, bodies: list[int], known: set[int]) -> list[tuple[int, ...]]:
    """A determined set as groups, each after those it rests on."""
    if not bodies:
        return []
    place = {b: k for k, b in enumerate(bodies)}
    tails, heads = [], []
    for b in bodies:
        without = set(largest_determined(rows, (c for c in bodies if c != b), known))
        for c in bodies:
            if c != b and c not in without:
                tails.append(place[b])
                heads.append(place[c])
    order = condensed(len(bodies), np.array(tails, dtype=np.int64), np.array(heads, dtype=np.int64))
    sets: list[set[int]] = [set() for _ in range(order.count)]
    for b in bodies:
        sets[int(order.part[place[b]])].add(b)
    ahead = [
        set(order.ahead[order.start[k] : order.start[k + 1]].tolist()) for k in range(order.count)
    ]
    groups: list[tuple[int, ...]] = []
    done: set[int] = set(known)
    used: set[int] = set()
    for k in range(order.count):
        if k in used:
            continue
        group, more = set(sets[k]), {k}
        while len(largest_determined(rows, group, done)) < len(group):
            wider = more | {a for m in more for a in ahead[m] if a not in used}
            wider = wider if wider != more else set(range(order.count)) - used
            more = wider
            group = set().union(*(sets[m] for m in more))
        used |= more
        done |= group
        groups.append(tuple(sorted(group)))
    return groups


def dependent(A: Floats) -> list[int]:
    """Rows that depend on those before them."""
    basis = np.zeros((0, A.shape[1]))
    found = []
    for k, row in enumerate(A):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        size = float(np.linalg.norm(rest))
        if size < 1e-7 * max(float(np.linalg.norm(row)), 1e-300) or size < 1e-9:
            found.append(k)
        else:
            basis = np.vstack([basis, rest / size])
    return found
