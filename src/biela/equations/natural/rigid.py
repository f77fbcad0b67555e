"""A body of a model on a point and arrows: its basis, and the equations that keep its shape.

    e_i · e_j = constant:     six in space, one in the plane

written once where two bodies share both arrows, and not at all between arrows that are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

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
    at_start,
    dot,
    form,
    formed,
)
from biela.equations.natural.kinds import Unit
from biela.equations.natural.layout import Layout
from biela.equations.natural.spanned import volume
from biela.errors import ModelError

#: What is fixed and off by more than this can never be fulfilled (m, or cosine of an angle).
_NEVER: Final = 1e-9


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
    hold_shape(layout, span)
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
    size = volume(E)
    if size.value is None:
        layout.source.volumes[span.name] = size
    columns = [[E[j][i] for j in range(3)] for i in range(3)]
    inverse = tuple(tuple(_clean(x) for x in row) for row in inverse3(columns))
    made = NaturalBody(span.name, tuple(origin), tuple(tuple(e) for e in basis), inverse, 3)
    layout.tell_from_mirror_image(made)
    return made


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


def hold_shape(layout: Layout, span: Span) -> None:
    """Write the equations that keep the products of the arrows of a body."""
    arrows = list(zip(span.arrows, span.local, strict=True))
    if layout.plane:
        keep = ["xyz".index(axis) for axis in layout.plane]
        arrows = [(arrow, [way[k] for k in keep]) for arrow, way in arrows]
    for arrow, way in arrows:
        if isinstance(arrow, Segment):
            _length(layout, span, arrow.first, arrow.second, way)
        elif (
            isinstance(arrow, NaturalVector)
            and _free([arrow])
            and layout.write_once("unit", id(arrow))
        ):
            layout.constrain(Unit(), (arrow,), [1.0], arrow.name)
    for (first, a), (second, b) in combinations(arrows, 2):
        if isinstance(first, Segment) and isinstance(second, Segment):
            way = [y - x for x, y in zip(a, b, strict=True)]
            _length(layout, span, first.second, second.second, way)
            continue
        parts: list[Entity] = []
        form(first, parts), form(second, parts)
        value = _clean(dot(a, b))
        if not _free(parts):
            found = float(at_start(first) @ at_start(second))
            _check_fixed(layout, span, parts, found - layout.value(value))
        elif layout.write_once("dot", frozenset(id(e) for e in parts)):
            layout.dot(first, second, value, f"{span.name}.{'-'.join(p.name for p in parts)}")


def _length(
    layout: Layout, span: Span, p: NaturalPoint, q: NaturalPoint, way: Sequence[Atom]
) -> None:
    length = sqrt(dot(way, way))
    if not _free([p, q]):
        found = float(np.linalg.norm(q.at - p.at))
        _check_fixed(layout, span, [p, q], found - layout.value(length))
    elif layout.write_once("length", frozenset((id(p), id(q)))):
        layout.length(p, q, length, f"{span.name}.{p.name}-{q.name}")


def _free(entities: Sequence[Entity]) -> bool:
    """Whether there is a coordinate among the components."""
    return any(free for entity in entities for free in entity.free)


def _check_fixed(layout: Layout, span: Span, fixed: Sequence[Entity], missed: float) -> None:
    """Refuse a body that does not fit between what the ground holds of it."""
    if abs(missed) > _NEVER:
        raise ModelError(
            f"{layout.name}: body {span.name} can never be where its joints hold it: "
            f"{' and '.join(entity.name for entity in fixed)} are fixed in the ground, and off by "
            f"{abs(missed):.3g} in the body; check the places and axes of their markers"
        )
