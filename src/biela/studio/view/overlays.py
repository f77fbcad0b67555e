"""What is shown besides the bodies: signs of joints, ways of points, frames, forces, reactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser

from biela.results.orientation import euler_parameters
from biela.results.style import COLORS
from biela.studio.arrows import Arrows
from biela.studio.joint_signs import LENGTH, Carried, JointSign, carried
from biela.studio.pieces import Track, Tracks, hues
from biela.studio.posing import Motion

__all__ = ["Overlays"]

Floats = npt.NDArray[np.float64]

#: As parts of the size of the mechanism: the longest arrow, its shaft and head, axes of frames.
_ARROW: Final = 0.28
_SHAFT: Final = (0.006, 0.016, 0.035)
_AXES: Final = (0.08, 0.004)
_FORCES: Final = {"forces": "#CC79A7", "reactions": "#C1272D"}
#: Signs of joints, and of those that are driven.
_INK, _DRIVEN = "#5C6066", "#D55E00"


@dataclass(frozen=True, eq=False)
class _Moved:
    """Nodes, how they move, and how they would in other positions.

    They are moved as bodies are, by their poses: a page draws these at once, but what it has in
    instances of one node a frame or more later, so that signs would trail behind.
    """

    nodes: Sequence[Any]
    tracks: Tracks
    anew: Callable[[Motion], Sequence[Track]]

    def place(self, tracks: Tracks, place: float) -> None:
        for node, r, p in zip(self.nodes, *tracks.at(place), strict=True):
            node.position, node.wxyz = r, p

    def remove(self) -> None:
        for node in self.nodes:
            node.remove()


class Overlays:
    """The nodes of one page that are drawn over its mechanism."""

    def __init__(self, client: viser.ClientHandle) -> None:
        self._client = client
        self._ways: list[Any] = []
        self._arrows: dict[str, tuple[Arrows, float, Any]] = {}
        self._axes: _Moved | None = None
        self._joints: _Moved | None = None
        self._place, self._shown = 0.0, 0

    def _name(self, kind: str) -> str:
        """A name that no node ever had: a page remembers the state of what had it before."""
        self._shown += 1
        return f"/{kind} {self._shown}"

    def clear(self) -> None:
        """Remove all of them."""
        self.show_ways(())
        self.show_frames(None, (), 1.0)
        self.show_joints((), None, 1.0)
        for kind in list(self._arrows):
            self.show_arrows(kind, None, 1.0)

    def show_ways(self, ways: Sequence[Floats]) -> None:
        """Draw the ways of points (k, 3) over the whole motion."""
        for node in self._ways:
            node.remove()
        self._ways = []
        for k, points in enumerate(ways):
            way = np.stack([points[:-1], points[1:]], axis=1)
            node = self._client.scene.add_line_segments(
                self._name("way"),
                way,
                hues(COLORS[(k + 1) % len(COLORS)]),
                thickness=3.0,
                thickness_units="screen",
            )
            self._ways.append(node)

    def show_frames(self, motion: Motion | None, bodies: Sequence[str], size: float) -> None:
        """Draw the axes of bodies, and those of the ground."""
        if self._axes is not None:
            self._axes.remove()
            self._axes = None
        if motion is None or not bodies:
            return

        def tracks(frame: Motion) -> list[Track]:
            ground = Track(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
            found = (frame(body) for body in bodies)
            return [ground, *(Track(r, euler_parameters(R)) for r, R in found)]

        length, radius = (part * size for part in _AXES)
        nodes = [
            self._client.scene.add_frame(
                self._name("frames"),
                axes_length=length,
                axes_radius=radius,
                origin_radius=1.4 * radius,
            )
            for _ in range(len(bodies) + 1)
        ]
        self._axes = _Moved(nodes, Tracks(tracks(motion)), tracks)
        self._axes.place(self._axes.tracks, self._place)

    def show_joints(self, signs: Sequence[JointSign], motion: Motion | None, unit: float) -> None:
        """Draw the signs of joints, a node for those of each body; none without a motion."""
        if self._joints is not None:
            self._joints.remove()
            self._joints = None
        if motion is None or not signs:
            return
        groups = carried(signs, motion, LENGTH * unit)

        def tracks(frame: Motion) -> list[Track]:
            return [group.track(frame) for group in groups]

        nodes = [self._sign(group) for group in groups]
        self._joints = _Moved(nodes, Tracks(tracks(motion)), tracks)
        self._joints.place(self._joints.tracks, self._place)

    def _sign(self, group: Carried) -> Any:
        return self._client.scene.add_mesh_simple(
            self._name("joints"),
            group.mesh.vertices,
            group.mesh.faces,
            color=hues(_DRIVEN if group.signs[0].driven else _INK),
            flat_shading=True,
            cast_shadow=False,
            receive_shadow=False,
        )

    def show_arrows(self, kind: str, arrows: Arrows | None, size: float) -> None:
        """Draw forces, or "reactions", or take them away; all are drawn to one scale."""
        if kind in self._arrows:
            self._arrows.pop(kind)[2].remove()
        if arrows is not None and arrows.names:
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
        self._place_arrows(self._place)

    @property
    def longest(self) -> float:
        """The force (N) of the longest arrow there ever is; 0 without any."""
        return max((arrows.largest for arrows, _, _ in self._arrows.values()), default=0.0)

    def _place_arrows(self, place: float) -> None:
        force = self.longest
        for arrows, length, node in self._arrows.values():
            node.points = arrows.segments(place, length, force).astype(np.float32)

    def move(self, place: float) -> None:
        """Bring all to a place among the instants."""
        self._place = place
        for _, _, node in self._arrows.values():
            node.visible = True
        self._place_arrows(place)
        for moved in self._moved:
            moved.place(moved.tracks, place)

    def pose(self, frame: Motion) -> None:
        """Bring all to another position; forces are known in motion only."""
        for _, _, node in self._arrows.values():
            node.visible = False
        for moved in self._moved:
            moved.place(Tracks(moved.anew(frame)), 0.0)

    @property
    def _moved(self) -> list[_Moved]:
        return [moved for moved in (self._joints, self._axes) if moved is not None]
