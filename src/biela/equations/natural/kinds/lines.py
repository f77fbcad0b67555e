"""Equations of points on lines: collinearity, and sliders with their distance.

    collinear   d x v = 0,  d = r_b - r_a:     two rows of three that depend on each other
    slider      d - s v = 0
    distance    (d · d / s - s) / 2 = 0

Σ v_k (d x v)_k = 0, so that the row of the largest component of v follows from the other two.
Without the row x, y or z the slopes of the others span v_x, -v_y or v_z times the same area: where
the row that is left out changes along a motion, the sign of one of the two keeps that of the area,
so that the determinant of all rows does not jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom, both, select
from biela.equations.natural.entities import Form, cross, dot, formed
from biela.equations.natural.kinds.kind import Kind, Parts


@dataclass(frozen=True)
class Collinear(Kind):
    """Two points stay on a line along an arrow.

    Attributes:
        d: The way between the points.
        v: Along the line.
        without: The row that is left out, "x", "y" or "z", as is best where a motion starts; or ""
            to leave out the one that is best at every instant (the pattern is that of all).
    """

    d: Form
    v: Form
    without: str

    def labels(self, dimension: int) -> tuple[str, ...]:
        """Two, or one in the plane."""
        if dimension == 2:
            return ("across",)
        if not self.without:
            return "first", "second"
        return tuple(axis for axis in "xyz" if axis != self.without)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """The rows of d x v that are kept."""
        del p, t
        d, v = formed(self.d, x), formed(self.v, x)
        found = cross(d, v)
        if len(found) == 1:
            return found
        if self.without:
            return [row for axis, row in zip("xyz", found, strict=True) if axis != self.without]
        a, b, c = (e * e for e in v)
        first = both(a >= b, a >= c)
        third = both(c > a, c > b)
        area = select(first, v[0], select(third, v[2], -v[1]))
        kept = select(first, found[1], found[0])
        return [select(area < 0, -kept, kept), select(third, found[1], found[2])]


@dataclass(frozen=True)
class Slider(Kind):
    """One point is at a distance s from another along a vector: parts r_a, r_b, v, s."""

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One a component."""
        return tuple("xyz"[:dimension])

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """R_b - r_a - s v."""
        del p, t
        s = x[3][0]
        return [b - a - s * v for a, b, v in zip(x[0], x[1], x[2], strict=True)]


@dataclass(frozen=True)
class Apart(Kind):
    """Two points are s apart: parts r_a, r_b, s.  It is regular for every s > 0."""

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("distance",)

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """(d · d / s - s) / 2, whose multiplier is the force along s."""
        del p, t
        d = formed(("-", 0, 1), x)
        s = x[2][0]
        return [(dot(d, d) / s - s) / 2]
