"""Undirected graphs as arrays: the neighbours of each vertex, one list after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError

__all__ = ["Adjacency", "Integers", "adjacency", "integer_array", "renumbered"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Adjacency:
    """An undirected graph without loops or repeated edges.

    The neighbours of vertex i are `neighbours[start[i]:start[i + 1]]`, in increasing order. Each
    edge is there twice, once from either end.
    """

    start: Integers
    neighbours: Integers

    @property
    def size(self) -> int:
        """Number of vertices."""
        return len(self.start) - 1

    def of(self, vertex: int) -> Integers:
        """The neighbours of one vertex."""
        return self.neighbours[self.start[vertex] : self.start[vertex + 1]]


def adjacency(size: int, first: ArrayLike, second: ArrayLike) -> Adjacency:
    """The graph with an edge from `first[k]` to `second[k]` for each k.

    Edges may be given in either direction and more than once; those from a vertex to itself, the
    diagonal of a matrix, are left out.

    >>> adjacency(3, [0, 1, 2], [1, 2, 2]).of(1)
    array([0, 2])

    Raises:
        ShapeError: the two lists differ in length, or name a vertex that is not there.
    """
    a, b = integer_array("first", first), integer_array("second", second)
    if a.shape != b.shape:
        raise ShapeError(f"edges need two ends each: {len(a)} first and {len(b)} second ends given")
    for end in (a, b):
        outside = end[(end < 0) | (end >= size)]
        if len(outside):
            raise ShapeError(f"vertex {outside[0]} is not one of the {size} of the graph")
    proper = a != b
    a, b = np.concatenate([a[proper], b[proper]]), np.concatenate([b[proper], a[proper]])
    # one integer an edge; sorting is several times faster than the hashing of np.unique
    edges = np.sort(a * size + b)
    edges = edges[np.diff(edges, prepend=-1) > 0]
    start = np.searchsorted(edges, np.arange(size + 1, dtype=np.int64) * size)
    return Adjacency(start.astype(np.int64), edges % max(size, 1))


def renumbered(graph: Adjacency, order: Integers) -> Adjacency:
    """The same graph with vertex `order[k]` called k."""
    place = np.empty_like(order)
    place[order] = np.arange(graph.size)
    ends = np.repeat(place, np.diff(graph.start))
    return adjacency(graph.size, ends, place[graph.neighbours])


def integer_array(name: str, values: ArrayLike) -> Integers:
    """Return a contiguous vector of integers.

    Raises:
        ShapeError: the values are not integers in one row.
    """
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ShapeError(
            f"'{name}' is a vector of integers, not an array of {array.dtype} of shape "
            f"{array.shape}"
        )
    return np.ascontiguousarray(array, dtype=np.int64)
