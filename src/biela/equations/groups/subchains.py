"""Planar and spherical subchains of a spatial mechanism, in which a body has three freedoms.

Loops of hinges with parallel axes and slides across them hold each other in the plane more often
than needed: a four-bar in space has three equations too many.  The motions that such joints allow
all lie in one space of three dimensions, turns about a normal n and shifts across it; those of
hinges whose axes meet in one point are the turns about that point.  Within a subchain of such
joints with loops

* a body has three unknowns instead of six, and a joint with f freedoms has 3 - f equations;
* the plane (or the point) as a whole has the other three unknowns, none if it is on the ground;
* elements from outside act on the body and on the whole.

(Dimension of the group of displacements of a chain: Hervé 1978, "Analyse structurelle des
mécanismes par groupe des déplacements", Mech. Mach. Theory 13.)  Joints that are in no loop of
their class are left as they are: nothing is counted twice there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from biela.equations.groups.units import Rows
from biela.graph import bridges, components
from biela.model.joints import Joint
from biela.singular_values import svd

__all__ = ["Subchains", "subchains"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Sine of an angle below which directions are the same, and distance below which points are.
_SAME = 1e-6
#: Digits by which directions and points are sorted into classes.
_DIGITS = 5


@dataclass(frozen=True, eq=False)
class Subchains:
    """Planar and spherical subchains.

    Attributes:
        element: (elements,) the subchain of each joint; -1 for none.
        body: (bodies,) that of each body.
        grounded: (subchains,) whether it contains the ground.
        spherical: (subchains,) whether it turns about a point instead of moving in a plane.
    """

    element: Integers
    body: Integers
    grounded: Flags
    spherical: Flags

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.grounded)


def subchains(rows: Rows, inside: Flags) -> Subchains:
    """The subchains among some bodies that are there at every position."""
    found = [_at(rows, k, inside) for k in range(len(rows.values))]
    element, spherical = found[0]
    for other, turning in found[1:]:
        # joints stay together if they are together at every position, as the same sort of chain
        pairs = np.stack([element, other], axis=1)
        both = (element >= 0) & (other >= 0)
        both[both] = spherical[element[both]] == turning[other[both]]
        keys, number = np.unique(pairs[both], axis=0, return_inverse=True)
        element = np.full(len(element), -1, dtype=np.int64)
        element[both] = number.ravel()
        spherical = spherical[keys[:, 0]] if len(keys) else np.zeros(0, dtype=bool)
    return _described(rows, element, spherical)


def _described(rows: Rows, element: Integers, spherical: Flags) -> Subchains:
    """Subchains with their bodies; those that share a body are none."""
    touched = rows.elements.touched
    count = len(spherical)
    lowest = np.full(rows.bodies, count, dtype=np.int64)
    highest = np.full(rows.bodies, -1, dtype=np.int64)
    for k in range(touched.shape[1]):
        own = (element >= 0) & (touched[:, k] >= 0)
        np.minimum.at(lowest, touched[own, k], element[own])
        np.maximum.at(highest, touched[own, k], element[own])
    shared = (highest >= 0) & (lowest != highest)
    clash = (element >= 0) & (shared[np.maximum(touched, 0)] & (touched >= 0)).any(axis=1)
    good = np.setdiff1d(np.arange(count), element[clash])
    number = np.full(len(spherical) + 1, -1, dtype=np.int64)
    number[good] = np.arange(len(good))
    element = number[element]
    body = number[highest]
    grounded = np.zeros(len(good), dtype=bool)
    alone = (touched >= 0).sum(axis=1) == 1
    grounded[element[(element >= 0) & alone]] = True
    return Subchains(element, body, grounded, spherical[good])


# ------------------------------------------------------------------------------ one position


@dataclass(frozen=True, eq=False)
class _Twists:
    """Joints with so many freedoms, and the motions they allow.

    Attributes:
        elements: (n,) the joints.
        W: (n, 6, f) velocity r' of the centre of mass and ω of the first body that each touches,
            while the other one rests.
    """

    elements: Integers
    W: Floats


def _at(rows: Rows, position: int, inside: Flags) -> tuple[Integers, Flags]:
    """The subchain of each element at a position, and which of them are spherical."""
    twists = _twists(rows, position, inside)
    flat = _loops(rows, *_planar_edges(rows, twists))
    rest: dict[int, Floats] = {}
    for some in twists:
        apart = flat[some.elements] < 0
        rest |= zip(some.elements[apart].tolist(), some.W[apart], strict=True)
    turning = _loops(rows, *_spherical_edges(rows, position, rest))
    count = int(flat.max(initial=-1)) + 1
    element = np.where(flat >= 0, flat, np.where(turning >= 0, turning + count, -1))
    spherical = np.zeros(count + int(turning.max(initial=-1)) + 1, dtype=bool)
    spherical[count:] = True
    return element, spherical


def _twists(rows: Rows, position: int, inside: Flags) -> list[_Twists]:
    """The joints with one, two or three freedoms among some bodies."""
    from biela.equations.groups.compiled_rows import null_vectors

    elements = rows.elements
    joints = np.array([isinstance(sort.element, Joint) for sort in elements.sorts] + [False])
    touched = elements.touched
    all_inside = ((touched < 0) | inside[np.maximum(touched, 0)]).all(axis=1)
    count = np.bincount(rows.element, minlength=len(elements))
    start, order = rows.by_element
    usable = joints[elements.sort] & all_inside
    found = []
    for m in (3, 4, 5):
        own = np.flatnonzero(usable & (count == m))
        if len(own):
            A = rows.values[position][order[start[own][:, None] + np.arange(m)], 0]
            if m == 5:
                W = null_vectors(np.ascontiguousarray(A))[:, :, None]
            else:
                W = np.swapaxes(svd(A)[2][:, m:, :], 1, 2)
            found.append(_Twists(own, W))
    return found


def _loops(rows: Rows, edge: Integers, kind: Integers) -> Integers:
    """The subchain of each element: what hangs together by joints of a class that are in loops.

    ``edge`` are elements and ``kind`` their classes; one element may be in several.
    """
    found = np.full(len(rows.elements), -1, dtype=np.int64)
    if not len(edge):
        return found
    touched = rows.elements.touched[edge]
    ends = np.stack([touched[:, 0], touched[:, 1] if touched.shape[1] > 1 else touched[:, 0]])
    if touched.shape[1] == 1:
        ends[1] = -1
    # a vertex is a body in a class
    wide = int(kind.max()) + 1
    vertices, number = np.unique((ends + 1) * wide + kind, return_inverse=True)
    a, b = number.reshape(2, -1)
    ground = vertices < wide
    looped = ~bridges(len(vertices), a, b)
    # the ground joins nothing: two four-bars on it are two subchains
    joined = looped & ~ground[a] & ~ground[b]
    root = components(len(vertices), a[joined], b[joined])
    own = np.where(ground[a], root[b], root[a])
    for k in np.flatnonzero(looped)[::-1].tolist():  # the first class of several stays
        found[edge[k]] = own[k]
    there = found >= 0
    found[there] = np.unique(found[there], return_inverse=True)[1]
    return found


# ---------------------------------------------------------------------------------- planar


def _planar_edges(rows: Rows, twists: list[_Twists]) -> tuple[Integers, Integers]:
    """Joints, and classes of planes in which they move: their normals."""
    hinges, normals = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    slides: list[tuple[int, Floats]] = []
    for some in twists:
        n, largest, second = _axes(some.W[:, 3:, :])
        across = np.abs(np.einsum("ni,nif->nf", n, some.W[:, :3, :])).max(axis=1)
        slide = largest < _SAME
        flat = ~slide & (second < _SAME * largest) & (across < _SAME)
        hinges.append(some.elements[flat])
        normals.append(n[flat])
        slides += list(zip(some.elements[slide].tolist(), some.W[slide, :3, :], strict=True))
    edge, n = np.concatenate(hinges), np.concatenate(normals)
    if not len(edge):
        return edge, edge
    first = n[np.arange(len(n)), np.argmax(np.abs(n) > 0.3, axis=1)]
    rounded = np.round(n * np.sign(first)[:, None], _DIGITS) + 0.0
    directions, kind = np.unique(rounded, axis=0, return_inverse=True)
    kind = kind.ravel()
    if not slides:
        return edge, kind
    more = _slide_edges(rows, edge, kind, directions, slides)
    return np.concatenate([edge, more[0]]), np.concatenate([kind, more[1]])


def _axes(omega: Floats) -> tuple[Floats, Floats, Floats]:
    """The direction in which angular velocities (n, 3, f) are largest, and their two sizes."""
    if omega.shape[2] == 1:
        sizes = np.linalg.norm(omega[:, :, 0], axis=1)
        return omega[:, :, 0] / np.maximum(sizes, 1e-300)[:, None], sizes, np.zeros(len(sizes))
    axes, singular, _ = svd(omega)
    return axes[:, :, 0], singular[:, 0], singular[:, 1]


def _slide_edges(
    rows: Rows,
    edge: Integers,
    kind: Integers,
    directions: Floats,
    slides: list[tuple[int, Floats]],
) -> tuple[Integers, Integers]:
    """Slides in the planes of the hinges around them; also of those around a slide beside them."""
    touched = rows.elements.touched
    beside = {b for e, _ in slides for b in touched[e].tolist() if b >= 0}
    planes: dict[int, set[int]] = {b: set() for b in beside}
    for e, c in zip(edge.tolist(), kind.tolist(), strict=True):
        for b in touched[e].tolist():
            if b in planes:
                planes[b].add(c)
    found: set[tuple[int, int]] = set()
    for _ in range(2):
        for e, shift in slides:
            bodies = [b for b in touched[e].tolist() if b >= 0]
            for c in set().union(*(planes[b] for b in bodies)):
                if np.abs(directions[c] @ shift).max() < 1e-4:
                    found.add((e, c))
        for e, c in found:
            for b in touched[e].tolist():
                if b >= 0:
                    planes[b].add(c)
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


# -------------------------------------------------------------------------------- spherical


def _spherical_edges(rows: Rows, position: int, W: dict[int, Floats]) -> tuple[Integers, Integers]:
    """Joints, and classes of points about which they turn, where the axes of two on a body meet."""
    r = rows.centres[position]
    first = rows.elements.touched[:, 0]
    lines = {e: w for e, w in W.items() if np.linalg.matrix_rank(w[3:], tol=_SAME) == w.shape[1]}
    around: dict[int, list[int]] = {}
    for e in lines:
        for b in rows.elements.touched[e].tolist():
            if b >= 0:
                around.setdefault(b, []).append(e)
    points: dict[tuple[float, ...], int] = {}
    edges: set[tuple[int, int]] = set()
    for own in around.values():
        for a, b in combinations(own[:12], 2):
            point = _common_point([(lines[e], r[first[e]]) for e in (a, b)])
            if point is not None:
                key = tuple(float(x) + 0.0 for x in np.round(point, _DIGITS))
                c = points.setdefault(key, len(points))
                edges |= {(a, c), (b, c)}
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _common_point(joints: list[tuple[Floats, Floats]]) -> Floats | None:
    """The point that rests in all motions of joints, if there is just one: v + ω x (p - r) = 0."""
    left, right = [], []
    for w, r in joints:
        for k in range(w.shape[1]):
            v, omega = w[:3, k], w[3:, k]
            x, y, z = omega
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            left.append(cross)
            right.append(cross @ r - v)
    A, b = np.concatenate(left), np.concatenate(right)
    p, _, rank, _ = np.linalg.lstsq(A, b, rcond=_SAME)
    if rank < 3 or np.abs(A @ p - b).max() > _SAME * (1.0 + np.abs(b).max()):
        return None
    return np.asarray(p)
