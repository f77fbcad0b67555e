"""How a visitor looks at a mechanism: the camera of his page, and the floor or paper behind it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import viser

from biela.results.display import view_matrix
from biela.results.drawing import nice_step
from biela.results.scene import PLANES, Scene
from biela.studio.table import Table
from biela.studio.view.worker import Worker

__all__ = ["Looking"]

Floats = npt.NDArray[np.float64]

#: The grid as a part of the extent of the scene, and how much more than the scene is seen.
_GRID: Final = 1.4
_ROOM: Final = 1.25
#: Lines of the floor (pixels): thinner ones have gaps where edges are not smoothed.
_FINE: Final = 1.4
#: Angles of view up and down (rad): of mechanisms in space, and of those in a plane.
_NEAR: Final = np.radians(45.0)
_FAR: Final = np.radians(8.0)
#: A little from the side and from above, so that planar mechanisms have depth.
_ASIDE: Final = (-0.22, 0.28)
#: The window of the scene is another one if its aspect changes by this; within so many seconds.
_NARROWER: Final = 0.1
_SETTLING: Final = 4.0


class Looking:
    """The camera of one page.

    Attributes:
        extent: Of the scene that was looked at last (m), for which the window was made to fit.

    Args:
        client: The page.
        worker: Of its visitor.
        session: The session that the page has at the moment.
    """

    def __init__(
        self, client: viser.ClientHandle, worker: Worker, session: Callable[[], Table]
    ) -> None:
        self._client, self._worker, self._session = client, worker, session
        self._half, self._aspect, self._opened = (1.0, 1.0), 0.0, 0.0
        self.extent = 1.0
        client.camera.on_update(self._resized)

    async def _resized(self, camera: viser.CameraHandle) -> None:
        """Panels take their place a moment after the page is opened: look again then."""
        change = abs(self._aspect_of(camera) - self._aspect)
        if self._opened and change > _NARROWER * min(self._aspect, 1.0):
            settling = time.monotonic() - self._opened < _SETTLING
            self._worker.ask("look", self.look if settling else self._refit)

    def begin(self) -> None:
        """Look at a mechanism that has just been opened."""
        self._opened = time.monotonic()
        self.look()

    def look(self, aside: bool | None = None) -> None:
        """Look at the whole mechanism; a planar one straight, or a little from the side."""
        session = self._session()
        self._look(session.scene, not session.flat if aside is None else aside)

    def _look(self, scene: Scene, aside: bool) -> None:
        """Set the camera, up and the floor for a scene; ``aside`` gives a planar one depth.

        A planar mechanism is seen along the normal of its plane and from far away, so that lengths
        are those of a drawing.
        """
        client, (low, high) = self._client, scene.bounds
        flat = scene.view in PLANES and not aside
        fov = _FAR if flat else _NEAR
        middle, extent = (low + high) / 2, scene.extent
        across, up, toward = view_matrix(scene.view)
        if aside and scene.view in PLANES:
            toward = toward + _ASIDE[0] * across + _ASIDE[1] * up
            toward /= np.linalg.norm(toward)
        axis = int(np.abs(up).argmax()) if scene.view in PLANES else 2
        # a narrow window sees less across than up
        aspect = self._aspect_of(client.camera)
        first, last = scene.bounds_along(np.array([across, up, toward]))
        wide, high_up, deep = (last - first) / 2
        self._half, self._aspect, self.extent = (wide, high_up), aspect, extent
        away = _ROOM * self._needed(aspect) / np.tan(fov / 2) + deep
        client.camera.fov = fov
        client.camera.up_direction = np.eye(3)[axis]
        client.camera.position = middle + away * toward
        client.camera.look_at = middle
        client.camera.near, client.camera.far = 0.02 * extent, 100.0 * extent
        if flat:  # seen from the front a floor would be a line: squared paper behind instead
            axis = PLANES[scene.view][2]
            behind = np.array([low[axis], high[axis]])[int(toward[axis] < 0)]
            self._floor(middle, behind - 0.06 * extent * toward[axis], axis, extent)
        else:
            self._floor(middle, low[axis] - 0.06 * extent, axis, extent)

    def _aspect_of(self, camera: viser.CameraHandle) -> float:
        """Width over height of the window; as before where nothing of it is seen."""
        return camera.aspect if camera.image_height else self._aspect or 1.0

    def _needed(self, aspect: float) -> float:
        """Half of what must be seen up and down, so that all is seen across as well."""
        wide, high_up = self._half
        return float(max(wide / max(aspect, 1e-3), high_up))

    def _refit(self) -> None:
        """Go nearer or away as the window becomes wider or narrower; the view is the visitor's."""
        camera = self._client.camera
        aspect = self._aspect_of(camera)
        change = self._needed(aspect) / max(self._needed(self._aspect), 1e-12)
        self._aspect = aspect
        eye, at = np.array(camera.position), np.array(camera.look_at)
        camera.position = at + change * (eye - at)
        camera.look_at = at

    def _floor(self, middle: Floats, level: float, axis: int, extent: float) -> None:
        """A grid below the mechanism: plain lines, which cost a slow renderer the least."""
        step = nice_step(extent)
        a, b = (k for k in range(3) if k != axis)
        half = step * np.ceil(0.5 * _GRID * extent / step)
        ways = np.arange(-half, half + step / 2, step)
        corner = step * np.round(middle / step)
        lines = np.zeros((2 * len(ways), 2, 3))
        lines[..., axis] = level
        for k, (along, across) in enumerate(((a, b), (b, a))):
            part = lines[k * len(ways) : (k + 1) * len(ways)]
            part[..., across] = corner[across] + ways[:, None]
            part[..., along] = corner[along] + np.array([-half, half])
        self._client.scene.add_line_segments(
            "/floor", lines, (214, 217, 222), thickness=_FINE, thickness_units="screen"
        )
