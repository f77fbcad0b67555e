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

__all__ = ["Faces"]

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
    def of(cls, vertices: Array, faces: Sequence[Sequence[int]]) -> Faces:
        """From vertices (m, 3) and faces that are counter-clockwise seen from outside."""
        most = max(len(face) for face in faces)
        corners = np.array([[*face, *[face[-1]] * (most - len(face))] for face in faces])
        places = vertices[corners]
        # twice the area of a polygon in space (Newell); a repeated vertex adds nothing
        area = np.cross(places, np.roll(places, -1, axis=1)).sum(axis=1)
        size = np.linalg.norm(area, axis=1, keepdims=True)
        normals = np.divide(area, size, out=np.zeros_like(area), where=size > 0)
        centers = np.array([vertices[list(face)].mean(axis=0) for face in faces])
        beside: dict[tuple[int, int], list[int]] = {}
        for number, face in enumerate(faces):
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                beside.setdefault((min(a, b), max(a, b)), []).append(number)
        sides = np.array([[found[0], found[-1]] for found in beside.values()])
        between = (normals[sides[:, 0]] * normals[sides[:, 1]]).sum(axis=1)
        border = sides[:, 0] == sides[:, 1]
        sharp = (between < _SHARP) | border
        kept = (between < 1 - 1e-9) | border
        edges = np.array(list(beside))
        return cls(corners, normals, centers, edges[kept], sides[kept], sharp[kept])
