"""Equations of relative angles θ, from an arrow a to an arrow b about an axis v of length l.

With s = (a x b) · v / l and c = a · b - a_v b_v, the products of what lies across the axis, and
K = |a_⊥| |b_⊥|, all constant but s and c:

    cosine     c - K cos θ = 0                   singular where sin θ = 0
    sine       s - K sin θ = 0                   singular where cos θ = 0
    switched   cosine where |sin θ| >= |cos θ|, else sine: the one with the larger slope by θ,
               with the sign that makes this slope negative
    both       the two of them, which depend on each other
    sum        c + s - K (cos θ + sin θ) = 0     singular where θ = 45° + k 180°
    regular    s cos θ - c sin θ = 0             slope -K by θ, in every position

The pattern of a row is that of its expression: of the switched row the union of both, so that it
never changes.  Where its two forms change places their slopes are alike, sign included: neither the
determinant of all rows jumps there, of which a change of sign tells of another branch, nor the
multiplier, which with τ the force along θ is -τ / (K |sin θ|) before and -τ / (K |cos θ|) after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from biela.atoms import Atom, cos, select, sin
from biela.equations.natural.entities import Form, cross, dot, formed
from biela.equations.natural.kinds.kind import Kind, Parts

#: The ways to write an angle.
FORMS: Final = ("cosine", "sine", "switched", "both", "sum", "regular")


@dataclass(frozen=True)
class Angle(Kind):
    """An angle about an axis; the last part is θ.  Parameters: K, a_v b_v, l.

    Attributes:
        written: One of `FORMS`.
        a: The arrow it is counted from.
        b: The arrow it is counted to.
        axis: About which it is counted; None in the plane.
    """

    written: str
    a: Form
    b: Form
    axis: Form | None

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One, or two for both."""
        del dimension
        return ("cosine", "sine") if self.written == "both" else ("angle",)

    def _parts(self, x: Parts, p: Sequence[Atom]) -> tuple[Atom, Atom]:
        """The products s and c."""
        a, b = formed(self.a, x), formed(self.b, x)
        turned = cross(a, b)
        s = turned[0] if self.axis is None else dot(turned, formed(self.axis, x)) / p[2]
        return s, dot(a, b) - p[1]

    def side(self, x: Parts, p: Sequence[Atom], t: Atom) -> Atom | None:
        """S sin θ + c cos θ, which is K at the angle itself and less at other roots."""
        del t
        s, c = self._parts(x, p)
        return s * sin(x[-1][0]) + c * cos(x[-1][0])

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """The row, or both."""
        del t
        (s, c), K, theta = self._parts(x, p), p[0], x[-1][0]
        sine, cosine = sin(theta), cos(theta)
        if self.written == "regular":
            return [s * cosine - c * sine]
        by_cosine, by_sine = c - K * cosine, s - K * sine
        if self.written == "both":
            return [by_cosine, by_sine]
        if self.written == "sum":
            return [by_cosine + by_sine]
        if self.written == "switched":
            by_cosine = select(sine < 0, by_cosine, -by_cosine)
            by_sine = select(cosine < 0, -by_sine, by_sine)
            return [select(sine * sine >= cosine * cosine, by_cosine, by_sine)]
        return [by_cosine if self.written == "cosine" else by_sine]


@dataclass(frozen=True)
class Bearing(Kind):
    """An angle by any two scalar products, sine a · b / k and cosine p · q / k'; θ is last.

    (a · b) / k cos θ - (p · q) / k' sin θ = 0: torsion and bending of a joint that turns freely.
    """

    sine: tuple[Form, Form]
    cosine: tuple[Form, Form]

    def labels(self, dimension: int) -> tuple[str, ...]:
        """One."""
        del dimension
        return ("angle",)

    def _parts(self, x: Parts, p: Sequence[Atom]) -> tuple[Atom, Atom]:
        s = dot(formed(self.sine[0], x), formed(self.sine[1], x)) / p[0]
        c = dot(formed(self.cosine[0], x), formed(self.cosine[1], x)) / p[1]
        return s, c

    def side(self, x: Parts, p: Sequence[Atom], t: Atom) -> Atom | None:
        """Negative half a turn off."""
        del t
        s, c = self._parts(x, p)
        return s * sin(x[-1][0]) + c * cos(x[-1][0])

    def rows(self, x: Parts, p: Sequence[Atom], t: Atom) -> list[Atom]:
        """The regular row."""
        del t
        (s, c), theta = self._parts(x, p), x[-1][0]
        return [s * cos(theta) - c * sin(theta)]
