"""Diagrams of what comes after what: boxes in columns, and arrows from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError
from biela.given_files import path_of
from biela.results.style import COLORS, INK, finish, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Box", "draw_layers"]

#: More boxes than this cannot be told apart on a page.
LARGEST = 80
_FILLS = ("#EAF2F8", "#FDEBD9", "#E5F5E5", "#F6E3EC", "#F3F0DC", "#E6E4F3", "#DFF1F0", "#F2E6DE")
#: Inches of a letter, of a line, between columns and between boxes.
_LETTER, _LINE, _APART, _GAP = 0.083, 0.19, 0.7, 0.22


@dataclass(frozen=True)
class Box:
    """A box of a diagram.

    Attributes:
        title: Its first line.
        lines: What follows.
        layer: Its column, 0 at the left.
        after: Numbers of the boxes from which arrows lead to it.
        sort: Boxes of one sort have one colour.
        grounded: Whether it stands on the ground, which is drawn below it.
    """

    title: str
    lines: tuple[str, ...]
    layer: int
    after: tuple[int, ...] = ()
    sort: int = 0
    grounded: bool = False


def draw_layers(boxes: Sequence[Box], path: str | Path, *, title: str = "") -> Path:
    """Draw boxes in columns to a file whose suffix says the format.

    Raises:
        ResultsError: There are no boxes, or too many to be told apart, an arrow comes from
            nowhere, or the file cannot be written.
    """
    target = path_of(path, ResultsError)
    if not boxes or len(boxes) > LARGEST:
        raise ResultsError(
            f"{len(boxes)} boxes cannot be drawn; there must be some, and {LARGEST} are the most"
        )
    for box in boxes:
        if not all(0 <= k < len(boxes) and boxes[k].layer < box.layer for k in box.after):
            raise ResultsError(f"an arrow to {box.title!r} comes from no box to its left")
    order = _ordered(boxes)
    size = np.array([_size(box) for box in boxes])
    layers = sorted(order)
    widths = [max(size[k][0] for k in order[layer]) for layer in layers]
    heights = [sum(size[k][1] + _GAP for k in order[layer]) - _GAP for layer in layers]
    total = (sum(widths) + _APART * (len(layers) - 1), max(heights))
    place = np.zeros((len(boxes), 2))
    x = 0.0
    for layer, width, height in zip(layers, widths, heights, strict=True):
        y = (total[1] + height) / 2
        for k in order[layer]:
            place[k] = x + width / 2, y - size[k][1] / 2
            y -= size[k][1] + _GAP
        x += width + _APART
    with styled():
        # arcs over columns rise above all boxes
        span = max(
            (
                float(place[k][0] - place[b][0])
                for k, box in enumerate(boxes)
                for b in box.after
                if boxes[b].layer + 1 < box.layer
            ),
            default=0.0,
        )
        over = 0.2 + 0.17 * span
        figure = new_figure(max(total[0] + 0.5, 3.0), total[1] + 0.8 + over)
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_xlim(-0.2, total[0] + 0.2)
        axes.set_ylim(-0.3, total[1] + over)
        axes.set_aspect("equal")
        if title:
            axes.set_title(title, loc="left")
        for k, box in enumerate(boxes):
            for before in box.after:
                near = boxes[before].layer + 1 == box.layer
                _arrow(axes, place[before], size[before], place[k], size[k], near)
        for k, box in enumerate(boxes):
            _box(axes, box, place[k], size[k])
        finish(figure, target)
    return target


def _ordered(boxes: Sequence[Box]) -> dict[int, list[int]]:
    """The boxes of each column, each at the mean height of those it comes after."""
    columns: dict[int, list[int]] = {}
    for k, box in enumerate(boxes):
        columns.setdefault(box.layer, []).append(k)
    height: dict[int, float] = {}
    for layer in sorted(columns):
        own = columns[layer]
        wished = {
            k: float(np.mean([height[b] for b in boxes[k].after])) if boxes[k].after else 0.5
            for k in own
        }
        own.sort(key=lambda k: (wished[k], k))
        for place, k in enumerate(own):
            height[k] = (place + 0.5) / len(own)
    return columns


def _size(box: Box) -> tuple[float, float]:
    letters = max(1.1 * len(box.title), *(len(line) for line in box.lines), 4)
    return _LETTER * letters + 0.24, _LINE * (1 + len(box.lines)) + 0.16


def _box(axes: Axes, box: Box, place: np.ndarray, size: np.ndarray) -> None:
    from matplotlib.patches import FancyBboxPatch

    low = place - size / 2
    axes.add_patch(
        FancyBboxPatch(
            (float(low[0]) + 0.05, float(low[1]) + 0.05),
            float(size[0]) - 0.1,
            float(size[1]) - 0.1,
            boxstyle="round,pad=0.05,rounding_size=0.06",
            facecolor=_FILLS[box.sort % len(_FILLS)],
            edgecolor=INK,
            linewidth=0.9,
            zorder=3,
        )
    )
    if box.grounded:
        _ground(axes, float(place[0]), float(low[1]))
    top = float(place[1] + size[1] / 2) - 0.08
    for k, line in enumerate((box.title, *box.lines)):
        axes.text(
            float(place[0]),
            top - _LINE * (k + 0.5),
            line,
            ha="center",
            va="center",
            fontsize=9 if k == 0 else 8,
            fontweight="bold" if k == 0 else "normal",
            zorder=4,
        )


def _ground(axes: Axes, x: float, y: float) -> None:
    """The hatched line of a fixed body below a box."""
    axes.plot([x - 0.2, x + 0.2], [y, y], color=INK, lw=1.6, zorder=5, solid_capstyle="butt")
    for k in range(6):
        left = x - 0.2 + 0.08 * k
        axes.plot([left, left - 0.07], [y, y - 0.09], color=INK, lw=0.8, zorder=2)


def _arrow(
    axes: Axes,
    start: np.ndarray,
    size: np.ndarray,
    end: np.ndarray,
    end_size: np.ndarray,
    near: bool,
) -> None:
    """An arrow to the next column, or in an arc over the columns between."""
    if near:
        tail = start[0] + size[0] / 2, start[1]
        tip = end[0] - end_size[0] / 2, end[1]
        style = "arc3,rad=0"
    else:
        tail = start[0], start[1] + size[1] / 2
        tip = end[0], end[1] + end_size[1] / 2
        style = "arc3,rad=-0.3"
    axes.annotate(
        "",
        (float(tip[0]), float(tip[1])),
        (float(tail[0]), float(tail[1])),
        arrowprops={
            "arrowstyle": "-|>",
            "color": COLORS[0],
            "linewidth": 1.1,
            "shrinkA": 0,
            "shrinkB": 0,
            "connectionstyle": style,
        },
        zorder=2,
    )
