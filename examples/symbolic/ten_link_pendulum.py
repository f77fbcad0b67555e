"""A chain of equal hanging rods in one vertical plane, each on a relative angle.

Rod i hangs from the end of rod i - 1, its base turned about y by theta_i seen from that rod; at
zero all hang straight down.  Every rod has symbols of its own: length l, mass m, distance c from
the joint down to the centre of mass, and inertia Iyy about the joint.  A torque tau drives each
joint, and nothing holds the end.

A chain is the common yardstick of derivations: SymPy's documentation derives one, and its equations
soon fill pages.  The figures are ours.
"""

from __future__ import annotations

import biela as bl


def pendulum(links: int, absolute: bool = False) -> bl.SymbolicSystem:
    """A chain of so many rods; with ``absolute``, every angle is seen from the ground."""
    s = bl.SymbolicSystem(f"pendulum{links}")
    theta = s.coordinates(f"theta:{links}")
    tau = s.inputs(f"tau:{links}")
    (g,) = s.parameters(g=9.81)
    s.gravity = s.base.vector(0, 0, -g)
    base, joint, before = s.base, s.origin, None
    for i, angle in enumerate(theta, 1):
        l, m, c, Iyy = s.parameters(
            **{f"l{i}": 0.5, f"m{i}": 1.0, f"c{i}": 0.25, f"Iyy{i}": 0.5**2 / 3}
        )
        base = (s.base if absolute else base).rotated(f"b{i}", "y", angle)
        rod = s.solid(
            f"rod{i}", at=joint, base=base, mass=m, com=(0, 0, -c), inertia=base.inertia(yy=Iyy)
        )
        s.wrench(rod, moment=s.base.vector(0, tau[i - 1], 0), reaction_on=before, name=f"motor{i}")
        joint, before = joint.offset(f"P{i}", base.vector(0, 0, -l)), rod
    return s


def ten_link_pendulum() -> bl.SymbolicSystem:
    """Ten rods on relative angles theta1 … theta10."""
    return pendulum(10)


if __name__ == "__main__":
    equations = ten_link_pendulum().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
