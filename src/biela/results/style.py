"""How every figure looks: colours, fonts, sizes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biela.errors import ResultsError
from biela.given_files import path_of
from biela.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLORS",
    "FAINT",
    "INK",
    "LINES",
    "color",
    "darker",
    "finish",
    "line_style",
    "new_figure",
    "plain_axes",
    "styled",
]

#: Distinct for all kinds of colour vision (Okabe & Ito 2008), the dark ones first; their yellow is
#: left out, as it is lost on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
#: When the colours are used up the strokes change.
LINES = ("-", "--", "-.", ":")

INK = "#222222"
FAINT = "#B8B8B8"

_RC: Any = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.labelsize": 10.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.use_mathtext": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def color(number: int) -> str:
    """Colour of the n-th line of an axes."""
    return COLORS[number % len(COLORS)]


def darker(color: str) -> str:
    """A colour "#rrggbb" at half its light, for what is drawn over it."""
    return "#" + "".join(f"{int(color[i : i + 2], 16) // 2:02x}" for i in (1, 3, 5))


def line_style(number: int) -> str:
    """Stroke of the n-th line of an axes."""
    return LINES[number // len(COLORS) % len(LINES)]


def styled() -> AbstractContextManager[None]:
    """Inside, what matplotlib makes looks as it should; outside its settings stay the user's."""
    import matplotlib

    return matplotlib.rc_context(_RC)


@cache
def _figure_class() -> type[Figure]:
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that shows in a notebook without pyplot."""

        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return NotebookFigure


def new_figure(width: float, height: float, layout: Any = "constrained") -> Figure:
    """A figure of that size in inches, drawn by Agg: it needs no screen and no pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _figure_class()(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def plain_axes(axes: Axes) -> None:
    """Only the axes that carry numbers, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#E6E6E6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.margins(x=0.0)


def finish(figure: Figure, save: str | Path | None) -> Figure:
    """Write the figure to a file if one is named, in the format its suffix says.

    Raises:
        ResultsError: the file cannot be written, or its format is unknown.
    """
    if any(a.get_aspect() != "auto" and a.get_adjustable() == "datalim" for a in figure.axes):
        # equal scales widen the limits while it is drawn, after room was made for the old numbers
        with styled():
            figure.draw_without_rendering()
    if save is not None:
        path = path_of(save, ResultsError)
        known = figure.canvas.get_supported_filetypes()
        form = path.suffix.lower().lstrip(".")
        if form not in known:
            raise ResultsError(f"{path}: the name should end in one of .{', .'.join(known)}")
        with whole_file(path, ResultsError) as file, styled():
            figure.savefig(file, dpi=150, format=form)
    return figure
