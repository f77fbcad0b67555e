"""Faces cut into small ones, so that each is either before or behind another.

Triangles that make a parallelogram are joined first: long strips, as of the wall of a cylinder, are
then cut across only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biela.results.channels import Array

__all__ = ["divided"]

Face = list[int]


def divided(
    vertices: Array, faces: Sequence[Sequence[int]], longest: float
) -> tuple[Array, list[Face]]:
    """The same convex faces as triangles and parallelograms without edges longer than that.

    All long edges are halved at once, so that neighbours keep their edges in common, until there
    are none.
    """
    places = [tuple(float(x) for x in vertex) for vertex in vertices]
    pieces = _joined(np.asarray(vertices), faces)
    while True:
        points = np.array(places)
        middles: dict[tuple[int, int], int] = {}
        finer: list[Face] = []
        for face in pieces:
            cuts = []
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                key = (min(a, b), max(a, b))
                if key not in middles:
                    middles[key] = -1
                    if np.linalg.norm(points[a] - points[b]) > longest:
                        middles[key] = len(places)
                        places.append(tuple((points[a] + points[b]) / 2))
                cuts.append(middles[key])
            if len(face) == 4 and all(cut >= 0 for cut in cuts):
                places.append(tuple(points[face].mean(axis=0)))
                finer += _quartered(face, cuts, len(places) - 1)
            else:
                finer += _cut(face, cuts)
        if len(finer) == len(pieces):
            return np.array(places), finer
        pieces = finer


def _joined(vertices: Array, faces: Sequence[Sequence[int]]) -> list[Face]:
    """Triangles, two of them as one where they make a parallelogram."""
    waiting: dict[tuple[int, int], Face] = {}
    done: list[Face] = []
    size = float(np.ptp(vertices, axis=0).max())
    for triangle in ([f[0], f[k], f[k + 1]] for f in faces for k in range(1, len(f) - 1)):
        for k in range(3):
            a, b, c = (triangle[(k + i) % 3] for i in range(3))
            other = waiting.get((b, a))
            if other is None:
                continue
            d = next(i for i in other if i not in (a, b))
            if np.abs(vertices[a] + vertices[b] - vertices[c] - vertices[d]).max() < 1e-6 * size:
                done.append([a, d, b, c])
                for i in range(3):
                    waiting.pop((other[i], other[(i + 1) % 3]), None)
                break
        else:
            waiting |= {(triangle[k], triangle[(k + 1) % 3]): triangle for k in range(3)}
    single = {id(face): face for face in waiting.values()}
    return [*done, *single.values()]


def _quartered(face: Face, cuts: list[int], centre: int) -> list[Face]:
    return [[face[k], cuts[k], centre, cuts[k - 1]] for k in range(4)]


def _cut(face: Face, cuts: list[int]) -> list[Face]:
    """A face with new vertices on some edges; -1 for none on edge k, from corner k to k + 1."""
    n, count = len(face), sum(cut >= 0 for cut in cuts)
    if not count:
        return [face]
    # turned so that the edges with new vertices come first
    turn = next(k for k in range(n) if cuts[k] >= 0 and (count == n or cuts[k - 1] < 0))
    corners, new = face[turn:] + face[:turn], cuts[turn:] + cuts[:turn]
    if n == 4:
        a, b, c, d = corners
        if count == 2 and new[2] >= 0:
            return [[a, new[0], new[2], d], [new[0], b, c, new[2]]]
        # the diagonal is looked at in the next round
        return _cut([a, b, c], [new[0], new[1], -1]) + _cut([a, c, d], [-1, new[2], new[3]])
    a, b, c = corners
    ab, bc, ca = new
    if count == 1:
        return [[a, ab, c], [ab, b, c]]
    if count == 2:
        return [[ab, b, bc], [a, ab, bc], [a, bc, c]]
    return [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
