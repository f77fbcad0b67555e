"""One visitor: his session, his page, and his thread.

Every method here but the first runs in the thread of the visitor, see `worker`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import viser

from biela.errors import BielaError
from biela.studio.beginning import begun
from biela.studio.clock import Clock
from biela.studio.pieces import Piece, alike
from biela.studio.saving import PICTURE, file_name, saved
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import Shelf
from biela.studio.table import Table
from biela.studio.view.aside import Aside
from biela.studio.view.asking import Asking
from biela.studio.view.changes import Changes
from biela.studio.view.controls import Controls
from biela.studio.view.hand import Hand
from biela.studio.view.looking import Looking
from biela.studio.view.overlays import Overlays
from biela.studio.view.picture import picture
from biela.studio.view.plots import Plots
from biela.studio.view.scene_view import SceneView
from biela.studio.view.shown import Shown
from biela.studio.view.structure import Structure
from biela.studio.view.worker import Worker

__all__ = ["Page"]

#: Of the beats every so many-th moves the sliders and plots too.
_SLOW: Final = 6


class Page:
    """What one visitor sees and does.

    Args:
        client: His connection.
        shelf: What he may open.
        name: What is opened first.
        play: Whether motions run as soon as they are there.
        session: That of what is opened first, if somebody has begun it.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        shelf: Shelf,
        name: str,
        play: bool = True,
        session: Table | None = None,
    ) -> None:
        self._client, self._shelf, self._at_once = client, shelf, play
        self.session: Table | None = None
        self.clock = Clock()
        self.glass = True
        self._pieces: Sequence[Piece] = ()
        self._beats = 0
        self._prepared: Table | None = None
        self.worker = Worker(self._beat, self._fail)
        self._view, self._over = SceneView(client), Overlays(client)
        self.looking = Looking(client, self.worker, self._now)
        self._aside = Aside(self.worker, self._fail)
        self.shown = Shown(self._over, self._aside, lambda text: self._controls.show_scale(text))
        self.hand = Hand(
            client, self.worker, self._jointed, partial(self._play, False), self._moved
        )
        self.changes = Changes(self._now, self._again)
        self._controls = Controls(client, self.worker, self, shelf)
        self._asking = Asking(self.worker, self._controls)
        panel = client.gui.add_panel()
        tab = panel.add_tab("Plot", viser.Icon.CHART_LINE)
        self._plots = Plots(client, self.worker, self._aside, tab)
        self._structure = Structure(client, self.worker, panel, self._aside, self._now)
        panel.dock_left()
        self.worker.ask("open", partial(self.open, name, session))

    def end(self) -> None:
        """The visitor has gone."""
        self._aside.end()
        self.worker.end()

    # ------------------------------------------------------------------------------- opening

    def open(self, name: str, ready: Table | None = None) -> None:
        """Open another mechanism; the present one stays if that fails."""
        self._controls.say(name, "opening …", "")
        try:
            session = ready or begun(self._shelf.source(name))
            if ready is None:
                session.open()
            found = session.pieces
        except BielaError as error:
            if self.session is None:
                self._controls.gallery_only()
            self._fail(str(error))
            return
        self.session = session
        self.shown.begin(session)
        self._structure.clear()
        self._controls.build(session)  # first: a browser may take a second to draw the scene
        self.looking.begin()
        self._view.show(found, self._drag, self.looking.extent)
        self._pieces = found
        self._refreshed(fresh=True)
        self._play(self._at_once and session.motion is not None)

    def _refreshed(self, fresh: bool = False) -> None:
        """Show what a session has found anew."""
        session = self._session
        found = session.pieces
        if not alike(found, self._pieces):
            self._view.show(found, self._drag, self.looking.extent)
        self._pieces = found
        motion, quantities = session.motion, session.quantities
        if motion is not None and quantities is not None:
            self.clock.between(float(motion.t[0]), float(motion.t[-1]))
            if fresh:
                self.clock.go_to(session.time)  # not where another mechanism was
            self._controls.show_span(self.clock.start, self.clock.end)
            self._plots.show(quantities, session.asked.get("plot", ()), fresh)
        elif fresh:
            self.clock.between(0.0, 1.0)
            self.clock.go_to(0.0)
            self._controls.show_span(0.0, 1.0)
            self._controls.show_time(0.0)
            self._plots.clear()
        self.shown.draw(session)
        self._controls.show_settings(session)
        self._place()
        self._say()

    @property
    def _session(self) -> Table:
        if self.session is None:
            raise BielaError("open a mechanism first")
        return self.session

    def _now(self) -> Table:
        return self._session

    def _jointed(self) -> Session:
        """The session, of bodies and joints, which alone can be dragged."""
        if not isinstance(self._session, Session):
            raise BielaError(
                f"{self._session.name} is written in symbols: it has no joints to drag"
            )
        return self._session

    @property
    def _drag(self) -> Callable[[str, Any], None] | None:
        return self.hand.drag if isinstance(self.session, Session) else None

    def _say(self) -> None:
        session = self._session
        self._controls.say(session.name, session.note, session.error)

    def _fail(self, words: str) -> None:
        """Say what went wrong, on top of the panel and over the scene."""
        if self.session is not None:
            self.session.error = words
        title = self.session.name if self.session is not None else "biela studio"
        self._controls.say(title, "", words)
        self._client.add_notification(
            "This does not work", words[:300], auto_close_seconds=8.0, color="red"
        )

    # ------------------------------------------------------------------------------- moving

    def _place(self) -> None:
        """Bring everything to the present time, or to the position by hand."""
        session = self._session
        posed = session.posed_pieces()
        if posed is None:
            self._view.move(self._pieces, session.place)
            self._over.move(session.place)
            self._plots.move(session.place)
            self._controls.show_time(session.time)
        else:
            self._view.move(posed, 0.0)
            self.shown.pose(session)
            self._plots.pose(session.told())

    def _moved(self) -> None:
        """The session has another position, by hand."""
        self._place()
        if not self._jointed().holding:  # a hand is followed without delay
            self._controls.show_position(self._jointed())
        self._say()

    def _beat(self, passed: float) -> bool:
        if self.session is None or not self.clock.playing:
            return False
        self.session.go_to(self.clock.advance(passed))
        place = self.session.place
        with self._client.atomic():
            self._view.move(self._pieces, place)
            self._over.move(place)
            self._beats += 1
            if self._beats % _SLOW == 0:
                self._plots.move(place)
                self._controls.show_time(self.session.time)
        return True

    def _play(self, playing: bool) -> None:
        self.clock.playing = playing
        self._controls.show_playing(playing)
        if playing:
            self.worker.start_beating()
        elif isinstance(self.session, Session) and self.session is not self._prepared:
            self._prepared = self.session
            self.hand.prepare(self.session, lambda: not self.clock.playing)

    def play_or_pause(self) -> None:
        """Run the motion, or stop it."""
        session = self._session
        if session.motion is None:
            raise BielaError("there is no motion to play: choose kinematics or dynamics")
        if not self.clock.playing and not session.settings.analysis.moves:
            driven = isinstance(session, Session) and session.model.drivers
            self.changes.change(analysis=Analysis.KINEMATICS if driven else Analysis.DYNAMICS)
        self._play(not self.clock.playing)
        if self.clock.playing:  # what is told is of the motion again, not of a position by hand
            session.go_to(self.clock.time)
            self._say()

    def go_to(self, time: float) -> None:
        """Show the motion at a time, and stop there."""
        self._play(False)
        self.clock.go_to(time)
        self._session.go_to(self.clock.time)
        self._place()
        self._say()

    def set_speed(self, speed: float) -> None:
        """Run faster or slower."""
        self.clock.speed = speed

    # ------------------------------------------------------------------------------- changing

    def _again(self, change: Callable[[], None]) -> None:
        """Change something and ask the analysis anew."""
        change()
        session = self._session
        session.time = self.clock.time
        fine = self._asking.ask(session, self.clock.playing)
        self._refreshed()
        if not session.settings.analysis.moves:
            self._play(False)
        if not fine:
            self._fail(session.error)

    def start_here(self) -> None:
        """Begin in the position by hand, and let go."""
        self._again(self._session.start_here)
        self.clock.go_to(self.clock.start)
        self._play(not self._session.error)

    def reset(self) -> None:
        """Go back to the model as it was written."""
        self._again(self._session.reset)
        self._controls.build(self._session)

    # ------------------------------------------------------------------------------- showing

    def trace(self, *points: str) -> None:
        """Show the ways of points."""
        self.shown.points = points
        self.shown.draw(self._session)

    def show_overlay(self, kind: str, shown: bool) -> None:
        """Show joints, forces, reactions or frames, or take them away."""
        self.shown.wanted[kind] = shown
        self.shown.draw(self._session)
        self._place()

    def save(self, kind: str) -> None:
        """Send a file; reports take seconds and are made beside the page."""
        session = self._session

        def send(found: tuple[str, bytes]) -> None:
            self._client.send_file_download(*found, save_immediately=True)
            self._say()

        self._controls.say(session.name, "making the file …", "")
        if kind == PICTURE:
            make = partial(picture, self._client, file_name(session, PICTURE))
        else:
            make = partial(saved, session, kind)
        self._aside.find(f"file {kind}", make, send)

    def see_through(self, through: bool) -> None:
        """Let joints inside of bodies be seen, or not."""
        self.glass = through
        self._view.see_through(through)
