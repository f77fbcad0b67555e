"""The ways of points: in a plane or in space, of one run or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.frames import PointMotion
from biela.results.naming import unknown
from biela.results.overlays import by_label
from biela.results.panels import check_points, legend
from biela.results.shapes import Trace
from biela.results.style import INK, color, finish, line_style, new_figure, plain_axes, styled
from biela.results.units import labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.results import Results

__all__ = ["overlay_paths", "paths", "traces"]

_AXES = "xyz"
#: A coordinate that changes by less than this part of the largest one is constant.
_FLAT = 1e-6
#: Size of a figure in inches, the least height of one, and the room of its axes across and around.
_SIZE, _LOWEST = (6.4, 5.6), 2.8
_ACROSS, _AROUND = 5.0, 1.1
#: The shortest edge of a box in space, as a part of the longest.
_SHORTEST = 0.3


def overlay_paths(
    runs: Mapping[str, Results] | Sequence[Results],
    points: str | Sequence[str],
    *,
    plane: str = "",
    save: str | Path | None = None,
) -> Figure:
    """The ways of points of several runs in one figure.

    Args:
        runs: by label, or a sequence labelled by the names.
        points: names of points with channels `name.x`, `name.y`, `name.z`, or of frames.
        plane: "xy", "xz" … with the axis across first, or "3d"; by default the plane they move in.
        save: file to write the figure to.

    Raises:
        UnknownNameError: a point is not there.
        ResultsError: there are no runs, or a coordinate of a point is not known.
    """
    return paths(by_label(runs), [points] if isinstance(points, str) else points, plane, save)


def paths(
    runs: Mapping[str, Results],
    points: Sequence[str | PointMotion],
    plane: str,
    save: str | Path | None,
) -> Figure:
    """Draw every point of every run.

    Raises:
        UnknownNameError: a point is not there.
        ResultsError: none is named, or a coordinate of it is not known.
    """
    if not points:
        raise ResultsError("name the points to draw")
    check_points(len(points) * sum(len(run) for run in runs.values()))
    ways = {}
    for label, run in runs.items():
        for point in points:
            name = point if isinstance(point, str) else point.name
            if len(runs) > 1:
                name = f"{label}: {name}" if len(points) > 1 else label
            ways[name] = _way(run, point)
    axes_shown = _plane(plane, ways)
    with styled():
        figure = new_figure(_SIZE[0], _height(list(ways.values()), axes_shown))
        axes: Any = figure.add_subplot(projection="3d" if len(axes_shown) == 3 else None)
        for number, (label, way) in enumerate(ways.items()):
            lines = [way[:, i] for i in axes_shown]
            axes.plot(*lines, line_style(number), color=color(number), label=label, linewidth=1.4)
            start = [line[:1] for line in lines]
            axes.plot(*start, "o", color=color(number), markerfacecolor="white", markersize=6)
        axes.plot(*[[]] * len(axes_shown), "o", color=INK, mfc="white", ms=6, label="start")
        for i, direction in zip(axes_shown, _AXES, strict=False):
            getattr(axes, f"set_{direction}label")(labelled(_AXES[i], "m"))
            axes.locator_params(axis=direction, nbins=6)
        if len(axes_shown) == 3:
            _equal_box(axes, list(ways.values()))
        else:
            plain_axes(axes)
            axes.margins(x=0.05)
            axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(", ".join(dict.fromkeys(run.name for run in runs.values())), loc="left")
        legend(axes)
    return finish(figure, save)


def traces(run: Results, points: Sequence[str | PointMotion]) -> list[Trace]:
    """The ways of points as shapes of a scene; a coordinate that is not known is zero.

    Raises:
        UnknownNameError: a point is not there.
    """
    names = [point if isinstance(point, str) else point.name for point in points]
    ways = [np.nan_to_num(_way(run, point)) for point in points]
    # a frame may have the name of its body: its path has a colour of its own
    return [Trace(f"path of {name}", way) for name, way in zip(names, ways, strict=True)]


def _height(ways: Sequence[Array], axes_shown: tuple[int, ...]) -> float:
    """Height of a figure: less for ways that go far across, as lengths are alike in it."""
    if len(axes_shown) == 3:
        return _SIZE[1]
    points = np.concatenate(ways)[:, axes_shown]
    across, up = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    if not across > 0:
        return _SIZE[1]
    return float(np.clip(_ACROSS * up / across + _AROUND, _LOWEST, _SIZE[1]))


def _equal_box(axes: Any, ways: Sequence[Array]) -> None:
    """A box with the same scale on its three edges, none of them too short for its numbers."""
    points = np.concatenate(ways)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    edges = 1.1 * np.maximum(high - low, max(_SHORTEST * float(np.max(high - low)), 1e-12))
    for direction, centre, edge in zip(_AXES, (low + high) / 2, edges, strict=True):
        getattr(axes, f"set_{direction}lim")(centre - edge / 2, centre + edge / 2)
        count = 3 if edge < 0.5 * edges.max() else 5
        axes.locator_params(axis=direction, nbins=count)
        getattr(axes, f"{direction}axis").labelpad = 8
    axes.set_box_aspect(edges / edges.max(), zoom=0.95)


def _way(run: Results, point: str | PointMotion) -> Array:
    """Coordinates (k, 3) of a point, nan for those that are not known."""
    if isinstance(point, PointMotion):
        return point.position
    if point in run.frames:
        return run.frame(point).position
    known = [f"{point}.{axis}" in run for axis in _AXES]
    if not any(known):
        named = {n[:-2] for n in run.names if n[-2:] in (".x", ".y", ".z")}
        raise unknown(point, "point", sorted({*named, *run.frames}))
    columns = [
        run[f"{point}.{axis}"] if there else np.full(len(run), np.nan)
        for axis, there in zip(_AXES, known, strict=True)
    ]
    return np.stack(columns, axis=1)


def _plane(plane: str, ways: Mapping[str, Array]) -> tuple[int, ...]:
    """Numbers of the axes to draw."""
    known = [all(not np.isnan(way[:, i]).all() for way in ways.values()) for i in range(3)]
    if plane == "3d":
        chosen: tuple[int, ...] = (0, 1, 2)
    elif plane:
        chosen = tuple(_AXES.find(letter) for letter in plane)
        if len(chosen) != 2 or min(chosen) < 0 or chosen[0] == chosen[1]:
            raise ResultsError(f"plane {plane!r}: give xy, xz, yz, yx, zx, zy, or 3d")
    else:
        chosen = tuple(i for i in range(3) if known[i])
        if len(chosen) == 3:
            extents = [max(_extent(way[:, i]) for way in ways.values()) for i in range(3)]
            moving = tuple(i for i in range(3) if extents[i] > _FLAT * max(extents))
            chosen = moving if len(moving) == 2 else chosen
        if len(chosen) < 2:
            raise ResultsError(f"only one coordinate of {', '.join(ways)} is known")
    missing = [_AXES[i] for i in chosen if not known[i]]
    if missing:
        raise ResultsError(f"the coordinate {missing[0]} of {', '.join(ways)} is not known")
    return chosen


def _extent(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if len(finite) else 0.0
