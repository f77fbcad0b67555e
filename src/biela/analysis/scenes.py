"""From the figures of a mechanism and the motion of its frames to a scene of plain shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.equations.figures import (
    BallFigure,
    Figure,
    JointFigure,
    LineFigure,
    SlideFigure,
    SolidFigure,
    StrutFigure,
)
from biela.results import Dot, Ground, Link, Polyhedron, Scene, Sphere
from biela.results.display import view_matrix
from biela.results.scene import PLANES, Shape

__all__ = ["mechanism_scene"]

Floats = npt.NDArray[np.float64]

_GROUND: Final = "ground"
_INK: Final = "#2B2B2B"
_GREY: Final = "#7A7A7A"
#: Sizes of signs as parts of the extent of the mechanism: blocks, hubs, balls, teeth of springs.
_BLOCK: Final = (0.026, 0.026, 0.042)
_HUB: Final = (0.011, 0.05)
_BALL: Final = 0.013
_TEETH: Final = 0.018
_COUNT: Final = 7


def mechanism_scene(
    figures: Sequence[Figure], frames: Sequence[str], poses: Floats, plane: str = ""
) -> Scene:
    """The scene of a mechanism.

    Args:
        figures: what is drawn, on frames.
        frames: their names.
        poses: (k, n, 12), at every instant a row a frame: its place, and R by rows.
        plane: of a planar mechanism; "" finds out.
    """
    return _Stage(frames, poses, plane).scene(figures)


@dataclass(frozen=True, eq=False)
class _Frame:
    """Where a frame is: position (k, 3), rotation (k, 3, 3)."""

    position: Floats
    rotation: Floats

    def point(self, place: Sequence[float]) -> Floats:
        """A place of the frame at every instant, (k, 3)."""
        found: Floats = self.position + self.rotation @ np.asarray(place, dtype=float)
        return found


class _Stage:
    """Frames that move, and the shapes on them."""

    def __init__(self, frames: Sequence[str], poses: Floats, plane: str) -> None:
        self._rows = {name: k for k, name in enumerate(frames)}
        self._poses, self._plane = poses, plane
        self._frames: dict[str, _Frame] = {_GROUND: _Frame(np.zeros((1, 3)), np.eye(3)[None])}

    def scene(self, figures: Sequence[Figure]) -> Scene:
        """Bodies first: the signs of joints are as large as suits them."""
        bodies = [shape for figure in figures for shape in self._body(figure)]
        reached = [self._reach(figure) for figure in figures]
        rough = Scene([*bodies, *(dot for dots in reached for dot in dots)], self._plane)
        self._size, self._view = rough.extent, rough.view
        signs = [shape for figure in figures for shape in self._sign(figure)]
        marks = {tuple(np.round(s.point, 9)): s for s in signs if isinstance(s, Ground)}
        others = [shape for shape in signs if not isinstance(shape, Ground)]
        return Scene([*marks.values(), *bodies, *others], self._view)

    def _frame(self, name: str) -> _Frame:
        """A frame; its arrays are the same for all who ask."""
        if name not in self._frames:
            rows = np.ascontiguousarray(self._poses[:, self._rows[name]])
            if name.startswith(f"{_GROUND}."):
                rows = rows[:1]
            place, R = rows[:, :3], rows[:, 3:].reshape(-1, 3, 3)
            self._frames[name] = _Frame(np.ascontiguousarray(place), np.ascontiguousarray(R))
        return self._frames[name]

    def _ends(self, i: str, j: str) -> Floats:
        """The origins of two frames, (k, 2, 3)."""
        pair = np.broadcast_arrays(self._frame(i).position, self._frame(j).position)
        return np.stack(pair, axis=1)

    # --- bodies -----------------------------------------------------------------------------------

    def _body(self, figure: Figure) -> Iterator[Shape]:
        match figure:
            case SolidFigure(body, vertices, triangles):
                frame = self._frame(body)
                yield Polyhedron(body, frame.position, frame.rotation, vertices, triangles)
            case BallFigure(body, centre, radius):
                yield Sphere(body, self._frame(body).point(centre), radius)
            case LineFigure(body, places, closed):
                points = [self._frame(frame).point(place) for frame, place in places]
                if len(points) == 1:
                    yield Dot(body, points[0], size=14.0)
                else:
                    line = np.stack(np.broadcast_arrays(*points), axis=1)
                    yield Link(body, line, pins=False, closed=closed)

    def _reach(self, figure: Figure) -> Iterator[Shape]:
        """Places of what is drawn later, which belong into the picture."""
        match figure:
            case StrutFigure(name, i, j, _) | SlideFigure(i, j, name, _):
                yield Dot(name, self._frame(i).position)
                yield Dot(name, self._frame(j).position)
            case JointFigure(_, frame, _):
                yield Dot(frame, self._frame(frame).position)

    # --- signs ------------------------------------------------------------------------------------

    def _sign(self, figure: Figure) -> Iterator[Shape]:
        match figure:
            case StrutFigure(name, i, j, style):
                ends = self._ends(i, j)
                if style == "spring":
                    yield Link(name, self._zigzag(ends), _INK, 1.6, pins=False)
                elif style == "rod":
                    yield Link(name, ends, _INK, 2.6)
                else:
                    yield Link(name, ends, _INK, 1.6, pins=False, dashed=True)
            case SlideFigure():
                yield from self._slide(figure)
            case JointFigure(kind, name, support):
                frame = self._frame(name)
                if support:
                    yield Ground(_GROUND, frame.position[0])
                yield self._joint(kind, frame)

    def _joint(self, kind: str, frame: _Frame) -> Shape:
        if self._view in PLANES:
            return Dot("joints", frame.position, _INK, 9.0, hollow=kind == "revolute")
        if kind == "revolute":
            radius, length = (part * self._size for part in _HUB)
            hub, faces = _prism(radius, length)
            return Polyhedron("joints", frame.position, frame.rotation, hub, faces, _INK)
        return Sphere("joints", frame.position, _BALL * self._size, _INK)

    def _slide(self, figure: SlideFigure) -> Iterator[Shape]:
        guide, slider = self._frame(figure.i), self._frame(figure.j)
        if figure.guide:
            axis = guide.rotation[:, :, 2]
            way = ((slider.position - guide.position) * axis).sum(axis=1)
            low, high = float(np.nanmin(way)), float(np.nanmax(way))
            if figure.guide == _GROUND:
                room = 2 * _BLOCK[2] * self._size
                low, high = low - room, high + room
            else:
                low, high = min(low, 0.0), max(high, 0.0)
            ends = guide.position[:, None] + np.array([low, high])[:, None] * axis[:, None]
            color, width = (_GREY, 2.0) if figure.guide == _GROUND else ("", 4.0)
            yield Link(figure.guide, ends, color, width, pins=False)
        if figure.block:
            box = self._cube * np.array(_BLOCK) * self._size
            faces = _prism(1.0, 1.0, 4)[1]
            yield Polyhedron(figure.block, slider.position, slider.rotation, box, faces)

    @cached_property
    def _cube(self) -> Floats:
        """Corners of a cube from -1 to 1, in the order of those of a prism."""
        corners, _ = _prism(np.sqrt(2.0), 2.0, 4)
        c = np.cos(np.pi / 4)
        turn = np.array([[c, -c, 0.0], [c, c, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(corners @ turn.T)

    def _zigzag(self, ends: Floats) -> Floats:
        """A spring between two points (k, 2, 3), flat toward the eye."""
        d = ends[:, 1] - ends[:, 0]
        across = np.cross(d, view_matrix(self._view)[2])
        length = np.linalg.norm(across, axis=1, keepdims=True)
        across = np.divide(across, length, out=np.zeros_like(across), where=length > 0)
        s = np.concatenate([[0.0, 0.15], 0.15 + 0.7 * (np.arange(2 * _COUNT) + 0.5) / (2 * _COUNT)])
        s = np.append(s, [0.85, 1.0])
        side = np.zeros(len(s))
        width = min(_TEETH * self._size, 0.15 * float(np.linalg.norm(d, axis=1).mean()))
        side[2:-2] = width * (-1.0) ** np.arange(2 * _COUNT)
        points = ends[:, :1] + s[:, None] * d[:, None] + side[:, None] * across[:, None]
        return np.asarray(points)


def _prism(radius: float, length: float, sides: int = 12) -> tuple[Floats, list[list[int]]]:
    """A prism about z: its corners, and its faces seen from outside."""
    angle = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    half = np.full((sides, 1), length / 2)
    corners = np.concatenate([np.hstack([ring, -half]), np.hstack([ring, half])])
    walls = [[k, (k + 1) % sides, sides + (k + 1) % sides, sides + k] for k in range(sides)]
    caps = [list(range(sides - 1, -1, -1)), list(range(sides, 2 * sides))]
    return corners, [*walls, *caps]
