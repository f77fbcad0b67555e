"""Scenes on paper and film: frames drawn by matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.results.channels import Array
from biela.results.display import Disc, Line, Mesh, Path, items, view_matrix
from biela.results.interpolation import hermite, inside, slopes
from biela.results.scene import PLANES, Scene
from biela.results.style import INK, finish, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.animation import Animation

__all__ = ["Film", "still"]

_DPI = 100
_MARGIN = 0.07
#: Direction toward the light, in the coordinates of the picture.
_LIGHT = np.array([-0.35, 0.55, 0.76])
_CIRCLE = np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 33)), np.sin(a)], axis=1)


@dataclass(frozen=True, eq=False)
class _Piece:
    """One stroke of a frame: vertices (n, 2), fill and edge, and how near it is."""

    xy: Array
    face: tuple[float, float, float, float]
    edge: tuple[float, float, float, float]
    width: float
    depth: float


class Film:
    """A figure that shows one frame of a scene at a time; the frames are the scene's instants."""

    def __init__(
        self, name: str, times: Array, scene: Scene, whole: Scene, size: tuple[int, int]
    ) -> None:
        """Prepare the figure; `whole` is the scene whose bounds the picture holds."""
        from matplotlib.collections import PathCollection

        self._times, self._size = times, size
        self._view = whole.view
        self._V = view_matrix(self._view)
        self._items = items(Scene(scene.shapes, self._view))
        with styled():
            self.figure = new_figure(size[0] / _DPI, size[1] / _DPI, layout=None)
            self.figure.set_dpi(_DPI)
            flat = self._view in PLANES
            # room for ticks and labels, which do not shrink with the picture
            left, low = max(0.1, 94 / size[0]), max(0.1, 54 / size[1])
            frame = (left, low, 0.97 - left, 0.92 - low) if flat else (0.0, 0.0, 1.0, 0.93)
            self._axes = self.figure.add_axes(frame)
            self._set_limits(whole, frame)
            if flat:
                self._axes.grid(True, color="#ECECEC", linewidth=0.7)
                self._axes.set_axisbelow(True)
                self._axes.set_xlabel(f"{self._view[0]} [m]")
                self._axes.set_ylabel(f"{self._view[1]} [m]")
                self._axes.spines[["top", "right"]].set_visible(False)
            else:
                self._axes.set_axis_off()
                self._floor(whole)
            self.figure.text(0.02, 0.955, name, fontsize=11, va="center")
            self._clock = self.figure.text(0.98, 0.955, "", fontsize=10, ha="right", va="center")
            self._collection = PathCollection(
                [], capstyle="round", joinstyle="round", zorder=3, clip_on=False
            )
            self._axes.add_collection(self._collection, autolim=False)

    def freeze(self) -> None:
        """Make one image of all that does not move: drawing the axes takes most of a frame's time.

        The figure keeps its size in pixels from here on.
        """
        canvas: Any = self.figure.canvas
        canvas.draw()
        image = np.array(canvas.buffer_rgba())
        for artist in [*self._axes.get_children(), *self.figure.texts]:
            artist.set_visible(artist in (self._collection, self._clock))
        self._axes.set_axis_off()
        self.figure.figimage(image, zorder=-1)

    def draw(self, i: int) -> None:
        """Show frame i."""
        from matplotlib.path import Path as Outline

        pieces: list[_Piece] = []
        for item in self._items:
            match item:
                case Line():
                    pieces += self._line(item, i)
                case Disc():
                    pieces.append(self._disc(_frame(item.points, i), item))
                case Path():
                    pieces.append(self._path(item, i))
                case Mesh():
                    pieces += self._mesh(item, i)
        if self._view not in PLANES:
            pieces.sort(key=lambda piece: piece.depth)
        self._collection.set_paths([Outline(piece.xy) for piece in pieces])
        self._collection.set_facecolor([piece.face for piece in pieces])
        self._collection.set_edgecolor([piece.edge for piece in pieces])
        self._collection.set_linewidth([piece.width for piece in pieces])
        self._clock.set_text(f"t = {self._times[i]:.2f} s")

    # --- primitives -------------------------------------------------------------------------------

    def _line(self, item: Line, i: int) -> list[_Piece]:
        points = _frame(item.points, i) @ self._V.T
        edge = _rgb(item.color)
        pieces = [
            _Piece(
                points[j : j + 2, :2], _NONE, edge, item.width, float(points[j : j + 2, 2].mean())
            )
            for j in range(len(points) - 1)
        ]
        if item.pins:
            radius = 0.62 * item.width * self._per_point
            for point in points:
                outline = point[:2] + radius * _CIRCLE
                # a pin is on top of the links it joins
                depth = float(point[2]) + 1e-3 * self._depth
                pieces.append(_Piece(outline, (1.0, 1.0, 1.0, 1.0), edge, 0.3 * item.width, depth))
        return pieces

    def _disc(self, point: Array, item: Disc) -> _Piece:
        place = self._V @ point
        radius = item.radius or item.size / 2 * self._per_point
        outline = place[:2] + radius * _CIRCLE
        edge = _shaded(item.color, 0.6) if item.radius else (1.0, 1.0, 1.0, 1.0)
        depth = float(place[2]) + (item.radius or 2e-3 * self._depth)
        return _Piece(outline, _rgb(item.color), edge, 0.8, depth)

    def _path(self, item: Path, i: int) -> _Piece:
        first = 0
        if item.tail is not None:
            first = int(np.searchsorted(self._times, self._times[i] - item.tail))
        points = item.points[first : i + 1] if len(item.points) > 1 else item.points
        return _Piece(
            _curve((points @ self._V.T)[:, :2]), _NONE, _rgb(item.color), item.width, -np.inf
        )

    def _mesh(self, item: Mesh, i: int) -> list[_Piece]:
        R = self._V @ _frame(item.rotation, i)
        vertices = item.vertices @ R.T + self._V @ _frame(item.position, i)
        pieces = []
        for face in item.faces:
            corners = vertices[face]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
            length = np.linalg.norm(normal)
            if length > 0 and normal[2] > 1e-9 * length:  # the others look away
                light = 0.62 + 0.38 * max(0.0, float(normal @ _LIGHT / length))
                outline = np.concatenate([corners[:, :2], corners[:1, :2]])
                fill = _shaded(item.color, light)
                depth = float(corners[:, 2].mean())
                edge = fill if item.smooth else _shaded(item.color, 0.5)
                pieces.append(_Piece(outline, fill, edge, 0.5, depth))
        return pieces

    # --- surroundings -----------------------------------------------------------------------------

    def _set_limits(self, whole: Scene, frame: tuple[float, float, float, float]) -> None:
        """Equal scales with everything inside, and how large a point of 1/72 inch is in metres."""
        low, high = whole.bounds
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                            for z in (low[2], high[2])])  # fmt: skip
        seen = corners @ self._V.T
        center = (seen.min(axis=0) + seen.max(axis=0)) / 2
        spread = np.maximum(np.ptp(seen, axis=0)[:2], 0.05 * whole.extent) * (1 + 2 * _MARGIN)
        pixels = np.array([frame[2] * self._size[0], frame[3] * self._size[1]])
        scale = float((spread / pixels).max())
        half = pixels * scale / 2
        self._axes.set_xlim(center[0] - half[0], center[0] + half[0])
        self._axes.set_ylim(center[1] - half[1], center[1] + half[1])
        self._per_point = scale * _DPI / 72
        self._depth = whole.extent

    def _floor(self, whole: Scene) -> None:
        """A grid on the lowest level and the three axes beside it, as there are no ticks."""
        from matplotlib.collections import LineCollection

        low, high = whole.bounds
        step = nice_step(float((high - low)[:2].max()) or whole.extent)
        x = np.arange(np.floor(low[0] / step), np.ceil(high[0] / step) + 1) * step
        y = np.arange(np.floor(low[1] / step), np.ceil(high[1] / step) + 1) * step
        lines = [[[a, y[0], low[2]], [a, y[-1], low[2]]] for a in x]
        lines += [[[x[0], b, low[2]], [x[-1], b, low[2]]] for b in y]
        seen = np.array(lines) @ self._V.T
        grid = LineCollection(list(seen[:, :, :2]), colors="#DDDDDD", linewidths=0.7, zorder=1)
        self._axes.add_collection(grid, autolim=False)
        self.figure.text(0.98, 0.02, f"grid {step:g} m", fontsize=9, ha="right", color="#777777")
        self._triad()

    def _triad(self) -> None:
        (left, right), (bottom, _) = self._axes.get_xlim(), self._axes.get_ylim()
        size = 0.06 * (right - left)
        origin = np.array([left + 1.5 * size, bottom + 1.3 * size])
        for axis, name in enumerate("xyz"):
            arm = size * self._V[:2, axis]
            self._axes.plot(*np.transpose([origin, origin + arm]), color=INK, linewidth=1.2)
            place = origin + 1.28 * arm
            self._axes.text(place[0], place[1], name, fontsize=9, ha="center", va="center")


