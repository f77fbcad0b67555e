"""How the directions of bodies are written in vectors: V ξ with ξ = A⁻¹ l.

Bodies that do not turn against each other (slides, welds) have one orientation.  It is known where
one of them is, or it is spanned by vectors: differences of points and unit vectors v₁, v₂, which in
the frame of the body are a₁, a₂.  A direction l of the body is then V A⁻¹ l, linear in the unknowns
(García de Jalón & Bayo 1994, §4.2):

    in a plane      V = (v, v turned by a right angle, the normal)
    in space        V = (v₁, v₂, v₁ × v₂), or with a third vector of its own
    of a rod        V = (v, w × v made a unit vector, v × that), w upright: its spin is held
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from biela.equations.blocks.populations import Floats, Frames
from biela.equations.groups.cast import Cast, CastElement, Poses
from biela.equations.groups.natural_vectors import Triple

__all__ = ["Orientation", "Span", "holds_orientation", "orientations"]


@dataclass(frozen=True, eq=False)
class Span:
    """Vectors of the ground, and the inverse (n, 3, 3) of what they are in the reference body."""

    V: tuple[Triple, Triple, Triple]
    inverse: Floats


@dataclass(eq=False)
class Orientation:
    """Bodies that do not turn against each other.

    Attributes:
        turns: For each body C (n, 3, 3): its rotation is that of the reference times C.
        known: A frame on the known body that is the reference; None if it is one of the bodies.
        rod: Whether its spin about a line is passive.
        span: What its directions are written in, once it is known.
    """

    turns: dict[int, Floats] = field(default_factory=dict)
    known: Frames | None = None
    rod: bool = False
    span: Span | None = None

    @property
    def complete(self) -> bool:
        """Whether all directions can be written."""
        return self.known is not None or self.span is not None

    def seen(self, slot: int, rows: Floats) -> Floats:
        """Directions (n, 3) of a body, in the frame of the reference."""
        found: Floats = np.einsum("nij,nj->ni", self.turns[slot], rows)
        return found


def holds_orientation(element: CastElement) -> bool:
    """Whether a joint lets its bodies not turn against each other."""
    return element.joint.kind in ("prismatic", "fixed")


def orientations(cast: Cast, poses: Poses) -> list[Orientation]:
    """The orientations of the bodies of a group; those that are known first."""
    links: dict[int, list[tuple[int, Floats]]] = {slot: [] for slot in range(cast.size)}
    roots: dict[int, tuple[Frames, Floats]] = {}
    for _, element in cast.joints():
        if not holds_orientation(element):
            continue
        i, j = element.markers
        C = _turn(poses, i.frames, j.frames)
        if i.slot >= 0 and j.slot >= 0:
            links[i.slot].append((j.slot, C))
            links[j.slot].append((i.slot, np.swapaxes(C, 1, 2)))
        elif j.slot >= 0:
            roots.setdefault(j.slot, (i.frames, C))
        elif i.slot >= 0:
            roots.setdefault(i.slot, (j.frames, np.swapaxes(C, 1, 2)))
    found: list[Orientation] = []
    reached: set[int] = set()
    identity = np.broadcast_to(np.eye(3), (cast.count, 3, 3))
    starts = [*roots, *(slot for slot in range(cast.size) if slot not in roots)]
    for start in starts:
        if start in reached:
            continue
        frames, C = roots.get(start, (None, identity))
        orientation = Orientation({start: C}, frames)
        queue = [start]
        reached.add(start)
        while queue:
            slot = queue.pop(0)
            for other, D in links[slot]:
                if other not in reached:
                    reached.add(other)
                    orientation.turns[other] = orientation.turns[slot] @ D
                    queue.append(other)
        found.append(orientation)
    for spin in cast.spins:
        next(o for o in found if spin.slot in o.turns).rod = True
    return found


def _turn(poses: Poses, i: Frames, j: Frames) -> Floats:
    """C with R_j = R_i C, from markers whose axes are parallel: their signs are those of a pose."""
    (_, Ri), (_, Rj) = poses.of(i), poses.of(j)
    signs = np.round(np.swapaxes(Ri, 1, 2) @ Rj)
    found: Floats = i.axes @ signs @ np.swapaxes(j.axes, 1, 2)
    return found
