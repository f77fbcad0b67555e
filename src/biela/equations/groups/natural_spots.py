"""Places and directions of the bodies of a group that are one by its joints.

The rule of natural coordinates (García de Jalón & Bayo 1994, §2.2 and §4.2): a point at a pin, a
ball or a cross, and a unit vector along an axis, belong to both bodies, so that the joint needs
fewer equations or none.  What is one is decided once for all instances of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.equations.blocks.populations import Floats, Frames, Integers

__all__ = ["Spot", "Spots"]

#: Places of a body nearer than this are one (m, or of a unit vector).
_SAME: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Spot:
    """A place of a body, or a direction of it, in all instances.

    Attributes:
        slot: The body in the group, or an `Owner`.
        body: (n,) numbers of the bodies.
        rows: (n, 3) in the frame of the body.
        name: The joint it was first seen at.
    """

    slot: int
    body: Integers
    rows: Floats
    name: str

    @property
    def moves(self) -> bool:
        """Whether its body is one of the group."""
        return self.slot >= 0

    @property
    def frames(self) -> Frames:
        """A frame there."""
        axes = np.broadcast_to(np.eye(3), (len(self.rows), 3, 3))
        return Frames(self.body, self.rows, axes)

    def is_at(self, slot: int, body: Integers, rows: Floats) -> bool:
        """Whether that is the same place of the same body in all instances."""
        if self.slot != slot or not np.array_equal(self.body, body):
            return False
        return bool((np.abs(self.rows - rows) < _SAME).all())


class Spots:
    """Spots in classes; those of a class are one point, or one vector."""

    def __init__(self) -> None:
        self.spots: list[Spot] = []
        self._parent: list[int] = []
        #: The bodies of each class: slots, and one mark for what is known.
        self._owners: list[set[int]] = []
        #: Spots by body, and by class.
        self._of: dict[int, list[int]] = {}
        self._members: dict[int, list[int]] = {}

    def add(self, slot: int, body: Integers, rows: Floats, name: str) -> int:
        """The number of a spot; one that is known already keeps its number."""
        for k in self._of.get(slot, ()):
            if self.spots[k].is_at(slot, body, rows):
                return k
        number = len(self.spots)
        self.spots.append(Spot(slot, body, rows, name))
        self._parent.append(number)
        self._owners.append({max(slot, -1)})
        self._of.setdefault(slot, []).append(number)
        self._members[number] = [number]
        return number

    def root(self, k: int) -> int:
        """The class of a spot."""
        while self._parent[k] != k:
            k = self._parent[k]
        return k

    def merge(self, a: int, b: int) -> bool:
        """Make two spots one; refused if two of one body, or two that are known, would be."""
        first, second = sorted((self.root(a), self.root(b)))
        if first == second:
            return True
        if self._owners[first] & self._owners[second]:
            return False
        self._parent[second] = first
        self._owners[first] |= self._owners[second]
        self._members[first] = sorted(self._members[first] + self._members.pop(second))
        return True

    def of(self, slot: int) -> list[int]:
        """The spots of a body of the group."""
        return list(self._of.get(slot, ()))

    def classes(self) -> Iterator[tuple[int, list[Spot]]]:
        """All classes with their spots."""
        found: dict[int, list[Spot]] = {}
        for k, spot in enumerate(self.spots):
            found.setdefault(self.root(k), []).append(spot)
        yield from found.items()

    def members(self, root: int) -> list[Spot]:
        """The spots of a class."""
        return [self.spots[k] for k in self._members.get(root, ())]
