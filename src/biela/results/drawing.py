"""Scenes on paper and film: frames drawn by matplotlib."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from biela.results.channels import Array
from biela.results.display import items, legend, view_matrix
from biela.results.interpolation import inside
from biela.results.scene import PLANES, Scene
from biela.results.strokes import Pen, Stroke
from biela.results.style import INK, finish, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biela.results.animation import Animation

__all__ = ["Film", "still"]

_DPI = 100
_MARGIN = 0.07
_DASHES = (0.0, (3.0, 2.5))


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
            row = self._legend(whole)
            top = 0.93 - (21 / size[1] if row else 0.0)
            frame = (left, low, 0.97 - left, top - 0.01 - low) if flat else (0.0, 0.0, 1.0, top)
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

    def strokes(self, i: int) -> list[Stroke]:
        """What is drawn in frame i, in this order."""
        strokes = [stroke for item in self._items for stroke in self._pen.strokes(item, i)]
        if self._view not in PLANES:
            strokes.sort(key=lambda stroke: stroke.depth)
        return strokes

    def clock(self, i: int) -> str:
        """The time of frame i."""
        return f"t = {self._times[i]:.2f} s"

    def draw(self, i: int) -> None:
        """Show frame i."""
        from matplotlib.path import Path as Outline

        strokes = self.strokes(i)
        self._collection.set_paths([Outline(stroke.xy) for stroke in strokes])
        self._collection.set_facecolor([stroke.face for stroke in strokes])
        self._collection.set_edgecolor([stroke.edge for stroke in strokes])
        self._collection.set_linewidth([stroke.width for stroke in strokes])
        dashes = [_DASHES if stroke.dashed else "solid" for stroke in strokes]
        self._collection.set_linestyle(dashes)  # type: ignore[arg-type]
        self._clock.set_text(self.clock(i))

    # --- surroundings -----------------------------------------------------------------------------

    def _set_limits(self, whole: Scene, frame: tuple[float, float, float, float]) -> None:
        """Equal scales with everything inside, and how large a point of 1/72 inch is in metres."""
        low, high = whole.bounds_along(self._V)
        center = (low + high) / 2
        spread = np.maximum((high - low)[:2], 0.05 * whole.extent) * (1 + 2 * _MARGIN)
        pixels = np.array([frame[2] * self._size[0], frame[3] * self._size[1]])
        scale = float((spread / pixels).max())
        half = pixels * scale / 2
        self._axes.set_xlim(center[0] - half[0], center[0] + half[0])
        self._axes.set_ylim(center[1] - half[1], center[1] + half[1])
        self._pen = Pen(self._V, self._times, scale * _DPI / 72, whole.extent)

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

    def _legend(self, whole: Scene) -> bool:
        """The names of bodies and paths in their colours, in a row under the title.

        There is none for a single body, nor if the row does not fit; returns whether there is.
        """
        row = legend(whole)
        # a letter of this size is about 5.5 pixels wide
        widths = [len(name) * 5.5 + 26 for name in row]
        if len(row) < 2 or sum(widths) > 0.96 * self._size[0]:
            return False
        x, y = 0.02 * self._size[0], 0.955 - 21 / self._size[1]
        for (name, color), width in zip(row.items(), widths, strict=True):
            self.figure.text(x / self._size[0], y, "■", fontsize=9, color=color, va="center")
            self.figure.text((x + 13) / self._size[0], y, name, fontsize=8, va="center")
            x += width
        return True

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
