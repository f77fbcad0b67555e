"""Levels of a graph around its middle: what can be eliminated from all ends inwards at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.graph.adjacency import Integers
from biela.graph.connections import Forest, breadth_first, components, edge_ends

__all__ = ["centred_depth"]


def centred_depth(size: int, first: ArrayLike, second: ArrayLike) -> Integers:
    """How far each vertex is from the middle of its component.

    The middle is that of a longest of the shortest paths, found by two walks: from any vertex to
    one that is farthest, and from there to one that is farthest again (George & Liu 1979, "An
    implementation of a pseudoperipheral node finder", ACM TOMS 5).

    >>> centred_depth(5, [0, 1, 2, 3], [1, 2, 3, 4]).tolist()
    [2, 1, 0, 1, 2]

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    a, b = edge_ends(size, first, second)
    piece = components(size, a, b)
    roots = np.unique(piece)
    ends = _farthest(_walk_from(roots, size, a, b), piece, roots)
    forest = _walk_from(ends, size, a, b)
    here = _farthest(forest, piece, roots)
    half = forest.depth[here] // 2
    while True:
        above = forest.depth[here] > half
        if not above.any():
            break
        here = np.where(above, forest.parent[here], here)
    return _walk_from(here, size, a, b).depth


def _walk_from(roots: Integers, size: int, first: Integers, second: Integers) -> Forest:
    """The forest of shortest paths from given vertices, one in each component."""
    rest = np.ones(size, dtype=bool)
    rest[roots] = False
    order = np.concatenate([roots, np.flatnonzero(rest)])
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    found = breadth_first(size, place[first], place[second])
    parent = np.where(found.parent >= 0, order[found.parent], -1)
    return Forest(parent[place], found.edge[place], order[found.order], found.depth[place])


def _farthest(forest: Forest, piece: Integers, roots: Integers) -> Integers:
    """A vertex of greatest depth in each component."""
    by_depth = np.lexsort((forest.depth, piece))
    last = np.searchsorted(piece[by_depth], roots, side="right") - 1
    return by_depth[last]
