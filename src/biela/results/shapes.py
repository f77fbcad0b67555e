"""The shapes of a scene.

Each is plain data and answers three questions: which points it reaches, which of them decide
whether a motion is planar, and whether it turns about a given axis only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biela.errors import ShapeError
from biela.results.channels import Array, read_only

__all__ = ["Box", "Cylinder", "Dot", "Ground", "Link", "Sphere", "Trace"]

#: Sides of the prism that is drawn for a cylinder.
_SIDES = 20


@dataclass(frozen=True, eq=False)
class _Shape(ABC):
    """What all shapes have; `color` is any colour of matplotlib, "" chooses one by the name."""

    MOVING: ClassVar[tuple[str, ...]] = ()

    name: str

    @property
    def count(self) -> int:
        """The number of instants; 1 for a shape at rest."""
        return max((len(getattr(self, field)) for field in self.MOVING), default=1)

    @abstractmethod
    def corners(self) -> Array:
        """Points (k, m, 3) whose hull holds the shape."""

    def points_of_motion(self) -> Array:
        """Points (k, m, 3) that stay in one plane if the motion is planar."""
        return self.corners()

    def turns_about(self, axis: int) -> bool:
        """Whether the shape keeps its attitude but for turns about coordinate axis 0, 1 or 2."""
        return True

    def _array(self, field: str, *shape: int | None) -> None:
        """Check a field for its shape, None standing for any length, and make it an array."""
        array = read_only(getattr(self, field))
        fits = array.ndim == len(shape) and all(
            want in (None, have) for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits or not array.size:
            wanted = ", ".join("k" if want is None else str(want) for want in shape)
            raise ShapeError(
                f"{field} of the {type(self).__name__} {self.name!r} should have shape "
                f"({wanted}); it has {array.shape}"
            )
        object.__setattr__(self, field, array)


@dataclass(frozen=True, eq=False)
class Link(_Shape):
    """A line through points of a body, (k, np, 3).

    Attributes:
        name: of the body.
        points: its points at every instant.
        color: of the line.
        width: of the line, in points of 1/72 inch.
        pins: whether the points are joints, marked with a pin; False for a curve.
    """

    MOVING = ("points",)

    points: Array
    color: str = ""
    width: float = 5.0
    pins: bool = True

    def __post_init__(self) -> None:
        self._array("points", None, None, 3)

    def corners(self) -> Array:
        """The points themselves."""
        return self.points


@dataclass(frozen=True, eq=False)
class Dot(_Shape):
    """A point, (k, 3), drawn as a dot of `size` points of 1/72 inch."""

    MOVING = ("points",)

    points: Array
    color: str = ""
    size: float = 7.0

    def __post_init__(self) -> None:
        self._array("points", None, 3)

    def corners(self) -> Array:
        """The point itself."""
        return self.points[:, None]


@dataclass(frozen=True, eq=False)
class Trace(_Shape):
    """The path of a point, (k, 3), up to the present.

    Attributes:
        name: of the point.
        points: where it is at every instant.
        color: of the path.
        width: of the path, in points of 1/72 inch.
        tail: how far back the path shows, in seconds; None for all of it.
    """

    MOVING = ("points",)

    points: Array
    color: str = ""
    width: float = 1.2
    tail: float | None = None

    def __post_init__(self) -> None:
        self._array("points", None, 3)

    def corners(self) -> Array:
        """The point itself."""
        return self.points[:, None]


@dataclass(frozen=True, eq=False)
class Sphere(_Shape):
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
class _Posed(_Shape):
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
class Ground(_Shape):
    """The mark of a fixed point (3,): a hatched triangle in a plane, a pyramid in space.

    Attributes:
        name: of the point.
        point: where it is.
        size: of the mark, in metres; 0 suits it to the scene.
    """

    point: Array
    size: float = 0.0

    def __post_init__(self) -> None:
        self._array("point", 3)

    def corners(self) -> Array:
        """The point itself."""
        return self.point[None, None]


_CUBE: Array = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_CUBE_FACES = [
    [0, 1, 3, 2],
    [4, 6, 7, 5],
    [0, 4, 5, 1],
    [2, 3, 7, 6],
    [0, 2, 6, 4],
    [1, 5, 7, 3],
]
