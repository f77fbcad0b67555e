"""Equations that are linear, with constant derivatives: coincidence, and what depends linearly.

combination   x_k - Σ_i c_i x_i = 0,     one row a component
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.natural.entities import Form, formed
from biela.equations.natural.kinds.kind import Kind, Parts


@dataclass(frozen=True)
class Coincidence(Kind):
    """Two points, or two vectors, are one; either may be fixed."""

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One a component."""
        return tuple("xyz"[:dimension])

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """B - a."""
        del p, t
        return [b - a for a, b in zip(x[0], x[1], strict=True)]


@dataclass(frozen=True)
class Combination(Kind):
    """A further point or vector of a body: the first part is a combination of the others."""

    count: int

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One a component."""
        return tuple("xyz"[:dimension])

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """X_0 - Σ c_i x_i."""
        del t
        found = []
        for axis, entry in enumerate(x[0]):
            for k in range(self.count):
                entry = entry - p[k] * x[k + 1][axis]
            found.append(entry)
        return found


@dataclass(frozen=True)
class TurnedCombination(Kind):
    """The same in the plane, where an arrow u turned by a right angle is linear too.

    x_0 = [x_o] + c u + s u⊥,  u⊥ = (-u_y, u_x).  The last part is the origin x_o of a point.
    """

    u: Form
    point: bool

    def labels(self, dimension: int) -> tuple[str, ...]:
        """Two."""
        del dimension
        return "x", "y"

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """One a component."""
        del t
        u, (c, s) = formed(self.u, x), p
        found = [x[0][0] - c * u[0] + s * u[1], x[0][1] - c * u[1] - s * u[0]]
        return [e - o for e, o in zip(found, x[-1], strict=True)] if self.point else found
