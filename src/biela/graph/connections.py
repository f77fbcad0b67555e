"""How a graph hangs together: components, bridges, and how many loops there are.

A graph is a number of vertices and two arrays with the ends of its edges.  Unlike an
[`Adjacency`][biela.graph.Adjacency] it may have several edges between the same two vertices, which
close a loop, and each edge keeps its number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.graph import walks
from biela.graph.adjacency import Integers, integer_array

__all__ = [
    "Forest",
    "blocks",
    "breadth_first",
    "bridges",
    "components",
    "edge_ends",
    "incidences",
    "loop_count",
]

#: Vertices and edges up to which a walk is over before numba is loaded.
_SMALL = 10_000


def edge_ends(size: int, first: ArrayLike, second: ArrayLike) -> tuple[Integers, Integers]:
    """The ends of edges as arrays.

    Raises:
        ShapeError: the two lists differ in length, or name a vertex that is not there.
    """
    a, b = integer_array("first", first), integer_array("second", second)
    if a.shape != b.shape:
        raise ShapeError(f"edges need two ends each: {len(a)} first and {len(b)} second ends given")
    for end in (a, b):
        if len(end) and (end.min() < 0 or end.max() >= size):
            outside = end[(end < 0) | (end >= size)]
            raise ShapeError(f"vertex {outside[0]} is not one of the {size} of the graph")
    return a, b


def components(size: int, first: ArrayLike, second: ArrayLike) -> Integers:
    """The lowest vertex of the connected component of each vertex.

    Every vertex points to one of its component that is not above it.  In each round each root is
    hooked onto the lowest root among its neighbours, and pointers are doubled until all lead to
    roots (after Shiloach & Vishkin 1982, "An O(log n) parallel connectivity algorithm", J.
    Algorithms 3).  That is arrays only, and a handful of rounds for a chain of a million vertices.

    >>> components(5, [0, 3], [2, 4]).tolist()
    [0, 1, 0, 3, 3]

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    a, b = edge_ends(size, first, second)
    root = np.arange(size, dtype=np.int64)
    while len(a):
        ra, rb = root[a], root[b]
        apart = ra != rb
        if not apart.any():
            break
        a, b, ra, rb = a[apart], b[apart], ra[apart], rb[apart]
        np.minimum.at(root, np.maximum(ra, rb), np.minimum(ra, rb))
        while True:
            above = root[root]
            if np.array_equal(above, root):
                break
            root = above
    return root


def loop_count(size: int, first: ArrayLike, second: ArrayLike) -> int:
    """Number of independent loops: edges - vertices + components.

    >>> loop_count(4, [0, 1, 2, 3], [1, 2, 3, 0])
    1

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    root = components(size, first, second)
    pieces = int(np.count_nonzero(root == np.arange(size)))
    return len(integer_array("first", first)) - size + pieces


@dataclass(frozen=True)
class Forest:
    """A spanning forest.

    Attributes:
        parent: the vertex from which each was reached, -1 for roots.
        edge: the edge by which it was reached, -1 for roots.
        order: the vertices in the order in which they were reached, parents first.
        depth: number of edges from the root.
    """

    parent: Integers
    edge: Integers
    order: Integers
    depth: Integers


def breadth_first(size: int, first: ArrayLike, second: ArrayLike) -> Forest:
    """The forest of shortest paths from vertex 0, then from the lowest vertex not yet reached.

    Of several edges to a vertex the one with the lowest number is taken.

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    a, b = edge_ends(size, first, second)
    walk = walks.breadth_first_walk
    if size + len(a) > _SMALL:
        from biela.graph.compiled_walks import breadth_first_walk as walk
    return Forest(*walk(*incidences(size, a, b)))


def bridges(size: int, first: ArrayLike, second: ArrayLike) -> NDArray[np.bool_]:
    """Whether each edge is a bridge: the only way between its ends, and so in no loop.

    Tarjan 1974, "A note on finding the bridges of a graph", Inf. Process. Lett. 2.

    >>> bridges(4, [0, 1, 2, 2], [1, 2, 0, 3]).tolist()
    [False, False, False, True]

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    return blocks(size, first, second)[0]


def blocks(size: int, first: ArrayLike, second: ArrayLike) -> tuple[NDArray[np.bool_], Integers]:
    """Bridges, and the block (biconnected component) of each edge.

    Every loop lies within one block; an edge from a vertex to itself is in block -1.

    Raises:
        ShapeError: the edges do not fit the vertices.
    """
    a, b = edge_ends(size, first, second)
    walk = walks.block_walk
    if size + len(a) > _SMALL:
        from biela.graph.compiled_walks import block_walk as walk
    block: Integers = walk(*incidences(size, a, b), len(a))
    members = np.bincount(block[block >= 0], minlength=1)
    # a block of one edge is a bridge: two edges between the same ends share a block
    single = (block >= 0) & (members[np.maximum(block, 0)] == 1)
    return single, block


def incidences(size: int, a: Integers, b: Integers) -> tuple[Integers, Integers, Integers]:
    """For each vertex where its list starts, the vertices across and the edges to them."""
    ends = np.stack([a, b], axis=1).ravel()
    # stable: the edges of a vertex in the order of their numbers
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(size + 1))
    return start.astype(np.int64), ends[order ^ 1], (order >> 1).astype(np.int64)
