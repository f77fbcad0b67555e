"""Matrices of order one, two and three solved without a choice of pivots.

Each is solved for any number of right-hand sides, also with the transposed matrix, after one
division.  None is hurt by an entry that vanishes while the matrix is regular:

* `Cramer`: order two; the error is that of elimination with pivots (Higham 2002, §1.10.1).
* `Adjugate`: order three by its nine minors.  The determinant σ₁σ₂σ₃ has the error ε σ₁³, so the
  relative error grows as σ₁²/(σ₂σ₃): the same as with pivots where one singular value goes to
  zero, the square of it where two go together.
* `Orthogonal`: order three by two vectors made perpendicular to the first column, without roots:
  b' = (a × b) × a and n = a × b'.  As a modified Gram-Schmidt process (Björck 1967) it has
  the error of elimination with pivots for any singular values.
* `Projection`: one column, any number of rows: least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Protocol

from biela.atoms import Atom, sqrt
from biela.equations.groups.elimination.matrix import Entries

__all__ = ["Adjugate", "Cramer", "Orthogonal", "Projection", "Quotient", "Solver", "dot"]


class Solver(Protocol):
    """What solves A x = b and Aᵀ x = b."""

    @property
    def determinant(self) -> Atom:
        """The determinant; √det(AᵀA) with more rows than columns."""

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""


def dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    """The sum of products; what is identically zero leaves nothing."""
    return reduce(add, (x * y for x, y in zip(a, b, strict=True)))


@dataclass(frozen=True)
class Quotient:
    """Order one."""

    determinant: Atom
    reciprocal: Atom

    @classmethod
    def of(cls, A: Entries) -> Quotient:
        """From the matrix."""
        return cls(A[0][0], 1 / A[0][0])

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of a x = b."""
        return [b[0] * self.reciprocal]

    solve_transposed = solve


@dataclass(frozen=True)
class Projection:
    """One column of several rows: x = a·b / a·a, and the shortest of all solutions transposed."""

    column: Sequence[Atom]
    determinant: Atom
    reciprocal: Atom

    @classmethod
    def of(cls, A: Entries) -> Projection:
        """From the matrix."""
        column = [row[0] for row in A]
        square = dot(column, column)
        return cls(column, sqrt(square), 1 / square)

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The x that makes |a x - b| least."""
        return [dot(self.column, b) * self.reciprocal]

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The shortest x with a·x = b."""
        x = b[0] * self.reciprocal
        return [a * x for a in self.column]


@dataclass(frozen=True)
class Cramer:
    """Order two: the rule of Cramer."""

    A: Entries
    determinant: Atom
    reciprocal: Atom

    @classmethod
    def of(cls, A: Entries) -> Cramer:
        """From the matrix."""
        determinant = A[0][0] * A[1][1] - A[0][1] * A[1][0]
        return cls(A, determinant, 1 / determinant)

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""
        (p, q), (r, s) = self.A
        return [(s * b[0] - q * b[1]) * self.reciprocal, (p * b[1] - r * b[0]) * self.reciprocal]

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""
        (p, q), (r, s) = self.A
        return [(s * b[0] - r * b[1]) * self.reciprocal, (p * b[1] - q * b[0]) * self.reciprocal]


@dataclass(frozen=True)
class Adjugate:
    """Order three: the matrix of minors, divided by the determinant."""

    minors: Entries
    determinant: Atom
    reciprocal: Atom

    @classmethod
    def of(cls, A: Entries) -> Adjugate:
        """From the matrix."""
        a, b, c = A
        minors = [cross(b, c), cross(c, a), cross(a, b)]
        # along the row that has most zeros the fewest minors are needed
        k = max(range(3), key=lambda i: sum(not entry.ref for entry in A[i]))
        determinant = dot(A[k], minors[k])
        return cls(minors, determinant, 1 / determinant)

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b."""
        columns = zip(*self.minors, strict=True)
        return [dot(column, b) * self.reciprocal for column in columns]

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b."""
        return [dot(row, b) * self.reciprocal for row in self.minors]


@dataclass(frozen=True)
class Orthogonal:
    """Order three by perpendicular vectors a, b', n; one division for the three quotients."""

    columns: Entries
    basis: Entries
    quotients: Sequence[Atom]
    determinant: Atom

    @classmethod
    def of(cls, A: Entries) -> Orthogonal:
        """From the matrix."""
        a, b, c = ([row[j] for row in A] for j in range(3))
        # vector products are perpendicular to their factors to the last digit, however close to
        # parallel a and b are; (a·a) b - (a·b) a would keep a part along a
        area = cross(a, b)
        side = cross(area, a)
        normal = cross(a, side)
        aa, bb, height = dot(a, a), dot(side, side), dot(normal, c)
        # one division: 1/(a·a), (a·a)/(b'·b') and 1/(n·c) from the reciprocal of their product
        plane = aa * bb
        reciprocal = 1 / (plane * height)
        inverse_plane = height * reciprocal
        quotients = [bb * inverse_plane, aa * aa * inverse_plane, plane * reciprocal]
        # (n·c)/(a·a) is the determinant too, but no number where the first column vanishes
        return cls([a, b, c], [a, side, normal], quotients, dot(area, c))

    def solve(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of A x = b; what each unknown explains is taken off before the next."""
        left = list(b)
        x = [b[0]] * 3
        for k in (2, 1, 0):
            x[k] = dot(self.basis[k], left) * self.quotients[k]
            if k:
                left = [y - a * x[k] for a, y in zip(self.columns[k], left, strict=True)]
        return x

    def solve_transposed(self, b: Sequence[Atom]) -> list[Atom]:
        """The solution x of Aᵀ x = b, from the shares of a, b' and n in turn."""
        share = b[0] * self.quotients[0]
        x = [a * share for a in self.basis[0]]
        for k in (1, 2):
            share = (b[k] - dot(self.columns[k], x)) * self.quotients[k]
            x = [y + e * share for e, y in zip(self.basis[k], x, strict=True)]
        return x


def cross(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    """The vector product."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
