"""The viewer in a notebook: a mechanism to be played where the cell is, with its plot.

bl.show(model)               the motion, inside of the notebook: it is kept in the file
bl.show(model, live=True)    the studio, from a server on this machine
bl.show(results)             a motion that was computed before
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Final

import biela as bl
from biela.errors import BielaError
from biela.results import Results
from biela.studio.channels import usual
from biela.studio.report.fragments import Fragment, fragment_style, made, trouble
from biela.studio.report.motion import course, settings_for
from biela.studio.report.plots import player, plot, traced
from biela.studio.report.writing import subject_of
from biela.studio.settings import Settings
from biela.studio.topology import Describable, topology_page

if TYPE_CHECKING:
    from biela.studio.view.server import Server

__all__ = ["Inline", "inline", "show"]

#: Pixels of the viewer.
_WIDTH, _HEIGHT = 800, 520
#: Bytes of a motion in a notebook, at most.
_ROOM: Final = 4_000_000


@dataclass(frozen=True)
class Inline:
    """Something that shows itself in a notebook.

    Attributes:
        html: What is shown.
        told: What it is, where only text can be shown.
        server: What serves it, of a live view; its ``stop()`` ends that.
    """

    html: str = field(repr=False)
    told: str = ""
    server: Any = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.told


def show(
    subject: object,
    *,
    live: bool = False,
    duration: float | None = None,
    step: float | None = None,
    channels: Sequence[str] | None = None,
    topology: bool = False,
    height: int = _HEIGHT,
) -> Inline:
    """Show a mechanism in a notebook, to be played and turned, with a plot below.

    It is part of the notebook: it stays when the notebook is closed, and asks nothing of the
    network.  What goes wrong is told in words in its place.

    Args:
        subject: A Model, Robot or SymbolicSystem, the path of a model file, or Results.
        live: Whether to show the studio instead, in which models are changed and dragged; it runs
            as long as the kernel does.
        duration: How long a model moves (s); as in `biela.report`.
        step: Between instants (s); likewise.
        channels: Names, groups or patterns to plot; None plots what the model asks for, or else
            its sensors or coordinates, and an empty list nothing.
        topology: Whether graph, loops, freedoms, groups and equations follow.
        height: Of the viewer, in pixels.

    Raises:
        ModelError: It is no model.
        BielaError: The studio is asked for, and viser is not installed.
    """
    if live:
        return inline(bl.studio(subject, browser=False, wait=False), height)
    if isinstance(subject, Results):
        return Inline(_moving(subject, (), height), f"{subject.name} in motion")
    model = subject_of(subject, None)
    parts: list[str] = []
    settings = settings_for(model, duration, step)
    found = made("", lambda: _course(model, settings, channels, height))
    parts.append(found.html)
    if topology:
        parts += [_section(fragment) for fragment in topology_page(model)]
    html = f'<div class="biela"><style>{fragment_style()}</style>{"".join(parts)}</div>'
    return Inline(html, f"{model.name} in motion")


def inline(server: Server, height: int = 700) -> Inline:
    """The page of a studio in a frame of a notebook on the same machine."""
    return Inline(server.frame(height), str(server), server)


def _course(
    model: Describable, settings: Settings, channels: Sequence[str] | None, height: int
) -> str:
    found = course(model, settings)
    motion = found.motion
    html = trouble(found.warning) if found.warning else ""
    html += _moving(motion, traced(model, motion), height)
    if channels is None:
        wanted = model.run.get("plot", ()) if isinstance(model, bl.Model) else ()
        names = usual(motion, wanted)
    else:
        names = motion.select(*channels) if channels else []
    return html + (plot(motion, names) if names and len(motion) > 1 else "")


def _moving(motion: Results, trace: Sequence[str], height: int) -> str:
    if motion.scene is None:
        return trouble(f"{motion.name} has nothing to draw: give its bodies shapes or markers")
    page = player(motion, trace, _ROOM)
    if not page:
        raise BielaError(f"{motion.name} has too many shapes to be shown in a notebook")
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" width="{_WIDTH}" '
        f'height="{height}" style="border:0;max-width:100%" title="{escape(motion.name)}"></iframe>'
    )


def _section(fragment: Fragment) -> str:
    return f"<h3>{escape(fragment.title)}</h3>{fragment.html}"
