"""Vectors of a plane as complex numbers, of atoms or of rows of numbers alike.

An arrow (x, y) stands for x + i y, with x along the first axis after the normal of the plane and y
along the second.  A turn is an arrow of length one: turning is a product, turning back a product
with the conjugate, which makes a rotation four products and no function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats, clean
from biela.equations.groups.derivation import GroupDerivation

__all__ = ["Arrow", "column_arrow"]


@dataclass(frozen=True, eq=False)
class Arrow:
    """A vector of the plane; both components are atoms, or rows of numbers."""

    x: Any
    y: Any

    def __add__(self, other: Arrow) -> Arrow:
        return Arrow(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Arrow) -> Arrow:
        return Arrow(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: Any) -> Arrow:
        return Arrow(self.x * factor, self.y * factor)

    def turned(self, turn: Arrow) -> Arrow:
        """The product with another complex number: turned by its angle, if its length is one."""
        return Arrow(self.x * turn.x - self.y * turn.y, self.x * turn.y + self.y * turn.x)

    @property
    def conjugate(self) -> Arrow:
        """Mirrored at the first axis: the turn back."""
        return Arrow(self.x, -self.y)

    @property
    def left(self) -> Arrow:
        """Turned by a right angle."""
        return Arrow(-self.y, self.x)

    def dot(self, other: Arrow) -> Any:
        """The scalar product."""
        return self.x * other.x + self.y * other.y

    def cross(self, other: Arrow) -> Any:
        """Positive where the other points to the left of this one."""
        return self.x * other.y - self.y * other.x

    @property
    def square(self) -> Any:
        """The square of the length."""
        return self.dot(self)

    def same(self, other: Arrow) -> bool:
        """Whether rows of numbers are the same but for rounding."""
        size = 1e-13 * (1.0 + max(np.abs(self.x).max(), np.abs(self.y).max()))
        gap = self - other
        return bool(max(np.abs(gap.x).max(), np.abs(gap.y).max()) <= size)


def column_arrow(derivation: GroupDerivation, name: str, rows: Arrow) -> Arrow:
    """Rows of numbers as parameters of a kernel."""
    x: Atom = derivation.column(f"{name}x", cleaned(rows.x))
    y: Atom = derivation.column(f"{name}y", cleaned(rows.y))
    return Arrow(x, y)


def cleaned(rows: Any) -> Floats:
    """Numbers without dust."""
    return clean(np.asarray(rows, dtype=float))
