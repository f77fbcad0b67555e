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
with one base are added before they are used.  A flexible body is the solid it makes in its present
shape, with the further loads that `biela.equations.flexible` derives.

Plaza 2015, §4.5–4.8, with M positive; errata of its equations 4.30–4.38 and 4.62 corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from biela.atoms import Atom
from biela.equations.branches import Branches, Loads
from biela.equations.flexible import FlexibleBody
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
    triple_cross,
    velocity,
)


@dataclass(frozen=True)
class Route:
    """Two algebras: one for what each solid needs, one for carrying it down the trees."""

    solids: Algebra
    carry: Algebra

    def __str__(self) -> str:
        return f"{_spelled(self.solids)}, carried {_spelled(self.carry)}"

    @property
    def unmerged(self) -> Route:
        """The same for a system where no turns can be merged."""
        return Route(replace(self.solids, merge=False), replace(self.carry, merge=False))


_ROOT = Algebra(Toward.ROOT)
_ROOT_MERGED = Algebra(Toward.ROOT, merge=True)
_LEAF_MERGED = Algebra(Toward.LEAF, merge=True)
_PLAIN_LEAF = Algebra(Toward.LEAF, extended=False, merge=True)
_PLAIN_ROOT = Algebra(Toward.ROOT, extended=False, merge=True)

_FOR_BOTH = (
    Route(_ROOT, _ROOT),
    Route(_ROOT_MERGED, _ROOT_MERGED),
    Route(_LEAF_MERGED, _LEAF_MERGED),
    Route(_PLAIN_LEAF, _PLAIN_LEAF),
)
#: The routes that are tried: of 64 pairs of algebras those that were smallest for some model.
FOR_MASS: tuple[Route, ...] = (*_FOR_BOTH, Route(_ROOT_MERGED, _PLAIN_ROOT))
FOR_FORCES: tuple[Route, ...] = (*_FOR_BOTH, Route(_PLAIN_LEAF, _PLAIN_ROOT))
CANDIDATES: tuple[Route, ...] = tuple(dict.fromkeys((*FOR_MASS, *FOR_FORCES)))


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
    #: Flexible bodies, the motions of their frames, and the numbers of their modes.
    flexible: Sequence[tuple[FlexibleBody, Motion, list[int]]] = ()

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
        for body, motion, own in self.flexible:
            body.add_inertia(loads, motion, k, own)
        return loads

    def acting_loads(self, wrenches: Iterable[Wrench], gravity: Vector) -> Loads:
        """What acts with all accelerations zero."""
        loads = Loads()
        for motion in self.motions:
            solid, omega, mr = motion.solid, motion.omega, motion.solid.first_moment
            free = gravity - motion.v_bias
            carried = motion.omega_bias.cross(mr) + _centripetal(omega, mr)
            loads.add_force(solid.point, free * solid.mass - carried)
            loads.add_moment(solid.base, mr.cross(free))
        for base, (inertia, motion) in self.by_base.items():
            spin = motion.omega.cross(inertia @ motion.omega)
            loads.add_moment(base, -(inertia @ motion.omega_bias) - spin)
        for body, motion, own in self.flexible:
            body.add_acting(loads, motion, gravity, own)
        for wrench in wrenches:
            solid = wrench.solid
            with self.space.using(_for_wrench(self.space.algebra, wrench)):
                arm = position(solid.point, wrench.point)
                loads.add_force(solid.point, wrench.force)
                loads.add_moment(solid.base, wrench.moment + arm.cross(wrench.force))
        return loads


def bodies(
    space: Space,
    solids: Sequence[Solid],
    velocities: Sequence[Atom],
    flexible: Sequence[FlexibleBody] = (),
) -> Bodies:
    """The motion of each solid, and of each flexible body in its shape, in the inertial frame."""
    motions: list[Motion] = []
    for solid in [*solids, *(body.deformed for body in flexible)]:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        motions.append(
            Motion(
                solid,
                v,
                omega,
                v.diff_by_each(velocities),
                omega.diff_by_each(velocities),
                derivative(v, space.root, space.bias_rate),
                derivative(omega, space.root, space.bias_rate),
            )
        )
    numbers = {rate: j for j, rate in enumerate(velocities)}
    bent = [
        (body, motion, [numbers[mode.velocity] for mode in body.modes])
        for body, motion in zip(flexible, motions[len(solids) :], strict=True)
    ]
    return Bodies(space, motions, bent)


@dataclass(frozen=True)
class Dynamics:
    """What the solids of a system need by one algebra, to be carried down the trees by any."""

    space: Space
    velocities: Sequence[Atom]
    #: What acts with all accelerations zero.
    acting: Loads
    #: What the acceleration of each coordinate needs, of those with inertia.
    needed: dict[int, Loads]
    #: How many bodies each of them moves.
    moved: dict[int, int]

    def forces(self, carry: Algebra) -> list[Atom]:
        """Q."""
        with self.space.using(carry):
            return Branches(self.space, self.velocities).generalised_forces(self.acting)

    def mass(self, carry: Algebra) -> list[list[Atom]]:
        """M, zero for coordinates without inertia.

        One triangle is copied, so that it is symmetric atom for atom.
        """
        # the coordinate that moves fewer solids gives the loads, the other the direction
        rows: dict[int, set[int]] = {k: {k} for k in self.needed}
        for j, k in combinations(self.needed, 2):
            column, row = (k, j) if self.moved[k] <= self.moved[j] else (j, k)
            rows[column].add(row)
        zero = self.space.workspace.atom(0)
        M = [[zero] * len(self.velocities) for _ in self.velocities]
        with self.space.using(carry):
            branches = Branches(self.space, self.velocities)
            for k, loads in self.needed.items():
                column_k = branches.generalised_forces(loads, rows[k])
                for j in rows[k]:
                    M[j][k] = M[k][j] = column_k[j]
        return M


def dynamics(
    space: Space,
    solids: Sequence[Solid],
    wrenches: Sequence[Wrench],
    gravity: Vector,
    velocities: Sequence[Atom],
    with_inertia: Sequence[int],
    algebra: Algebra,
    flexible: Sequence[FlexibleBody] = (),
) -> Dynamics:
    """What all bodies need; accelerations only of the coordinates ``with_inertia``."""
    with space.using(algebra):
        moving = bodies(space, solids, velocities, flexible)
        return Dynamics(
            space,
            velocities,
            moving.acting_loads(wrenches, gravity),
            {k: moving.inertia_loads(k) for k in with_inertia},
            {k: sum(motion.moves_with(k) for motion in moving.motions) for k in with_inertia},
        )


def _centripetal(omega: Vector, mr: Vector) -> Vector:
    """ω x (ω x mr): by Lagrange's formula vectors in parts stay in their bases.

    In one base two cross products are as good, and ω x mr is often there already.
    """
    if omega.space.algebra.extended:
        return triple_cross(omega, omega, mr)
    return omega.cross(omega.cross(mr))


def _for_wrench(algebra: Algebra, wrench: Wrench) -> Algebra:
    """The algebra in force, with the direction that the wrench asks for."""
    return algebra if wrench.toward is None else replace(algebra, toward=wrench.toward)


def _spelled(algebra: Algebra) -> str:
    words = ["in parts" if algebra.extended else "in one base"]
    words.append("towards the leaves" if algebra.toward is Toward.LEAF else "towards the root")
    if algebra.merge:
        words.append("with turns merged")
    return " ".join(words)
