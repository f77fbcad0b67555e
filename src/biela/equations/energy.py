"""Energies of a symbolic system, and the power of what has no potential.

    T = Σ ½ m v · v + v · (ω x mr) + ½ ω · I ω + Σ ½ J s²,
    V = -Σ g · (m r + mr) + Σ ½ k (l - l0)²

for solids seen from any point of them, inertia J along speeds s, uniform gravity and springs; a
flexible body is the solid that it makes in its shape, and more (`biela.equations.flexible`).  With
the power P of all other forces, d(T + V)/dt = P - λᵀ β: what the constraints that move bring is
minus their multipliers times β.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biela.atoms import Atom
from biela.space import angular_velocity, position, velocity, velocity_in

if TYPE_CHECKING:
    from biela.equations.symbolic import SymbolicSystem


def kinetic_energy(system: SymbolicSystem) -> Atom:
    """T."""
    space = system.space
    total = system.workspace.atom(0)
    for solid in [*system.solids, *(body.deformed for body in system.flexible_bodies)]:
        v = velocity(space.inertial, solid.point)
        omega = angular_velocity(space.root, solid.base)
        total = total + (
            v.norm2() * solid.mass / 2
            + v.dot(omega.cross(solid.first_moment))
            + omega.dot(solid.inertia @ omega) / 2
        )
    for body in system.flexible_bodies:
        v = velocity(space.inertial, body.at)
        omega = angular_velocity(space.root, body.base)
        momentum, spin = body.relative_momenta()
        total = total + v.dot(momentum) + omega.dot(spin) + body.relative_energy()
    return total + rotor_energy(system)


def rotor_energy(system: SymbolicSystem) -> Atom:
    """The kinetic energy of inertia along speeds, Σ ½ J s²."""
    total = system.workspace.atom(0)
    for speed, inertia in system.rotors:
        total = total + inertia * speed * speed / 2
    return total


def potential_energy(system: SymbolicSystem) -> Atom:
    """V of gravity, springs and elasticity; that of gravity is zero at the origin."""
    total = gravity_potential(system)
    for potential in system.potentials:
        total = total + potential
    for body in system.flexible_bodies:
        total = total + body.strain_energy()
    return total


def gravity_potential(system: SymbolicSystem) -> Atom:
    """The potential of uniform gravity, V = -Σ g · (m r + mr)."""
    total = system.workspace.atom(0)
    for solid in [*system.solids, *(body.deformed for body in system.flexible_bodies)]:
        r = position(system.origin, solid.point)
        total = total - system.gravity.dot(r * solid.mass + solid.first_moment)
    return total


def applied_power(system: SymbolicSystem) -> Atom:
    """The power of the wrenches, without what springs take from their potential."""
    space = system.space
    total = system.workspace.atom(0)
    for wrench in system.wrenches:
        v = velocity_in(space.inertial, wrench.point, wrench.solid)
        omega = angular_velocity(space.root, wrench.solid.base)
        total = total + wrench.force.dot(v) + wrench.moment.dot(omega)
    for speed, force in system.pushes:
        total = total + speed * force
    for potential in system.potentials:
        total = total + space.time_rate(potential)
    for body in system.flexible_bodies:
        total = total + body.damping_power()
    return total
