"""Mass matrix and forces from the energies: an oracle.

With the kinetic energy of solids seen from any point B of them,

    T = Σ ½ m v · v + v · (ω x mr) + ½ ω · I ω,

the equations of Lagrange d/dt(∂T/∂q') - ∂T/∂q = F are M q'' = Q with

    M = ∂²T/∂q'∂q',     Q = F + ∂T/∂q - d/dt(∂T/∂q') with q'' = 0,

where F are the generalised forces of gravity, wrenches and elasticity (Goldstein, Poole & Safko,
*Classical Mechanics*, 2002, §1.4–1.6).  T is a scalar, so no derivative of a vector in a turning
base occurs: the acceleration bias that the direct route must take care of comes out by itself.
"""

from __future__ import annotations

from biela.atoms import Atom, gradient, jacobian
from biela.equations.energy import kinetic_energy
from biela.equations.symbolic import SymbolicSystem
from biela.space import angular_velocity, velocity, velocity_in


def applied_forces(system: SymbolicSystem) -> list[Atom]:
    """F: what gravity, wrenches and pushes give in the direction of each velocity."""
    space = system.space
    forces = [system.workspace.atom(0) for _ in system.v]
    for solid in system.solids:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        momentum = v * solid.mass + omega.cross(solid.first_moment)
        for j, rate in enumerate(system.v):
            forces[j] = forces[j] + system.gravity.dot(momentum.diff(rate))
    numbers = {rate: j for j, rate in enumerate(system.v)}
    for body in system.flexible_bodies:
        v = velocity(space.inertial, body.at)
        omega = angular_velocity(space.root, body.base)
        solid = body.deformed
        momentum = v * solid.mass + omega.cross(solid.first_moment) + body.relative_momenta()[0]
        for j, rate in enumerate(system.v):
            forces[j] = forces[j] + system.gravity.dot(momentum.diff(rate))
        for mode, force in zip(body.modes, body.elastic_forces(), strict=True):
            j = numbers[mode.velocity]
            forces[j] = forces[j] + force
    for wrench in system.wrenches:
        v = velocity_in(space.inertial, wrench.point, wrench.solid)
        omega = angular_velocity(space.root, wrench.solid.base)
        for j, rate in enumerate(system.v):
            power = wrench.force.dot(v.diff(rate)) + wrench.moment.dot(omega.diff(rate))
            forces[j] = forces[j] + power
    return system.with_pushes(forces)


def mass_and_forces_lagrange(system: SymbolicSystem) -> tuple[list[list[Atom]], list[Atom]]:
    """M and Q from T and the applied forces.

    Raises:
        ModelError: If there are speeds that are the rates of no coordinates.
    """
    system.check_plain("the method of Lagrange")
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
