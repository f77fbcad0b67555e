"""A body while it is laid on points and vectors: which of them span it, and what it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from biela.atoms import Atom
from biela.equations.natural.bodies import NaturalBody
from biela.equations.natural.drafting import PLANES
from biela.equations.natural.entities import (
    Arrow,
    Floats,
    NaturalPoint,
    NaturalVector,
    Segment,
    at_start,
    cross,
    form,
    formed,
)
from biela.equations.natural.kinds import TurnedCombination
from biela.equations.natural.tying import Tying
from biela.errors import ModelError
from biela.model.mass_properties import MassProperties
from biela.singular_values import pinv

#: An arrow whose direction is nearer than this to those before it is left for a combination.
INDEPENDENT: Final = 0.1
#: Parts of the distribution of mass below this are rounding.
_NONE: Final = 1e-9


def chosen(arrows: Sequence[Floats], wanted: int) -> list[int]:
    """The first arrows, up to a number, that are well independent of those before them."""
    found: list[int] = []
    across = np.eye(len(arrows[0]) if arrows else 3)
    for k, arrow in enumerate(arrows):
        if len(found) == wanted:
            break
        size = float(np.linalg.norm(arrow))
        rest = across @ arrow
        if size > 0 and float(np.linalg.norm(rest)) > INDEPENDENT * size:
            found.append(k)
            unit = rest / np.linalg.norm(rest)
            across = across - np.outer(unit, unit)
    return found


class BodyDraft:
    """A body of a layout while it is laid: which arrows span it, and what it keeps."""

    def __init__(
        self,
        layout: Tying,
        name: str,
        points: Sequence[NaturalPoint],
        vectors: Sequence[NaturalVector],
    ) -> None:
        if not points:
            raise ModelError(f"{layout.name}: body {name} needs at least one point")
        self.layout, self.name = layout, name
        self.points, self.vectors = list(points), list(vectors)
        self.origin = self.points[0]
        arrows: list[Arrow] = [Segment(self.origin, p) for p in self.points[1:]]
        arrows += self.vectors
        wanted = 1 if layout.plane else 3
        numbers = chosen([at_start(a) for a in arrows], wanted)
        if not numbers:
            raise ModelError(
                f"{layout.name}: body {name} has no direction: give it another point or a vector"
            )
        self.arrows = [arrows[k] for k in numbers]
        self.extra = [a for k, a in enumerate(arrows) if k not in numbers]

    def body(self) -> NaturalBody:
        """The body, in a frame that is along the ground at the start."""
        layout, ws = self.layout, self.layout.workspace
        basis = [self._embedded(self._components(arrow)) for arrow in self.arrows]
        E = [self.placed(at_start(arrow)) for arrow in self.arrows]
        linear = len(basis)
        if layout.plane:
            x, y = self._components(self.arrows[0])
            u = at_start(self.arrows[0])
            normal = np.zeros(3)
            normal["xyz".index(PLANES[layout.plane][2])] = 1.0
            basis += [self._embedded([-y, x]), [ws.atom(float(c)) for c in normal]]
            E += [self.placed(np.array([-u[1], u[0]])), normal]
            linear = 3
        elif linear == 2:
            basis.append(cross(basis[0], basis[1]))
            E.append(np.cross(E[0], E[1]))
        columns = np.array(E).T
        inverse = np.linalg.inv(columns) if len(E) == 3 else pinv(columns)
        rows = tuple(tuple(ws.atom(float(x)) for x in row) for row in inverse)
        return NaturalBody(
            self.name,
            tuple(self._embedded(self.origin.components)),
            tuple(tuple(e) for e in basis),
            rows,
            linear,
        )

    def _components(self, arrow: Arrow) -> list[Atom]:
        parts: list[NaturalPoint | NaturalVector] = []
        shape = form(arrow, parts)  # type: ignore[arg-type]
        return formed(shape, [part.components for part in parts])

    def _embedded(self, components: Sequence[Atom]) -> list[Atom]:
        return embedded(self.layout, components)

    def placed(self, components: Floats) -> Floats:
        """Numbers of the plane as three of space."""
        found = np.zeros(3)
        for axis, value in zip(PLANES[self.layout.plane], components, strict=False):
            found["xyz".index(axis)] = value
        return found

    # ------------------------------------------------------------------- what it keeps

    def hold(self) -> None:
        """The equations that keep its shape: each once, and none between what is fixed."""
        layout = self.layout
        spanning = [self.origin, *(a.second for a in self.arrows if isinstance(a, Segment))]
        vectors = [a for a in self.arrows if isinstance(a, NaturalVector)]
        for p, q in combinations(spanning, 2):
            if self._new("length", p, q):
                layout.length(p, q, owner=f"{self.name}.{p.name}-{q.name}")
        for vector in vectors:
            if self._new("unit", vector):
                layout.unit(vector)
        for arrow in spanning[1:]:
            for vector in vectors:
                if self._new("dot", self.origin, arrow, vector):
                    layout.dot(Segment(self.origin, arrow), vector, owner=self.name)
        for v, w in combinations(vectors, 2):
            if self._new("dot", v, w):
                layout.dot(v, w, owner=self.name)
        for extra in self.extra:
            self._combine(extra)

    def _new(self, what: str, *entities: NaturalPoint | NaturalVector) -> bool:
        if not any(free for entity in entities for free in entity.free):
            return False
        key = frozenset(id(e) for e in entities)
        return self.layout.write_once(what, key)

    def _combine(self, arrow: Arrow) -> None:
        """A further point or vector as a combination of the arrows of the body."""
        layout = self.layout
        entity = arrow.second if isinstance(arrow, Segment) else arrow
        assert isinstance(entity, NaturalPoint | NaturalVector)
        if not any(entity.free) and not any(x for p in self.points for x in p.free):
            return
        owner = f"{self.name}.{entity.name}"
        if layout.plane:
            u, d = at_start(self.arrows[0]), at_start(arrow)
            size = float(u @ u)
            parts = [entity]
            shape = form(self.arrows[0], parts)  # type: ignore[arg-type]
            point = isinstance(entity, NaturalPoint)
            if point and self.origin in parts:
                parts = [entity, *(p for p in parts[1:] if p is not self.origin), self.origin]
                shape = _renumbered(self.arrows[0], parts)
            elif point:
                parts.append(self.origin)
            kind = TurnedCombination(shape, point)
            c, s = float(u @ d) / size, float(u[0] * d[1] - u[1] * d[0]) / size
            layout.constrain(kind, parts, [c, s], owner)
            return
        E = np.array([at_start(a) for a in self.arrows]).T
        alpha = pinv(E) @ at_start(arrow)
        if np.abs(E @ alpha - at_start(arrow)).max() > 1e-9 * np.linalg.norm(at_start(arrow)):
            raise ModelError(
                f"{layout.name}: {entity.name} is not a combination of the other points and "
                f"vectors of body {self.name}, which lie in a plane or on a line; add a vector"
            )
        terms: dict[int, tuple[float, NaturalPoint | NaturalVector]] = {}

        def add(weight: float, what: NaturalPoint | NaturalVector) -> None:
            known = terms.get(id(what), (0.0, what))[0]
            terms[id(what)] = (known + weight, what)

        if isinstance(entity, NaturalPoint):
            add(1.0, self.origin)
        for weight, base in zip(alpha, self.arrows, strict=True):
            if isinstance(base, Segment):
                add(float(weight), base.second)
                add(-float(weight), self.origin)
            elif isinstance(base, NaturalVector):
                add(float(weight), base)
        layout.combination(entity, list(terms.values()), owner)


def _renumbered(arrow: Arrow, parts: Sequence[object]) -> tuple[str, int, int]:
    assert isinstance(arrow, Segment)
    first = next(k for k, p in enumerate(parts) if p is arrow.first)
    second = next(k for k, p in enumerate(parts) if p is arrow.second)
    return "-", first, second


def embedded(layout: Tying, components: Sequence[Atom]) -> list[Atom]:
    """Components of the plane as three of space."""
    if not layout.plane:
        return list(components)
    zero = layout.workspace.atom(0)
    at = dict(zip(PLANES[layout.plane], components, strict=False))
    return [at.get(axis, zero) for axis in "xyz"]


def moments(
    draft: BodyDraft, mass: float, centre: Floats, inertia: Floats
) -> tuple[list[float], float | None]:
    """The ten numbers of `NaturalBody.mass`, from the inertia about the centre along the ground.

    And for a rod what its second moment across adds.

    Raises:
        ModelError: No body has such a mass and inertia, or this one has mass where its points and
            vectors do not reach.
    """
    layout = draft.layout
    try:
        MassProperties(mass, centre, inertia)
    except ModelError as error:
        raise ModelError(f"{layout.name}: body {draft.name}: {error}") from error
    arm = centre - draft.placed(draft.origin.at)
    Sigma = np.trace(inertia) / 2 * np.eye(3) - inertia + mass * np.outer(arm, arm)
    spread: float | None = None
    count = len(draft.arrows)
    if not layout.plane and count < 3:
        E = np.array([at_start(a) for a in draft.arrows]).T
        across = np.eye(3) - E @ pinv(E)
        size = max(float(np.abs(Sigma).max()), mass * float(E[:, 0] @ E[:, 0]), 1e-300)
        if count == 1:
            rest = across @ Sigma @ across
            s = float(np.trace(rest)) / 2
            spread = s / float(E[:, 0] @ E[:, 0])
            Sigma = Sigma - s * across
        left = max(
            float(np.abs(across @ Sigma).max()), mass * float(np.linalg.norm(across @ arm)) ** 2
        )
        if left > _NONE * size:
            what = "of its points" if count == 1 else "of its points and vectors"
            raise ModelError(
                f"{layout.name}: body {draft.name} has mass beside the "
                f"{'line' if count == 1 else 'plane'} {what}, which they cannot carry; describe "
                f"it by a further vector that is not in it"
            )
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    ten = [mass, *(mass * arm), *(Sigma[i, j] for i, j in pairs)]
    return [0.0 if abs(x) < 1e-15 * max(mass, 1e-300) else float(x) for x in ten], spread