def still(animation: Animation, time: float, save: str | FilePath | None = None) -> Figure:
    """The scene at one time, with the paths up to there.

    Raises:
        ResultsError: the time lies outside the stored interval, or the file cannot be written.
    """
    now = inside(animation.t, np.array([time], dtype=float))
    times = np.append(animation.t[animation.t < now], now)
    whole = animation.scene
    moved = whole.at(animation.t, times) if whole.count > 1 else whole
    film = Film(animation.name, times, moved, whole, animation.size)
    film.draw(len(times) - 1)
    return finish(film.figure, save)


def nice_step(length: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides a length into some six parts."""
    raw = length / 6
    power = 10.0 ** np.floor(np.log10(raw))
    return float(power * next(m for m in (1, 2, 5, 10) if m >= raw / power * 0.999))


_NONE = (0.0, 0.0, 0.0, 0.0)


def _curve(points: Array) -> Array:
    """More points on a smooth curve through points (n, 2): frames may be far apart."""
    count = len(points)
    if count < 3:
        return points
    t = np.arange(count, dtype=float)
    return hermite(t, points, slopes(t, points), np.linspace(0, count - 1, 4 * count - 3))


def _frame(array: Array, i: int) -> Array:
    result: Array = array[i if len(array) > 1 else 0]
    return result


def _rgb(color: str, alpha: float = 1.0) -> tuple[float, float, float, float]:
    red, green, blue = (int(color[j : j + 2], 16) / 255 for j in (1, 3, 5))
    return (red, green, blue, alpha)


def _shaded(color: str, light: float) -> tuple[float, float, float, float]:
    red, green, blue, alpha = _rgb(color)
    return (red * light, green * light, blue * light, alpha)
