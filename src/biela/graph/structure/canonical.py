"""Canonical labels of small coloured graphs.

Two graphs have the same label if and only if one is the other with its vertices renumbered; the
canonical orders then say which vertex is which, up to symmetries of the graph.

Colours are refined until no vertex of a colour can be told from another by the colours of its
neighbours; where that leaves several of a colour, each of them in turn is given a colour of its
own, and the lowest text that comes out is the label (McKay 1981, "Practical graph isomorphism").
A vertex whose first leaf gives the same text as that of one tried before is its image under a
symmetry, and is left out: without that six equal legs would be tried in 720 orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.errors import ShapeError

__all__ = ["Canonical", "ColouredGraph", "canonical"]


@dataclass(frozen=True)
class ColouredGraph:
    """A graph with coloured vertices and coloured edges.

    Attributes:
        colours: The colour of each vertex.
        edges: (first, second, colour) each; an edge whose ends play different parts has a
            vertex of its own in between.
    """

    colours: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]

    def __post_init__(self) -> None:
        n = len(self.colours)
        for a, b, _ in self.edges:
            if not (0 <= a < n and 0 <= b < n):
                raise ShapeError(f"an edge joins {a} and {b}, and there are {n} vertices")


@dataclass(frozen=True)
class Canonical:
    """The canonical form of a graph.

    Attributes:
        label: A text that tells the graph from all others.
        order: The vertices in canonical order.
    """

    label: str
    order: tuple[int, ...]


def canonical(graph: ColouredGraph) -> Canonical:
    """The canonical form of a coloured graph.

    >>> one = canonical(ColouredGraph(("a", "b", "a"), ((0, 1, ""), (1, 2, "x"))))
    >>> other = canonical(ColouredGraph(("b", "a", "a"), ((1, 0, "x"), (2, 0, ""))))
    >>> one.label == other.label
    True
    """
    n = len(graph.colours)
    around: list[list[tuple[str, int]]] = [[] for _ in range(n)]
    for a, b, colour in graph.edges:
        around[a].append((colour, b))
        if b != a:
            around[b].append((colour, a))
    names = sorted(set(graph.colours))
    rank = {name: k for k, name in enumerate(names)}
    cells = _refined([rank[c] for c in graph.colours], around)
    label, order = _best(cells, around, graph.colours)
    return Canonical(label, tuple(order))


def _refined(colour: Sequence[int], around: Sequence[Sequence[tuple[str, int]]]) -> list[int]:
    """Colours in which vertices of a colour have the same neighbours, numbered from 0.

    The new numbers keep the order of the old ones, so that they do not depend on the numbering of
    the vertices.
    """
    now = list(colour)
    count = len(set(now))
    while True:
        keys = [
            (now[v], tuple(sorted((edge, now[w]) for edge, w in around[v])))
            for v in range(len(now))
        ]
        rank = {key: k for k, key in enumerate(sorted(set(keys)))}
        now = [rank[key] for key in keys]
        if len(rank) == count:
            return now
        count = len(rank)


def _best(
    colour: list[int], around: Sequence[Sequence[tuple[str, int]]], names: Sequence[str]
) -> tuple[str, list[int]]:
    """The lowest text below a colouring, and the order that gives it."""
    cell = _cell(colour)
    if not cell:
        order = sorted(range(len(colour)), key=colour.__getitem__)
        return _text(order, around, names), order
    tried: set[str] = set()
    best: tuple[str, list[int]] | None = None
    for v in cell:
        below = _individualised(colour, v, around)
        leaf = _first_leaf(below, around, names)
        if leaf in tried:
            continue
        tried.add(leaf)
        found = _best(below, around, names)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return best


def _cell(colour: Sequence[int]) -> list[int]:
    """The vertices of the first colour that several have; none if all differ."""
    cells: dict[int, list[int]] = {}
    for v, c in enumerate(colour):
        cells.setdefault(c, []).append(v)
    several = [(c, vertices) for c, vertices in cells.items() if len(vertices) > 1]
    return min(several)[1] if several else []


def _individualised(
    colour: Sequence[int], v: int, around: Sequence[Sequence[tuple[str, int]]]
) -> list[int]:
    return _refined([2 * c + (w != v) for w, c in enumerate(colour)], around)


def _first_leaf(
    colour: list[int], around: Sequence[Sequence[tuple[str, int]]], names: Sequence[str]
) -> str:
    while cell := _cell(colour):
        colour = _individualised(colour, cell[0], around)
    return _text(sorted(range(len(colour)), key=colour.__getitem__), around, names)


def _text(
    order: Sequence[int], around: Sequence[Sequence[tuple[str, int]]], names: Sequence[str]
) -> str:
    place = {v: k for k, v in enumerate(order)}
    lines = []
    for v in order:
        ends = sorted((place[w], edge) for edge, w in around[v] if place[w] <= place[v])
        lines.append(names[v] + "(" + ",".join(f"{w}{edge}" for w, edge in ends) + ")")
    return ";".join(lines)
