"""Orders and levels of digraphs, compiled.  Import it inside functions."""

from __future__ import annotations

import heapq

import numpy as np

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = ["levels_of", "topological"]


@njit("int64[::1](int64[::1], int64[::1], int64[::1])")
def topological(start: Integers, ahead: Integers, rank: Integers) -> Integers:
    """An order in which every vertex comes after its predecessors; the lowest rank first (Kahn)."""
    n = len(start) - 1
    waiting = np.zeros(n, np.int64)
    for k in range(len(ahead)):
        waiting[ahead[k]] += 1
    ready = [(rank[0], np.int64(0)) for _ in range(0)]
    for v in range(n):
        if waiting[v] == 0:
            heapq.heappush(ready, (rank[v], np.int64(v)))
    order = np.empty(n, np.int64)
    count = 0
    while len(ready) > 0:
        done = heapq.heappop(ready)[1]
        order[count] = done
        count += 1
        for k in range(start[done], start[done + 1]):
            waiting[ahead[k]] -= 1
            if waiting[ahead[k]] == 0:
                heapq.heappush(ready, (rank[ahead[k]], ahead[k]))
    return order[:count].copy()


@njit("int64[::1](int64[::1], int64[::1], int64[::1])")
def levels_of(start: Integers, ahead: Integers, order: Integers) -> Integers:
    """The longest way from a vertex without predecessors to each vertex."""
    level = np.zeros(len(start) - 1, np.int64)
    for place in range(len(order)):
        v = order[place]
        for k in range(start[v], start[v + 1]):
            level[ahead[k]] = max(level[ahead[k]], level[v] + 1)
    return level
