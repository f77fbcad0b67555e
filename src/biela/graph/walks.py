"""Walks over graphs with numbered edges: see `biela.graph.connections`.

They are written so that numba compiles them (`biela.graph.compiled_walks`) and run as they are on
small graphs, where loading numba would take longer than the walk.
"""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers

__all__ = ["block_walk", "breadth_first_walk"]


def breadth_first_walk(
    start: Integers, across: Integers, edges: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """See `biela.graph.breadth_first`."""
    n = len(start) - 1
    parent = np.full(n, -1, np.int64)
    by = np.full(n, -1, np.int64)
    depth = np.full(n, -1, np.int64)
    order = np.empty(n, np.int64)
    reached = 0
    for root in range(n):
        if depth[root] >= 0:
            continue
        depth[root] = 0
        order[reached] = root
        at = reached
        reached += 1
        while at < reached:
            here = order[at]
            at += 1
            for k in range(start[here], start[here + 1]):
                there = across[k]
                if depth[there] < 0:
                    depth[there] = depth[here] + 1
                    parent[there] = here
                    by[there] = edges[k]
                    order[reached] = there
                    reached += 1
    return parent, by, order, depth


def block_walk(start: Integers, across: Integers, edges: Integers, count: int) -> Integers:
    """See `biela.graph.blocks`: Tarjan's depth-first search with stacks of its own.

    ``low`` is the earliest vertex that can be reached from below a vertex by one edge back.  Where
    it is not before the vertex above, the edges since then are a block.
    """
    n = len(start) - 1
    block = np.full(count, -1, np.int64)
    number = np.full(n, -1, np.int64)
    low = np.zeros(n, np.int64)
    came = np.full(n, -1, np.int64)  # edge by which a vertex was reached
    next_ = start[:-1].copy()
    path = np.empty(n + 1, np.int64)
    held = np.empty(count + 1, np.int64)  # edges not in a block yet
    blocks = 0
    time = 0
    for root in range(n):
        if number[root] >= 0:
            continue
        depth = 0
        path[0] = root
        number[root] = low[root] = time
        time += 1
        holding = 0
        while depth >= 0:
            here = path[depth]
            if next_[here] < start[here + 1]:
                k = next_[here]
                next_[here] += 1
                there, edge = across[k], edges[k]
                if edge == came[here] or there == here:
                    continue
                if number[there] < 0:
                    held[holding] = edge
                    holding += 1
                    came[there] = edge
                    number[there] = low[there] = time
                    time += 1
                    depth += 1
                    path[depth] = there
                elif number[there] < number[here]:
                    held[holding] = edge
                    holding += 1
                    low[here] = min(low[here], number[there])
                continue
            depth -= 1
            if depth < 0:
                break
            above = path[depth]
            low[above] = min(low[above], low[here])
            if low[here] >= number[above]:
                while True:
                    holding -= 1
                    block[held[holding]] = blocks
                    if held[holding] == came[here]:
                        break
                blocks += 1
    return block
