"""The mechanism in space: pieces become nodes of the scene of a page, and are moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser

from biela.results.display import view_matrix
from biela.results.drawing import nice_step
from biela.results.scene import PLANES, Scene
from biela.studio.pieces import Piece, Solid, Stroke, Track, Tracks, hues

__all__ = ["SceneView"]

Floats = npt.NDArray[np.float64]

#: What is dragged: a body, with the event of the pointer.
OnDrag = Callable[[str, Any], None]

#: The grid as a part of the extent of the scene, and how much more than the scene is seen.
_GRID: Final = 1.4
_ROOM: Final = 1.25
_DAYLIGHT: Final = 1.6
#: Bodies are a little see-through, so that the joints inside of them are there to be seen.
_GLASS: Final = 0.6
#: Lines of the floor (pixels): thinner ones have gaps where edges are not smoothed.
_FINE: Final = 1.4
#: Angles of view up and down (rad): of mechanisms in space, and of those in a plane.
_NEAR: Final = np.radians(45.0)
_FAR: Final = np.radians(8.0)
#: A little from the side and from above, so that planar mechanisms have depth.
_ASIDE: Final = (-0.22, 0.28)


@dataclass
class _Mover:
    """A node that is moved along the track of a piece."""

    piece: int
    node: Any
    length: float | None = None


class SceneView:
    """The nodes of one mechanism on one page.

    Args:
        client: The page.
    """

    def __init__(self, client: viser.ClientHandle) -> None:
        self._client = client
        # a renderer without hardware takes 20 s for light from a photograph, and shadows slow it
        client.scene.configure_environment_map(hdri=None)
        client.scene.configure_default_lights(cast_shadow=False)
        client.scene.add_light_ambient("/daylight", intensity=_DAYLIGHT)
        self._nodes: list[Any] = []
        self._movers: list[_Mover] = []
        self._lines: list[tuple[int, Any]] = []
        self._moved: tuple[Sequence[Piece], Tracks] | None = None
        self._surfaces: list[Any] = []
        self._glass: float | None = _GLASS
        self._root, self._shown = "", 0
        self._half, self._aspect = (1.0, 1.0), 1.0

    # ------------------------------------------------------------------------------- building

    def show(self, pieces: Sequence[Piece], on_drag: OnDrag | None) -> None:
        """Put pieces in place of those that are there; without ``on_drag`` none is dragged."""
        with self._client.atomic():
            self.clear()
            # never a name again: a page remembers the place of what had it before
            self._shown += 1
            self._root = f"/mechanism {self._shown}"
            by_track: dict[int, list[int]] = {}
            for k, piece in enumerate(pieces):
                if isinstance(piece, Stroke):
                    self._line(k, piece)
                elif piece.role != "joint":  # which have signs of their own, see `overlays`
                    by_track.setdefault(id(piece.track), []).append(k)
            for group in by_track.values():
                self._body(pieces, group, on_drag)
            self.move(pieces, 0)

    def see_through(self, through: bool) -> None:
        """Let joints be seen through the shapes of bodies, those that come later too, or not."""
        self._glass = _GLASS if through else None
        for node in self._surfaces:
            node.opacity = self._glass

    def clear(self) -> None:
        """Remove what is there."""
        self._surfaces = []
        for node in reversed(self._nodes):
            node.remove()
        self._nodes, self._movers, self._lines = [], [], []
        self._moved = None

    def _kept(self, node: Any) -> Any:
        self._nodes.append(node)
        return node

    def _body(self, pieces: Sequence[Piece], group: list[int], on_drag: OnDrag | None) -> None:
        """The solids of one track: on a frame of their own if they are several."""
        scene, name = self._client.scene, f"{self._root}/{group[0]}"
        if len(group) > 1:
            frame = self._kept(scene.add_frame(name, show_axes=False))
            self._movers.append(_Mover(group[0], frame))
        for k in group:
            piece = pieces[k]
            assert isinstance(piece, Solid), "strokes are lines"
            own = name if len(group) == 1 else f"{name}/{k}"
            node = self._kept(
                scene.add_mesh_simple(
                    own,
                    piece.mesh.vertices,
                    piece.mesh.faces,
                    color=hues(piece.color),
                    flat_shading=True,
                    opacity=self._glass if piece.shaped else None,
                    side="front" if piece.mesh.closed else "double",
                    cast_shadow=False,
                    receive_shadow=False,
                )
            )
            if piece.shaped:
                self._surfaces.append(node)
            if len(group) == 1:
                length = None if piece.track.scale is None else 1.0
                self._movers.append(_Mover(k, node, length))
            if piece.role == "body" and on_drag is not None:
                self._draggable(node, piece.name, on_drag)

    def _draggable(self, node: Any, body: str, on_drag: OnDrag) -> None:
        @node.on_drag("left")  # type: ignore[untyped-decorator]
        async def _(event: Any) -> None:  # in order, as it comes; the work is done elsewhere
            on_drag(body, event)

    def _line(self, k: int, stroke: Stroke) -> None:
        node = self._client.scene.add_line_segments(
            f"{self._root}/line{k}",
            stroke.segments(0),
            hues(stroke.color),
            thickness=stroke.width,
            thickness_units="screen",
        )
        self._lines.append((k, self._kept(node)))

    # ------------------------------------------------------------------------------- moving

    def move(self, pieces: Sequence[Piece], place: float) -> None:
        """Bring all nodes to a place among the instants of pieces like those that are shown."""
        with self._client.atomic():
            if self._moved is None or self._moved[0] is not pieces:
                self._moved = pieces, Tracks([_track(pieces[m.piece]) for m in self._movers])
            for mover, r, p in zip(self._movers, *self._moved[1].at(place), strict=True):
                mover.node.position, mover.node.wxyz = r, p
                if mover.length is not None:
                    length = _track(pieces[mover.piece]).scale_at(place)
                    if abs(length - mover.length) > 1e-9:
                        mover.node.scale = (1.0, 1.0, max(length, 1e-9))
                        mover.length = length
            for k, node in self._lines:
                stroke = pieces[k]
                assert isinstance(stroke, Stroke), "pieces of one mechanism are alike"
                if len(stroke.points) > 1 or stroke.role == "sign":
                    node.points = stroke.segments(place).astype(np.float32)

    def look(self, scene: Scene, aside: bool = False) -> None:
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
        aspect = client.camera.aspect if client.camera.image_height else 1.0
        first, last = scene.bounds_along(np.array([across, up, toward]))
        wide, high_up, deep = (last - first) / 2
        self._half, self._aspect = (wide, high_up), aspect
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

    def _needed(self, aspect: float) -> float:
        """Half of what must be seen up and down, so that all is seen across as well."""
        wide, high_up = self._half
        return float(max(wide / max(aspect, 1e-3), high_up))

    def refit(self) -> None:
        """Go nearer or away as the window becomes wider or narrower; the view stays."""
        camera = self._client.camera
        change = self._needed(camera.aspect) / max(self._needed(self._aspect), 1e-12)
        self._aspect = camera.aspect
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


def _track(piece: Piece) -> Track:
    assert isinstance(piece, Solid), "strokes are lines"
    return piece.track
