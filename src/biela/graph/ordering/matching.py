"""Transversals: a row for as many columns as possible, so that the diagonal has no zeros."""

from __future__ import annotations

from biela.graph.adjacency import Integers
from biela.graph.pattern import Pattern

__all__ = ["transversal"]


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
