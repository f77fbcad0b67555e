"""N four-bar linkages in a row: one degree of freedom, and positions where it becomes N + 1.

    B0 ─── B1 ─── B2 ── …      N + 1 cranks on ground pivots at x = 0, 1, …, N, joined at their
    │      │      │            tops by N couplers: 2N + 1 uniform links of 1 m and 1 kg, y upwards
    0      1      2

At the start the cranks stand upright and the top of the first moves at 1 m/s towards +x.  When all
links lie on one line, every four-bar may fold by itself.

Coordinates are the angles of all links from the ground: theta_i of the cranks and phi_i of the
couplers.  So a coupler moves with its own angle and that of the crank it sits on only, and M and
Φ_v stay sparse for any N.

Run this file with a number to choose N.

Problem A02 of the IFToMM library of computational benchmarks (González et al. 2006; there N = 40,
20 s).  Reference figures: all couplers stay horizontal, which leaves, with a = (N + 1)/3 + N and
b = (N + 1)/2 + N, the pendulum a l θ'' = -b g cos θ; integrated to 13 digits for N = 2.
"""

from __future__ import annotations

import math
import sys

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy
from biela.space import Point

#: For N = 2, by time: the top of the first crank.
REFERENCE = {
    1.0: {"x": -0.1950203019495, "y": -0.9807992056622},
    5.0: {"x": -0.8113104610042, "y": -0.5846155453502},
    10.0: {"x": 0.3284581115394, "y": 0.9445185381791},
}


def four_bars(n: int = 2) -> bl.SymbolicSystem:
    """A row of n four-bars; coordinates theta0, theta1, phi1, theta2, phi2, …"""
    s = bl.SymbolicSystem(f"four_bars{n}")
    m, l, g = s.parameters(m=1.0, l=1.0, g=9.81)
    s.gravity = s.base.vector(0, -g, 0)

    def link(name: str, at: Point) -> Point:
        """A link from a point on along x of a base of its own; its far end."""
        (angle,) = s.coordinates(name)
        base = s.base.rotated(f"b_{name}", "z", angle)
        inertia = base.inertia(yy=m * l**2 / 3, zz=m * l**2 / 3)
        s.solid(name, at=at, base=base, mass=m, com=(l / 2, 0, 0), inertia=inertia)
        return at.offset(f"end_{name}", base.vector(l, 0, 0))

    first = top = link("theta0", s.origin)
    for i in range(1, n + 1):
        pivot = s.origin.offset(f"pivot{i}", s.base.vector(i * l, 0, 0))
        before, top = top, link(f"theta{i}", pivot)
        s.close(top, link(f"phi{i}", before), axes="xy", name=f"loop{i}")

    s.initial(s.q[0] - math.pi / 2)
    r, v = s.position(s.origin, first), s.velocity(first)
    s.initial_velocity(v.x - 1)

    q0, v0 = start(n)
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("x", r.x)
    s.output("y", r.y)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start(n: int = 2) -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return [math.pi / 2] + n * [math.pi / 2, 0.0], [-1.0] + n * [-1.0, 0.0]


def main() -> None:
    from description import describe  # stands beside this script

    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    describe(four_bars(n), *start(n))


if __name__ == "__main__":
    main()
