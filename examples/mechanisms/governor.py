"""A stiff flyball governor: a mechanism whose motion is slow and whose springs are fast.

A shaft turns about z (angle psi).  At its top, z = 1, two rods of 1 m are hinged at x = ±0.05 about
the axis y, and carry 5 kg at their ends; they stand down by angles alpha1 and alpha2 from the
horizontal, 30° at the start.  A slider of 3 kg moves on the shaft at a height s, 0.5 at the start,
and strong spring–dampers join it to the middle of the rods.  Shaft and rods have a section of
0.01 x 0.01, the slider is a cube of 0.1, their density is 3000; gravity points to -z.  The shaft
starts with one turn a second, everything else at rest.

Four coordinates and no constraint; the stiffness is the difficulty.  Nothing turns the shaft, so
the angular momentum about z stays.

Problem A05 of the IFToMM library of computational benchmarks (González et al. 2006); reference
figures recomputed in extended precision.
"""

from __future__ import annotations

import math

import biela as bl
from biela.equations.energy import kinetic_energy, potential_energy

#: By time: height of the slider and its rate, speed of the shaft.
REFERENCE = {
    0.1: {"s": 0.523836475570, "ds": 0.4592718104, "dpsi": 6.103717808831},
    0.5: {"s": 0.743249424786, "dpsi": 5.103415421972},
}
ANGULAR_MOMENTUM = 53.868998658419

DENSITY, SECTION, CUBE = 3000.0, 0.01, 0.1


def governor() -> bl.SymbolicSystem:
    """The governor; the coordinates are psi, s, alpha1 and alpha2."""
    system = bl.SymbolicSystem("governor")
    psi, height, alpha1, alpha2 = system.coordinates("psi s alpha1 alpha2")
    l, a, top, m_ball, g = system.parameters(l=1.0, a=0.05, top=1.0, m_ball=5.0, g=9.81)
    stiffness, damping, free = system.parameters(stiffness=8e5, damping=4e4, free=0.5)
    bar = DENSITY * SECTION**2
    m_rod, m_slider = system.parameters(m_rod=bar, m_slider=DENSITY * CUBE**3)
    I_shaft, I_slider = system.parameters(
        I_shaft=bar * SECTION**2 / 6, I_slider=DENSITY * CUBE**3 * CUBE**2 / 6
    )
    # inertia of a rod about its end, without the ball: along it, and across
    I_along, I_across = system.parameters(
        I_along=bar * SECTION**2 / 6, I_across=bar * ((1.0 + SECTION**2) / 12 + 1 / 4)
    )
    system.gravity = system.base.vector(0, 0, -g)

    shaft = system.base.rotated("shaft", "z", psi)
    # the shaft only turns: its mass does not matter, but its weight is part of the energy
    system.solid(
        "shaft",
        at=system.origin,
        base=shaft,
        mass=m_rod,
        com=(0, 0, top / 2),
        inertia=shaft.inertia(I_across, I_across, I_shaft),
    )
    S = system.origin.offset("S", shaft.vector(0, 0, height))
    slider = system.solid(
        "slider",
        at=S,
        base=shaft,
        mass=m_slider,
        inertia=shaft.inertia(I_slider, I_slider, I_slider),
    )

    for n, alpha, side in ((1, alpha1, 1), (2, alpha2, -1)):
        # the rod points outwards, along x or -x of a base that is turned down by alpha
        base = shaft.rotated(f"rod{n}", "y" if side > 0 else "-y", alpha)
        hinge = system.origin.offset(f"hinge{n}", shaft.vector(side * a, 0, top))
        middle = hinge.offset(f"middle{n}", base.vector(side * l / 2, 0, 0))
        end = hinge.offset(f"end{n}", base.vector(side * l, 0, 0))
        foot = S.offset(f"foot{n}", shaft.vector(side * a, 0, 0))
        rod = system.solid(
            f"rod{n}",
            at=hinge,
            base=base,
            mass=m_rod,
            com=(side * l / 2, 0, 0),
            inertia=base.inertia(I_along, I_across, I_across),
        )
        system.solid(f"ball{n}", at=end, base=base, mass=m_ball)
        system.spring(
            f"spring{n}",
            (slider, foot),
            (rod, middle),
            stiffness=stiffness,
            length=free,
            damping=damping,
        )

    q0, v0 = start()
    system.start(dict(zip(system.q + system.v, q0 + v0, strict=True)))

    T, V = kinetic_energy(system), potential_energy(system)
    system.output("kinetic energy", T)
    system.output("potential energy", V)
    system.output("energy", T + V)
    system.output("angular momentum", bl.diff(T, psi.velocity))
    return system


def start() -> tuple[list[float], list[float]]:
    """Coordinates and velocities at the start."""
    return [0.0, 0.5, math.pi / 6, math.pi / 6], [2 * math.pi, 0.0, 0.0, 0.0]


def main() -> None:
    from description import describe  # stands beside this script

    describe(governor(), *start())


if __name__ == "__main__":
    main()
