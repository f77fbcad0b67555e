"""The frames of films: strokes painted on an image of what does not move.

Some hundred frames of some thousand strokes are many for a drawing program: they are painted with
Pillow at twice the size and scaled down, which smooths them.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from biela.results.channels import Array
from biela.results.strokes import Color, Stroke

if TYPE_CHECKING:
    from PIL.Image import Image

    from biela.results.drawing import Film

__all__ = ["Raster"]

Point: TypeAlias = tuple[float, float]

#: Pixels painted across for each one that is shown.
_FINE = 2
#: Lengths of a dash and of the gap after it, in widths of the line.
_DASH = (3.0, 2.5)


class Raster:
    """Paints the frames of a film."""

    def __init__(self, film: Film) -> None:
        """Take the image of all that does not move."""
        from PIL import Image

        canvas: Any = film.figure.canvas
        canvas.draw()
        self._film = film
        still = Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB")
        self._size = still.size
        large = (_FINE * still.width, _FINE * still.height)
        self._still = still.resize(large, Image.Resampling.NEAREST)
        # metres to pixels, down from the top
        place: Any = film.figure.axes[0].transData.transform
        (x0, y0), (x1, y1) = place([(0.0, 0.0), (1.0, 1.0)])
        self._scale = _FINE * np.array([x1 - x0, y0 - y1])
        self._origin = _FINE * np.array([x0, still.height - y0])
        self._per_point = _FINE * film.figure.dpi / 72

    def frame(self, i: int) -> Image:
        """The image of frame i."""
        from PIL import ImageDraw

        image = self._still.copy()
        self._brush = ImageDraw.Draw(image, "RGBA")
        strokes = self._film.strokes(i)
        # all at once: there are thousands
        places = np.concatenate([stroke.xy for stroke in strokes]) * self._scale + self._origin
        points = [(x, y) for x, y in places.tolist()]
        last = 0
        for stroke in strokes:
            first, last = last, last + len(stroke.xy)
            self._paint(stroke, points[first:last])
        shown = image.reduce(_FINE)
        width, height = self._size
        ImageDraw.Draw(shown).text(
            (0.98 * width, 0.045 * height), self._film.clock(i), "#222222", self._font, anchor="rm"
        )
        return shown

    @cached_property
    def _font(self) -> Any:
        from matplotlib.font_manager import findfont
        from PIL import ImageFont

        return ImageFont.truetype(findfont("DejaVu Sans"), round(10 * self._film.figure.dpi / 72))

    def _paint(self, stroke: Stroke, outline: list[Point]) -> None:
        if not isfinite(sum(x + y for x, y in outline)):
            return
        if stroke.face[3] and len(outline) > 2:
            self._brush.polygon(outline, _bytes(stroke.face))
        if not stroke.edge[3] or stroke.edge == stroke.face:
            return
        ink, width = _bytes(stroke.edge), stroke.width * self._per_point
        if len(outline) == 1:
            self._dot(outline[0], width, ink)
        elif stroke.dashed:
            for piece in _dashes(np.array(outline), width):
                self._brush.line(piece, ink, round(width))
        else:
            self._brush.line(outline, ink, max(1, round(width)), "curve" * (len(outline) > 2))
            if width > 2.5:
                self._dot(outline[0], width, ink)
                self._dot(outline[-1], width, ink)

    def _dot(self, place: Point, width: float, ink: tuple[int, ...]) -> None:
        (x, y), r = place, width / 2
        self._brush.ellipse((x - r, y - r, x + r, y + r), ink)


@lru_cache(maxsize=4096)
def _bytes(color: Color) -> tuple[int, int, int, int]:
    red, green, blue, alpha = (round(255 * part) for part in color)
    return red, green, blue, alpha


def _dashes(points: Array, width: float) -> list[list[Point]]:
    """The pieces of a straight line (2, 2) that are drawn."""
    start, way = points[0], points[1] - points[0]
    length = float(np.linalg.norm(way)) or 1.0
    on, off = (part * max(width, 2.0) for part in _DASH)
    firsts = np.arange(0.0, length, on + off)
    return [
        [tuple((start + way * s / length).tolist()) for s in (first, min(first + on, length))]
        for first in firsts
    ]
