"""Energies, momentum, and what belongs to the centre of mass.

The momentum of a tree about its centre of mass, along the axes of the ground, is h = A_G v; each
column of A_G is that of a composite body (Orin & Goswami 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.equations.spatial.composite import momentum, seen_by_parent
from biela.equations.spatial.links import added, no_inertia
from biela.equations.spatial.motion import accelerations, poses, to_parent, velocities
from biela.equations.spatial.newton_euler import moving
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Scalar,
    Triple,
    cross,
    dot,
    minus,
    plus,
    scaled,
    times,
    zero,
)
from biela.errors import ModelError


@dataclass(frozen=True, eq=False)
class Centroid:
    """The centre of mass and the momentum about it, along the axes of the ground.

    Attributes:
        mass: Of all bodies.
        com: Centre of mass.
        velocity: Its velocity.
        jacobian: Of the centre of mass, 3 rows.
        matrix: A_G, 6 rows, [moment of momentum; momentum].
        momentum: A_G v.
        inertia: About the centre of mass, 3 x 3.
    """

    mass: Atom
    com: list[Atom]
    velocity: list[Atom]
    jacobian: list[list[Atom]]
    matrix: list[list[Atom]]
    momentum: list[Atom]
    inertia: list[list[Atom]]


def centroid(tree: SpatialTree) -> Centroid:
    """The centroidal quantities.

    Raises:
        ModelError: There is no mass.
    """
    composite, total = [link.inertia for link in tree.links], no_inertia()
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        J = seen_by_parent(link, composite[k])
        if link.parent >= 0:
            composite[link.parent] = added(composite[link.parent], J)
        else:
            total = added(total, J)
    mass = total[3][3]
    if zero(mass):
        raise ModelError(f"{tree.model.name} has no mass that moves, and so no centre of mass")
    com = [row[3] / mass for row in total[:3]]
    whole = poses(tree)
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in tree.v]
    for link, J, pose in zip(tree.links, composite, whole, strict=True):
        arm = minus(pose.p, com)
        for number, H in zip(link.v, link.H, strict=True):
            h = momentum(J, H)
            n, f = times(pose.R, h[:3]), times(pose.R, h[3:])
            columns[number] = plus(columns[number], [*plus(n, cross(arm, f)), *f])
    matrix = [list(row) for row in zip(*columns, strict=True)]
    h = [dot(row, tree.v) for row in matrix]
    second = [[total[i][j] - com[i] * total[j][3] for j in range(3)] for i in range(3)]
    trace = second[0][0] + second[1][1] + second[2][2]
    inertia = [[(trace if i == j else 0.0) - second[i][j] for j in range(3)] for i in range(3)]
    atom = tree.workspace.atom

    def rows(M: Sequence[Sequence[Scalar]]) -> list[list[Atom]]:
        return [[atom(x) for x in row] for row in M]

    return Centroid(
        atom(mass),
        [atom(x) for x in com],
        [atom(x / mass) for x in h[3:]],
        rows([[x / mass for x in row] for row in matrix[3:]]),
        rows(matrix),
        [atom(x) for x in h],
        rows(inertia),
    )


def momentum_rate(tree: SpatialTree, a: Sequence[Scalar], com: Sequence[Scalar]) -> list[Atom]:
    """H' for accelerations a: the forces from outside that the motion takes, about the centre."""
    F = [
        moving(link.inertia, motion)
        for link, motion in zip(tree.links, accelerations(tree, tree.v, a), strict=True)
    ]
    total: list[Scalar] = [0.0] * 6
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        carried = to_parent(link, F[k])
        if link.parent >= 0:
            F[link.parent] = plus(F[link.parent], carried)
        else:
            total = plus(total, carried)
    return [tree.workspace.atom(x) for x in (*minus(total[:3], cross(com, total[3:])), *total[3:])]


def kinetic_energy(tree: SpatialTree) -> Atom:
    """½ vᵀ M v, link by link, rotors included."""
    double: Scalar = 0.0
    for link, motion in zip(tree.links, velocities(tree, tree.v), strict=True):
        double = double + dot(motion.six, momentum(link.grouped, motion.six))
    for v, rotor in zip(tree.v, tree.rotor, strict=True):
        if not zero(rotor):
            double = double + rotor * (v * v)
    return tree.workspace.atom(double / 2)


def potential_energy(tree: SpatialTree) -> Atom:
    """- Σ m g · r, from the origin of the ground, and the energy of springs."""
    g = tree.gravity
    weight: Scalar = 0.0
    for link, pose in zip(tree.links, poses(tree), strict=True):
        s: Triple = [row[3] for row in link.inertia[:3]]
        moment = plus(times(pose.R, s), scaled(pose.p, link.inertia[3][3]))
        weight = weight + dot(g, moment)
    return tree.workspace.atom(tree.stored - weight)
