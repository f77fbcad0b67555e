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

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from biela.equations.groups.units import Rows
from biela.graph import bridges, components
from biela.graph.structure import Units
from biela.model.joints import Joint

__all__ = ["Subchains", "subchain_units", "subchains"]

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
    body = np.full(rows.bodies, -1, dtype=np.int64)
    clash: set[int] = set()
    members = np.flatnonzero(element >= 0)
    for k in range(touched.shape[1]):
        for e in members[touched[members, k] >= 0].tolist():
            b, c = int(touched[e, k]), int(element[e])
            if body[b] not in (-1, c):
                clash |= {int(body[b]), c}
            body[b] = c
    good = np.array([c for c in range(len(spherical)) if c not in clash], dtype=np.int64)
    number = np.full(len(spherical) + 1, -1, dtype=np.int64)
    number[good] = np.arange(len(good))
    element = number[element]
    body = number[body]
    grounded = np.zeros(len(good), dtype=bool)
    alone = (touched >= 0).sum(axis=1) == 1
    grounded[element[(element >= 0) & alone]] = True
    return Subchains(element, body, grounded, spherical[good])


# ------------------------------------------------------------------------------ one position


def _at(rows: Rows, position: int, inside: Flags) -> tuple[Integers, Flags]:
    """The subchain of each element at a position, and which of them are spherical."""
    usable, W = _twists(rows, position, inside)
    edges = _planar_edges(rows, usable, W)
    flat = _loops(rows, edges)
    rest = {e: W[e] for e in usable if flat[e] < 0}
    round_edges = _spherical_edges(rows, position, rest)
    turning = _loops(rows, round_edges)
    count = int(flat.max(initial=-1)) + 1
    element = np.where(flat >= 0, flat, np.where(turning >= 0, turning + count, -1))
    spherical = np.zeros(count + int(turning.max(initial=-1)) + 1, dtype=bool)
    spherical[count:] = True
    return element, spherical


def _twists(rows: Rows, position: int, inside: Flags) -> tuple[list[int], dict[int, Floats]]:
    """The joints among some bodies, and their allowed motions (6, f): r' and ω of their body.

    The body is the first that the joint touches, and the other one rests.
    """
    elements = rows.elements
    joints = np.array([isinstance(sort.element, Joint) for sort in elements.sorts] + [False])
    touched = elements.touched
    all_inside = ((touched < 0) | inside[np.maximum(touched, 0)]).all(axis=1)
    count = np.bincount(rows.element, minlength=len(elements))
    start, order = rows.by_element
    usable = np.flatnonzero(joints[elements.sort] & all_inside & (count >= 3) & (count <= 5))
    W: dict[int, Floats] = {}
    for m in (3, 4, 5):
        own = usable[count[usable] == m]
        if len(own):
            numbers = order[start[own][:, None] + np.arange(m)]
            A = rows.values[position][numbers, 0]
            Vt = np.linalg.svd(A)[2]
            for e, null in zip(own.tolist(), np.swapaxes(Vt[:, m:, :], 1, 2), strict=True):
                W[e] = null
    return sorted(W), W


def _loops(rows: Rows, edges: list[tuple[int, tuple[float, ...]]]) -> Integers:
    """The subchain of each element: what hangs together by joints of a class that are in loops."""
    found = np.full(len(rows.elements), -1, dtype=np.int64)
    if not edges:
        return found
    vertex: dict[tuple[int, tuple[float, ...]], int] = {}
    ends = []
    for e, key in edges:
        own = [b for b in rows.elements.touched[e].tolist() if b >= 0]
        pair = own if len(own) == 2 else [*own, -1]
        ends.append([vertex.setdefault((b, key), len(vertex)) for b in pair])
    at = np.array(ends, dtype=np.int64)
    looped = ~bridges(len(vertex), at[:, 0], at[:, 1])
    ground = {v for (b, _), v in vertex.items() if b < 0}
    # the ground joins nothing: two four-bars on it are two subchains
    apart = np.array([not (a in ground or b in ground) for a, b in ends])
    joined = looped & apart
    root = components(len(vertex), at[joined, 0], at[joined, 1])
    number: dict[int, int] = {}
    for k in np.flatnonzero(looped).tolist():
        e = edges[k][0]
        if found[e] < 0:
            a, b = ends[k]
            found[e] = number.setdefault(int(root[b if a in ground else a]), len(number))
    return found


# ---------------------------------------------------------------------------------- planar


