"""A four-bar by structural groups: a driven crank, then a dyad of two bars.

    A (0, 0)  crank 2 m  B  coupler 8 m  C  rocker 5 m  D (10, 0)

The crank is a group of its own (1R), since its motor gives its motion.  Then B is known as D is,
and coupler and rocker follow: a dyad of three revolute joints (RRR), two equations for the place of
C in natural coordinates,

    |C - B|² = 8²,   |C - D|² = 5²,

whatever else the mechanism may have before or after it.

    biela groups examples/groups/four_bar.py
    biela kinematics examples/groups/four_bar.py -t 1
    python examples/groups/four_bar.py

M. Miralles Delgado's thesis (Universidad Politécnica de Cartagena, 2018): its crank turns from 60
to 90 degrees and has 1 rad/s and 1 rad/s² at every one of its positions.  Its text has lost the
lengths; these give all its printed digits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.model.shapes import Rod

Floats = npt.NDArray[np.float64]

CRANK, COUPLER, ROCKER, GROUND = 2.0, 8.0, 5.0, 10.0
#: The formulations that the source compares.
COMPARED = (
    "global dense",
    "global sparse",
    "relative loops",
    "natural groups",
    "natural groups, tensor",
    "relative groups",
)


def four_bar() -> bl.Model:
    """The four-bar with its crank at 60 degrees."""
    m = bl.Model("four-bar", plane="xy")
    for name, first, last, length in (
        ("crank", "A", "B", CRANK),
        ("coupler", "B", "C", COUPLER),
        ("rocker", "D", "C", ROCKER),
    ):
        bar = m.body(name, shapes=[Rod(start=(0, 0, 0), end=(length, 0, 0), radius=0.1, mass=1.0)])
        bar.marker(first)
        bar.marker(last, (length, 0, 0))
    m.ground.marker("A")
    m.ground.marker("D", (GROUND, 0, 0))
    m.joint("revolute", "A", "ground.A", "crank.A", start="60 deg")
    m.joint("revolute", "B", "crank.B", "coupler.B", start="-38 deg")
    m.joint("revolute", "D", "ground.D", "rocker.D", start="108 deg")
    m.joint("revolute", "C", "coupler.C", "rocker.C")
    m.driver("rotary", "motor", coordinate="A.angle", law="60 deg + t + t^2/2")
    m.sensor("point", "path", marker="rocker.C")
    return m


def displacements(solver: bl.GroupSolver, degrees: Floats) -> Floats:
    """Rows (x, y, ẋ, ẏ, ẍ, ÿ) of C where the crank is at these angles, at 1 rad/s and 1 rad/s².

    ``solver`` has the point "rocker.C".
    """
    ones = np.ones(len(degrees))
    driven = np.stack([np.radians(degrees), ones, ones], axis=1)
    run = solver.run(np.arange(len(degrees), dtype=float), given=(("motor",), driven))
    C = run.point("rocker.C")
    return np.concatenate([C.position[:, :2], C.velocity[:, :2], C.acceleration[:, :2]], axis=1)


def main() -> None:
    """Print the groups and the table of the source, and draw the ways of B and C."""
    m = four_bar()
    print(m.name, "of", bl.structural_groups(m).report().partition(": ")[2])
    solver = bl.GroupSolver(m, points=["rocker.C"])
    degrees = np.arange(60.0, 91.0, 5.0)
    print("  angle        x          y         vx         vy         ax         ay")
    for angle, row in zip(degrees, displacements(solver, degrees), strict=True):
        print(f"{angle:7.0f} " + " ".join(f"{value:10.6f}" for value in row))
    run = bl.group_kinematics(m, 2.0, step=0.01)
    run.plot_path("crank.B", "rocker.C", save="four_bar.png")
    print("drew four_bar.png")


if __name__ == "__main__":
    main()
