"""The layout of a mechanism in natural and relative coordinates, laid by hand or by a model.

    lay = Layout("pendulum", gravity=(0, 0, -9.81))
    p0 = lay.point("p0", (0, 0, 0), fixed=True)
    p1 = lay.point("p1", (1, 0, 0))
    v, x = lay.vector("v", (0, 1, 0), fixed=True), lay.vector("x", (1, 0, 0), fixed=True)
    lay.rod("bar", p0, p1, mass=1.0)
    lay.dot(Segment(p0, p1), v)
    theta = lay.angle("theta", x, Segment(p0, p1), v)
    system = lay.system()

The same layout gives a `System` that every analysis takes, the pattern of its Jacobian for the
orderings, and stages for the looped engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from biela.atoms import Atom, evaluate
from biela.code import Function
from biela.equations.constraints import Constraint
from biela.equations.mechanism.placement import identifier
from biela.equations.natural.bodies import NaturalBody
from biela.equations.natural.body_draft import BodyDraft, embedded, moments
from biela.equations.natural.drafting import PLANES
from biela.equations.natural.entities import (
    Entity,
    Floats,
    NaturalPoint,
    NaturalVector,
    Segment,
    moves,
)
from biela.equations.natural.kinds import Instance
from biela.equations.natural.linear_masses import LinearMass, NaturalSystem
from biela.equations.natural.loading import Loading
from biela.equations.natural.pattern import JacobianPattern, layout_pattern
from biela.equations.system import Drawing, LazyFunctions, Line, Quantity, System
from biela.errors import ModelError
from biela.space import Point, Solid

if TYPE_CHECKING:
    from biela.equations.natural.natural_blocks import NaturalBlocks

#: A constraint between fixed entities that is off by more than this cannot be fulfilled.
_NEVER = 1e-9


class Layout(Loading):
    """Entities, constraints, bodies and forces of a mechanism.

    ``plane`` is "xy", "xz" or "yz" for a planar one: points have two components, along the axes of
    the plane, and angles are counted from its first axis to its second.

    >>> lay = Layout("bar", plane="xy")
    >>> o, p = lay.point("o", (0, 0), fixed=True), lay.point("p", (1, 0))
    >>> bar = lay.rod("bar", o, p, mass=3.0)
    >>> lay.jacobian_pattern().row_names
    ('bar.o-p.length',)
    >>> lay.system().evaluate("M", [1.0, 0.0])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        name: str,
        *,
        plane: str = "",
        gravity: Sequence[Atom | float] = (0.0, 0.0, 0.0),
        source: NaturalSystem | None = None,
    ) -> None:
        super().__init__(name, plane, source)
        self.bodies: dict[str, NaturalBody] = {}
        self.solids: dict[str, Solid] = {}
        self._lines: list[tuple[str, NaturalPoint, NaturalPoint]] = []
        self._places: dict[str, Point] = {}
        #: The constraints of the symbolic system, once they are written there, with their names.
        self.rows: list[tuple[str, Constraint]] = []
        self._lowered = 0
        #: What tells the root that is meant from others, by what is wrong where it is negative.
        self.sides: dict[str, Atom] = {}
        if source is None:
            self.source.gravity = self.source.base.vector(*gravity)

    # --------------------------------------------------------------------------- bodies

    def body(
        self,
        name: str,
        points: Sequence[NaturalPoint],
        vectors: Sequence[NaturalVector] = (),
        *,
        mass: float = 0.0,
        centre: Sequence[float] | Floats | None = None,
        inertia: Sequence[float] | Floats | float = 0.0,
        shape: bool = True,
    ) -> NaturalBody:
        """A rigid body on points and vectors; see `biela.equations.natural.bodies`.

        Args:
            name: Its name.
            points: Its points, of which the first is its origin.
            vectors: Its vectors.
            mass: kg.
            centre: Its centre of mass in the ground where a motion starts; the first point if not
                given.
            inertia: About the centre, along the axes of the ground at the start: (xx, yy, zz) or
                (xx, yy, zz, xy, xz, yz); in the plane the one about its normal.
            shape: Whether to write the equations that keep its shape; without, write them yourself.

        Raises:
            ModelError: It has no extension, or no mass that its points and vectors can carry.
        """
        draft = self._draft(name, points, vectors)
        at = points[0].start if centre is None else tuple(centre)
        full = np.zeros(3)
        for axis, value in zip(PLANES[self.plane], at, strict=False):
            full["xyz".index(axis)] = value
        ten, spread = moments(draft, mass, full, self._tensor(name, inertia))
        made = draft.body()
        if mass or any(ten):
            numbers = [self.workspace.atom(x) for x in ten]
            across = None if spread is None else self.workspace.atom(spread)
            self.source.masses.append(made.mass(numbers, across))
        if shape:
            draft.hold()
        self.tell_from_mirror_image(made)
        self._carry(draft, made)
        return made

    def rod(
        self,
        name: str,
        first: NaturalPoint,
        second: NaturalPoint,
        mass: float,
        *,
        shape: bool = True,
    ) -> NaturalBody:
        """A slender uniform rod between two points: M = m/6 [[2, 1], [1, 2]]."""
        u = second.at - first.at
        middle = (first.at + second.at) / 2
        if self.plane:
            return self.body(
                name, [first, second], mass=mass, centre=middle, inertia=mass * (u @ u) / 12,
                shape=shape,
            )  # fmt: skip
        I = mass / 12 * ((u @ u) * np.eye(3) - np.outer(u, u))
        six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        return self.body(name, [first, second], mass=mass, centre=middle, inertia=six, shape=shape)

    def particle(self, name: str, point: NaturalPoint, mass: Atom | float) -> None:
        """A mass in a point."""
        m = self.workspace.atom(mass)
        on = tuple(embedded(self, point.components))
        self.source.masses.append(LinearMass(name, (on,), ((m,),), (m,)))
        self._need_solid()

    def inertia(
        self, name: str, on: Sequence[Entity], K: Sequence[Sequence[float]],
        weights: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """Any constant mass on points and vectors, T = ½ Σ K_ij x_i' · x_j'; see `LinearMass`."""
        rows = tuple(tuple(self.workspace.atom(x) for x in row) for row in K)
        pull = tuple(self.workspace.atom(w) for w in (weights or [0.0] * len(on)))
        made = tuple(tuple(embedded(self, e.components)) for e in on)
        self.source.masses.append(LinearMass(name, made, rows, pull))
        self._need_solid()

    def _draft(
        self, name: str, points: Sequence[NaturalPoint], vectors: Sequence[NaturalVector]
    ) -> BodyDraft:
        if name in self.bodies:
            raise ModelError(f"{self.name}: two bodies are called {name}")
        return BodyDraft(self, name, points, vectors)

    def _tensor(self, name: str, inertia: Sequence[float] | Floats | float) -> Floats:
        given = np.atleast_1d(np.asarray(inertia, dtype=float))
        if self.plane:
            if given.size != 1:
                raise ModelError(f"{self.name}: body {name} has one moment of inertia in the plane")
            # half along each axis: only their sum moves with a body that stays in the plane
            return np.eye(3) * float(given[0])
        if given.size == 1 and not given[0]:
            return np.zeros((3, 3))
        if given.size not in (3, 6):
            raise ModelError(f"{self.name}: the inertia of {name} has 3 or 6 numbers")
        xx, yy, zz, xy, xz, yz = (float(x) for x in [*given, *np.zeros(6 - given.size)])
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def _carry(self, draft: BodyDraft, made: NaturalBody) -> None:
        """The frame of a body, for forces, sensors and pictures."""
        self.bodies[made.name] = made
        plain = identifier(made.name)
        base = self.source.base
        if len(made.basis) == 3 and any(x for e in made.basis for x in map(moves, e)):
            ws = self.workspace
            axes = [made.direction([ws.atom(float(i == k)) for i in range(3)]) for k in range(3)]
            base = base.by_matrix(plain, [[axes[k][i] for k in range(3)] for i in range(3)])
        origin = self.place(draft.origin)
        self.solids[made.name] = self.source.solid(plain, origin, base, 0.0)
        if base is not self.source.base:
            self.source.frame(made.name, origin, base)
        ends = draft.points if len(draft.points) < 3 else [*draft.points, draft.points[0]]
        self._lines += [(made.name, p, q) for p, q in pairwise(ends)]

    def place(self, point: NaturalPoint) -> Point:
        """The point in the space of the symbolic system."""
        if point.name not in self._places:
            source = self.source
            vector = source.base.vector(*embedded(self, point.components))
            made = source.origin.offset(identifier(point.name), vector)
            self._places[point.name] = made
        return self._places[point.name]

    def _need_solid(self) -> None:
        if not self.source.solids:
            self.source.solid("ground", self.source.origin, self.source.base, 0.0)

    # ------------------------------------------------------------------------- lowering

    def jacobian_pattern(self) -> JacobianPattern:
        """The entries of Φ_q that can be different from zero, and the hints REL and CLO."""
        return layout_pattern(self)

    def blocks(self) -> NaturalBlocks:
        """The equations as kernels and tables, for the looped engine."""
        from biela.equations.natural.lowering import blocks

        return blocks(self)

    def lower(self) -> None:
        """Write the constraints that are not there yet into the symbolic system.

        Raises:
            ModelError: A constraint between fixed entities does not hold.
        """
        for instance in self.instances[self._lowered :]:
            self._write(instance)
        self._lowered = len(self.instances)

    def _write(self, instance: Instance) -> None:
        x = [part.components for part in instance.parts]
        arguments = (x, instance.parameters, self.source.time)
        labels = instance.kind.labels(self.dimension)
        for label, row in zip(labels, instance.kind.rows(*arguments), strict=True):
            name = f"{instance.owner}.{label}"
            if not moves(row):
                value = float(evaluate(row, dict(self.source.parameter_values)))
                if abs(value) > _NEVER:
                    raise ModelError(
                        f"{self.name}: {name} is between fixed entities and off by {value:.3g}"
                    )
                continue
            made = self.source.hold(row, None, identifier(instance.owner))
            self.names[made.name] = name
            self.rows.append((name, made))
        side = instance.kind.side(*arguments)
        if side is not None:
            self.side(f"{instance.owner} half a turn off", side)

    def tell_from_mirror_image(self, body: NaturalBody) -> None:
        """Note that a body is not reflected: the products that keep its shape would allow it."""
        if body.linear == 3 and not self.plane:
            self.side(f"{body.name} as its mirror image", body.handedness)

    def side(self, wrong: str, value: Atom) -> None:
        """Tell the root that is meant from others: where the value is negative, this is wrong."""
        if moves(value):
            self.sides[wrong] = value

    def system(self) -> System:
        """The equations, for every analysis."""
        self.lower()
        self._need_solid()
        for entity in self.entities.values():
            if isinstance(entity, NaturalPoint):
                self.place(entity)
        found = self.source.equations().system
        order = {point: k for k, point in enumerate(self.source.space.points.values())}
        lines = tuple(
            Line(name, order[self.place(p)], order[self.place(q)]) for name, p, q in self._lines
        )
        drawing = Drawing(tuple(p.name for p in order), lines, (), self.plane)
        functions = found.functions
        if self.sides:
            kept = {name: partial(functions.__getitem__, name) for name in functions}
            functions = LazyFunctions({}, {**kept, "sides": self._sides_function})
        return replace(
            found,
            q=tuple(self._named(entry) for entry in found.q),
            v=tuple(self._named(entry) for entry in found.v),
            multipliers=tuple(self.names.get(name, name) for name in found.multipliers),
            drawing=drawing,
            sides=tuple(self.sides),
            functions=functions,
        )

    def _sides_function(self) -> Function:
        return self.source.function("sides", {"sides": list(self.sides.values())})

    def _named(self, entry: Quantity) -> Quantity:
        return replace(entry, name=self.names.get(entry.name, entry.name))


__all__ = ["Layout", "Segment"]
