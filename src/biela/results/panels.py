"""Parts of figures: axes one above the other, lines, legends, events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biela.budgets import AXES, POINTS, within
from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.style import FAINT, color, line_style, new_figure, plain_axes
from biela.results.units import labelled, quantity, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = [
    "axis_label",
    "by_unit",
    "check_axes",
    "check_points",
    "events",
    "legend",
    "line",
    "stack",
    "title",
]

_WIDTH = 8.0
#: More lines than this are not told apart by a legend.
_LEGEND = 24
_EVENT_NAMES = 8


def by_unit(results: Results, names: Sequence[str]) -> dict[str, list[str]]:
    """Channels of the same unit, which share axes."""
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(shown(results.unit(name)), []).append(name)
    return panels


def check_points(points: int) -> None:
    """Refuse a figure with more points than can be drawn.

    Raises:
        ResultsError: It has more.
    """
    advice = "draw fewer channels, or a part of the motion, results.between(…)"
    within(POINTS, points, "the figure would have {} points", advice, ResultsError)


def check_axes(count: int) -> None:
    """Refuse a figure that would be higher than any picture.

    Raises:
        ResultsError: It would.
    """
    what = "the figure would have {} axes one above the other"
    within(AXES, count, what, "draw fewer channels", ResultsError)


def stack(
    results: Results | None, heights: Sequence[float], across: str = "time [s]"
) -> tuple[Figure, list[Axes]]:
    """Axes one above the other over one axis across, heights in inches.

    Raises:
        ResultsError: There are too many.
    """
    check_axes(len(heights))
    figure = new_figure(_WIDTH, sum(heights) + 0.9)
    grid = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    rows: list[Axes] = list(grid[:, 0])
    for axes in rows:
        plain_axes(axes)
    rows[-1].set_xlabel(across)
    if results is not None:
        rows[0].set_title(title(results), loc="left")
    figure.align_ylabels(rows)
    return figure, rows


def title(results: Results) -> str:
    """The name of the run, with a word if it is not whole."""
    return f"{results.name} (interrupted)" if results.interrupted else results.name


def line(axes: Axes, number: int, t: Array, values: Array, name: str) -> None:
    """The n-th line of an axes, in its own colour and stroke."""
    marker = "o" if len(t) == 1 else None  # a line through one point shows nothing
    label = f" {name}" if name.startswith("_") else name  # matplotlib would leave it out
    axes.plot(t, values, line_style(number), color=color(number), label=label, marker=marker)


def axis_label(members: Sequence[str], unit: str) -> str:
    """The name of a single channel, or what several of them measure."""
    if len(members) == 1:
        return labelled(members[0], unit)
    return labelled(quantity(unit), unit)


def legend(axes: Axes, source: Axes | None = None) -> None:
    """Names beside the axes, where they hide nothing; of the lines of another axes if given."""
    handles, names = (source or axes).get_legend_handles_labels()
    if len(handles) > _LEGEND:
        more = f"… {len(handles) - _LEGEND + 1} more"
        handles, names = handles[:_LEGEND], [*names[: _LEGEND - 1], more]
    axes.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.02),
        frameon=False,
        ncols=1 + (len(handles) > 10),
        handlelength=1.8,
        borderaxespad=0.0,
    )


def events(results: Results, rows: Sequence[Axes]) -> None:
    """Thin lines at the events, with their names in the uppermost axes if they are few."""
    if not results.events:
        return
    times = [event.time for event in results.events]
    for axes in rows:
        across = axes.get_xaxis_transform()
        lines = axes.vlines(times, 0, 1, transform=across, colors=FAINT, linewidth=0.8, zorder=1)
        lines.set_gid("events")
    if len(times) <= _EVENT_NAMES:
        for event in results.events:
            rows[0].annotate(
                event.name,
                (event.time, 1.0),
                xycoords=rows[0].get_xaxis_transform(),
                xytext=(2, -2),
                textcoords="offset points",
                rotation=90,
                va="top",
                fontsize=7.5,
                color="#777777",
            )
