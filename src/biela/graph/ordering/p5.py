"""P5: bordered block triangular form by preassigned pivots, with all spikes in the border.

Hellerman & Rarick 1971 and 1972 (P3, P4); Erisman, Grimes, Lewis & Poole 1985, "A structurally
stable modification of Hellerman-Rarick's P4 algorithm for reordering unsymmetric sparse matrices",
SIAM J. Numer. Anal. 22 (P5).
"""

from __future__ import annotations

import heapq
from collections import defaultdict

from biela.graph.ordering.block_form import BlockForm
from biela.graph.pattern import Pattern

__all__ = ["p5"]


def p5(pattern: Pattern) -> BlockForm:
    """The bordered block lower triangular form of P5.

    On the rows and columns that are left: m is the least number of entries of a row.  Choose m
    columns one at a time, each the one with most entries in the rows that have fewest left.  The
    rows that have nothing left go to the front with as many of the columns, the last ones; the
    other columns go to the border, the other rows to the band.  Repeat.  Of equal columns the one
    with most entries is taken, then the first.

    >>> form = p5(Pattern.of_rows([{0, 1}, {1, 2}, {0, 2}], 3))
    >>> form.blocks, form.border, form.band
    ((((0,), (1,)), ((1,), (2,))), (0,), (2,))
    """
    selection = ColumnSelection(pattern)
    blocks, border, band = [], [], []
    while selection.left:
        empty, chosen = selection.next()
        if not chosen:
            band += empty
            continue
        m = len(chosen)
        s = min(len(empty), m)
        blocks.append((empty[:s], chosen[m - s :]))
        border += chosen[: m - s]
        band += empty[s:]
    return BlockForm.of(blocks, border + selection.unused(), band)


class ColumnSelection:
    """The choice of columns that P3 and P5 share, on what is left of a pattern.

    Only the first of the m columns is looked for among all rows: those with fewer entries left
    than m have one of the columns chosen before.  So one tally of the columns is kept for each
    number of entries that has been the least one so far, with the best column on top of a heap;
    what became worse since it was put there is seen when it comes up.

    Attributes:
        left: number of rows that are left.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.rows = [set(row) for row in pattern.row_lists()]
        self.columns = [set(rows) for rows in pattern.transposed.row_lists()]
        self.left = len(self.rows)
        self._free = [True] * pattern.columns
        self._empty = [i for i, row in enumerate(self.rows) if not row]
        self._sizes: defaultdict[int, set[int]] = defaultdict(set)
        for i, row in enumerate(self.rows):
            self._sizes[len(row)].add(i)
        self._tallies: dict[int, defaultdict[int, int]] = {}
        self._heaps: dict[int, list[tuple[int, int, int]]] = {}

    def next(self) -> tuple[list[int], list[int]]:
        """The rows that are used up now, and the columns that use them up; none if they had none.

        Both are taken out of what is left.
        """
        if self._empty:
            found, self._empty = sorted(self._empty), []
            self._sizes[0].difference_update(found)
            self.left -= len(found)
            return found, []
        m = min(size for size, rows in self._sizes.items() if rows)
        chosen = [self._first(m)]
        hits: defaultdict[int, int] = defaultdict(int)
        for k in range(m - 1, -1, -1):
            for i in self.columns[chosen[-1]]:
                hits[i] += 1
            if k:
                chosen.append(self._following(k, hits, set(chosen)))
        return self._taken(chosen, hits), chosen

    def unused(self) -> list[int]:
        """The columns that were never chosen."""
        return [c for c, free in enumerate(self._free) if free]

    def _first(self, m: int) -> int:
        """The column with most entries in the rows of m entries."""
        if m not in self._heaps:
            counted: defaultdict[int, int] = defaultdict(int)
            self._tallies[m] = counted
            for i in self._sizes[m]:
                for c in self.rows[i]:
                    counted[c] += 1
            self._heaps[m] = [(-n, -len(self.columns[c]), c) for c, n in counted.items()]
            heapq.heapify(self._heaps[m])
        heap, tally = self._heaps[m], self._tallies[m]
        while True:
            top = heap[0]
            c = top[2]
            now = (-tally[c], -len(self.columns[c]), c)
            if not self._free[c] or not tally[c]:
                heapq.heappop(heap)
            elif now == top:
                return c
            else:
                heapq.heapreplace(heap, now)

    def _following(self, k: int, hits: dict[int, int], chosen: set[int]) -> int:
        """The column with most entries in the rows that have k entries besides those chosen."""
        tally: defaultdict[int, int] = defaultdict(int)
        for i, hit in hits.items():
            if len(self.rows[i]) - hit == k:
                for c in self.rows[i] - chosen:
                    tally[c] += 1
        return min(tally, key=lambda c: (-tally[c], -len(self.columns[c]), c))

    def _taken(self, chosen: list[int], hits: dict[int, int]) -> list[int]:
        """Take the columns out, and the rows without others; the latter in order."""
        gone = set(chosen)
        used: list[int] = []
        for i, hit in hits.items():
            old, row = len(self.rows[i]), self.rows[i]
            self._sizes[old].discard(i)
            self._count(old, row, -1)
            row -= gone
            if hit == old:
                used.append(i)
            else:
                self._sizes[old - hit].add(i)
        for c in chosen:
            self._free[c] = False
        for i in hits:
            # only now: the tallies of rows that are left must not see used ones
            if self.rows[i]:
                self._count(len(self.rows[i]), self.rows[i], 1)
        self.left -= len(used)
        return sorted(used)

    def _count(self, size: int, row: set[int], by: int) -> None:
        if size in self._tallies:
            tally, heap = self._tallies[size], self._heaps[size]
            for c in row:
                tally[c] += by
                if by > 0:
                    heapq.heappush(heap, (-tally[c], -len(self.columns[c]), c))
