"""The smallest loops of a graph: a basis of all its loops with as few edges as possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.adjacency import Integers
from biela.graph.connections import blocks, breadth_first, edge_ends, incidences

__all__ = ["smallest_loops"]

#: Trees times chords of a block above which a minimum basis is not worth the wait.
_LARGEST = 400_000


def smallest_loops(size: int, first: ArrayLike, second: ArrayLike) -> list[list[int]]:
    """A minimum basis of the loops, each a list of edges in the order of a walk around it.

    Every loop of such a basis is a shortest path tree's two branches and a chord between them
    (Horton 1987, "A polynomial-time algorithm to find the shortest cycle basis of a graph", SIAM J.
    Comput. 16).  The candidates are taken by length, and each that is no sum modulo 2 of shorter
    ones is kept.  Loops lie within blocks, so that each block is searched by itself.

    >>> smallest_loops(4, [0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    [[0, 1, 4], [2, 3, 4]]

    Raises:
        ShapeError: the edges do not fit the vertices, or a block is so large that a basis would
            take minutes.
    """
    a, b = edge_ends(size, first, second)
    bridge, block = blocks(size, a, b)
    found = [[int(edge)] for edge in np.flatnonzero(a == b)]
    loose = np.flatnonzero(~bridge & (block >= 0))
    order = loose[np.argsort(block[loose], kind="stable")]
    for edges in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        if len(edges):
            vertices, ends = np.unique(np.concatenate([a[edges], b[edges]]), return_inverse=True)
            half = len(edges)
            basis = _block_basis(len(vertices), ends[:half], ends[half:])
            found.extend([int(edges[e]) for e in loop] for loop in basis)
    return sorted((_from_lowest(loop) for loop in found), key=lambda loop: (len(loop), loop))


def _block_basis(size: int, a: Integers, b: Integers) -> list[list[int]]:
    """The basis of one block, whose vertices are numbered from 0."""
    wanted = len(a) - size + 1
    if wanted == 1:  # the block is the loop
        return [_walk_around(a, b)]
    if size * wanted > _LARGEST:
        raise ShapeError(
            f"{wanted} loops over {size} vertices that hang together are too many for a minimum "
            f"basis; use the loops of a spanning tree"
        )
    chosen: list[list[int]] = []
    reduced: dict[int, int] = {}  # by highest bit, as in Gaussian elimination
    for _, mask, loop in sorted(_candidates(size, a, b), key=lambda c: (c[0], c[1])):
        rest = mask
        while rest and (top := rest.bit_length()) in reduced:
            rest ^= reduced[top]
        if rest:
            reduced[rest.bit_length()] = rest
            chosen.append(loop)
            if len(chosen) == wanted:
                break
    return chosen


def _candidates(size: int, a: Integers, b: Integers) -> list[tuple[int, int, list[int]]]:
    """Length, edges as bits and edges in order of all loops of shortest path trees."""
    found: dict[int, tuple[int, int, list[int]]] = {}
    for root in range(size):
        swap = np.arange(size)
        swap[[0, root]] = root, 0  # so that the walk begins there
        forest = breadth_first(size, swap[a], swap[b])
        parent, by = forest.parent.tolist(), forest.edge.tolist()
        chords = set(range(len(a))) - set(by)
        for chord in chords:
            left, right = int(swap[a[chord]]), int(swap[b[chord]])
            left_way, right_way = _way(left, parent, by), _way(right, parent, by)
            if left_way and right_way and left_way[-1] == right_way[-1]:
                continue  # the branches meet before the root: another root gives this loop
            loop = [*reversed(left_way), chord, *right_way]
            mask = sum(1 << e for e in loop)
            found.setdefault(mask, (len(loop), mask, loop))
    return list(found.values())


def _way(vertex: int, parent: list[int], by: list[int]) -> list[int]:
    """The edges from a vertex to the root."""
    way = []
    while parent[vertex] >= 0:
        way.append(by[vertex])
        vertex = parent[vertex]
    return way


def _walk_around(a: Integers, b: Integers) -> list[int]:
    """The edges of a single loop in order."""
    start, across, edges = incidences(int(max(a.max(), b.max())) + 1, a, b)
    loop, here = [0], int(b[0])
    while here != a[0]:
        k = next(k for k in range(start[here], start[here + 1]) if edges[k] != loop[-1])
        loop.append(int(edges[k]))
        here = int(across[k])
    return loop


def _from_lowest(loop: list[int]) -> list[int]:
    """The same walk from its lowest edge on, toward the lower of the two next to it."""
    k = loop.index(min(loop))
    turned = loop[k:] + loop[:k]
    if len(turned) > 2 and turned[-1] < turned[1]:
        turned = [turned[0], *reversed(turned[1:])]
    return turned
