"""Nested dissection: number a separator last, and the parts it leaves one after the other."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Adjacency, Integers, adjacency
from biela.graph.ordering.degree import minimum_degree

__all__ = ["nested_dissection"]


def nested_dissection(graph: Adjacency, leaf: int = 32) -> Integers:
    """The order of George 1973: parts first, the vertices that separate them last, and so on.

    A separator is the narrowest level of a level structure from far out, of those that leave a
    third of the vertices on either side; of that level only what touches the next one.  Parts of
    up to ``leaf`` vertices, and those of less than three levels, are ordered by minimum degree.

    >>> from biela.graph import adjacency
    >>> nested_dissection(adjacency(7, range(6), range(1, 7)), leaf=3).tolist()[-1]
    3
    """
    from biela.graph.ordering.compiled_levels import dissection

    number = dissection(graph.start, graph.neighbours, leaf)
    ends = np.repeat(np.arange(graph.size), np.diff(graph.start))
    within = number[ends] == number[graph.neighbours]
    inner = minimum_degree(adjacency(graph.size, ends[within], graph.neighbours[within]))
    return np.ascontiguousarray(inner[np.argsort(number[inner], kind="stable")])
