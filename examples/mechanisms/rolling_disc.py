"""A thin disc that rolls on a horizontal plane without slipping.

x and y are the point of contact P.  The disc has a heading psi about z, a lean theta about the
heading and a roll phi about its axle: turns about z, x and y, so that at zero it stands upright and
rolls towards +x.  Its centre lies a radius above P along z of the leaning base, which keeps the
disc on the plane without an equation.  Rolling is two equations for velocities that no equation for
positions can replace: P, as a point of the disc, is at rest.  Five coordinates, three degrees of
freedom in velocity.

With inertias A across and C about the axle, a steady motion at lean θ and heading rate ψ' has the
total spin w = φ' + ψ' sin θ about the axle with

    (C + m r²) w ψ' cos θ = A ψ'² sin θ cos θ - m g r sin θ,

and P runs on a circle of radius r φ'/ψ'.  This is the balance of moments about the centre; the
problem is treated by Neimark & Fufaev, *Dynamics of Nonholonomic Systems* (1972).
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

MASS, RADIUS, GRAVITY = 2.0, 0.3, 9.81
LEAN, TURN = 0.35, 1.5  # of the steady motion at the start: rad, rad/s


def rolling_disc() -> bl.SymbolicSystem:
    """The disc; the coordinates are x, y, psi, theta and phi."""
    s = bl.SymbolicSystem("rolling_disc")
    x, y, psi, theta, phi = s.coordinates("x y psi theta phi")
    m, r, g = s.parameters(m=MASS, r=RADIUS, g=GRAVITY)

    heading = s.base.rotated("heading", "z", psi)
    lean = heading.rotated("lean", "x", theta)
    disc_base = lean.rotated("disc", "y", phi)
    P = s.origin.offset("P", s.base.vector(x, y, 0))
    C = P.offset("C", lean.vector(0, 0, r))
    # a body of revolution looks the same from the leaning base, but turns with its own
    across, axial = m * r**2 / 4, m * r**2 / 2
    disc = s.solid(
        "disc", at=C, base=disc_base, mass=m, inertia=disc_base.inertia(across, axial, across)
    )
    s.gravity = s.base.vector(0, 0, -g)

    slip = s.velocity(P, of=disc)
    along, aside, _ = slip.components(heading)
    s.constrain_velocity(along, aside, name="rolling")

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def steady(theta: float, turn: float) -> tuple[list[float], list[float]]:
    """Coordinates and velocities of the steady motion with a lean and a heading rate."""
    A, C = MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2
    sine, cosine = math.sin(theta), math.cos(theta)
    moment = A * turn**2 * sine * cosine - MASS * GRAVITY * RADIUS * sine
    spin = moment / ((C + MASS * RADIUS**2) * turn * cosine)
    roll = spin - turn * sine
    return [0.0, 0.0, 0.0, theta, 0.0], [RADIUS * roll, 0.0, turn, 0.0, roll]


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start: a steady motion."""
    return steady(LEAN, TURN)


def main() -> None:
    from description import describe  # stands beside this script

    describe(rolling_disc(), *start())


if __name__ == "__main__":
    main()
