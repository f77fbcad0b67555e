"""What natural coordinates are the components of: points and unit vectors; and relative ones.

Relative coordinates, the angles and distances of joints, have no inertia: constraints tie them to
points and vectors, and motors, springs and drivers act on them directly.  Components that are fixed
are constants and no coordinates (García de Jalón & Bayo 1994, ch. 2 and 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, Kind
from biela.errors import ModelError

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entity:
    """Something that has components: a point, a vector, or a relative coordinate.

    Attributes:
        name: By which results know it; its coordinates are called "name.x" …
        components: A symbol where a component is a coordinate, a constant where it is fixed: two
            in the plane, three in space, one of a relative coordinate.
        start: Their values where a motion starts.
    """

    name: str
    components: tuple[Atom, ...]
    start: tuple[float, ...]

    @property
    def free(self) -> tuple[bool, ...]:
        """Which components are coordinates."""
        return tuple(is_coordinate(x) for x in self.components)

    @property
    def at(self) -> Floats:
        """Where it starts."""
        return np.array(self.start)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name}"


class NaturalPoint(Entity):
    """A point of one body, or shared by several."""


class NaturalVector(Entity):
    """A vector that keeps its length, mostly a unit vector along the axis of a joint."""


class RelativeCoordinate(Entity):
    """An angle or a distance."""

    @property
    def q(self) -> Atom:
        """Its symbol, or its constant where it is fixed."""
        return self.components[0]


@dataclass(frozen=True)
class Segment:
    """The vector from one point to another."""

    first: NaturalPoint
    second: NaturalPoint

    def __post_init__(self) -> None:
        """Refuse a way that leads nowhere.

        Raises:
            ModelError: Both points are one, or one of them is no point.
        """
        for point in (self.first, self.second):
            if not isinstance(point, NaturalPoint):
                raise ModelError(f"a segment is between two points, and {point!r} is none")
        if self.first is self.second:
            raise ModelError(
                f"the segment from point {self.first.name} to itself has no direction; give it "
                f"two points"
            )


@dataclass(frozen=True)
class Cross:
    """The vector product of two arrows, in space."""

    a: Arrow
    b: Arrow


#: What has a direction: a vector, the way from point to point, or a product of such.
Arrow: TypeAlias = "NaturalVector | Segment | Cross"

#: An arrow without its entities, which are numbers of parts: one, ("-", i, j), ("x", a, b).
Form: TypeAlias = "int | tuple[str, Form, Form]"


def form(arrow: Arrow, parts: list[Entity]) -> Form:
    """The form of an arrow; entities that are not among the parts yet are added to them.

    Raises:
        ModelError: It is a point or something else without a direction.
    """
    if isinstance(arrow, Segment):
        return "-", _number(arrow.first, parts), _number(arrow.second, parts)
    if isinstance(arrow, Cross):
        return "x", form(arrow.a, parts), form(arrow.b, parts)
    if not isinstance(arrow, NaturalVector):
        raise ModelError(
            f"{arrow!r} has no direction; give a vector, Segment(p, q) of two points or Cross(a, b)"
        )
    return _number(arrow, parts)


def _number(entity: Entity, parts: list[Entity]) -> int:
    for k, part in enumerate(parts):
        if part is entity:
            return k
    parts.append(entity)
    return len(parts) - 1


def formed(shape: Form, x: Sequence[Sequence[Atom]]) -> list[Atom]:
    """The components of an arrow from those of its parts."""
    if isinstance(shape, int):
        return list(x[shape])
    how, a, b = shape
    first, second = formed(a, x), formed(b, x)
    if how == "-":
        return [q - p for p, q in zip(first, second, strict=True)]
    return cross(first, second)


def dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    """The scalar product."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def cross(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    """The vector product in space; in the plane its one component, along the normal."""
    if len(a) == 2:
        return [a[0] * b[1] - a[1] * b[0]]
    return [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]


def at_start(arrow: Arrow) -> Floats:
    """The components of an arrow where a motion starts."""
    if isinstance(arrow, Segment):
        return arrow.second.at - arrow.first.at
    if isinstance(arrow, Cross):
        found: Floats = np.cross(at_start(arrow.a), at_start(arrow.b))
        return found
    return arrow.at


def label(arrow: Arrow) -> str:
    """An arrow as text: "p1-p2", "v", "a x b"."""
    if isinstance(arrow, Segment):
        return f"{arrow.first.name}-{arrow.second.name}"
    if isinstance(arrow, Cross):
        return f"{label(arrow.a)} x {label(arrow.b)}"
    return arrow.name


def moves(expression: Atom) -> bool:
    """Whether coordinates are in an expression."""
    table = expression.table
    return any(
        table.symbols[ref].kind is Kind.COORDINATE
        for ref in table.live([expression.ref])
        if ref in table.symbols
    )


def is_coordinate(x: Atom) -> bool:
    """Whether a component is a coordinate and no constant."""
    symbol = x.table.symbols.get(x.ref)
    return symbol is not None and symbol.kind is Kind.COORDINATE
