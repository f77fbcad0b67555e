"""What a factorisation costs: operations and places, dense and sparse.

Eliminating vertex k of a graph deletes it and makes its neighbours a clique; the edges that this
adds are the fill.  Low degrees mean little fill and few operations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, adjacency, integer_array, renumbered
from biela.graph.elimination import elimination_tree, factor_pattern
from biela.graph.pattern import Pattern
from biela.graph.properties import edge_list

__all__ = [
    "FactorCost",
    "dense_cost",
    "eliminate",
    "sparse_cost",
    "sparse_lu_cost",
    "symbolic_fill",
    "symbolic_lu",
]

#: Entries of L and U beyond which a symbolic factorisation is given up.
LARGEST_FACTOR = 20_000_000


@dataclass(frozen=True)
class FactorCost:
    """Operations and places of a factorisation.

    Attributes:
        multiplications: with divisions.
        additions: with subtractions.
        storage: places of the factors, the diagonal once.
        fill: places of the factors that the matrix has not; with symmetric ones, of one half.
    """

    multiplications: int
    additions: int
    storage: int
    fill: int = 0

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions


def dense_cost(n: int, *, symmetric: bool = False) -> FactorCost:
    """The cost of factoring a full matrix of order n.

    |  | unsymmetric | symmetric |
    |---|---|---|
    | multiplications | n³/3 - n/3 | n³/6 + n²/2 - 2n/3 |
    | additions | n³/3 - n²/2 + n/6 | n³/6 - n/6 |
    | storage | n² | n²/2 + n/2 |

    >>> dense_cost(3)
    FactorCost(multiplications=8, additions=5, storage=9, fill=0)
    """
    if symmetric:
        return FactorCost((n**3 + 3 * n**2 - 4 * n) // 6, (n**3 - n) // 6, (n**2 + n) // 2)
    return FactorCost((n**3 - n) // 3, (2 * n**3 - 3 * n**2 + n) // 6, n**2)


def sparse_cost(degrees: ArrayLike, entries: int = 0) -> FactorCost:
    """The cost of a symmetric factorisation, from the degree rᵢ of each vertex when it goes.

    Multiplications Σ rᵢ(rᵢ + 3)/2, additions Σ rᵢ(rᵢ + 1)/2, storage n + Σ rᵢ.  ``entries`` are
    those of the matrix below its diagonal, from which the fill is counted.
    """
    r = integer_array("degrees", degrees)
    total = int(r.sum())
    return FactorCost(
        int((r * (r + 3) // 2).sum()),
        int((r * (r + 1) // 2).sum()),
        len(r) + total,
        total - entries,
    )


def sparse_lu_cost(above: ArrayLike, below: ArrayLike, entries: int = 0) -> FactorCost:
    """The cost of an unsymmetric factorisation.

    With rᵢ entries right of the diagonal in row i of U and cᵢ below it in column i of L:
    multiplications Σ (rᵢ + 1) cᵢ, additions Σ rᵢ cᵢ, storage n + Σ (rᵢ + cᵢ).  ``entries`` are
    those of the matrix outside of its diagonal.
    """
    r, c = integer_array("above", above), integer_array("below", below)
    total = int(r.sum() + c.sum())
    return FactorCost(int(((r + 1) * c).sum()), int((r * c).sum()), len(r) + total, total - entries)


def eliminate(graph: Adjacency, vertex: int) -> tuple[Adjacency, list[tuple[int, int]]]:
    """The graph after a vertex is eliminated, and the edges that this added.

    The vertices keep their numbers; the one that is gone has no neighbours.

    >>> after, fill = eliminate(adjacency(4, [0, 0, 0], [1, 2, 3]), 0)
    >>> fill
    [(1, 2), (1, 3), (2, 3)]

    Raises:
        ShapeError: the vertex is not in the graph.
    """
    if not 0 <= vertex < graph.size:
        raise ShapeError(f"vertex {vertex} is not one of the {graph.size} of the graph")
    around = graph.of(vertex).tolist()
    a, b = edge_list(graph)
    kept = (a != vertex) & (b != vertex)
    pairs = [(i, j) for i in around for j in around if i < j and j not in graph.of(i)]
    first = np.concatenate([a[kept], np.array([i for i, _ in pairs], dtype=np.int64)])
    second = np.concatenate([b[kept], np.array([j for _, j in pairs], dtype=np.int64)])
    return adjacency(graph.size, first, second), pairs


def symbolic_fill(A: Adjacency | Pattern, order: ArrayLike | None = None) -> FactorCost:
    """Fill and cost of eliminating the vertices of a graph, or the pivots of a matrix, in an order.

    A symmetric pattern is factored as LDLᵀ, another one as LU with the pivots on its diagonal.

    >>> arrow = Pattern.of_rows([{0, 1, 2, 3}, {0, 1}, {0, 2}, {0, 3}], 4)
    >>> symbolic_fill(arrow).fill, symbolic_fill(arrow, [1, 2, 3, 0]).fill
    (3, 0)

    Raises:
        ShapeError: the order is no permutation, or the matrix is not square.
    """
    size = A.size if isinstance(A, Adjacency) else A.rows
    sequence = np.arange(size) if order is None else integer_array("order", order)
    if not np.array_equal(np.sort(sequence), np.arange(size)):
        raise ShapeError(f"an order of {size} vertices has each of them once")
    if isinstance(A, Pattern) and not A.is_symmetric:
        return symbolic_lu(A.permuted(sequence, sequence))
    graph = A if isinstance(A, Adjacency) else A.symmetric_graph()
    new = renumbered(graph, sequence)
    L = factor_pattern(new, elimination_tree(new))
    return sparse_cost(np.diff(L.start), len(graph.neighbours) // 2)


def symbolic_lu(pattern: Pattern, largest: int = LARGEST_FACTOR) -> FactorCost:
    """Fill and cost of LU with the pivots on the diagonal, which is taken to be full.

    There may be more rows than columns: the rows below take part in the elimination.

    Raises:
        ShapeError: there are more columns than rows, or the factors would have more than
            ``largest`` entries.
    """
    from biela.graph.compiled_lu import lu_counts

    if pattern.columns > pattern.rows:
        raise ShapeError(f"LU has no pivots for all columns of a pattern {pattern.shape}")
    above, below, enough = lu_counts(pattern.start, pattern.entries, pattern.columns, largest)
    if not enough:
        raise ShapeError(f"the factors of this order have more than {largest:,} entries")
    on_diagonal = int(np.count_nonzero(pattern.entry_rows == pattern.entries))
    return sparse_lu_cost(above, below, pattern.nnz - on_diagonal)


def bandwidth(pattern: Pattern) -> int:
    """The greatest distance |i - j| of an entry from the diagonal."""
    return int(np.abs(pattern.entry_rows - pattern.entries).max(initial=0))


def profile(pattern: Pattern) -> int:
    """Σ (i - first column of row i), over the rows that begin left of the diagonal."""
    filled = np.flatnonzero(np.diff(pattern.start))
    first = pattern.entries[pattern.start[filled]]
    return int(np.maximum(filled - first, 0).sum())


def elimination_degrees(graph: Adjacency, order: Integers) -> Integers:
    """The degree of each vertex when it is eliminated, in the order of elimination."""
    new = renumbered(graph, order)
    return np.diff(factor_pattern(new, elimination_tree(new)).start)
