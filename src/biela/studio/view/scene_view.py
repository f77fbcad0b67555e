"""The mechanism in space: pieces become nodes of the scene of a page, and are moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import viser

from biela.studio.grips import Corner, grip_box, unseen_box
from biela.studio.pieces import Piece, Solid, Stroke, Track, Tracks, hues

__all__ = ["SceneView"]

Floats = npt.NDArray[np.float64]

#: What is dragged: a body, with the event of the pointer.
OnDrag = Callable[[str, Any], None]

_DAYLIGHT: Final = 1.6
#: Bodies are a little see-through, so that the joints inside of them are there to be seen.
_GLASS: Final = 0.6
#: How far from the middle of a thin body it is gripped, as a part of what is seen: some pixels.
_REACH: Final = 0.022


@dataclass
class _Mover:
    """A node that is moved along the track of a piece; what it is gripped by goes along."""

    piece: int
    node: Any
    length: float | None = None
    grip: Any = None


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
        self._root, self._shown, self._reach = "", 0, 0.0

    # ------------------------------------------------------------------------------- building

    def show(self, pieces: Sequence[Piece], on_drag: OnDrag | None, seen: float) -> None:
        """Put pieces in place of those that are there; without ``on_drag`` none is dragged.

        Args:
            pieces: What to show.
            on_drag: Is told when a body is dragged.
            seen: How much is seen at once (m), a part of which a pointer may be beside a body.
        """
        self._reach = _REACH * seen
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
            grip = None
            if piece.role == "body" and on_drag is not None:
                self._draggable(node, piece.name, on_drag)
                grip = self._grip(own, piece)
            if len(group) == 1:
                length = None if piece.track.scale is None else 1.0
                self._movers.append(_Mover(k, node, length, grip))

    def _grip(self, name: str, solid: Solid) -> Any:
        """What a thin body is gripped by: a part of its node, which has the events of its parts."""
        box = _box(solid, self._reach)
        if box is None:
            return None
        scene = self._client.scene
        made = scene.add_glb(
            f"{name}/grip", unseen_box(*box), cast_shadow=False, receive_shadow=False
        )
        return self._kept(made)

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
                        if mover.grip is not None:
                            mover.grip.scale = mover.node.scale
                        mover.length = length
            for k, node in self._lines:
                stroke = pieces[k]
                assert isinstance(stroke, Stroke), "pieces of one mechanism are alike"
                if len(stroke.points) > 1 or stroke.role == "sign":
                    node.points = stroke.segments(place).astype(np.float32)


def _track(piece: Piece) -> Track:
    assert isinstance(piece, Solid), "strokes are lines"
    return piece.track


def _box(solid: Solid, reach: float) -> tuple[Corner, Corner] | None:
    """The box by which a solid is gripped, if it is thin."""
    return grip_box(solid.mesh.vertices, reach, solid.track.scale_at(0))
