"""How the coordinate of a joint is read from the poses of its markers.

A joint that closes a loop has no coordinate of its own: it is read.  An angle is known up to whole
turns only; where equations need it over several turns, it becomes a coordinate θ without inertia,
held by the row

    s cos θ - c sin θ = sin(angle - θ) = 0,      s = a_i · b_j,  c = p_i · q_j,

whose slope is -1 at the solution for every θ: it drives through any number of turns (a cosine row
would be singular at 0 and π).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, atan2, cos, sin
from biela.model.joints.primitives import Row
from biela.model.pair import Pair
from biela.space import Vector

Floats = npt.NDArray[np.float64]


class Reading(ABC):
    """How one coordinate is read from a pair of markers."""

    #: Whether the value is known up to whole turns only.
    turns: bool = False

    @abstractmethod
    def value(self, pair: Pair) -> Atom:
        """The coordinate."""

    @abstractmethod
    def rate(self, pair: Pair) -> Atom:
        """Its time derivative."""

    @abstractmethod
    def row(self, pair: Pair, target: Atom, rate: Atom) -> Row:
        """The equation coordinate = target, regular for any target whose time rate is given."""

    def held(self, pair: Pair, target: Atom) -> Row:
        """The equation coordinate = target, for a target whose rate is found here."""
        return self.row(pair, target, pair.space.time_rate(target))

    def side(self, pair: Pair, target: Atom) -> Atom | None:
        """Positive where the coordinate is the target and not the other root of its row.

        None where the row has no other root.
        """
        del pair, target
        return None

    @abstractmethod
    def number(self, T: Floats) -> float:
        """The coordinate at a pose T (4 x 4) of j seen from i."""


@dataclass(frozen=True)
class Angle(Reading):
    """An angle with sine a_i · b_j and cosine p_i · q_j, the axes given as ("a", "b"), ("p", "q").

    A turn of j about the z axis of i has sine ("y", "x") and cosine ("x", "x").
    """

    sine: tuple[str, str] = ("y", "x")
    cosine: tuple[str, str] = ("x", "x")
    turns = True

    def _parts(self, pair: Pair) -> tuple[Atom, Atom, Vector, Vector]:
        """S and c, and the levers by which the relative turning changes them."""
        a, b = pair.i.axis(self.sine[0]), pair.j.axis(self.sine[1])
        p, q = pair.i.axis(self.cosine[0]), pair.j.axis(self.cosine[1])
        return a.dot(b), p.dot(q), b.cross(a), q.cross(p)

    def value(self, pair: Pair) -> Atom:
        """Atan2(s, c), between -π and π."""
        s, c, _, _ = self._parts(pair)
        return atan2(s, c)

    def rate(self, pair: Pair) -> Atom:
        """(c s' - s c') / (s² + c²)."""
        s, c, of_s, of_c = self._parts(pair)
        lever = of_s * c - of_c * s
        return pair.turning.dot(lever) / (s * s + c * c)

    def row(self, pair: Pair, target: Atom, rate: Atom) -> Row:
        """S cos θ - c sin θ = 0."""
        s, c, of_s, of_c = self._parts(pair)
        sine, cosine = sin(target), cos(target)
        lever = of_s * cosine - of_c * sine
        speed = pair.turning.dot(lever) - (s * sine + c * cosine) * rate
        return Row("angle", s * cosine - c * sine, speed, Vector(pair.space, {}), lever)

    def side(self, pair: Pair, target: Atom) -> Atom | None:
        """S sin θ + c cos θ = cos(angle - θ): the row has another root half a turn away."""
        s, c, _, _ = self._parts(pair)
        return s * sin(target) + c * cos(target)

    def number(self, T: Floats) -> float:
        """At a pose."""
        R = T[:3, :3]

        def entry(axes: tuple[str, str]) -> float:
            (a, f), (b, g) = (_signed(axes[0]), _signed(axes[1]))
            return float(f * g * R[a, b])

        return float(np.arctan2(entry(self.sine), entry(self.cosine)))


@dataclass(frozen=True)
class Offset(Reading):
    """The component of the gap along an axis of i."""

    axis: str = "z"

    def value(self, pair: Pair) -> Atom:
        """A_i · d."""
        return pair.i.axis(self.axis).dot(pair.gap)

    def rate(self, pair: Pair) -> Atom:
        """A_i · d', seen from i."""
        return pair.i.axis(self.axis).dot(pair.relative_speed)

    def row(self, pair: Pair, target: Atom, rate: Atom) -> Row:
        """A_i · d - s = 0."""
        a = pair.i.axis(self.axis)
        nothing = Vector(pair.space, {})
        return Row("offset", self.value(pair) - target, self.rate(pair) - rate, a, nothing)

    def number(self, T: Floats) -> float:
        """At a pose."""
        k, sign = _signed(self.axis)
        return float(sign * T[k, 3])


@dataclass(frozen=True)
class Length(Reading):
    """The distance between the points."""

    def value(self, pair: Pair) -> Atom:
        """|d|."""
        return pair.gap.norm2() ** pair.workspace.atom(0.5)

    def rate(self, pair: Pair) -> Atom:
        """D · d' / |d|."""
        return pair.gap.dot(pair.speed) / self.value(pair)

    def row(self, pair: Pair, target: Atom, rate: Atom) -> Row:
        """(d · d - L²) / 2L = 0, which is regular for every L > 0."""
        gap, L = pair.gap, target
        value = (gap.norm2() / L - L) / 2
        speed = gap.dot(pair.speed) / L - (gap.norm2() / (L * L) + 1) / 2 * rate
        return Row("length", value, speed, gap / L, Vector(pair.space, {}))

    def number(self, T: Floats) -> float:
        """At a pose."""
        return float(np.linalg.norm(T[:3, 3]))


def _signed(axis: str) -> tuple[int, float]:
    return "xyz".index(axis[-1]), -1.0 if axis[0] == "-" else 1.0
