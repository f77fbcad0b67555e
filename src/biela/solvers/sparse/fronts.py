"""From an order of elimination to fronts: which unknowns go together, and where all is kept.

A *front* is a dense symmetric matrix: the w unknowns eliminated together and the h later ones they
are joined to. What elimination leaves on those h rows is added to the front of the parent, the one
that eliminates the first of them (Duff & Reid 1983, "The multifrontal solution of indefinite
sparse symmetric linear equations", ACM TOMS 9).

Fronts start as the vertices of the graph (a body, a joint, a point) and are merged with their
parent where that is cheaper than passing the rest on, though zeros are then computed with (Ashcraft
& Grimes 1989, "The influence of relaxed supernode partitions on the multifrontal method", ACM TOMS
15). A merged front has the rows of its parent, so that merging needs no search.

Everything is linear in the number of entries of L. Import it inside functions: numba takes a
moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.jit import njit

Integers = NDArray[np.int64]

__all__ = [
    "EXTRA",
    "children_of",
    "front_order",
    "front_rows",
    "local_rows",
    "merge",
    "remainders",
    "work",
]

#: Rows of a remainder beside those of the matrix: right-hand side, and two sums of magnitudes.
EXTRA = 3


@njit()
def _cost(w: int, h: int) -> float:
    """Time to eliminate w unknowns with h more rows, in multiplications; measured, roughly."""
    total = 30.0 + 1.2 * h * h + 2.0 * h
    for k in range(w):
        m = w + h - k - 1
        total += 12.0 + 5.0 * m + 0.5 * m * m
    return total


@njit()
def merge(parent: Integers, width: Integers, height: Integers, largest: int) -> NDArray[np.bool_]:
    """Which vertices, numbered in postorder, join the front of their parent.

    Args:
        parent: elimination tree.
        width: unknowns of each vertex.
        height: unknowns in the rows below it.
        largest: rows of a front that merging may reach if it brings zeros along.
    """
    n = len(parent)
    merged = np.zeros(n, np.bool_)
    w = width.copy()
    child = np.full(n, -1, np.int64)
    sibling = np.full(n, -1, np.int64)
    for v in range(n):
        c = child[v]
        while c >= 0:
            h = height[v]
            together = w[c] + w[v]
            full = height[c] == w[v] + h
            if full or together + h <= largest:
                apart = _cost(w[c], height[c]) + _cost(w[v], h)
                if _cost(together, h) <= apart:
                    merged[c] = True
                    w[v] = together
            c = sibling[c]
        if parent[v] >= 0:
            sibling[v] = child[parent[v]]
            child[parent[v]] = v
    return merged


@njit()
def front_order(
    parent: Integers, merged: NDArray[np.bool_]
) -> tuple[Integers, Integers, Integers, Integers]:
    """Number the fronts in postorder.

    Returns the front of each vertex, the top vertex and the parent of each front, and the order of
    the vertices in which those of a front are side by side.
    """
    n = len(parent)
    front = np.full(n, -1, np.int64)
    count = 0
    for v in range(n):
        if not merged[v]:
            front[v] = count
            count += 1
    for v in range(n - 1, -1, -1):
        if merged[v]:
            front[v] = front[parent[v]]
    top = np.empty(count, np.int64)
    above = np.full(count, -1, np.int64)
    start = np.zeros(count + 1, np.int64)
    for v in range(n):
        start[front[v] + 1] += 1
        if not merged[v]:
            top[front[v]] = v
            if parent[v] >= 0:
                above[front[v]] = front[parent[v]]
    for s in range(count):
        start[s + 1] += start[s]
    order = np.empty(n, np.int64)
    for v in range(n):
        order[start[front[v]]] = v
        start[front[v]] += 1
    return front, top, above, order


@njit()
def front_rows(
    vertices: Integers,
    members: Integers,
    member_start: Integers,
    top: Integers,
    front: Integers,
    L_start: Integers,
    L_rows: Integers,
) -> tuple[Integers, Integers, Integers, Integers]:
    """Number the unknowns, and list the rows below each front by those numbers, rising.

    `vertices` is the order of the vertices, `members[member_start[v]:]` the unknowns of each.
    Returns the order of the unknowns, the first of each front, and the rows, by start and number.
    """
    n = len(members)
    count = len(top)
    order = np.empty(n, np.int64)
    at = np.empty(len(vertices), np.int64)  # number of the first unknown of a vertex
    first = np.zeros(count + 1, np.int64)
    k = 0
    for i in range(len(vertices)):
        v = vertices[i]
        at[v] = k
        for m in range(member_start[v], member_start[v + 1]):
            order[k] = members[m]
            k += 1
        first[front[v] + 1] = k
    start = np.zeros(count + 1, np.int64)
    for s in range(count):
        size = 0
        for e in range(L_start[top[s]], L_start[top[s] + 1]):
            v = L_rows[e]
            size += member_start[v + 1] - member_start[v]
        start[s + 1] = start[s] + size
    rows = np.empty(start[count], np.int64)
    for s in range(count):
        k = start[s]
        for e in range(L_start[top[s]], L_start[top[s] + 1]):
            v = L_rows[e]
            for m in range(member_start[v + 1] - member_start[v]):
                rows[k] = at[v] + m
                k += 1
        rows[start[s] : start[s + 1]].sort()
    return order, first, start, rows


@njit()
def local_rows(first: Integers, above: Integers, start: Integers, rows: Integers) -> Integers:
    """The number in the parent's front of each row below a front."""
    local = np.zeros(len(rows), np.int64)
    for s in range(len(above)):
        p = above[s]
        if p < 0:
            continue
        w = first[p + 1] - first[p]
        k = start[p]
        for e in range(start[s], start[s + 1]):
            if rows[e] < first[p + 1]:
                local[e] = rows[e] - first[p]
            else:
                while rows[k] != rows[e]:
                    k += 1
                local[e] = w + k - start[p]
    return local


@njit()
def children_of(above: Integers) -> tuple[Integers, Integers]:
    """The children of each front, by start and number, rising."""
    count = len(above)
    start = np.zeros(count + 1, np.int64)
    for s in range(count):
        if above[s] >= 0:
            start[above[s] + 1] += 1
    for s in range(count):
        start[s + 1] += start[s]
    children = np.empty(start[count], np.int64)
    end = start[:-1].copy()
    for s in range(count):
        if above[s] >= 0:
            children[end[above[s]]] = s
            end[above[s]] += 1
    return start, children


@njit()
def remainders(
    above: Integers,
    height: Integers,
    child_start: Integers,
    children: Integers,
    origin: int,
) -> tuple[Integers, int]:
    """Where the remainders are kept, from the elimination of a front to that of its parent.

    Places are used again, the last one given back first, so that a chain lives in the cache.
    Returns the places and the end of them all.
    """
    count = len(above)
    place = np.empty(count, np.int64)
    free = np.full(height.max() + 1 if count else 1, -1, np.int64)  # by height
    before = np.full(count, -1, np.int64)
    used = origin
    for s in range(count):
        h = height[s]
        if free[h] >= 0:
            place[s] = place[free[h]]
            free[h] = before[free[h]]
        else:
            place[s] = used
            used += h * (h + EXTRA)
        for k in range(child_start[s], child_start[s + 1]):
            c = children[k]
            before[c] = free[height[c]]
            free[height[c]] = c
    return place, used


def work(w: int, h: int) -> float:
    """The cost of a front, for choosing which kinds deserve code of their own."""
    cost: Any = _cost
    return float(cost(w, h))
