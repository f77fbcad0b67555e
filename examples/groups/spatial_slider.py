"""A spatial slider-crank with variable stroke, and a fan of them on one crank.

The axis of the crank lies in the plane of the ground, β away from the rail of the slider:

    crank axis (cos β, -sin β, 0), crank 2 m from the origin along z at φ = 0, rod 6 m,
    pin = (-2 sin β sin φ, -2 cos β sin φ, 2 cos φ),   x = pin_x + sqrt(6² - pin_y² - pin_z²)

β is a parameter of the model: the stroke is 4 sin β, from nothing at 0 to that of a plane
slider-crank at 90 degrees.  After the crank (1R) rod and slider are a dyad of two spherical joints
and a prismatic one (2S1P).  The rod may spin about the line between its balls, which moves nothing:
the spin is found and held.

`fan` has many rods on one pin, whose sliders move on rails all around: dyads of one kind that do
not rest on each other, and are solved side by side.

    biela groups examples/groups/spatial_slider.py
    biela groups examples/groups/spatial_slider.py --model fan --picture fan.png
    python examples/groups/spatial_slider.py

M. Miralles Delgado's thesis (2018): β is 30 degrees, and the crank turns at 24 rad/s; its fan at
34.9e-5, 34.9e-2 and 34.9 rad/s, with 5 ms between instants.
"""

from __future__ import annotations

import numpy as np

import biela as bl
from biela.model.shapes import Box, Rod

CRANK, ROD = 2.0, 6.0
#: rad/s of the crank alone, and of the fan.
SPEED = 24.0
FAN_SPEEDS = {"a": 0.3490658503988659e-3, "b": 0.3490658503988659, "c": 34.90658503988659}


def spatial_slider(speed: float = SPEED) -> bl.Model:
    """One rod and slider: "rod", "slider"."""
    m = _crank("spatial slider", speed)
    _dyad(m, "", 0.0)
    m.sensor("point", "pin", marker="crank.B")
    m.sensor("joint", "stroke", coordinate="P.displacement")
    return m


def fan(dyads: int = 3, speed: float = FAN_SPEEDS["b"]) -> bl.Model:
    """Rods and sliders "rod0", "slider0", "rod1", … on rails all around the crank."""
    m = _crank(f"fan of {dyads} sliders", speed)
    for k in range(dyads):
        _dyad(m, str(k), 2 * np.pi * k / dyads)
    return m


def _crank(name: str, speed: float) -> bl.Model:
    m = bl.Model(name)
    m.parameter("beta", "30 deg")
    m.parameter("speed", speed)
    arm = Rod(start=(0, 0, 0), end=(0, 0, CRANK), radius=0.1, mass=1.0)
    crank = m.body("crank", shapes=[arm])
    crank.marker("B", (0, 0, CRANK))
    shaft = m.ground.at(angles=("zy", ("-beta", "90 deg")))
    m.joint("revolute", "A", shaft, crank.at(angles=("y", ("90 deg",))))
    m.driver("rotary", "motor", coordinate="A.angle", law="speed*t")
    return m


def _dyad(m: bl.Model, number: str, direction: float) -> None:
    """A rod on the pin of the crank, and its slider on a rail in the plane of the ground.

    At the start the pin is straight above the origin.
    """
    rod, slider = f"rod{number}", f"slider{number}"
    along = Rod(start=(0, 0, 0), end=(ROD, 0, 0), radius=0.08, mass=1.0)
    place = float(np.sqrt(ROD**2 - CRANK**2))
    down = float(np.arcsin(CRANK / ROD))
    m.body(rod, shapes=[along], position=(0, 0, CRANK), orientation=("zy", (direction, down)))
    m.body(slider, shapes=[Box(size=(0.6, 0.4, 0.4), mass=1.0)]).marker("C")
    rail = (float(np.cos(direction)), float(np.sin(direction)), 0.0)
    m.joint("spherical", f"B{number}", "crank.B", rod)
    m.joint("spherical", f"C{number}", (rod, (ROD, 0, 0)), f"{slider}.C")
    guide, x = m.ground.at(axis=rail), m.bodies[slider].at(axis="x")
    m.joint("prismatic", f"P{number}", guide, x, start=place)


def main() -> None:
    """Print groups and strokes, and draw position, velocity and acceleration over a turn."""
    for m in (spatial_slider(), fan()):
        print(bl.structural_groups(m).report(), end="\n\n")
    m, turn = spatial_slider(), 2 * np.pi / SPEED
    for degrees in (10, 30, 60):
        angle = {"beta": np.radians(degrees)}
        run = bl.group_kinematics(m, turn, step=turn / 360, parameters=angle)
        print(f"β = {degrees} degrees: stroke {np.ptp(run['stroke']):.4f} m")
    run = bl.group_kinematics(m, turn, step=turn / 360)
    run.plot("P.displacement*", save="spatial_slider.png")
    print("drew spatial_slider.png")


if __name__ == "__main__":
    main()
