"""Orthogonal transformations that leave one entry of a column.

Two rows are turned by a plane rotation, more are reflected (Householder 1958).  Neither needs a
choice by size: |H y| = |y| whatever the column is, so that an order fixed before any number is
known is as good as any.  Both cost a root and a division, which give the reciprocal of the pivot
as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from biela.atoms import Atom, maximum, select, sqrt
from biela.equations.groups.elimination.inverses import dot

__all__ = ["Reflection", "Rotation", "Transformation", "transformation"]

#: Squares of lengths are kept above this, so that a column of zeros gives a pivot of 1e-140 and
#: finite entries beside it, not a quotient 0/0: the gauge then says what is wrong.
_LEAST_SQUARE = 1e-280


class Transformation(Protocol):
    """H with Hᵀ H = 1 and H a = (pivot, 0, 0 …)."""

    @property
    def pivot(self) -> Atom:
        """What is left of the column."""

    @property
    def reciprocal(self) -> Atom:
        """One divided by the pivot."""

    @property
    def determinant(self) -> int:
        """1 for a rotation, -1 for a reflection."""

    def apply(self, y: Sequence[Atom]) -> list[Atom]:
        """H y."""

    def apply_transposed(self, y: Sequence[Atom]) -> list[Atom]:
        """Hᵀ y."""


def transformation(column: Sequence[Atom]) -> Transformation:
    """What turns a column of two entries or more into a multiple of (1, 0, 0 …)."""
    return Rotation.of(*column) if len(column) == 2 else Reflection.of(column)


@dataclass(frozen=True)
class Rotation:
    """A rotation in a plane by the angle with cosine c and sine s."""

    pivot: Atom
    reciprocal: Atom
    c: Atom
    s: Atom
    determinant: int = 1

    @classmethod
    def of(cls, a: Atom, b: Atom) -> Rotation:
        """The rotation of (a, b) to (r, 0)."""
        r = sqrt(maximum(a * a + b * b, _LEAST_SQUARE))
        reciprocal = 1 / r
        return cls(r, reciprocal, a * reciprocal, b * reciprocal)

    def apply(self, y: Sequence[Atom]) -> list[Atom]:
        """H y."""
        p, q = y
        return [self.c * p + self.s * q, self.c * q - self.s * p]

    def apply_transposed(self, y: Sequence[Atom]) -> list[Atom]:
        """Hᵀ y."""
        p, q = y
        return [self.c * p - self.s * q, self.s * p + self.c * q]


@dataclass(frozen=True)
class Reflection:
    """H = 1 - v wᵀ with w = v/(r (r + |a₁|)), v = a ± r (1, 0, 0 …) and r = |a|.

    The sign is that of a₁, so that nothing cancels in v; H is symmetric.
    """

    pivot: Atom
    reciprocal: Atom
    v: Sequence[Atom]
    w: Sequence[Atom]
    determinant: int = -1

    @classmethod
    def of(cls, column: Sequence[Atom]) -> Reflection:
        """The reflection of a column."""
        first = column[0]
        r = sqrt(maximum(dot(column, column), _LEAST_SQUARE))
        signed = select(first < 0, -r, r)
        head = first + signed
        # one division: 1/(r (r + |a₁|)), of which 1/r is a multiple
        scale = 1 / (signed * head)
        v = [head, *column[1:]]
        return cls(-signed, -scale * head, v, [scale * entry for entry in v])

    def apply(self, y: Sequence[Atom]) -> list[Atom]:
        """H y."""
        share = dot(self.w, y)
        return [entry - v * share for entry, v in zip(y, self.v, strict=True)]

    def apply_transposed(self, y: Sequence[Atom]) -> list[Atom]:
        """Hᵀ y, the same."""
        return self.apply(y)
