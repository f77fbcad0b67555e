"""Rigid bodies on points and vectors.

A body is described by one of

    2 points + 2 vectors, 1 point + 3 vectors, 4 points …      any distribution of mass
    3 points, 2 points + 1 vector                              mass in the plane of these only
    2 points                                                   a rod: its spin is left out
    2 points, or 1 point + 1 vector, in the plane              any distribution of mass

that is, an origin r_o and arrows e_j from there: a point ρ of the body is r = r_o + Σ_j α_j e_j,
with α = E⁻¹ ρ and E the arrows in the frame of the body.  It keeps its shape if the arrows keep
their products, and a further point or vector is a combination of them, x = [r_o] + Σ α_j e_j
(García de Jalón & Bayo 1994, §3.2 and §4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from biela.atoms import Atom
from biela.equations.natural.entities import cross, dot
from biela.equations.natural.linear_masses import LinearMass

Matrix: TypeAlias = Sequence[Sequence[Atom]]


@dataclass(frozen=True, eq=False)
class NaturalBody:
    """A body on an origin and arrows.

    Attributes:
        name: Its name.
        origin: The components of its origin in the ground (3).
        basis: The components of its arrows in the ground (3 each): three, or one of a rod.  The
            third of two arrows in space is their product.
        inverse: E⁻¹, a row an arrow, from the frame of the body.
        linear: How many of the arrows are linear in the coordinates.
    """

    name: str
    origin: tuple[Atom, ...]
    basis: tuple[tuple[Atom, ...], ...]
    inverse: tuple[tuple[Atom, ...], ...]
    linear: int

    @property
    def handedness(self) -> Atom:
        """The determinant of its three arrows seen from its frame: 1, or -1 if it is mirrored."""
        (a, b, c), (u, v, w) = self.basis, self.inverse
        return dot(a, cross(b, c)) * dot(u, cross(v, w))

    def point(self, place: Sequence[Atom]) -> list[Atom]:
        """The components in the ground of a point of the body, given in its frame."""
        return [o + d for o, d in zip(self.origin, self.direction(place), strict=True)]

    def direction(self, along: Sequence[Atom]) -> list[Atom]:
        """The components in the ground of a direction of the body, given in its frame."""
        weights = [_sum([e * x for e, x in zip(row, along, strict=True)]) for row in self.inverse]
        return [
            _sum([w * e[k] for w, e in zip(weights, self.basis, strict=True)]) for k in range(3)
        ]

    def mass(self, ten: Sequence[Atom], spread: Atom | None = None) -> LinearMass:
        """The mass of the body: m, m r (3), and ∫ ρ ρᵀ dm (xx, yy, zz, xy, xz, yz), in its frame.

        ``spread`` is, for a rod, its second moment across.
        """
        m, x, y, z, xx, yy, zz, xy, xz, yz = ten
        Pi = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        B = [list(row) for row in self.inverse[: self.linear]]
        BPi = [[_sum([row[k] * Pi[k][j] for k in range(3)]) for j in range(3)] for row in B]
        K = [[_sum([row[k] * other[k] for k in range(3)]) for other in B] for row in BPi]
        if spread is not None:
            K[0][0] = K[0][0] + spread
        first = [_sum([row[k] * r for k, r in enumerate((x, y, z))]) for row in B]
        rows = [(*row, w) for row, w in zip(K, first, strict=True)]
        weights = (*first, m)
        on = (*self.basis[: self.linear], self.origin)
        return LinearMass(self.name, on, (*rows, weights), weights)


def _sum(terms: Sequence[Atom]) -> Atom:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def inverse3(E: Matrix) -> tuple[tuple[Atom, ...], ...]:
    """The inverse of a matrix of three rows, by its minors."""
    columns = [[E[i][j] for i in range(3)] for j in range(3)]
    minors = [cross(columns[i], columns[j]) for i, j in ((1, 2), (2, 0), (0, 1))]
    size = _sum([a * b for a, b in zip(columns[0], minors[0], strict=True)])
    return tuple(tuple(x / size for x in row) for row in minors)
