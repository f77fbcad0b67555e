"""A Stewart platform by groups: its actuators follow the platform, or move it.

Six legs, each a cylinder on a universal joint and a piston with a ball at the platform, hold a
platform.  Which groups it splits into depends on what drives it:

* the platform is led (inverse kinematics): the platform is a group, and each leg a group of its own
  (SPU), six of one kind that are solved side by side;
* the six lengths are driven (direct kinematics): nothing is known before the rest, and all thirteen
  bodies are one group.

Feet and heads lie in pairs on circles, 120 degrees apart.  With feet and heads on two regular
hexagons the legs could not hold the platform in any position.

    biela groups examples/groups/stewart_actuators.py --model led
    biela groups examples/groups/stewart_actuators.py --model by_lengths
    biela kinematics examples/groups/stewart_actuators.py --model led -t 2
    python examples/groups/stewart_actuators.py

Data: own, of the size of a small motion base.  The linear actuator as a group of its own is that of
M. Miralles Delgado's thesis (2018), appendix A.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.model.shapes import Cylinder, Rod

Floats = npt.NDArray[np.float64]

#: Circles of feet and heads, m, and where they lie, degrees.
FEET, HEADS = 1.0, 0.6
FOOT_ANGLES = (12.0, 108.0, 132.0, 228.0, 252.0, 348.0)
HEAD_ANGLES = (50.0, 70.0, 170.0, 190.0, 290.0, 310.0)
HEIGHT, OMEGA = 1.2, float(np.pi)
#: How the platform is led.
PATH = {"x": "0.15*cos(pi*t)", "y": "0.15*sin(pi*t)", "z": "1.2 + 0.075*sin(2*pi*t)"}
TURNS = {"first": "0.17*sin(pi*t)", "second": "0.17*sin(2*pi*t)", "third": "0.17*sin(pi*t)"}


def led() -> bl.Model:
    """The platform circles, heaves and tilts, and the legs follow."""
    m = _platform("Stewart platform, led")
    m.driver("path", "place", marker="platform.centre", **PATH)
    m.driver("orientation", "turn", marker="platform.centre", axes="xyz", **TURNS)
    return m


def by_lengths() -> bl.Model:
    """The legs change their lengths, and the platform follows."""
    m = _platform("Stewart platform, by lengths")
    for k, length in enumerate(start_lengths()):
        swing = f"{length!r} + 0.08*sin(pi*t + {k})*sin(pi*t)"
        m.driver("translational", f"screw{k}", coordinate=f"slide{k}.displacement", law=swing)
    return m


def circle(radius: float, degrees: tuple[float, ...]) -> Floats:
    """Points on a circle."""
    angles = np.radians(degrees)
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


def start_lengths() -> list[float]:
    """Of the legs where the platform of `by_lengths` starts: level, above the middle."""
    gaps = circle(HEADS, HEAD_ANGLES) + np.array([0, 0, HEIGHT]) - circle(FEET, FOOT_ANGLES)
    found: list[float] = np.linalg.norm(gaps, axis=1).tolist()
    return found


def _platform(name: str) -> bl.Model:
    m = bl.Model(name, gravity=(0, 0, -9.81))
    disc = Cylinder(radius=HEADS + 0.05, length=0.04, position=(0, 0, 0.03), mass=200.0)
    platform = m.body("platform", shapes=[disc], position=(0, 0, HEIGHT))
    platform.marker("centre")
    feet, heads = circle(FEET, FOOT_ANGLES), circle(HEADS, HEAD_ANGLES)
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True)):
        way = head + np.array([0, 0, HEIGHT]) - foot
        length = float(np.linalg.norm(way))
        # the cross turns about x, then about y, and brings z into the leg
        first = float(np.arctan2(-way[1], way[2]))
        second = float(np.arcsin(way[0] / length))
        tube = Rod(start=(0, 0, 0), end=(0, 0, 0.8), radius=0.045, mass=12.0)
        shank = Rod(start=(0, 0, -0.8), end=(0, 0, 0), radius=0.03, mass=6.0)
        cylinder, piston = (
            m.body(f"cylinder{k}", shapes=[tube]),
            m.body(f"piston{k}", shapes=[shank]),
        )
        m.joint(
            "universal", f"cross{k}", m.ground.at(*foot), cylinder,
            start={"first": first, "second": second},
        )  # fmt: skip
        m.joint("prismatic", f"slide{k}", cylinder, piston, start=length)
        m.joint("spherical", f"ball{k}", piston, platform.at(*head))
        m.sensor("joint", f"length{k}", coordinate=f"slide{k}.displacement")
    return m


def main() -> None:
    """Print the groups of both ways, and draw the lengths of the legs."""
    for m in (led(), by_lengths()):
        print(bl.structural_groups(m).report(), end="\n\n")
    run = bl.group_kinematics(led(), 2.0, step=0.01)
    run.plot("length?", save="stewart_actuators.png")
    solver = bl.GroupSolver(by_lengths(), points=["platform.centre"])
    heave = solver.run(np.linspace(0, 2, 201)).point("platform.centre").position[:, 2]
    print(f"by lengths the platform heaves by {np.ptp(heave):.3f} m; drew stewart_actuators.png")


if __name__ == "__main__":
    main()
