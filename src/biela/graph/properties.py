"""Words of graph theory, as functions on an [`Adjacency`][biela.graph.Adjacency].

Neighbourhoods, distances, cliques, separators and levels: the vocabulary in which orderings are
described (George & Liu 1981, "Computer solution of large sparse positive definite systems").  They
are for looking at graphs and for tests; what runs on large ones is compiled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

import numpy as np

from biela.errors import ShapeError
from biela.graph.adjacency import Adjacency, Integers, adjacency

__all__ = [
    "adjacent",
    "connected_components",
    "connectivity",
    "degree",
    "diameter",
    "distance",
    "eccentricity",
    "is_clique",
    "is_separator",
    "levels",
    "peripheral",
    "pseudo_peripheral",
    "reach",
    "shortest_path",
    "span",
    "subgraph",
]


def degree(graph: Adjacency, vertex: int) -> int:
    """Number of neighbours of a vertex."""
    _check(graph, [vertex])
    return int(graph.start[vertex + 1] - graph.start[vertex])


def adjacent(graph: Adjacency, vertices: Iterable[int]) -> set[int]:
    """Adj(W): the vertices outside of W with a neighbour in W.

    >>> adjacent(adjacency(4, [0, 1, 2], [1, 2, 3]), [1, 2])
    {0, 3}

    Raises:
        ShapeError: a vertex is not in the graph.
    """
    inside = _check(graph, vertices)
    return {int(u) for v in inside for u in graph.of(v)} - inside


def span(graph: Adjacency, vertices: Iterable[int]) -> set[int]:
    """W and its neighbours."""
    inside = _check(graph, vertices)
    return inside | adjacent(graph, inside)


def subgraph(graph: Adjacency, vertices: Collection[int]) -> Adjacency:
    """The section of a graph: some vertices and all edges between them.

    Vertex k of the section is the k-th of those given.

    Raises:
        ShapeError: a vertex is not in the graph, or given twice.
    """
    if len(_check(graph, vertices)) != len(vertices):
        raise ShapeError("a vertex is given twice")
    chosen = np.array(list(vertices), dtype=np.int64)
    place = np.full(graph.size, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    a = np.repeat(place, np.diff(graph.start))
    b = place[graph.neighbours]
    inside = (a >= 0) & (b >= 0)
    return adjacency(len(chosen), a[inside], b[inside])


def is_clique(graph: Adjacency, vertices: Iterable[int]) -> bool:
    """Whether every two of the vertices are neighbours."""
    inside = _check(graph, vertices)
    return all(inside - {v} <= set(graph.of(v).tolist()) for v in inside)


def levels(
    graph: Adjacency, root: int | Iterable[int], allowed: Collection[int] | None = None
) -> list[list[int]]:
    """The level structure from a root, or from several: level k is at distance k.

    With ``allowed`` only those vertices are there.

    >>> levels(adjacency(4, [0, 0, 1], [1, 2, 3]), 0)
    [[0], [1, 2], [3]]

    Raises:
        ShapeError: a vertex is not in the graph.
    """
    first = sorted(_check(graph, [root] if isinstance(root, int | np.integer) else root))
    seen, found = set(first), [first]
    while True:
        following = {int(w) for v in found[-1] for w in graph.of(v)} - seen
        if allowed is not None:
            following &= set(allowed)
        if not following:
            return found
        seen |= following
        found.append(sorted(following))


def shortest_path(graph: Adjacency, first: int, second: int) -> list[int]:
    """A path with as few edges as possible, by its vertices; empty if there is none.

    Raises:
        ShapeError: a vertex is not in the graph.
    """
    _check(graph, [first, second])
    came, queue = {first: first}, deque([first])
    while queue and second not in came:
        v = queue.popleft()
        for w in graph.of(v).tolist():
            if w not in came:
                came[w] = v
                queue.append(w)
    if second not in came:
        return []
    path = [second]
    while path[-1] != first:
        path.append(came[path[-1]])
    return path[::-1]


def distance(graph: Adjacency, first: int, second: int) -> int:
    """Number of edges of a shortest path.

    Raises:
        ShapeError: no path leads from one to the other, or a vertex is not in the graph.
    """
    path = shortest_path(graph, first, second)
    if not path:
        raise ShapeError(f"no path leads from vertex {first} to vertex {second}")
    return len(path) - 1


def eccentricity(graph: Adjacency, vertex: int) -> int:
    """The greatest distance from a vertex to one that it reaches."""
    return len(levels(graph, vertex)) - 1


def diameter(graph: Adjacency) -> int:
    """The greatest distance between two vertices that are connected."""
    return max((eccentricity(graph, v) for v in range(graph.size)), default=0)


def peripheral(graph: Adjacency) -> list[int]:
    """The vertices whose eccentricity is the diameter."""
    all_ = [eccentricity(graph, v) for v in range(graph.size)]
    return [v for v, value in enumerate(all_) if value == max(all_)]


def pseudo_peripheral(
    graph: Adjacency, root: int, allowed: Collection[int] | None = None
) -> tuple[int, list[list[int]]]:
    """A vertex almost as far out as possible, and its level structure.

    From a root to a vertex of least degree of its last level, as long as that gives more levels
    (Gibbs, Poole & Stockmeyer 1976; George & Liu 1979).

    Raises:
        ShapeError: the root is not in the graph.
    """
    found = levels(graph, root, allowed)
    while True:
        far = min(found[-1], key=lambda v: (degree(graph, v), v))
        other = levels(graph, far, allowed)
        if len(other) <= len(found):
            return far, other
        found = other


def reach(graph: Adjacency, vertex: int, through: Iterable[int]) -> set[int]:
    """Reach(u, S): what a vertex reaches by paths whose inner vertices are all in S.

    After the vertices of S have been eliminated these are the neighbours of the vertex.  If none of
    S is a neighbour of it, they are its neighbours.

    Raises:
        ShapeError: a vertex is not in the graph.
    """
    inner = _check(graph, through) - {vertex}
    seen, queue, found = {vertex}, deque([vertex]), set()
    while queue:
        for w in graph.of(queue.popleft()).tolist():
            if w in seen:
                continue
            seen.add(w)
            if w in inner:
                queue.append(w)
            else:
                found.add(w)
    return found


def connected_components(
    graph: Adjacency, allowed: Collection[int] | None = None
) -> list[list[int]]:
    """The vertices of each connected component, the component of the lowest vertex first."""
    left = set(range(graph.size) if allowed is None else allowed)
    found = []
    for v in sorted(left):
        if v in left:
            part = sorted(w for level in levels(graph, v, left) for w in level)
            left -= set(part)
            found.append(part)
    return found


def is_separator(graph: Adjacency, vertices: Iterable[int]) -> bool:
    """Whether a component of the graph falls apart without these vertices."""
    gone = _check(graph, vertices)
    for part in connected_components(graph):
        rest = [v for v in part if v not in gone]
        if len(connected_components(graph, rest)) > 1:
            return True
    return False


def connectivity(graph: Adjacency) -> int:
    """How many vertices must go, at least, until the graph falls apart.

    A complete graph on k + 1 vertices has connectivity k.  By Menger's theorem it is the least
    number of paths without common inner vertices between two vertices that are not neighbours,
    counted as a flow.
    """
    if graph.size < 2:
        return 0
    least = graph.size - 1
    for s in range(graph.size):
        if s > least:  # one of the first least + 1 vertices is in no smallest separator
            break
        for t in range(graph.size):
            if t != s and t not in graph.of(s):
                least = min(least, _disjoint_paths(graph, s, t, least))
    return least


def _disjoint_paths(graph: Adjacency, s: int, t: int, enough: int) -> int:
    """Paths from s to t without common inner vertices: a flow with each vertex split in two."""
    flow: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    count = 0
    while count < enough:
        came: dict[tuple[int, int], tuple[int, int]] = {(s, 1): (s, 1)}
        queue = deque([(s, 1)])
        while queue and (t, 0) not in came:
            here = queue.popleft()
            v, side = here
            if side == 1:
                ways = [(w, 0) for w in graph.of(v).tolist() if w != s]
                ways += [(v, 0)] if v != s else []
            else:
                ways = [(v, 1), *((w, 1) for w in graph.of(v).tolist() if w != t)]
            for there in ways:
                forward = (v == there[0]) == (side == 0)
                open_ = ((here, there) not in flow) if forward else ((there, here) in flow)
                if open_ and there not in came:
                    came[there] = here
                    queue.append(there)
        if (t, 0) not in came:
            break
        there = (t, 0)
        while there != (s, 1):
            here = came[there]
            if (there, here) in flow:
                flow.discard((there, here))
            else:
                flow.add((here, there))
            there = here
        count += 1
    return count


def _check(graph: Adjacency, vertices: Iterable[int]) -> set[int]:
    """The vertices as a set.

    Raises:
        ShapeError: one is not in the graph.
    """
    chosen = {int(v) for v in vertices}
    for v in chosen:
        if not 0 <= v < graph.size:
            raise ShapeError(f"vertex {v} is not one of the {graph.size} of the graph")
    return chosen


def edge_list(graph: Adjacency) -> tuple[Integers, Integers]:
    """The ends of each edge once, the lower vertex first."""
    first = np.repeat(np.arange(graph.size), np.diff(graph.start))
    once = first < graph.neighbours
    return first[once], graph.neighbours[once]