def _planar_edges(
    rows: Rows, usable: Iterable[int], W: dict[int, Floats]
) -> list[tuple[int, tuple[float, ...]]]:
    """Joints with the normals of planes in which they move."""
    edges: list[tuple[int, tuple[float, ...]]] = []
    slides: dict[int, Floats] = {}
    classes: dict[int, set[tuple[float, ...]]] = {}
    for e in usable:
        omega, shift = W[e][3:], W[e][:3]
        axes, sizes, _ = np.linalg.svd(omega)
        if sizes[0] < _SAME:
            slides[e] = shift
        elif len(sizes) < 2 or sizes[1] < _SAME * sizes[0]:
            n = axes[:, 0]
            if np.abs(n @ shift).max() < _SAME:
                key = _direction(n)
                edges.append((e, key))
                for b in rows.elements.touched[e].tolist():
                    if b >= 0:
                        classes.setdefault(b, set()).add(key)
    # slides belong to the planes of the hinges around them, twice for a slide beside a slide
    for _ in range(2):
        more: list[tuple[int, tuple[float, ...]]] = []
        for e, shift in slides.items():
            bodies = [b for b in rows.elements.touched[e].tolist() if b >= 0]
            around = set().union(*(classes.get(b, set()) for b in bodies))
            keys = {key for key in around if np.abs(np.array(key) @ shift).max() < 1e-4}
            more += [(e, key) for key in keys]
        for e, key in more:
            for b in rows.elements.touched[e].tolist():
                if b >= 0:
                    classes.setdefault(b, set()).add(key)
    return edges + sorted(set(more))


def _direction(n: Floats) -> tuple[float, ...]:
    """A direction up to its sign, rounded."""
    first = n[int(np.flatnonzero(np.abs(n) > 0.3)[0])]
    return tuple(float(x) + 0.0 for x in np.round(n * np.sign(first), _DIGITS))


# -------------------------------------------------------------------------------- spherical


def _spherical_edges(
    rows: Rows, position: int, W: dict[int, Floats]
) -> list[tuple[int, tuple[float, ...]]]:
    """Joints with the points about which they turn, where the axes of two on a body meet."""
    r = rows.centres[position]
    first = rows.elements.touched[:, 0]
    lines = {e: w for e, w in W.items() if np.linalg.matrix_rank(w[3:], tol=_SAME) == w.shape[1]}
    around: dict[int, list[int]] = {}
    for e in lines:
        for b in rows.elements.touched[e].tolist():
            if b >= 0:
                around.setdefault(b, []).append(e)
    edges: set[tuple[int, tuple[float, ...]]] = set()
    for own in around.values():
        for a, b in combinations(own[:12], 2):
            point = _common_point([(lines[e], r[first[e]]) for e in (a, b)])
            if point is not None:
                key = tuple(float(x) + 0.0 for x in np.round(point, _DIGITS))
                edges |= {(a, key), (b, key)}
    return sorted(edges)


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


# ----------------------------------------------------------------------------------- units


def subchain_units(rows: Rows, found: Subchains) -> tuple[Units, Integers]:
    """Units with the dimension of each subchain, and the node that each node has to come after.

    Nodes are the bodies, then the subchains; those on the ground have no unknowns.
    """
    n = rows.bodies
    inner = found.element[rows.element] >= 0
    # a joint of a subchain removes three less than it does in space
    place = np.arange(len(rows.element)) - _first(rows.element)[rows.element]
    count = np.bincount(rows.element, minlength=len(rows.elements))
    kept = ~inner | (place < count[rows.element] - 3)
    touched = rows.touched[kept]
    inner = inner[kept]
    chain = np.where(touched >= 0, found.body[np.maximum(touched, 0)], -1)
    chain = np.where((chain >= 0) & ~np.append(found.grounded, True)[chain], chain, -1)
    chain[inner] = -1
    nodes = np.concatenate([touched, np.where(chain >= 0, n + chain, -1)], axis=1)
    # two bodies of a subchain bring its node once
    for k in range(touched.shape[1] + 1, nodes.shape[1]):
        for other in range(touched.shape[1], k):
            nodes[nodes[:, other] == nodes[:, k], k] = -1
    there = nodes >= 0
    start = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(there.sum(axis=1), out=start[1:])
    capacity = np.concatenate(
        [np.where(found.body >= 0, 3, 6), np.where(found.grounded, 0, 3)]
    ).astype(np.int64)
    after = np.full(n + found.count, -1, dtype=np.int64)
    floating = (found.body >= 0) & ~np.append(found.grounded, True)[found.body]
    after[:n][floating] = n + found.body[floating]
    return Units(capacity, start, np.ascontiguousarray(nodes[there])), after


def _first(element: Integers) -> Integers:
    """Where the rows of each element begin; those of one stand together."""
    first = np.zeros(int(element.max(initial=-1)) + 1, dtype=np.int64)
    begin = np.flatnonzero(np.r_[True, np.diff(element) != 0]) if len(element) else first
    first[element[begin]] = begin
    return first
