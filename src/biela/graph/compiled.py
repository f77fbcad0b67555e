"""The loops of this room, compiled by numba. Import it inside functions: numba takes a moment."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = [
    "column_updates",
    "factor_columns",
    "forest_postorder",
    "minimum_degree_order",
    "tree_parents",
]

# --- minimum degree -------------------------------------------------------------------------------


def minimum_degree_order(start: Integers, neighbours: Integers, level: Integers) -> Integers:
    """Approximate minimum degree where a vertex waits for its neighbours of lower levels.

    See `biela.graph.minimum_degree`, where the levels are 0 and, for late vertices, 1.
    """
    from biela.graph.adjacency import Adjacency
    from biela.graph.ordering.degree import minimum_degree_by_level

    return minimum_degree_by_level(Adjacency(start, neighbours), level)


# --- elimination ----------------------------------------------------------------------------------


@njit("int64[::1](int64[::1], int64[::1])")
def tree_parents(start: Integers, neighbours: Integers) -> Integers:
    """See `biela.graph.elimination_tree`; `ancestor` shortens the paths already walked."""
    n = len(start) - 1
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            j = neighbours[k]
            while j != -1 and j < i:
                above = ancestor[j]
                ancestor[j] = i
                if above == -1:
                    parent[j] = i
                j = above
    return parent


@njit("int64[::1](int64[::1])")
def forest_postorder(parent: Integers) -> Integers:
    """See `biela.graph.postorder`; no recursion, as trees of chains are deep."""
    n = len(parent)
    child = np.full(n, -1, np.int64)
    sibling = np.full(n, -1, np.int64)
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            sibling[i] = child[parent[i]]
            child[parent[i]] = i
    order = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        depth = 1
        stack[0] = root
        while depth > 0:
            top = stack[depth - 1]
            below = child[top]
            if below >= 0:
                child[top] = sibling[below]
                stack[depth] = below
                depth += 1
            else:
                order[count] = top
                count += 1
                depth -= 1
    return order


@njit("UniTuple(int64[::1], 2)(int64[::1], int64[::1], int64[::1])")
def factor_columns(
    start: Integers, neighbours: Integers, parent: Integers
) -> tuple[Integers, Integers]:
    """See `biela.graph.factor_pattern`: once to count, once to write."""
    n = len(start) - 1
    columns = np.zeros(n + 1, np.int64)
    mark = np.full(n, -1, np.int64)
    for i in range(n):
        mark[i] = i
        for k in range(start[i], start[i + 1]):
            j = neighbours[k]
            while j < i and mark[j] != i:
                mark[j] = i
                columns[j + 1] += 1
                j = parent[j]
    for j in range(n):
        columns[j + 1] += columns[j]
    rows = np.empty(columns[n], np.int64)
    end = columns[:-1].copy()
    mark[:] = -1
    for i in range(n):
        mark[i] = i
        for k in range(start[i], start[i + 1]):
            j = neighbours[k]
            while j < i and mark[j] != i:
                mark[j] = i
                rows[end[j]] = i
                end[j] += 1
                j = parent[j]
    return columns, rows


@njit("int64[::1](int64[::1], int64[::1])")
def column_updates(start: Integers, rows: Integers) -> Integers:
    """See `biela.graph.update_targets`."""
    n = len(start) - 1
    count = 0
    for j in range(n):
        size = start[j + 1] - start[j]
        count += size * (size - 1) // 2
    targets = np.empty(count, np.int64)
    count = 0
    for j in range(n):
        for b in range(start[j], start[j + 1]):
            # what is below b in column j is also in the column of row b, in the same order
            place = start[rows[b]]
            for a in range(b + 1, start[j + 1]):
                while rows[place] != rows[a]:
                    place += 1
                targets[count] = place
                count += 1
    return targets
