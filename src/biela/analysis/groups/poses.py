"""Poses of bodies from reference-point coordinates, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from biela.equations.blocks.populations import turn
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Poses
from biela.equations.reference_point import NORMAL

__all__ = ["poses_of"]

Floats = npt.NDArray[np.float64]


def poses_of(
    world: World,
    q: Floats,
    coordinates: Mapping[str, float] | None = None,
    across: Floats | None = None,
) -> Poses:
    """The poses of all bodies at a position in reference-point coordinates.

    ``coordinates`` are values of joint coordinates that poses do not tell, ``across`` where the
    centres of mass of a planar model are across its plane.
    """
    plane, count = world.model.plane, world.count
    if plane is None:
        rows = np.reshape(q[: 7 * count], (count, 7))
        centre, axes = rows[:, :3], rotations(rows[:, 3:])
    else:
        rows = np.reshape(q[: 3 * count], (count, 3))
        centre = np.zeros((count, 3))
        for k, axis in enumerate(plane):
            centre[:, "xyz".index(axis)] = rows[:, k]
        if across is not None:
            centre[:, "xyz".index(NORMAL[plane])] = across
        axes = turn(NORMAL[plane], rows[:, 2])
    place = centre - np.einsum("nij,nj->ni", axes, world.centres)
    return Poses(place, axes, plane, coordinates or {})


def rotations(e: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = e.T
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
