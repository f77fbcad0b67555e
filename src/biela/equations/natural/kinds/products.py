"""Equations of scalar products: lengths, unit vectors, angles that stay.

length    (u · u - L²) / 2L = 0      for u from point to point: λ is the force in the rod
unit      (v · v - l²) / 2 = 0
dot       a · b - c = 0              for vectors, segments, or one of each
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.natural.entities import Form, dot, formed
from biela.equations.natural.kinds.kind import Kind, Parts


@dataclass(frozen=True)
class Length(Kind):
    """Two points stay L apart."""

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("length",)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """(u · u - L²) / 2L."""
        del t
        u = formed(("-", 0, 1), x)
        return [(dot(u, u) / p[0] - p[0]) / 2]


@dataclass(frozen=True)
class Unit(Kind):
    """A vector keeps its length."""

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("unit",)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """(v · v - l²) / 2."""
        del t
        return [(dot(x[0], x[0]) - p[0] * p[0]) / 2]


@dataclass(frozen=True)
class Dot(Kind):
    """Two arrows keep their scalar product."""

    a: Form
    b: Form

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("dot",)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """A · b - c."""
        del t
        return [dot(formed(self.a, x), formed(self.b, x)) - p[0]]
