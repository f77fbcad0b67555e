"""The panel beside the mechanism: playing, the analysis, sliders, what is shown, the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import viser

from biela.studio.laws import LawChange, LawText
from biela.studio.ranges import Range
from biela.studio.saving import savable
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import Shelf
from biela.studio.table import Table
from biela.studio.view.binding import on_change, on_click
from biela.studio.view.start_tab import MOST, NONE, start_tab
from biela.studio.view.status import status_text
from biela.studio.view.worker import Worker

if TYPE_CHECKING:
    from biela.studio.view.page import Page

__all__ = ["Controls"]

SPEEDS: Final = {"⅛": 0.125, "¼": 0.25, "½": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}
_SYMBOLS: Final = (
    "pin with collars: revolute; square sleeve: prismatic; round sleeve: cylindrical; threads: "
    "screw; cross: universal; ball: spherical; plate: planar; cube: fixed. Driven ones are orange"
)
#: What is drawn over bodies and joints: kind, label, hint.
_OVERLAYS: Final = (
    ("joints", "symbols of joints", _SYMBOLS),
    ("reactions", "reactions of joints", "forces on the bodies after joints and drivers"),
    ("forces", "weights and forces", "weights, applied forces, springs"),
    ("frames", "frames of bodies", "x red, y green, z blue; the ground has one too"),
)


class Controls:
    """The main panel of one page.

    Args:
        client: The connection.
        worker: Of the visitor.
        page: Does what is asked.
        shelf: What can be opened.
    """

    def __init__(
        self, client: viser.ClientHandle, worker: Worker, page: Page, shelf: Shelf
    ) -> None:
        self._gui, self._worker, self._page, self._shelf = client.gui, worker, page, shelf
        gui = client.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(360)
        self._status: Any = gui.add_html(status_text("biela studio", "opening …", ""))
        self._play: Any = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
        self._time: Any = gui.add_slider("time, s", 0.0, 1.0, 0.01, 0.0)
        self._speed: Any = gui.add_button_group("speed", tuple(SPEEDS))
        self._analysis: Any = gui.add_dropdown("analysis", tuple(Analysis))
        on_click(worker, self._play, "play", page.play_or_pause)
        on_change(worker, self._time, "time", lambda t: page.go_to(float(t)))
        on_click(worker, self._speed, "speed", lambda: page.set_speed(SPEEDS[self._speed.value]))
        on_change(
            worker,
            self._analysis,
            "analysis",
            lambda name: page.changes.change(analysis=Analysis(name)),
        )
        self._tabs: Any = None
        self._named: dict[str, Any] = {}
        self._sliders: dict[str, Any] = {}
        self._duration: Any = None
        self._driven: Any = None
        self._scale: Any = None

    # ------------------------------------------------------------------------------- state

    def say(self, title: str, note: str, error: str) -> None:
        """Show words on top."""
        self._status.content = status_text(title, note, error)

    def show_playing(self, playing: bool) -> None:
        """Show what the button does next."""
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY

    def show_scale(self, text: str) -> None:
        """Say how long arrows are."""
        if self._scale is not None:
            self._scale.content, self._scale.visible = text, bool(text)

    def show_stop(self) -> None:
        """Show that the button ends an analysis."""
        self._play.label, self._play.icon = "Stop", viser.Icon.PLAYER_STOP

    def show_time(self, time: float) -> None:
        """Show where the motion is."""
        self._time.value = float(min(max(time, self._time.min), self._time.max))

    def show_span(self, start: float, end: float) -> None:
        """Show from when to when the motion goes."""
        if (self._time.min, self._time.max) != (start, end):
            self._time.min, self._time.max = start, max(end, start + 1e-6)
            self._time.step = (self._time.max - start) / 1000

    def show_settings(self, session: Table) -> None:
        """Show the settings as they are: others than the visitor may have changed them."""
        settings = session.settings
        self._analysis.value = str(settings.analysis)
        if self._duration is not None:
            self._duration.value = settings.duration
        if self._driven is not None:
            self._driven.value = settings.driven
        for kind, ranges in (
            ("parameter", session.parameters()),
            ("input", session.inputs()),
            ("start", session.starts()),
            ("rate", session.rates()),
        ):
            self._show(kind, ranges)
        if isinstance(session, Session):
            self.show_position(session)

    def show_position(self, session: Session) -> None:
        """Show the coordinates of the position."""
        self._show("jog", session.jogs())

    def _show(self, kind: str, ranges: Sequence[Range]) -> None:
        """Bring sliders to values, and make them longer where these are beyond their ends."""
        for each in ranges:
            slider = self._sliders.get(f"{kind} {each.name}")
            if slider is None or abs(slider.value - each.shown) < 0.5 * slider.step:
                continue
            if not slider.min <= each.shown <= slider.max:
                slider.min, slider.max = min(slider.min, each.low), max(slider.max, each.high)
            slider.value = each.shown

    # ------------------------------------------------------------------------------- contents

    def build(self, session: Table) -> None:
        """Make the tabs for a mechanism."""
        self._sliders, self._duration, self._driven, self._scale = {}, None, None, None
        self._gui.set_panel_label(session.name)
        self._analysis.options = tuple(session.analyses)
        self._analysis.value = str(session.settings.analysis)
        with self._tab("Values"):
            self._values(session)
        with self._tab("Start"):
            start_tab(self._gui, self._worker, self._page, session, self._slider)
        with self._tab("Show"):
            self._shown(session)
        with self._tab("Save"):
            self._saved(session)
        if "Gallery" not in self._named:
            with self._tab("Gallery"):
                self.gallery()

    def _tab(self, name: str) -> Any:
        """A tab without anything in it: the same one again, so that who has chosen it stays."""
        if self._tabs is None:
            self._tabs = self._gui.add_tab_group()
        if name not in self._named:
            self._named[name] = self._tabs.add_tab(name)
        tab = self._named[name]
        for element in tuple(tab._children.values()):
            element.remove()
        return tab

    def _saved(self, session: Table) -> None:
        """A button a file."""
        for label, (kind, hint) in savable(session).items():
            button = self._gui.add_button(label, hint=hint, icon=viser.Icon.DOWNLOAD)
            on_click(self._worker, button, f"save {kind}", partial(self._page.save, kind))

    def gallery(self) -> None:
        """A button a mechanism."""
        for name in self._shelf.names:
            button = self._gui.add_button(name, hint=self._shelf.description(name) or None)
            on_click(self._worker, button, "open", partial(self._page.open, name))

    def gallery_only(self) -> None:
        """The gallery alone, where the first mechanism cannot be opened."""
        if "Gallery" not in self._named:
            with self._tab("Gallery"):
                self.gallery()

    def _values(self, session: Table) -> None:
        """Parameters, laws of drivers, duration."""
        gui, page = self._gui, self._page
        self._duration = gui.add_number(
            "duration, s", session.settings.duration, min=1e-3, step=1e-3
        )
        on_change(
            self._worker,
            self._duration,
            "duration",
            lambda x: page.changes.change(duration=float(x)),
        )
        laws = session.laws() if isinstance(session, Session) else []
        if laws:
            self._driven = gui.add_checkbox(
                "drivers act", session.settings.driven, hint="else it is left to its forces"
            )
            on_change(self._worker, self._driven, "driven", lambda on: page.changes.drive(bool(on)))
        parameters = session.parameters()
        for each in parameters[:MOST]:
            self._slider("parameter", each, page.changes.set_parameter)
        if len(parameters) > MOST:
            gui.add_markdown(f"*{len(parameters) - MOST} more parameters have no slider.*")
        inputs = session.inputs()
        if inputs:
            with gui.add_folder("motors" if isinstance(session, Session) else "inputs"):
                gui.add_markdown("*What is given from outside, which dynamics takes.*")
                for each in inputs[:MOST]:
                    self._slider("input", each, page.changes.set_input)
        if laws:
            with gui.add_folder("drivers", expand_by_default=len(laws) == 1):
                for law in laws[:MOST]:
                    self._law(law, session)
        reset = gui.add_button("Reset all values", icon=viser.Icon.REFRESH)
        on_click(self._worker, reset, "reset", page.reset)

    def _slider(self, kind: str, each: Range, act: Any) -> Any:
        slider = self._gui.add_slider(each.label, each.low, each.high, each.step, each.shown)
        self._sliders[f"{kind} {each.name}"] = slider
        on_change(self._worker, slider, f"{kind} {each.name}", lambda x: act(each.name, float(x)))
        return slider

    def _law(self, law: LawText, session: Table) -> None:
        """The text of a law, which is sent by a button, and sliders that stretch and shift it."""
        gui = self._gui
        change = session.settings.laws.get(law.name, LawChange())
        span = 3.15 if law.unit == "rad" else max(0.5 * session.size, 1e-3)
        with gui.add_form(f"{law.name}(t)") as form:
            text = gui.add_text("law", change.text or law.text, hint=f"{law.help}; Enter runs it")
        factor = gui.add_slider(f"{law.name} ×", -2.0, 2.0, 0.01, change.factor)
        step = Range("", 0.0, -span, span).step
        shift = gui.add_slider(f"{law.name} + {law.unit}", -span, span, step, change.shift)

        def set_law(_: object = None) -> None:
            written = "" if text.value.strip() == law.text else text.value
            self._page.changes.set_law(law.name, LawChange(written, factor.value, shift.value))

        @form.on_submit
        async def _(_: Any) -> None:
            self._worker.ask(f"law {law.name}", set_law)

        on_change(self._worker, factor, f"law {law.name}", set_law)
        on_change(self._worker, shift, f"law {law.name}", set_law)

    def _shown(self, session: Table) -> None:
        gui, page = self._gui, self._page
        for kind, label, hint in _OVERLAYS if isinstance(session, Session) else ():
            box: Any = gui.add_checkbox(label, page.shown.wanted.get(kind, False), hint=hint)
            on_change(self._worker, box, f"show {kind}", partial(_call, page.show_overlay, kind))
        self._scale = gui.add_markdown("", visible=False)
        glass: Any = gui.add_checkbox("see through bodies", page.glass)
        on_change(self._worker, glass, "glass", lambda on: page.see_through(bool(on)))
        drawn = page.shown.points  # which may be sensors of points too
        points = (NONE, *dict.fromkeys((*drawn, *session.points)))
        first, second = (*drawn, NONE, NONE)[:2]
        way: Any = gui.add_dropdown(
            "trace of", points, initial_value=first, hint="the path of a point"
        )
        also: Any = gui.add_dropdown("and of", points, initial_value=second, hint="another one")

        def trace(_: object) -> None:
            page.trace(*(each.value for each in (way, also) if each.value != NONE))

        on_change(self._worker, way, "trace", trace)
        on_change(self._worker, also, "trace", trace)
        look: Any = gui.add_button_group("look from", ("the front", "the side"))
        on_click(self._worker, look, "look", lambda: page.looking.look(look.value == "the side"))


def _call(act: Any, kind: str, value: Any) -> None:
    act(kind, bool(value))
