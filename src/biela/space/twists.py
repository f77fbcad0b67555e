"""Twists: how a solid moves, as the velocity of one of its points and an angular velocity."""

from __future__ import annotations

from dataclasses import dataclass

from biela.atoms import Atom
from biela.errors import DomainError
from biela.space.kinematics import angular_velocity, position, velocity_in
from biela.space.points import Frame, Point
from biela.space.solids import Solid, Wrench
from biela.space.vectors import Vector


@dataclass(frozen=True, eq=False)
class Twist:
    """The motion of a solid seen from a frame, reduced to a point.

    ``linear`` is the velocity of the point as if it belonged to the solid, ``angular`` the angular
    velocity of the solid, which no point changes.
    """

    solid: Solid
    frame: Frame
    point: Point
    linear: Vector
    angular: Vector

    def at(self, point: Point) -> Twist:
        """The same motion at another point: v_B = v_A + ω x r, with r from A to B."""
        if point is self.point:
            return self
        arm = position(self.point, point)
        linear = self.linear + self.angular.cross(arm)
        return Twist(self.solid, self.frame, point, linear, self.angular)

    def power(self, wrench: Wrench) -> Atom:
        """The power f · v + m · ω of a wrench on the solid, v that of the point where it acts.

        Raises:
            DomainError: If the wrench acts on another solid.
        """
        if wrench.solid is not self.solid:
            raise DomainError(
                f"wrench {wrench.name} acts on {wrench.solid.name}, and this is the twist of "
                f"{self.solid.name}: take the twist of the solid it acts on"
            )
        here = self.at(wrench.point)
        return wrench.force.dot(here.linear) + wrench.moment.dot(here.angular)


def twist(frame: Frame, solid: Solid, point: Point | None = None) -> Twist:
    """The twist of a solid seen from a frame, at a point (that of the solid by default)."""
    at = solid.point if point is None else point
    return Twist(
        solid,
        frame,
        at,
        velocity_in(frame, at, solid),
        angular_velocity(frame.base, solid.base),
    )
