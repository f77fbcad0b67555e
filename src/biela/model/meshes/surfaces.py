"""Closed triangle meshes of simple solids, for drawing and for exchange."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from biela.model.meshes.mesh import Floats, Mesh
from biela.model.meshes.polygons import triangulated

__all__ = ["ball_profile", "extruded", "revolved"]


def revolved(profile: Sequence[tuple[float, float]] | Floats, sides: int) -> Mesh:
    """The solid swept by a profile (radius, height) that turns about z, as a prism of many sides.

    The profile goes upward on the outside. It begins and ends on the axis (radius 0), or it is a
    ring whose last point is joined to the first.
    """
    points = np.asarray(profile, dtype=float)
    ring = points[0, 0] > 0
    angle = np.arange(sides) * 2 * np.pi / sides
    rows: list[Floats] = []
    numbers: list[list[int]] = []
    start = 0
    for radius, height in points:
        count = sides if radius > 0 else 1
        x = radius * np.cos(angle[:count])
        y = radius * np.sin(angle[:count])
        rows.append(np.column_stack([x, y, np.full(count, height)]))
        # a point of the axis stands for all corners of its circle
        numbers.append([start + k % count for k in range(sides)])
        start += count
    if ring:
        numbers.append(numbers[0])
    triangles = []
    for below, above in pairwise(numbers):
        for k in range(sides):
            n = (k + 1) % sides
            a, b, c, d = below[k], below[n], above[n], above[k]
            triangles += [t for t in ((a, b, c), (a, c, d)) if len(set(t)) == 3]
    return Mesh(np.concatenate(rows), np.array(triangles))


def extruded(corners: Floats, thickness: float) -> Mesh:
    """A plate with a counter-clockwise outline (n, 2), half of its thickness on either side."""
    n = len(corners)
    half = np.full((n, 1), thickness / 2)
    vertices = np.concatenate([np.hstack([corners, -half]), np.hstack([corners, half])])
    top = np.array(triangulated(corners)) + n
    bottom = top[:, ::-1] - n
    i = np.arange(n)
    j = (i + 1) % n
    sides = np.concatenate([np.stack([i, j, n + j], axis=1), np.stack([i, n + j, n + i], axis=1)])
    return Mesh(vertices, np.concatenate([bottom, sides, top]))


def ball_profile(radius: float, sides: int, gap: float = 0.0) -> list[tuple[float, float]]:
    """Half a circle from pole to pole, its halves drawn apart by a gap (a capsule)."""
    steps = max(sides // 4, 2)
    rise = [np.pi / 2 * k / steps for k in range(steps + 1)]
    upper = [(radius * np.cos(a), gap / 2 + radius * np.sin(a)) for a in rise[:-1]]
    lower = [(r, -z) for r, z in reversed(upper)]
    between = upper if gap else upper[1:]
    pole = gap / 2 + radius
    return [(0.0, -pole), *lower, *between, (0.0, pole)]
