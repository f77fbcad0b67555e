"""Graphs on paper: named circles, and labelled arcs between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError
from biela.given_files import path_of
from biela.results.channels import Array
from biela.results.style import COLORS, INK, finish, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Edge", "draw_graph"]

#: More circles than this cannot be told apart on a page.
_LARGEST = 80
_DRIVEN = COLORS[1]
_FILL = "#EAF2F8"
_GROUND = "#D9D9D9"


@dataclass(frozen=True)
class Edge:
    """An arc between two circles, by number.

    ``symbol`` stands in its middle, ``name`` beside it; ``marked`` ones are coloured.
    """

    first: int
    second: int
    symbol: str = ""
    name: str = ""
    marked: bool = False


def draw_graph(
    names: Sequence[str], edges: Sequence[Edge], path: str | Path, *, title: str = ""
) -> Path:
    """Draw a graph to a file whose suffix says the format; the first circle is the ground.

    Raises:
        ResultsError: There are more circles than can be told apart, an arc leads nowhere, or the
            file cannot be written.
    """
    target = path_of(path, ResultsError)
    if len(names) > _LARGEST:
        raise ResultsError(f"{len(names)} circles are too many to draw; {_LARGEST} are the most")
    for edge in edges:
        if not (0 <= edge.first < len(names) and 0 <= edge.second < len(names)):
            raise ResultsError(f"arc {edge.name!r} leads to a circle that is not there")
    places = _layout(len(names), edges)
    with styled():
        # neighbours are 2 apart: room for the longest name and a symbol between them
        inches = min(1.3, max(0.8, 0.06 * max(len(name) for name in names) + 0.5))
        width, height = np.clip((np.ptp(places, axis=0) + 1.4) * inches, 3.0, 24.0)
        figure = new_figure(float(width), float(height) + 0.3)
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal")
        low, high = places.min(axis=0) - 0.7, places.max(axis=0) + 0.7
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        if title:
            axes.set_title(title, loc="left")
        for edge, bend in zip(edges, _bends(edges), strict=True):
            _draw_edge(axes, places, edge, bend)
        for k, name in enumerate(names):
            _draw_node(axes, places[k], name, k == 0)
        finish(figure, target)
    return target


def _draw_node(axes: Axes, place: Array, name: str, ground: bool) -> None:
    axes.text(
        place[0],
        place[1],
        name,
        ha="center",
        va="center",
        fontsize=10,
        zorder=4,
        bbox={
            "boxstyle": "square,pad=0.45" if ground else "round,pad=0.45",
            "facecolor": _GROUND if ground else _FILL,
            "edgecolor": INK,
            "linewidth": 0.9,
        },
    )


def _draw_edge(axes: Axes, places: Array, edge: Edge, bend: float) -> None:
    a, b = places[edge.first], places[edge.second]
    across = np.array([a[1] - b[1], b[0] - a[0]])
    if edge.first > edge.second:  # arcs between the same two circles bend by the same rule
        across = -across
    if edge.first == edge.second:
        across = np.array([0.0, 1.2])
    middle = (a + b) / 2 + bend * across
    s = np.linspace(0.0, 1.0, 41)[:, None]
    curve = (1 - s) ** 2 * a + 2 * s * (1 - s) * (2 * middle - (a + b) / 2) + s**2 * b
    color = _DRIVEN if edge.marked else INK
    axes.plot(curve[:, 0], curve[:, 1], color=color, lw=2.0 if edge.marked else 1.2, zorder=2)
    axes.text(
        middle[0],
        middle[1],
        edge.symbol,
        ha="center",
        va="center",
        color="white",
        fontsize=9,
        fontweight="bold",
        zorder=5,
        bbox={"boxstyle": "circle,pad=0.25", "facecolor": color, "edgecolor": "none"}
        if len(edge.symbol) < 2
        else {"boxstyle": "round,pad=0.25", "facecolor": color, "edgecolor": "none"},
    )
    if edge.name:
        axes.annotate(
            edge.name,
            (float(middle[0]), float(middle[1])),
            xytext=(0, -12),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            color=color,
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.1",
                "facecolor": "white",
                "edgecolor": "none",
                "alpha": 0.8,
            },
        )


def _bends(edges: Sequence[Edge]) -> list[float]:
    """How far each arc leaves the straight line: those between the same circles fan out."""
    total = Counter(frozenset((e.first, e.second)) for e in edges)
    seen: Counter[frozenset[int]] = Counter()
    bends = []
    for edge in edges:
        pair = frozenset((edge.first, edge.second))
        bends.append(0.3 * (seen[pair] - (total[pair] - 1) / 2))
        seen[pair] += 1
    return [
        bend or (0.8 if edge.first == edge.second else 0.0)
        for bend, edge in zip(bends, edges, strict=True)
    ]


def _layout(count: int, edges: Sequence[Edge]) -> Array:
    """Places at which neighbours are about 2 apart: of several tries the one easiest to read."""
    if count < 2:
        return np.zeros((count, 2))
    far = _distances(count, edges)
    angles = 2 * np.pi * np.arange(count) / count + np.pi
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) * max(1.0, count / 3)
    rng = np.random.default_rng(0)
    tries = [_least_stress(far, ring)]
    tries += [_least_stress(far, ring[rng.permutation(count)]) for _ in range(20)]
    places, _ = min(tries, key=lambda found: (_tangle(found[0], edges), round(found[1], 6)))
    places = places - places.mean(axis=0)
    # the longest way across the page, the ground to the left
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned: Array = places @ axes.T
    turned *= np.where(turned[0] > 0, -1.0, 1.0)
    return turned


def _least_stress(far: Array, places: Array) -> tuple[Array, float]:
    """Places whose distances are as nearly as can be those in the graph, and what they miss.

    Each pair counts with the inverse square of its distance, and every place moves to the mean of
    what its partners ask for (Gansner, Koren & North 2004, "Graph drawing by stress
    majorization").
    """
    weights = np.divide(1.0, far**2, out=np.zeros_like(far), where=far > 0)
    for _ in range(150):
        gap = places[:, None] - places[None, :]
        length = np.maximum(np.linalg.norm(gap, axis=2), 1e-9)
        wished = places[None, :] + gap * (far / length)[:, :, None]
        places = (weights[:, :, None] * wished).sum(axis=1) / weights.sum(axis=1)[:, None]
    length = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    return places, float((weights * (length - far) ** 2).sum())


def _tangle(places: Array, edges: Sequence[Edge]) -> int:
    """How many arcs without a common end cross, and thrice how many run under a circle."""
    joined = [(e.first, e.second) for e in edges if e.first != e.second]
    ends = np.array(joined, dtype=int).reshape(-1, 2)
    a, b = places[ends[:, 0]], places[ends[:, 1]]
    along = (b - a)[:, None]

    def across(p: Array) -> Array:
        """How far to the left of each arc (rows) each point (columns) lies, times its length."""
        to = p[None, :] - a[:, None]
        turn: Array = along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]
        return turn

    apart = np.sign(across(a)) * np.sign(across(b)) < 0
    crossings = int(np.count_nonzero(apart & apart.T)) // 2
    squares = (along**2).sum(axis=2)
    along_arc = (along * (places[None, :] - a[:, None])).sum(axis=2) / squares
    under = (np.abs(across(places)) < 0.4 * np.sqrt(squares)) & (along_arc > 0) & (along_arc < 1)
    rows = np.arange(len(ends))
    under[rows, ends[:, 0]] = under[rows, ends[:, 1]] = False
    return crossings + 3 * int(np.count_nonzero(under))


def _distances(count: int, edges: Sequence[Edge]) -> Array:
    """Twice the number of arcs between circles; pieces that do not hang together stay apart."""
    far = np.full((count, count), np.inf)
    np.fill_diagonal(far, 0.0)
    for edge in edges:
        if edge.first != edge.second:
            far[edge.first, edge.second] = far[edge.second, edge.first] = 2.0
    for k in range(count):
        far = np.minimum(far, far[:, k : k + 1] + far[k : k + 1, :])
    widest = far[np.isfinite(far)].max(initial=2.0)
    return np.where(np.isfinite(far), far, widest + 1.0)
