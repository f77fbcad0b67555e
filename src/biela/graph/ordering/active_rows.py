"""What is left of a pattern while RB3 takes rows and columns out of it.

Rows of one, two and three entries are found by the columns they have, so that each search looks at
nothing but its answer.  A row keeps its columns as long as they are all left, and leaves together
with them; so what was written down about a set of columns holds until one of them is gone, and
nothing ever needs to be searched for what is out of date.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from biela.graph.pattern import Pattern

__all__ = ["ActiveRows", "Columns"]

#: A set of columns, in order.
Columns = tuple[int, ...]


class ActiveRows:
    """Rows and columns that are left, with those of few entries at hand.

    Attributes:
        rows: the columns that are left in each row.
        columns: the rows that are left in each column.
        alive: whether each column is left.
        count: number of rows that are left.
        rank: the place of each row among all, by preference.
    """

    def __init__(
        self,
        pattern: Pattern,
        constant: Iterable[int] = (),
        rows_out: Sequence[int] = (),
        columns_out: Sequence[int] = (),
    ) -> None:
        self.rows = [set(row) for row in pattern.row_lists()]
        self.columns = [set(rows) for rows in pattern.transposed.row_lists()]
        self.alive = [True] * pattern.columns
        self.count = len(self.rows)
        preferred = set(constant)
        self.by_rank = sorted(
            range(len(self.rows)), key=lambda i: (i not in preferred, len(self.rows[i]), i)
        )
        self.rank = [0] * len(self.rows)
        for place, i in enumerate(self.by_rank):
            self.rank[i] = place
        self._gone = [False] * len(self.rows)
        self._sizes = [0] * (max(map(len, self.rows), default=0) + 4)
        for row in self.rows:
            self._sizes[len(row)] += 1
        self._log: list[tuple[Any, ...]] | None = None
        # by the columns they have: ranks of the rows of one, two and three entries
        self._members: defaultdict[Columns, list[int]] = defaultdict(list)
        self._partners: defaultdict[int, set[int]] = defaultdict(set)  # by pairs
        self._triples_of: defaultdict[Columns, list[Columns]] = defaultdict(list)
        # by number of entries, only for those that were asked for: see `sets_of`
        self._sets: dict[int, defaultdict[Columns, list[int]]] = {}
        self._heaps: dict[int, list[tuple[int, int, int, Columns]]] = {3: []}
        self._clear()
        self._remove(rows_out, columns_out)
        for i in range(len(self.rows)):
            if not self._gone[i]:
                self._note(i)

    def _clear(self) -> None:
        self.empty: list[int] = []
        self.singles: list[tuple[int, int]] = []  # (-entries of the column, column)
        self.tight: dict[int, list[tuple[list[int], Columns]]] = {2: [], 3: []}

    # --- what there is ----------------------------------------------------------------------------

    def members(self, K: Columns) -> list[int]:
        """Ranks of the rows whose entries lie within a set of up to three columns, in order."""
        if len(K) == 1:
            return sorted(self._members[K])
        found = list(self._members.get(K, ()))
        if len(K) == 3:
            for pair in combinations(K, 2):
                found += self._members.get(pair, ())
        for c in K:
            found += self._members.get((c,), ())
        return sorted(found)

    def is_left(self, K: Columns) -> bool:
        """Whether all of some columns are left."""
        return all(self.alive[c] for c in K)

    def next_single(self) -> int:
        """The column with most entries of those that are alone in a row; -1 if there is none."""
        heap = self.singles
        while heap:
            entries, c = heap[0]
            if not self.alive[c]:
                heapq.heappop(heap)
            elif -entries != len(self.columns[c]):
                heapq.heapreplace(heap, (-len(self.columns[c]), c))
            else:
                return c
        return -1

    def postpone_single(self) -> None:
        """Leave the column of `next_single` until another row has it alone."""
        heapq.heappop(self.singles)

    def postpone_tight(self, k: int) -> None:
        """Leave the set of `next_tight` until another row lies within it."""
        heapq.heappop(self.tight[k])

    def next_tight(self, k: int) -> Columns | None:
        """The k columns that k rows lie within, of all those the first ones by rank."""
        heap = self.tight[k]
        while heap and not self.is_left(heap[0][1]):
            heapq.heappop(heap)
        return heap[0][1] if heap else None

    def least(self) -> int:
        """The least number of entries of a row that is left."""
        return next(size for size, rows in enumerate(self._sizes) if rows)

    # --- sets of columns to tear ------------------------------------------------------------------

    def score(self, K: Columns) -> tuple[int, int, int, Columns]:
        """How good it is to tear a set of columns: the least is the best.

        As many rows within it as possible, up to three; then as many entries of its columns.
        """
        inside = self.inside(K)
        return (
            -min(len(inside), 3),
            -sum(len(self.columns[c]) for c in K),
            min(self.by_rank[r] for r in inside),
            K,
        )

    def inside(self, K: Columns) -> list[int]:
        """Ranks of the rows within a set that was found by `best_sets`, in order."""
        return self.members(K) if len(K) <= 3 else sorted(self._sets[len(K)][K])

    def best_sets(self, number: int) -> list[Columns]:
        """The best sets of columns to tear: of three, or of as few as a row has."""
        found = self._best(3, number)
        return found or self._best(self.least(), number)

    def _best(self, size: int, number: int) -> list[Columns]:
        if size not in self._heaps:
            self._heaps[size] = []
            self._sets[size] = defaultdict(list)
            for i, row in enumerate(self.rows):
                if len(row) == size and not self._gone[i]:
                    self._note_set(i, tuple(sorted(row)))
        heap = self._heaps[size]
        found: list[tuple[int, int, int, Columns]] = []
        while heap and len(found) < number:
            top = heap[0]
            if not self.is_left(top[3]) or top in found:
                heapq.heappop(heap)
                continue
            now = self.score(top[3])
            if now == top:
                found.append(heapq.heappop(heap))
            else:
                heapq.heapreplace(heap, now)
        for entry in found:
            heapq.heappush(heap, entry)
        return [entry[3] for entry in found]

    # --- taking out -------------------------------------------------------------------------------

    def take(self, rows: Sequence[int], columns: Sequence[int]) -> None:
        """Take rows and columns out."""
        if self._log is not None:
            self._log.append(("taken", tuple(rows), tuple(columns)))
        for i in self._remove(rows, columns):
            if len(self.rows[i]) <= 3 or len(self.rows[i]) in self._sets:
                self._note(i)

    def _remove(self, rows: Sequence[int], columns: Sequence[int]) -> set[int]:
        """Take out; return the rows that are left with fewer entries."""
        sizes = self._sizes
        for i in rows:
            self._gone[i] = True
            sizes[len(self.rows[i])] -= 1
            for c in self.rows[i]:
                self.columns[c].discard(i)
        self.count -= len(rows)
        changed: set[int] = set()
        for c in columns:
            self.alive[c] = False
            for i in self.columns[c]:
                row = self.rows[i]
                sizes[len(row)] -= 1
                row.discard(c)
                sizes[len(row)] += 1
            changed |= self.columns[c]
        return changed

    def _note(self, i: int) -> None:
        """Write down a row of few entries."""
        row = self.rows[i]
        size = len(row)
        if size == 0:
            self.empty.append(i)
            return
        K = tuple(sorted(row))
        if size <= 3:
            self._members[K].append(self.rank[i])
            if self._log is not None:
                self._log.append(("member", K))
        if size == 1:
            heapq.heappush(self.singles, (-len(self.columns[K[0]]), K[0]))
        elif size == 2:
            self._note_pair(K)
        elif size == 3:
            if len(self._members[K]) == 1:
                for pair in combinations(K, 2):
                    self._triples_of[pair].append(K)
                    if self._log is not None:
                        self._log.append(("triple", pair))
            self._offer(K)
        if size in self._sets and self._log is None:
            self._note_set(i, K)

    def _note_pair(self, K: Columns) -> None:
        if len(self._members[K]) > 1:
            heapq.heappush(self.tight[2], (sorted(self._members[K])[:2], K))
        a, b = K
        triples = set(self._triples_of.get(K, ()))
        few, many = sorted((self._partners[a], self._partners[b]), key=len)
        for c in few & many:
            x, y, z = sorted((a, b, c))
            triples.add((x, y, z))
        if b not in self._partners[a]:
            self._partners[a].add(b)
            self._partners[b].add(a)
            if self._log is not None:
                self._log.append(("pair", a, b))
        for triple in triples:
            if self.is_left(triple):
                self._offer(triple)

    def _offer(self, K: Columns) -> None:
        """Put three columns where tight sets are taken from, and sets to tear."""
        inside = self.members(K)
        if len(inside) >= 3:
            heapq.heappush(self.tight[3], (inside[:3], K))
        if self._log is None and self._members.get(K):
            heapq.heappush(self._heaps[3], self.score(K))

    def _note_set(self, i: int, K: Columns) -> None:
        self._sets[len(K)][K].append(self.rank[i])
        heapq.heappush(self._heaps[len(K)], self.score(K))

    # --- trials -----------------------------------------------------------------------------------

    def begin_trial(self) -> None:
        """From now on write down how to go back; nothing may be left to take without a tear."""
        self._log = []
        self._kept = self.empty, self.singles, self.tight
        self._clear()

    def end_trial(self) -> None:
        """Go back to where the trial began."""
        assert self._log is not None, "a trial was begun"
        for entry in reversed(self._log):
            match entry:
                case ("taken", tuple(rows), tuple(columns)):
                    for c in reversed(columns):
                        self.alive[c] = True
                        for i in self.columns[c]:
                            self._sizes[len(self.rows[i])] -= 1
                            self.rows[i].add(c)
                            self._sizes[len(self.rows[i])] += 1
                    for i in rows:
                        self._gone[i] = False
                        self._sizes[len(self.rows[i])] += 1
                        for c in self.rows[i]:
                            self.columns[c].add(i)
                    self.count += len(rows)
                case ("member", K):
                    self._members[K].pop()
                case ("triple", pair):
                    self._triples_of[pair].pop()
                case ("pair", a, b):
                    self._partners[a].discard(b)
                    self._partners[b].discard(a)
        self._log = None
        self.empty, self.singles, self.tight = self._kept
