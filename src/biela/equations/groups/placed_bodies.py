"""Bodies of a group that are placed, and markers on them, on known bodies and on the ground.

A way to choose coordinates (`relative`, `reference_point`, `natural`) puts the bodies.  Markers on
known bodies are symbols h; those on the ground and all local geometry are parameters p with a row
an instance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom, Workspace
from biela.equations.blocks.populations import Floats, Frames, clean
from biela.equations.groups.cast import Cast, Owner, Poses
from biela.equations.groups.items import Item, ItemKind
from biela.equations.groups.symbols import GroupSymbols
from biela.equations.reference_point import NORMAL
from biela.model.pair import Place
from biela.space import Base, Point, Vector, position

__all__ = ["PlacedBodies", "frame_of_plane", "relative_poses"]


class PlacedBodies(GroupSymbols):
    """A derivation that knows where bodies and markers are."""

    def __init__(self, cast: Cast, poses: Poses | None = None) -> None:
        super().__init__()
        self.cast, self.plane = cast, cast.plane
        self._poses = poses
        #: Where bodies are, once they are placed.
        self.bodies: dict[int, Place] = {}
        #: The frame that stands for a body here, in its own frame: places and axes.
        self.frames: dict[int, tuple[Floats, Floats]] = {}
        self._places: dict[tuple[int, int], Place] = {}

    # --------------------------------------------------------- points and bases of parameters

    def vector_of(self, base: Base, name: str, rows: Floats) -> Vector:
        """A vector of parameters along the axes of a base, (n, 3)."""
        x, y, z = (self.column(f"{name}{c}", rows[:, k]) for k, c in enumerate("xyz"))
        return base.vector(x, y, z)

    def in_plane(self, rows: Floats) -> Floats:
        """Places in a body or the ground without what they have across the plane of the model."""
        if self.plane is None:
            return rows
        kept = np.array(rows)
        kept[:, "xyz".index(NORMAL[self.plane])] = 0.0
        return kept

    def offset(self, point: Point, base: Base, name: str, rows: Floats) -> Point:
        """A point of parameters from another one."""
        vector = self.vector_of(base, name, rows)
        return point if vector.is_zero else point.offset(self.fresh(name), vector)

    def turned(self, base: Base, name: str, axes: Floats) -> Base:
        """A base turned by rotations that are parameters, (n, 3, 3)."""
        flat = clean(axes).reshape(len(axes), 9)
        R = [self.column(f"{name}{k}", flat[:, k]) for k in range(9)]
        if [r.value for r in R] == [1, 0, 0, 0, 1, 0, 0, 0, 1]:
            return base
        return base.by_matrix(self.fresh(name), [R[0:3], R[3:6], R[6:9]])

    # ------------------------------------------------------------------ bodies and markers

    def put(self, slot: int, place: Place, frame: tuple[Floats, Floats]) -> None:
        """Place a body of the group by a frame fixed in it."""
        self.bodies[slot] = place
        self.frames[slot] = frame

    def local(self, slot: int, frames: Frames) -> tuple[Floats, Floats]:
        """Places and axes of frames on a body of the group, seen from the frame it is placed by."""
        place, axes = self.frames[slot]
        back = np.swapaxes(axes, 1, 2)
        at = np.einsum("nij,nj->ni", back, self.in_plane(frames.place - place))
        return clean(at), clean(back @ frames.axes)

    def marker(self, element: int, number: int) -> Place:
        """A marker of an element."""
        key = (element, number)
        if key not in self._places:
            found = self.cast.elements[element].markers[number]
            self._places[key] = self.placed(f"e{element}m{number}", found.slot, found.frames)
        return self._places[key]

    def placed(self, name: str, slot: int, frames: Frames) -> Place:
        """A frame on a body, in all instances."""
        if slot >= 0:
            body, (at, axes) = self.bodies[slot], self.local(slot, frames)
            point = self.offset(body.point, body.base, name, at)
            return Place(
                self._lifted(point, name, frames), self.turned(body.base, f"{name}_axes", axes)
            )
        root, origin = self.system.base, self.system.origin
        if slot == Owner.GROUND:
            point = self.offset(origin, root, name, clean(self.in_plane(frames.place)))
            return Place(
                self._lifted(point, name, frames), self.turned(root, f"{name}_axes", frames.axes)
            )
        r = self._known_triple("point", frames.body, frames.place)
        point = self._lifted(
            origin.offset(self.fresh(name), root.vector(*r)), f"{name}_over", frames
        )
        if self.plane is not None:
            cosine, sine = (self.given(Item("turn", frames.body), k) for k in range(2))
            base = root.by_matrix(
                self.fresh(name), frame_of_plane(self.workspace, self.plane, cosine, sine)
            )
            return Place(point, self.turned(base, f"{name}_axes", frames.axes))
        known = [self._known_triple("axis", frames.body, frames.axes[:, :, k]) for k in range(3)]
        matrix = [[known[column][row] for column in range(3)] for row in range(3)]
        return Place(point, root.by_matrix(self.fresh(name), matrix))

    def _lifted(self, point: Point, name: str, frames: Frames) -> Point:
        """A point of a planar model where it is across the plane: a distance may depend on it."""
        if self.plane is None or self._poses is None:
            return point
        k = "xyz".index(NORMAL[self.plane])
        moving = frames.body >= 0
        place = self._poses.place[np.maximum(frames.body, 0), k]
        over = np.zeros((len(frames.place), 3))
        over[:, k] = np.where(moving, place, 0.0) + frames.place[:, k]
        return self.offset(point, self.system.base, f"{name}_across", clean(over))

    def _known_triple(self, kind: ItemKind, body: object, local: Floats) -> list[Atom]:
        assert isinstance(body, np.ndarray)
        item = Item(kind, body, local)
        if self.plane is None:
            return [self.given(item, k) for k in range(3)]
        zero = self.workspace.atom(0)
        kept = {axis: self.given(item, k) for k, axis in enumerate(self.plane)}
        return [kept.get(axis, zero) for axis in "xyz"]

    def seen_from_frame(self, slot: int, rows: Floats, points: bool) -> Floats:
        """Points or directions of a body of the group, seen from the frame it is placed by."""
        place, axes = self.frames[slot]
        moved = self.in_plane(rows - place) if points else rows
        return clean(np.einsum("nji,nj->ni", axes, moved))

    def components_of(self, slot: int, name: str, rows: Floats, point: bool) -> Sequence[Atom]:
        """A point or a direction of a body of the group in the ground, from its own frame."""
        body = self.bodies[slot]
        seen = self.seen_from_frame(slot, rows, point)
        if not point:
            return self.vector_of(body.base, name, seen).components(self.system.base)
        place = self.offset(body.point, body.base, name, seen)
        return position(self.system.origin, place).components(self.system.base)

    def turn_of(self, slot: int, normal: str) -> list[Atom]:
        """Cosine and sine of the angle of a body of a planar group, in its own frame."""
        k = "xyz".index(normal)
        a = (k + 1) % 3
        across = np.zeros((self.cast.count, 3))
        across[:, a] = 1.0
        direction = self.components_of(slot, f"turn{slot}_", across, False)
        return [direction[a], direction[(k + 2) % 3]]


def frame_of_plane(ws: Workspace, plane: str, cosine: Atom, sine: Atom) -> list[list[Atom]]:
    """The rotation about the normal of a plane by an angle given by its cosine and sine."""
    k = "xyz".index(NORMAL[plane])
    a, b = (k + 1) % 3, (k + 2) % 3
    R = [[ws.atom(float(i == j)) for j in range(3)] for i in range(3)]
    R[a][a], R[a][b], R[b][a], R[b][b] = cosine, -sine, sine, cosine
    return R


def relative_poses(poses: Poses, i: Frames, j: Frames) -> Floats:
    """The poses (n, 4, 4) of frames j seen from frames i."""
    (ri, Ri), (rj, Rj) = poses.of(i), poses.of(j)
    T = np.zeros((len(ri), 4, 4))
    T[:, :3, :3] = np.swapaxes(Ri, 1, 2) @ Rj
    T[:, :3, 3] = np.einsum("nji,nj->ni", Ri, rj - ri)
    T[:, 3, 3] = 1.0
    return T
