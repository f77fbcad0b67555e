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
from biela.equations.blocks.populations import NO_BODY, Frames, Integers, Population
from biela.equations.blocks.world import World
from biela.equations.groups.cast import Cast, CastElement, CastMarker, Owner, Spin
from biela.equations.groups.elements import Elements
from biela.equations.groups.group import Group
from biela.equations.groups.instances import ElementNames, Instances
from biela.equations.groups.structure import Structure
from biela.errors import ModelError
from biela.model.element import Element, quantity
from biela.model.joints import Coupling, Joint
from biela.model.quantities.values import Value

__all__ = ["Casts", "Rotor"]


@dataclass(frozen=True, kw_only=True)
class Rotor(Element):
    """Inertia along the coordinate of a joint, which is cast as forces are."""

    coordinate: str = quantity("coordinate", "coordinate along which it turns")
    inertia: Value = quantity("any", "its inertia", default=0.0)


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
        self._between = {
            (id(world.parts[part.name]), joint.name): (joint, i, j, later)
            for part, joint, i, j, later in world.between()
        }
        self.casts: list[Cast] = []
        for label, members in structure.kinds.items():
            self.casts += self._kind(label, np.array(members))

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

    def coordinates_between(self, kinds: Sequence[Cast] | None = None) -> set[tuple[int, int, str]]:
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

    def loose_joints(self, forces: Sequence[Cast]) -> set[str]:
        """Joints that forces name and that no group has, since they have no equations."""
        named = {
            name
            for cast in forces
            for joint in cast.elements[0].joints
            if isinstance(joint, CastElement)
            for name in joint.names
        }
        if named:
            for cast in self.casts:
                for _, element in cast.joints():
                    named.difference_update(element.names)
        return named

    def forces(self) -> Iterator[Cast]:
        """The forces and rotors of the model: casts of one element, whose bodies are all known."""
        for population in self.world.populations:
            for force in population.prototype.forces.values():
                for casting in self.caster.cast(population, force, np.arange(population.count)):
                    yield self._alone(casting)
        for rotor in self.caster.rotors():
            coordinate = f"{rotor.use.joint.name}.{rotor.coordinate}"
            element = Rotor(name=f"rotor of {coordinate}", coordinate=coordinate, inertia=1.0)
            use, inertia = rotor.use, np.zeros(rotor.use.population.count)
            inertia[use.index] = rotor.inertia
            for casting in self.caster.cast(use.population, element, use.index):
                casting.numbers = [inertia[casting.index]]
                yield self._alone(casting)

    def _alone(self, casting: Casting) -> Cast:
        """An element by itself."""
        count, prefix = len(casting), casting.population.prefix
        names = [prefix(int(k)) + casting.original.name for k in casting.index]
        nothing = np.zeros(count, dtype=np.int64)
        rows = Instances([casting], nothing, np.arange(count), names)
        nobody = np.zeros((count, 0), dtype=np.int64)
        element = self._element(rows, nobody, [rows], nothing.astype(bool))
        group = replace(self.structure.groups[0], bodies=(), bodies_in_order=())
        return Cast(group, self.world.model.plane, nobody, (element,), nothing)

    # ------------------------------------------------------------------------ kinds

    def _kind(self, label: str, groups: Integers) -> Iterator[Cast]:
        """The casts of all groups of a kind."""
        columns, sides, bodies = self._columns(label, groups)
        keys = np.stack([column.signatures() for column in columns], axis=1)
        _, which = np.unique(keys, axis=0, return_inverse=True)
        for one in dict.fromkeys(which.ravel().tolist()):
            rows = np.flatnonzero(which.ravel() == one)
            yield self._cast(groups[rows], bodies[rows], [c.at(rows) for c in columns], sides[rows])

    def _columns(self, label: str, groups: Integers) -> tuple[list[Instances], Any, Integers]:
        """The elements of a kind in all its groups, which sides are turned, and its bodies."""
        structure, elements = self.structure, self.structure.elements
        if elements is None:
            made = [structure.groups[int(k)] for k in groups]
            columns = [
                self._named([g.joints_in_order[e] for g in made])
                for e in range(len(made[0].joints_in_order))
            ]
            sides = np.array([g.sides or (False,) * len(columns) for g in made], dtype=bool)
            bodies = [[self.world.body(b) for b in g.bodies_in_order] for g in made]
            return columns, sides.reshape(len(made), -1), np.array(bodies)
        table = structure.tables[label]
        proper = [
            e
            for e in range(table.joints.shape[1])
            if (number := int(table.joints[0, e])) < elements.proper
            and not elements.sorts[int(elements.sort[number])].defines
        ]
        columns = [self._numbered(elements, table.joints[:, e]) for e in proper]
        return columns, table.sides[:, proper], table.bodies

    def _cast(
        self, groups: Integers, bodies: Integers, columns: Sequence[Instances], sides: Any
    ) -> Cast:
        found = [
            self._element(column, bodies, columns, sides[:, e]) for e, column in enumerate(columns)
        ]
        example = self.structure.groups[int(groups[0])]
        plane = self.world.model.plane
        spins = tuple(self._spins(example, groups))
        return Cast(example, plane, bodies, tuple(found), groups, spins)

    def _spins(self, example: Group, groups: Integers) -> Iterator[Spin]:
        for spin in example.locked:
            slot = example.bodies_in_order.index(spin.body)
            ends = []
            for k in groups:
                group = self.structure.groups[int(k)]
                body = group.bodies_in_order[slot]
                ends.append(next(s.points for s in group.locked if s.body == body))
            yield Spin(slot, np.array([p[0] for p in ends]), np.array([p[1] for p in ends]))

    # --------------------------------------------------------------------- elements

    def _named(self, names: Sequence[str]) -> Instances:
        """The instances of elements by their names."""
        model = self.world.model
        clusters: dict[tuple[int, str], tuple[Population, list[int], list[int]]] = {}
        for k, name in enumerate(names):
            if name in model.joints or name in model.drivers:
                population, index, rest = self.world.host, 0, name
            else:
                population, index, rest = self.world.located(name)
            found = clusters.setdefault((id(population), rest), (population, [], []))
            found[1].append(index)
            found[2].append(k)
        parts = [
            (population, rest, np.array(index), np.array(rows))
            for (_, rest), (population, index, rows) in clusters.items()
        ]
        return self._gather(parts, names)

    def _numbered(self, elements: Elements, numbers: Integers) -> Instances:
        """The instances of elements by their numbers."""
        mine = {p.prefix(0): p for p in self.world.populations}
        sorts = elements.sort[numbers]
        parts = []
        for k in dict.fromkeys(sorts.tolist()):
            sort, rows = elements.sorts[k], np.flatnonzero(sorts == k)
            index = sort.index[numbers[rows] - sort.first]
            population = mine.get(sort.population.prefix(0))
            if population is None or not self._has(population, sort.element.name):
                # the structure was found on the model written out
                return self._named(list(ElementNames(elements, numbers)))
            parts.append((population, sort.element.name, index, rows))
        return self._gather(parts, ElementNames(elements, numbers))

    def _has(self, population: Population, name: str) -> bool:
        prototype = population.prototype
        known = name in prototype.joints or name in prototype.drivers
        return known or (id(population), name) in self._between

    def _gather(
        self, parts: Sequence[tuple[Population, str, Integers, Integers]], names: Sequence[str]
    ) -> Instances:
        which = np.zeros(len(names), dtype=np.int64)
        row = np.zeros(len(names), dtype=np.int64)
        castings: list[Casting] = []
        for population, name, index, rows in parts:
            order = np.argsort(index)
            for casting in self._castings(population, name, index):
                at = rows[order[np.searchsorted(index[order], casting.index)]]
                which[at], row[at] = len(castings), np.arange(len(casting))
                castings.append(casting)
        return Instances(castings, which, row, names)

    def _castings(self, population: Population, name: str, index: Integers) -> list[Casting]:
        prototype = population.prototype
        for own in (prototype.joints, prototype.drivers):
            if name in own:
                return self.caster.cast(population, own[name], index)
        if (id(population), name) not in self._between:
            raise ModelError(f"{self.world.model.name} has no joint or driver {name!r}")
        joint, i, j, later = self._between[id(population), name]
        rows = np.searchsorted(later, index)
        return self.caster.cast(population, joint, index, {"i": i.at(rows), "j": j.at(rows)})

    def _element(
        self, rows: Instances, bodies: Integers, columns: Sequence[Instances], sides: Any
    ) -> CastElement:
        casting = rows.castings[rows.which[0]]
        frames = [rows.frames(k) for k in range(len(casting.frames))]
        # as the first one stands: its coordinate then has the sign that it has in the model
        turned = sides != sides[0]
        if isinstance(casting.element, Joint) and turned.any():
            frames[:2] = _swapped(frames[0], frames[1], turned)
        own = {
            int(marker.name[1:])
            for role in casting.element.markers()
            if (marker := getattr(casting.element, role)) is not None
        }
        markers = tuple(
            CastMarker(_slot(f, bodies, rows.names[0], own=k in own), f)
            for k, f in enumerate(frames)
        )
        numbers = tuple(
            rows.values([c.numbers[n] for c in rows.castings]) for n in range(len(casting.numbers))
        )
        joints = tuple(
            self._named_joint(rows, k, markers, columns) for k in range(len(casting.uses))
        )
        return CastElement(
            rows.names,
            casting.element,
            markers,
            numbers,
            partial(self._law_places, rows),
            joints,
            rows.read,
        )

    def _law_places(self, rows: Instances, law: int, dimension: str) -> Integers:
        places = [
            self.laws.places(c.population, c.laws[law], dimension)[c.index] for c in rows.castings
        ]
        found: Integers = rows.values(places)
        return found

    def _named_joint(
        self,
        rows: Instances,
        k: int,
        markers: tuple[CastMarker, ...],
        columns: Sequence[Instances],
    ) -> int | CastElement:
        """The joint "jk" of an element: one of the group, or one of earlier groups."""
        names = []
        for which, row in zip(rows.which, rows.row, strict=True):
            use = rows.castings[which].uses[k]
            names.append(use.population.prefix(int(use.index[row])) + use.joint.name)
        for e, column in enumerate(columns):
            if column.names[0] == names[0] and list(column.names) == names:
                return e
        joint = rows.castings[rows.which[0]].joints[f"j{k}"]
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


def _swapped(i: Frames, j: Frames, turned: Any) -> list[Frames]:
    def choose(a: Any, b: Any) -> Any:
        shape = (-1,) + (1,) * (a.ndim - 1)
        return np.where(turned.reshape(shape), b, a)

    return [
        Frames(choose(a.body, b.body), choose(a.place, b.place), choose(a.axes, b.axes))
        for a, b in ((i, j), (j, i))
    ]


def _slot(frames: Frames, bodies: Integers, name: str, *, own: bool) -> int:
    """Which body of the group frames are on.

    Markers of joints that an element names, which are not its ``own``, are not written on where
    the joint is one of the group, and may stand on either side of it.

    Raises:
        ModelError: Not the same one in all instances.
    """
    slots = np.full(len(frames.body), int(Owner.KNOWN))
    if bodies.shape[1]:
        inside = frames.body[:, None] == bodies
        slots = np.where(inside.any(axis=1), inside.argmax(axis=1), slots)
    slots = np.where(frames.body == NO_BODY, int(Owner.GROUND), slots)
    if (slots != slots[0]).any() and not own:
        return int(Owner.KNOWN)
    if (slots != slots[0]).any():
        raise ModelError(f"{name}: instances of its group differ in which bodies it joins")
    return int(slots[0])
