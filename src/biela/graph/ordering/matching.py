"""Transversals: a row for as many columns as possible, so that the diagonal has no zeros."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biela.graph.adjacency import Integers
from biela.graph.pattern import Pattern

__all__ = ["spare_columns", "transversal"]


def transversal(pattern: Pattern) -> Integers:
    """A maximum matching: the row of each column, -1 for a column without one.

    Rows with few columns choose first.  Then, by depth-first augmenting paths, each row that is
    left in turn takes a free column it has, or else one of a row placed before that can be placed
    anew (Kuhn 1955; Duff 1981, "On algorithms for obtaining a maximum transversal", ACM TOMS 7).
    As many columns as are matched is the structural rank: more no numbers can give it.

    >>> transversal(Pattern.of_rows([{0, 1}, {0}, {0, 2}], 3)).tolist()
    [1, 0, 2]
    """
    from biela.graph.ordering.compiled_matching import augmenting_paths, first_matching

    other = pattern.transposed
    first = first_matching(pattern.start, pattern.entries, other.start, other.entries)
    rows: Integers = augmenting_paths(pattern.start, pattern.entries, first)
    return rows


def spare_columns(pattern: Pattern, rather: Iterable[int] = ()) -> Integers:
    """Columns that a maximum matching leaves without a row, those of ``rather`` first.

    In the Jacobian of a mechanism: a choice of independent coordinates that its pattern allows.

    >>> spare_columns(Pattern.of_rows([{0, 1}], 2), rather=[0]).tolist()
    [0]
    """
    from biela.graph.ordering.compiled_matching import augmenting_paths

    wanted = np.zeros(pattern.columns, dtype=np.bool_)
    wanted[list(rather)] = True
    others = np.flatnonzero(~wanted)
    # a column that has a row keeps one when others are matched after it
    first = np.full(pattern.columns, -1, dtype=np.int64)
    first[others] = transversal(pattern.permuted(np.arange(pattern.rows), others))
    return np.flatnonzero(augmenting_paths(pattern.start, pattern.entries, first) < 0)
