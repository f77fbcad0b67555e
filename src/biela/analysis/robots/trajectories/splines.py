"""Velocities and accelerations at the knots of splines through waypoints.

Between knots k and k + 1, h apart in time and δ in place, runs a polynomial with given ends.  What
is free at the inner knots follows from smoothness (Biagiotti & Melchiorri, *Trajectory Planning
for Automatic Machines and Robots*, 2008, ch. 4):

    cubic:    continuous acceleration, the least ∫ a² dt of all curves through the knots;
    quintic:  continuous jerk and snap, the least ∫ jerk² dt.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def cubic(h: Floats, delta: Floats, v: Floats) -> Floats:
    """The velocities (K + 1, n) at all knots, with those of ``v`` at the ends.

    Args:
        h: Durations (K,).
        delta: Displacements (K, n).
        v: (2, n), at both ends.
    """
    inner = len(h) - 1
    found = np.concatenate([v[:1], np.zeros((inner, v.shape[1])), v[1:]])
    if not inner:
        return found
    A = np.diag(2 / h[:-1] + 2 / h[1:])
    A += np.diag(1 / h[1:-1], 1) + np.diag(1 / h[1:-1], -1)
    b = 3 * (delta[:-1] / h[:-1, None] ** 2 + delta[1:] / h[1:, None] ** 2)
    b[0] -= v[0] / h[0]
    b[-1] -= v[1] / h[-1]
    found[1:-1] = np.linalg.solve(A, b)
    return found


def quintic(h: Floats, delta: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
    """The velocities and accelerations (K + 1, n) at all knots, with those given at the ends.

    Args:
        h: Durations (K,).
        delta: Displacements (K, n).
        v: (2, n), at both ends.
        a: Likewise.
    """
    inner, n = len(h) - 1, v.shape[1]
    ends = np.zeros((2 * (inner + 2), n))
    ends[[0, 1, -2, -1]] = v[0], a[0], v[1], a[1]
    if inner:
        A, b = np.zeros((2 * inner, 2 * (inner + 2))), np.zeros((2 * inner, n))
        for k in range(inner):
            row = slice(2 * k, 2 * k + 2)
            before, after = _end(h[k], 1.0), _end(h[k + 1], 0.0)
            # scaled, so that rows of jerk and of snap are of a size
            size = np.array([[h[k] * h[k + 1]], [(h[k] * h[k + 1]) ** 1.5]])
            A[row, 2 * k : 2 * k + 4] += size * before[:, 1:]
            A[row, 2 * k + 2 : 2 * k + 6] -= size * after[:, 1:]
            b[row] = size * (after[:, :1] * delta[k + 1] - before[:, :1] * delta[k])
        b -= A[:, [0, 1, -2, -1]] @ ends[[0, 1, -2, -1]]
        ends[2:-2] = np.linalg.solve(A[:, 2:-2], b)
    return ends[0::2], ends[1::2]


def _end(h: float, s: float) -> Floats:
    """Jerk and snap (2, 5) at a part s of a segment, for a unit of δ, v₀, a₀, v₁ and a₁."""
    unit = np.eye(5)[:, [0, 1, 2, 3, 4]]
    c = quintic_coefficients(h, unit[:, 0], unit[:, 1], unit[:, 2], unit[:, 3], unit[:, 4])
    t = s * h
    jerk = 6 * c[3] + 24 * c[4] * t + 60 * c[5] * t * t
    snap = 24 * c[4] + 120 * c[5] * t
    return np.array([jerk, snap])


def cubic_coefficients(h: float, delta: Floats, v0: Floats, v1: Floats) -> Floats:
    """Coefficients (6, n) of rising powers, from zero to δ in h."""
    zero = np.zeros_like(v0)
    return np.array(
        [
            zero,
            v0,
            3 * delta / h**2 - (2 * v0 + v1) / h,
            -2 * delta / h**3 + (v0 + v1) / h**2,
            zero,
            zero,
        ]
    )


def quintic_coefficients(
    h: float, delta: Floats, v0: Floats, a0: Floats, v1: Floats, a1: Floats
) -> Floats:
    """Coefficients (6, n) of rising powers, from zero to δ in h."""
    return np.array(
        [
            np.zeros_like(v0),
            v0,
            a0 / 2,
            (20 * delta - (8 * v1 + 12 * v0) * h - (3 * a0 - a1) * h**2) / (2 * h**3),
            (-30 * delta + (14 * v1 + 16 * v0) * h + (3 * a0 - 2 * a1) * h**2) / (2 * h**4),
            (12 * delta - 6 * (v1 + v0) * h - (a0 - a1) * h**2) / (2 * h**5),
        ]
    )
