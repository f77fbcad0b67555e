"""Triangle meshes: the surface of a body, and what it weighs.

A mesh is *closed* if every edge is run through in both directions equally often, and *outward* if
its triangles are counter-clockwise seen from outside.  Of a closed outward mesh the volume, the
centre of mass and the second moments are exact sums over tetrahedra, each of a triangle (a, b, c)
and a fixed point o (Mirtich, *J. Graphics Tools* 1(2), 1996; Tonon, *J. Math. Stat.* 1, 2005):

    6 V = det[a b c],   ∫ r dV = V s/4,   ∫ r rᵀ dV = V (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/20,

with s = a + b + c and all places measured from o.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from biela.budgets import LARGEST
from biela.errors import ModelError
from biela.model.mass_properties import MassProperties, as_rotation, as_vector

__all__ = ["Mesh"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles between vertices.

    Attributes:
        vertices: (n, 3), in m.
        triangles: (m, 3), numbers of vertices, counter-clockwise seen from outside.
    """

    vertices: Floats
    triangles: Integers

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike) -> None:
        """Check and keep.

        Raises:
            ModelError: The arrays have the wrong shape, a coordinate is not finite, or a triangle
                has a vertex that is not there.
        """
        places = np.array(vertices, dtype=np.float64)
        faces = np.array(triangles)
        if places.ndim != 2 or places.shape[1:] != (3,):
            raise ModelError(f"the vertices of a mesh have shape (n, 3), not {places.shape}")
        if faces.ndim != 2 or faces.shape[1:] != (3,) or not len(faces):
            raise ModelError(f"the triangles of a mesh have shape (m, 3), not {faces.shape}")
        if faces.dtype.kind not in "iu":
            raise ModelError("the triangles of a mesh are whole numbers, which count the vertices")
        wild = np.flatnonzero(~(np.abs(places) <= LARGEST).all(axis=1))
        if len(wild):
            row = int(wild[0])
            raise ModelError(
                f"vertex {row} of the mesh is not finite, or beyond all: {places[row]}"
            )
        faces = faces.astype(np.int64)
        wrong = np.flatnonzero((faces < 0).any(axis=1) | (faces >= len(places)).any(axis=1))
        if len(wrong):
            k = int(wrong[0])
            raise ModelError(
                f"triangle {k} of the mesh is {faces[k].tolist()}, but there are only "
                f"{len(places)} vertices"
            )
        places.flags.writeable = faces.flags.writeable = False
        object.__setattr__(self, "vertices", places)
        object.__setattr__(self, "triangles", faces)

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

    # --- measures

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest coordinates (3,) of the triangles."""
        used = self.vertices[self.triangles].reshape(-1, 3)
        return used.min(axis=0), used.max(axis=0)

    @property
    def area(self) -> float:
        """The area of all triangles."""
        a, b, c = self._corners
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    @property
    def volume(self) -> float:
        """The volume enclosed; negative if the triangles face inward.

        Raises:
            ModelError: The mesh is not closed.
        """
        return self._integrals[0]

    def mass_properties(self, density: float) -> MassProperties:
        """Those of the body inside, of uniform density in kg/m³.

        Raises:
            ModelError: The mesh is not closed, or faces inward.
        """
        volume, first, second = self._integrals
        if volume <= 0:
            raise ModelError(
                f"the mesh encloses {volume:g} m³: its triangles face inward; use repaired(mesh)"
            )
        com = first / volume
        moments = second - volume * np.outer(com, com)
        centre = self._centre
        return MassProperties.of_second_moments(density * volume, centre + com, density * moments)

    @cached_property
    def _centre(self) -> Floats:
        # sums of tetrahedra from a far origin would cancel
        low, high = self.bounds
        middle: Floats = (low + high) / 2
        return middle

    @property
    def _corners(self) -> tuple[Floats, Floats, Floats]:
        a, b, c = np.moveaxis(self.vertices[self.triangles], 1, 0)
        return a, b, c

    @cached_property
    def _integrals(self) -> tuple[float, Floats, Floats]:
        """∫ dV, ∫ r dV and ∫ r rᵀ dV, with r from the middle of the mesh."""
        if not self.is_closed:
            raise ModelError(f"the mesh is not closed: {self.open_edges()}")
        a, b, c = (x - self._centre for x in self._corners)
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        s = a + b + c
        second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c, s)) / 20
        return float(volumes.sum()), volumes @ s / 4, np.asarray(second)

    # --- edges

    @cached_property
    def directed_edges(self) -> Integers:
        """(3 m, 2): the edges of the triangles, in the direction they are run through."""
        pairs = [[0, 1], [1, 2], [2, 0]]
        return self.triangles[:, pairs].reshape(-1, 2)

    @cached_property
    def _imbalance(self) -> tuple[Integers, Integers]:
        """Edges (low, high), and how much oftener they are run through upward than downward."""
        edges = self.directed_edges
        direction = np.where(edges[:, 0] < edges[:, 1], 1, -1)
        low = np.sort(edges, axis=1)
        unique, inverse = np.unique(low, axis=0, return_inverse=True)
        balance = np.bincount(inverse.ravel(), weights=direction, minlength=len(unique))
        return unique, balance.astype(np.int64)

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge is run through in both directions equally often."""
        return not self._imbalance[1].any()

    def open_edges(self) -> str:
        """What keeps the mesh from being closed, in words; "" if nothing does."""
        edges, balance = self._imbalance
        wrong = np.flatnonzero(balance)
        if not len(wrong):
            return ""
        ends = self.vertices[edges[wrong[0]]]
        places = " to ".join(np.array2string(e, precision=6, separator=", ") for e in ends)
        return (
            f"{len(wrong)} of {len(edges)} edges lack their counterpart, the first one from "
            f"{places}; weld near vertices, turn triangles round (repaired), or close the holes"
        )

    # --- changes

    def scaled(self, factor: float | ArrayLike) -> Mesh:
        """Coordinates times a factor, or three; an odd number of negative ones turns triangles.

        Raises:
            ModelError: A factor is zero or not finite.
        """
        factors = np.broadcast_to(np.asarray(factor, dtype=float), (3,))
        if not (np.isfinite(factors).all() and factors.all()):
            raise ModelError(f"a mesh cannot be scaled by {factor!r}")
        triangles = self.triangles[:, ::-1] if np.prod(factors) < 0 else self.triangles
        return Mesh(self.vertices * factors, triangles)

    def moved(self, position: ArrayLike, rotation: ArrayLike | None = None) -> Mesh:
        """The mesh turned by R, then moved: p + R r.

        Raises:
            ModelError: The rotation is none.
        """
        p, R = as_vector("the position", position), as_rotation(rotation)
        return Mesh(self.vertices @ R.T + p, self.triangles)

    def flipped(self) -> Mesh:
        """All triangles run through the other way round: inside out."""
        return Mesh(self.vertices, self.triangles[:, ::-1])

    def welded(self, tolerance: float | None = None) -> Mesh:
        """Vertices that are as good as equal made one; triangles that become lines dropped.

        Args:
            tolerance: How far apart they may be, in m; 1e-9 of the diagonal of the mesh unless
                given. Of a chain of near vertices, each joins the first one it is near to.

        Raises:
            ModelError: The tolerance is negative, or nothing is left.
        """
        low, high = self.bounds
        near = 1e-9 * float(np.linalg.norm(high - low)) if tolerance is None else tolerance
        if near < 0:
            raise ModelError(f"the tolerance of welding must not be negative, but is {near:g} m")
        vertices, inverse = np.unique(self.vertices, axis=0, return_inverse=True)
        target = _merged(vertices, near)[inverse.ravel()]
        triangles = target[self.triangles]
        a, b, c = triangles.T
        kept = triangles[(a != b) & (b != c) & (c != a)]
        if not len(kept):
            raise ModelError(f"welding at {near:g} m leaves no triangle: take a smaller tolerance")
        used, numbers = np.unique(kept, return_inverse=True)
        return Mesh(vertices[used], numbers.reshape(-1, 3))


