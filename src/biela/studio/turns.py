"""Rotations of things that are drawn: along a direction, and of outlines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.results.orientation import euler_parameters

__all__ = ["aligned", "outlined"]

Floats = npt.NDArray[np.float64]


def aligned(directions: Floats) -> tuple[Floats, Floats]:
    """Lengths (k,) of directions (k, 3), and Euler parameters (k, 4) of turns of z onto them.

    The shortest turn, about z x d: p = (1 + d_z, -d_y, d_x, 0) / |…| of a unit vector d; half a
    turn about x for d = -z.
    """
    lengths = np.linalg.norm(directions, axis=1)
    d = directions / np.where(lengths > 0, lengths, 1.0)[:, None]
    p = np.stack([1.0 + d[:, 2], -d[:, 1], d[:, 0], np.zeros(len(d))], axis=1)
    size = np.linalg.norm(p, axis=1, keepdims=True)
    opposite = size[:, 0] < 1e-9
    p[opposite], size[opposite] = (0.0, 1.0, 0.0, 0.0), 1.0
    return lengths, p / size


def outlined(points: Floats) -> tuple[Floats, Floats, Floats]:
    """Middles (k, 3) and Euler parameters (k, 4) of a plane outline (k, n, 3), and it in own axes.

    Its z axis is the normal Σ a_i x a_{i+1} (Newell), its x axis goes to the first point: so they
    are the same for the same points, whichever instants there are.
    """
    middle = points.mean(axis=1)
    about = points - middle[:, None]
    z = np.cross(about, np.roll(about, -1, axis=1)).sum(axis=1)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    x = about[:, 0] - z * np.einsum("ki,ki->k", about[:, 0], z)[:, None]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    R = np.stack([x, np.cross(z, x), z], axis=2)
    return middle, euler_parameters(R), about[0] @ R[0]
