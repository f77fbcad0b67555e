"""What joints are made of: the conditions that hold two markers, each a few rows.

A row is an expression Φ that is held at zero, the same at velocity level, written with velocity
operators, and what a unit of its multiplier λ does to the body of marker j:

    coincide        Φ = r_j - r_i             Φ' = v_j - v_i                     F = 1,  M = 0
    perpendicular   Φ = a_i · b_j             Φ' = (ω_i - ω_j) · (a x b)         F = 0,  M = b x a
    along (a)       Φ = a_i · d - s           Φ' = a · d' + (ω_i x a) · d        F = a,  M = 0
    distance        Φ = (d · d - L²) / 2L     Φ' = d · d' / L                    F = d/L, M = 0
    projection      Φ = c · d - s             Φ' = c · d'                        F = c,  M = 0

(Haug 1989, ch. 9; these are DP1, DP2, D and CD of Peinado's thesis with its signs corrected, and
D divided by 2L, so that its multiplier is the force in the rod.)  The force that the joint exerts
on body j through the point of marker j is -λ F, and its moment -λ M.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.model.pair import Pair
from biela.model.quantities.values import Value
from biela.space import Vector


@dataclass(frozen=True, eq=False)
class Row:
    """One equation of a joint, and the wrench on body j of a unit of its multiplier."""

    label: str
    value: Atom
    #: Its time derivative, written with velocity operators; None: to be differentiated.
    speed: Atom | None
    force: Vector
    moment: Vector
    #: Positive at the root that is meant, where the equation has another half a turn away.
    side: Atom | None = None


class Primitive(ABC):
    """A condition on two markers."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many rows it has."""

    @abstractmethod
    def rows(self, pair: Pair) -> list[Row]:
        """Its equations."""

    @property
    @abstractmethod
    def equation(self) -> str:
        """The equations as a person writes them."""


@dataclass(frozen=True)
class Coincide(Primitive):
    """The two points are one: three rows along the axes of the ground."""

    @property
    def count(self) -> int:
        """Three."""
        return 3

    @property
    def equation(self) -> str:
        """As text."""
        return "r_j - r_i = 0"

    def rows(self, pair: Pair) -> list[Row]:
        """R_j - r_i = 0."""
        root = pair.space.root
        gap, speed = pair.gap.components(root), pair.speed.components(root)
        nothing = Vector(pair.space, {})
        units = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        return [
            Row(axis, gap[k], speed[k], root.vector(*units[k]), nothing)
            for k, axis in enumerate("xyz")
        ]


@dataclass(frozen=True)
class Perpendicular(Primitive):
    """An axis of i keeps its angle with an axis of j: cos = value, 0 for a right angle.

    Where other equations hold two axes parallel, ``alike`` names those that then point the same
    way and not against each other: an axis of i and one of j.
    """

    a: str
    b: str
    value: Value = 0.0
    alike: tuple[str, str] | None = None

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def equation(self) -> str:
        """As text."""
        return (
            f"{self.a}_i · {self.b}_j = {self.value:g}"
            if not isinstance(self.value, str)
            else f"{self.a}_i · {self.b}_j = {self.value}"
        )

    def rows(self, pair: Pair) -> list[Row]:
        """A_i · b_j - value = 0."""
        a, b = pair.i.axis(self.a), pair.j.axis(self.b)
        value = a.dot(b) - pair.number(self.value, "none")
        lever = b.cross(a)
        speed = pair.turning.dot(lever)
        label = f"axis_{self.a}{self.b}"
        side = pair.i.axis(self.alike[0]).dot(pair.j.axis(self.alike[1])) if self.alike else None
        return [Row(label, value, speed, Vector(pair.space, {}), lever, side)]


@dataclass(frozen=True)
class Parallel(Primitive):
    """The z axes of both are parallel: z_j is perpendicular to x_i and to y_i.

    They point the same way, unless ``either_way``.
    """

    either_way: bool = False

    @property
    def count(self) -> int:
        """Two."""
        return 2

    @property
    def equation(self) -> str:
        """As text."""
        return "x_i · z_j = 0,  y_i · z_j = 0"

    def rows(self, pair: Pair) -> list[Row]:
        """Two perpendiculars."""
        alike = None if self.either_way else ("z", "z")
        conditions = (Perpendicular(a, "z", alike=alike) for a in "xy")
        return [row for condition in conditions for row in condition.rows(pair)]


@dataclass(frozen=True)
class Along(Primitive):
    """The gap has a given component along an axis of i: 0 keeps j in the plane across it."""

    a: str
    value: Value = 0.0

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def equation(self) -> str:
        """As text."""
        return f"{self.a}_i · d = {self.value}"

    def rows(self, pair: Pair) -> list[Row]:
        """A_i · d - value = 0."""
        a = pair.i.axis(self.a)
        value = a.dot(pair.gap) - pair.number(self.value, "length")
        speed = a.dot(pair.relative_speed)
        return [Row(f"along_{self.a}", value, speed, a, Vector(pair.space, {}))]


@dataclass(frozen=True)
class Distance(Primitive):
    """The points are a length apart, as if joined by a rod without mass."""

    length: Value

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def equation(self) -> str:
        """As text."""
        return f"(d · d - L²) / 2L = 0,  L = {self.length}"

    def rows(self, pair: Pair) -> list[Row]:
        """(d · d - L²) / 2L = 0."""
        L = pair.number(self.length, "length")
        value = (pair.gap.norm2() / L - L) / 2
        speed = pair.gap.dot(pair.speed) / L
        return [Row("length", value, speed, pair.gap / L, Vector(pair.space, {}))]


@dataclass(frozen=True)
class Projection(Primitive):
    """The gap has a given component along an axis of the ground."""

    axis: str
    value: Value = 0.0

    @property
    def count(self) -> int:
        """One."""
        return 1

    @property
    def equation(self) -> str:
        """As text."""
        return f"{self.axis} · (r_j - r_i) = {self.value}"

    def rows(self, pair: Pair) -> list[Row]:
        """C · d - value = 0."""
        (row,) = (r for r in Coincide().rows(pair) if r.label == self.axis)
        value = row.value - pair.number(self.value, "length")
        return [Row(self.axis, value, row.speed, row.force, row.moment)]


def all_rows(primitives: Sequence[Primitive], pair: Pair) -> list[Row]:
    """The rows of several conditions."""
    return [row for primitive in primitives for row in primitive.rows(pair)]
