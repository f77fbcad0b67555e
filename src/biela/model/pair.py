"""Two markers as expressions: what joints, drivers, forces and sensors are written on.

Every formulation gives each marker a point and a base of its `biela.space.Space`; all that two
markers can ask of each other follows from these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from biela.atoms import Atom, Workspace
from biela.model.quantities.values import Value
from biela.space import Base, Point, Space, Vector, angular_velocity, position, velocity


@dataclass(frozen=True, eq=False)
class Place:
    """A marker as expressions."""

    point: Point
    base: Base

    def axis(self, letter: str) -> Vector:
        """One of its axes: "x", "y", "z", or "-x" …"""
        sign = -1 if letter[0] == "-" else 1
        components = [0, 0, 0]
        components["xyz".index(letter[-1])] = sign
        return self.base.vector(*components)

    @property
    def velocity(self) -> Vector:
        """The velocity of its point in the ground."""
        return velocity(self.point.space.inertial, self.point)

    @property
    def angular_velocity(self) -> Vector:
        """Its angular velocity in the ground."""
        return angular_velocity(self.point.space.root, self.base)


@dataclass(frozen=True, eq=False)
class Pair:
    """Marker i of the body before and marker j of the body after, at any position and time."""

    i: Place
    j: Place
    #: Makes an atom of a number, or of a text with units and parameters.
    number: Callable[[Value, str], Atom]

    @property
    def space(self) -> Space:
        """The space of both."""
        return self.i.point.space

    @property
    def workspace(self) -> Workspace:
        """The workspace of both."""
        return self.space.workspace

    @property
    def time(self) -> Atom:
        """The time."""
        return self.workspace.time

    @cached_property
    def gap(self) -> Vector:
        """The vector d from the point of i to that of j."""
        return position(self.i.point, self.j.point)

    @cached_property
    def speed(self) -> Vector:
        """The velocity of the point of j less that of i, in the ground."""
        return self.j.velocity - self.i.velocity

    @cached_property
    def turning(self) -> Vector:
        """The angular velocity of j seen from i."""
        return angular_velocity(self.i.base, self.j.base)

    @cached_property
    def relative_speed(self) -> Vector:
        """The velocity of the point of j seen from the body of i: d' - ω_i x d."""
        return self.speed - self.i.angular_velocity.cross(self.gap)
