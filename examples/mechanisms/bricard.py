"""Bricard's linkage: six revolutes and six bars that move, although a count says that they cannot.

Five rods of 1 m and 1 kg with a square section of 0.1 m run along the edges of a cube from P0 to
P5; the ground is the sixth.  Gravity points to -y, and it starts from rest.

    point   P0         P1         P2          P3          P4          P5
    place   (0,0,0)    (1,0,0)    (1,-1,0)    (1,-1,1)    (0,-1,1)    (0,0,1)
    axis    y          z          x           y           z           x

Coordinates are the relative angles q1 … q5 of the rods about the axes at P0 … P4, zero at the
start, where all bases are parallel to the ground.  The revolute at P5 closes the loop: the end of
the last rod is there (three equations) and its axis stays parallel to x (two).  Five equations for
five coordinates, but one of them follows from the others in every position: mobility 1.

Problem A04 of the IFToMM library of computational benchmarks (González et al. 2006); reference
figures recomputed in extended precision.
"""

from __future__ import annotations

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: By time: place of P3.
REFERENCE = {
    0.5: {"x3": 0.968283679107, "y3": -1.224625159436, "z3": 0.750146609438},
    1.0: {"x3": 0.510501461187, "y3": -1.649167599395, "z3": 0.140123114553},
}

#: Of each rod: the axis of the joint it hangs on, and its direction in its own base.
RODS = (
    ("y", (1, 0, 0)),
    ("z", (0, -1, 0)),
    ("x", (0, 0, 1)),
    ("y", (-1, 0, 0)),
    ("z", (0, 1, 0)),
)


def bricard() -> bl.SymbolicSystem:
    """The linkage; its coordinates are q1 … q5."""
    s = bl.SymbolicSystem("bricard")
    q = s.coordinates("q:5")
    # inertia of a rod about its end: along it, and across
    m, l, g, I_along, I_across = s.parameters(
        m=1.0, l=1.0, g=9.81, I_along=0.1**2 / 6, I_across=(1.0 + 0.1**2) / 12 + 1 / 4
    )
    s.gravity = s.base.vector(0, -g, 0)

    base, point = s.base, s.origin
    points = [point]
    for i, (axis, direction) in enumerate(RODS):
        base = base.rotated(f"b{i + 1}", axis, q[i])
        along = [d * l for d in direction]
        inertia = base.inertia(*(I_along if d else I_across for d in direction))
        middle = [d / 2 for d in along]
        s.solid(f"rod{i + 1}", at=point, base=base, mass=m, com=middle, inertia=inertia)
        point = point.offset(f"P{i + 1}", base.vector(*along))
        points.append(point)

    ground = s.origin.offset("ground", s.base.vector(0, 0, l))
    s.close(ground, point, name="point5")
    axis5 = base.vector(1, 0, 0)
    s.constrain(axis5.y, axis5.z, name="axis5")

    s.initial(q[0])
    s.initial_velocity(q[0].velocity)

    P3 = s.position(s.origin, points[3])
    for name, component in zip(("x3", "y3", "z3"), P3.components(s.base), strict=True):
        s.output(name, component)
    q0, v0 = start()
    s.start(dict(zip(s.q + s.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(s), potential_energy(s)
    s.output("kinetic energy", T)
    s.output("potential energy", V)
    s.output("energy", T + V)
    return s


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return 5 * [0.0], 5 * [0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(bricard(), *start())


if __name__ == "__main__":
    main()
