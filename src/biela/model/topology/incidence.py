"""Which bodies each joint joins, as integers: the graph of a model, arrays of parts included.

Body 0 is the ground; then come the bodies of the model, then those of its parts, instance by
instance; joints likewise.  The edges of an array are those of its prototype, shifted, so that
100,000 cells are a few numpy operations.  Names are made when somebody asks for one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.parts.part import Part, split_place

if TYPE_CHECKING:
    from biela.model.model import Model

Integers = npt.NDArray[np.int64]
_NUMBERED = re.compile(r"([^.\[\]]+)(?:\[(\d+)\])?\.(.+)")


@dataclass(frozen=True, eq=False)
class _Block:
    """The names of instances ``begin`` … of a part: those of ``inner`` from ``first`` on."""

    start: int
    part: Part
    begin: int
    inner: Names
    first: int
    size: int


@dataclass(eq=False)
class Names:
    """The names of bodies or joints by number, and the other way round."""

    own: list[str]
    blocks: list[_Block] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.count = len(self.own)
        self._index = {name: k for k, name in enumerate(self.own)}

    def add(self, part: Part, inner: Names, first: int = 0, begin: int = 0) -> None:
        """The names of a part, from instance ``begin`` on, less the ``first`` of each."""
        size = inner.count - first
        if size:
            self.blocks.append(_Block(self.count, part, begin, inner, first, size))
            self.count += size * (part.size - begin)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> str:
        if number < len(self.own):
            return self.own[number]
        block = self.blocks[bisect_right([b.start for b in self.blocks], number) - 1]
        k, inner = divmod(number - block.start, block.size)
        return block.part.prefix(k + block.begin) + block.inner[inner + block.first]

    def index(self, name: str) -> int:
        """The number of a name; -1 if there is none."""
        if name in self._index:
            return self._index[name]
        match = _NUMBERED.fullmatch(name)
        for block in self.blocks:
            if match is not None and block.part.name == match[1]:
                inner, k = block.inner.index(match[3]), int(match[2] or 0)
                if inner >= block.first and block.begin <= k < block.part.size:
                    return block.start + (k - block.begin) * block.size + inner - block.first
        return -1


@dataclass(frozen=True, eq=False)
class Incidence:
    """The graph of a model.

    Attributes:
        bodies: Their names, the ground first.
        joints: Names of the joints between two bodies.
        first: For each joint the number of the body of marker i.
        second: Of marker j.
        removes: How many freedoms it removes in space.
        kinds: Names of the kinds of joints there are.
        kind: For each joint the number of its kind.
        example: For each joint the number of one like it in ``examples``.
        examples: A joint of each prototype, with the model it belongs to.
        couplings: How many gears and the like there are.
        coupled: How many freedoms they remove.
        drivers: How many drivers there are.
        driven: How many freedoms they remove.
    """

    bodies: Names
    joints: Names
    first: Integers
    second: Integers
    removes: Integers
    kinds: tuple[str, ...]
    kind: Integers
    example: Integers
    examples: tuple[tuple[Model, Joint], ...]
    couplings: int
    coupled: int
    drivers: int
    driven: int


def incidence(model: Model) -> Incidence:
    """The graph of a model."""
    joints = [joint for joint in model.joints.values() if isinstance(joint, Joint)]
    couplings = [joint for joint in model.joints.values() if not isinstance(joint, Joint)]
    inner = {name: incidence(part.model) for name, part in model.parts.items()}
    bodies = Names([GROUND, *model.bodies])
    names = Names([joint.name for joint in joints])
    offsets: dict[str, int] = {}
    for name, part in model.parts.items():
        offsets[name] = bodies.count
        bodies.add(part, inner[name].bodies, 1)
    kinds: dict[str, int] = {}
    examples: list[tuple[Model, Joint]] = [(model, joint) for joint in joints]
    pieces = [
        np.array(
            [
                [bodies.index(joint.i.body) for joint in joints],
                [bodies.index(joint.j.body) for joint in joints],
                [joint.removes for joint in joints],
                [kinds.setdefault(joint.kind, len(kinds)) for joint in joints],
                range(len(joints)),
            ],
            dtype=np.int64,
        ).reshape(5, len(joints))
    ]
    for name, part in model.parts.items():
        below = inner[name]
        local = np.array([kinds.setdefault(k, len(kinds)) for k in below.kinds], dtype=np.int64)
        place = _placer(part, below, offsets[name], bodies.index(part.on))
        pieces.append(_copies(part, below, place, local, len(examples)))
        examples.extend(below.examples)
        names.add(part, below.joints)
        between = _joined(part, below, place, kinds, len(examples))
        if between.shape[1]:
            pieces.append(between)
            examples.extend((model, joint) for joint in part.joints_between)
            names.add(part, Names([b.name for b in part.between]), begin=1)
    first, second, removes, kind, example = np.concatenate(pieces, axis=1)
    return Incidence(
        bodies,
        names,
        first,
        second,
        removes,
        tuple(kinds),
        kind,
        example,
        tuple(examples),
        len(couplings) + _total(model, inner, lambda i: i.couplings),
        sum(c.removes for c in couplings) + _total(model, inner, lambda i: i.coupled),
        len(model.drivers) + _total(model, inner, lambda i: i.drivers),
        sum(d.removes for d in model.drivers.values()) + _total(model, inner, lambda i: i.driven),
    )


def _total(model: Model, inner: Mapping[str, Incidence], what: Callable[[Incidence], int]) -> int:
    return sum(part.size * what(inner[name]) for name, part in model.parts.items())


def _placer(
    part: Part, below: Incidence, offset: int, on: int
) -> Callable[[Integers, Integers], Integers]:
    """Takes bodies of the prototype and instances k to bodies of the host."""
    size = below.bodies.count - 1
    link = None if part.link is None else below.bodies.index(part.link_place[0])

    def place(body: Integers, k: Integers) -> Integers:
        ground = np.full(np.shape(k), on, dtype=np.int64)
        if link is not None:
            ground = np.where(k > 0, offset + (k - 1) * size + link - 1, ground)
        return np.where(body == 0, ground, offset + k * size + body - 1)

    return place


def _copies(
    part: Part,
    below: Incidence,
    place: Callable[[Integers, Integers], Integers],
    kinds: Integers,
    examples: int,
) -> Integers:
    """The joints within the instances."""
    k = np.arange(part.size, dtype=np.int64)[:, None]
    rows = [
        place(below.first[None, :], k),
        place(below.second[None, :], k),
        np.broadcast_to(below.removes, (part.size, len(below.removes))),
        np.broadcast_to(kinds[below.kind], (part.size, len(below.kind))),
        np.broadcast_to(below.example + examples, (part.size, len(below.example))),
    ]
    return np.stack([row.ravel() for row in rows])


def _joined(
    part: Part,
    below: Incidence,
    place: Callable[[Integers, Integers], Integers],
    kinds: dict[str, int],
    examples: int,
) -> Integers:
    """The joints between instances, those of one pair after the other."""
    joints = part.joints_between
    k = np.arange(1, part.size, dtype=np.int64)[:, None]
    count = len(joints)
    if not count or not len(k):
        return np.zeros((5, 0), dtype=np.int64)

    def numbers(texts: Sequence[str]) -> Integers:
        found = [below.bodies.index(split_place(part.model, text)[0]) for text in texts]
        return np.array(found, dtype=np.int64)[None, :]

    constants = (
        [joint.removes for joint in joints],
        [kinds.setdefault(joint.kind, len(kinds)) for joint in joints],
        range(examples, examples + count),
    )
    rows = [
        place(numbers([b.i for b in part.between]), k - 1),
        place(numbers([b.j for b in part.between]), k),
        *(np.broadcast_to(np.array(row, dtype=np.int64), (len(k), count)) for row in constants),
    ]
    return np.stack([np.broadcast_to(row, (len(k), count)).ravel() for row in rows])
