"""The tab in which a visitor says where a motion begins, and puts the mechanism by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import viser

from biela.studio.ranges import Range
from biela.studio.session import Session
from biela.studio.table import Table
from biela.studio.view.binding import on_change, on_click
from biela.studio.view.worker import Worker

if TYPE_CHECKING:
    from biela.studio.view.page import Page

__all__ = ["MOST", "NONE", "start_tab"]

Slider: TypeAlias = Callable[[str, Range, Any], Any]

#: Sliders beyond these would bury the page.
MOST: Final = 24
NONE: Final = "-"


def start_tab(
    gui: viser.GuiApi, worker: Worker, page: Page, session: Table, slider: Slider
) -> None:
    """Fill the tab where the context of the page is.

    Args:
        gui: Of the page.
        worker: Of its visitor.
        page: Does what is asked.
        session: The mechanism.
        slider: Makes a slider of a kind for a range, which asks for what it says.
    """
    jointed = isinstance(session, Session)
    rest = "What constraints bind is"
    if jointed:
        rest = "Drivers decide that for what they drive; the rest is"
    gui.add_markdown(f"*Where and how fast a motion begins. {rest} assembled around these values.*")
    here = gui.add_button(
        "Start from the position shown",
        hint="drag it there first" if jointed else "find a position of rest first",
        icon=viser.Icon.HAND_GRAB,
    )
    on_click(worker, here, "start here", page.start_here)
    robot = False
    if isinstance(session, Session):
        robot = not session.laws() and bool(session.inputs())
        with gui.add_folder("by hand", expand_by_default=robot):
            for each in session.jogs()[:MOST]:
                slider("jog", each, page.hand.jog)
    with gui.add_folder("positions", expand_by_default=not robot):
        for each in session.starts()[:MOST]:
            slider("start", each, page.changes.set_start)
    with gui.add_folder("velocities", expand_by_default=False):
        for each in session.rates()[:MOST]:
            slider("rate", each, page.changes.set_rate)
    if isinstance(session, Session) and session.motion is not None:
        _reached(gui, worker, page, session)


def _reached(gui: viser.GuiApi, worker: Worker, page: Page, session: Session) -> None:
    """Inverse kinematics of a point."""
    with gui.add_folder("a point to a place", expand_by_default=False):
        frames = tuple(session.points) or (NONE,)
        first = next((n for n in reversed(session.model.bodies) if n in frames), frames[0])
        frame: Any = gui.add_dropdown("point", frames, initial_value=first)
        r, _ = session.poser.frame(first, session.position())
        place: Any = gui.add_vector3("place, m", tuple(r.tolist()), step=1e-3)

        def begin(name: str) -> None:
            place.value = tuple(session.poser.frame(name, session.position())[0].tolist())

        on_change(worker, frame, "point", begin)
        go = gui.add_button("Reach it", hint="inverse kinematics", icon=viser.Icon.TARGET)
        on_click(worker, go, "reach", lambda: page.hand.reach(frame.value, place.value))
