"""Values between the stored instants.

An instant may be stored twice, before and after a jump (an impact). The two ends of such an
interval of no length are the limits from the left and from the right; at the instant itself the
later one counts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array

__all__ = ["hermite", "inside", "linear", "nearest_rotations", "rotations", "rounding", "slopes"]

#: Times that mean the same may differ by this part of the stored interval.
_ROUNDING = 1e-9


def rounding(t: Array) -> float:
    """By how much two times that mean the same may differ."""
    return _ROUNDING * float(t[-1] - t[0])


def inside(t: Array, times: Array) -> Array:
    """The times, moved onto the ends of the stored interval where rounding put them outside.

    Raises:
        ResultsError: a time lies outside the stored interval, or is not a number.
    """
    slack = rounding(t)
    # written so that a nan is outside
    outside = ~((times >= t[0] - slack) & (times <= t[-1] + slack))
    if outside.any():
        raise ResultsError(
            f"time {times[outside][0]:g} s is outside the stored interval "
            f"from {t[0]:g} s to {t[-1]:g} s, and nothing is extrapolated"
        )
    return np.clip(times, t[0], t[-1])


def _interval(t: Array, times: Array) -> tuple[np.ndarray, np.ndarray, Array, Array]:
    """Ends i, j of the interval of each time, its length h, and the place s in it, 0 to 1."""
    i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(len(t) - 2, 0))
    j = np.minimum(i + 1, len(t) - 1)
    h = t[j] - t[i]
    s = np.where(h > 0, (times - t[i]) / np.where(h > 0, h, 1.0), 1.0)
    return i, j, h, s


def _column(values: Array, like: Array) -> Array:
    """Values (m,) with axes of length one added, to multiply an array (m, …)."""
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def linear(t: Array, y: Array, times: Array) -> Array:
    """Straight lines between the values y (k, …) at t (k,), taken at `times` (m,)."""
    i, j, _, s = _interval(t, times)
    s = _column(s, y)
    result: Array = (1 - s) * y[i] + s * y[j]
    return result


def hermite(t: Array, y: Array, rate: Array, times: Array) -> Array:
    """The cubics with values y and slopes `rate` (k, …) at the ends of each interval.

    With s = (x - tᵢ)/h the error is at most h⁴ max|y⁗|/384 (de Boor 1978, A Practical Guide to
    Splines, ch. IV):

        y = (1+2s)(1-s)² yᵢ + s(1-s)² h ẏᵢ + s²(3-2s) yⱼ - s²(1-s) h ẏⱼ
    """
    i, j, h, s = _interval(t, times)
    s, h = _column(s, y), _column(h, y)
    r = 1 - s
    result: Array = (
        (1 + 2 * s) * r**2 * y[i]
        + s * r**2 * h * rate[i]
        + s**2 * (3 - 2 * s) * y[j]
        - s**2 * r * h * rate[j]
    )
    return result


def slopes(t: Array, y: Array) -> Array:
    """Rates of y (k, …) by the parabola through three neighbours, never across a jump."""
    rate = np.zeros_like(y)
    cuts = [0, *(np.flatnonzero(np.diff(t) == 0) + 1), len(t)]
    for first, last in pairwise(cuts):
        if last - first > 1:
            piece = slice(first, last)
            rate[piece] = np.gradient(
                y[piece], t[piece], axis=0, edge_order=2 if last - first > 2 else 1
            )
    return rate


def rotations(t: Array, R: Array, times: Array) -> Array:
    """Rotation matrices between those stored, R (k, 3, 3).

    The entries are interpolated as numbers and the nearest rotation is taken, R = U Vᵀ of the
    singular value decomposition; good to a turn of less than half a revolution a step.
    """
    return nearest_rotations(hermite(t, R, slopes(t, R), times))


def nearest_rotations(matrices: Array) -> Array:
    """The rotations nearest to matrices (m, 3, 3) that are nearly such."""
    U, _, Vt = np.linalg.svd(matrices)
    result: Array = U @ Vt
    return result
