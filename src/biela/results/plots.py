"""Figures of the channels of one run: over time, over each other, in the phase plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.panels import (
    axis_label,
    by_unit,
    check_points,
    events,
    legend,
    line,
    stack,
    title,
)
from biela.results.style import color, finish, new_figure, plain_axes, styled
from biela.results.units import labelled, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["monitors", "over", "phase"]

#: Names that speak of something that should be zero.
_ERRORS = ("error", "drift", "residual", "violation", "defect")


def over(
    results: Results, names: Sequence[str], against: str = "t", save: str | Path | None = None
) -> Figure:
    """Channels over time, or over another channel, one axes a unit."""
    x = results[against]
    if x.ndim > 1:
        raise ResultsError(f"against={against!r}: give one channel, not a group")
    timely = x is results.t
    check_points(len(results) * len(names))
    with styled():
        panels = by_unit(results, names)
        across = "time [s]" if timely else labelled(against, results.unit(against))
        figure, rows = stack(results, [2.4] * len(panels), across)
        for axes, (unit, members) in zip(rows, panels.items(), strict=True):
            for number, name in enumerate(members):
                line(axes, number, x, results[name], name)
                if not timely:  # which way it runs is not seen otherwise
                    axes.plot(x[0], results[name][0], "o", color=color(number), mfc="white", ms=5)
            axes.set_ylabel(axis_label(members, unit))
            axes.margins(x=0.0 if timely else 0.02)
            legend(axes)
        if timely:
            events(results, rows)
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
    check_points(len(results))
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
        axes.set_title(title(results), loc="left")
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return finish(figure, save)


def monitors(results: Results, save: str | Path | None = None) -> Figure:
    """All monitors over time: those of one unit together, errors on a scale of decades.

    Raises:
        ResultsError: there are none.
    """
    if not results.monitors:
        raise ResultsError(f"{results.name!r} has no monitors to draw")
    check_points(len(results) * len(results.monitors))
    with styled():
        panels: dict[tuple[str, bool], list[str]] = {}
        for name in results.monitors:
            key = (shown(results.unit(name)), _is_error(name, results[name]))
            panels.setdefault(key, []).append(name)
        figure, rows = stack(results, [2.4] * len(panels))
        for axes, ((unit, decades), members) in zip(rows, panels.items(), strict=True):
            for number, name in enumerate(members):
                values = results[name]
                if decades:  # a zero, as at the start, is a gap rather than a fall out of sight
                    values = np.where(values > 0, values, np.nan)
                line(axes, number, results.t, values, name)
            if decades:
                axes.set_yscale("log")
            axes.set_ylabel(axis_label(members, unit))
            legend(axes)
        events(results, rows)
    return finish(figure, save)


def _is_error(name: str, values: Array) -> bool:
    """Whether decades matter: never negative, and called an error or as small as one."""
    finite = values[np.isfinite(values)]
    if (finite < 0).any() or not (finite > 0).any():
        return False
    return any(word in name.lower() for word in _ERRORS) or bool(finite.max() < 1e-6)
