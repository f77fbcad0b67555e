"""Block triangular forms: matrices that can be solved in parts, one after the other.

A square matrix is reducible if rows and columns can be permuted so that it is block lower
triangular with more than one block.  The finest such form is unique up to the order of the blocks:
a transversal first, then the strong components of the graph whose diagonal it is (Tarjan 1972;
Duff & Reid 1978).  Where rows and columns do not match, the form of Dulmage & Mendelsohn 1958 sets
apart what has too many equations and what has too few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biela.graph.adjacency import Integers
from biela.graph.ordering.block_form import BlockForm
from biela.graph.ordering.matching import transversal
from biela.graph.pattern import Pattern

__all__ = ["DulmageMendelsohn", "block_triangular", "dulmage_mendelsohn"]


@dataclass(frozen=True, eq=False)
class DulmageMendelsohn:
    """The coarse and the fine decomposition of any pattern.

    In the order over, blocks, under it is block lower triangular: the rows of each part have
    columns of that part and of those before it only.

    Attributes:
        over: rows and columns of the part with more rows than columns.
        blocks: the irreducible square blocks of the part that has as many of both.
        under: rows and columns of the part with more columns than rows.
        row_of: the transversal it rests on, see `transversal`.
    """

    over: tuple[Integers, Integers]
    blocks: tuple[tuple[Integers, Integers], ...]
    under: tuple[Integers, Integers]
    row_of: Integers

    @property
    def structural_rank(self) -> int:
        """Number of columns that have a row."""
        return int(np.count_nonzero(self.row_of >= 0))


def dulmage_mendelsohn(pattern: Pattern) -> DulmageMendelsohn:
    """The Dulmage-Mendelsohn decomposition of a pattern of any shape.

    >>> dm = dulmage_mendelsohn(Pattern.of_rows([{0}, {0}, {1}, {1, 2, 3}], 4))
    >>> [part.tolist() for part in dm.over], len(dm.blocks), [p.tolist() for p in dm.under]
    ([[0, 1], [0]], 1, [[3], [2, 3]])
    """
    from biela.graph.ordering.compiled_matching import reachable_rows, strong_components

    row_of = transversal(pattern)
    free = np.ones(pattern.rows, dtype=np.bool_)
    free[row_of[row_of >= 0]] = False
    column_of = np.full(pattern.rows, -1, dtype=np.int64)
    matched = np.flatnonzero(row_of >= 0)
    column_of[row_of[matched]] = matched
    # over: what a row without a column reaches; under: what a column without a row reaches
    over_row = reachable_rows(pattern.start, pattern.entries, row_of, free)
    other = pattern.transposed
    under_column = reachable_rows(other.start, other.entries, column_of, row_of < 0)
    over_column = np.zeros(pattern.columns, dtype=np.bool_)
    over_column[matched] = over_row[row_of[matched]]
    under_row = np.zeros(pattern.rows, dtype=np.bool_)
    placed = column_of >= 0
    under_row[placed] = under_column[column_of[placed]]
    square = ~over_column & ~under_column
    component, count = strong_components(pattern.start, pattern.entries, row_of, square)
    columns = np.flatnonzero(square)
    columns = columns[np.argsort(component[columns], kind="stable")]
    cuts = np.searchsorted(component[columns], np.arange(1, count))
    blocks = tuple((row_of[c], c) for c in np.split(columns, cuts) if len(c))
    return DulmageMendelsohn(
        (np.flatnonzero(over_row), np.flatnonzero(over_column)),
        blocks,
        (np.flatnonzero(under_row), np.flatnonzero(under_column)),
        row_of,
    )


def block_triangular(pattern: Pattern) -> BlockForm:
    """The block lower triangular form with the smallest blocks.

    The diagonal of every block has no zeros.  Rows that no transversal needs become the band, and
    columns without a row the border: with them the parts that have too many equations, or too few,
    are one block each.

    >>> block_triangular(Pattern.of_rows([{0, 1}, {0}, {0, 2}], 3)).blocks
    (((1,), (0,)), ((0,), (1,)), ((2,), (2,)))
    """
    dm = dulmage_mendelsohn(pattern)
    blocks = list(dm.blocks)
    (over_rows, over_columns), (_, under_columns) = dm.over, dm.under
    if len(over_columns):
        blocks.insert(0, (dm.row_of[over_columns], over_columns))
    placed = under_columns[dm.row_of[under_columns] >= 0]
    if len(placed):
        blocks.append((dm.row_of[placed], placed))
    border = under_columns[dm.row_of[under_columns] < 0]
    band = np.setdiff1d(over_rows, dm.row_of[over_columns])
    return BlockForm.of([(r.tolist(), c.tolist()) for r, c in blocks], border, band)
