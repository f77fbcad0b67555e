"""What can be shown besides the bodies: ways of points, frames, forces and reactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser

from biela.results import Results
from biela.results.orientation import euler_parameters
from biela.results.paths import traces
from biela.results.style import COLORS
from biela.studio.arrows import Arrows
from biela.studio.pieces import Track, hues

__all__ = ["Overlays"]

Floats = npt.NDArray[np.float64]

#: As parts of the size of the mechanism: the longest arrow, its shaft and head, axes of frames.
_ARROW: Final = 0.28
_SHAFT: Final = (0.006, 0.016, 0.035)
_AXES: Final = (0.08, 0.004)
_FORCES: Final = {"forces": "#CC79A7", "reactions": "#C1272D"}


class Overlays:
    """The nodes of one page that are drawn over its mechanism."""

    def __init__(self, client: viser.ClientHandle) -> None:
        self._client = client
        self._ways: list[Any] = []
        self._arrows: dict[str, tuple[Arrows, float, Any]] = {}
        self._axes: tuple[list[Track], Any] | None = None
        self._place, self._shown = 0.0, 0

    def _name(self, kind: str) -> str:
        """A name that no node ever had: a page remembers the state of what had it before."""
        self._shown += 1
        return f"/{kind} {self._shown}"

    def clear(self) -> None:
        """Remove all of them."""
        self.show_ways(None, ())
        self.show_frames(None, (), 1.0)
        for kind in list(self._arrows):
            self.show_arrows(kind, None, 1.0)

    def show_ways(self, motion: Results | None, points: Sequence[str]) -> None:
        """Draw the ways of points over the whole motion.

        Raises:
            BielaError: There is no such point.
        """
        for node in self._ways:
            node.remove()
        self._ways = []
        for k, trace in enumerate(traces(motion, list(points)) if motion and points else ()):
            way = np.stack([trace.points[:-1], trace.points[1:]], axis=1)
            node = self._client.scene.add_line_segments(
                self._name("way"),
                way,
                hues(COLORS[(k + 1) % len(COLORS)]),
                thickness=3.0,
                thickness_units="screen",
            )
            self._ways.append(node)

    def show_frames(self, motion: Results | None, bodies: Sequence[str], size: float) -> None:
        """Draw the axes of bodies."""
        if self._axes is not None:
            self._axes[1].remove()
            self._axes = None
        if motion is None or not bodies:
            return
        frames = [motion.frame(body) for body in bodies]
        still = np.array([[1.0, 0.0, 0.0, 0.0]])
        tracks = [Track(np.zeros((1, 3)), still)]  # of the ground
        tracks += [Track(np.array(f.position), euler_parameters(f.orientation)) for f in frames]
        length, radius = (part * size for part in _AXES)
        poses = [track.at(self._place) for track in tracks]
        node = self._client.scene.add_batched_axes(
            self._name("frames"),
            np.array([p for _, p in poses]),
            np.array([r for r, _ in poses]),
            axes_length=length,
            axes_radius=radius,
        )
        self._axes = (tracks, node)

    def show_arrows(self, kind: str, arrows: Arrows | None, size: float) -> None:
        """Draw forces, or "reactions", or take them away."""
        if kind in self._arrows:
            self._arrows.pop(kind)[2].remove()
        if arrows is None or not arrows.names:
            return
        shaft, head, length = (part * size for part in _SHAFT)
        node = self._client.scene.add_arrows(
            self._name(kind),
            arrows.segments(self._place, _ARROW * size),
            hues(_FORCES[kind]),
            shaft_radius=shaft,
            head_radius=head,
            head_length=length,
        )
        self._arrows[kind] = (arrows, _ARROW * size, node)

    def move(self, place: float) -> None:
        """Bring all to a place among the instants."""
        self._place = place
        for arrows, length, node in self._arrows.values():
            node.points = arrows.segments(place, length).astype(np.float32)
        if self._axes is not None:
            poses = [track.at(place) for track in self._axes[0]]
            self._axes[1].batched_positions = np.array([r for r, _ in poses], np.float32)
            self._axes[1].batched_wxyzs = np.array([p for _, p in poses], np.float32)
