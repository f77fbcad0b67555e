"""Surfaces of triangles: bars, balls, plates and the feet of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from biela.studio.turns import aligned

__all__ = ["Mesh", "ball", "bar", "foot", "plate", "rotation", "together", "triangles"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SIDES = 20
_RINGS = 12


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices (m, 3), and triangles (f, 3), each counter-clockwise seen from outside."""

    vertices: Floats
    faces: Integers

    def __post_init__(self) -> None:
        self.vertices.setflags(write=False)

    @property
    def key(self) -> bytes:
        """The same for meshes that are alike to nine digits of their size."""
        scale = float(np.abs(self.vertices).max(initial=0.0)) or 1.0
        return np.round(self.vertices / scale, 9).tobytes() + f"{scale:.9g}".encode()

    @cached_property
    def closed(self) -> bool:
        """Whether every edge has a triangle on either side, so that no inside is ever seen.

        Points that are given anew for every triangle, as files of surfaces do, count as one.
        """
        size = float(np.abs(self.vertices).max(initial=0.0)) or 1.0
        same = np.unique(np.round(self.vertices / size, 7), axis=0, return_inverse=True)[1]
        faces = same.reshape(-1)[self.faces]
        ways = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        ways = ways[ways[:, 0] != ways[:, 1]]
        count = len(self.vertices)
        there, back = (np.sort(ways @ w) for w in ((count, 1), (1, count)))
        return len(ways) > 0 and np.array_equal(there, back) and _volume(self) > 0


def triangles(vertices: Floats, faces: Sequence[Sequence[int]]) -> Mesh:
    """A mesh of plane convex faces, each cut into triangles from its first vertex."""
    cut = [(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)]
    return Mesh(np.array(vertices, dtype=float), np.array(cut, dtype=np.int64).reshape(-1, 3))


def together(*meshes: Mesh) -> Mesh:
    """Several closed surfaces as one mesh."""
    before = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([m.faces + n for m, n in zip(meshes, before, strict=False)]),
    )


def bar(ends: Floats, radius: float) -> Mesh:
    """A cylinder between two points (2, 3)."""
    angle = np.arange(_SIDES) * 2 * np.pi / _SIDES
    ring = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    lengths, turn = aligned((ends[1] - ends[0])[None])
    half = np.array([0.0, 0.0, 0.5 * lengths[0]])
    own = np.concatenate([ring - half, ring + half])
    n = _SIDES
    walls = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    caps = [list(range(n - 1, -1, -1)), list(range(n, 2 * n))]
    return triangles(own @ rotation(turn[0]).T + ends.mean(axis=0), [*walls, *caps])


@cache
def ball(radius: float) -> Mesh:
    """A ball about the origin, of rings between its poles on z."""
    up = np.linspace(0.0, np.pi, _RINGS + 1)[1:-1]
    angle = np.arange(_SIDES) * 2 * np.pi / _SIDES
    rings = [
        np.stack([np.sin(a) * np.cos(angle), np.sin(a) * np.sin(angle), 0 * angle + np.cos(a)], 1)
        for a in up
    ]
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], *rings, [[0.0, 0.0, -1.0]]])
    n, last = _SIDES, len(vertices) - 1
    faces: list[list[int]] = []
    for k in range(n):
        after = (k + 1) % n
        faces.append([0, 1 + k, 1 + after])
        faces.append([last, last - n + after, last - n + k])
        for ring in range(len(rings) - 1):
            top, low = 1 + ring * n, 1 + (ring + 1) * n
            faces.append([top + k, low + k, low + after, top + after])
    return triangles(radius * vertices, faces)


def plate(outline: Floats, half: float) -> Mesh:
    """A plate with corners (n, 3) in a plane, ``half`` of its thickness to either side of it."""
    centred = outline - outline.mean(axis=0)
    normal = np.linalg.svd(centred)[2][2]
    if np.cross(centred[1] - centred[0], centred[2] - centred[1]) @ normal < 0:
        normal = -normal
    n = len(outline)
    vertices = np.concatenate([outline - half * normal, outline + half * normal])
    walls = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    return triangles(vertices, [*walls, list(range(n - 1, -1, -1)), list(range(n, 2 * n))])


def foot(size: float, up: Floats, normal: Floats) -> Mesh:
    """The mark of a point that rests: a wedge below it, its base square to ``up``."""
    across = np.cross(up, normal)
    if not np.linalg.norm(across):
        across = np.roll(up, 1)
        normal = np.cross(up, across)
    w, d = 0.7 * size * across, 0.45 * size * normal
    top, base = 0 * up, -size * up
    corners = [base - w - d, base + w - d, base + w + d, base - w + d]
    block = [corner - 0.25 * size * up for corner in corners]
    vertices = np.array([top - 0.6 * d, top + 0.6 * d, *corners, *block])
    wedge = [[0, 2, 3], [1, 4, 5], [0, 3, 4, 1], [0, 1, 5, 2]]
    below = [[2, 6, 7, 3], [3, 7, 8, 4], [4, 8, 9, 5], [5, 9, 6, 2], [6, 9, 8, 7]]
    solid = triangles(vertices, [*wedge, *below])
    return solid if _volume(solid) > 0 else Mesh(solid.vertices, solid.faces[:, ::-1].copy())


def _volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def rotation(p: Floats) -> Floats:
    """The rotation of Euler parameters, R = (2 e0² - 1) I + 2 (e eᵀ + e0 ẽ) (Haug 1989, §9.3)."""
    e0, e = p[0], p[1:]
    skew = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    R: Floats = (2 * e0 * e0 - 1) * np.eye(3) + 2 * (np.outer(e, e) + e0 * skew)
    return R
