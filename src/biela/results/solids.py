"""The solid shapes of a scene: balls, cuboids, cylinders, and bodies of any faces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.errors import ShapeError
from biela.results.channels import Array
from biela.results.moving import Moving

__all__ = ["Box", "Cylinder", "Polyhedron", "Sphere"]

#: Sides of the prism that is drawn for a cylinder.
_SIDES = 20
#: Bodies of more vertices are measured by the box around them.
_MANY = 100


@dataclass(frozen=True, eq=False)
class Sphere(Moving):
    """A ball of `radius` about `center` (k, 3)."""

    MOVING = ("center",)

    center: Array
    radius: float
    color: str = ""

    def __post_init__(self) -> None:
        self._array("center", None, 3)

    def corners(self) -> Array:
        """The box around the ball."""
        return self.center[:, None] + self.radius * _CUBE

    def points_of_motion(self) -> Array:
        """The centre."""
        return self.center[:, None]


@dataclass(frozen=True, eq=False)
class _Posed(Moving):
    """A rigid mesh with a pose."""

    MOVING = ("position", "rotation")

    position: Array
    rotation: Array

    @abstractmethod
    def mesh(self) -> tuple[Array, list[list[int]]]:
        """Vertices (m, 3) in own axes and faces, each counter-clockwise seen from outside."""

    def __post_init__(self) -> None:
        self._array("position", None, 3)
        self._array("rotation", None, 3, 3)
        lengths = {len(self.position), len(self.rotation)} - {1}
        if len(lengths) > 1:
            raise ShapeError(
                f"the {type(self).__name__} {self.name!r} has {len(self.position)} positions and "
                f"{len(self.rotation)} rotations"
            )

    def corners(self) -> Array:
        """The vertices of the mesh."""
        vertices, _ = self.mesh()
        corners: Array = self.position[:, None] + vertices @ np.swapaxes(self.rotation, 1, 2)
        return corners

    def points_of_motion(self) -> Array:
        """The origin of the shape."""
        return self.position[:, None]

    def turns_about(self, axis: int) -> bool:
        """Whether R keeps one of its own directions on that axis: row `axis` of R is constant."""
        row = self.rotation[:, axis]
        return bool(np.abs(row - row[0]).max() < 1e-6)


@dataclass(frozen=True, eq=False)
class Box(_Posed):
    """A cuboid with edges `size` along its own axes, centred at `position` (k, 3).

    Attributes:
        name: of the body.
        position: of the centre.
        rotation: (k, 3, 3), from own axes to the fixed frame.
        size: the three edges.
        color: of the faces.
    """

    size: tuple[float, float, float]
    color: str = ""

    def mesh(self) -> tuple[Array, list[list[int]]]:
        """Eight vertices, six faces."""
        return _CUBE * np.asarray(self.size) / 2, _CUBE_FACES


@dataclass(frozen=True, eq=False)
class Cylinder(_Posed):
    """A cylinder about its own z axis, centred at `position` (k, 3).

    Attributes:
        name: of the body.
        position: of the centre.
        rotation: (k, 3, 3), from own axes to the fixed frame.
        radius: of the circle.
        length: along the axis.
        color: of the faces.
    """

    radius: float
    length: float
    color: str = ""

    def mesh(self) -> tuple[Array, list[list[int]]]:
        """A prism of many sides."""
        angle = np.arange(_SIDES) * 2 * np.pi / _SIDES
        circle = np.stack([self.radius * np.cos(angle), self.radius * np.sin(angle)], axis=1)
        half = np.full((_SIDES, 1), self.length / 2)
        vertices = np.concatenate([np.hstack([circle, -half]), np.hstack([circle, half])])
        n = _SIDES
        sides = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
        return vertices, [*sides, list(range(n - 1, -1, -1)), list(range(n, 2 * n))]


@dataclass(frozen=True, eq=False)
class Polyhedron(_Posed):
    """A body with plane faces, with its own origin at `position` (k, 3).

    Several of one body share the arrays of its pose, and files and pages hold them once.

    Attributes:
        name: of the body.
        position: of the own origin.
        rotation: (k, 3, 3), from own axes to the fixed frame.
        vertices: (m, 3), in own axes.
        faces: numbers of vertices, each face counter-clockwise seen from outside; an array (f, n)
            where all have as many.
        color: of the faces.
    """

    vertices: Array
    faces: Sequence[Sequence[int]] | npt.NDArray[np.int64]
    color: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._array("vertices", None, 3)
        count = len(self.vertices)
        faces: Any = self.faces
        if isinstance(faces, np.ndarray) and faces.ndim == 2 and faces.dtype.kind in "iu":
            faces = np.asarray(faces, dtype=np.int64)
            good = ((faces >= 0) & (faces < count)).all(axis=1) & (faces.shape[1] >= 3)
            wrong = [tuple(faces[k].tolist()) for k in np.flatnonzero(~good)[:1]]
        else:
            faces = tuple(tuple(int(i) for i in face) for face in faces)
            good = (len(face) >= 3 and all(0 <= i < count for i in face) for face in faces)
            wrong = [face for face, fits in zip(faces, good, strict=True) if not fits]
        if wrong:
            raise ShapeError(
                f"a face of the Polyhedron {self.name!r} is {wrong[0]}; it should be three or "
                f"more of the numbers of its {count} vertices"
            )
        object.__setattr__(self, "faces", faces)

    def mesh(self) -> tuple[Array, list[list[int]]]:
        """The vertices and faces themselves."""
        if isinstance(self.faces, np.ndarray):
            return self.vertices, self.faces.tolist()
        return self.vertices, [list(face) for face in self.faces]

    def is_fine(self, count: int) -> bool:
        """Whether it is an array of more triangles than that."""
        faces = self.faces
        return isinstance(faces, np.ndarray) and faces.shape[1] == 3 and len(faces) > count

    def corners(self) -> Array:
        """The vertices, or of many the corners of the box around them."""
        points = self.vertices
        if len(points) > _MANY:
            low, high = points.min(axis=0), points.max(axis=0)
            points = (low + high) / 2 + _CUBE * (high - low) / 2
        corners: Array = self.position[:, None] + points @ np.swapaxes(self.rotation, 1, 2)
        return corners


_CUBE: Array = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_CUBE_FACES = [
    [0, 1, 3, 2],
    [4, 6, 7, 5],
    [0, 4, 5, 1],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 5, 7, 3],
]
