"""The strokes of a picture: what lines, discs, paths and meshes look like at an instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from biela.results.channels import Array
from biela.results.display import Disc, Item, Line, Mesh, Path
from biela.results.interpolation import hermite, slopes

__all__ = ["Color", "Pen", "Stroke"]

Color: TypeAlias = tuple[float, float, float, float]

#: Direction toward the light, in the coordinates of the picture.
_LIGHT = np.array([-0.35, 0.55, 0.76])
_CIRCLE = np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 33)), np.sin(a)], axis=1)
_NONE: Color = (0.0, 0.0, 0.0, 0.0)
_WHITE: Color = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Stroke:
    """Vertices (n, 2), fill and edge, and how near it is; `width` in points of 1/72 inch."""

    xy: Array
    face: Color
    edge: Color
    width: float
    depth: float
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Pen:
    """Makes strokes.

    Attributes:
        V: rows across, up and toward the eye.
        times: of the frames.
        per_point: metres of a point of 1/72 inch.
        extent: size of the scene.
    """

    V: Array
    times: Array
    per_point: float
    extent: float

    def strokes(self, item: Item, i: int) -> list[Stroke]:
        """What an item looks like in frame i, the far strokes first."""
        match item:
            case Line():
                return list(self._line(item, i))
            case Disc():
                return [self._disc(_frame(item.points, i), item)]
            case Path():
                return [self._path(item, i)]
            case Mesh():
                return self._mesh(item, i)

    def _line(self, item: Line, i: int) -> Iterator[Stroke]:
        points = _frame(item.points, i) @ self.V.T
        edge = _rgb(item.color)
        if item.closed:
            points = np.concatenate([points, points[:1]])
            depth = float(points[:-1, 2].mean()) - 1e-3 * self.extent
            yield Stroke(points[:, :2], _rgb(item.color, 0.25), _NONE, 0.0, depth)
        for j in range(len(points) - 1):
            pair = points[j : j + 2]
            depth = float(pair[:, 2].mean())
            yield Stroke(pair[:, :2], _NONE, edge, item.width, depth, item.dashed)
        if item.pins:
            radius = 0.62 * item.width * self.per_point
            for point in points:
                outline = point[:2] + radius * _CIRCLE
                # a pin is on top of the links it joins
                depth = float(point[2]) + 1e-3 * self.extent
                yield Stroke(outline, _WHITE, edge, 0.3 * item.width, depth)

    def _disc(self, point: Array, item: Disc) -> Stroke:
        place = self.V @ point
        radius = item.radius or item.size / 2 * self.per_point
        outline = place[:2] + radius * _CIRCLE
        depth = float(place[2]) + (item.radius or 2e-3 * self.extent)
        if item.hollow:
            return Stroke(outline, _WHITE, _rgb(item.color), 0.22 * item.size, depth)
        edge = _shaded(item.color, 0.6) if item.radius else _WHITE
        return Stroke(outline, _rgb(item.color), edge, 0.8, depth)

    def _path(self, item: Path, i: int) -> Stroke:
        first = 0
        if item.tail is not None:
            first = int(np.searchsorted(self.times, self.times[i] - item.tail))
        points = item.points[first : i + 1] if len(item.points) > 1 else item.points
        way = _curve((points @ self.V.T)[:, :2])
        return Stroke(way, _NONE, _rgb(item.color), item.width, -np.inf)

    def _mesh(self, item: Mesh, i: int) -> list[Stroke]:
        """The faces that look toward the eye, and the edges and contours of the body."""
        R, place = self.V @ _frame(item.rotation, i), self.V @ _frame(item.position, i)
        faces = item.faces
        xy = item.vertices @ R[:2].T + place[:2]
        normals = faces.normals @ R.T
        depths = faces.centers @ R[2] + place[2]
        seen = normals[:, 2] > 1e-9
        light = 0.62 + 0.38 * np.maximum(0.0, normals[seen] @ _LIGHT)
        outlines = xy[np.column_stack([faces.corners, faces.corners[:, :1]])[seen]]
        fills = np.outer(light, _rgb(item.color))
        fills[:, 3] = 1.0
        found = []
        for xyk, rgba, depth in zip(outlines, fills.tolist(), depths[seen].tolist(), strict=True):
            fill: Color = tuple(rgba)
            found.append(Stroke(xyk, fill, fill, 0.5, depth))
        first, second = seen[faces.sides[:, 0]], seen[faces.sides[:, 1]]
        drawn = (faces.sharp & (first | second)) | (first != second)
        # an edge lies on the nearer of those faces beside it that are drawn
        near = np.where(first, depths[faces.sides[:, 0]], -np.inf)
        near = np.maximum(near, np.where(second, depths[faces.sides[:, 1]], -np.inf))
        ink = _shaded(item.color, 0.45)
        above = (near[drawn] + 1e-6 * self.extent).tolist()
        for pair, depth in zip(xy[faces.edges[drawn]], above, strict=True):
            found.append(Stroke(pair, _NONE, ink, 0.7, depth))
        return sorted(found, key=lambda stroke: stroke.depth)


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


def _rgb(color: str, alpha: float = 1.0) -> Color:
    red, green, blue = (int(color[j : j + 2], 16) / 255 for j in (1, 3, 5))
    return (red, green, blue, alpha)


def _shaded(color: str, light: float) -> Color:
    red, green, blue, alpha = _rgb(color)
    return (red * light, green * light, blue * light, alpha)
