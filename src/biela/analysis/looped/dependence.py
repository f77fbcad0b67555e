"""Which rows of a large mechanism depend on each other wherever it is assembled.

Rows depend on each other within a loop, or within loops that share bodies: in one block of the
graph of bodies and joints (biconnected component).  Each block is looked at by itself, as the whole
of a small mechanism is (`biela.analysis.formulations.ranking`), and blocks that are alike only
once.  Blocks of very many bodies are left to the threshold on pivots, which a run then tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from biela.analysis.formulations.ranking import RANK, Sets, dependent_sets, in_proportion
from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.block import expanded
from biela.graph.connections import blocks as biconnected

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Bodies of a block that is looked at.
MOST: Final = 60
#: Blocks of one kind that are looked at; if they are all regular, so are the others.
SAMPLES: Final = 200
#: Entries of matrices whose singular values are found at once.
TOGETHER: Final = 10_000_000
#: Displacements to positions that need not fulfil the constraints (m, rad).
AWAY: Final = 0.3


@dataclass(frozen=True, eq=False)
class DependentRows:
    """Rows of a loop that depend on each other.

    Attributes:
        rows: Their places among the rows.
        rank: How many of them count, beside all others.
        part: All rows of the loop and of loops that share bodies with it.
    """

    rows: Integers
    rank: int
    part: Integers


class Dependence(NamedTuple):
    """What is known of the rows of a mechanism that depend on each other.

    Attributes:
        sets: Those whose rank holds on the constraints only; none in ordinary mechanisms.
        count: How many depend on others in all blocks that were looked at.
        whole: Whether all blocks were.
    """

    sets: list[DependentRows]
    count: int
    whole: bool


def dependent_rows(blocks: ReferenceBlocks, q: Floats, J: Floats, t: float = 0.0) -> Dependence:
    """The rows that depend on each other in a mechanism assembled at q.

    ``J`` are the entries of Φ_v there.
    """
    found, count = [], 0
    parts_alike, whole = _alike_parts(blocks)
    for alike in parts_alike:
        ranks = alike.ranks(J)
        count += int((alike.rows.shape[1] - ranks).sum())
        for rank in np.unique(ranks[ranks < alike.rows.shape[1]]):
            parts = np.flatnonzero(ranks == rank)
            sets = _Part(alike, int(parts[0]), t).dependent(q)
            for part in alike.rows[parts]:
                found += [DependentRows(part[list(rows)], r, part) for rows, r in sets]
    return Dependence(found, count, whole)


@dataclass(frozen=True, eq=False)
class _AlikeParts:
    """Blocks of the graph of bodies that have the same joints between the same bodies.

    Attributes:
        blocks: The mechanism.
        rows: The rows of each, (count, m).
        columns: The velocities of their bodies, (count, n).
        entries: Their entries of Φ_v, (count, e).
        places: Row and column of each entry within a block, (2, e).
    """

    blocks: ReferenceBlocks
    rows: Integers
    columns: Integers
    entries: Integers
    places: Integers

    def some(self, parts: Integers) -> _AlikeParts:
        """Some of them."""
        return replace(
            self, rows=self.rows[parts], columns=self.columns[parts], entries=self.entries[parts]
        )

    def matrices(self, J: Floats, parts: slice | int) -> Floats:
        """Φ_v of some of them."""
        entries = self.entries[parts]
        found = np.zeros((*entries.shape[:-1], self.rows.shape[1], self.columns.shape[1]))
        # no entry stands twice
        found[..., self.places[0], self.places[1]] = J[entries]
        return found

    def ranks(self, J: Floats) -> Integers:
        """The rank of each."""
        count, m = self.rows.shape
        if count > SAMPLES:
            some = self.some(np.linspace(0, count - 1, SAMPLES).astype(np.int64))
            if (some.ranks(J) == m).all():
                return np.full(count, m)
        at_once = max(1, TOGETHER // (m * self.columns.shape[1]))
        found = []
        for begin in range(0, count, at_once):
            A = self.matrices(J, slice(begin, begin + at_once))
            size = np.linalg.norm(A, axis=2, keepdims=True)
            s = np.linalg.svd(A / np.where(size > 0, size, 1.0), compute_uv=False)
            found.append((s > RANK * s[:, :1]).sum(axis=1))
        return np.concatenate(found)


class _Part:
    """One of them as a mechanism by itself, whose other bodies rest, for `dependent_sets`."""

    def __init__(self, alike: _AlikeParts, number: int, t: float) -> None:
        self._alike, self._number, self._t = alike, number, t
        self._rows, self._columns = alike.rows[number], alike.columns[number]

    def Phi(self, q: Floats) -> Floats:
        return np.asarray(self._alike.blocks.Phi(q, self._t)[self._rows])

    def Phi_v(self, q: Floats) -> Floats:
        return self._alike.matrices(self._alike.blocks.Phi_v(q, self._t), self._number)

    def moved(self, q: Floats, delta: Floats) -> Floats:
        whole = np.zeros(self._alike.blocks.nv)
        whole[self._columns] = delta
        return self._alike.blocks.moved(q, whole)

    def dependent(self, q: Floats) -> Sets:
        """The dependent rows, by their numbers within the block."""
        blocks = self._alike.blocks
        moving = np.abs(blocks.beta(q, self._t)[self._rows]) > 1e-12
        names = [blocks.rows[int(k)] for k in self._rows]
        free = [k for k, name in enumerate(names) if not (moving[k] or name.startswith("drive "))]
        random = np.random.default_rng(0)

        nv = self._alike.blocks.widths[1]
        axes = 3 if self._alike.blocks.plane is None else 2
        closure = in_proportion(self, q, np.arange(len(self._columns)) % nv < axes)

        def away() -> Sequence[Floats]:
            moves = AWAY * random.uniform(-1, 1, (4, len(self._columns)))
            return [closure.moved(q, move) for move in moves]

        return dependent_sets(closure, q, names, range(len(names)), lambda: free, away)


def _alike_parts(blocks: ReferenceBlocks) -> tuple[list[_AlikeParts], bool]:
    """The blocks of the graph of bodies in which there are loops, by kinds, but not large ones.

    And whether these are all.
    """
    m, wide, bodies = len(blocks.rows), blocks.widths[1], blocks.world.count
    row, column = blocks.indices
    body = np.minimum(column // wide, bodies)
    low, high = np.full(m, bodies), np.full(m, -1)
    np.minimum.at(low, row, body)
    np.maximum.at(high, row, body)
    touched = np.bincount(np.unique(row * (bodies + 1) + body) // (bodies + 1), minlength=m)
    element, kind = _elements(blocks)
    # rows of coordinates that count turns, and of gears between three bodies, stand for themselves
    plain = (touched > 0) & (touched <= 2) & (high < bodies) & (element >= 0)
    high[low == high] = bodies  # the ground
    rows = np.flatnonzero(plain)
    if not len(rows):
        return [], True
    # elements as edges, and the block of each
    edges, of = np.unique(element[rows], return_inverse=True)
    ends = np.zeros((2, len(edges)), dtype=np.int64)
    ends[:, of] = low[rows], high[rows]
    single, block = biconnected(bodies + 1, ends[0], ends[1])
    inside = ((block >= 0) & ~single)[of]
    part = np.full(m, -1)
    part[rows[inside]] = np.unique(block[of[inside]], return_inverse=True)[1]
    count = int(part.max()) + 1
    # bodies of each block, numbered within it
    taken = part[row] >= 0
    pairs, at = np.unique(part[row[taken]] * bodies + body[taken], return_inverse=True)
    owner = pairs // bodies
    begins = np.searchsorted(owner, np.arange(count + 1))
    entries = np.flatnonzero(taken)
    by_part = np.argsort(part[row[entries]], kind="stable")
    entries, at = entries[by_part], at[by_part]
    local = at - begins[part[row[entries]]]
    chosen = np.flatnonzero(part >= 0)
    chosen = chosen[np.argsort(part[chosen], kind="stable")]
    firsts = np.searchsorted(part[chosen], np.arange(count + 1))
    number = np.zeros(m, dtype=np.int64)  # of a row within its block
    number[chosen] = np.arange(len(chosen)) - firsts[part[chosen]]
    cuts = np.searchsorted(part[row[entries]], np.arange(count + 1))
    places = np.stack([number[row[entries]], wide * local + column[entries] % wide])
    sizes = np.stack([np.diff(firsts), np.diff(begins), np.diff(cuts)])
    random = np.random.default_rng(0)
    found = []
    for rows_in, bodies_in, entries_in in np.unique(sizes[:, sizes[1] <= MOST], axis=1).T.tolist():
        wanted = np.array([[rows_in], [bodies_in], [entries_in]])
        same = np.flatnonzero((sizes == wanted).all(axis=0))
        own = chosen[firsts[same][:, None] + np.arange(rows_in)]
        theirs = pairs[begins[same][:, None] + np.arange(bodies_in)] % bodies
        values = cuts[same][:, None] + np.arange(entries_in)
        shape = np.concatenate([kind[own], places[0][values], places[1][values]], axis=1)
        # alike: the same shape, told by a random combination modulo 2⁶⁴
        which = shape.astype(np.uint64) @ random.integers(1, 2**63, shape.shape[1], np.uint64)
        for k in np.unique(which):
            members = np.flatnonzero(which == k)
            columns = wide * theirs[members][:, :, None] + np.arange(wide)
            found.append(
                _AlikeParts(
                    blocks,
                    own[members],
                    columns.reshape(len(members), -1),
                    entries[values[members]],
                    places[:, values[members[0]]],
                )
            )
    return found, bool((sizes[1] <= MOST).all())


def _elements(blocks: ReferenceBlocks) -> tuple[Integers, Integers]:
    """The element that each row is of, or -1; and its kind."""
    element = np.full(len(blocks.rows), -1)
    kind = np.full(len(blocks.rows), -1)
    count = 0
    for number, block in enumerate(blocks.dynamics):
        (width,) = (a.size for a in block.kernel.outputs if a.name == "gamma")
        rows = expanded(block.scatter["gamma"][1], width)
        element[rows] = count + np.arange(len(block))[:, None]
        kind[rows] = 64 * number + np.arange(width)
        count += len(block)
    return element, kind
