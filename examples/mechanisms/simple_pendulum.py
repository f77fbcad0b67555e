"""A uniform rod that swings about one of its ends.

The rod hangs from the origin along -y of its base, which is turned about z by theta.  It starts
from rest, horizontal.  With K the complete elliptic integral of the first kind, the period is

    4 √(I / m g c) K(sin θ₀/2),     I = m l²/3 about the pivot, c = l/2

(Landau & Lifshitz, *Mechanics*, §11).
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: The period from the formula above for the parameters and the start given below.
PERIOD = 1.9333348543732458
#: By time: after half a period the rod is at rest on the other side.
REFERENCE = {
    PERIOD / 2: {"theta": math.pi / 2, "dtheta": 0.0},
    PERIOD: {"theta": -math.pi / 2, "dtheta": 0.0},
}


def simple_pendulum() -> bl.SymbolicSystem:
    """The rod; its coordinate is theta."""
    s = bl.SymbolicSystem("simple_pendulum")
    (theta,) = s.coordinates("theta")
    m, l, g = s.parameters(m=1.0, l=1.0, g=9.81)

    rod = s.base.rotated("rod", "z", theta)
    s.solid(
        "rod",
        at=s.origin,
        base=rod,
        mass=m,
        com=(0, -l / 2, 0),
        inertia=rod.inertia(xx=m * l**2 / 3, zz=m * l**2 / 3),
    )
    s.gravity = s.base.vector(0, -g, 0)

    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return [-math.pi / 2], [0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(simple_pendulum(), *start())


if __name__ == "__main__":
    main()
