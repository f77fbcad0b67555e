"""Round shapes: cylinder, tube, cone, sphere, ellipsoid, capsule."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ModelError
from biela.model.mass_properties import as_vector
from biela.model.meshes.mesh import Floats, Mesh
from biela.model.meshes.surfaces import ball_profile, revolved
from biela.model.shapes.shape import Measure, Shape


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder about its z axis, half of its length on either side of its origin."""

    kind = "cylinder"
    radius: Measure
    length: Measure

    def _check(self) -> None:
        self._positive("radius", "length")

    @property
    def volume(self) -> Measure:
        """π r² l."""
        return math.pi * self.radius**2 * self.length

    def second_moments(self) -> Floats:
        """diag(r²/4, r²/4, l²/12)."""
        return np.diag([self.radius**2 / 4, self.radius**2 / 4, self.length**2 / 12])

    def surface(self, sides: int = 32) -> Mesh:
        """A prism of many sides."""
        r, h = self.radius, self.length / 2
        return revolved([(0, -h), (r, -h), (r, h), (0, h)], sides)


@dataclass(frozen=True, eq=False)
class Tube(Shape):
    """A hollow cylinder about its z axis, half of its length on either side of its origin."""

    kind = "tube"
    outer_radius: Measure
    inner_radius: Measure
    length: Measure

    def _check(self) -> None:
        self._positive("outer_radius", "inner_radius", "length")
        if self.inner_radius >= self.outer_radius:
            raise ModelError(
                f"the inner radius of a tube, {self.inner_radius:g} m, must be less than the outer "
                f"one, {self.outer_radius:g} m"
            )

    @property
    def volume(self) -> Measure:
        """π (R² - r²) l."""
        return math.pi * (self.outer_radius**2 - self.inner_radius**2) * self.length

    def second_moments(self) -> Floats:
        """diag((R² + r²)/4, (R² + r²)/4, l²/12)."""
        across = (self.outer_radius**2 + self.inner_radius**2) / 4
        return np.diag([across, across, self.length**2 / 12])

    def surface(self, sides: int = 32) -> Mesh:
        """A hollow prism of many sides."""
        R, r, h = self.outer_radius, self.inner_radius, self.length / 2
        return revolved([(r, -h), (R, -h), (R, h), (r, h)], sides)


@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """A cone or the frustum of one about its z axis.

    Attributes:
        lower_radius: At z = -length/2; zero is a tip.
        upper_radius: At z = length/2; zero is a tip.
        length: Along the axis.
    """

    kind = "cone"
    lower_radius: Measure
    upper_radius: Measure
    length: Measure

    def _check(self) -> None:
        self._positive("length")
        self._positive("lower_radius", "upper_radius", or_zero=True)
        if self.lower_radius == self.upper_radius == 0:
            raise ModelError("one of the radii of a cone must be positive")

    def _moments(self) -> tuple[Measure, Measure, Measure]:
        """∫ sᵏ ρ(s)² ds for k = 0, 1, 2, with ρ the radius at height s from 0 to 1."""
        a, b = self.lower_radius, self.upper_radius
        return (
            (a * a + a * b + b * b) / 3,
            (a * a + 2 * a * b + 3 * b * b) / 12,
            (a * a + 3 * a * b + 6 * b * b) / 30,
        )

    @property
    def volume(self) -> Measure:
        """π l (a² + a b + b²)/3."""
        return math.pi * self.length * self._moments()[0]

    @property
    def centre(self) -> Floats:
        """On the axis, nearer to the wider end."""
        m0, m1, _ = self._moments()
        return np.array([0.0, 0.0, self.length * (m1 / m0 - 0.5)])

    def second_moments(self) -> Floats:
        """Slices: ∫ z² dm along the axis, ∫ ρ⁴/4 ds across it."""
        a, b = self.lower_radius, self.upper_radius
        m0, m1, m2 = self._moments()
        across = sum(a**k * b ** (4 - k) for k in range(5)) / 5 / (4 * m0)
        along = self.length**2 * (m2 / m0 - (m1 / m0) ** 2)
        return np.diag([across, across, along])

    def surface(self, sides: int = 32) -> Mesh:
        """A pyramid of many sides, or its frustum."""
        h = self.length / 2
        low = [(0.0, -h)] + [(self.lower_radius, -h)] * (self.lower_radius > 0)
        high = [(self.upper_radius, h)] * (self.upper_radius > 0) + [(0.0, h)]
        return revolved([*low, *high], sides)


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball about its origin."""

    kind = "sphere"
    radius: Measure

    def _check(self) -> None:
        self._positive("radius")

    @property
    def volume(self) -> Measure:
        """4/3 π r³."""
        return 4 / 3 * math.pi * self.radius**3

    def second_moments(self) -> Floats:
        """r²/5 in all directions."""
        return np.diag([self.radius**2 / 5] * 3)

    def surface(self, sides: int = 32) -> Mesh:
        """A globe of triangles."""
        return revolved(ball_profile(self.radius, sides), sides)


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An ellipsoid about its origin, with ``semi_axes`` a, b, c: S = diag(a², b², c²)/5."""

    kind = "ellipsoid"
    semi_axes: ArrayLike

    def _check(self) -> None:
        semi_axes = as_vector("the semi_axes of an ellipsoid", self.semi_axes)
        if (semi_axes <= 0).any():
            raise ModelError(f"the semi_axes of an ellipsoid must be positive, not {semi_axes}")
        self._set("semi_axes", semi_axes)

    @property
    def volume(self) -> Measure:
        """4/3 π a b c."""
        return 4 / 3 * math.pi * math.prod(np.asarray(self.semi_axes).tolist())

    def second_moments(self) -> Floats:
        """diag(a², b², c²)/5."""
        return np.diag(np.asarray(self.semi_axes) ** 2 / 5)

    def surface(self, sides: int = 32) -> Mesh:
        """A globe of triangles, stretched."""
        return revolved(ball_profile(1.0, sides), sides).scaled(self.semi_axes)


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder about its z axis of ``length``, with a half ball on each end."""

    kind = "capsule"
    radius: Measure
    length: Measure

    def _check(self) -> None:
        self._positive("radius", "length")

    @property
    def volume(self) -> Measure:
        """π r² l + 4/3 π r³."""
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def second_moments(self) -> Floats:
        """Of the cylinder and the half balls, in the ratio of their volumes.

        A half ball has ∫ζ dm/m = 3 r/8 and ∫ζ² dm/m = r²/5 from its flat side, at z = l/2.
        """
        r, l = self.radius, self.length
        balls = 4 / 3 * r / (l + 4 / 3 * r)
        across = (1 - balls) * r**2 / 4 + balls * r**2 / 5
        along = (1 - balls) * l**2 / 12 + balls * (l**2 / 4 + 3 * l * r / 8 + r**2 / 5)
        return np.diag([across, across, along])

    def surface(self, sides: int = 32) -> Mesh:
        """A globe of triangles, drawn apart."""
        return revolved(ball_profile(self.radius, sides, self.length), sides)
