"""Mass matrix and forces from the energies: an oracle.

With the kinetic energy of solids seen from any point B of them,

    T = Σ ½ m v · v + v · (ω x mr) + ½ ω · I ω,

the equations of Lagrange d/dt(∂T/∂q') - ∂T/∂q = F are M q'' = Q with

    M = ∂²T/∂q'∂q',     Q = F + ∂T/∂q - d/dt(∂T/∂q') with q'' = 0,

where F are the generalised forces of gravity and wrenches (Goldstein, Poole & Safko, *Classical
Mechanics*, 2002, §1.4–1.6).  T is a scalar, so no derivative of a vector in a turning base occurs:
the acceleration bias that the direct route must take care of comes out by itself.
"""

from __future__ import annotations

from biela.atoms import Atom, gradient, jacobian
from biela.equations.symbolic import SymbolicSystem
from biela.space import angular_velocity, position, velocity, velocity_in


def kinetic_energy(system: SymbolicSystem) -> Atom:
    """T."""
    space = system.space
    total = system.workspace.atom(0)
    for solid in system.solids:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        total = total + (
            v.norm2() * solid.mass / 2
            + v.dot(omega.cross(solid.first_moment))
            + omega.dot(solid.inertia @ omega) / 2
        )
    return total


def potential_energy(system: SymbolicSystem) -> Atom:
    """The potential of uniform gravity, V = -Σ g · (m r + mr), zero at the origin."""
    total = system.workspace.atom(0)
    for solid in system.solids:
        r = position(system.origin, solid.point)
        total = total - system.gravity.dot(r * solid.mass + solid.first_moment)
    return total


def applied_forces(system: SymbolicSystem) -> list[Atom]:
    """F: what gravity and the wrenches give in the direction of each velocity."""
    space = system.space
    forces = [system.workspace.atom(0) for _ in system.v]
    for solid in system.solids:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        momentum = v * solid.mass + omega.cross(solid.first_moment)
        for j, rate in enumerate(system.v):
            forces[j] = forces[j] + system.gravity.dot(momentum.diff(rate))
    for wrench in system.wrenches:
        v = velocity_in(space.inertial, wrench.point, wrench.solid)
        omega = angular_velocity(space.root, wrench.solid.base)
        for j, rate in enumerate(system.v):
            power = wrench.force.dot(v.diff(rate)) + wrench.moment.dot(omega.diff(rate))
            forces[j] = forces[j] + power
    return forces


def mass_and_forces_lagrange(system: SymbolicSystem) -> tuple[list[list[Atom]], list[Atom]]:
    """M and Q from T and the applied forces."""
    T = kinetic_energy(system)
    momenta = gradient(T, system.v)
    M = jacobian(momenta, system.v).rows
    Q = [
        force + by_q - system.space.bias_rate(momentum)
        for force, by_q, momentum in zip(
            applied_forces(system), gradient(T, system.q), momenta, strict=True
        )
    ]
    return M, Q
