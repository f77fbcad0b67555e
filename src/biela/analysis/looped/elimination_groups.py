"""Which unknowns of a large mechanism are eliminated together, and in which order.

Bodies are eliminated from the ends of the mechanism towards its middle, so that the two halves of a
chain go on side by side: each step waits for the one before, and the processor has two of them to
work on.  A few levels make a group, with the multipliers of the joints that lead to their bodies.
Small mechanisms that are not joined to others, as in an array of them, are a group each.

Mechanisms with branches are eliminated body by body, those with fewest neighbours first.  The joint
that leads on from a body goes with it, if nothing but that joint holds all that hangs there: what
is passed on is then its inertia, as in the articulated-body method, and a body with a thousand arms
does not have to wait with all their multipliers.  Where something else holds it too, such as the
ground, the rows would depend on each other as long as the next body has not been eliminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.dependence import DependentRows
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.errors import ModelError
from biela.graph import components, minimum_degree
from biela.graph.adjacency import adjacency
from biela.graph.centred import centred_depth

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

#: Bodies of a mechanism that is eliminated all at once.
SMALL = 6
#: Bodies that a group of levels has, about.
WANTED = 4
#: Bodies of a level above which the mechanism is not taken for a chain.
WIDEST = 4
#: Rows of length 1 whose least singular value is larger count as independent for good.
_INDEPENDENT = 1e-3


@dataclass(frozen=True, eq=False)
class EliminationGroups:
    """How the unknowns of a mechanism are eliminated, velocities and then multipliers.

    Attributes:
        group: The group of each.
        rank: Orders those of a group.
        paired: Coordinates without inertia, each eliminated with the row that follows it.
    """

    group: Integers
    rank: Integers
    paired: Integers


def elimination_groups(
    blocks: ReferenceBlocks, J: Floats, dependent: Sequence[DependentRows] = ()
) -> EliminationGroups:
    """The order in which a mechanism is eliminated.

    ``J`` are entries of Φ_v in some position, by which rows are chosen for coordinates without
    inertia.  Rows that are ``dependent`` follow each other, after all of their loop.

    Raises:
        ModelError: A coordinate without inertia is in no equation.
    """
    n, m, bodies = blocks.nv, len(blocks.rows), blocks.world.count
    wide = blocks.widths[1]
    row, column = blocks.indices
    own = column < wide * bodies
    body = column[own] // wide
    low, high = np.full(m, bodies), np.full(m, -1)
    np.minimum.at(low, row[own], body)
    np.maximum.at(high, row[own], body)
    apart = low < high
    group, order, branched = body_groups(bodies, low[apart], high[apart])
    # a row after the last of its bodies; a coordinate without inertia just before its row
    last = np.full(m, -1)
    np.maximum.at(last, row[own], order[body])
    waits = last.copy()
    if branched.any():
        early = _leading_on(blocks, J, order, branched)
        last[early >= 0] = early[early >= 0]
    extra, tied = column[~own] - wide * bodies, row[~own]
    pairs = _pairs(blocks, extra, tied, np.where(last[tied] >= 0, np.abs(J[~own]), 0.0))
    np.maximum.at(last, tied, last[pairs[extra]])
    level = np.full(n + m, 2)
    level[:n] = 0
    level[n + pairs] = level[wide * bodies : n] = 1
    for k, found in enumerate(dependent):
        last[found.rows] = max(waits[found.part].max(), last[found.part].max())
        level[n + found.rows] = 3 + k
    at = np.empty(n + m, dtype=np.int64)
    at[: wide * bodies] = np.repeat(order, wide)
    at[wide * bodies : n] = last[pairs]
    at[n:] = last
    number = np.arange(n + m)
    number[wide * bodies : n] = n + pairs  # together with the row, before it
    first = np.ones(n + m, dtype=np.int64)
    first[wide * bodies : n] = 0
    rank = np.empty(n + m, dtype=np.int64)
    rank[np.lexsort((first, number, level, at))] = np.arange(n + m)
    by_place = group[np.argsort(order)]
    return EliminationGroups(by_place[at], rank, np.arange(wide * bodies, n))


def _pairs(blocks: ReferenceBlocks, extra: Integers, row: Integers, size: Floats) -> Integers:
    """A row for each coordinate without inertia: one of its own in which it weighs most."""
    found = np.full(len(blocks.extra), -1)
    taken: set[int] = set()
    for k in np.lexsort((row, -size)).tolist():
        x, r = int(extra[k]), int(row[k])
        if found[x] < 0 and r not in taken and size[k] > 0:
            found[x] = r
            taken.add(r)
    if (found < 0).any():
        name = blocks.extra[int(np.argmax(found < 0))]
        raise ModelError(
            f"{blocks.name}: coordinate {name} has no inertia, and no equation ties it to a body"
        )
    return found


def _leading_on(
    blocks: ReferenceBlocks, J: Floats, order: Integers, branched: Booleans
) -> Integers:
    """The place of the first body of rows that need not wait for their other body; else -1.

    They are those of the one element that leads from a body to later ones.
    """
    m, wide, bodies = len(blocks.rows), blocks.widths[1], blocks.world.count
    row, column = blocks.indices
    element = np.full(m, -1)
    count = 0
    for block in blocks.dynamics:
        (width,) = (a.size for a in block.kernel.outputs if a.name == "gamma")
        rows = expanded(block.scatter["gamma"][1], width)
        element[rows] = count + np.arange(len(block))[:, None]
        count += len(block)
    own = column < wide * bodies
    at = order[column[own] // wide]
    first, last = np.full(m, bodies), np.full(m, -1)
    np.minimum.at(first, row[own], at)
    np.maximum.at(last, row[own], at)
    found = np.full(m, -1)
    found[first < last] = first[first < last]
    found[row[~own]] = -1
    free = np.flatnonzero(found >= 0)
    if not len(free):
        return found
    # a body that several elements lead on from may have more rows than velocities
    by_body = np.argsort(order)
    low, high = np.full(bodies, count), np.full(bodies, -1)
    np.minimum.at(low, by_body[found[free]], element[free])
    np.maximum.at(high, by_body[found[free]], element[free])
    fits = branched & (low == high)
    fits &= _independent(blocks, J, np.where(found >= 0, by_body[found], -1))
    fits[by_body[first[first == last]]] = False  # held by the ground
    between = (at > first[row[own]]) & (at < last[row[own]])
    fits[by_body[at[between]]] = False  # in a row of three bodies
    ends = (element >= 0) & (first < last)
    ends[row[~own]] = False
    for k in np.flatnonzero(ends)[np.argsort(first[ends], kind="stable")].tolist():
        if not fits[by_body[first[k]]]:
            fits[by_body[last[k]]] = False  # something that is held hangs there
    found[free[~fits[by_body[found[free]]]]] = -1
    return found


def _independent(blocks: ReferenceBlocks, J: Floats, body: Integers) -> Booleans:
    """For each body, whether the rows that are said to be its own are independent in it alone."""
    wide, bodies = blocks.widths[1], blocks.world.count
    row, column = blocks.indices
    rows = np.flatnonzero(body >= 0)
    rows = rows[np.argsort(body[rows], kind="stable")]
    counts = np.bincount(body[rows], minlength=bodies)
    number = np.zeros(len(body), dtype=np.int64)  # of a row among those of its body
    number[rows] = np.arange(len(rows)) - (np.cumsum(counts) - counts)[body[rows]]
    found = (counts > 0) & (counts <= wide)
    inside = (column // wide == body[row]) & found[np.maximum(body[row], 0)] & (body[row] >= 0)
    A = np.zeros((bodies, wide, wide))
    np.add.at(A, (body[row[inside]], number[row[inside]], column[inside] % wide), J[inside])
    size = np.linalg.norm(A, axis=2, keepdims=True)
    A /= np.where(size > 0, size, 1.0)
    values = np.linalg.svd(A, compute_uv=False)
    least = values[np.arange(bodies), np.clip(counts, 1, wide) - 1]
    return np.asarray(found & (least > _INDEPENDENT))


def body_groups(
    count: int, first: Integers, second: Integers
) -> tuple[Integers, Integers, Booleans]:
    """Group of each body, its place in the order of elimination, and whether there are branches."""
    piece = components(count, first, second)
    numbers, size = np.unique(piece, return_counts=True)
    which = np.searchsorted(numbers, piece)
    depth = centred_depth(count, first, second)
    deepest = np.zeros(len(numbers), dtype=np.int64)
    np.maximum.at(deepest, which, depth)
    level = deepest[which] - depth
    # how many levels make a group, in each piece
    mean = size / (deepest + 1)
    merged = np.maximum(1, np.round(WANTED / mean)).astype(np.int64)
    inner = np.where(size[which] <= SMALL, 0, level // merged[which])
    wide = _widest(which, level, len(numbers)) > WIDEST
    wide &= size > SMALL
    if wide.any():
        inner = np.where(wide[which], _by_degree(count, first, second), inner)
    order = np.lexsort((np.arange(count), level, inner, which))
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    changes = np.flatnonzero((np.diff(which[order]) != 0) | (np.diff(inner[order]) != 0))
    group = np.zeros(count, dtype=np.int64)
    number = np.zeros(count, dtype=np.int64)
    number[changes + 1] = 1
    group[order] = np.cumsum(number)
    return group, place, wide[which]


def _widest(which: Integers, level: Integers, pieces: int) -> Integers:
    """The most bodies that a level of each piece has."""
    key = which * (int(level.max(initial=0)) + 1) + level
    keys, counts = np.unique(key, return_counts=True)
    found = np.zeros(pieces, dtype=np.int64)
    np.maximum.at(found, keys // (int(level.max(initial=0)) + 1), counts)
    return found


def _by_degree(count: int, first: Integers, second: Integers) -> Integers:
    """The place of each body if that with fewest neighbours goes first."""
    place = np.empty(count, dtype=np.int64)
    place[minimum_degree(adjacency(count, first, second))] = np.arange(count)
    return place
