"""The joints, couplings and drivers of a model as integers: which bodies each of them touches.

An *element* is one joint, coupling or driver of one instance; a *sort* is all instances of one
element of a prototype that have the same equations.  Bodies have the numbers of
`biela.equations.blocks`: 0, 1 … and -1 for the ground.  Arrays of parts stay arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.equations.blocks import ReferenceBlocks
from biela.equations.blocks.caster import Caster
from biela.equations.blocks.populations import NO_BODY, Frames, Population
from biela.errors import ModelError
from biela.model.drivers import Driver
from biela.model.element import Element
from biela.model.joints import Coupling, Joint

__all__ = ["Elements", "Reference", "Sort", "elements_of"]

Integers = npt.NDArray[np.int64]
_Between = Mapping[tuple[int, str], tuple[Joint, Frames, Frames]]


@dataclass(frozen=True, eq=False)
class Reference:
    """A coordinate of a joint that a coupling or a driver is written in, in each instance.

    Attributes:
        role: The setting that names it.
        coordinate: Name of the coordinate in its joint; "" for the only one.
        joint: The joint.
        element: (n,) its number; -1 for a joint without equations.
        ends: (2, n) the bodies of its markers i and j.
    """

    role: str
    coordinate: str
    joint: Joint
    element: Integers
    ends: Integers


@dataclass(frozen=True, eq=False)
class Sort:
    """Elements that differ by numbers only.

    Attributes:
        element: The one of the prototype.
        population: Where they come from.
        index: (n,) their instances.
        labels: Names of their rows.
        first_row: Row of the first of them in the equations of the whole.
        first: Number of the first of them.
        defines: The coordinate that counts turns and that the row only defines; else "".
        ends: Bodies by role of the marker, (n,) each.
        references: Coordinates it is written in.
    """

    element: Element
    population: Population
    index: Integers
    labels: tuple[str, ...]
    first_row: int
    first: int
    defines: str
    ends: tuple[tuple[str, Integers], ...]
    references: tuple[Reference, ...] = ()

    def __len__(self) -> int:
        return len(self.index)

    @property
    def bodies(self) -> list[Integers]:
        """All bodies they touch, (n,) each; some may be the same, or the ground."""
        found = [bodies for _, bodies in self.ends]
        for reference in self.references:
            found += list(reference.ends)
        return found


@dataclass(frozen=True, eq=False)
class Elements:
    """All elements of a model that bring equations.

    Attributes:
        sorts: In the order of their rows.
        sort: (elements,) the sort of each element.
        touched: (elements, most) the bodies each of them touches, each once, -1 where there is
            none; the ground is left out.
        element: (rows,) the element of each row.
        bodies: Names of the bodies.
        locked: Bodies whose passive spin is held: the last elements, of no sort.
    """

    sorts: tuple[Sort, ...]
    sort: Integers
    touched: Integers
    element: Integers
    bodies: Sequence[str]
    locked: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.sort)

    @property
    def proper(self) -> int:
        """Number of elements that are no locks of passive spins."""
        return len(self.sort) - len(self.locked)

    def name(self, number: int) -> str:
        """The name of an element."""
        if number >= self.proper:
            return f"spin of {self.bodies[self.locked[number - self.proper]]}"
        sort = self.sorts[int(self.sort[number])]
        k = int(sort.index[number - sort.first])
        return sort.population.prefix(k) + sort.element.name

    def of(self, number: int) -> Element:
        """The element of the prototype."""
        return self.sorts[int(self.sort[number])].element

    def row_name(self, row: int) -> str:
        """The name of a row, "joint.label"."""
        number = int(self.element[row])
        if number >= self.proper:
            return self.name(number)
        sort = self.sorts[int(self.sort[number])]
        label = sort.labels[(row - sort.first_row) % len(sort.labels)]
        return f"{self.name(number)}.{label}"

    @cached_property
    def is_driver(self) -> npt.NDArray[np.bool_]:
        """Whether each element is a driver."""
        flags = [isinstance(sort.element, Driver) for sort in self.sorts]
        return np.array([*flags, False], dtype=bool)[self.sort]

    def with_locks(self, bodies: Sequence[int]) -> Elements:
        """The same with the passive spins of some bodies held, one row each."""
        count = len(bodies)
        touched = np.full((count, self.touched.shape[1]), NO_BODY, dtype=np.int64)
        touched[:, 0] = bodies
        return replace(
            self,
            sort=np.concatenate([self.sort, np.full(count, len(self.sorts), dtype=np.int64)]),
            touched=np.concatenate([self.touched, touched]),
            element=np.concatenate([self.element, len(self.sort) + np.arange(count)]),
            locked=tuple(int(b) for b in bodies),
        )


def elements_of(blocks: ReferenceBlocks) -> Elements:
    """The elements of a model.

    Raises:
        ModelError: Something of it has no element.
    """
    found: list[Sort] = []
    caster = Caster(blocks.world)
    between = _between(blocks)
    numbers: dict[tuple[int, str], Integers] = {}
    first = 0
    for first_row, population, index, suffixes in _segments(blocks):
        element, defines, labels = _owner(population, suffixes, between)
        ends = tuple(_ends(blocks, population, index, element, between))
        found.append(Sort(element, population, index, labels, first_row, first, defines, ends))
        if isinstance(element, Joint) and not defines:
            known = numbers.setdefault(
                (id(population), element.name), np.full(population.count, -1, dtype=np.int64)
            )
            known[index] = first + np.arange(len(index))
        first += len(index)
    sorts = tuple(_referring(blocks, caster, sort, numbers) for sort in found)
    each = np.array([len(sort) for sort in sorts], dtype=np.int64)
    rows = np.concatenate(
        [np.repeat(sort.first + np.arange(len(sort)), len(sort.labels)) for sort in sorts]
        or [np.zeros(0, dtype=np.int64)]
    )
    kind = np.repeat(np.arange(len(sorts)), each)
    return Elements(sorts, kind, _touched(sorts), rows, blocks.bodies)


def _segments(
    blocks: ReferenceBlocks,
) -> Iterator[tuple[int, Population, Integers, tuple[str, ...]]]:
    """First row, population, instances and names of the rows of each sort."""
    for first, of, suffixes in blocks.rows.of_instances():
        yield first, of.population, np.asarray(of.index, dtype=np.int64), suffixes


def _between(blocks: ReferenceBlocks) -> _Between:
    world = blocks.world
    return {
        (id(world.parts[part.name]), joint.name): (joint, i, j)
        for part, joint, i, j, _ in world.between()
    }


def _owner(
    population: Population, suffixes: tuple[str, ...], between: _Between
) -> tuple[Element, str, tuple[str, ...]]:
    """The element that rows belong to, the coordinate they define, and their labels."""
    name = suffixes[0].rpartition(".")[0]
    labels = tuple(text.rpartition(".")[2] for text in suffixes)
    coordinate = ""
    for _ in range(2):
        model = population.prototype
        element: Element | None = model.joints.get(name) or model.drivers.get(name)
        if element is None and (id(population), name) in between:
            element = between[(id(population), name)][0]
        if element is not None:
            return element, coordinate, labels
        name, _, coordinate = name.rpartition(".")
    raise ModelError(f"{population.prototype.name}: no element has the row {suffixes[0]}")


def _ends(
    blocks: ReferenceBlocks,
    population: Population,
    index: Integers,
    element: Element,
    between: _Between,
) -> Iterator[tuple[str, Integers]]:
    """Roles and bodies of the markers."""
    key = (id(population), element.name)
    if key in between and between[key][0] is element:
        _, i, j = between[key]
        yield "i", i.body[index - 1]
        yield "j", j.body[index - 1]
        return
    for role in element.markers():
        marker = getattr(element, role)
        if marker is None:
            yield role, population.ground.body[index]
        else:
            yield role, blocks.world.frames(population, marker).body[index]


def _referring(
    blocks: ReferenceBlocks,
    caster: Caster,
    sort: Sort,
    numbers: Mapping[tuple[int, str], Integers],
) -> Sort:
    """A sort with the coordinates it is written in."""
    element, found = sort.element, []
    named = [
        (role, getattr(element, role))
        for role, described in element.settings().items()
        if described.metadata["dimension"] == "coordinate" and getattr(element, role)
    ]
    if isinstance(element, Coupling):
        given = {text for _, text in named}
        named += [("couples", text) for text in element.couples if text not in given]
    for role, text in named:
        population, instance, joint, part = caster.joint_named(sort.population, text)
        index = sort.index if instance < 0 else np.full(len(sort), instance, dtype=np.int64)
        known = numbers.get((id(population), joint.name))
        element_of = np.full(len(sort), -1) if known is None else known[index]
        ends = [
            blocks.world.frames(population, marker).body[index] for marker in (joint.i, joint.j)
        ]
        if not part and len(joint.coordinates) == 1:
            part = joint.coordinates[0].name
        found.append(Reference(role, part, joint, element_of, np.stack(ends)))
    return replace(sort, references=tuple(found))


def _touched(sorts: tuple[Sort, ...]) -> Integers:
    """The bodies of each element, each once."""
    columns = [
        np.stack(sort.bodies) if sort.bodies else np.zeros((0, len(sort)), np.int64)
        for sort in sorts
    ]
    most = max((len(c) for c in columns), default=0)
    count = sum(len(sort) for sort in sorts)
    found = np.full((count, max(most, 1)), NO_BODY, dtype=np.int64)
    for sort, column in zip(sorts, columns, strict=True):
        rows = slice(sort.first, sort.first + len(sort))
        for k, body in enumerate(column):
            twice = np.zeros(len(sort), dtype=bool)
            for other in range(k):
                twice |= column[other] == body
            found[rows, k] = np.where(twice, NO_BODY, body)
    # those that are there to the left, so that most elements are two columns wide
    order = np.argsort(found == NO_BODY, axis=1, kind="stable")
    packed = np.take_along_axis(found, order, axis=1)
    used = int((packed != NO_BODY).any(axis=0).sum())
    return np.ascontiguousarray(packed[:, : max(used, 1)])
