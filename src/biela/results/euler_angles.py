"""The three angles of an orientation: Euler's and Tait and Bryan's, about body or fixed axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array
from biela.results.orientation import AXES, euler_parameters, from_axis_angle, product

__all__ = ["euler_angles", "from_euler_angles", "yaw_pitch_roll"]

#: Nearer to gimbal lock than this only the sum or the difference of two angles is known.
_LOCK = 1e-7


def euler_angles(orientation: ArrayLike, sequence: str = "zyx", axes: str = "body") -> Array:
    """The three angles of a sequence of turns, (3,) or (n, 3), in radians.

    From half-angle sums and differences, without a case for each sequence and without arc sines
    (Bernardes & Viollet 2022, PLoS ONE 17(11)). The first and third angle lie between -π and π; the
    second between -π/2 and π/2 if all axes differ, else between 0 and π. In gimbal lock, where only
    the sum or the difference of the first and the third is known, the third keeps the last value
    that was known, or zero.

    Args:
        orientation: matrices or Euler parameters.
        sequence: three axes, no two neighbours alike: "zyx" (yaw, pitch, roll), "zxz" …
        axes: "body" if each turn is about an axis of the turned body (intrinsic), "fixed" if about
            axes at rest (extrinsic).

    Raises:
        ResultsError: there is no such sequence.
    """
    order, reverse = _sequence(sequence, axes)
    p = euler_parameters(orientation)
    single = p.ndim == 1
    p = np.atleast_2d(p)
    # turns about body axes are those about fixed ones in the other order
    i, j, k = order[::-1] if reverse else order
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) / 2.0
    a, b, c, d = p[:, 0], p[:, i + 1], p[:, j + 1], sign * p[:, k + 1]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    total, difference = np.arctan2(b, a), np.arctan2(d, c)
    first, third = total - difference, total + difference
    low, high = middle < _LOCK, middle > np.pi - _LOCK
    kept, other = (first, third) if reverse else (third, first)
    kept = _hold(kept, low | high)
    turned = 2 * difference * (-1 if reverse else 1)
    other = np.where(low, 2 * total - kept, np.where(high, kept - turned, other))
    first, third = (kept, other) if reverse else (other, kept)
    if not proper:
        third, middle = sign * third, middle - np.pi / 2
    angles = np.stack([first, middle, third], axis=1)
    angles[:, [0, 2]] -= 2 * np.pi * np.round(angles[:, [0, 2]] / (2 * np.pi))
    found: Array = angles[:, ::-1] if reverse else angles
    return found[0] if single else found


def yaw_pitch_roll(orientation: ArrayLike) -> Array:
    """Yaw about z, then pitch about the turned y, then roll about the twice turned x."""
    return euler_angles(orientation, "zyx")


def from_euler_angles(angles: ArrayLike, sequence: str = "zyx", axes: str = "body") -> Array:
    """Euler parameters of a sequence of turns by angles (3,) or (n, 3), in radians.

    >>> p = from_euler_angles([0.3, -0.2, 0.1], "xyz")
    >>> euler_angles(p, "xyz").round(12).tolist()
    [0.3, -0.2, 0.1]

    Raises:
        ResultsError: there is no such sequence.
        ShapeError: the angles have another shape.
    """
    order, reverse = _sequence(sequence, axes)
    given = np.asarray(angles, dtype=np.float64)
    if given.ndim not in (1, 2) or given.shape[-1] != 3:
        raise ShapeError(f"angles should have shape (3,) or (n, 3); they have {given.shape}")
    turns = [from_axis_angle(np.eye(3)[n], given[..., m]) for m, n in enumerate(order)]
    first, second, third = turns if reverse else turns[::-1]
    return euler_parameters(product(product(first, second), third))


def _hold(values: Array, unknown: np.ndarray) -> Array:
    """The values, and where they are not known the last that was, or zero."""
    last = np.maximum.accumulate(np.where(unknown, -1, np.arange(len(values))))
    return np.where(last < 0, 0.0, values[last])


def _sequence(sequence: str, axes: str) -> tuple[Sequence[int], bool]:
    """The axes as numbers, and whether they move with the body."""
    order = [AXES.get(letter, -1) for letter in sequence.lower()]
    if len(order) != 3 or min(order) < 0 or order[0] == order[1] or order[1] == order[2]:
        raise ResultsError(
            f"sequence {sequence!r}: give three of x, y, z, no two neighbours alike, "
            f"as in 'zyx' or 'zxz'"
        )
    if axes not in ("body", "fixed"):
        raise ResultsError(f"axes {axes!r}: give 'body' (intrinsic) or 'fixed' (extrinsic)")
    return order, axes == "body"
