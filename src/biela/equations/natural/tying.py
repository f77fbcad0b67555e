"""The constraints of a layout, from the library of `biela.equations.natural.kinds`.

What is not given is taken from where a motion starts: lengths, products, angles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from biela.atoms import Atom
from biela.equations.natural.drafting import Drafting
from biela.equations.natural.entities import (
    Arrow,
    Entity,
    NaturalPoint,
    NaturalVector,
    RelativeCoordinate,
    Segment,
    at_start,
    form,
    label,
)
from biela.equations.natural.kinds import (
    FORMS,
    Angle,
    Apart,
    Bearing,
    Coincidence,
    Collinear,
    Combination,
    Dot,
    Driver,
    Instance,
    Kind,
    Law,
    Length,
    Slider,
    Unit,
    named_law,
)
from biela.errors import BielaError, ModelError
from biela.model.laws.law import LawData

#: Two points nearer than this have no direction between them (m).
_CLOSE: Final = 1e-12


class Tying(Drafting):
    """Constraints between points, vectors and relative coordinates."""

    def constrain(
        self,
        kind: Kind,
        parts: Sequence[Entity],
        parameters: Sequence[Atom | float] = (),
        owner: str = "",
        closure: bool = False,
    ) -> Instance:
        """Add a constraint of any kind.

        ``closure`` says that it closes a loop, for orderings that keep such rows apart.
        """
        plain = owner or "-".join(part.name for part in parts)
        name, k = plain, 1
        while name in self._owners:
            k += 1
            name = f"{plain}_{k}"
        self._owners.add(name)
        atoms = tuple(self.workspace.atom(p) for p in parameters)
        made = Instance(kind, tuple(parts), atoms, name, closure)
        self.instances.append(made)
        return made

    def length(
        self,
        first: NaturalPoint,
        second: NaturalPoint,
        length: Atom | float | None = None,
        owner: str = "",
        closure: bool = False,
    ) -> Instance:
        """Two points keep their distance, that at the start if none is given.

        Raises:
            ModelError: The distance is zero.
        """
        L = self._or(length, lambda: float(np.linalg.norm(second.at - first.at)))
        if self.value(L) < _CLOSE:
            raise ModelError(
                f"{self.name}: {first.name} and {second.name} are no distance apart; for points "
                f"that are one use coincide(…), or one point for both"
            )
        return self.constrain(Length(), (first, second), [L], owner, closure)

    def unit(self, vector: NaturalVector, owner: str = "") -> Instance:
        """A vector keeps its length."""
        return self.constrain(Unit(), (vector,), [float(np.linalg.norm(vector.at))], owner)

    def dot(
        self, a: Arrow, b: Arrow, value: Atom | float | None = None, owner: str = ""
    ) -> Instance:
        """Two arrows keep their scalar product, that at the start if none is given."""
        parts: list[Entity] = []
        kind = Dot(form(a, parts), form(b, parts))
        c = self._or(value, lambda: _clean(float(at_start(a) @ at_start(b)), a, b))
        return self.constrain(kind, parts, [c], owner or f"{label(a)}-{label(b)}")

    def coincide(
        self, first: Entity, second: Entity, owner: str = "", closure: bool = False
    ) -> Instance:
        """Two points, or two vectors, are one."""
        if type(first) is not type(second):
            raise ModelError(f"{self.name}: {first!r} and {second!r} cannot be one")
        return self.constrain(Coincidence(), (first, second), (), owner, closure)

    def close(self, first: Entity, second: Entity, owner: str = "") -> Instance:
        """Close a loop that was opened by doubling a point or vector."""
        return self.coincide(first, second, owner, closure=True)

    def combination(
        self, entity: Entity, of: Sequence[tuple[Atom | float, Entity]], owner: str = ""
    ) -> Instance:
        """A further point or vector of a body, Σ c x of its others."""
        kind = Combination(len(of))
        return self.constrain(kind, (entity, *(x for _, x in of)), [c for c, _ in of], owner)

    def collinear(
        self,
        first: NaturalPoint,
        second: NaturalPoint,
        along: Arrow,
        owner: str = "",
        switched: bool = False,
    ) -> Instance:
        """Two points stay on a line along an arrow: the two rows that are best at the start.

        ``switched`` takes at every instant those that are best then.
        """
        parts: list[Entity] = []
        d, v = form(Segment(first, second), parts), form(along, parts)
        best = "xyz"[int(np.argmax(np.abs(at_start(along))))] if self.dimension == 3 else ""
        kind = Collinear(d, v, "" if switched else best)
        return self.constrain(kind, parts, (), owner or f"{first.name}-{second.name}")

    def slider(
        self,
        first: NaturalPoint,
        second: NaturalPoint,
        vector: NaturalVector,
        s: RelativeCoordinate,
        owner: str = "",
    ) -> Instance:
        """The second point is at a distance s from the first along a vector."""
        return self.constrain(Slider(), (first, second, vector, s), (), owner or s.name)

    def apart(
        self, first: NaturalPoint, second: NaturalPoint, s: RelativeCoordinate, owner: str = ""
    ) -> Instance:
        """Two points are a distance s apart."""
        return self.constrain(Apart(), (first, second, s), (), owner or s.name)

    def turn(
        self,
        theta: RelativeCoordinate,
        a: Arrow,
        b: Arrow,
        axis: Arrow | None = None,
        written: str = "switched",
        owner: str = "",
    ) -> Instance:
        """The angle from arrow a to arrow b about an axis; see `biela.equations.natural.kinds`.

        Raises:
            ModelError: There is no such way to write it, or an arrow is along the axis.
        """
        if written not in FORMS:
            raise ModelError(
                f"{self.name}: an angle is written as {', '.join(FORMS)}, not {written!r}"
            )
        if (axis is None) != bool(self.plane):
            raise ModelError(f"{self.name}: angle {theta.name} has an axis in space, only there")
        x, y = at_start(a), at_start(b)
        length, along = 1.0, 0.0
        if axis is not None:
            v = at_start(axis)
            length = float(np.linalg.norm(v))
            along = _clean(float(x @ v) * float(y @ v) / length**2, a, b)
            x, y = (u - v * (u @ v) / length**2 for u in (x, y))
        K = float(np.linalg.norm(x) * np.linalg.norm(y))
        if K < _CLOSE:
            raise ModelError(
                f"{self.name}: angle {theta.name} is counted from {label(a)} to {label(b)}, and "
                f"one of them lies along its axis"
            )
        parts: list[Entity] = []
        forms = form(a, parts), form(b, parts)
        about = None if axis is None else form(axis, parts)
        parts.append(theta)
        kind = Angle(written, *forms, about)
        return self.constrain(kind, parts, [K, along, length], owner or theta.name)

    def angle(
        self,
        name: str,
        a: Arrow,
        b: Arrow,
        axis: Arrow | None = None,
        written: str = "switched",
        fixed: bool = False,
    ) -> RelativeCoordinate:
        """A relative coordinate that is the angle from a to b, which starts as they do."""
        theta = self.relative(name, self._angle_at_start(a, b, axis), fixed=fixed)
        self.turn(theta, a, b, axis, written)
        return theta

    def distance(
        self, name: str, first: NaturalPoint, second: NaturalPoint, fixed: bool = False
    ) -> RelativeCoordinate:
        """A relative coordinate that is the distance of two points."""
        s = self.relative(name, float(np.linalg.norm(second.at - first.at)), "m", fixed)
        self.apart(first, second, s)
        return s

    def bearing(
        self,
        name: str,
        sine: tuple[Arrow, Arrow],
        cosine: tuple[Arrow, Arrow],
        scales: tuple[float, float] = (1.0, 1.0),
        start: float | None = None,
    ) -> RelativeCoordinate:
        """A relative coordinate θ with tan θ = (a · b / k) / (p · q / k')."""
        s, c = (
            float(at_start(a) @ at_start(b)) / k
            for (a, b), k in zip((sine, cosine), scales, strict=True)
        )
        theta = self.relative(name, math.atan2(s, c) if start is None else start)
        parts: list[Entity] = []
        up = form(sine[0], parts), form(sine[1], parts)
        along = form(cosine[0], parts), form(cosine[1], parts)
        parts.append(theta)
        self.constrain(Bearing(up, along), parts, scales, name)
        return theta

    def drive(
        self,
        entity: Entity,
        law: Law | LawData,
        parameters: Sequence[Atom | float] = (),
        component: str = "x",
        owner: str = "",
    ) -> Instance:
        """A relative coordinate, or a component of a point or vector, follows a law f(t, p).

        A law is a function, or is given as in a model: "2*t + phi" of parameters of ``source``.

        Raises:
            ModelError: There is no such component, or the law cannot be read.
        """
        number = self.component(entity, component)
        if not callable(law):
            known = {symbol.name: symbol for symbol in self.source.parameter_values}
            try:
                law = named_law(law, known, self._dimension(entity, number), self.source.time)
            except BielaError as error:
                raise ModelError(f"{self.name}: the law of {entity.name}: {error}") from error
            parameters = [known[name] for name in law.names]
        kind = Driver(law, number)
        return self.constrain(kind, (entity,), parameters, owner or f"{entity.name} driven")

    def _dimension(self, entity: Entity, number: int) -> str:
        unit = self.source.units.get(entity.components[number].name) if entity.free[number] else ""
        return {"rad": "angle", "m": "length"}.get(unit or "", "any")

    def _angle_at_start(self, a: Arrow, b: Arrow, axis: Arrow | None) -> float:
        x, y = at_start(a), at_start(b)
        if axis is None:
            return math.atan2(float(x[0] * y[1] - x[1] * y[0]), float(x @ y))
        v = at_start(axis) / np.linalg.norm(at_start(axis))
        return math.atan2(float(np.cross(x, y) @ v), float(x @ y - (x @ v) * (y @ v)))

    def _or(self, given: Atom | float | None, otherwise: Callable[[], float]) -> Atom:
        return self.workspace.atom(otherwise() if given is None else given)


def _clean(value: float, a: Arrow, b: Arrow) -> float:
    """A scalar product without the dust of rounding on zero."""
    size = float(np.linalg.norm(at_start(a)) * np.linalg.norm(at_start(b)))
    return 0.0 if abs(value) < 1e-15 * size else value
