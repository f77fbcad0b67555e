"""Shapes with straight edges: box, plate, thin rod, mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biela.atoms import Atom, sqrt
from biela.errors import ModelError
from biela.model.mass_properties import as_vector
from biela.model.meshes.mesh import Floats, Mesh
from biela.model.meshes.polygons import area_moments, as_polygon
from biela.model.meshes.surfaces import extruded
from biela.model.shapes.round import Cylinder
from biela.model.shapes.shape import Measure, Shape


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A cuboid about its origin, with edges ``size`` along its axes: S = diag(a², b², c²)/12."""

    kind = "box"
    size: ArrayLike

    def _check(self) -> None:
        size = as_vector("the size of a box", self.size)
        if (size <= 0).any():
            raise ModelError(f"the edges of a box must be positive, not {size.tolist()}")
        self._set("size", size)

    @property
    def volume(self) -> Measure:
        """The product a b c."""
        return math.prod(np.asarray(self.size).tolist())

    def second_moments(self) -> Floats:
        """diag(a², b², c²)/12."""
        return np.diag(np.asarray(self.size) ** 2 / 12)

    def surface(self, sides: int = 32) -> Mesh:
        """Twelve triangles."""
        a, b, c = np.asarray(self.size) / 2
        return extruded(np.array([[-a, -b], [a, -b], [a, b], [-a, b]]), 2 * c)


@dataclass(frozen=True, eq=False)
class Plate(Shape):
    """A plate of any simple outline.

    Attributes:
        corners: Corners (n, 2) of the outline in the own xy plane, in either sense.
        thickness: Half of it on either side of that plane.
    """

    kind = "plate"
    corners: ArrayLike
    thickness: Measure

    def _check(self) -> None:
        self._positive("thickness")
        self._set("corners", as_polygon(self.corners))

    @property
    def _area(self) -> tuple[Measure, Floats, Floats]:
        return area_moments(np.asarray(self.corners))

    @property
    def volume(self) -> Measure:
        """Area times thickness."""
        return self._area[0] * self.thickness

    @property
    def centre(self) -> Floats:
        """The centroid of the outline."""
        return np.array([*self._area[1], 0.0])

    def second_moments(self) -> Floats:
        """Those of the outline, and thickness²/12."""
        area, _, second = self._area
        S = np.zeros((3, 3), dtype=np.result_type(second, float))
        S[:2, :2] = second / area
        S[2, 2] = self.thickness**2 / 12
        return S

    def surface(self, sides: int = 32) -> Mesh:
        """The outline extruded."""
        return extruded(np.asarray(self.corners), self.thickness)


@dataclass(frozen=True, eq=False)
class Rod(Shape):
    """A thin rod from ``start`` to ``end``: S = d dᵀ/12 with d = end - start.

    The radius, if given, serves to draw it and to weigh it by its density; the inertia is that of
    a line. For a stout rod take a cylinder.
    """

    kind = "rod"
    start: ArrayLike
    end: ArrayLike
    radius: Measure = 0.0

    def _check(self) -> None:
        self._set("start", as_vector("the start of a rod", self.start))
        self._set("end", as_vector("the end of a rod", self.end))
        self._positive("radius", or_zero=True)
        if not self.length:
            raise ModelError("a rod must not end where it starts")
        if self.density is not None and not self.radius:
            raise ModelError("a rod with a density needs a radius; or give its mass")

    @property
    def _along(self) -> Floats:
        along: Floats = np.asarray(self.end) - np.asarray(self.start)
        return along

    @property
    def length(self) -> Measure:
        """From start to end."""
        along = self._along
        if along.dtype == object:  # of atoms; along an axis nothing has to be squared
            sizes = [x for x in along.tolist() if isinstance(x, Atom) or x]
            return abs(sizes[0]) if len(sizes) == 1 else sqrt(sum(x * x for x in sizes))
        return float(np.linalg.norm(along))

    @property
    def volume(self) -> Measure:
        """π r² l."""
        return math.pi * self.radius**2 * self.length

    @property
    def centre(self) -> Floats:
        """The middle."""
        return np.asarray(np.asarray(self.start) + self._along / 2)

    def second_moments(self) -> Floats:
        """D dᵀ/12."""
        return np.outer(self._along, self._along) / 12

    def surface(self, sides: int = 32) -> Mesh:
        """A prism of many sides, a hundredth as thick as long where there is no radius."""
        w = self._along / self.length
        u = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
        u /= np.linalg.norm(u)
        R = np.stack([u, np.cross(w, u), w], axis=1)
        radius = self.radius or self.length / 200
        return Cylinder(radius, self.length).surface(sides).moved(self.centre, R)


@dataclass(frozen=True, eq=False)
class MeshShape(Shape):
    """A body inside a closed mesh, whose triangles face outward.

    Attributes:
        mesh: The surface in own axes.
        file: Where it was read from, for saving; "" if it was not.
    """

    kind = "mesh"
    mesh: Mesh
    file: str = ""

    def _check(self) -> None:
        if not isinstance(self.mesh, Mesh):
            raise ModelError("a mesh shape needs a Mesh: read one with read_mesh(path)")

    @property
    def volume(self) -> Measure:
        """Inside the mesh."""
        return self.mesh.volume

    @property
    def centre(self) -> Floats:
        """Of the volume."""
        return self.mesh.mass_properties(1.0).com

    def second_moments(self) -> Floats:
        """Of the volume: S = tr(I)/2 1 - I for a unit mass."""
        unit = self.mesh.mass_properties(1.0)
        moments = np.trace(unit.inertia) / 2 * np.eye(3) - unit.inertia
        return np.asarray(moments / unit.mass)

    def surface(self, sides: int = 32) -> Mesh:
        """The mesh itself."""
        return self.mesh
