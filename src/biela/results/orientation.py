"""Orientations over time, in any convention.

An orientation is a rotation matrix (3, 3), or Euler parameters (4,) = (e0, e1, e2, e3) with
e0 = cos(χ/2) and e = u sin(χ/2); at n instants (n, 3, 3) or (n, 4). It takes components in the body
to those in the fixed frame. Every function here takes either form, and one instant or many. Euler
parameters come out with continuous signs: p and -p are the same orientation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ResultsError, ShapeError
from biela.results.channels import Array

__all__ = [
    "AXES",
    "axis_angle",
    "euler_parameters",
    "from_axis_angle",
    "product",
    "rotation_about",
    "rotation_matrix",
    "unit_axis",
    "unwrap_by_rate",
]

#: How far a matrix may be from a rotation, as one of a file with few digits is.
_ORTHOGONAL = 1e-3

#: Numbers of the axes by name.
AXES = {"x": 0, "y": 1, "z": 2}


# --- matrices and Euler parameters ----------------------------------------------------------------


def euler_parameters(orientation: ArrayLike) -> Array:
    """Euler parameters, (4,) or (n, 4), of unit norm; e0 >= 0 at first and then no sign jumps.

    Of the rows of 4 p pᵀ, which has the entries of R in it, the one with the largest diagonal is
    taken, so that nothing is divided by a small number (Shepperd 1978, J. Guidance Control 1).

    >>> euler_parameters([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).round(4).tolist()
    [0.7071, 0.0, 0.0, 0.7071]

    Raises:
        ShapeError: the array has none of the shapes above.
        ResultsError: a matrix is no rotation, or all Euler parameters of an instant are zero.
    """
    given = np.asarray(orientation, dtype=np.float64)
    if given.ndim in (2, 3) and given.shape[-2:] == (3, 3):
        p = _of_matrices(given.reshape(-1, 3, 3))
    elif given.ndim in (1, 2) and given.shape[-1] == 4:
        p = given.reshape(-1, 4)
    else:
        raise ShapeError(
            f"orientations are matrices (3, 3) or (n, 3, 3), or Euler parameters (4,) or (n, 4); "
            f"this has shape {given.shape}"
        )
    norm = np.linalg.norm(p, axis=1)
    if (norm == 0).any():
        raise ResultsError(f"row {int(np.argmin(norm))}: all Euler parameters are zero")
    p = p / norm[:, None]
    signs = np.ones(len(p))
    if len(p):
        signs[0] = -1.0 if p[0, 0] < 0 else 1.0
        signs[1:] = np.where(np.einsum("ki,ki->k", p[1:], p[:-1]) < 0, -1.0, 1.0)
    found: Array = p * np.cumprod(signs)[:, None]
    single = given.ndim == (2 if given.shape[-2:] == (3, 3) else 1)
    return found[0] if single else found


def _of_matrices(R: Array) -> Array:
    excess = np.abs(np.einsum("kji,kjl->kil", R, R) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    wrong = (excess > _ORTHOGONAL) | (np.linalg.det(R) < 0)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ResultsError(
            f"matrix {k} is not a rotation: R'R differs from 1 by {excess[k]:.2g}, "
            f"det R = {np.linalg.det(R[k]):.3g}"
        )
    (a, b, c), (d, e, f), (g, h, i) = (tuple(row) for row in np.moveaxis(R, 0, -1))
    rows = np.array(
        [
            [1 + a + e + i, h - f, c - g, d - b],
            [h - f, 1 + a - e - i, b + d, c + g],
            [c - g, b + d, 1 - a + e - i, f + h],
            [d - b, c + g, f + h, 1 - a - e + i],
        ]
    )
    best = np.argmax(np.einsum("iik->ik", rows), axis=0)
    found: Array = rows[best, :, np.arange(len(R))]
    return found


def rotation_matrix(orientation: ArrayLike) -> Array:
    """Rotation matrices, (3, 3) or (n, 3, 3): R = (2 e0² - 1) 1 + 2 (e eᵀ + e0 ẽ).

    Raises:
        ShapeError: the array has none of the shapes of an orientation.
        ResultsError: it is no orientation.
    """
    p = euler_parameters(orientation)
    e0, e1, e2, e3 = np.moveaxis(p, -1, 0)
    rows = [
        [e0**2 + e1**2 - 0.5, e1 * e2 - e0 * e3, e1 * e3 + e0 * e2],
        [e1 * e2 + e0 * e3, e0**2 + e2**2 - 0.5, e2 * e3 - e0 * e1],
        [e1 * e3 - e0 * e2, e2 * e3 + e0 * e1, e0**2 + e3**2 - 0.5],
    ]
    R: Array = 2 * np.moveaxis(np.array(rows), (0, 1), (-2, -1))
    return R


def product(p: Array, r: Array) -> Array:
    """The rotation r and then p, as a product of quaternions."""
    p0, p1, p2, p3 = np.moveaxis(p, -1, 0)
    r0, r1, r2, r3 = np.moveaxis(r, -1, 0)
    return np.stack(
        [
            p0 * r0 - p1 * r1 - p2 * r2 - p3 * r3,
            p0 * r1 + p1 * r0 + p2 * r3 - p3 * r2,
            p0 * r2 - p1 * r3 + p2 * r0 + p3 * r1,
            p0 * r3 + p1 * r2 - p2 * r1 + p3 * r0,
        ],
        axis=-1,
    )


# --- about an axis --------------------------------------------------------------------------------


def unit_axis(axis: str | ArrayLike) -> Array:
    """A direction of length one, from "x", "-z" or three numbers.

    Raises:
        ResultsError: it is neither, or has no length.
    """
    if isinstance(axis, str):
        name = axis.strip().lower()
        if name.lstrip("+-") not in AXES or len(name) > 2:
            raise ResultsError(f"axis {axis!r}: give x, y, z, -x, -y, -z or three numbers")
        named: Array = (-1.0 if name[0] == "-" else 1.0) * np.eye(3)[AXES[name[-1]]]
        return named
    u = np.asarray(axis, dtype=np.float64)
    if u.shape != (3,) or not np.isfinite(u).all() or not u.any():
        raise ResultsError(f"axis {axis!r}: give x, y, z or three numbers that are not all zero")
    direction: Array = u / np.linalg.norm(u)
    return direction


def axis_angle(orientation: ArrayLike) -> tuple[Array, Array]:
    """Axes (n, 3) of length one and angles (n,) from 0 to π; without a rotation the axis is z."""
    p = euler_parameters(orientation)
    p = np.where(p[..., :1] < 0, -p, p)
    length = np.linalg.norm(p[..., 1:], axis=-1)
    still = length == 0
    axes = np.where(
        still[..., None], [0.0, 0.0, 1.0], p[..., 1:] / np.where(still, 1.0, length)[..., None]
    )
    angles: Array = 2 * np.arctan2(length, p[..., 0])
    return axes, angles


def from_axis_angle(axis: str | ArrayLike, angle: ArrayLike) -> Array:
    """Euler parameters of turns by `angle`, in radians, about one axis.

    >>> from_axis_angle("z", np.pi / 2).round(4).tolist()
    [0.7071, 0.0, 0.0, 0.7071]
    """
    half = 0.5 * np.asarray(angle, dtype=np.float64)
    return np.concatenate(
        [np.cos(half)[..., None], np.sin(half)[..., None] * unit_axis(axis)], axis=-1
    )


def rotation_about(
    orientation: ArrayLike,
    axis: str | ArrayLike,
    angular_velocity: ArrayLike | None = None,
    t: ArrayLike | None = None,
) -> Array:
    """The angle turned about an axis, over as many turns as there are.

        χ = 2 atan2(e·u, e0),

    the rotation itself where the body turns about u, else its part about u (the twist of a swing
    and twist). The first value is between -π and π, and the others follow without jumps. Given the
    angular velocities (n, 3) in the fixed frame and the times (n,), turns are counted right however
    coarse the samples are, by

        χ' = 2 (e0 s' - s e0')/(e0² + s²),  s = e·u,  e0' = -ω·e/2,  e' = (e0 ω + ω × e)/2;

    without them a step must be less than half a turn.
    """
    u = unit_axis(axis)
    p = euler_parameters(orientation)
    e0, e = p[..., 0], p[..., 1:]
    s = e @ u
    angle: Array = 2 * np.arctan2(s, e0)
    if angle.ndim == 0:
        wrapped: Array = np.arctan2(np.sin(angle), np.cos(angle))
        return wrapped
    rate = np.zeros_like(angle)
    if angular_velocity is not None:
        w = np.asarray(angular_velocity, dtype=np.float64)
        if w.shape != e.shape or t is None:
            raise ShapeError(
                f"angular velocities should have shape {e.shape}, with times ({len(e)},); "
                f"they have {w.shape}"
            )
        ds = 0.5 * (e0[:, None] * w + np.cross(w, e)) @ u
        square = e0**2 + s**2
        # a half turn about a perpendicular axis has no twist
        rate = 2 * (e0 * ds + 0.5 * s * np.einsum("ki,ki->k", w, e))
        rate = np.where(square > 1e-12, rate / np.where(square > 1e-12, square, 1.0), 0.0)
    start = np.round(angle[:1] / (2 * np.pi)) * 2 * np.pi
    return unwrap_by_rate(angle - start, rate, np.arange(len(angle)) if t is None else t)


def unwrap_by_rate(
    angle: ArrayLike, rate: ArrayLike, t: ArrayLike, period: float = 2 * np.pi
) -> Array:
    """A continuous angle from one known up to whole turns, however coarse the samples are.

    Each step is predicted by the mean of the rates at its ends, and the whole number of turns is
    added that brings the sample nearest to it. That is right as long as the prediction is off by
    less than half a turn: h³ |θ‴|/12 < π. A rate that is not known (nan) counts as zero.

    >>> t = np.arange(4.0)  # one and a quarter turns a second
    >>> unwrap_by_rate([0, np.pi / 2, np.pi, -np.pi / 2], np.full(4, 2.5 * np.pi), t) / np.pi
    array([0. , 2.5, 5. , 7.5])

    Args:
        angle: (n,), the first is kept.
        rate: its time derivative, (n,).
        t: the instants, (n,).
        period: of the angle; 360 for degrees.

    Raises:
        ShapeError: the arrays differ in length.
    """
    theta, w, times = (np.asarray(x, dtype=np.float64) for x in (angle, rate, t))
    if theta.ndim != 1 or theta.shape != w.shape or theta.shape != times.shape:
        raise ShapeError(
            f"angle, rate and t should all have shape (n,); they have {theta.shape}, {w.shape} "
            f"and {times.shape}"
        )
    expected = 0.5 * (w[1:] + w[:-1]) * np.diff(times)
    turns = (np.where(np.isfinite(expected), expected, 0.0) - np.diff(theta)) / period
    whole = np.round(np.where(np.isfinite(turns), turns, 0.0))
    found: Array = theta + period * np.concatenate([np.zeros(min(1, len(theta))), whole.cumsum()])
    return found
