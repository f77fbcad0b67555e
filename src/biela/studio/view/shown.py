"""What a visitor has chosen to see besides the bodies, and what it takes to draw it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import biela as bl
from biela.results import Results
from biela.studio import arrows
from biela.studio.arrows import Arrows
from biela.studio.joint_signs import joint_signs
from biela.studio.posing import moving
from biela.studio.session import Session
from biela.studio.table import Table
from biela.studio.view.aside import Aside
from biela.studio.view.overlays import Overlays

__all__ = ["Shown"]

_FORCES: Final[Mapping[str, Callable[[bl.Model, Results], Arrows]]] = {
    "reactions": arrows.reactions,
    "forces": arrows.applied,
}


class Shown:
    """The choices of one page.

    Args:
        overlays: Where they are drawn.
        aside: Finds forces, which may take seconds.
        tell: Shows how long the arrows are.
    """

    def __init__(self, overlays: Overlays, aside: Aside, tell: Callable[[str], None]) -> None:
        self._over, self._aside, self._tell = overlays, aside, tell
        self.wanted: dict[str, bool] = {}
        self.points: tuple[str, ...] = ()

    def begin(self, session: Table) -> None:
        """Show what a model asks for, and the signs of its joints."""
        path = session.asked.get("path", ())
        names = [path] if isinstance(path, str) else path if isinstance(path, list) else []
        self.points = tuple(str(name) for name in names)
        self.wanted = {"joints": True}
        self._over.clear()

    def draw(self, session: Table) -> None:
        """Draw all that is wanted, anew; symbols have ways of points only.

        Raises:
            BielaError: There is no such point.
        """
        if isinstance(session, Session):
            self._joints(session)
        if session.motion is None:
            return
        self._over.show_ways(session.ways(self.points))
        if isinstance(session, Session):
            self._loads(session, session.motion)

    def _loads(self, session: Session, motion: Results) -> None:
        """Frames of bodies, and arrows."""
        size = session.size
        bodies = session.dragging.bodies if self.wanted.get("frames") else ()
        self._over.show_frames(moving(motion), bodies, size)
        for kind, make in _FORCES.items():
            # a position of rest is none of the motion, and the motion may be of other drivers
            if self.wanted.get(kind) and session.settings.analysis.moves:
                show = partial(self._arrows, kind, size=size)
                self._aside.find(kind, partial(make, session.model, motion), show)
            else:
                self._aside.forget(kind)
                self._arrows(kind, None, size)

    def _arrows(self, kind: str, found: Arrows | None, size: float) -> None:
        """Draw arrows, and say what the longest one is."""
        self._over.show_arrows(kind, found, size)
        longest = self._over.longest
        self._tell(f"longest arrow of the motion: {longest:.4g} N" if longest else "")

    def _joints(self, session: Session) -> None:
        """The signs of joints, in the motion or else in the position that is shown."""
        if not self.wanted.get("joints"):
            self._over.show_joints((), None, 1.0)
            return
        frames = moving(session.motion) if session.motion is not None else session.frames()
        self._over.show_joints(joint_signs(session.model), frames, session.unit)

    def pose(self, session: Table) -> None:
        """Bring all to the position that is shown."""
        if isinstance(session, Session):
            self._over.pose(session.frames())
