"""All groups of one kind as one group with rows of numbers: what a kernel is derived from.

An element (joint, coupling, driver) of a group is kept in the canonical form of
`biela.equations.blocks.casting`, with its markers as rows: where each is on its body, for every
instance of the kind.  A marker is on a body of the group, on a body that is known (solved by an
earlier group), or on the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.groups.group import Group
from biela.equations.groups.instances import ElementNames
from biela.model.element import Element
from biela.model.joints import Joint

__all__ = ["Cast", "CastElement", "CastMarker", "Owner", "Poses", "Spin", "concatenated"]


class Owner(IntEnum):
    """On whose body a marker is, where it is no body of the group (those count from 0)."""

    GROUND = -1
    KNOWN = -2


@dataclass(frozen=True, eq=False)
class CastMarker:
    """A marker of an element in all instances.

    Attributes:
        slot: Number of its body in the group, or an `Owner`.
        frames: Where it is, for every instance.
    """

    slot: int
    frames: Frames

    def is_at(self, other: CastMarker) -> bool:
        """Whether two markers are one frame in all instances."""
        mine, theirs = self.frames, other.frames
        return self.slot == other.slot and all(
            np.array_equal(a, b)
            for a, b in (
                (mine.body, theirs.body),
                (mine.place, theirs.place),
                (mine.axes, theirs.axes),
            )
        )


@dataclass(frozen=True, eq=False)
class CastElement:
    """An element of the group in all instances.

    Attributes:
        names: What it is called in each instance.
        element: In canonical form: its markers are called "m0", "m1" …, its numbers "#0", "#1" ….
        markers: Those markers.
        numbers: Values of its numbers, a row of all instances each.
        law_places: Where the values of a law stand among those of the model, (n,), by its number
            and dimension.
        joints: What its joints "j0", "j1" … are whose coordinates it names: the number of an
            element of this group, or a joint of earlier groups.
        read: The values of a text with parameters, of a dimension, for all instances.
    """

    names: Sequence[str]
    element: Element
    markers: tuple[CastMarker, ...]
    numbers: tuple[Floats, ...] = ()
    law_places: Callable[[int, str], Integers] | None = None
    joints: tuple[int | CastElement, ...] = ()
    read: Callable[[str, str], Floats] | None = None

    @property
    def label(self) -> str:
        """What it is called in messages: its name in the first instance."""
        return self.names[0]

    @property
    def joint(self) -> Joint:
        """The element, which is a joint."""
        assert isinstance(self.element, Joint)
        return self.element

    def at(self, rows: Integers) -> CastElement:
        """Some of the instances."""
        places, read, names = self.law_places, self.read, self.names
        return replace(
            self,
            names=names.at(rows) if isinstance(names, ElementNames) else [names[k] for k in rows],
            markers=tuple(CastMarker(m.slot, m.frames.at(rows)) for m in self.markers),
            numbers=tuple(row[rows] for row in self.numbers),
            law_places=None if places is None else lambda law, dim: places(law, dim)[rows],
            joints=tuple(j if isinstance(j, int) else j.at(rows) for j in self.joints),
            read=None if read is None else lambda text, dimension: read(text, dimension)[rows],
        )

    @property
    def slots(self) -> tuple[int, ...]:
        """The bodies of its markers."""
        return tuple(marker.slot for marker in self.markers)


@dataclass(frozen=True, eq=False)
class Spin:
    """A passive spin that is held: a body, and two points of its axis in the frame of the body."""

    slot: int
    first: Floats
    second: Floats


@dataclass(frozen=True, eq=False)
class Cast:
    """All groups of one kind.

    Attributes:
        example: The first of them.
        plane: The plane of a planar model.
        bodies: (instances, bodies of a group) numbers of the bodies in the model.
        elements: Joints, couplings and drivers.
        spins: Passive spins that are held.
        groups: (instances,) numbers of the groups in solution order.
    """

    example: Group
    plane: str | None
    bodies: Integers
    elements: tuple[CastElement, ...]
    groups: Integers
    spins: tuple[Spin, ...] = ()

    @property
    def count(self) -> int:
        """How many instances there are."""
        return len(self.bodies)

    @property
    def size(self) -> int:
        """How many bodies a group has."""
        return int(self.bodies.shape[1])

    def at(self, rows: Integers) -> Cast:
        """Some of the instances."""
        return replace(
            self,
            bodies=self.bodies[rows],
            elements=tuple(element.at(rows) for element in self.elements),
            groups=self.groups[rows],
            spins=tuple(Spin(s.slot, s.first[rows], s.second[rows]) for s in self.spins),
        )

    def joints(self) -> list[tuple[int, CastElement]]:
        """The joints, with their numbers."""
        return [(k, e) for k, e in enumerate(self.elements) if isinstance(e.element, Joint)]


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of all bodies of a model at some position.

    Attributes:
        place: (bodies, 3).
        axes: (bodies, 3, 3).
        plane: The plane of a planar model.
        coordinates: Values of joint coordinates that cannot be read from poses, by name.
    """

    place: Floats
    axes: Floats
    plane: str | None = None
    coordinates: Mapping[str, float] = field(default_factory=dict)

    def of(self, frames: Frames) -> tuple[Floats, Floats]:
        """Place (n, 3) and axes (n, 3, 3) in the ground of frames on bodies."""
        moving = frames.body >= 0
        at = np.maximum(frames.body, 0)
        R = np.where(moving[:, None, None], self.axes[at], np.eye(3))
        r = np.where(moving[:, None], self.place[at], 0.0)
        return r + np.einsum("nij,nj->ni", R, frames.place), R @ frames.axes

    def body(self, numbers: Integers) -> tuple[Floats, Floats]:
        """Places and axes of bodies."""
        return self.place[numbers], self.axes[numbers]


def concatenated(frames: Sequence[Frames]) -> Frames:
    """Frames of several sets of instances, one after the other."""
    return Frames(
        np.concatenate([f.body for f in frames]),
        np.concatenate([f.place for f in frames]),
        np.concatenate([f.axes for f in frames]),
    )
