"""A chain of four-bars of any length: a driven crank, and dyads that rest on each other.

    A ── B ═══ C ═══ C ═══ C ──…     crank AB 2 m; couplers and rockers 6 m
    │         /     /     /          rockers CD on the ground at D (6, 0), (12, 0), (18, 0), …
    ground   D     D     D

Each dyad, a coupler and a rocker, takes its joint B from the C of the one before: all dyads are of
one kind (RRR), solved by one kernel one after the other.  All but the first are parallelograms, so
that with C of the first dyad

    x(C_k) = x(C_1) + 6 (k - 1),   y(C_k) = y(C_1).

The dyads are an array of parts: a hundred thousand of them are a few numbers, and one kernel.

    biela groups examples/groups/four_bar_chain.py
    python examples/groups/four_bar_chain.py 1000

M. Miralles Delgado's thesis (2018), after Segado et al.: the crank turns by 20 degrees a second
from straight up, with 24,001 instants 5 ms apart.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

import biela as bl

Floats = npt.NDArray[np.float64]

CRANK, BAR = 2.0, 6.0
#: rad/s, s, and how many instants.
SPEED, STEP, INSTANTS = 0.3490658503988659, 0.005, 24001


def first_joint(angle: Floats | float) -> Floats:
    """C of the first dyad where the crank has this angle: where two circles meet, above."""
    B = CRANK * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    way = np.array([BAR, 0.0]) - B
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    across = np.stack([-way[..., 1], way[..., 0]], axis=-1) / length
    C: Floats = B + way / 2 + across * np.sqrt(BAR**2 - length**2 / 4)
    return C


def four_bar_chain(dyads: int = 2, speed: float = SPEED) -> bl.Model:
    """A chain of so many dyads, "cell[0].coupler", "cell[0].rocker", "cell[1].coupler" …"""
    C = first_joint(np.pi / 2)
    rocker_angle = float(np.arctan2(C[1], C[0] - BAR))
    coupler_angles = np.zeros(dyads)
    coupler_angles[0] = np.arctan2(C[1] - CRANK, C[0])
    cell = bl.Model("dyad", plane="xy")
    cell.parameter("turn", 0.0)  # from the rocker to the coupler at the start
    middle, inertia = (BAR / 2, 0, 0), BAR**2 / 12
    coupler = cell.body("coupler", mass=1.0, com=middle, inertia=inertia)
    rocker = cell.body("rocker", mass=1.0, com=middle, inertia=inertia)
    coupler.marker("B")
    coupler.marker("C", (BAR, 0, 0))
    rocker.marker("D")
    rocker.marker("C", (BAR, 0, 0))
    cell.joint("revolute", "D", cell.ground.at(BAR, 0, 0), "rocker.D", start=rocker_angle)
    cell.joint("revolute", "C", "rocker.C", "coupler.C", start="turn")
    m = bl.Model("four-bar chain", plane="xy")
    m.parameter("speed", speed)
    crank = m.body("crank", mass=1.0, com=(CRANK / 2, 0, 0), inertia=CRANK**2 / 12)
    crank.marker("B", (CRANK, 0, 0))
    m.joint("revolute", "A", m.ground, crank, start="90 deg")
    m.driver("rotary", "motor", coordinate="A.angle", law="pi/2 + speed*t")
    pin = ("revolute", "rocker.C", "coupler.B")
    m.part(
        "cell",
        cell,
        dyads,
        shift=(BAR, 0, 0),
        between=[pin] if dyads > 1 else [],
        parameters={"turn": coupler_angles - rocker_angle},
    )
    m.joint("revolute", "B", "crank.B", "cell[0].coupler.B")
    return m


def named_chain(dyads: int = 2, speed: float = SPEED) -> bl.Model:
    """The same written out: every body and joint stands in the model by its name."""
    return four_bar_chain(dyads, speed).flattened()


def instants(count: int = INSTANTS) -> Floats:
    """Times since the crank stood up: added up step by step, as the source does."""
    found: Floats = np.cumsum(np.full(count, STEP)) - STEP
    return found


def main() -> None:
    """Print the groups, and the time of a turn of a chain; draw the ways of its joints."""
    dyads = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    m = four_bar_chain(dyads)
    print(bl.structural_groups(four_bar_chain(5)).report())
    for way in ("natural", "relative"):
        solver = bl.GroupSolver(m, coordinates=way, points=["cell[0].rocker.C"], bodies=False)
        run = solver.run(instants(2401), store="points")
        each = run.cpu_run / 2401 / dyads * 1e9
        print(f"{dyads} dyads, {way}: {run.cpu_run:.3g} s for 2,401 instants, {each:.3g} ns each")
    small = bl.group_kinematics(named_chain(3), 18.0, step=0.05)
    # the circle of the crank, and arcs that are alike, 6 m apart
    pins = [f"cell[{k}].rocker.C" for k in range(3)]
    small.plot_path("crank.B", *pins, save="four_bar_chain.png")
    print("drew four_bar_chain.png")


if __name__ == "__main__":
    main()
