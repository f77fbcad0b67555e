"""Strong components and orders of digraphs, compiled.  Import it inside functions."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from biela.graph.adjacency import Integers

__all__ = ["levels_of", "strong_components", "topological"]


@njit("Tuple((int64[::1], int64))(int64[::1], int64[::1])", cache=True)
def strong_components(start: Integers, ahead: Integers) -> tuple[Integers, int]:
    """The strong component of each node of a digraph by its successors (Tarjan 1972)."""
    n = len(start) - 1
    index = np.full(n, -1, np.int64)
    low = np.zeros(n, np.int64)
    component = np.full(n, -1, np.int64)
    held = np.empty(n + 1, np.int64)
    path = np.empty(n + 1, np.int64)
    at = start[:-1].copy()
    holding = 0
    time = 0
    found = 0
    for s in range(n):
        if index[s] >= 0:
            continue
        depth = 0
        path[0] = s
        index[s] = low[s] = time
        time += 1
        held[holding] = s
        holding += 1
        while depth >= 0:
            v = path[depth]
            if at[v] < start[v + 1]:
                d = ahead[at[v]]
                at[v] += 1
                if index[d] < 0:
                    index[d] = low[d] = time
                    time += 1
                    held[holding] = d
                    holding += 1
                    depth += 1
                    path[depth] = d
                elif component[d] < 0:
                    low[v] = min(low[v], index[d])
                continue
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[v])
            if low[v] == index[v]:
                while True:
                    holding -= 1
                    component[held[holding]] = found
                    if held[holding] == v:
                        break
                found += 1
    return component, found


@njit("int64[::1](int64[::1], int64[::1], int64[::1])", cache=True)
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


@njit("int64[::1](int64[::1], int64[::1], int64[::1])", cache=True)
def levels_of(start: Integers, ahead: Integers, order: Integers) -> Integers:
    """The longest way from a vertex without predecessors to each vertex."""
    level = np.zeros(len(start) - 1, np.int64)
    for place in range(len(order)):
        v = order[place]
        for k in range(start[v], start[v + 1]):
            level[ahead[k]] = max(level[ahead[k]], level[v] + 1)
    return level
