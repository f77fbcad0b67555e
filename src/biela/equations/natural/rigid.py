"""A body of a model on a point and arrows: its basis, and the equations that keep its shape.

    e_i · e_j = constant:     six in space, one in the plane

written once where two bodies share both arrows, and not at all between arrows that are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from biela.atoms import Atom, sqrt
from biela.equations.natural.bodies import NaturalBody, inverse3
from biela.equations.natural.body_draft import embedded
from biela.equations.natural.drafting import PLANES
from biela.equations.natural.entities import (
    Arrow,
    Entity,
    NaturalPoint,
    NaturalVector,
    Segment,
    dot,
    form,
    formed,
)
from biela.equations.natural.kinds import Unit
from biela.equations.natural.layout import Layout


class Span:
    """The origin and arrows of a body, each with its place in the frame of the body."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.origin: NaturalPoint
        #: The origin in the frame of the body.
        self.at: Sequence[Atom]
        self.arrows: list[Arrow] = []
        self.local: list[list[Atom]] = []

    def segment(self, end: NaturalPoint, way: Sequence[Atom]) -> None:
        """The way from the origin to another point."""
        self.arrows.append(Segment(self.origin, end))
        self.local.append(list(way))

    def vector(self, vector: NaturalVector, along: Sequence[Atom]) -> None:
        """A vector."""
        self.arrows.append(vector)
        self.local.append(list(along))


def rigid_body(layout: Layout, span: Span, across: float) -> NaturalBody:
    """The body, with its equations written.  ``across`` is where it is across its plane."""
    _hold(layout, span)
    ws = layout.workspace
    basis = [embedded(layout, _components(arrow)) for arrow in span.arrows]
    E = [list(way) for way in span.local]
    origin = embedded(layout, span.origin.components)
    if layout.plane:
        a, b, n = ("xyz".index(axis) for axis in PLANES[layout.plane])
        x, y = basis[0][a], basis[0][b]
        u, w = E[0][a], E[0][b]
        E[0][n] = ws.atom(0)
        basis += [embedded(layout, [-y, x]), [ws.atom(float(k == n)) for k in range(3)]]
        E += [embedded(layout, [-w, u]), [ws.atom(float(k == n)) for k in range(3)]]
        origin[n] = ws.atom(across)
    columns = [[E[j][i] for j in range(3)] for i in range(3)]
    inverse = tuple(tuple(_clean(x) for x in row) for row in inverse3(columns))
    return NaturalBody(span.name, tuple(origin), tuple(tuple(e) for e in basis), inverse, 3)


def _components(arrow: Arrow) -> list[Atom]:
    parts: list[Entity] = []
    shape = form(arrow, parts)
    return formed(shape, [part.components for part in parts])


def _clean(x: Atom) -> Atom:
    """A number without the dust of rounding on 0 and 1."""
    value = x.value
    if value is not None and abs(float(value) - round(float(value))) < 1e-14:
        return x.workspace.atom(float(round(float(value))))
    return x


def _hold(layout: Layout, span: Span) -> None:
    arrows = list(zip(span.arrows, span.local, strict=True))
    if layout.plane:
        keep = ["xyz".index(axis) for axis in layout.plane]
        arrows = [(arrow, [way[k] for k in keep]) for arrow, way in arrows]
    for arrow, way in arrows:
        if isinstance(arrow, Segment):
            _length(layout, span, arrow.first, arrow.second, way)
        elif isinstance(arrow, NaturalVector) and _new(layout, "unit", arrow):
            layout.constrain(Unit(), (arrow,), [1.0], arrow.name)
    for (first, a), (second, b) in combinations(arrows, 2):
        if isinstance(first, Segment) and isinstance(second, Segment):
            way = [y - x for x, y in zip(a, b, strict=True)]
            _length(layout, span, first.second, second.second, way)
            continue
        parts: list[Entity] = []
        form(first, parts), form(second, parts)
        if _new(layout, "dot", *parts):
            value = _clean(dot(a, b))
            layout.dot(first, second, value, f"{span.name}.{'-'.join(p.name for p in parts)}")


def _length(
    layout: Layout, span: Span, p: NaturalPoint, q: NaturalPoint, way: Sequence[Atom]
) -> None:
    if _new(layout, "length", p, q):
        layout.length(p, q, sqrt(dot(way, way)), f"{span.name}.{p.name}-{q.name}")


def _new(layout: Layout, what: str, *entities: Entity) -> bool:
    """Whether an equation is new and not between fixed entities."""
    if not any(free for entity in entities for free in entity.free):
        return False
    return layout.write_once(what, frozenset(id(e) for e in entities))
