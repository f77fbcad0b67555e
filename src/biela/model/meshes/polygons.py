"""Simple polygons in a plane: their moments, and their cutting into triangles."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.budgets import CORNERS, within
from biela.errors import ModelError

__all__ = ["area_moments", "as_polygon", "cutting_steps", "triangulated"]

Floats = npt.NDArray[np.float64]

#: Corners that are looked at one by one sooner than all at once.
_FEW = 50


def as_polygon(points: ArrayLike) -> Floats:
    """The corners (n, 2) of a simple polygon, counter-clockwise.

    Raises:
        ModelError: There are fewer than three or more than the limit, two are equal, or edges
            cross.
    """
    try:
        corners = np.array(points, dtype=float)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
        raise ModelError(f"a polygon is at least three points of a plane, not {points!r}")
    if not np.isfinite(corners).all():
        raise ModelError("the corners of a polygon must be finite numbers")
    # each edge is compared with each
    within(CORNERS, len(corners), "the outline of a polygon has {} corners", "use fewer")
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


def triangulated(corners: ArrayLike) -> list[tuple[int, int, int]]:
    """Triangles of corners (n, 2), counter-clockwise, of a counter-clockwise simple polygon.

    Ears are cut one after the other: a convex corner whose triangle holds no other corner; there
    always are two (Meisters, *Am. Math. Monthly* 82, 1975).  Only hollow corners need be looked for
    in a triangle, and only the neighbours of an ear become ears by its cut: see `cutting_steps`.
    """
    points = np.asarray(corners, dtype=float)
    n = len(points)
    x, y = (points - points[0]).T.tolist()
    before, after = [n - 1, *range(n - 1)], [*range(1, n), 0]

    def turn(j: int) -> float:
        i, k = before[j], after[j]
        return float((x[j] - x[i]) * (y[k] - y[j]) - (y[j] - y[i]) * (x[k] - x[j]))

    turns = [turn(j) for j in range(n)]
    hollow = {j for j in range(n) if turns[j] <= 0}
    # the places of hollow corners; others are nowhere
    places = np.where([turn <= 0 for turn in turns], [x, y], np.nan)

    def is_ear(j: int) -> bool:
        if turns[j] <= 0:
            return False
        around = before[j], j, after[j]
        sides = []
        for a, b in zip(around, (j, *around[::-2]), strict=True):
            u, v = y[a] - y[b], x[b] - x[a]  # normal to the side, inward
            sides.append((u, v, u * x[a] + v * y[a]))
        if len(hollow) < _FEW:
            (a, b, c), (d, e, f), (g, h, i) = sides
            return not any(
                a * x[k] + b * y[k] >= c
                and d * x[k] + e * y[k] >= f
                and g * x[k] + h * y[k] >= i
                and k not in around
                for k in hollow
            )
        normals = np.array(sides)
        inside = np.logical_and.reduce(normals[:, :2] @ places >= normals[:, 2:])
        inside[list(around)] = False
        return not inside.any()

    found: list[tuple[int, int, int]] = []
    rest = set(range(n))
    waiting = list(range(n - 1, -1, -1))
    flattest: list[tuple[float, int]] = []
    while len(rest) > 3:
        if waiting:
            j = waiting.pop()
            if j not in rest or not is_ear(j):
                continue
        else:  # rounding leaves no ear: the corner of least turn is cut
            if not flattest:
                flattest = sorted((abs(turns[k]), k) for k in rest)
            least, j = heappop(flattest)
            if j not in rest or least != abs(turns[j]):
                continue
        i, k = before[j], after[j]
        found.append((i, j, k))
        rest.remove(j)
        hollow.discard(j)
        places[:, j] = np.nan
        after[i], before[k] = k, i
        for beside in (i, k):
            turns[beside] = turn(beside)
            if turns[beside] > 0 and beside in hollow:
                hollow.remove(beside)
                places[:, beside] = np.nan
            waiting.append(beside)
            if flattest:
                heappush(flattest, (abs(turns[beside]), beside))
    last = min(rest)
    return [*found, (last, after[last], after[after[last]])]


def cutting_steps(corners: Floats) -> int:
    """About how many comparisons `triangulated` needs: corners times hollow corners."""
    a = corners - np.roll(corners, 1, axis=0)
    b = np.roll(a, -1, axis=0)
    return len(corners) * int(np.count_nonzero(a[:, 0] * b[:, 1] <= a[:, 1] * b[:, 0]))


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
