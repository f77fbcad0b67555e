"""Simple polygons in a plane: their moments, and their cutting into triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.errors import ModelError

__all__ = ["area_moments", "as_polygon", "triangulated"]

Floats = npt.NDArray[np.float64]


def as_polygon(points: ArrayLike) -> Floats:
    """The corners (n, 2) of a simple polygon, counter-clockwise.

    Raises:
        ModelError: There are fewer than three, two are equal, or edges cross.
    """
    try:
        corners = np.array(points, dtype=float)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
        raise ModelError(f"a polygon is at least three points of a plane, not {points!r}")
    if not np.isfinite(corners).all():
        raise ModelError("the corners of a polygon must be finite numbers")
    crossing = _crossing(corners)
    if crossing is not None:
        i, j = crossing
        raise ModelError(
            f"the outline of a polygon must not touch or cross itself, but its edges {i + 1} "
            f"(from {corners[i].tolist()}) and {j + 1} (from {corners[j].tolist()}) do"
        )
    return corners if area_moments(corners)[0] > 0 else corners[::-1].copy()


def area_moments(corners: Floats) -> tuple[Any, Floats, Floats]:
    """The area A, the centroid (2,), and ∫ r rᵀ dA (2, 2) about the centroid.

    By Green's theorem a sum over the triangles of each edge (a, b) and a fixed point, of area
    w = (a x b)/2: ∫ r dA = w (a + b)/3 and ∫ r rᵀ dA = w (a aᵀ + b bᵀ + (a + b)(a + b)ᵀ)/12.
    A clockwise polygon has a negative area.  Corners may be atoms, in an array of objects.
    """
    origin = corners.mean(axis=0)  # near by, so that the sum does not cancel
    a = corners - origin
    b = np.roll(a, -1, axis=0)
    w = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2
    area = w.sum()
    if corners.dtype != object and not area:
        return 0.0, origin, np.zeros((2, 2))
    s = a + b
    first = w @ s / 3 / area
    second = sum(np.einsum("i,ij,ik->jk", w, x, x) for x in (a, b, s)) / 12
    area = area if corners.dtype == object else float(area)
    return area, origin + first, np.asarray(second - area * np.outer(first, first))


def triangulated(corners: Floats) -> list[tuple[int, int, int]]:
    """Triangles of corners, counter-clockwise, of a counter-clockwise simple polygon.

    Ears are cut one after the other: a convex corner whose triangle holds no other corner; there
    always are two (Meisters, *Am. Math. Monthly* 82, 1975).
    """
    rest = list(range(len(corners)))
    found: list[tuple[int, int, int]] = []
    while len(rest) > 3:
        k = _ear(corners, rest)
        n = len(rest)
        found.append((rest[k - 1], rest[k], rest[(k + 1) % n]))
        del rest[k]
    return [*found, (rest[0], rest[1], rest[2])]


def _ear(corners: Floats, rest: list[int]) -> int:
    """The place in `rest` of an ear; the corner of least turn where rounding leaves none."""
    n = len(rest)
    turns = []
    for k in range(n):
        i, j, m = rest[k - 1], rest[k], rest[(k + 1) % n]
        a, b, c = corners[i], corners[j], corners[m]
        turn = _cross(b - a, c - b)
        turns.append(abs(turn))
        if turn <= 0:
            continue
        others = corners[[r for r in rest if r not in (i, j, m)]]
        inside = np.ones(len(others), dtype=bool)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= (q[0] - p[0]) * (others[:, 1] - p[1]) >= (q[1] - p[1]) * (others[:, 0] - p[0])
        if not inside.any():
            return k
    return int(np.argmin(turns))


def _cross(u: Floats, v: Floats) -> float:
    return float(u[0] * v[1] - u[1] * v[0])


def _crossing(corners: Floats) -> tuple[int, int] | None:
    """Two edges that touch where they should not; None if there are none."""
    n = len(corners)
    a, b = corners, np.roll(corners, -1, axis=0)
    for i in range(n):
        if (a[i] == b[i]).all():
            return i, (i + 1) % n
        j = np.arange(i + 1, n)
        next_ones = (j == i + 1) | ((i == 0) & (j == n - 1))
        d = b[i] - a[i]
        side_a = d[0] * (a[j, 1] - a[i, 1]) - d[1] * (a[j, 0] - a[i, 0])
        side_b = d[0] * (b[j, 1] - a[i, 1]) - d[1] * (b[j, 0] - a[i, 0])
        e = b[j] - a[j]
        own_a = e[:, 0] * (a[i, 1] - a[j, 1]) - e[:, 1] * (a[i, 0] - a[j, 0])
        own_b = e[:, 0] * (b[i, 1] - a[j, 1]) - e[:, 1] * (b[i, 0] - a[j, 0])
        apart = (side_a * side_b > 0) | (own_a * own_b > 0)
        # on one line: apart if their shadows on it are
        flat = (side_a == 0) & (side_b == 0)
        low, high = np.minimum(a, b), np.maximum(a, b)
        apart |= flat & ((high[j] < low[i]) | (low[j] > high[i])).any(axis=1)
        # neighbours share a corner, and may do no more: folding back on each other
        back = flat & (d[0] * e[:, 0] + d[1] * e[:, 1] < 0)
        wrong = np.where(next_ones, back, ~apart)
        if wrong.any():
            return i, int(j[np.argmax(wrong)])
    return None
