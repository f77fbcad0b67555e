"""Inverse dynamics by the recursive Newton–Euler equations.

Outward the motion of each link (`motion`), inward the forces:

    f = m a + U s,     n = s × a + axial(U Σ)          what moves a link,
    F = [n; f] + Σ Φ F(children) - wrenches,     τ = Hᵀ F + rotor v' - springs and friction

(Luh, Walker & Paul 1980; Jaramillo 1998, eqs. 1.59 to 1.61 and Fig. 7 with the sign corrected).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biela.atoms import Atom
from biela.equations.spatial.links import Pseudo
from biela.equations.spatial.motion import (
    NOTHING,
    Acceleration,
    accelerations,
    from_frame,
    to_parent,
)
from biela.equations.spatial.turning import Scalar, cross, dot, minus, plus, scaled, times, zero

if TYPE_CHECKING:
    from biela.equations.spatial.tree import SpatialTree


@dataclass(frozen=True, eq=False)
class JointForces:
    """Joint forces τ, and the forces F by which each link is held by the one before it.

    F is [moment; force] at and along the frame of the link.
    """

    tau: list[Atom]
    F: list[list[Scalar]]


def moving(J: Pseudo, motion: Acceleration) -> list[Scalar]:
    """The force [moment; force] at the origin of a link that gives it its motion."""
    s, m = [row[3] for row in J[:3]], J[3][3]
    if all(zero(x) for row in J for x in row):
        return [0.0] * 6
    f: list[Scalar] = [0.0, 0.0, 0.0]
    n = motion.spin.moment(J)
    if not zero(m):
        f = scaled(motion.a, m)
    if not all(map(zero, s)):
        f = plus(f, times(motion.spin.U, s))
        n = plus(n, cross(s, motion.a))
    return [*n, *f]


def inverse_dynamics(
    tree: SpatialTree,
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar] | None = None,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
    grouped: bool = True,
    passive: bool = True,
) -> JointForces:
    """The joint forces of a motion.

    Args:
        tree: The links.
        v: Velocities, atoms or numbers.
        a: Accelerations.
        gravity: In place of that of the model.
        wrenches: [moment; force] that act on named frames, at their origins along their axes.
        grouped: With inertias moved between links: τ is the same, F is not.
        passive: With rotors, springs and friction.
    """
    motions = accelerations(tree, v, a, tree.gravity if gravity is None else gravity)
    F = [
        moving(link.grouped if grouped else link.inertia, motion)
        for link, motion in zip(tree.links, motions, strict=True)
    ]
    for name, wrench in (wrenches or {}).items():
        k, here = tree.frame(name)
        if k >= 0:
            F[k] = minus(F[k], from_frame(here, wrench))
    tau = gathered(tree, F)
    if passive:
        for k, rotor in enumerate(tree.rotor):
            tau[k] = tau[k] + a[k] * rotor - tree.pushed[k]
    return JointForces([tree.workspace.atom(x) for x in tau], F)


def gathered(tree: SpatialTree, F: list[list[Scalar]]) -> list[Scalar]:
    """The joint forces Hᵀ ρ F of forces on links; F becomes ρ F, those between links."""
    tau: list[Scalar] = [0.0] * len(tree.v)
    for k in reversed(range(len(tree.links))):
        link = tree.links[k]
        for number, column in zip(link.v, link.H, strict=True):
            tau[number] = tau[number] + dot(column, F[k])
        if link.parent >= 0 and not all(map(zero, F[k])):
            F[link.parent] = plus(F[link.parent], to_parent(link, F[k]))
    return tau


def bias(
    tree: SpatialTree,
    *,
    gravity: Sequence[Scalar] | None = None,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
    passive: bool = True,
) -> list[Atom]:
    """ξ, the joint forces of zero acceleration: Coriolis, centrifugal, gravity, external."""
    none = [0.0] * len(tree.v)
    return inverse_dynamics(
        tree, tree.v, none, gravity=gravity, wrenches=wrenches, passive=passive
    ).tau


def gravity_forces(tree: SpatialTree) -> list[Atom]:
    """The joint forces that hold the weight."""
    none = [0.0] * len(tree.v)
    return inverse_dynamics(tree, none, none, passive=False).tau


def coriolis_forces(tree: SpatialTree) -> list[Atom]:
    """C v, the joint forces of zero acceleration without weight."""
    return bias(tree, gravity=NOTHING, passive=False)
