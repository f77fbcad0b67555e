"""Mass matrix and forces by virtual power as textbooks write it: an oracle.

The equations are formed whole, accelerations and all, and only then taken apart.  For each solid
with point B, centre of mass G, mass m, first moment mr and inertia I about B, the inertia wrench is

    F = -m a_G = -(m a_B + α x mr + ω x (ω x mr)),     T = -dh/dt - mr x a_B,     h = I ω,

and with the gravity and the applied wrenches, each at its own point P as if that belonged to the
solid, the virtual power in the direction of q'_j is

    e_j = Σ F · ∂v_B/∂q'_j + T · ∂ω/∂q'_j + Σ f · ∂v_P/∂q'_j + t · ∂ω/∂q'_j = 0

(Plaza 2015, eqs 2.28–2.35).  Since e is linear in the accelerations,

    M = -∂e/∂q'',     Q = e with q'' = 0.

This is the long way of the thesis's table 6.12: more atoms, and M is not symmetric atom for atom.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom, jacobian, substitute
from biela.equations.symbolic import SymbolicSystem
from biela.space import (
    Solid,
    Vector,
    Wrench,
    acceleration,
    angular_acceleration,
    angular_velocity,
    derivative,
    velocity,
    velocity_in,
)


def mass_and_forces_textbook(system: SymbolicSystem) -> tuple[list[list[Atom]], list[Atom]]:
    """M and Q by way of the complete equations of motion."""
    M, Q = split(system, dynamic_equations(system))
    return system.with_rotor_inertia(M), system.with_rotor_forces(system.with_pushes(Q))


def dynamic_equations(system: SymbolicSystem) -> list[Atom]:
    """e, an equation for each coordinate; with reactions, if any, it is zero along the motion."""
    system.check_rigid("the textbook's way")
    e = [system.workspace.atom(0) for _ in system.v]
    for solid in system.solids:
        e = _sum(e, _inertia_powers(system, solid))
    for wrench in system.wrenches:
        e = _sum(e, _wrench_powers(system, wrench))
    return e


def split(system: SymbolicSystem, e: Sequence[Atom]) -> tuple[list[list[Atom]], list[Atom]]:
    """M = -∂e/∂q'' and Q = e with q'' = 0, of equations that are linear in the accelerations."""
    accelerations = [v.acceleration for v in system.v]
    M = [[-entry for entry in row] for row in jacobian(e, accelerations).rows]
    return M, substitute(list(e), {a: 0 for a in accelerations})


def inertia_wrench(system: SymbolicSystem, solid: Solid) -> tuple[Vector, Vector]:
    """F and T of a solid about its point."""
    space, mr = system.space, solid.first_moment
    omega = angular_velocity(space.root, solid.base)
    alpha = angular_acceleration(space.root, solid.base)
    a = acceleration(space.inertial, solid.point)
    force = -(a * solid.mass + alpha.cross(mr) + omega.cross(omega.cross(mr)))
    moment = -derivative(solid.inertia @ omega, space.root, space.time_rate) - mr.cross(a)
    return force, moment


def _inertia_powers(system: SymbolicSystem, solid: Solid) -> list[Atom]:
    """The powers of inertia and gravity."""
    space = system.space
    force, moment = inertia_wrench(system, solid)
    force = force + system.gravity * solid.mass
    moment = moment + solid.first_moment.cross(system.gravity)
    v = velocity(space.inertial, solid.point)
    omega = angular_velocity(space.root, solid.base)
    return [force.dot(v.diff(u)) + moment.dot(omega.diff(u)) for u in system.v]


def _wrench_powers(system: SymbolicSystem, wrench: Wrench) -> list[Atom]:
    """The powers of a wrench, its force through the point where it acts."""
    space, solid = system.space, wrench.solid
    v = velocity_in(space.inertial, wrench.point, solid)
    omega = angular_velocity(space.root, solid.base)
    return [wrench.force.dot(v.diff(u)) + wrench.moment.dot(omega.diff(u)) for u in system.v]


def _sum(a: Sequence[Atom], b: Sequence[Atom]) -> list[Atom]:
    return [x + y for x, y in zip(a, b, strict=True)]
