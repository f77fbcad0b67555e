"""Meshes with as many faces as a picture can show.

Meshes of robots have a hundred thousand triangles, many of them smaller than a pixel.  Vertices in
one cell of a grid become one, their mean, and triangles of which two corners fall together vanish:
neighbours stay neighbours, so that no holes appear (Rossignac & Borrel 1993, Multi-resolution 3D
approximations for rendering complex scenes).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.results.channels import Array

__all__ = ["coarser"]

Integers = npt.NDArray[np.int64]


def coarser(vertices: Array, triangles: Integers, cell: float) -> tuple[Array, Integers, Integers]:
    """Vertices (m, 3) and triangles (f, 3) without detail smaller than a cell.

    Returns:
        Vertices, triangles, and for each the number of the triangle that it was: the normals of
        these are smooth where the surface is, which those of slivers are not.
    """
    low = vertices.min(axis=0)
    grid = np.floor((vertices - low) / cell).astype(np.int64)
    wide = grid.max(axis=0) + 1
    key = (grid[:, 0] * wide[1] + grid[:, 1]) * wide[2] + grid[:, 2]
    _, cluster, count = np.unique(key, return_inverse=True, return_counts=True)
    sums = [np.bincount(cluster, weights=vertices[:, axis]) for axis in range(3)]
    corners = cluster[triangles]
    a, b, c = corners.T
    left = np.flatnonzero((a != b) & (b != c) & (c != a))
    corners = corners[left]
    # of triangles that fall together the first stays; a sheet keeps both of its sides
    turned = np.argmin(corners, axis=1)[:, None] + np.arange(3)
    alike = np.take_along_axis(corners, turned % 3, axis=1)
    _, first = np.unique(alike, axis=0, return_index=True)
    first.sort()
    return np.stack(sums, axis=1) / count[:, None], corners[first], left[first]
