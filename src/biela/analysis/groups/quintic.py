"""The polynomial of fifth degree that has values, rates and second rates of two instants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["quintic"]

Floats = npt.NDArray[np.float64]


def quintic(
    first: Sequence[Floats], last: Sequence[Floats], length: float | Floats, t: float | Floats
) -> tuple[Floats, Floats, Floats]:
    """Value, rate and second rate at a time after the first instant; between them, or beyond.

    Args:
        first: Value, rate and second rate at the first instant, arrays of one shape.
        last: The same at the last one.
        length: Time between them; below zero where time runs backwards.  One, or an array.
        t: Time since the first, likewise.
    """
    s = t / length
    c0, c1, c2 = first[0], first[1] * length, first[2] * length**2 / 2
    p = last[0] - c0 - c1 - c2
    v = last[1] * length - c1 - 2 * c2
    a = last[2] * length**2 - 2 * c2
    c3, c4, c5 = 10 * p - 4 * v + a / 2, -15 * p + 7 * v - a, 6 * p - 3 * v + a / 2
    value = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    rate = (c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / length
    second = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / length**2
    return value, rate, second
