"""Several runs in one figure, and a run beside what it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biela.errors import ResultsError
from biela.results.panels import check_axes, check_points, legend, line, stack
from biela.results.style import INK, color, finish, new_figure, plain_axes, styled
from biela.results.units import labelled, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["by_label", "overlay", "side_by_side"]

#: So many marks of a reference are told apart.
_MARKS = 40


def overlay(
    runs: Mapping[str, Results] | Sequence[Results],
    names: str | Sequence[str] | None = None,
    *,
    against: str = "t",
    reference: Results | None = None,
    save: str | Path | None = None,
) -> Figure:
    """Several runs in one figure: one axes a channel, one colour a run.

    Args:
        runs: by label, as {"l = 0.3 m": r1, "l = 0.5 m": r2}, or a sequence labelled by the names.
        names: names, groups or patterns; by default the coordinates that all runs have.
        against: the channel across, if not the time.
        reference: data drawn as circles, for the channels it has.
        save: file to write the figure to.

    Raises:
        ResultsError: there is no run or no channel in common, or units differ.
        UnknownNameError: a run does not have one of the channels.
    """
    labelled_runs = by_label(runs)
    chosen = _channels(labelled_runs, names)
    first = next(iter(labelled_runs.values()))
    check_points(len(chosen) * sum(len(run) for run in labelled_runs.values()))
    with styled():
        across = "time [s]" if against == "t" else labelled(against, first.unit(against))
        figure, rows = stack(None, [2.4] * len(chosen), across)
        for axes, name in zip(rows, chosen, strict=True):
            for number, (label, run) in enumerate(labelled_runs.items()):
                line(axes, number, run[against], run[name], label)
            if reference is not None and name in reference:
                _same_unit(first, reference, name, reference.name)
                _marks(axes, reference, against, name)
            axes.set_ylabel(labelled(name, first.unit(name)))
            axes.margins(x=0.0 if against == "t" else 0.02)
        if len({run.name for run in labelled_runs.values()}) == 1:
            rows[0].set_title(first.name, loc="left")
        # the reference may be missing in some axes
        fullest = max(rows, key=lambda axes: len(axes.get_legend_handles_labels()[0]))
        legend(rows[0], fullest)
    return finish(figure, save)


def side_by_side(
    reference: Results,
    results: Results,
    names: str | Sequence[str] | None = None,
    *,
    against: str = "t",
    save: str | Path | None = None,
) -> Figure:
    """The reference at the left, the results at the right, on the same scales.

    Args:
        reference: data, or another run.
        results: what is judged by it.
        names: names, groups or patterns of the reference; by default all channels of both.
        against: the channel across, if not the time.
        save: file to write the figure to.

    Raises:
        ResultsError: they have no channel in common, or units differ.
        UnknownNameError: a name is in one of them only.
    """
    if names is None:
        names = [name for name in reference.names if name in results]
        if not names:
            raise ResultsError(f"{reference.name!r} and {results.name!r} have no common channel")
    chosen = reference.select(*([names] if isinstance(names, str) else names))
    for name in chosen:
        _same_unit(reference, results, name, results.name)
    across = "time [s]" if against == "t" else labelled(against, results.unit(against))
    check_points(len(chosen) * (len(reference) + len(results)))
    check_axes(len(chosen))
    with styled():
        figure = new_figure(9.0, 2.5 * len(chosen) + 0.9)
        grid = figure.subplots(len(chosen), 2, sharex=True, sharey="row", squeeze=False)
        for row, name in zip(grid, chosen, strict=True):
            for axes, run in zip(row, (reference, results), strict=True):
                plain_axes(axes)
                axes.margins(x=0.0 if against == "t" else 0.02)
                marker = "o" if len(run) <= _MARKS else None  # so few may be measured ones
                axes.plot(run[against], run[name], color=color(0), marker=marker, ms=3.5)
            row[0].set_ylabel(labelled(name, reference.unit(name)))
        for axes, run in zip(grid[0], (reference, results), strict=True):
            axes.set_title(run.name, loc="left")
        for axes in grid[-1]:
            axes.set_xlabel(across)
        figure.align_ylabels(list(grid[:, 0]))
    return finish(figure, save)


def by_label(runs: Mapping[str, Results] | Sequence[Results]) -> dict[str, Results]:
    """The runs by label; those of a sequence by name, with a number where names are alike.

    Raises:
        ResultsError: there are none.
    """
    if isinstance(runs, Mapping):
        found = dict(runs)
    else:
        names = [run.name for run in runs]
        alike = len(set(names)) < len(names)
        found = {f"{run.name} {i}" if alike else run.name: run for i, run in enumerate(runs, 1)}
    if not found:
        raise ResultsError("there are no runs to draw")
    return found


def _channels(runs: Mapping[str, Results], names: str | Sequence[str] | None) -> list[str]:
    first, *others = runs.values()
    if names is None:
        chosen = [n for n in first.select("q") if all(n in other for other in others)]
        if not chosen:
            raise ResultsError("the runs have no coordinate in common: name channels")
    else:
        chosen = first.select(*([names] if isinstance(names, str) else names))
    for label, run in runs.items():
        for name in chosen:
            _same_unit(first, run, name, label)
    return chosen


def _same_unit(first: Results, other: Results, name: str, label: str) -> None:
    here, there = shown(first.unit(name)), shown(other.unit(name))
    if here != there:
        raise ResultsError(f"{name!r} is in {here or '1'}, but in {there or '1'} in {label!r}")


def _marks(axes: Axes, reference: Results, against: str, name: str) -> None:
    axes.plot(
        reference[against],
        reference[name],
        "o",
        color=INK,
        markerfacecolor="none",
        markersize=4.5,
        markeredgewidth=0.9,
        markevery=int(np.ceil(len(reference) / _MARKS)),
        label=reference.name,
        clip_on=False,
    )
