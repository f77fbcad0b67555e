"""Mass matrix and generalised forces by virtual power, built directly.

For a solid with velocity v of its point B, angular velocity ω, mass m, first moment mr and inertia
I about B, an acceleration of coordinate k alone needs the inertia force and moment

    P_k = m v_k + ω_k x mr,     H_k = I ω_k + mr x v_k,

with v_k = ∂v/∂q'_k and ω_k = ∂ω/∂q'_k, and with all accelerations zero what acts on it is

    F = f + m g - m b(v) - b(ω) x mr - ω x (ω x mr),
    T = t + mr x g - mr x b(v) - I b(ω) - ω x I ω,

where b(u) is the derivative of u seen from the inertial base with q'' = 0: the turning of the base
in which u is kept is part of it.  Virtual power in the direction of q'_j then gives

    M_jk = Σ v_j · P_k + ω_j · H_k,     Q_j = Σ v_j · F + ω_j · T,     M q'' = Q,

sums that `biela.equations.branches` takes along the trees.  The inertias of solids that turn
with one base are added before they are used.

Plaza 2015, §4.5–4.8, with M positive; errata of its equations 4.30–4.38 and 4.62 corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from biela.atoms import Atom
from biela.equations.branches import Branches, Loads
from biela.space import (
    Algebra,
    Base,
    Solid,
    Space,
    Tensor,
    Toward,
    Vector,
    Wrench,
    angular_velocity,
    derivative,
    position,
    velocity,
)


@dataclass(frozen=True)
class Route:
    """Two algebras: one for what each solid needs, one for carrying it down the trees."""

    solids: Algebra
    carry: Algebra

    def __str__(self) -> str:
        return f"{_spelled(self.solids)}, carried {_spelled(self.carry)}"


_ROOT, _LEAF = Algebra(Toward.ROOT), Algebra(Toward.LEAF)
_ROOT_MERGED = Algebra(Toward.ROOT, merge=True)
_LEAF_MERGED = Algebra(Toward.LEAF, merge=True)
_PLAIN_LEAF = Algebra(Toward.LEAF, extended=False)
_PLAIN_ROOT = Algebra(Toward.ROOT, extended=False)

#: The routes that are tried; the one that gives fewest operations is kept.
CANDIDATES: tuple[Route, ...] = (
    Route(_ROOT, _ROOT),
    Route(_LEAF, _LEAF),
    Route(_PLAIN_LEAF, _PLAIN_LEAF),
    Route(_PLAIN_ROOT, _PLAIN_ROOT),
    Route(_ROOT_MERGED, _ROOT_MERGED),
    Route(_LEAF_MERGED, _LEAF_MERGED),
)


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

    def moves_with(self, k: int) -> bool:
        """Whether coordinate k moves the solid."""
        return not (self.v_by[k].is_zero and self.omega_by[k].is_zero)


@dataclass(frozen=True)
class Bodies:
    """The solids of a system in motion."""

    space: Space
    motions: list[Motion]

    @cached_property
    def by_base(self) -> dict[Base, tuple[Tensor, Motion]]:
        """For each base the sum of the inertias that turn with it, and one of their motions."""
        found: dict[Base, tuple[Tensor, Motion]] = {}
        for motion in self.motions:
            base, inertia = motion.solid.base, motion.solid.inertia
            known = found.get(base)
            found[base] = (inertia, motion) if known is None else (known[0] + inertia, known[1])
        return found

    def inertia_loads(self, k: int) -> Loads:
        """What a unit acceleration of coordinate k asks for."""
        loads = Loads()
        for motion in self.motions:
            if motion.moves_with(k):
                solid, v, omega = motion.solid, motion.v_by[k], motion.omega_by[k]
                loads.add_force(solid.point, v * solid.mass + omega.cross(solid.first_moment))
                loads.add_moment(solid.base, solid.first_moment.cross(v))
        for base, (inertia, motion) in self.by_base.items():
            loads.add_moment(base, inertia @ motion.omega_by[k])
        return loads

    def acting_loads(self, wrenches: Iterable[Wrench], gravity: Vector) -> Loads:
        """What acts with all accelerations zero."""
        loads = Loads()
        for motion in self.motions:
            solid, omega, mr = motion.solid, motion.omega, motion.solid.first_moment
            free = gravity - motion.v_bias
            carried = motion.omega_bias.cross(mr) + omega.cross(omega.cross(mr))
            loads.add_force(solid.point, free * solid.mass - carried)
            loads.add_moment(solid.base, mr.cross(free))
        for base, (inertia, motion) in self.by_base.items():
            spin = motion.omega.cross(inertia @ motion.omega)
            loads.add_moment(base, -(inertia @ motion.omega_bias) - spin)
        for wrench in wrenches:
            solid = wrench.solid
            with self.space.using(_for_wrench(self.space.algebra, wrench)):
                arm = position(solid.point, wrench.point)
                loads.add_force(solid.point, wrench.force)
                loads.add_moment(solid.base, wrench.moment + arm.cross(wrench.force))
        return loads


def bodies(space: Space, solids: Sequence[Solid], velocities: Sequence[Atom]) -> Bodies:
    """The motion of each solid in the inertial frame."""
    motions = []
    for solid in solids:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        motions.append(
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
    return Bodies(space, motions)


def mass_and_forces(
    space: Space,
    solids: Sequence[Solid],
    wrenches: Sequence[Wrench],
    gravity: Vector,
    velocities: Sequence[Atom],
    with_inertia: Sequence[int],
    route: Route,
) -> tuple[list[list[Atom]], list[Atom]]:
    """M and Q; M only for the coordinates ``with_inertia``, zero for the others.

    One triangle of M is copied, so that it is symmetric atom for atom.
    """
    with space.using(route.solids):
        moving = bodies(space, solids, velocities)
        acting = moving.acting_loads(wrenches, gravity)
        needed = {k: moving.inertia_loads(k) for k in with_inertia}
    with space.using(route.carry):
        branches = Branches(space, velocities)
        Q = branches.generalised_forces(acting)
        columns = {k: branches.generalised_forces(loads) for k, loads in needed.items()}
    zero = space.workspace.atom(0)
    M = [[zero] * len(velocities) for _ in velocities]
    moved = {k: sum(motion.moves_with(k) for motion in moving.motions) for k in with_inertia}
    for a, j in enumerate(with_inertia):
        for k in with_inertia[a:]:
            # the coordinate that moves fewer solids gives the loads, the other the direction
            column, row = (k, j) if moved[k] <= moved[j] else (j, k)
            M[j][k] = M[k][j] = columns[column][row]
    return M, Q


def _for_wrench(algebra: Algebra, wrench: Wrench) -> Algebra:
    """The algebra in force, with the direction that the wrench asks for."""
    return algebra if wrench.toward is None else replace(algebra, toward=wrench.toward)


def _spelled(algebra: Algebra) -> str:
    words = ["in parts" if algebra.extended else "in one base"]
    words.append("towards the leaves" if algebra.toward is Toward.LEAF else "towards the root")
    if algebra.merge:
        words.append("with turns merged")
    return " ".join(words)
