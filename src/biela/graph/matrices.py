"""Matrices of graphs, and the graphs of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers
from biela.graph.pattern import Pattern
from biela.graph.properties import edge_list

__all__ = ["Digraph", "adjacency_matrix", "augmented_adjacency", "graph_of", "incidence_matrix"]


@dataclass(frozen=True, eq=False)
class Digraph:
    """A directed graph without loops: vertex i leads to `targets[start[i]:start[i + 1]]`."""

    start: Integers
    targets: Integers

    @property
    def size(self) -> int:
        """Number of vertices."""
        return len(self.start) - 1

    def of(self, vertex: int) -> Integers:
        """The vertices that one leads to."""
        return self.targets[self.start[vertex] : self.start[vertex + 1]]


def graph_of(A: Pattern | ArrayLike) -> Adjacency | Digraph:
    """The graph of a square matrix: a vertex a diagonal entry, an edge an entry outside of it.

    It is undirected if the pattern is symmetric, otherwise directed from rows to columns.  The
    diagonal is taken to be full and is not part of the graph.

    >>> type(graph_of([[1, 0], [5, 1]])).__name__
    'Digraph'

    Raises:
        ShapeError: the matrix is not square.
    """
    pattern = A if isinstance(A, Pattern) else Pattern.of_matrix(A)
    if pattern.rows != pattern.columns:
        raise ShapeError(f"the graph of a matrix needs a square one, not {pattern.shape}")
    if pattern.is_symmetric:
        return pattern.symmetric_graph()
    proper = pattern.entry_rows != pattern.entries
    rows = pattern.entry_rows[proper]
    start = np.searchsorted(rows, np.arange(pattern.rows + 1)).astype(np.int64)
    return Digraph(start, pattern.entries[proper])


def incidence_matrix(graph: Adjacency) -> NDArray[np.int64]:
    """M(G): a row a vertex, a column an edge, with 1 at its lower end and -1 at the other.

    Edges are in the order of their ends.
    """
    tail, head = edge_list(graph)
    M = np.zeros((graph.size, len(tail)), dtype=np.int64)
    M[tail, np.arange(len(tail))] = 1
    M[head, np.arange(len(tail))] = -1
    return M


def augmented_adjacency(graph: Adjacency) -> NDArray[np.int64]:
    """M(G) M(G)ᵀ: degrees on the diagonal, -1 where vertices are neighbours."""
    M = incidence_matrix(graph)
    return M @ M.T


def adjacency_matrix(graph: Adjacency) -> NDArray[np.int64]:
    """The augmented adjacency with a diagonal of zeros, as it is defined: neighbours have -1."""
    A = augmented_adjacency(graph)
    np.fill_diagonal(A, 0)
    return A
