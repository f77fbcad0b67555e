"""The faces of a body as arrays, and the edges that a draughtsman draws of it.

An edge is drawn where the faces beside it meet at a sharp angle, and where one of them looks toward
the eye and the other away: the contour, which is all that shows of a round body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.results.channels import Array

__all__ = ["Faces", "normals_of"]

Integers = npt.NDArray[np.int64]

#: Faces that meet at more than this angle have an edge between them.
_SHARP = np.cos(np.radians(33.0))


@dataclass(frozen=True, eq=False)
class Faces:
    """Faces (f, m), short ones with their last vertex repeated, and what belongs to them.

    Attributes:
        corners: numbers of their vertices.
        normals: (f, 3), of unit length, outward in own axes; zero for a face without area.
        centers: (f, 3), the mean of their vertices.
        edges: (e, 2), numbers of the vertices of the edges, but for those inside of a plane.
        sides: (e, 2), numbers of the faces beside them; twice the same at a border.
        sharp: (e,), whether these meet at an angle.
    """

    corners: Integers
    normals: Array
    centers: Array
    edges: Integers
    sides: Integers
    sharp: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        vertices: Array,
        faces: Sequence[Sequence[int]] | Integers,
        normals: Array | None = None,
    ) -> Faces:
        """From vertices (m, 3) and faces that are counter-clockwise seen from outside.

        The normals are those of the faces if nobody knows better ones.
        """
        corners, count = _padded(faces)
        places = vertices[corners]
        if normals is None:
            normals = normals_of(places)
        own = np.arange(corners.shape[1]) < count[:, None]
        centers = (places * own[:, :, None]).sum(axis=1) / count[:, None]
        edges, sides = _sides(corners, count, own)
        between = (normals[sides[:, 0]] * normals[sides[:, 1]]).sum(axis=1)
        border = sides[:, 0] == sides[:, 1]
        sharp = (between < _SHARP) | border
        kept = (between < 1 - 1e-9) | border
        return cls(corners, normals, centers, edges[kept], sides[kept], sharp[kept])


def normals_of(places: Array) -> Array:
    """Unit normals (f, 3) of polygons (f, n, 3); zero for one without area."""
    # twice the area of a polygon in space (Newell); a repeated vertex adds nothing
    area = np.cross(places, np.roll(places, -1, axis=1)).sum(axis=1)
    size = np.linalg.norm(area, axis=1, keepdims=True)
    found: Array = np.divide(area, size, out=np.zeros_like(area), where=size > 0)
    return found


def _padded(faces: Sequence[Sequence[int]] | Integers) -> tuple[Integers, Integers]:
    """Faces as one array, short ones with their last vertex repeated, and their true lengths."""
    if isinstance(faces, np.ndarray):
        return faces, np.full(len(faces), faces.shape[1])
    count = np.array([len(face) for face in faces])
    most = int(count.max())
    return np.array([[*face, *[face[-1]] * (most - len(face))] for face in faces]), count


def _sides(
    corners: Integers, count: Integers, own: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """The edges (e, 2) in the order in which faces name them, and the faces beside each.

    Of more than two faces at an edge these are the first and the last.
    """
    following = np.roll(corners, -1, axis=1)
    following[np.arange(len(corners)), count - 1] = corners[:, 0]
    ends = np.sort(np.stack([corners[own], following[own]], axis=1), axis=1)
    key = ends[:, 0] * (int(corners.max()) + 1) + ends[:, 1]
    face = np.repeat(np.arange(len(corners)), count)
    _, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    order = np.argsort(first)
    first, last = first[order], len(key) - 1 - last[order]
    return ends[first], np.stack([face[first], face[last]], axis=1)
