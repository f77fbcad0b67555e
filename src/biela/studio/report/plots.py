"""What a motion looks like on a page: the animation, plots, and tables of extreme values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import Final

import numpy as np

import biela as bl
from biela.errors import ResultsError, UnknownNameError
from biela.results import Results
from biela.results.paths import traces
from biela.results.tables import Cell
from biela.studio.report.figures import figure_picture
from biela.studio.report.fragments import table, trouble, words
from biela.studio.report.motion import Course, motor_coordinates
from biela.studio.topology import Describable

__all__ = ["animation", "extremes", "player", "plot", "plot_groups", "plots", "traced"]

#: Bytes of an animation, at most, and its frames a second at first.
_ROOM: Final = 2_000_000
_FPS: Final = 25.0
#: Lines of one figure.
_LINES: Final = 8
#: Rows of the table of extremes, and alarms.
_LISTED, _ALARMS = 40, 12
_SIZE: Final = (760, 480)
#: A part of the largest value below which another is rounding.
_ROUNDING: Final = 1e-12


# ----------------------------------------------------------------------------- animation


def animation(model: Describable, course: Course) -> str:
    """The mechanism in motion, to be played and turned; on paper its first position.

    Raises:
        ResultsError: There is nothing to draw.
    """
    motion = course.motion
    if motion.scene is None:
        raise ResultsError(f"{motion.name} has nothing to draw: give its bodies shapes or markers")
    trace = traced(model, motion)
    page = player(motion, trace, _ROOM)
    drawn = motion.draw(trace=trace, size=_SIZE)
    still = figure_picture(drawn, f"{motion.name} at the start", "still")
    if not page:
        return still + words("It has too many shapes to be played on a page: see biela run.")
    frame = (
        f'<iframe class="player" sandbox="allow-scripts" title="{escape(motion.name)} in motion" '
        f'srcdoc="{escape(page)}"></iframe>'
    )
    hint = "Drag to turn it, the wheel goes nearer, the space bar plays and stops."
    return frame + still + words(hint, "caption screen")


def player(motion: Results, trace: Sequence[str] = (), room: int = _ROOM) -> str:
    """The page of the player in some room (bytes), with fewer frames if need be; "" if none fit."""
    fps = _FPS
    while fps >= 1.0:
        page = motion.animate(trace=trace, fps=fps, size=_SIZE).html()
        if len(escape(page).encode()) <= room:
            return page
        fps /= 2
    return ""


def traced(model: Describable, motion: Results) -> list[str]:
    """The points whose ways the model asks for, as far as there are such."""
    wanted = model.run.get("path", ()) if isinstance(model, bl.Model) else ()
    names = [wanted] if isinstance(wanted, str) else wanted
    found = []
    for name in names if isinstance(names, list | tuple) else ():
        with suppress(UnknownNameError, ResultsError):
            traces(motion, [str(name)])
            found.append(str(name))
    return found


# ---------------------------------------------------------------------------------- plots


def plot_groups(
    model: Describable, motion: Results, channels: Sequence[str] = ()
) -> Mapping[str, list[str]]:
    """The channels of each figure, by its title.

    Raises:
        UnknownNameError: A channel that is asked for is not there.
    """
    found: dict[str, list[str]] = {}
    if channels:
        found["Chosen channels"] = motion.select(*channels)
    if isinstance(model, bl.Model):
        wanted = model.run.get("plot", ())
        names = [wanted] if isinstance(wanted, str) else wanted
        asked = [n for n in names if n in motion] if isinstance(names, list | tuple) else []
        found["Asked for by the model"] = asked
        for motor, coordinate in motor_coordinates(model).items():
            found[f"Driver {motor}"] = list(_levels(motion, coordinate))
    outputs = [n for n in _names(motion, "y") if np.isfinite(motion[n]).any()]
    sensors = getattr(model, "sensors", {})
    shown = {name for names in found.values() for name in names}
    outputs = [n for n in outputs if not sensors or n.partition(".")[0] in sensors]
    found["Sensors"] = [name for name in _moving(motion, outputs) if name not in shown]
    found["Coordinates"] = [name for name in _names(motion, "q") if name not in shown]
    return {title: names for title, names in found.items() if names}


def plots(model: Describable, motion: Results, channels: Sequence[str] = ()) -> str:
    """Figures over time, and the ways of points.

    Raises:
        UnknownNameError: A channel that is asked for is not there.
        ResultsError: Something cannot be drawn.
    """
    if len(motion) < 2:
        raise ResultsError("a single instant has no curves")
    html = []
    for title, names in plot_groups(model, motion, channels).items():
        shown = names[:_LINES]
        more = f" (the first {_LINES} of {len(names)})" if len(names) > _LINES else ""
        html.append(f"<h4>{escape(title + more)}</h4>")
        html.append(plot(motion, shown))
    ways = traced(model, motion)
    if ways:
        html.append(f"<h4>Ways of {escape(', '.join(ways))}</h4>")
        html.append(figure_picture(motion.plot_path(*ways), f"ways of {', '.join(ways)}"))
    return "".join(html)


def plot(motion: Results, names: Sequence[str]) -> str:
    """Channels over time, an axes for each unit.

    Raises:
        ResultsError: They cannot be drawn.
    """
    figure = motion.plot(*names)
    figure.axes[0].set_title("", loc="left")  # the heading says it
    return figure_picture(figure, f"{', '.join(names)} over time")


def _levels(motion: Results, name: str) -> Iterable[str]:
    """A channel, its rate and its acceleration, as far as they are there and more than rounding."""
    found: str | None = name if name in motion else None
    least = 0.0
    span = float(motion.t[-1] - motion.t[0])
    for _ in range(3):
        largest = float(np.abs(motion[found]).max()) if found is not None else 0.0
        if found is None or largest < least:
            return
        yield found
        least = _ROUNDING * largest / span
        found = motion.rate(found)


def _moving(motion: Results, names: Sequence[str]) -> list[str]:
    """Channels that are more than rounding beside others of their unit."""
    sizes = {name: float(np.nanmax(np.abs(motion[name]))) for name in names}
    largest: dict[str, float] = {}
    for name, size in sizes.items():
        unit = motion.unit(name)
        largest[unit] = max(largest.get(unit, 0.0), size)
    return [name for name in names if sizes[name] > _ROUNDING * largest[motion.unit(name)]]


def _names(motion: Results, group: str) -> Sequence[str]:
    return motion.groups[group].names if group in motion.groups else ()


# -------------------------------------------------------------------------------- extremes


def extremes(model: Describable, course: Course, channels: Sequence[str] = ()) -> str:
    """Least and largest values with their times, and what happened on the way.

    Raises:
        UnknownNameError: A channel that is asked for is not there.
    """
    motion = course.motion
    names = [n for each in plot_groups(model, motion, channels).values() for n in each]
    chosen = list(dict.fromkeys(names))
    html = ""
    if chosen:
        found = motion.describe(*chosen[:_LISTED])
        html = table(found.headings, [_without_rounding(row) for row in found.rows])
    if len(chosen) > _LISTED:
        html += words(f"… {len(chosen) - _LISTED} more channels")
    if motion.events:
        rows = [(event.time, event.name) for event in motion.events[:_ALARMS]]
        html += "<h4>Events and alarms</h4>" + table(("time [s]", "what"), rows)
        more = len(motion.events) - _ALARMS
        html += words(f"… {more} more") if more > 0 else ""
    return html + (trouble(course.warning) if course.warning else "")


def _without_rounding(row: Sequence[Cell]) -> list[Cell]:
    """A row of extremes in which what is nothing beside the largest value is zero."""
    channel, unit, low, low_time, high, high_time, *means = row
    scale = max((abs(x) for x in (low, high) if isinstance(x, float)), default=0.0)
    low, high, *means = (
        0.0 if isinstance(x, float) and abs(x) < _ROUNDING * scale else x
        for x in (low, high, *means)
    )
    return [channel, unit, low, low_time, high, high_time, *means]
