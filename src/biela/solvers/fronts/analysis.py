"""Which fronts a matrix has, which of them are alike, and where everything is kept.

Nothing is numeric here.  Unknowns are renumbered by their place in the elimination, entries by the
group that eliminates them first, so that every front finds its own unknowns, its own entries and
its own factors side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import BielaError, ShapeError

#: Fronts of more unknowns than this, times the root of the operations allowed, are not looked at.
_WIDEST = 2.0

Integers = NDArray[np.int64]
Pairs = tuple[tuple[int, int], ...]


class TooMuchCodeError(BielaError):
    """The kernels of all kinds would have more operations than is allowed."""


@dataclass(frozen=True)
class Front:
    """What fronts that are alike have in common; local numbers, own unknowns first.

    Attributes:
        own: Number of unknowns that are eliminated here.
        late: For each unknown, own and border, whether it is a multiplier.
        entries: Places (row, column), row ≥ column, of the entries that belong here.
        children: For each earlier front that leads here, the places of what it passes on, and the
            unknowns in whose diagonal it accumulated magnitudes.
        borders: For each of them its border, by local numbers of this front.
        pairs: Own unknowns that are eliminated together with the one that follows them.
        ranked: Own multipliers, one after the other, of which so many are independent.
    """

    own: int
    late: tuple[bool, ...]
    entries: Pairs
    children: tuple[tuple[Pairs, tuple[int, ...]], ...]
    borders: tuple[tuple[int, ...], ...]
    pairs: tuple[int, ...] = ()
    ranked: tuple[tuple[tuple[int, ...], int], ...] = ()

    @property
    def pivots(self) -> list[tuple[int, ...]]:
        """The own unknowns in order, those of pairs together."""
        second = {p + 1 for p in self.pairs}
        return [(p, p + 1) if p in self.pairs else (p,) for p in range(self.own) if p not in second]

    @property
    def size(self) -> int:
        """Number of unknowns, own and border."""
        return len(self.late)

    @property
    def pattern(self) -> tuple[set[tuple[int, int]], Pairs, tuple[int, ...]]:
        """Entries of the factors; and what is passed on, by border numbers: entries, magnitudes."""
        there = {*self.entries, *((i, i) for i in range(self.own))}
        for pairs, _ in self.children:
            there |= set(pairs)
        sized = {i for _, found in self.children for i in found}
        for pivot in self.pivots:
            last = pivot[-1]
            below = [i for i in range(last + 1, self.size) if any((i, p) in there for p in pivot)]
            there |= {(i, p) for i in below for p in pivot}
            there |= {(i, j) for i in below for j in below if j <= i}
            sized |= set(below)
        passed = sorted((i, j) for i, j in there if j >= self.own)
        magnitudes = sorted(i for i in sized if i >= self.own and self.late[i])
        return there, tuple(passed), tuple(magnitudes)

    def operations(self, there: set[tuple[int, int]]) -> int:
        """About how many operations the elimination takes; ``there`` are entries of the factors."""
        below = [0] * self.own
        for _, j in there:
            if j < self.own:
                below[j] += 1
        brought = sum(len(pairs) + len(m) for pairs, m in self.children)
        chosen = sum(4 * rank * len(places) ** 2 for places, rank in self.ranked)
        return sum(k * (k + 1) // 2 for k in below) + brought + chosen


@dataclass(frozen=True, eq=False)
class Fronts:
    """The fronts of a matrix.

    Attributes:
        place: Where an unknown stands in the elimination.
        slot: Where the value of an entry is kept.
        kinds: The different fronts.
        kind: The kind of each group.
        start: First unknown of each group, and their number.
        slots: First entry of each group, and their number.
        border: Places of the unknowns in the border of each group.
        children: Groups that pass on to each group, in the order of `Front.children`.
        passes: For each kind what it passes on: entries and magnitudes, by border numbers.
    """

    place: Integers
    slot: Integers
    kinds: tuple[Front, ...]
    kind: Integers
    start: Integers
    slots: Integers
    border: Sequence[Sequence[int]]
    children: Sequence[Sequence[int]]
    passes: tuple[tuple[Pairs, tuple[int, ...]], ...]


def find_fronts(
    rows: ArrayLike,
    columns: ArrayLike,
    group: ArrayLike,
    rank: ArrayLike,
    late: ArrayLike,
    paired: ArrayLike = (),
    ranked: Sequence[tuple[ArrayLike, int]] = (),
    most: float = np.inf,
) -> Fronts:
    """The fronts of a symmetric matrix, given by the entries of one triangle.

    Args:
        rows: Row of each entry.
        columns: Column of each entry.
        group: Group of each unknown; they are eliminated in ascending order.
        rank: Orders the unknowns within a group.
        late: Which unknowns are multipliers.
        paired: Unknowns that are eliminated together with the one that follows them.
        ranked: Multipliers that depend on each other, and how many of them are independent; they
            follow each other in one group.
        most: So many operations may the eliminations of all kinds have, each kind once.

    Raises:
        ShapeError: The arrays do not fit each other.
        TooMuchCodeError: The kinds have more operations.
    """
    first, second = (np.asarray(x, dtype=np.int64) for x in (rows, columns))
    groups, ranks = (np.asarray(x, dtype=np.int64) for x in (group, rank))
    lates = np.asarray(late, dtype=bool)
    n = len(groups)
    if first.shape != second.shape or ranks.shape != (n,) or lates.shape != (n,):
        raise ShapeError("fronts: entries need a row and a column, unknowns group, rank and late")
    order = np.lexsort((ranks, groups))
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    numbers, start = np.unique(groups[order], return_index=True)
    start = np.append(start, n)
    of = np.repeat(np.arange(len(numbers)), np.diff(start))  # group of each place
    low = np.minimum(place[first], place[second])
    high = np.maximum(place[first], place[second])
    by_slot = np.lexsort((high, low))
    slot = np.empty(len(first), dtype=np.int64)
    slot[by_slot] = np.arange(len(first))
    low, high = low[by_slot], high[by_slot]
    slots = np.searchsorted(of[low], np.arange(len(numbers) + 1))
    first_of_pair = np.zeros(n, dtype=bool)
    first_of_pair[place[np.asarray(paired, dtype=np.int64)]] = True
    chosen: dict[int, list[tuple[Integers, int]]] = {}
    for unknowns, count in ranked:
        at = np.sort(place[np.asarray(unknowns, dtype=np.int64)])
        if at[-1] - at[0] != len(at) - 1 or of[at[0]] != of[at[-1]]:
            raise ShapeError("fronts: multipliers of known rank follow each other in one group")
        chosen.setdefault(int(of[at[0]]), []).append((at, count))
    finder = _Finder(place, slot, start, slots, low, high, of, lates[order], first_of_pair, chosen)
    return finder.found(most)


class _Finder:
    """Walks over the groups in the order of elimination."""

    def __init__(
        self,
        place: Integers,
        slot: Integers,
        start: Integers,
        slots: Integers,
        low: Integers,
        high: Integers,
        of: Integers,
        late: NDArray[np.bool_],
        paired: NDArray[np.bool_],
        ranked: dict[int, list[tuple[Integers, int]]],
    ) -> None:
        self.place, self.slot, self.start, self.slots = place, slot, start, slots
        self.low, self.high = low.tolist(), high.tolist()
        self.of, self.late, self.paired = of.tolist(), late.tolist(), paired.tolist()
        self.any_paired = bool(paired.any())
        self.ranked = ranked

    def found(self, most: float) -> Fronts:
        count = len(self.start) - 1
        kinds: dict[Front, int] = {}
        passes: list[tuple[Pairs, tuple[int, ...]]] = []
        work = 0
        kind = np.empty(count, dtype=np.int64)
        border: list[list[int]] = []
        children: list[list[int]] = [[] for _ in range(count)]
        start, slots = self.start.tolist(), self.slots.tolist()
        for g in range(count):
            begin, end = start[g], start[g + 1]
            later = {i for i in self.high[slots[g] : slots[g + 1]] if i >= end}
            for child in children[g]:
                later.update(i for i in border[child] if i >= end)
            mine = sorted(later)
            border.append(mine)
            if mine:
                children[self.of[mine[0]]].append(g)
            local = {i: i - begin for i in range(begin, end)}
            local |= {i: end - begin + k for k, i in enumerate(mine)}
            entries = tuple(
                (local[i], local[j])
                for i, j in zip(
                    self.high[slots[g] : slots[g + 1]],
                    self.low[slots[g] : slots[g + 1]],
                    strict=True,
                )
            )
            brought, borders = [], []
            for child in children[g]:
                where = tuple(local[i] for i in border[child])
                borders.append(where)
                passed, magnitudes = passes[kind[child]]
                brought.append(
                    (
                        tuple((where[i], where[j]) for i, j in passed),
                        tuple(where[i] for i in magnitudes),
                    )
                )
            late = (*self.late[begin:end], *(self.late[i] for i in mine))
            pairs: tuple[int, ...] = ()
            if self.any_paired:
                pairs = tuple(i - begin for i in range(begin, end) if self.paired[i])
            ranked = tuple(
                (tuple((at - begin).tolist()), rank) for at, rank in self.ranked.get(g, ())
            )
            front = Front(end - begin, late, entries, tuple(brought), tuple(borders), pairs, ranked)
            if front not in kinds:
                kinds[front] = len(kinds)
                if len(late) > _WIDEST * np.sqrt(most):  # the pattern alone would take long
                    raise TooMuchCodeError(f"a front has {len(late)} unknowns")
                there, passed, magnitudes = front.pattern
                work += front.operations(there)
                if work > most:
                    raise TooMuchCodeError(f"{len(kinds)} kinds have more than {most} operations")
                own = front.own
                passes.append(
                    (
                        tuple((i - own, j - own) for i, j in passed),
                        tuple(i - own for i in magnitudes),
                    )
                )
            kind[g] = kinds[front]
        return Fronts(
            self.place,
            self.slot,
            tuple(kinds),
            kind,
            self.start,
            self.slots,
            border,
            children,
            tuple(passes),
        )
