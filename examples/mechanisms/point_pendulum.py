"""A point mass on a massless rod: the smallest system with a constraint.

A mass of 1 kg swings on a rod of 1 m about the origin, y upwards, and starts from rest with the rod
horizontal, at x = -1.  Two descriptions: by Cartesian coordinates x and y, which the rod holds at
its length, and by the angle theta of the rod, zero when it hangs down, which needs no constraint.

Problem A01 of the IFToMM library of computational benchmarks (González et al., Multibody System
Dynamics 16, 2006).  The figures of `REFERENCE` are exact: with k = sin 45°, sin(θ/2) = k sn u is an
elliptic function of time.
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: By time: position of the mass.
REFERENCE = {
    1.0: {"x": 0.98629175113187532, "y": -0.16501085312554117},
    5.0: {"x": -0.94230543504375734, "y": -0.33475433841400058},
    10.0: {"x": -0.27508746257611686, "y": -0.96141920509912506},
}
PERIOD = 2.3678419475762374


def point_pendulum() -> bl.SymbolicSystem:
    """By the coordinates x and y of the mass, and one constraint."""
    s = bl.SymbolicSystem("point_pendulum")
    x, y = s.coordinates("x y")
    m, l, g = s.parameters(m=1.0, l=1.0, g=9.81)

    P = s.origin.offset("P", s.base.vector(x, y, 0))
    s.solid("mass", at=P, base=s.base, mass=m)
    s.gravity = s.base.vector(0, -g, 0)
    s.constrain(s.position(s.origin, P).norm2() - l**2, name="rod")

    # x = -1 is a fold of the rod's circle, so that y is what fixes the start
    s.initial(y)
    s.initial_velocity(y.velocity)
    add_start_and_outputs(s, *start())
    return s


def point_pendulum_by_angle() -> bl.SymbolicSystem:
    """By the angle theta of the rod; the outputs x and y give the mass."""
    s = bl.SymbolicSystem("point_pendulum_by_angle")
    (theta,) = s.coordinates("theta")
    m, l, g = s.parameters(m=1.0, l=1.0, g=9.81)

    rod = s.base.rotated("rod", "z", theta)
    P = s.origin.offset("P", rod.vector(0, -l, 0))
    s.solid("mass", at=P, base=rod, mass=m)
    s.gravity = s.base.vector(0, -g, 0)

    r = s.position(s.origin, P)
    s.output("x", r.x)
    s.output("y", r.y)
    add_start_and_outputs(s, *start_by_angle())
    return s


def add_start_and_outputs(s: bl.SymbolicSystem, q: list[float], v: list[float]) -> None:
    s.start(dict(zip(s.q + s.v, q + v, strict=True)))
    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities of `point_pendulum` at the start."""
    return [-1.0, 0.0], [0.0, 0.0]


def start_by_angle() -> tuple[list[float], list[float]]:
    """Coordinates and velocities of `point_pendulum_by_angle` at the start."""
    return [-math.pi / 2], [0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(point_pendulum(), *start())
    describe(point_pendulum_by_angle(), *start_by_angle())


if __name__ == "__main__":
    main()
