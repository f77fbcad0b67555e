"""Places and directions of the bodies of a group that are one by its joints.

The rule of natural coordinates (García de Jalón & Bayo 1994, §2.2 and §4.2): a point at a pin, a
ball or a cross, and a unit vector along an axis, belong to both bodies, so that the joint needs
fewer equations or none.  What is one is decided once for all instances of a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.natural.one_of_a_body import OneOfABody

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


class Spots(OneOfABody[Spot]):
    """Spots in classes; those of a class are one point, or one vector.

    All known bodies count as one: what is fixed to them is never made one.
    """

    def add(self, slot: int, body: Integers, rows: Floats, name: str) -> int:
        """The number of a spot; one that is known already keeps its number."""
        owner = max(slot, -1)
        for k in self.of(owner):
            if self.nodes[k].is_at(slot, body, rows):
                return k
        return self.enter(Spot(slot, body, rows, name), owner)
