"""The hand of a visitor: the pointer grips a body, and the mechanism follows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser

from biela.errors import BielaError
from biela.model.parts.flattening import body_count
from biela.results.scene import PLANES
from biela.studio.dragging import Dragged
from biela.studio.session import Session
from biela.studio.view.worker import Worker

__all__ = ["Hand"]

Floats = npt.NDArray[np.float64]

#: Bodies that are ready to be dragged before anybody does.
_PREPARED: Final = 8
#: With more bodies than these that would take long.
_SMALL: Final = 20


class Hand:
    """Dragging on one page.

    Args:
        client: The page.
        worker: Of its visitor.
        session: The session that the page has at the moment.
        stop: Stops what is played.
        moved: Shows the position of the session.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        worker: Worker,
        session: Callable[[], Session],
        stop: Callable[[], None],
        moved: Callable[[], None],
    ) -> None:
        self._client, self._worker, self._session = client, worker, session
        self._stop, self._moved = stop, moved
        self._plane: Floats | None = None
        self._on_its_way, self._released = False, False

    def prepare(self, session: Session, idle: Callable[[], bool]) -> None:
        """Compile what dragging needs as long as nothing moves, a body at a time."""

        def current() -> bool:
            try:
                return session is self._session()
            except BielaError:  # symbols, which nobody drags, are on the page now
                return False

        def body(name: str) -> None:
            if current() and idle():
                session.dragging.prepare(name)

        def all_bodies() -> None:
            if not current() or body_count(session.model) > _SMALL:
                return
            for name in session.dragging.bodies[:_PREPARED]:
                self._worker.ask_later(partial(body, name))

        self._worker.ask_later(all_bodies)

    def drag(self, body: str, event: Any) -> None:
        """A body is dragged: in the thread of the server, so it only asks."""
        start, end = np.array(event.start_position), np.array(event.end_position)
        if event.phase == "start":
            self._worker.ask("grip", partial(self._grip, body, start))
        if event.phase == "end":
            self._worker.ask("let go", self._let_go)
        else:
            eye = np.array(self._client.camera.position)
            self._worker.ask("pull", partial(self._pull, end, eye))

    def _grip(self, body: str, place: Floats) -> None:
        self._stop()
        self._on_its_way, self._released = False, False
        session = self._session()
        session.grip(body, place)
        self._plane = place if session.scene.view in PLANES else None

    def _pull(self, target: Floats, eye: Floats) -> None:
        session = self._session()
        if not session.holding:  # the grip has failed, and was told
            return
        if self._plane is not None:
            target = _in_plane(target, eye, self._plane, PLANES[session.scene.view][2])
        self._followed(target, session.pull(target))

    def _followed(self, target: Floats, found: Dragged) -> None:
        self._moved()
        self._on_its_way = not found.settled
        if self._on_its_way:
            self._worker.ask_later(partial(self._pull_on, target, found))
        elif self._released:
            self._leave()

    def _pull_on(self, target: Floats, last: Dragged) -> None:
        """Go on to where the hand is, if nobody has pulled elsewhere since."""
        if self._session().holds(last):
            self._followed(target, self._session().pull(target))

    def _let_go(self) -> None:
        """Let go, when it is where the pointer was."""
        self._released = True
        if not self._on_its_way:
            self._leave()

    def _leave(self) -> None:
        """Leave it where it is; what is too slow to follow a hand shows the position now."""
        self._session().let_go()
        self._moved()

    def jog(self, name: str, value: float) -> None:
        """Put one coordinate somewhere."""
        self._stop()
        self._session().jog(name, value)
        self._moved()

    def reach(self, frame: str, place: tuple[float, float, float]) -> None:
        """Bring a point to a place."""
        self._stop()
        self._session().reach(frame, place)
        self._moved()


def _in_plane(target: Floats, eye: Floats, point: Floats, normal: int) -> Floats:
    """Where the line of sight to a target meets the plane of a mechanism; along the normal else."""
    way = target - eye
    if abs(way[normal]) < 1e-9 * np.linalg.norm(way):
        found = target.copy()
        found[normal] = point[normal]
        return found
    met: Floats = eye + way * (point[normal] - eye[normal]) / way[normal]
    return met
