"""Patterns of sparse matrices: which entries can be different from zero.

Rows are equations, columns are unknowns; the two need not be as many.  A pattern is found once,
before any number is known, and everything that is prepared once rests on it: orderings, fill, the
cost of a factorisation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, adjacency, integer_array

__all__ = ["Pattern"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The places of a sparse matrix, row by row.

    The columns of row i are `entries[start[i]:start[i + 1]]`, in increasing order.

    >>> arrow = Pattern.of_rows([{0, 1, 2}, {0, 1}, {0, 2}], 3)
    >>> arrow.shape, arrow.nnz
    ((3, 3), 7)
    >>> arrow.row(1)
    array([0, 1])
    """

    columns: int
    start: Integers
    entries: Integers

    @classmethod
    def of_rows(cls, rows: Sequence[Iterable[int]], columns: int) -> Pattern:
        """The pattern whose row i has its entries in the columns `rows[i]`.

        Raises:
            ShapeError: a row names a column that is not there.
        """
        lists = [list(row) for row in rows]
        i = np.repeat(np.arange(len(lists)), [len(row) for row in lists])
        j = np.array([c for row in lists for c in row], dtype=np.int64)
        return cls.of_entries(len(lists), columns, i, j)

    @classmethod
    def of_entries(cls, rows: int, columns: int, i: ArrayLike, j: ArrayLike) -> Pattern:
        """The pattern with the entries (i[k], j[k]), in any order and more than once.

        Raises:
            ShapeError: the two lists differ in length, or an entry lies outside of the matrix.
        """
        a, b = integer_array("i", i), integer_array("j", j)
        if a.shape != b.shape:
            raise ShapeError(f"entries need a row and a column each: {len(a)} and {len(b)} given")
        for name, places, count in (("row", a, rows), ("column", b, columns)):
            outside = places[(places < 0) | (places >= count)]
            if len(outside):
                raise ShapeError(f"{name} {outside[0]} is not one of the {count} of the pattern")
        keys = np.sort(a * max(columns, 1) + b)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        start = np.searchsorted(keys, np.arange(rows + 1, dtype=np.int64) * max(columns, 1))
        return cls(columns, start.astype(np.int64), keys % max(columns, 1))

    @classmethod
    def of_matrix(cls, A: ArrayLike) -> Pattern:
        """The places where a dense matrix is not zero.

        Raises:
            ShapeError: it is no matrix.
        """
        array = np.asarray(A)
        if array.ndim != 2:
            raise ShapeError(f"a pattern is that of a matrix, not of an array {array.shape}")
        i, j = np.nonzero(array)
        return cls.of_entries(len(array), array.shape[1], i, j)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.start) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.rows, self.columns

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return len(self.entries)

    @property
    def density(self) -> float:
        """Entries as a part of all places."""
        return self.nnz / max(self.rows * self.columns, 1)

    @cached_property
    def entry_rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.rows), np.diff(self.start))

    @cached_property
    def transposed(self) -> Pattern:
        """Columns as rows and rows as columns."""
        order = np.argsort(self.entries, kind="stable")
        start = np.searchsorted(self.entries[order], np.arange(self.columns + 1))
        return Pattern(self.rows, start.astype(np.int64), self.entry_rows[order])

    @property
    def is_symmetric(self) -> bool:
        """Whether (j, i) is an entry wherever (i, j) is one."""
        other = self.transposed
        return (
            self.rows == self.columns
            and np.array_equal(self.start, other.start)
            and np.array_equal(self.entries, other.entries)
        )

    def row(self, i: int) -> Integers:
        """The columns of one row."""
        return self.entries[self.start[i] : self.start[i + 1]]

    def row_lists(self) -> list[list[int]]:
        """The columns of all rows."""
        bounds, entries = self.start.tolist(), self.entries.tolist()
        return [entries[a:b] for a, b in pairwise(bounds)]

    def permuted(self, rows: ArrayLike, columns: ArrayLike) -> Pattern:
        """The pattern with row k the old row `rows[k]`, and columns alike; others are left out.

        Raises:
            ShapeError: a row or column is not there.
        """
        r, c = integer_array("rows", rows), integer_array("columns", columns)
        for name, chosen, count in (("row", r, self.rows), ("column", c, self.columns)):
            outside = chosen[(chosen < 0) | (chosen >= count)]
            if len(outside):
                raise ShapeError(f"{name} {outside[0]} is not one of the {count} of the pattern")
        place = np.full(self.columns, -1, dtype=np.int64)
        place[c] = np.arange(len(c))
        lengths = np.diff(self.start)[r]
        i = np.repeat(np.arange(len(r)), lengths)
        offsets = np.arange(len(i)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        j = place[self.entries[np.repeat(self.start[:-1][r], lengths) + offsets]]
        return Pattern.of_entries(len(r), len(c), i[j >= 0], j[j >= 0])

    def without_columns(self, columns: ArrayLike) -> tuple[Pattern, Integers]:
        """The pattern without some columns, and the old number of each one left.

        With the independent coordinates left out, a Jacobian Φ_q becomes Φ_q^d, on which block
        orderings are run.

        Raises:
            ShapeError: a column is not there.
        """
        gone = integer_array("columns", columns)
        kept = np.setdiff1d(np.arange(self.columns), gone)
        if len(kept) + len(np.unique(gone)) != self.columns:
            raise ShapeError(f"one of the columns {gone.tolist()} is not in the pattern")
        return self.permuted(np.arange(self.rows), kept), kept

    def symmetric_graph(self) -> Adjacency:
        """The graph of A + Aᵀ: row and column k are vertex k.

        Raises:
            ShapeError: the pattern is not square.
        """
        if self.rows != self.columns:
            raise ShapeError(f"A + Aᵀ needs a square pattern, not one of shape {self.shape}")
        return adjacency(self.rows, self.entry_rows, self.entries)

    def column_graph(self) -> Adjacency:
        """The graph of AᵀA: columns that meet in a row are neighbours."""
        lengths = np.diff(self.start)
        after = np.repeat(self.start[1:], lengths) - np.arange(self.nnz) - 1
        first = np.repeat(self.entries, after)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
        second = self.entries[np.repeat(np.arange(self.nnz) + 1, after) + offsets]
        return adjacency(self.columns, first, second)
