"""The loops of this room, compiled by numba. Import it inside functions: numba takes a moment."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biela.graph.adjacency import Integers

__all__ = [
    "column_updates",
    "factor_columns",
    "forest_postorder",
    "minimum_degree_order",
    "tree_parents",
]

# --- buckets: vertices by degree, doubly linked ---------------------------------------------------


@njit("void(int64, int64, int64[::1], int64[::1], int64[::1])", cache=True)
def _put(i: int, degree: int, head: Integers, after: Integers, before: Integers) -> None:
    first = head[degree]
    after[i] = first
    before[i] = -1
    if first >= 0:
        before[first] = i
    head[degree] = i


@njit("void(int64, int64, int64[::1], int64[::1], int64[::1])", cache=True)
def _take(i: int, degree: int, head: Integers, after: Integers, before: Integers) -> None:
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


# --- minimum degree -------------------------------------------------------------------------------


@njit("int64[::1](int64[::1], int64[::1], boolean[::1])", cache=True)
def minimum_degree_order(
    start: Integers, neighbours: Integers, late: NDArray[np.bool_]
) -> Integers:
    """See `biela.graph.minimum_degree`.

    The list of a vertex, `lists[at[i] : at[i] + length[i]]`, holds first the `elements[i]` elements
    it belongs to, then the vertices it is joined to by edges of its own. The list of an element
    holds its vertices. A swallowed element has length 0.
    """
    n = len(start) - 1
    at = start[:-1].copy()
    length = np.empty(n, np.int64)
    elements = np.zeros(n, np.int64)
    degree = np.empty(n, np.int64)
    blocked = np.zeros(n, np.int64)  # neighbours a late vertex still waits for
    lists = np.empty(2 * len(neighbours) + n + 1, np.int64)
    lists[: len(neighbours)] = neighbours
    free = len(neighbours)
    head = np.full(n + 1, -1, np.int64)
    after = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    eliminated = np.zeros(n, np.bool_)
    mark = np.full(n, -1, np.int64)  # step at which a vertex was seen
    outside = np.zeros(n, np.int64)  # of an element: vertices not in the new one
    seen = np.full(n, -1, np.int64)  # step at which `outside` was set
    order = np.empty(n, np.int64)

    for i in range(n):
        length[i] = degree[i] = start[i + 1] - start[i]
        if late[i]:
            for k in range(start[i], start[i + 1]):
                if not late[neighbours[k]]:
                    blocked[i] += 1
    for i in range(n - 1, -1, -1):  # so that the lowest number comes first among equals
        if blocked[i] == 0:
            _put(i, degree[i], head, after, before)

    least = 0
    for step in range(n):
        while head[least] < 0:
            least += 1
        p = head[least]
        _take(p, least, head, after, before)
        eliminated[p] = True
        order[step] = p

        # room for the new element: move what is alive to a larger array
        need = length[p]
        for k in range(at[p], at[p] + elements[p]):
            need += length[lists[k]]
        if free + need > len(lists):
            alive = need
            for i in range(n):
                alive += length[i]
            moved = np.empty(2 * alive + n + 1, np.int64)
            free = 0
            for i in range(n):
                for k in range(length[i]):
                    moved[free + k] = lists[at[i] + k]
                at[i] = free
                free += length[i]
            lists = moved

        # the new element: all vertices joined to p; it swallows the elements of p
        first = free
        mark[p] = step
        for k in range(at[p] + elements[p], at[p] + length[p]):
            i = lists[k]
            mark[i] = step
            lists[free] = i
            free += 1
        for k in range(at[p], at[p] + elements[p]):
            e = lists[k]
            for m in range(at[e], at[e] + length[e]):
                i = lists[m]
                if mark[i] != step:
                    mark[i] = step
                    lists[free] = i
                    free += 1
            length[e] = 0
        at[p] = first
        length[p] = free - first
        elements[p] = 0

        # how many vertices of each element that meets the new one lie outside of it
        for k in range(first, free):
            i = lists[k]
            for m in range(at[i], at[i] + elements[i]):
                e = lists[m]
                if length[e] == 0:
                    continue
                if seen[e] != step:
                    seen[e] = step
                    outside[e] = length[e]
                outside[e] -= 1
                if outside[e] == 0:
                    length[e] = 0  # it lies within the new one, which swallows it

        # lists and degrees of the vertices of the new element
        for k in range(first, free):
            i = lists[k]
            if blocked[i] == 0:
                _take(i, degree[i], head, after, before)
            here = at[i]
            bound = length[p] - 1
            kept = here
            end = here + length[i]
            own = here + elements[i]
            # at least one entry goes, p or an element p swallowed, and so p finds room
            for m in range(here, own):
                e = lists[m]
                if length[e] > 0:
                    bound += outside[e]
                    lists[kept] = e
                    kept += 1
            tail = kept
            for m in range(own, end):
                j = lists[m]
                if not eliminated[j] and mark[j] != step:
                    bound += 1
                    lists[tail] = j
                    tail += 1
            # p itself goes between: the first edge moves to the end
            lists[tail] = lists[kept]
            lists[kept] = p
            elements[i] = kept + 1 - here
            length[i] = tail + 1 - here
            degree[i] = min(min(bound, degree[i] + length[p] - 1), n - step - 2)

        # late vertices that waited for p only may be chosen from now on
        if not late[p]:
            for m in range(start[p], start[p + 1]):
                if late[neighbours[m]]:
                    blocked[neighbours[m]] -= 1
        for k in range(first, free):
            i = lists[k]
            if blocked[i] == 0:
                _put(i, degree[i], head, after, before)
                least = min(least, degree[i])
    return order


# --- elimination ----------------------------------------------------------------------------------


@njit("int64[::1](int64[::1], int64[::1])", cache=True)
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


@njit("int64[::1](int64[::1])", cache=True)
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


@njit("UniTuple(int64[::1], 2)(int64[::1], int64[::1], int64[::1])", cache=True)
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


@njit("int64[::1](int64[::1], int64[::1])", cache=True)
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
