"""One structural group: bodies that are solved together once the bodies they rest on are known.

A chain is determined (desmodromic) when it has as many drivers as freedoms.  A *structural group*
is a determined chain that rests on bodies of known motion; it is *simple* when no smaller set of
its bodies is determined (Kolovsky et al. 2000; Saura et al. 2012).  Its equations are those of its
joints: internal ones between two of its bodies, external ones to a known body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Group", "PassiveSpin", "Space"]

#: Where the bodies of a group move: three freedoms a body in a plane or about a point, else six.
Space = Literal["plane", "sphere", "space"]


@dataclass(frozen=True)
class PassiveSpin:
    """A turn that moves nothing else: a rod about the line of the two balls at its ends.

    Attributes:
        body: The body whose turn is held; its angular velocity along the axis is zero.
        bodies: All bodies that turn together, such as the two halves of a strut.
        joints: The joints at the two ends.
        points: Their points in the frame of ``body``, at the first position looked at.
        axis: The unit vector along the line, in the frame of ``body``.
    """

    body: str
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    points: tuple[tuple[float, float, float], ...]
    axis: tuple[float, float, float]


@dataclass(frozen=True)
class Group:
    """Bodies that are solved together.

    Two groups of one ``kind`` have the same equations with other numbers:
    ``bodies_in_order[i]`` of the one plays the part of ``bodies_in_order[i]`` of the other, and so
    do ``joints_in_order``, ``known_in_order`` and ``sides``.

    Attributes:
        bodies: Names of its bodies, in the order of the model.
        joints: Names of the joints, couplings and drivers whose rows belong to it.
        drivers: Those of them that are drivers.
        known: Bodies of earlier groups it rests on; the ground is left out.
        after: Numbers of the earlier groups these belong to.
        level: 0 for a group that rests on the ground only, else one more than the highest before.
        space: Whether its bodies move in a plane, about a point, or in space.
        kind: The canonical label, the same for groups that differ in names and numbers only.
        name: What people call it: "1R", "RRR", "2S1P" …
        bodies_in_order: Its bodies in canonical order.
        joints_in_order: Its joints, couplings and drivers in canonical order.
        known_in_order: The known bodies in canonical order, "ground" for the ground.
        sides: For each of ``joints_in_order`` whether it is turned: its marker j then stands where
            another instance of the kind may have marker i.
        locked: Passive spins that are held.
        redundant: Rows of its joints that depend on the others ("joint.row").
        independent: Coordinates that are given as if driven ("joint.coordinate").
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drivers: tuple[str, ...]
    known: tuple[str, ...]
    after: tuple[int, ...]
    level: int
    space: Space
    kind: str
    name: str
    bodies_in_order: tuple[str, ...]
    joints_in_order: tuple[str, ...]
    known_in_order: tuple[str, ...] = ()
    sides: tuple[bool, ...] = ()
    locked: tuple[PassiveSpin, ...] = ()
    redundant: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()

    @property
    def explicit(self) -> bool:
        """Whether it is one body that a driver places: no equations need to be solved."""
        return len(self.bodies) == 1 and bool(self.drivers or self.independent)
