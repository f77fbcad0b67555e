"""Meshes put in order: every triangle turned outward, whatever the file says.

Neighbouring triangles must run through their common edge in opposite directions.  From one triangle
on, this settles the sense of all that hang together with it (a *part*); the sign of the volume
settles the part.  A part that faces inward and lies inside the box around another one is a cavity,
and is left so.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from biela.errors import ModelError
from biela.model.meshes.mesh import Mesh

__all__ = ["repaired"]

Integers = npt.NDArray[np.int64]


def repaired(mesh: Mesh, tolerance: float | None = None) -> tuple[Mesh, tuple[str, ...]]:
    """The mesh welded, closed and facing outward, and notes of what was changed.

    Args:
        mesh: Any mesh.
        tolerance: Of welding, see `Mesh.welded`.

    Raises:
        ModelError: It has holes, or is a surface with one side.
    """
    notes: list[str] = []
    welded = mesh.welded(tolerance)
    joined = len(mesh.vertices) - len(welded.vertices)
    dropped = len(mesh.triangles) - len(welded.triangles)
    if dropped:
        notes.append(f"{dropped} triangles without area were dropped")
    part, turned = _parts(welded)
    triangles = welded.triangles.copy()
    triangles[turned] = triangles[turned][:, ::-1]
    consistent = Mesh(welded.vertices, triangles)
    if not consistent.is_closed:
        raise ModelError(
            f"the mesh has holes ({joined} vertices were welded): {consistent.open_edges()}"
        )
    pieces = [Mesh(consistent.vertices, triangles[part == k]) for k in range(int(part.max()) + 1)]
    if not all(piece.is_closed for piece in pieces):  # they share edges: only the whole is closed
        pieces, part = [consistent], np.zeros_like(part)
    for k, piece in enumerate(pieces):
        if piece.volume < 0:
            if any(_encloses(other, piece) for other in pieces if other is not piece):
                notes.append(f"part {k + 1} of {len(pieces)} faces inward: taken for a cavity")
            else:
                turned[part == k] ^= True
    if turned.any():
        notes.append(f"{int(turned.sum())} of {len(turned)} triangles were turned to face outward")
    triangles = welded.triangles.copy()
    triangles[turned] = triangles[turned][:, ::-1]
    return Mesh(welded.vertices, triangles), tuple(notes)


def _encloses(outer: Mesh, inner: Mesh) -> bool:
    """Whether the box around one mesh holds that around another."""
    (low, high), (a, b) = outer.bounds, inner.bounds
    return bool((low <= a).all() and (b <= high).all() and (high - low > b - a).any())


def _parts(mesh: Mesh) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """For each triangle its part, and whether it runs against the first one of the part.

    Only edges of exactly two triangles say something; where more meet, parts merely touch.

    Raises:
        ModelError: The surface has one side.
    """
    at_edge: dict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)
    for n, (a, b) in enumerate(mesh.directed_edges.tolist()):
        at_edge[min(a, b), max(a, b)].append((n // 3, a < b))
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in mesh.triangles]
    for pair in at_edge.values():
        if len(pair) == 2:
            (i, up), (j, other_up) = pair
            against = up == other_up
            neighbours[i].append((j, against))
            neighbours[j].append((i, against))
    part = np.full(len(mesh.triangles), -1)
    turned = np.zeros(len(mesh.triangles), dtype=bool)
    count = 0
    for seed in range(len(part)):
        if part[seed] >= 0:
            continue
        part[seed] = count
        waiting = [seed]
        members = [seed]
        while waiting:
            i = waiting.pop()
            for j, against in neighbours[i]:
                if part[j] < 0:
                    part[j], turned[j] = count, turned[i] ^ against
                    waiting.append(j)
                    members.append(j)
                elif turned[j] != turned[i] ^ against:
                    place = mesh.vertices[mesh.triangles[j]].mean(axis=0)
                    raise ModelError(
                        f"the surface has one side only, like a Möbius band, near {place}: it is "
                        "the boundary of no body"
                    )
        if 2 * turned[members].sum() > len(members):  # the many are taken to be right
            turned[members] ^= True
        count += 1
    return part, turned
