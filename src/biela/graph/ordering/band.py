"""Orders for a narrow band and a small profile: Cuthill-McKee, King, Sloan."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from biela.graph.adjacency import Adjacency, Integers

__all__ = ["cuthill_mckee", "king", "reverse_cuthill_mckee", "sloan"]


def cuthill_mckee(graph: Adjacency) -> Integers:
    """The order of Cuthill & McKee 1969: level by level from a vertex far out.

    Of each component a pseudo-peripheral vertex comes first, then the neighbours of each vertex in
    turn, those of least degree first.  Entries stay near the diagonal, and so does the fill.

    >>> from biela.graph import adjacency
    >>> cuthill_mckee(adjacency(5, [3, 0, 4, 2], [0, 4, 2, 1])).tolist()
    [3, 0, 4, 2, 1]
    """
    from biela.graph.ordering.compiled_levels import cuthill_mckee_order

    by_degree = np.argsort(np.diff(graph.start), kind="stable")
    order: Integers = cuthill_mckee_order(graph.start, graph.neighbours, by_degree)
    return order


def reverse_cuthill_mckee(graph: Adjacency) -> Integers:
    """The same order backwards (George 1971): the same band, a smaller profile, less fill."""
    return np.ascontiguousarray(cuthill_mckee(graph)[::-1])


def king(graph: Adjacency) -> Integers:
    """The order of King 1970: next the vertex of the front that brings fewest new ones into it.

    The front are the vertices not numbered yet with a neighbour that is.  Of equal ones the one
    that has been in the front longest.
    """
    lists = _lists(graph)
    order: list[int] = []
    state = [0] * graph.size  # 0 untouched, 1 in the front, 2 numbered
    fresh = [len(row) for row in lists]  # untouched neighbours
    since = [0] * graph.size
    for root, _ in _ends(graph):
        heap = [(0, 0, root)]
        clock = 0
        while heap:
            new, when, v = heapq.heappop(heap)
            if state[v] == 2 or (state[v] == 1 and (new, when) != (fresh[v], since[v])):
                continue
            entering = [w for w in lists[v] if state[w] == 0]
            if state[v] == 0:
                entering.append(v)
            order.append(v)
            clock += 1
            for w in entering:
                state[w] = 1
                since[w] = clock
            state[v] = 2
            changed = {u for w in entering for u in lists[w] if state[u] == 1}
            for w in entering:
                for u in lists[w]:
                    fresh[u] -= 1
            for u in sorted(changed | {w for w in entering if state[w] == 1}):
                heapq.heappush(heap, (fresh[u], since[u], u))
    return np.array(order, dtype=np.int64)


def sloan(graph: Adjacency, outward: int = 1, front: int = 2) -> Integers:
    """The order of Sloan 1986: a compromise between going outward and keeping the front small.

    Of the vertices in or next to the front the one goes first whose priority is highest:
    ``outward`` times its distance from the far end less ``front`` times how much the front would
    grow.  "An algorithm for profile and wavefront reduction of sparse matrices", Int. J. Numer.
    Meth. Engng. 23.
    """
    lists = _lists(graph)
    order: list[int] = []
    state = [0] * graph.size  # 0 inactive, 1 preactive, 2 active, 3 numbered
    priority = [0] * graph.size
    for root, distance in _ends(graph):
        for v, far in distance.items():
            priority[v] = outward * far - front * (len(lists[v]) + 1)
        state[root] = 1
        heap = [(-priority[root], root)]

        def raise_(v: int, heap: list[tuple[int, int]] = heap) -> None:
            priority[v] += front
            heapq.heappush(heap, (-priority[v], v))

        while heap:
            value, v = heapq.heappop(heap)
            if state[v] == 3 or -value != priority[v]:
                continue
            if state[v] == 1:
                for w in lists[v]:
                    if state[w] != 3:
                        state[w] = max(state[w], 1)
                        raise_(w)
            state[v] = 3
            order.append(v)
            for w in lists[v]:
                if state[w] == 1:
                    state[w] = 2
                    raise_(w)
                    for u in lists[w]:
                        if state[u] != 3:
                            state[u] = max(state[u], 1)
                            raise_(u)
    return np.array(order, dtype=np.int64)


def _lists(graph: Adjacency) -> list[list[int]]:
    bounds, flat = graph.start.tolist(), graph.neighbours.tolist()
    return [flat[a:b] for a, b in pairwise(bounds)]


def _ends(graph: Adjacency) -> list[tuple[int, dict[int, int]]]:
    """Of each component a vertex far out, and how far each vertex is from the other end."""
    from biela.graph.ordering.compiled_levels import far_end

    n = graph.size
    part = np.zeros(n, dtype=np.int64)
    level = np.full(n, -1, dtype=np.int64)
    queue = np.empty(n + 1, dtype=np.int64)
    found = []
    for s in np.argsort(np.diff(graph.start), kind="stable").tolist():
        if part[s]:
            continue
        _, count, _ = far_end(graph.start, graph.neighbours, s, part, 0, level, queue)
        reached = queue[:count].copy()
        distance = dict(zip(reached.tolist(), level[reached].tolist(), strict=True))
        last = [v for v in reached.tolist() if distance[v] == distance[int(reached[-1])]]
        root = min(last, key=lambda v: (graph.start[v + 1] - graph.start[v], v))
        part[reached] = 1
        found.append((int(root), distance))
    return found
