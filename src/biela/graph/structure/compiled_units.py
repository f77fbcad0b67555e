"""Units on nodes with capacities, compiled.  Import it inside functions: numba takes a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = ["augment", "first_heads", "over_determined"]


@njit(
    "int64[::1](int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])",
)
def first_heads(
    start: Integers,
    entries: Integers,
    node_start: Integers,
    node_units: Integers,
    capacity: Integers,
) -> Integers:
    """A head for nearly every unit: units that can go to one node only go first.

    (After Karp & Sipser 1981.)  Those that are left without a choice in a chain go all the way
    through it, so that augmenting paths stay few.
    """
    units = len(start) - 1
    head = np.full(units, -1, np.int64)
    spare = capacity.copy()
    choices = np.zeros(units, np.int64)
    stack = np.empty(units + 1, np.int64)
    depth = 0
    for u in range(units):
        for k in range(start[u], start[u + 1]):
            if spare[entries[k]] > 0:
                choices[u] += 1
    for u in range(units - 1, -1, -1):
        if choices[u] == 1:
            stack[depth] = u
            depth += 1
    ahead = 0
    while True:
        if depth > 0:
            depth -= 1
            u = stack[depth]
        elif ahead < units:
            u = ahead
            ahead += 1
        else:
            break
        if head[u] >= 0 or choices[u] == 0:
            continue
        best = -1
        for k in range(start[u], start[u + 1]):
            c = entries[k]
            if spare[c] > 0 and (best < 0 or spare[c] > spare[best]):
                best = c
        head[u] = best
        spare[best] -= 1
        if spare[best] == 0:
            for k in range(node_start[best], node_start[best + 1]):
                w = node_units[k]
                choices[w] -= 1
                if head[w] < 0 and choices[w] == 1:
                    stack[depth] = w
                    depth += 1
    return head


@njit("int64[::1](int64[::1], int64[::1], int64[::1], int64[::1])")
def augment(start: Integers, entries: Integers, capacity: Integers, given: Integers) -> Integers:
    """See `biela.graph.structure.assigned`; begins with heads, -1 for units without one.

    Breadth first from a unit without a head over nodes and the units that have them as heads, to a
    node with room.  What a search that failed has seen stays marked: it is full for good.
    """
    units, nodes = len(start) - 1, len(capacity)
    head = given.copy()
    # the units of each node, as doubly linked lists that change with every path
    first = np.full(nodes, -1, np.int64)
    after = np.full(units, -1, np.int64)
    before = np.full(units, -1, np.int64)
    spare = capacity.copy()
    for u in range(units - 1, -1, -1):
        h = head[u]
        if h >= 0:
            spare[h] -= 1
            after[u] = first[h]
            if first[h] >= 0:
                before[first[h]] = u
            first[h] = u
    mark = np.full(nodes, -1, np.int64)
    by = np.empty(nodes, np.int64)
    queue = np.empty(nodes + 1, np.int64)
    for s in range(units):
        if head[s] >= 0:
            continue
        low = 0
        high = 0
        found = -1
        for k in range(start[s], start[s + 1]):
            c = entries[k]
            if mark[c] == -2 or mark[c] == s:
                continue
            mark[c] = s
            by[c] = s
            queue[high] = c
            high += 1
        while low < high and found < 0:
            c = queue[low]
            low += 1
            if spare[c] > 0:
                found = c
                break
            u = first[c]
            while u >= 0:
                for k in range(start[u], start[u + 1]):
                    d = entries[k]
                    if mark[d] != -2 and mark[d] != s:
                        mark[d] = s
                        by[d] = u
                        queue[high] = d
                        high += 1
                u = after[u]
        if found < 0:
            for k in range(high):
                mark[queue[k]] = -2
            continue
        spare[found] -= 1
        c = found
        while True:
            u = by[c]
            h = head[u]
            if h >= 0:
                if before[u] >= 0:
                    after[before[u]] = after[u]
                else:
                    first[h] = after[u]
                if after[u] >= 0:
                    before[after[u]] = before[u]
            head[u] = c
            before[u] = -1
            after[u] = first[c]
            if first[c] >= 0:
                before[first[c]] = u
            first[c] = u
            if u == s:
                break
            c = h
    return head


@njit("boolean[::1](int64[::1], int64[::1], int64[::1], int64)")
def over_determined(
    start: Integers, entries: Integers, head: Integers, nodes: int
) -> NDArray[np.bool_]:
    """The nodes that units without a head reach, over the units that these nodes have."""
    units = len(start) - 1
    size = np.zeros(nodes + 1, np.int64)
    for u in range(units):
        if head[u] >= 0:
            size[head[u] + 1] += 1
    for c in range(nodes):
        size[c + 1] += size[c]
    place = size[:-1].copy()
    own = np.empty(units, np.int64)
    for u in range(units):
        if head[u] >= 0:
            own[place[head[u]]] = u
            place[head[u]] += 1
    seen = np.zeros(nodes, np.bool_)
    stack = np.empty(nodes + 1, np.int64)
    depth = 0
    for s in range(units):
        if head[s] >= 0:
            continue
        for k in range(start[s], start[s + 1]):
            if not seen[entries[k]]:
                seen[entries[k]] = True
                stack[depth] = entries[k]
                depth += 1
    while depth > 0:
        depth -= 1
        c = stack[depth]
        for p in range(size[c], size[c + 1]):
            u = own[p]
            for k in range(start[u], start[u + 1]):
                if not seen[entries[k]]:
                    seen[entries[k]] = True
                    stack[depth] = entries[k]
                    depth += 1
    return seen
