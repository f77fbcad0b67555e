"""A slider–crank: the crank of an engine, its connecting rod and the piston.

    O ── crank (r, theta) ── A ── rod (l, phi) ── B on the x axis, at x

Both angles turn about z and are seen from the ground.  Crank and rod are uniform bars; gravity
points to -y, a torque tau drives the crank and a force F pushes the piston towards +x.  The end of
the rod is held at the piston by two equations, which leaves one degree of freedom with the closed
form

    sin φ = -(r/l) sin θ,     x = r cos θ + l cos φ.

The figures are ours: the usual ratio l/r = 3 of engines.
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

RADIUS, ROD = 0.1, 0.3
SPEED = 20.0  # of the crank at the start, rad/s


def slider_crank() -> bl.SymbolicSystem:
    """The mechanism; the coordinates are theta, phi and x."""
    s = bl.SymbolicSystem("slider_crank")
    theta, phi, x = s.coordinates("theta phi x")
    r, l, g = s.parameters(r=RADIUS, l=ROD, g=9.81)
    m_crank, m_rod, m_piston = s.parameters(m_crank=1.2, m_rod=0.6, m_piston=0.5)
    tau, F = s.inputs("tau F")

    crank_base = s.base.rotated("crank", "z", theta)
    rod_base = s.base.rotated("rod", "z", phi)
    A = s.origin.offset("A", crank_base.vector(r, 0, 0))
    end = A.offset("end", rod_base.vector(l, 0, 0))
    B = s.origin.offset("B", s.base.vector(x, 0, 0))

    crank = s.solid(
        "crank",
        at=s.origin,
        base=crank_base,
        mass=m_crank,
        com=(r / 2, 0, 0),
        inertia=crank_base.inertia(yy=m_crank * r**2 / 3, zz=m_crank * r**2 / 3),
    )
    s.solid(
        "rod",
        at=A,
        base=rod_base,
        mass=m_rod,
        com=(l / 2, 0, 0),
        inertia=rod_base.inertia(yy=m_rod * l**2 / 3, zz=m_rod * l**2 / 3),
    )
    piston = s.solid("piston", at=B, base=s.base, mass=m_piston)
    s.wrench(crank, moment=s.base.vector(0, 0, tau), name="motor")
    s.wrench(piston, force=s.base.vector(F, 0, 0), name="gas")
    s.gravity = s.base.vector(0, -g, 0)
    s.close(B, end, axes="xy", name="pin")

    # the start: crank angle and speed given, the rest follows
    theta_0, omega_0 = s.parameters(theta_0=math.pi / 3, omega_0=SPEED)
    s.initial(theta - theta_0)
    s.initial_velocity(theta.velocity - omega_0)

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def closed_form(theta: float, omega: float) -> tuple[list[float], list[float]]:
    """Coordinates and velocities for an angle and a speed of the crank."""
    phi = -math.asin(RADIUS / ROD * math.sin(theta))
    dphi = -RADIUS * math.cos(theta) / (ROD * math.cos(phi)) * omega
    x = RADIUS * math.cos(theta) + ROD * math.cos(phi)
    dx = -RADIUS * math.sin(theta) * omega - ROD * math.sin(phi) * dphi
    return [theta, phi, x], [omega, dphi, dx]


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return closed_form(math.pi / 3, SPEED)


def main() -> None:
    from description import describe  # stands beside this script

    describe(slider_crank(), *start())


if __name__ == "__main__":
    main()
