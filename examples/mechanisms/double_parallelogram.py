"""Three parallel cranks under one coupler: as the wheels of a steam engine, with one too many.

    B0 ───── B1 ───── B2     one coupler of length 2 a
    │        │        │      three cranks of length l, angles theta0, theta1, theta2
    A0       A1       A2     ground pivots at x = 0, a, 2 a, y upwards

All angles turn about z and are seen from the ground; phi is that of the coupler.  It sits on the
first crank, and the tops of the other two are held at it by two equations each.  Four equations for
four coordinates would leave no motion, but with equal cranks one is redundant, and the coupler
moves in parallel to itself:

    (3 m/3 + M) l θ'' = -(3 m/2 + M) g cos θ

with m the mass of a crank and M that of the coupler.  The figures are ours.
"""

from __future__ import annotations

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

ANGLE, SPEED = 0.5, 2.0  # of the cranks at the start


def double_parallelogram() -> bl.SymbolicSystem:
    """The mechanism; the coordinates are theta0, theta1, theta2 and phi."""
    s = bl.SymbolicSystem("double_parallelogram")
    theta = s.coordinates("theta0 theta1 theta2")
    (phi,) = s.coordinates("phi")
    l, a, m, M, g = s.parameters(l=0.4, a=0.5, m=1.0, M=3.0, g=9.81)
    s.gravity = s.base.vector(0, -g, 0)

    tops = []
    for i, angle in enumerate(theta):
        base = s.base.rotated(f"crank{i}", "z", angle)
        pivot = s.origin.offset(f"A{i}", s.base.vector(i * a, 0, 0))
        inertia = base.inertia(yy=m * l**2 / 3, zz=m * l**2 / 3)
        s.solid(f"crank{i}", at=pivot, base=base, mass=m, com=(l / 2, 0, 0), inertia=inertia)
        tops.append(pivot.offset(f"B{i}", base.vector(l, 0, 0)))

    coupler = s.base.rotated("coupler", "z", phi)
    inertia = coupler.inertia(yy=M * (2 * a) ** 2 / 3, zz=M * (2 * a) ** 2 / 3)
    s.solid("coupler", at=tops[0], base=coupler, mass=M, com=(a, 0, 0), inertia=inertia)
    for i in (1, 2):
        hole = tops[0].offset(f"hole{i}", coupler.vector(i * a, 0, 0))
        s.close(tops[i], hole, axes="xy", name=f"B{i}")

    s.initial(theta[0] - ANGLE)
    s.initial_velocity(theta[0].velocity - SPEED)

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return [ANGLE, ANGLE, ANGLE, 0.0], [SPEED, SPEED, SPEED, 0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(double_parallelogram(), *start())


if __name__ == "__main__":
    main()
