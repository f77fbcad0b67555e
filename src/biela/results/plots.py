"""Figures of channels over time, in the phase plane, and of two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.style import (
    FAINT,
    INK,
    color,
    darker,
    finish,
    line_style,
    new_figure,
    plain_axes,
    styled,
)
from biela.results.units import labelled, quantity, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["compare", "monitors", "over_time", "phase"]

_WIDTH = 8.0
#: More lines than this are not told apart by a legend.
_LEGEND = 24
_EVENT_NAMES = 8
#: Names that speak of something that should be zero.
_ERRORS = ("error", "drift", "residual", "violation", "defect")


def over_time(results: Results, names: Sequence[str], save: str | Path | None = None) -> Figure:
    """Channels over time, one axes a unit."""
    with styled():
        panels = _by_unit(results, names)
        figure, rows = _stack(results, [2.4] * len(panels))
        for axes, (unit, members) in zip(rows, panels.items(), strict=True):
            for number, name in enumerate(members):
                _line(axes, number, results.t, results[name], name)
            axes.set_ylabel(_axis_label(members, unit))
            _legend(axes)
        _events(results, rows)
    return finish(figure, save)


def phase(results: Results, x: str, y: str | None, save: str | Path | None = None) -> Figure:
    """One channel over another, by default a coordinate and its rate.

    Raises:
        ResultsError: the rate of x is not known and y is not given.
    """
    if y is None:
        y = results.rate(x)
        if y is None:
            raise ResultsError(f"the rate of {x!r} is not known: name the channel to draw it with")
    with styled():
        figure = new_figure(5.6, 5.0)
        axes = figure.add_subplot()
        plain_axes(axes)
        axes.margins(x=0.05)
        across, up = results[x], results[y]
        axes.plot(across, up, color=color(0), linewidth=1.3)
        ends = (("start", 0, "white"), ("end", -1, color(0)))
        for label, i, face in ends:
            axes.plot(
                across[i],
                up[i],
                "o",
                color=color(0),
                markerfacecolor=face,
                label=label,
                clip_on=False,
                linestyle="none",
            )
        axes.set_xlabel(labelled(x, results.unit(x)))
        axes.set_ylabel(labelled(y, results.unit(y)))
        if shown(results.unit(x)) == shown(results.unit(y)) != "":
            axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(_title(results), loc="left")
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return finish(figure, save)


def monitors(results: Results, save: str | Path | None = None) -> Figure:
    """All monitors over time: those of one unit together, errors on a scale of decades.

    Raises:
        ResultsError: there are none.
    """
    if not results.monitors:
        raise ResultsError(f"{results.name!r} has no monitors to draw")
    with styled():
        panels: dict[tuple[str, bool], list[str]] = {}
        for name in results.monitors:
            key = (shown(results.unit(name)), _is_error(name, results[name]))
            panels.setdefault(key, []).append(name)
        figure, rows = _stack(results, [2.4] * len(panels))
        for axes, ((unit, decades), members) in zip(rows, panels.items(), strict=True):
            for number, name in enumerate(members):
                values = results[name]
                if decades:  # a zero, as at the start, is a gap rather than a fall out of sight
                    values = np.where(values > 0, values, np.nan)
                _line(axes, number, results.t, values, name)
            if decades:
                axes.set_yscale("log")
            axes.set_ylabel(_axis_label(members, unit))
            _legend(axes)
        _events(results, rows)
    return finish(figure, save)


def compare(
    first: Results,
    second: Results,
    names: str | Sequence[str] | None = None,
    labels: tuple[str, str] | None = None,
    save: str | Path | None = None,
) -> Figure:
    """Two runs in one figure, and below their difference (second less first).

    The second run is interpolated at the instants of the first, where both have been.

    Args:
        first: drawn in full lines.
        second: drawn in dashes, on top.
        names: names, groups or patterns of the first; by default all coordinates of both.
        labels: what to call the runs; by default their names.
        save: file to write the figure to.

    Raises:
        ResultsError: the runs have no channel or no time in common, or units differ.
        UnknownNameError: a name is in one of them only.
    """
    chosen = _common(first, second, names)
    labels = labels or (first.name, second.name)
    if labels[0] == labels[1]:
        labels = (f"{labels[0]} (first)", f"{labels[1]} (second)")
    start, end = max(first.t[0], second.t[0]), min(first.t[-1], second.t[-1])
    both = (first.t >= start) & (first.t <= end)
    if not both.any():
        raise ResultsError(
            f"the runs have no time in common: {labels[0]!r} ends at {first.t[-1]:g} s, "
            f"{labels[1]!r} begins at {second.t[0]:g} s"
        )
    times = first.t[both]
    there = second.at(times)
    with styled():
        panels = _by_unit(first, chosen)
        figure, rows = _stack(None, [2.4, 1.4] * len(panels))
        for pair, (unit, members) in enumerate(panels.items()):
            above, below = rows[2 * pair], rows[2 * pair + 1]
            for number, name in enumerate(members):
                _line(above, number, first.t, first[name], name)
                dark = darker(color(number))
                above.plot(second.t, second[name], "--", color=dark, linewidth=1.1)
                _line(below, number, times, there[name] - first[name][both], name)
            above.set_ylabel(_axis_label(members, unit))
            below.set_ylabel(labelled("difference", unit))
            _legend(above)
            _runs(below, labels)
        rows[0].set_title(f"{labels[0]} and {labels[1]}", loc="left")
    return finish(figure, save)


def _common(first: Results, second: Results, names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        chosen = [name for name in first.select("q") if name in second]
        if not chosen:
            raise ResultsError(
                f"{first.name!r} and {second.name!r} have no coordinate in common: name channels"
            )
        return chosen
    chosen = first.select(*([names] if isinstance(names, str) else names))
    for name in chosen:
        here, there = shown(first.unit(name)), shown(second.unit(name))
        if here != there:
            raise ResultsError(f"{name!r} is in {here or '1'} in one run, in {there or '1'} there")
    return chosen


# --- parts of figures -----------------------------------------------------------------------------


def _by_unit(results: Results, names: Sequence[str]) -> dict[str, list[str]]:
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(shown(results.unit(name)), []).append(name)
    return panels


def _stack(results: Results | None, heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Axes one above the other over one time axis, heights in inches."""
    figure = new_figure(_WIDTH, sum(heights) + 0.9)
    grid = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    rows: list[Axes] = list(grid[:, 0])
    for axes in rows:
        plain_axes(axes)
    rows[-1].set_xlabel("time [s]")
    if results is not None:
        rows[0].set_title(_title(results), loc="left")
    figure.align_ylabels(rows)
    return figure, rows


