"""Two runs, or a run and reference data: in one figure, and their difference in figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biela.doors import door
from biela.errors import ResultsError
from biela.results.averages import rms
from biela.results.panels import axis_label, by_unit, check_points, legend, line, stack
from biela.results.style import INK, color, darker, finish, styled
from biela.results.tables import Table
from biela.results.units import labelled, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["compare", "deviations"]


@door(ResultsError)
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
    check_points(len(chosen) * (2 * len(first) + len(second)))
    both = _shared(first, second, labels)
    times = first.t[both]
    there = second.at(times)
    with styled():
        panels = by_unit(first, chosen)
        figure, rows = stack(None, [2.4, 1.4] * len(panels))
        for pair, (unit, members) in enumerate(panels.items()):
            above, below = rows[2 * pair], rows[2 * pair + 1]
            for number, name in enumerate(members):
                line(above, number, first.t, first[name], name)
                dark = darker(color(number))
                above.plot(second.t, second[name], "--", color=dark, linewidth=1.1)
                line(below, number, times, there[name] - first[name][both], name)
            above.set_ylabel(axis_label(members, unit))
            below.set_ylabel(labelled("difference", unit))
            legend(above)
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


def deviations(
    results: Results, reference: Results, names: str | Sequence[str] | None = None
) -> Table:
    """How far results are from reference data: a row a channel, results less reference.

    The results are interpolated at the instants of the reference, where both have been.

    Args:
        results: what is judged.
        reference: another run, or data from `Results.from_csv` or `reference_data`.
        names: names, groups or patterns of the reference; by default all its channels that the
            results have too.

    Returns:
        A table with the columns channel, unit, max (of the absolute deviation), at (its time), rms,
        mean, and percent: the largest deviation as a part of the range of the reference.

    Raises:
        ResultsError: they have no channel or no time in common, or units differ.
        UnknownNameError: a name is in one of them only.
    """
    if names is None:
        names = [name for name in reference.names if name in results]
        if not names:
            raise ResultsError(
                f"{results.name!r} and {reference.name!r} have no channel in common: "
                f"the reference has {', '.join(reference.names)}"
            )
    chosen = _common(reference, results, names)
    both = _shared(reference, results, (reference.name, results.name))
    t = reference.t[both]
    here = results.at(t)
    rows = []
    for name in chosen:
        wanted = reference[name][both]
        error = here[name] - wanted
        known = np.isfinite(error)
        if not known.any():
            rows.append((name, shown(reference.unit(name)), *(np.nan,) * 5))
            continue
        error, times, wanted = error[known], t[known], wanted[known]
        worst = int(np.argmax(np.abs(error)))
        extent = float(np.ptp(wanted))
        rows.append(
            (
                name,
                shown(reference.unit(name)),
                float(abs(error[worst])),
                float(times[worst]),
                rms(times, error),
                float(np.mean(error)),
                float(100 * abs(error[worst]) / extent) if extent > 0 else np.nan,
            )
        )
    return Table(
        ("channel", "unit", "max", "at", "rms", "mean", "percent"),
        ("", "", "", "s", "", "", "%"),
        tuple(rows),
        f"{results.name} less {reference.name}",
    )


def _shared(first: Results, second: Results, labels: tuple[str, str]) -> NDArray[np.bool_]:
    """Which instants of the first lie in the time of both."""
    start, end = max(first.t[0], second.t[0]), min(first.t[-1], second.t[-1])
    both: NDArray[np.bool_] = (first.t >= start) & (first.t <= end)
    if not both.any():
        raise ResultsError(
            f"the runs have no time in common: {labels[0]!r} ends at {first.t[-1]:g} s, "
            f"{labels[1]!r} begins at {second.t[0]:g} s"
        )
    return both
