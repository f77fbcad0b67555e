"""Drivers that stand for freedoms which no coordinate of a joint gives: rotations and spins.

Where a motion is integrated its independent coordinates are taken as if they were driven, with laws
that come from the integrator.  A ball, or a free body, turns by a unit quaternion; a rod between
two balls about its line.  These drivers have no kind: they are no part of what a user describes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from biela.atoms import cos, sin
from biela.model.derivation import Derivation
from biela.model.drivers import Driver
from biela.model.drivers.joint_driver import JointDriver
from biela.model.drivers.orientation import rows_towards
from biela.model.element import quantity
from biela.model.joints.primitives import Row
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.reference import ground, pair_from_ground
from biela.space import Base, Vector

__all__ = ["CoordinateDriver", "RotationDriver", "SpinDriver"]


@dataclass(frozen=True, kw_only=True)
class CoordinateDriver(JointDriver):
    """A coordinate of a joint in a unit of its own, as the way s along a curve."""

    dimension: ClassVar[str] = "any"


@dataclass(frozen=True, kw_only=True)
class RotationDriver(Driver):
    """Marker j is turned from marker i by a unit quaternion, whose components are four laws."""

    marker: Marker = quantity("marker", "marker that is turned")
    e0: Law = quantity("law", "cosine of half the angle")
    e1: Law = quantity("law", "first component of the axis times the sine of half the angle")
    e2: Law = quantity("law", "second component")
    e3: Law = quantity("law", "third component")
    i: Marker | None = quantity("marker", "marker to turn from; else the ground", default=None)

    @property
    def removes(self) -> int:
        """Three."""
        return 3

    def target(self, derivation: Derivation, start: Base, *, back: bool = False) -> Base:
        """The base that the laws have turned another one to, or turned back."""
        laws = (self.e0, self.e1, self.e2, self.e3)
        e = [derivation.law(law, "any") for law in laws]
        if back:
            e = [e[0], -e[1], -e[2], -e[3]]
        # several of one group are all called "element"
        return start.by_euler_parameters(f"{self.name}_{e[0].ref}", e, homogeneous=True)

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """Three sines of what is left to turn."""
        pair = pair_from_ground(derivation, self.i, self.marker)
        return rows_towards(self.target(derivation, pair.i.base), pair.j)


@dataclass(frozen=True, kw_only=True)
class SpinDriver(Driver):
    """A body is turned about the z axis of a marker by an angle ψ from where x is level.

    With an axis w of the ground, w · x = 0 where ψ is zero, and turned back by ψ

        w · b = 0,      b = x cos ψ - y sin ψ,      (w · b)' = ω · (b x w) + w · ∂b/∂ψ ψ'

    which is singular where z is along w.  In a plane, with z its normal, ψ is the angle of x from
    the direction w x z.
    """

    marker: Marker = quantity("marker", "marker whose z axis is the line")
    axis: str = quantity("text", "axis of the ground that level is across")
    law: Law = quantity("law", "the angle ψ")

    def rows(self, derivation: Derivation) -> Sequence[Row]:
        """W · b = 0."""
        psi = derivation.law(self.law, "angle")
        here = ground(derivation)
        pair = pair_from_ground(derivation, None, self.marker)
        w, x, y = here.axis(self.axis), pair.j.axis("x"), pair.j.axis("y")
        c, s = cos(psi), sin(psi)
        b, along = x * c - y * s, -(x * s) - y * c
        lever = b.cross(w)
        speed = pair.turning.dot(lever) + w.dot(along) * derivation.space.time_rate(psi)
        return [Row("spin", w.dot(b), speed, Vector(derivation.space, {}), lever)]
