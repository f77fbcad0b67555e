"""Planar dyads of spatial models: hinges with parallel axes, slides across them.

The plane is that of a marker on the known body the chain begins on, and moves with it: its normal n
is along the hinges, u and v are two axes across.  A body is turned from where it is at the start,
and keeps its height over the plane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.populations import Floats, clean
from biela.equations.groups.cast import Owner, Poses
from biela.equations.groups.closed_forms.arrows import Arrow
from biela.equations.groups.closed_forms.dyad import Dyad, Key
from biela.equations.groups.closed_forms.planar_view import PlanarView
from biela.equations.groups.closed_forms.spatial_solver import carried_by, inner, seen_from
from biela.equations.groups.closed_forms.spatial_view import (
    SpatialView,
    Three,
    combined,
    dot,
    minus,
    plus,
)

__all__ = ["PlaneInSpace", "plane_of"]

#: How well axes have to be parallel, or at right angles: as well as a start is assembled.
_RIGHT = 1e-7


def plane_of(view: SpatialView, dyad: Dyad, poses: Poses) -> PlaneInSpace | None:
    """The plane of a dyad in space, if it moves in one."""
    cast = view.derivation.cast
    keys = (dyad.a_first, dyad.b_first, dyad.c_second)
    axes = [poses.of(view.marker(key).frames)[1][:, :, 2] for key in keys]
    hinges = [k for k, letter in enumerate(dyad.letters) if letter == "R"]
    if not hinges:
        return None
    normal = axes[hinges[0]]
    for k, letter in enumerate(dyad.letters):
        turned = np.cross(normal, axes[k]) if letter == "R" else inner(normal, axes[k])
        if np.abs(turned).max() > _RIGHT:
            return None
    R = poses.of(view.marker(dyad.a_known).frames)[1]
    local = clean(seen_from(R, normal))
    for axis in (0, 2, 1):
        if np.abs(local[:, axis]).max() <= _RIGHT:
            u = np.zeros((cast.count, 3))
            u[:, axis] = 1.0
            across = local.copy()
            across[:, axis] = 0.0
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            frame = np.stack([u, np.cross(across, u), across], axis=2)
            return PlaneInSpace(view.derivation, dyad.a_known, clean(frame), poses)
    return None


@dataclass(frozen=True, eq=False)
class PlaneInSpace(PlanarView):
    """A plane that a known body carries.

    Attributes:
        reference: The marker it is fixed to.
        frame: (n, 3, 3) u, v and n as columns, along the axes of that marker.
        start: Where the model is at the start.
    """

    reference: Key = (0, 0)
    frame: Floats = field(default_factory=lambda: np.zeros((0, 3, 3)))
    start: Poses = field(default_factory=lambda: Poses(np.zeros((0, 3)), np.zeros((0, 3, 3))))

    @property
    def drawn(self) -> bool:
        """Left is left, seen against n."""
        return True

    # --------------------------------------------------------------- at positions

    def _placed(self, poses: Poses) -> tuple[Floats, Floats]:
        """Origin and axes of the plane."""
        r, R = poses.of(self.marker(self.reference).frames)
        return r, R @ self.frame

    def _arrow(self, rows: Floats, axes: Floats) -> Arrow:
        return Arrow(inner(rows, axes[:, :, 0]), inner(rows, axes[:, :, 1]))

    def at(self, key: Key, poses: Poses) -> Arrow:
        """Its point at a position."""
        origin, axes = self._placed(poses)
        return self._arrow(poses.of(self.marker(key).frames)[0] - origin, axes)

    def axis_at(self, key: Key, poses: Poses, axis: int = 2) -> Arrow:
        """One of its axes at a position."""
        _, axes = self._placed(poses)
        return self._arrow(poses.of(self.marker(key).frames)[1][:, :, axis], axes)

    # ------------------------------------------------------------------- in bodies

    def _in_body(self, slot: int) -> Floats:
        """(n, 3, 3) axes of the plane in the frame of a body, at the start."""
        _, axes = self._placed(self.start)
        _, R = self.start.body(self.derivation.cast.bodies[:, slot])
        found: Floats = np.swapaxes(R, 1, 2) @ axes
        return found

    def flat(self, slot: int, rows: Floats) -> Arrow:
        """What a vector in the frame of a body has in the plane."""
        return self._arrow(rows, self._in_body(slot))

    def local(self, key: Key) -> Arrow:
        """Its point in the frame of its body."""
        marker = self.marker(key)
        return self.flat(marker.slot, marker.frames.place)

    def local_axis(self, key: Key, axis: int = 2) -> Arrow:
        """One of its axes in the frame of its body."""
        marker = self.marker(key)
        return self.flat(marker.slot, marker.frames.axes[:, :, axis])

    def up(self, key: Key) -> Floats:
        """1 where the z axis of a marker of a hinge points along the normal, -1 where against."""
        marker = self.marker(key)
        axis = marker.frames.axes[:, :, 2]
        return np.sign(inner(axis, self._in_body(marker.slot)[:, :, 2]))

    # --------------------------------------------------------------- known: atoms

    @cached_property
    def _known(self) -> tuple[Three, list[Three]]:
        """Origin and axes of the plane."""
        view = SpatialView(self.derivation)
        axes = view.known_axes(self.reference)
        columns = [view.columns("plane", self.frame[:, :, k]) for k in range(3)]
        return view.known(self.reference), [combined(c, axes) for c in columns]

    def fixed(self, key: Key) -> bool:
        """Whether a marker does not move against the plane."""
        ground = int(Owner.GROUND)
        slots = self.marker(key).slot, self.marker(self.reference).slot
        return key == self.reference or slots == (ground, ground)

    def known(self, key: Key) -> Arrow:
        """The point of a marker on a known body or the ground."""
        if self.fixed(key):
            return self.column("known", self.at(key, self.start))
        origin, (u, v, _) = self._known
        way = minus(SpatialView(self.derivation).known(key), origin)
        return Arrow(dot(way, u), dot(way, v))

    def known_axis(self, key: Key, axis: str = "z") -> Arrow:
        """An axis of a marker on a known body or the ground."""
        number = "xyz".index(axis)
        if self.fixed(key):
            return self.column("known", self.axis_at(key, self.start, number))
        _, (u, v, _) = self._known
        way = SpatialView(self.derivation).known_axes(key)[number]
        return Arrow(dot(way, u), dot(way, v))

    # ------------------------------------------------------------- in space: atoms

    def raised_point(self, slot: int, rows: Floats, point: Arrow) -> list[Atom]:
        """A point of a body, given where it is in the plane; its height is that of the start."""
        origin, axes = self._known
        r0, axes0 = self._placed(self.start)
        r, R = self.start.body(self.derivation.cast.bodies[:, slot])
        height = inner(r + carried_by(R, rows) - r0, axes0[:, :, 2])
        return plus(origin, self._raised(point, height, axes))

    def raised_direction(self, slot: int, rows: Floats, way: Arrow) -> list[Atom]:
        """A direction of a body, given what it is in the plane."""
        across = inner(rows, self._in_body(slot)[:, :, 2])
        return self._raised(way, across, self._known[1])

    def _raised(self, arrow: Arrow, across: Floats, axes: list[Three]) -> Three:
        height = self.derivation.column("height", clean(across))
        return combined([arrow.x, arrow.y, height], axes)
