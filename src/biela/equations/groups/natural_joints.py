"""What is left of the equations of joints once points, axes and orientations are shared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.atoms import Atom
from biela.equations.groups.cast import Cast, Poses
from biela.equations.groups.natural_places import NaturalPlaces
from biela.equations.groups.natural_vectors import Triple, difference, dot, times
from biela.model.joints import Joint
from biela.model.joints.primitives import (
    Along,
    Coincide,
    Parallel,
    Perpendicular,
    Primitive,
    Row,
    all_rows,
)
from biela.model.pair import Pair
from biela.space import Vector

__all__ = ["NaturalDerivation"]


class NaturalDerivation(NaturalPlaces):
    """The equations of a group in natural coordinates.

    Attributes:
        shared_points: Joints whose markers have one point.
        shared_axes: Joints whose markers have one axis.
        kept_turns: Joints whose bodies have orientations that belong together already.
        kept_ways: Slides whose displacement is given, and places a body.
        axis_distances: Slides written as r_j - r_i - s u = 0, with s as an unknown.
    """

    def __init__(self, cast: Cast, poses: Poses | None = None) -> None:
        super().__init__(cast, poses)
        self.shared_points: set[int] = set()
        self.shared_axes: set[int] = set()
        self.kept_turns: set[int] = set()
        self.kept_ways: set[int] = set()
        self.axis_distances: set[int] = set()

    def joint_rows(self, number: int) -> list[Row]:
        """The equations of a joint that sharing does not satisfy."""
        with self.element(number) as cast:
            joint = cast.joint
            left = [c for c in joint.conditions() if not self._absorbed(number, joint, c)]
            slides = [c for c in left if isinstance(c, Along) and c.a in "xy" and c.value == 0.0]
            rows: list[Row] = []
            if len(slides) == 2:
                left = [c for c in left if c not in slides]
                rows += self._line_rows(number, slides)
            pair = self.pair(joint.i, joint.j)
            return [*rows, *all_rows(left, pair), *self.law_rows(number, pair)]

    def _absorbed(self, number: int, joint: Joint, condition: Primitive) -> bool:
        if isinstance(condition, Coincide):
            return number in self.shared_points
        if isinstance(condition, Parallel):
            return number in self.shared_axes or number in self.kept_turns
        if isinstance(condition, Along):
            return number in self.kept_ways
        return (
            number in self.kept_turns
            and isinstance(condition, Perpendicular)
            and (condition.a, condition.b) == ("x", "y")
        )

    # ------------------------------------------------------------------------- slides

    def _line_rows(self, number: int, slides: Sequence[Along]) -> list[Row]:
        """The point of one marker stays on the axis of the other.

        In a plane that is one cross product; in space the components across the axis, or all three
        of r_j - r_i - s u.  The axis is taken from the side where it is simpler.
        """
        base = self.axis_side(number)
        if number in self.axis_distances:
            return self._axis_distance(number)
        if self.plane is not None and self._in_plane(number, base):
            u = self.marker_axis(number, base)
            gap = difference(self.marker_point(number, 1 - base), self.marker_point(number, base))
            return [self._row("line", dot(self.perpendicular(u), gap))]
        places = self.marker(number, base), self.marker(number, 1 - base)
        return all_rows(slides, Pair(places[0], places[1], self.number))

    def axis_side(self, number: int) -> int:
        """The marker whose axes are used: that of i, unless those of j are one with it."""
        cast = self.cast.elements[number]
        if "axis" not in cast.joint.shares:
            return 0
        return min((0, 1), key=lambda m: self.side_rank(cast.markers[m].slot))

    def _in_plane(self, number: int, marker: int) -> bool:
        z = self.cast.elements[number].markers[marker].frames.axes[:, self.normal, 2]
        return bool((np.abs(z) < 1e-9).all())

    def _axis_distance(self, number: int) -> list[Row]:
        """AXISDIST: r_j - r_i - s u = 0."""
        s = self.coordinates[number, "displacement"]
        u = self.marker_axis(number, 0)
        gap = difference(self.marker_point(number, 1), self.marker_point(number, 0))
        found = difference(gap, times(s, u))
        return [self._row(axis, found["xyz".index(axis)]) for axis in self.plane or "xyz"]

    def marker_point(self, number: int, marker: int) -> Triple:
        """The point of a marker."""
        found = self.cast.elements[number].markers[marker]
        if found.slot >= 0:
            return self.point(found.slot, found.frames.place)
        return self.known_point(found.frames)

    def marker_axis(self, number: int, marker: int, axis: int = 2) -> Triple:
        """An axis of a marker."""
        found = self.cast.elements[number].markers[marker]
        rows = found.frames.axes[:, :, axis]
        if found.slot >= 0:
            return self.direction(found.slot, rows)
        return self.known_direction(found.frames.body, rows)

    def _row(self, label: str, value: Atom) -> Row:
        nothing = Vector(self.space, {})
        return Row(label, value, None, nothing, nothing)
