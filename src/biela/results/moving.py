"""What all shapes of a scene have: a name, and arrays in time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from biela.errors import ShapeError
from biela.results.channels import Array, read_only

__all__ = ["Moving"]


@dataclass(frozen=True, eq=False)
class Moving(ABC):
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