def _merged(vertices: Floats, tolerance: float) -> Integers:
    """For each vertex the number of the one it is joined to.

    Space is cut into cubes with edges of the tolerance: what is near lies in the same cube or in
    one next to it.
    """
    count = len(vertices)
    target = np.arange(count)
    extent = float(np.ptp(vertices, axis=0).max())
    if tolerance <= 1e-15 * extent:  # less than rounding
        return target
    cells = np.floor((vertices - vertices.min(axis=0)) / tolerance).astype(np.int64)
    kept: dict[tuple[int, int, int], list[int]] = {}
    steps = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    for n in np.flatnonzero(_crowded(vertices, tolerance)).tolist():
        i, j, k = cells[n].tolist()
        found = -1
        for di, dj, dk in steps:
            for other in kept.get((i + di, j + dj, k + dk), ()):
                if np.linalg.norm(vertices[n] - vertices[other]) <= tolerance:
                    found = other
                    break
            if found >= 0:
                break
        if found < 0:
            kept.setdefault((i, j, k), []).append(n)
        else:
            target[n] = found
    return target


def _crowded(vertices: Floats, tolerance: float) -> npt.NDArray[np.bool_]:
    """Which vertices may have another one near: of most meshes none.

    Two that are near share a cell of twice the tolerance, in at least one of eight grids that are
    shifted by half a cell.
    """
    crowded = np.zeros(len(vertices), dtype=bool)
    halves = (vertices - vertices.min(axis=0)) / (2 * tolerance)
    for shift in np.ndindex(2, 2, 2):
        cells = np.floor(halves + np.array(shift) / 2).astype(np.int64)
        _, inverse, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        crowded |= counts[inverse.ravel()] > 1
    return crowded
