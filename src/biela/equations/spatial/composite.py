"""The mass matrix by composite bodies, and by unit accelerations.

The links beyond a joint, taken as one rigid body with pseudo-inertia J^c, need the force I^c H for
a unit acceleration of that joint; carried towards the ground it meets the axes of joints before:

    M_ij = H_iᵀ Φ … Φ I_j^c H_j

(Walker & Orin 1982).  It is the operator form M = Hᵀ ρ I ρᵀ H (Jaramillo 1998, eq. 1.71) with the
inner product summed once from the tips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from biela.atoms import Atom
from biela.equations.spatial.links import Link, Pseudo, added
from biela.equations.spatial.motion import NOTHING, to_parent
from biela.equations.spatial.newton_euler import inverse_dynamics
from biela.equations.spatial.one_frame import OneFrame, size
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Scalar,
    Triple,
    cross,
    dot,
    outward,
    plus,
    scaled,
    tensor_outward,
    zero,
)

#: Links on the way to a tip up to which forces are carried towards the ground.
_DEEP: Final = 8


def mass_matrix(tree: SpatialTree) -> list[list[Atom]]:
    """M, with the inertia of rotors; of a deep tree in the way with fewer operations."""
    forces = _composite_forces(tree)
    found = _met_on_the_way(tree, forces)
    if max(len(tree.path(k)) for k in range(len(tree.links))) > _DEEP:
        found = min(found, _met_in_one_frame(tree, forces), key=lambda M: size(tree, [M]))
    for k, rotor in enumerate(tree.rotor):
        found[k][k] = found[k][k] + rotor
    return [[tree.workspace.atom(x) for x in row] for row in found]


def _composite_forces(tree: SpatialTree) -> list[list[list[Scalar]]]:
    """I^c H of each link, by columns."""
    composite = [link.grouped for link in tree.links]
    found: list[list[list[Scalar]]] = [[] for _ in composite]
    for k in reversed(range(len(composite))):
        link = tree.links[k]
        found[k] = [momentum(composite[k], column) for column in link.H]
        if link.parent >= 0:
            seen = seen_by_parent(link, composite[k])
            composite[link.parent] = added(composite[link.parent], seen)
    return found


def _met_on_the_way(tree: SpatialTree, forces: list[list[list[Scalar]]]) -> list[list[Scalar]]:
    M = _on_links(tree, forces)
    for k in reversed(range(len(tree.links))):
        _towards_ground(tree, k, forces[k], M)
    return M


def _met_in_one_frame(tree: SpatialTree, forces: list[list[list[Scalar]]]) -> list[list[Scalar]]:
    M, frame = _on_links(tree, forces), OneFrame(tree)
    seen: dict[tuple[int, int], list[list[Scalar]]] = {}
    for k, own in enumerate(forces):
        root = frame.root[k]
        if root < 0:
            _towards_ground(tree, k, own, M)
            continue
        taken = [frame.force(k, F) for F in own]
        for i in tree.path(k)[:-1]:
            if (i, root) not in seen:
                seen[i, root] = [frame.motion(i, column, root) for column in tree.links[i].H]
            for number, F in zip(tree.links[k].v, taken, strict=True):
                for other, column in zip(tree.links[i].v, seen[i, root], strict=True):
                    _add(M, number, other, dot(column, F))
    return M


def _on_links(tree: SpatialTree, forces: list[list[list[Scalar]]]) -> list[list[Scalar]]:
    """The entries of M between freedoms of one link."""
    n = len(tree.v)
    M: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for link, own in zip(tree.links, forces, strict=True):
        for number, F in zip(link.v, own, strict=True):
            for other, column in zip(link.v, link.H, strict=True):
                M[number][other] = M[number][other] + dot(column, F)
    return M


def _add(M: list[list[Scalar]], i: int, j: int, x: Scalar) -> None:
    M[i][j] = M[i][j] + x
    M[j][i] = M[j][i] + x


def _towards_ground(
    tree: SpatialTree, k: int, columns: list[list[Scalar]], M: list[list[Scalar]]
) -> None:
    start = tree.links[k]
    here = k
    while tree.links[here].parent >= 0 and columns:
        columns = [to_parent(tree.links[here], F) for F in columns]
        here = tree.links[here].parent
        link = tree.links[here]
        for number, F in zip(start.v, columns, strict=True):
            for other, column in zip(link.v, link.H, strict=True):
                _add(M, number, other, dot(column, F))


def momentum(J: Pseudo, x: Sequence[Scalar]) -> list[Scalar]:
    """I x: the momentum [about the origin; linear] of a motion [angular; linear].

    f = m v + ω × s,     n = (tr Σ 1 - Σ) ω + s × v.
    """
    omega, v = list(x[:3]), list(x[3:])
    s, m = [row[3] for row in J[:3]], J[3][3]
    linear = plus(scaled(v, m), cross(omega, s))
    return [*plus(_turning(J, omega), cross(s, v)), *linear]


def _turning(J: Pseudo, omega: Triple) -> Triple:
    """I ω, with the inertia tensor I = tr Σ 1 - Σ."""
    found: Triple = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        total: Scalar = 0.0
        if not zero(omega[i]):
            total = (J[j][j] + J[k][k]) * omega[i]
        found.append(total - J[i][j] * omega[j] - J[i][k] * omega[k])
    return found


def seen_by_parent(link: Link, J: Pseudo) -> Pseudo:
    """The pseudo-inertia of a link seen from the frame of its parent."""
    S, s, m = [row[:3] for row in J[:3]], [row[3] for row in J[:3]], J[3][3]
    S, s = tensor_outward(link.step.turn, S, True), outward(link.step.turn, s)
    if link.step.slides:
        S, s = _shifted(S, s, m, link.step.way)
    S, s = tensor_outward(link.before, S, True), outward(link.before, s)
    S, s = _shifted(S, s, m, link.place.p)
    return [[*S[0], s[0]], [*S[1], s[1]], [*S[2], s[2]], [*s, m]]


def _shifted(
    S: list[list[Scalar]], s: Triple, m: Scalar, p: Triple
) -> tuple[list[list[Scalar]], Triple]:
    """Moments about a point from which the old one is at p: Σ + p s'ᵀ + s pᵀ, s' = s + m p."""
    if all(map(zero, p)):
        return S, s
    moved = plus(s, scaled(p, m))
    rows: list[list[Scalar]] = [list(row) for row in S]
    for i in range(3):
        for j in range(i, 3):
            rows[i][j] = rows[j][i] = S[i][j] + p[i] * moved[j] + s[i] * p[j]
    return rows, moved


def mass_matrix_by_unit_accelerations(tree: SpatialTree) -> list[list[Atom]]:
    """M column by column: the joint forces of a unit acceleration from rest, without weight."""
    n = len(tree.v)
    none = [0.0] * n
    columns = []
    for k in range(n):
        unit = [float(i == k) for i in range(n)]
        at_rest = inverse_dynamics(tree, none, unit, gravity=NOTHING, passive=False).tau
        columns.append([x + tree.rotor[i] * unit[i] for i, x in enumerate(at_rest)])
    return [list(row) for row in zip(*columns, strict=True)]
