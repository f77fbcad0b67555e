"""Two equal uniform rods, one hanging from the end of the other.

Each rod hangs along -y of its base; theta1 turns the first about z from the ground, theta2 the
second from the first.  It starts from rest with both rods horizontal, and its motion is chaotic.
Near rest it is two oscillators, of angular frequencies

    ω² = (3 ± 6/√7) g/l

the roots of 7 ω⁴ - 42 ω² g/l + 27 (g/l)² = 0, which is det(K - ω² M) of the linear equations.
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: Angular frequencies of small oscillations for l = 1, g = 9.81 (rad/s).
FREQUENCIES = (
    math.sqrt((3 - 6 / math.sqrt(7)) * 9.81),
    math.sqrt((3 + 6 / math.sqrt(7)) * 9.81),
)


def double_pendulum() -> bl.SymbolicSystem:
    """The rods; the coordinates are theta1 and theta2."""
    s = bl.SymbolicSystem("double_pendulum")
    theta1, theta2 = s.coordinates("theta1 theta2")
    m, l, g = s.parameters(m=1.0, l=1.0, g=9.81)

    upper = s.base.rotated("upper", "z", theta1)
    lower = upper.rotated("lower", "z", theta2)
    A = s.origin.offset("A", upper.vector(0, -l, 0))
    for name, at, base in (("upper", s.origin, upper), ("lower", A, lower)):
        inertia = base.inertia(xx=m * l**2 / 3, zz=m * l**2 / 3)
        s.solid(name, at=at, base=base, mass=m, com=(0, -l / 2, 0), inertia=inertia)
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
    return [math.pi / 2, 0.0], [0.0, 0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(double_pendulum(), *start())


if __name__ == "__main__":
    main()
