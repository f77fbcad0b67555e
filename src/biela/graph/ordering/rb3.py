"""RB3: bordered block triangular form with diagonal blocks of one, two or three rows.

In natural coordinates the unknowns come as points and unit vectors, three components each: the
blocks of an open chain are full and of order three, and to force smaller ones, as P5 does, makes
singular blocks and a wide border.  RB3 emits *tight* sets, k rows whose entries lie within k
columns, with k = 1, 2, 3; by Hall's theorem such a block is structurally regular.  Where there is
none it tears: of a set of three columns as many stay as there are rows within, the others go to the
border.  An open chain needs no tear, and its order is that of a walk along the chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from biela.errors import ShapeError
from biela.graph.ordering.active_rows import ActiveRows, Columns
from biela.graph.ordering.block_form import BlockForm
from biela.graph.ordering.block_values import BlockValues
from biela.graph.ordering.triangular import dulmage_mendelsohn
from biela.graph.pattern import Pattern

__all__ = ["rb3"]

#: Sets that a look-ahead tries before each tear, and columns after which it knows enough.
TRIED = 48
HORIZON = 400


def rb3(
    pattern: Pattern,
    *,
    relative: Iterable[int] = (),
    closures: Iterable[int] = (),
    constant: Iterable[int] = (),
    look_ahead: bool = False,
    values: BlockValues | None = None,
    triangular_first: bool = False,
) -> BlockForm:
    """The bordered block lower triangular form with blocks of order one, two and three.

    1. Rows without entries go to the band.
    2. A row with one entry goes to the front with its column; of several columns the one with most
       entries first, of its rows one with constant derivative, then the shortest, then the first.
    3. Two rows on the same two columns go to the front, then three rows on the same three.
    4. Otherwise tear a set of three columns that a row has (or of as few as a row has, if none has
       three) with the most rows within and the most entries: as many columns as rows go to the
       front with them, the others to the border.

    Args:
        pattern: that of the Jacobian by the dependent coordinates.
        relative: columns to be in the border from the beginning (the hint REL).
        closures: rows to be in the band from the beginning (the hint CLO).
        constant: rows whose derivatives are constant and not zero: safe alone.
        look_ahead: before each tear try the best sets, and take the one after which most columns
            find their place for each that goes to the border.
        values: numbers of the Jacobian at one or more positions.  Of several rows within a tight
            set, and of the columns of a torn one, those are taken that make the best block; a block
            that is nearly singular is not made.
        triangular_first: apply it to the irreducible blocks of the pattern, each by itself.

    >>> form = rb3(Pattern.of_rows([{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {2, 3}], 4))
    >>> form.blocks
    (((0, 1, 2), (0, 1, 2)), ((3,), (3,)))

    Raises:
        ShapeError: a hint names a row or column that is not there.
    """
    hints = _Hints(pattern, relative, closures, constant)
    if triangular_first:
        return _by_parts(pattern, hints, look_ahead, values)
    active = ActiveRows(pattern, hints.constant, hints.closures, hints.relative)
    return _Walk(active, hints, look_ahead, values).form()


class _Hints:
    """Checked hints."""

    def __init__(
        self,
        pattern: Pattern,
        relative: Iterable[int],
        closures: Iterable[int],
        constant: Iterable[int],
    ) -> None:
        self.relative = _known("column", relative, pattern.columns)
        self.closures = _known("row", closures, pattern.rows)
        self.constant = _known("row", constant, pattern.rows)


def _known(kind: str, places: Iterable[int], count: int) -> list[int]:
    found = list(dict.fromkeys(int(place) for place in places))
    for place in found:
        if not 0 <= place < count:
            raise ShapeError(f"{kind} {place} is not one of the {count} of the pattern")
    return found


class _Walk:
    """One run over what is left of a pattern."""

    def __init__(
        self, active: ActiveRows, hints: _Hints, look_ahead: bool, values: BlockValues | None
    ) -> None:
        self.active = active
        self.values = values
        self.look_ahead = look_ahead
        self.blocks: list[tuple[Sequence[int], Sequence[int]]] = []
        self.border = list(hints.relative)
        self.band = list(hints.closures)

    def form(self) -> BlockForm:
        """Go to the end."""
        while self.active.count:
            if not self.advance():
                self.tear()
        left = [c for c, alive in enumerate(self.active.alive) if alive]
        return BlockForm.of(self.blocks, self.border + left, self.band)

    def advance(self) -> bool:
        """Take what can be taken without a tear: empty rows, or one tight set."""
        active = self.active
        if active.empty:
            rows, active.empty = sorted(active.empty), []
            self.band += rows
            active.take(rows, ())
            return True
        return self._single() or self._tight(2) or self._tight(3)

    def _single(self) -> bool:
        while (c := self.active.next_single()) >= 0:
            rows = self._chosen((c,))
            if rows is not None:
                self._front(rows, (c,))
                return True
            self.active.postpone_single()
        return False

    def _tight(self, k: int) -> bool:
        while (K := self.active.next_tight(k)) is not None:
            rows = self._chosen(K)
            if rows is not None:
                self._front(rows, K)
                return True
            self.active.postpone_tight(k)
        return False

    def _chosen(self, K: Columns) -> list[int] | None:
        """The rows of a block on some columns; None if all blocks are nearly singular."""
        rows = [self.active.by_rank[r] for r in self.active.members(K)]
        if self.values is None:
            return rows[: len(K)]
        return self.values.best_rows(rows, K)

    def _front(self, rows: Sequence[int], columns: Sequence[int]) -> None:
        self.blocks.append((rows, columns))
        self.active.take(rows, columns)

    def tear(self) -> None:
        """Send columns to the border so that others find their place."""
        sets = self.active.best_sets(TRIED if self.look_ahead else 1)
        K = self._most_fruitful(sets) if len(sets) > 1 else sets[0]
        rows, kept = self._torn(K)
        self.border += [c for c in self._by_entries(K) if c not in kept]
        if rows:
            self.blocks.append((rows, kept))
        self.active.take(rows, K)

    def _by_entries(self, K: Columns) -> list[int]:
        return sorted(K, key=lambda c: (-len(self.active.columns[c]), c))

    def _torn(self, K: Columns) -> tuple[list[int], list[int]]:
        """Rows and columns of the block that stays when a set is torn."""
        rows = [self.active.by_rank[r] for r in self.active.inside(K)]
        columns = self._by_entries(K)
        if self.values is not None:
            return self.values.best_block(rows, columns)
        q = min(len(rows), len(columns))
        # every row within has all columns of the set, or all but one: any q of them match
        return rows[:q], columns[:q]

    def _most_fruitful(self, sets: list[Columns]) -> Columns:
        """The set after whose tear most columns find their place for each one in the border."""
        best, chosen = -1.0, sets[0]
        for K in sets:
            rows, kept = self._torn(K)
            held = self.blocks, self.border, self.band
            self.blocks, self.border, self.band = [], [], []
            self.active.begin_trial()
            self.active.take(rows, K)
            placed = len(kept)
            while placed < HORIZON and self.active.count and self.advance():
                placed = len(kept) + sum(len(c) for _, c in self.blocks)
            self.active.end_trial()
            self.blocks, self.border, self.band = held
            fruit = placed / (len(K) - len(kept)) if len(kept) < len(K) else np.inf
            if fruit > best:
                best, chosen = fruit, K
        return chosen


def _by_parts(
    pattern: Pattern, hints: _Hints, look_ahead: bool, values: BlockValues | None
) -> BlockForm:
    """RB3 inside each part of the Dulmage-Mendelsohn form of what is not pinned."""
    rows = np.setdiff1d(np.arange(pattern.rows), hints.closures)
    columns = np.setdiff1d(np.arange(pattern.columns), hints.relative)
    dm = dulmage_mendelsohn(pattern.permuted(rows, columns))
    blocks: list[tuple[Sequence[int], Sequence[int]]] = []
    border, band = list(hints.relative), list(hints.closures)
    constant = set(hints.constant)
    for r, c in (dm.over, *dm.blocks, dm.under):
        r, c = rows[np.sort(r)], columns[np.sort(c)]
        if len(r) == len(c) == 1 and values is None:
            blocks.append((r.tolist(), c.tolist()))
            continue
        inner = rb3(
            pattern.permuted(r, c),
            constant=[k for k, i in enumerate(r.tolist()) if i in constant],
            look_ahead=look_ahead,
            values=None if values is None else values.part(r, c),
        )
        blocks += [(r[list(a)].tolist(), c[list(b)].tolist()) for a, b in inner.blocks]
        border += c[list(inner.border)].tolist()
        band += r[list(inner.band)].tolist()
    return BlockForm.of(blocks, border, band)
