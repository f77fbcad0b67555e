"""Points: each placed from the one before it; and frames, a point with a base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from biela.errors import DomainError
from biela.space.bases import Base, check_position
from biela.space.vectors import Vector

if TYPE_CHECKING:
    from biela.space.space import Space


class Point:
    """A node of the point tree.  Points are made by `offset`, never directly."""

    def __init__(
        self, space: Space, name: str, parent: Point | None, vector: Vector | None
    ) -> None:
        self.space, self.name, self.parent = space, name, parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._vector = vector
        self.index = space.register_point(self)

    @property
    def vector(self) -> Vector:
        """The vector from the point before to this one."""
        if self._vector is None:
            raise DomainError(f"{self.name} is the root of the points and is placed from nothing")
        return self._vector

    def offset(self, name: str, vector: Vector) -> Point:
        """The point at the end of a vector from this one.

        Raises:
            DomainError: If it is no vector of this space, or depends on more than position and
                time.
        """
        if not isinstance(vector, Vector):
            raise DomainError(
                f"{name}: {vector!r} is not a vector; write it in a base, as base.vector(x, y, z)"
            )
        if vector.space is not self.space:
            raise DomainError(f"{name}: the vector belongs to {vector.space.name}")
        check_position(f"point {name}", [x for part in vector.parts.values() for x in part])
        return Point(self.space, name, self, vector)

    def __repr__(self) -> str:
        return f"Point {self.name}"


@dataclass(frozen=True)
class Frame:
    """An observer: any point with any base."""

    point: Point
    base: Base
