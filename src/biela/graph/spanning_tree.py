"""The spanning tree of a graph that keeps the heaviest edges.

Prim's algorithm from a root: of the edges that leave the tree so far, the one of greatest weight is
taken next; of equal ones, that which stays nearest to the root, then the first.  What is left are
the chords: each closes one independent loop.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SpanningTree:
    """A tree over the vertices that the root reaches.

    Attributes:
        order: Its edges in the order in which they reach a new vertex: (edge, from, to).
        chords: The other edges between vertices it reaches.
        missing: Vertices that it does not reach.
    """

    order: tuple[tuple[int, int, int], ...]
    chords: tuple[int, ...]
    missing: tuple[int, ...]


def spanning_tree(
    vertices: int, edges: Sequence[tuple[int, int]], weights: Sequence[float], root: int = 0
) -> SpanningTree:
    """The tree of greatest weights from a root; edges of weight below zero are never in it."""
    at: list[list[int]] = [[] for _ in range(vertices)]
    for k, (a, b) in enumerate(edges):
        at[a].append(k)
        at[b].append(k)
    depth = {root: 0}
    order: list[tuple[int, int, int]] = []
    heap: list[tuple[float, int, int, int, int]] = []

    def offer(vertex: int) -> None:
        for k in at[vertex]:
            a, b = edges[k]
            other = b if a == vertex else a
            if other not in depth and weights[k] >= 0:
                heapq.heappush(heap, (-weights[k], depth[vertex], k, vertex, other))

    offer(root)
    while heap:
        _, _, k, start, end = heapq.heappop(heap)
        if end in depth:
            continue
        depth[end] = depth[start] + 1
        order.append((k, start, end))
        offer(end)
    used = {k for k, _, _ in order}
    chords = tuple(
        k for k, (a, b) in enumerate(edges) if k not in used and (a in depth or b in depth)
    )
    return SpanningTree(tuple(order), chords, tuple(v for v in range(vertices) if v not in depth))
