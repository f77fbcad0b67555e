"""Rotations along a curve of rotation vectors: R(t) = R₀ exp(r(t)).

The angular velocity in the turned frame and its rate are

    ω  = J r',        J = 1 - A r̂ + B r̂²,        A = (1 - cos θ)/θ²,   B = (θ - sin θ)/θ³,
    ω' = J r'' + J' r',

with θ = |r| and r̂ x = r × x (Park & Chung, *IEEE Trans. Robotics* 21(5), 2005; Solà et al. 2018,
eq. 143).  Arrays have a vector in every row.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Angle below which series are used; the first term left out is then below rounding.
_NEAR = 1e-2


def _factors(r: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """A, B, and their derivatives by θ, over θ."""
    square = (r * r).sum(axis=-1, keepdims=True)
    near = square < _NEAR**2
    s = np.where(near, square, 0.0)
    t = np.sqrt(np.where(near, 1.0, square))
    sin, cos = np.sin(t), np.cos(t)
    A = np.where(near, 1 / 2 - s / 24 + s * s / 720, (1 - cos) / t**2)
    B = np.where(near, 1 / 6 - s / 120 + s * s / 5040, (t - sin) / t**3)
    dA = np.where(near, -1 / 12 + s / 180 - s * s / 6720, (t * sin - 2 * (1 - cos)) / t**4)
    dB = np.where(near, -1 / 60 + s / 1260 - s * s / 60480, (3 * sin - t * cos - 2 * t) / t**5)
    return A, B, dA, dB


def angular_velocity(r: Floats, dr: Floats) -> Floats:
    """ω of r and r'."""
    A, B, _, _ = _factors(r)
    across = np.cross(r, dr)
    return np.asarray(dr - A * across + B * np.cross(r, across))


def angular_acceleration(r: Floats, dr: Floats, ddr: Floats) -> Floats:
    """ω' of r, r' and r''."""
    _, B, dA, dB = _factors(r)
    across = np.cross(r, dr)
    rate = (r * dr).sum(axis=-1, keepdims=True)
    turning = -dA * rate * across + dB * rate * np.cross(r, across) + B * np.cross(dr, across)
    return np.asarray(angular_velocity(r, ddr) + turning)


def rates_of(r: Floats, omega: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """The r' and r'' of one rotation vector for ω and ω'."""
    J = np.stack([angular_velocity(r, e) for e in np.eye(3)], axis=1)
    dr: Floats = np.asarray(np.linalg.solve(J, omega), dtype=np.float64)
    rest = angular_acceleration(r, dr, np.zeros(3))
    return dr, np.asarray(np.linalg.solve(J, alpha - rest), dtype=np.float64)
