"""The Newton–Euler sums of every solid: an oracle for the equations of motion.

What acts on a solid is balanced by the rates of its momenta, seen from the inertial base.  With p
the linear momentum and L the angular momentum about the point B of the solid, in absolute motion,

    p = m v + ω x mr,     L = I ω + mr x v,
    Σ f - p' = 0,         Σ t - L' - v x p = 0,

where v is the velocity of B, which may move as it likes (Greenwood, *Principles of Dynamics*, 1988,
ch. 4; v x p is what a moving reference point adds).  Nothing is expanded and no acceleration is
composed: the rates are derivatives of p and L as they stand.  It is slow, and it shares no formula
with `biela.equations.virtual_power`, which is why it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom
from biela.equations.symbolic import SymbolicSystem
from biela.space import Solid, Vector, angular_velocity, derivative, position, velocity

#: A solid, with the force and the moment about its point that are left over; zero in motion.
WrenchSum = tuple[Solid, Vector, Vector]


def wrench_sums(system: SymbolicSystem) -> list[WrenchSum]:
    """Of each solid the sum of applied, gravity and inertia forces, and of moments about its point.

    Reactions are not among them, so each vanishes only for a solid without constraints; the
    virtual power of all together always does (`virtual_powers`).
    """
    system.check_rigid("the sum of Newton and Euler")
    return [(solid, *_wrench_sum(system, solid)) for solid in system.solids]


def _wrench_sum(system: SymbolicSystem, solid: Solid) -> tuple[Vector, Vector]:
    space, mr = system.space, solid.first_moment
    v = velocity(space.inertial, solid.point)
    omega = angular_velocity(space.root, solid.base)
    p = v * solid.mass + omega.cross(mr)
    L = solid.inertia @ omega + mr.cross(v)

    force = system.gravity * solid.mass - derivative(p, space.root, space.time_rate)
    moment = mr.cross(system.gravity) - derivative(L, space.root, space.time_rate) - v.cross(p)
    for wrench in system.wrenches:
        if wrench.solid is solid:
            arm = position(solid.point, wrench.point)
            force = force + wrench.force
            moment = moment + wrench.moment + arm.cross(wrench.force)
    return force, moment


def virtual_powers(system: SymbolicSystem, sums: Sequence[WrenchSum]) -> list[Atom]:
    """The power of the sums in the direction of each velocity, zero along the motion.

    e_j = Σ F · ∂v/∂q'_j + T · ∂ω/∂q'_j  (Plaza 2015, eqs 2.33–2.35).
    """
    space = system.space
    e = [system.workspace.atom(0) for _ in system.v]
    for solid, force, moment in sums:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        for j, rate in enumerate(system.v):
            e[j] = e[j] + force.dot(v.diff(rate)) + moment.dot(omega.diff(rate))
    return e
