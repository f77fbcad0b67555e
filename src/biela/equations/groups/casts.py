"""From the structure of a model to casts: every kind of group with its rows of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from biela.equations.blocks.caster import Caster
from biela.equations.blocks.casting import Casting
from biela.equations.blocks.law_values import LawTable
from biela.equations.blocks.populations import NO_BODY, Floats, Frames, Integers, Population
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Cast, CastElement, CastMarker, Owner, Spin
from biela.equations.groups.group import Group
from biela.equations.groups.structure import Structure
from biela.errors import ModelError
from biela.model.element import Element
from biela.model.joints import Coupling, Joint

__all__ = ["Casts"]


@dataclass(frozen=True, eq=False)
class _Located:
    """Where an element is described, and which instance of that it is."""

    population: Population
    element: Element
    index: int
    ends: int = -1  # number of the joint between instances, if it is one


class Casts:
    """The casts of a model.

    Attributes:
        world: The bodies of the model.
        laws: The laws of time that its drivers follow.
        casts: Kinds, in the order they appear; a kind in which numbers that are zero or not change
            the equations is several casts.
    """

    def __init__(self, world: World, structure: Structure) -> None:
        self.world, self.structure = world, structure
        self.caster = Caster(world)
        self.laws = LawTable()
        self._between = list(world.between())
        self._known: dict[int, list[Casting]] = {}
        self.casts: list[Cast] = []
        for members in structure.kinds.values():
            self.casts += self._kind([structure.groups[k] for k in members], np.array(members))

    def law_place(self, driver: str) -> int:
        """Where the law of a driver of the model stands among the laws.

        Raises:
            ModelError: It is in no group.
        """
        for cast in self.casts:
            for element in cast.elements:
                if driver in element.names and element.law_places is not None:
                    dimension = getattr(element.element, "dimension", "any")
                    return int(element.law_places(0, dimension)[element.names.index(driver)])
        raise ModelError(f"{self.world.model.name}: no group has the driver {driver!r}")

    def coordinates_between(
        self, kinds: Sequence[Cast] | None = None
    ) -> set[tuple[int, int, str]]:
        """Joint coordinates that others than their group name: cast, element, coordinate.

        Those of forces count where ``kinds`` are given, which then are the casts.
        """
        casts = self.casts if kinds is None else kinds
        asking = list(casts) if kinds is None else [*casts, *self.forces()]
        wanted = {
            f"{name}.{coordinate}"
            for cast in asking
            for element in cast.elements
            for joint, coordinate in _named_outside(element)
            for name in joint.names
        }
        found = set()
        for c, cast in enumerate(casts if wanted else ()):
            for e, element in cast.joints():
                for coordinate in element.joint.coordinates:
                    if any(f"{name}.{coordinate.name}" in wanted for name in element.names):
                        found.add((c, e, coordinate.name))
        return found

    def forces(self) -> Iterator[Cast]:
        """The forces of the model: casts of one element, all bodies of which are known."""
        for population in self.world.populations:
            for force in population.prototype.forces.values():
                names = [population.prefix(k) + force.name for k in range(population.count)]
                index = np.arange(population.count)
                for casting in self.caster.cast(population, force, index):
                    rows = [
                        (casting, row, names[int(k)], False)
                        for row, k in enumerate(casting.index)
                    ]
                    nobody = np.zeros((len(rows), 0), dtype=np.int64)
                    mine = [name for _, _, name, _ in rows]
                    element = self._element(rows, mine, nobody, [{} for _ in rows])
                    group = replace(self.structure.groups[0], bodies=(), bodies_in_order=())
                    plane = self.world.model.plane
                    yield Cast(group, plane, nobody, (element,), np.zeros(len(rows), np.int64))

    # ------------------------------------------------------------------------ kinds

    def _kind(self, groups: Sequence[Group], numbers: Integers) -> Iterator[Cast]:
        """The casts of all groups of a kind."""
        bodies = np.array([[self.world.body(b) for b in g.bodies_in_order] for g in groups])
        count = len(groups[0].joints_in_order)
        columns = []
        for e in range(count):
            names = [g.joints_in_order[e] for g in groups]
            sides = np.array([g.sides[e] if g.sides else False for g in groups])
            columns.append(self._column(names, sides))
        signatures = list(zip(*(c[1] for c in columns), strict=True)) if columns else []
        for signature in dict.fromkeys(signatures):
            rows = np.array([k for k, s in enumerate(signatures) if s == signature])
            yield self._cast(
                [groups[k] for k in rows],
                numbers[rows],
                bodies[rows],
                [c[0] for c in columns],
                rows,
            )

    def _cast(
        self,
        groups: Sequence[Group],
        numbers: Integers,
        bodies: Integers,
        columns: Sequence[list[tuple[Casting, int, str, bool]]],
        rows: Integers,
    ) -> Cast:
        elements: list[CastElement] = []
        names = [[column[k][2] for k in rows] for column in columns]
        positions = [{name: e for e, name in enumerate(row)} for row in zip(*names, strict=True)]
        for e, column in enumerate(columns):
            mine = [column[k] for k in rows]
            elements.append(self._element(mine, names[e], bodies, positions))
        spins = tuple(self._spins(groups))
        return Cast(groups[0], self.world.model.plane, bodies, tuple(elements), numbers, spins)

    def _spins(self, groups: Sequence[Group]) -> Iterator[Spin]:
        for spin in groups[0].locked:
            slot = groups[0].bodies_in_order.index(spin.body)
            ends = [
                next(s.points for s in g.locked if s.body == g.bodies_in_order[slot])
                for g in groups
            ]
            first = np.array([points[0] for points in ends])
            second = np.array([points[1] for points in ends])
            yield Spin(slot, first, second)

    # --------------------------------------------------------------------- elements

    def _column(
        self, names: Sequence[str], sides: Any
    ) -> tuple[list[tuple[Casting, int, str, bool]], list[object]]:
        """For each instance its casting, the row there, its name and side; and signatures."""
        clusters: dict[tuple[int, int, int], list[int]] = {}
        located = [self._located(name) for name in names]
        for k, one in enumerate(located):
            key = (id(one.population), id(one.element), one.ends)
            clusters.setdefault(key, []).append(k)
        found: list[Any] = [None] * len(names)
        signatures: list[object] = [None] * len(names)
        for members in clusters.values():
            one = located[members[0]]
            index = np.array([located[k].index for k in members])
            for casting, rows in self._castings(one, index):
                signature = (type(casting.element), repr(casting.element))
                for row, k in enumerate(rows):
                    found[members[k]] = (casting, row, names[members[k]], bool(sides[members[k]]))
                    signatures[members[k]] = signature
        return found, signatures

    def _castings(self, one: _Located, index: Integers) -> Iterator[tuple[Casting, Integers]]:
        ends = None
        if one.ends >= 0:
            _, _, i, j, later = self._between[one.ends]
            rows = np.searchsorted(later, index)
            ends = {"i": i.at(rows), "j": j.at(rows)}
        made = self.caster.cast(one.population, one.element, index, ends)
        place = {int(k): n for n, k in enumerate(index)}
        for casting in made:
            yield casting, np.array([place[int(k)] for k in casting.index])

    def _located(self, name: str) -> _Located:
        model = self.world.model
        for elements in (model.joints, model.drivers):
            if name in elements:
                return _Located(self.world.host, elements[name], 0)
        population, k, rest = self.world.located(name)
        prototype = population.prototype
        for own in (prototype.joints, prototype.drivers):
            if rest in own:
                return _Located(population, own[rest], k)
        for number, (part, joint, _, _, _) in enumerate(self._between):
            if self.world.parts[part.name] is population and joint.name == rest:
                return _Located(population, joint, k, number)
        raise ModelError(f"{model.name} has no joint or driver {name!r}")

    def _element(
        self,
        rows: Sequence[tuple[Casting, int, str, bool]],
        names: list[str],
        bodies: Integers,
        positions: Sequence[dict[str, int]],
    ) -> CastElement:
        casting = rows[0][0]
        frames = [_gathered(rows, k) for k in range(len(casting.frames))]
        # as the first one stands: its coordinate then has the sign that it has in the model
        turned = np.array([side != rows[0][3] for *_, side in rows])
        if isinstance(casting.element, Joint) and turned.any():
            frames[:2] = _swapped(frames[0], frames[1], turned)
        markers = tuple(CastMarker(_slot(f, bodies, names[0]), f) for f in frames)
        numbers = tuple(
            np.array([c.numbers[n][row] for c, row, _, _ in rows])
            for n in range(len(casting.numbers))
        )
        joints = tuple(
            self._named_joint(rows, k, markers, positions) for k in range(len(casting.uses))
        )
        return CastElement(
            names,
            casting.element,
            markers,
            numbers,
            partial(self._law_places, rows),
            joints,
            partial(_read, rows),
        )

    def _law_places(
        self, rows: Sequence[tuple[Casting, int, str, bool]], law: int, dimension: str
    ) -> Integers:
        found = [
            self.laws.places(c.population, c.laws[law], dimension)[c.index[row]]
            for c, row, _, _ in rows
        ]
        return np.array(found)

    def _named_joint(
        self,
        rows: Sequence[tuple[Casting, int, str, bool]],
        k: int,
        markers: tuple[CastMarker, ...],
        positions: Sequence[dict[str, int]],
    ) -> int | CastElement:
        """The joint "jk" of an element: one of the group, or one of earlier groups."""
        names = []
        for casting, row, _, _ in rows:
            use = casting.uses[k]
            names.append(use.population.prefix(int(use.index[row])) + use.joint.name)
        own = {position.get(name) for position, name in zip(positions, names, strict=True)}
        if own != {None} and len(own) == 1:
            (number,) = own
            assert number is not None
            return number
        joint = rows[0][0].joints[f"j{k}"]
        ends = tuple(markers[int(m.name[1:])] for m in (joint.i, joint.j))
        element = replace(joint, i=replace(joint.i, name="m0"), j=replace(joint.j, name="m1"))
        return CastElement(names, element, ends)


def _named_outside(element: CastElement) -> Iterator[tuple[CastElement, str]]:
    """Joints of earlier groups that an element names, and which coordinate of each."""
    said = element.element
    names = said.couples if isinstance(said, Coupling) else [getattr(said, "coordinate", "")]
    for name in names:
        owner, _, part = name.partition(".")
        found = element.joints[int(owner[1:])] if part else 0
        if isinstance(found, CastElement):
            yield found, part


def _gathered(rows: Sequence[tuple[Casting, int, str, bool]], marker: int) -> Frames:
    first = rows[0][0]
    if all(casting is first for casting, *_ in rows):
        return first.frames[marker].at(np.array([row for _, row, _, _ in rows]))
    found = [casting.frames[marker] for casting, *_ in rows]
    at = [row for _, row, _, _ in rows]
    return Frames(
        np.array([f.body[k] for f, k in zip(found, at, strict=True)]),
        np.array([f.place[k] for f, k in zip(found, at, strict=True)]),
        np.array([f.axes[k] for f, k in zip(found, at, strict=True)]),
    )


def _swapped(i: Frames, j: Frames, turned: Any) -> list[Frames]:
    def choose(a: Any, b: Any) -> Any:
        shape = (-1,) + (1,) * (a.ndim - 1)
        return np.where(turned.reshape(shape), b, a)

    return [
        Frames(choose(a.body, b.body), choose(a.place, b.place), choose(a.axes, b.axes))
        for a, b in ((i, j), (j, i))
    ]


def _slot(frames: Frames, bodies: Integers, name: str) -> int:
    """Which body of the group frames are on.

    Raises:
        ModelError: Not the same one in all instances.
    """
    own = frames.body[:, None] == bodies
    slots = np.where(own.any(axis=1), own.argmax(axis=1), int(Owner.KNOWN))
    slots = np.where(frames.body == NO_BODY, int(Owner.GROUND), slots)
    if (slots != slots[0]).any():
        raise ModelError(f"{name}: instances of its group differ in which bodies it joins")
    return int(slots[0])


def _read(rows: Sequence[tuple[Casting, int, str, bool]], text: str, dimension: str) -> Floats:
    found = []
    for casting, row, _, _ in rows:
        value = casting.population.value(text, dimension)
        found.append(value[casting.index[row]] if isinstance(value, np.ndarray) else value)
    return np.array(found, dtype=float)
