"""From points and directions of bodies to reference-point coordinates, velocities, accelerations.

In a plane, with cosine c and sine s of the angle of a body,

    angle = atan2(s, c) over all turns,     ω = c s' - s c',     α = c s'' - s c'';

in space, with its axes e_i,

    ω = ½ Σ e_i x e_i',     α = ½ Σ e_i x e_i'',

both along its own axes, and Euler parameters that do not change their sign between instants.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["planar_motion", "spatial_motion"]

Floats = npt.NDArray[np.float64]
#: Values and two rates, (instants, bodies, components) each.
Rates = Sequence[Floats]


def planar_motion(plane: str, centre: Rates, turn: Rates, first: Floats) -> tuple[Floats, ...]:
    """Coordinates, velocities and accelerations (instants, 3 a body) of a planar model.

    ``first`` are the angles at the first instant, over all turns.
    """
    kept = ["xyz".index(axis) for axis in plane]
    c, s = (turn[0][:, :, k] for k in range(2))
    angle = np.unwrap(np.arctan2(s, c), axis=0)
    angle += np.round((first - angle[0]) / (2 * np.pi)) * 2 * np.pi
    rate = c * turn[1][:, :, 1] - s * turn[1][:, :, 0]
    second = c * turn[2][:, :, 1] - s * turn[2][:, :, 0]
    found = []
    for place, turning in zip(centre, (angle, rate, second), strict=True):
        rows = np.concatenate([place[:, :, kept], turning[:, :, None]], axis=2)
        found.append(rows.reshape(len(rows), -1))
    return tuple(found)


def spatial_motion(centre: Rates, x: Rates, y: Rates) -> tuple[Floats, Floats, Floats]:
    """Coordinates (7 a body), velocities and accelerations (6 a body) of a model in space."""
    z = [
        np.cross(x[0], y[0]),
        np.cross(x[1], y[0]) + np.cross(x[0], y[1]),
        np.cross(x[2], y[0]) + 2 * np.cross(x[1], y[1]) + np.cross(x[0], y[2]),
    ]
    R, first, second = (np.stack([x[k], y[k], z[k]], axis=3) for k in range(3))
    turning = [0.5 * np.cross(R, rate, axis=2).sum(axis=3) for rate in (first, second)]
    own = [np.einsum("tbji,tbj->tbi", R, w) for w in turning]
    n = len(R)
    q = np.concatenate([centre[0], _euler_parameters(R)], axis=2).reshape(n, -1)
    v, a = (np.concatenate([centre[k], own[k - 1]], axis=2).reshape(n, -1) for k in (1, 2))
    return q, v, a


def _euler_parameters(R: Floats) -> Floats:
    """Unit quaternions (instants, bodies, 4), of one sign along the instants."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    squares = np.stack([1 + trace, *(1 + 2 * R[..., k, k] - trace for k in range(3))], axis=-1)
    # each column is 4 e_k e: the longest has most digits
    w = np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]],
        axis=-1,
    )
    rows = np.empty((*R.shape[:-2], 4, 4))
    for k in range(4):
        rows[..., k, k] = squares[..., k]
    for k in range(3):
        rows[..., 0, k + 1] = rows[..., k + 1, 0] = w[..., k]
        for j in range(k):
            both = R[..., k, j] + R[..., j, k]
            rows[..., k + 1, j + 1] = rows[..., j + 1, k + 1] = both
    best = squares.argmax(axis=-1)
    e = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    e = e / np.linalg.norm(e, axis=-1, keepdims=True)
    first = np.where(e[:1, :, :1] < 0, -1.0, 1.0)
    flips = np.where((e[1:] * e[:-1]).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return np.asarray(e * np.concatenate([first, first * np.cumprod(flips, axis=0)], axis=0))
