"""What a motion looks like on a page: the animation, plots, and tables of extreme values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

import biela as bl
from biela.analysis.motor_duties import motor_coordinates
from biela.errors import ResultsError, UnknownNameError
from biela.results import Results
from biela.results.paths import traces
from biela.results.scene import PLANES
from biela.results.tables import Cell
from biela.studio.report.figures import figure_picture
from biela.studio.report.fragments import table, trouble, words
from biela.studio.report.motion import Course
from biela.studio.topology import Describable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["animation", "extremes", "player", "plot", "plot_groups", "plots", "traced"]

#: Bytes of an animation, at most, and its frames a second at first.
_ROOM: Final = 2_000_000
_FPS: Final = 25.0
#: Lines of one figure.
_LINES: Final = 12
#: Rows of the table of extremes, and alarms.
_LISTED, _ALARMS = 40, 12
#: Its columns of values, between which those of times stand.
_VALUES: Final = (2, 4, 6, 7)
_SIZE: Final = (760, 480)
#: A part of the largest value below which another is rounding.
_ROUNDING: Final = 1e-9


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
    moved = "shift" if motion.scene.view in PLANES else "turn"
    hint = f"Drag to {moved} it, the wheel goes nearer, the space bar plays and stops."
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
    """The points whose paths the model asks for, as far as there are such."""
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
            found[f"{coordinate}, of {motor}"] = list(_levels(motion, coordinate))
    outputs = [n for n in _names(motion, "y") if np.isfinite(motion[n]).any()]
    sensors = getattr(model, "sensors", {})
    shown = {name for names in found.values() for name in names}
    outputs = [n for n in outputs if not sensors or n.partition(".")[0] in sensors]
    found["Sensors"] = [name for name in _moving(motion, outputs) if name not in shown]
    found["Coordinates"] = [name for name in _names(motion, "q") if name not in shown]
    return {title: names for title, names in found.items() if names}


def plots(model: Describable, motion: Results, channels: Sequence[str] = ()) -> str:
    """Figures over time, and the paths of points.

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
        which = f"{'Path' if len(ways) == 1 else 'Paths'} of {', '.join(ways)}"
        plane = (model.plane or "") if isinstance(model, bl.Model) else ""
        figure = motion.plot_path(*ways, plane=plane)
        figure.axes[0].set_title("", loc="left")  # the heading says it
        html.append(f"<h4>{escape(which)}</h4>{figure_picture(figure, which)}")
    return "".join(html)


def plot(motion: Results, names: Sequence[str]) -> str:
    """Channels over time, an axes for each unit.

    Raises:
        ResultsError: They cannot be drawn.
    """
    figure = motion.plot(*names)
    figure.axes[0].set_title("", loc="left")  # the heading says it
    spoken = {name: channel_words(motion, name) for name in names}
    _rename(figure, {name: said for name, said in spoken.items() if said != name})
    for axes in figure.axes:
        box = axes.get_legend()
        if box is not None and len(box.get_texts()) == 1:  # the axis says it
            box.remove()
    return figure_picture(figure, f"{', '.join(spoken.values())} over time")


def channel_words(motion: Results, name: str) -> str:
    """The name of a channel for people: accelerations are called by their coordinates.

    In the group of accelerations the derivative of "elbow.angle_rate" is "delbow.angle_rate".
    """
    group, dot, own = name.partition(".")
    own = own if dot and group == "a" else name
    rate = own.removeprefix("d")
    if own in _names(motion, "a") and rate in _names(motion, "v") and rate != own:
        return f"{rate.removesuffix('_rate')}, acceleration"
    return name


def _rename(figure: Figure, spoken: Mapping[str, str]) -> None:
    """Other names of lines in the legends and on the axes."""
    for axes in figure.axes:
        box = axes.get_legend()
        texts = box.get_texts() if box is not None else []
        for text in (*texts, axes.yaxis.label):
            for name, said in spoken.items():
                text.set_text(text.get_text().replace(name, said))


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
        extreme = _without_rounding(found.rows)
        for row in extreme:
            row[0] = channel_words(motion, str(row[0]))
        html = table(found.headings, extreme)
    if len(chosen) > _LISTED:
        html += words(f"… {len(chosen) - _LISTED} more channels")
    if motion.events:
        rows = [(event.time, event.name) for event in motion.events[:_ALARMS]]
        html += "<h4>Events and alarms</h4>" + table(("time [s]", "what"), rows)
        more = len(motion.events) - _ALARMS
        html += words(f"… {more} more") if more > 0 else ""
    return html + (trouble(course.warning) if course.warning else "")


def _without_rounding(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """Rows of extremes in which what is nothing beside the largest of its unit is zero."""
    largest: dict[Cell, float] = {}
    for _, unit, *values in rows:
        known = [abs(x) for x in (values[0], values[2]) if isinstance(x, float) and np.isfinite(x)]
        largest[unit] = max([largest.get(unit, 0.0), *known])
    return [
        [
            0.0 if k in _VALUES and isinstance(x, float) and abs(x) < _ROUNDING * scale else x
            for k, x in enumerate(row)
        ]
        for row in rows
        for scale in [largest[row[1]]]
    ]
