"""Mass matrix and generalised forces by virtual power, built directly.

For a solid with velocity v of its point B, angular velocity ω, mass m, first moment mr and inertia
I about B, an acceleration of coordinate k alone needs the inertia force and moment

    P_k = m v_k + ω_k x mr,     H_k = I ω_k + mr x v_k,

with v_k = ∂v/∂q'_k and ω_k = ∂ω/∂q'_k, and with all accelerations zero what acts on it is

    F = f + m g - m b(v) - b(ω) x mr - ω x (ω x mr),
    T = t + mr x g - mr x b(v) - I b(ω) - ω x I ω,

where b(u) is the derivative of u seen from the inertial base with q'' = 0: the turning of the base
in which u is kept is part of it.  Virtual power in the direction of q'_j then gives

    M_jk = Σ v_j · P_k + ω_j · H_k,     Q_j = Σ v_j · F + ω_j · T,     M q'' = Q.

Solids further out share the parts of v_j and ω_j of the solids before them.  What multiplies one
and the same part is added up first, so each part is used once: the sums run along the branches of
the mechanism as in a recursive method, without anybody having said so.

Plaza 2015, §4.5–4.8, with M positive; errata of its equations 4.30–4.38 and 4.62 corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biela.atoms import Atom
from biela.space import (
    Solid,
    Space,
    Vector,
    Wrench,
    angular_velocity,
    derivative,
    position,
    velocity,
)

#: A part of a vector that several solids may share: its base and the references of its components.
_PartKey = tuple[int, tuple[int, int, int]]


@dataclass(frozen=True)
class Motion:
    """How a solid moves: its velocities, their parts by coordinate, and their bias derivatives."""

    solid: Solid
    v: Vector
    omega: Vector
    v_by: list[Vector]
    omega_by: list[Vector]
    v_bias: Vector
    omega_bias: Vector


@dataclass(frozen=True)
class Load:
    """A force and a moment about the point of a solid."""

    solid: int
    force: Vector
    moment: Vector


def motions(space: Space, solids: Sequence[Solid], velocities: Sequence[Atom]) -> list[Motion]:
    """The motion of each solid in the inertial frame."""
    result = []
    for solid in solids:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        result.append(
            Motion(
                solid,
                v,
                omega,
                [v.diff(rate) for rate in velocities],
                [omega.diff(rate) for rate in velocities],
                derivative(v, space.root, space.bias_rate),
                derivative(omega, space.root, space.bias_rate),
            )
        )
    return result


def inertia_loads(moving: Sequence[Motion], k: int) -> list[Load]:
    """What a unit acceleration of coordinate k asks for: P_k and H_k of each solid."""
    loads = []
    for i, motion in enumerate(moving):
        solid, v, omega = motion.solid, motion.v_by[k], motion.omega_by[k]
        if v.is_zero and omega.is_zero:
            continue
        force = v * solid.mass + omega.cross(solid.first_moment)
        moment = solid.inertia @ omega + solid.first_moment.cross(v)
        loads.append(Load(i, force, moment))
    return loads


def acting_loads(
    moving: Sequence[Motion], wrenches: Iterable[Wrench], gravity: Vector
) -> list[Load]:
    """What acts on each solid with all accelerations zero: F and T."""
    by_solid: dict[Solid, list[Wrench]] = {}
    for wrench in wrenches:
        by_solid.setdefault(wrench.solid, []).append(wrench)
    loads = []
    for i, motion in enumerate(moving):
        solid, omega, mr = motion.solid, motion.omega, motion.solid.first_moment
        momentum = solid.inertia @ omega
        free = gravity - motion.v_bias
        force = free * solid.mass - motion.omega_bias.cross(mr) - omega.cross(omega.cross(mr))
        moment = mr.cross(free) - solid.inertia @ motion.omega_bias - omega.cross(momentum)
        for wrench in by_solid.get(solid, ()):
            arm = position(solid.point, wrench.point)
            force = force + wrench.force
            moment = moment + wrench.moment + arm.cross(wrench.force)
        loads.append(Load(i, force, moment))
    return loads


def generalised_force(moving: Sequence[Motion], j: int, loads: Sequence[Load]) -> Atom:
    """Σ v_j · force + ω_j · moment, with what multiplies one part of v_j or ω_j added up first."""
    space = moving[0].solid.point.space
    sums: dict[_PartKey, tuple[Vector, Vector]] = {}
    for load in loads:
        motion = moving[load.solid]
        for u, effect in ((motion.v_by[j], load.force), (motion.omega_by[j], load.moment)):
            for base, part in u.parts.items():
                key = (base.index, (part[0].ref, part[1].ref, part[2].ref))
                if key in sums:
                    sums[key] = sums[key][0], sums[key][1] + effect
                else:
                    sums[key] = Vector.of(space, base, part), effect
    total = space.workspace.atom(0)
    for part_vector, effect in sums.values():
        total = total + part_vector.dot(effect)
    return total


def mass_matrix(moving: Sequence[Motion], coordinates: Sequence[int]) -> list[list[Atom]]:
    """M of some coordinates; one triangle is copied, so that it is symmetric atom for atom."""
    zero = moving[0].solid.point.space.workspace.atom(0)
    n = len(coordinates)
    M = [[zero] * n for _ in range(n)]
    loads = [inertia_loads(moving, k) for k in coordinates]
    for j in range(n):
        for k in range(j, n):
            # the coordinate that moves fewer solids gives the loads, the other the direction
            fewer, other = (k, j) if len(loads[k]) <= len(loads[j]) else (j, k)
            M[j][k] = M[k][j] = generalised_force(moving, coordinates[other], loads[fewer])
    return M


def forces(
    moving: Sequence[Motion], coordinates: int, wrenches: Iterable[Wrench], gravity: Vector
) -> list[Atom]:
    """Q."""
    loads = acting_loads(moving, wrenches, gravity)
    return [generalised_force(moving, j, loads) for j in range(coordinates)]
