"""The shapes of a scene.

Each is plain data and answers three questions: which points it reaches, which of them decide
whether a motion is planar, and whether it turns about a given axis only.
"""

from __future__ import annotations

from dataclasses import dataclass

from biela.results.channels import Array
from biela.results.moving import Moving
from biela.results.solids import Box, Cylinder, Polyhedron, Sphere

__all__ = ["Box", "Cylinder", "Dot", "Ground", "Link", "Polyhedron", "Sphere", "Trace"]


@dataclass(frozen=True, eq=False)
class Link(Moving):
    """A line through points of a body, (k, np, 3).

    Attributes:
        name: of the body.
        points: its points at every instant.
        color: of the line.
        width: of the line, in points of 1/72 inch.
        pins: whether the points are joints, marked with a pin; False for a curve.
        closed: whether it goes back to the first point and is filled: a plate.
        dashed: whether the line is broken, for what is no body: a length that is driven.
    """

    MOVING = ("points",)

    points: Array
    color: str = ""
    width: float = 5.0
    pins: bool = True
    closed: bool = False
    dashed: bool = False

    def __post_init__(self) -> None:
        self._array("points", None, None, 3)

    def corners(self) -> Array:
        """The points themselves."""
        return self.points


@dataclass(frozen=True, eq=False)
class Dot(Moving):
    """A point, (k, 3), drawn as a dot of `size` points of 1/72 inch; a hollow one is a hinge."""

    MOVING = ("points",)

    points: Array
    color: str = ""
    size: float = 7.0
    hollow: bool = False

    def __post_init__(self) -> None:
        self._array("points", None, 3)

    def corners(self) -> Array:
        """The point itself."""
        return self.points[:, None]


@dataclass(frozen=True, eq=False)
class Trace(Moving):
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
class Ground(Moving):
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