def _title(results: Results) -> str:
    return f"{results.name} (interrupted)" if results.interrupted else results.name


def _line(axes: Axes, number: int, t: Array, values: Array, name: str) -> None:
    marker = "o" if len(t) == 1 else None  # a line through one point shows nothing
    label = f" {name}" if name.startswith("_") else name  # matplotlib would leave it out
    axes.plot(t, values, line_style(number), color=color(number), label=label, marker=marker)


def _axis_label(members: Sequence[str], unit: str) -> str:
    if len(members) == 1:
        return labelled(members[0], unit)
    return labelled(quantity(unit), unit)


def _legend(axes: Axes) -> None:
    """Names beside the axes, where they hide nothing."""
    handles, names = axes.get_legend_handles_labels()
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


def _runs(axes: Axes, labels: tuple[str, str]) -> None:
    """Which stroke is which run, beside the axes of the difference."""
    from matplotlib.lines import Line2D

    strokes = [Line2D([], [], color=INK), Line2D([], [], color=INK, linestyle="--", linewidth=1.1)]
    axes.legend(
        strokes,
        labels,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.02),
        frameon=False,
        handlelength=1.8,
        borderaxespad=0.0,
    )


def _events(results: Results, rows: Sequence[Axes]) -> None:
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


def _is_error(name: str, values: Array) -> bool:
    """Whether decades matter: never negative, and called an error or as small as one."""
    finite = values[np.isfinite(values)]
    if (finite < 0).any() or not (finite > 0).any():
        return False
    return any(word in name.lower() for word in _ERRORS) or bool(finite.max() < 1e-6)
