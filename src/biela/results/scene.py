"""Plain shapes that move: what an animation shows.

Everything is an array in time. The first axis of the arrays counts the instants; length one stands
for a shape at rest. Positions are in metres in one fixed frame, rotation matrices take vectors from
the shape's own axes to that frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from biela.errors import ResultsError
from biela.results.channels import Array
from biela.results.interpolation import hermite, inside, rotations, slopes
from biela.results.shapes import Box, Cylinder, Dot, Ground, Link, Polyhedron, Sphere, Trace

__all__ = ["PLANES", "Scene", "Shape", "same_array"]

Shape: TypeAlias = Link | Dot | Trace | Sphere | Box | Cylinder | Polyhedron | Ground

#: Coordinate planes: the axis across, the axis up, the normal.
PLANES = {"xz": (0, 2, 1), "xy": (0, 1, 2), "yz": (1, 2, 0)}

#: Points belong to one plane if they are out of it by less than this part of the scene's size.
_FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class Scene:
    """Shapes and how to look at them.

    Attributes:
        shapes: what to draw.
        plane: "xz", "xy" or "yz" to draw it flat, "3d" for space; "" finds out.
    """

    shapes: tuple[Shape, ...]
    plane: str = ""

    def __init__(self, shapes: Sequence[Shape], plane: str = "") -> None:
        """Gather shapes.

        Raises:
            ResultsError: there are none, they differ in the number of instants, or the plane is
                not one of those above.
        """
        object.__setattr__(self, "shapes", tuple(shapes))
        object.__setattr__(self, "plane", plane)
        if not self.shapes:
            raise ResultsError("a scene needs at least one shape")
        if plane not in ("", "3d", *PLANES):
            raise ResultsError(f"plane {plane!r}: give one of {', '.join(PLANES)}, 3d, or nothing")
        counts = {shape.count: shape.name for shape in self.shapes if shape.count > 1}
        if len(counts) > 1:
            (k0, first), (k1, other), *_ = counts.items()
            raise ResultsError(
                f"the shapes of a scene share their instants, but {first!r} has {k0} and "
                f"{other!r} has {k1}"
            )

    @property
    def count(self) -> int:
        """The number of instants; 1 if nothing moves."""
        return max(shape.count for shape in self.shapes)

    @property
    def moving_numbers(self) -> int:
        """How many numbers an instant has; those that several shapes share count once."""
        arrays = {
            same_array(array): array[0].size
            for shape in self.shapes
            for array in (getattr(shape, name) for name in shape.MOVING)
            if len(array) > 1
        }
        return sum(arrays.values())

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest coordinates that any shape ever reaches."""
        return self.bounds_along(np.eye(3))

    def bounds_along(self, axes: Array) -> tuple[Array, Array]:
        """Lowest and highest components along the rows of `axes` (3, 3) that any shape reaches.

        Raises:
            ResultsError: a coordinate is not finite.
        """
        corners = [shape.corners() for shape in self.shapes]
        if any(np.isinf(points).any() for points in corners):
            raise ResultsError("the shapes of a scene have coordinates that are not finite")
        reached = [points @ axes.T for points in corners]
        low: Array = np.min([np.nanmin(points, axis=(0, 1)) for points in reached], axis=0)
        high: Array = np.max([np.nanmax(points, axis=(0, 1)) for points in reached], axis=0)
        return low, high

    @property
    def extent(self) -> float:
        """Diagonal of the bounds; 1 for a scene that is a single point."""
        low, high = self.bounds
        return float(np.linalg.norm(high - low)) or 1.0

    @cached_property
    def view(self) -> str:
        """The plane to draw in, "3d" for none: as given, or as the points lie.

        The motion is planar if all points stay in one plane parallel to a coordinate plane and no
        body turns out of it.
        """
        if self.plane:
            return self.plane
        points = np.concatenate([shape.points_of_motion().reshape(-1, 3) for shape in self.shapes])
        spread = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
        for plane, (_, _, normal) in PLANES.items():
            flat = spread[normal] <= _FLAT * self.extent
            if flat and all(shape.turns_about(normal) for shape in self.shapes):
                return plane
        return "3d"

    def part(self, rows: slice) -> Scene:
        """The same shapes at some of the instants."""
        return self._map(lambda array, _: array[rows])

    def at(self, t: Array, times: Array) -> Scene:
        """The shapes at other times than the stored ones `t`, interpolated by cubics.

        Raises:
            ResultsError: a time lies outside the stored interval.
        """
        times = inside(t, times)

        def moved(array: Array, name: str) -> Array:
            if name == "rotation":
                return rotations(t, array, times)
            return hermite(t, array, slopes(t, array), times)

        return self._map(moved)

    def _map(self, change: Any) -> Scene:
        shapes = []
        done: dict[Any, Array] = {}

        def once(array: Array, name: str) -> Array:
            # the shapes of one body share its pose, before and after
            key = same_array(array)
            if key not in done:
                done[key] = change(array, name)
            return done[key]

        for shape in self.shapes:
            if shape.count > 1:
                moving: dict[str, Any] = {
                    field.name: once(getattr(shape, field.name), field.name)
                    for field in fields(shape)
                    if field.name in shape.MOVING and len(getattr(shape, field.name)) > 1
                }
                shapes.append(replace(shape, **moving))
            else:
                shapes.append(shape)
        return Scene(shapes, self.plane)


def same_array(array: Array) -> tuple[Any, ...]:
    """What two views of the same numbers have in common: place in memory, shape and strides."""
    return array.__array_interface__["data"][0], array.shape, array.strides
