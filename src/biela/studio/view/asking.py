"""Asking analyses from a page: how far they have come, and how they are ended."""

from __future__ import annotations

import time
from typing import Final

from biela.studio.table import Table
from biela.studio.view.controls import Controls
from biela.studio.view.worker import Worker

__all__ = ["Asking"]

#: Answers that take longer than this (s) are announced, and can be stopped.
_LONG: Final = 0.5
#: Requests that an analysis is not ended for.
_PATIENT: Final = ("found ", "look", "time", "speed", "plot", "show ", "glass", "trace", "let go")


class Asking:
    """Runs analyses in the thread of a visitor, who may change his mind.

    Args:
        worker: His thread, with what else he wants.
        controls: Where the words stand.
    """

    def __init__(self, worker: Worker, controls: Controls) -> None:
        self._worker, self._controls = worker, controls
        self._took = 2 * _LONG

    def ask(self, session: Table, playing: bool) -> bool:
        """Ask, and say how far it has come; whether all went well, or the visitor ended it.

        After a moment the button of the player stops the analysis, and whatever else is asked for
        ends it too.
        """
        analysis = session.settings.analysis
        if self._took > _LONG:
            self._controls.say(session.name, f"computing {analysis} …", "")
        begun = last = time.monotonic()
        ended = False

        def watch(done: float) -> None:
            nonlocal last, ended
            if self._worker.ended or (last > begun and self._worker.waits(_PATIENT)):
                ended = True
                raise KeyboardInterrupt
            if time.monotonic() - last > _LONG:
                last = time.monotonic()
                self._controls.show_stop()
                self._controls.say(session.name, f"computing {analysis}: {100 * done:.0f} % …", "")

        fine = session.run(watch)
        self._took = time.monotonic() - begun
        if last > begun:
            self._worker.forget("play")  # the button was to stop it
            self._controls.show_playing(playing)
        return fine or ended
