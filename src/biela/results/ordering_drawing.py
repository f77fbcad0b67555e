"""Sparse matrices on paper: their entries, diagonal blocks, border and band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.errors import ResultsError
from biela.given_files import path_of
from biela.results.style import COLORS, FAINT, INK, finish, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["OrderedMatrix", "draw_orderings"]

_BLOCK, _BORDER, _BAND, _ENTRY = COLORS[0], COLORS[1], COLORS[2], INK
#: Inches that a picture of a matrix is wide.
_WIDTH = 3.9


@dataclass(frozen=True, eq=False)
class OrderedMatrix:
    """The places of a matrix in some order.

    Attributes:
        name: of the order.
        shape: numbers of rows and columns.
        rows: the row of each entry.
        columns: its column.
        bounds: where each diagonal block begins and the last one ends; the columns after it are
            the border, the rows the band.  Empty if there are no blocks.
        note: a text below the picture.
    """

    name: str
    shape: tuple[int, int]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    bounds: tuple[int, ...] = ()
    note: str = ""


def draw_orderings(
    matrices: Sequence[OrderedMatrix], path: str | Path, *, title: str = "", across: int = 2
) -> Path:
    """Draw matrices beside each other to a file whose suffix says the format.

    Diagonal blocks are framed, entries in them are blue, those in border columns orange and in band
    rows green.

    Raises:
        ResultsError: there is nothing to draw, or the file cannot be written.
    """
    target = path_of(path, ResultsError)
    if not matrices:
        raise ResultsError("no matrix was given to draw")
    across = min(across, len(matrices))
    lines = -(-len(matrices) // across)
    ratio = max(min(max(m.shape[0] / max(m.shape[1], 1) for m in matrices), 2.5), 0.3)
    with styled():
        figure = new_figure(across * _WIDTH, lines * (_WIDTH * ratio + 0.75) + 0.6)
        if title:
            figure.suptitle(title, fontsize=12)
        for k, matrix in enumerate(matrices):
            _draw(figure.add_subplot(lines, across, k + 1), matrix)
        _legend(figure, any(len(m.bounds) > 1 for m in matrices))
        finish(figure, target)
    return target


def _draw(axes: Axes, matrix: OrderedMatrix) -> None:
    m, n = matrix.shape
    inner = matrix.bounds[-1] if matrix.bounds else 0
    rows, columns = matrix.rows, matrix.columns
    colors = np.full(len(rows), _ENTRY, dtype=object)
    if len(matrix.bounds) > 1:
        block = np.searchsorted(matrix.bounds, np.arange(max(m, n)), side="right")
        colors[(block[rows] == block[columns]) & (rows < inner) & (columns < inner)] = _BLOCK
        colors[rows >= inner] = _BAND
        colors[columns >= inner] = _BORDER
        _draw_frames(axes, matrix, inner)
    # an entry is a square of its place, and never less than a dot
    side = max(72 * (_WIDTH - 0.6) / max(n, m, 1) * 0.82, 0.9)
    axes.scatter(columns, rows, s=side**2, c=list(colors), marker="s", linewidths=0, zorder=3)
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(m - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.xaxis.tick_top()
    axes.tick_params(length=2, labelsize=8, color=FAINT)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
    axes.set_title(matrix.name, loc="left", fontweight="bold", pad=8)
    axes.set_xlabel(matrix.note, fontsize=8.5, loc="left")


def _draw_frames(axes: Axes, matrix: OrderedMatrix, inner: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    m, n = matrix.shape
    bounds = matrix.bounds
    frames = [Rectangle((a - 0.5, a - 0.5), b - a, b - a) for a, b in pairwise(bounds)]
    axes.add_collection(
        PatchCollection(
            frames,
            facecolor="#DCEBF5",
            edgecolor=_BLOCK,
            linewidth=0.5 if n < 400 else 0.0,
            zorder=1,
        )
    )
    if inner < n:
        axes.axvspan(inner - 0.5, n - 0.5, facecolor="#FBE9DD", zorder=0)
        axes.axvline(inner - 0.5, color=_BORDER, linewidth=0.8, zorder=2)
    if inner < m:
        axes.axhspan(inner - 0.5, m - 0.5, facecolor="#DDF2EA", zorder=0)
        axes.axhline(inner - 0.5, color=_BAND, linewidth=0.8, zorder=2)


def _legend(figure: Figure, blocks: bool) -> None:
    if not blocks:
        return
    from matplotlib.patches import Patch

    labels = ((_BLOCK, "diagonal block"), (_BORDER, "border"), (_BAND, "band"), (_ENTRY, "other"))
    figure.legend(
        handles=[Patch(color=color, label=text) for color, text in labels],
        loc="outside lower center",
        ncols=4,
        frameon=False,
    )
