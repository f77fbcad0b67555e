"""The rear axles of a truck by groups: five groups an axle, whatever the number of axles.

An axle beam (2) hangs on the frame of the truck (1, the ground here) by a triangle above (3) and
two trailing arms below (4, 5), which leave it two freedoms: the heights of its two wheels, which
a rig gives.  Levers of a stabiliser (6, 7) on the beam are tied to the frame by links (8, 9),
and two dampers (10-11, 12-13) stand between beam and frame.  With the rig they split into

    SG-I       beam, triangle, arms     U 2-4, 2-5; S 1-4, 1-5, 2-3; R 1-3; two drivers
    SG-II, III lever and link           R 2-6; U 6-8; S 1-8
    SG-IV, V   the halves of a damper   U 2-10; P 10-11; S 1-11

which all axles share: three kinds, and three kernels.

    biela groups examples/groups/truck_suspension.py
    biela kinematics examples/groups/truck_suspension.py -t 2
    python examples/groups/truck_suspension.py 5

The topology is that of Segado et al. (2016) as M. Miralles Delgado's thesis (2018) tells it, which
has no dimensions: these are our own, of the size of a lorry.  x points forwards, y to the left, z
up; places are those of the left side at rest, in metres from below the middle of the beam.
"""

from __future__ import annotations

import sys

import numpy as np

import biela as bl
from biela.model.shapes import Rod

Place = tuple[float, float, float]

#: Triangle: its hinge on the frame, along y, and its ball on the beam.
HINGE, TOP = (0.80, 0.0, 0.86), (0.05, 0.0, 0.78)
#: Arms: cross on the beam, ball on the frame.
ARM, ARM_END = (0.02, 0.42, 0.38), (0.95, 0.48, 0.47)
#: Levers of the stabiliser: hinge on the beam, along y, cross with the link, ball on the frame.
LEVER, LINK, LINK_END = (-0.12, 0.50, 0.50), (-0.48, 0.53, 0.53), (-0.46, 0.50, 0.92)
#: Dampers: cross on the beam, ball on the frame.
FOOT, HEAD = (-0.10, 0.62, 0.44), (-0.18, 0.52, 1.02)
WHEEL = (0.0, 0.93, 0.52)
#: From one axle to the next, m.
BASE = 1.35


def truck_suspension(axles: int = 1) -> bl.Model:
    """So many axles, "axle[0].beam", "axle[0].triangle" …, on a rig that moves all axles alike."""
    m = bl.Model("truck suspension", gravity=(0, 0, -9.81))
    m.part("axle", axle(), axles, shift=(-BASE, 0, 0))
    return m


def axle() -> bl.Model:
    """One axle, led by the heights of its wheels."""
    m = bl.Model("axle", gravity=(0, 0, -9.81))
    m.parameter("bump", "60 mm")
    ends = [_mirrored(WHEEL, side) for side in (1, -1)]
    beam = _bar(m, "beam", ends[0], ends[1], 400.0)
    _bar(m, "triangle", HINGE, TOP, 30.0)
    m.joint("revolute", "hinge", m.ground, "triangle", at=HINGE, axis="y")
    m.joint("spherical", "top", "triangle", beam, at=TOP)
    for name, side in (("left", 1.0), ("right", -1.0)):
        arm, arm_end = _mirrored(ARM, side), _mirrored(ARM_END, side)
        _bar(m, f"{name}_arm", arm, arm_end, 25.0)
        m.joint("universal", f"{name}_cross", beam, f"{name}_arm", at=arm, axis=_way(arm, arm_end))
        m.joint("spherical", f"{name}_ball", f"{name}_arm", m.ground, at=arm_end)
        # the rig heaves the left wheel, and the right one half as far
        beam.marker(f"{name}_wheel", _mirrored(WHEEL, side))
        height = f"{WHEEL[2]} + bump*({0.75 + side / 4})*sin(2*pi*t)"
        marker = f"beam.{name}_wheel"
        m.driver("position", f"{name}_rig", marker=marker, axis="z", law=height)
    for name, side in (("left", 1.0), ("right", -1.0)):
        _stabiliser(m, name, side)
    for name, side in (("left", 1.0), ("right", -1.0)):
        _damper(m, name, side)
    return m


def _stabiliser(m: bl.Model, name: str, side: float) -> None:
    lever, link, end = (_mirrored(place, side) for place in (LEVER, LINK, LINK_END))
    _bar(m, f"{name}_lever", lever, link, 8.0)
    _bar(m, f"{name}_link", link, end, 3.0)
    m.joint("revolute", f"{name}_bush", "beam", f"{name}_lever", at=lever, axis="y")
    m.joint(
        "universal", f"{name}_eye", f"{name}_lever", f"{name}_link", at=link, axis=_way(link, end)
    )
    m.joint("spherical", f"{name}_hanger", f"{name}_link", m.ground, at=end)


def _damper(m: bl.Model, name: str, side: float) -> None:
    foot, head = _mirrored(FOOT, side), _mirrored(HEAD, side)
    along = _way(foot, head)
    low, high = (tuple(np.add(foot, np.multiply(along, k)).tolist()) for k in (0.6, 0.35))
    _bar(m, f"{name}_tube", foot, low, 6.0)
    _bar(m, f"{name}_rod", high, head, 4.0)
    m.joint("universal", f"{name}_foot", "beam", f"{name}_tube", at=foot, axis=along)
    m.joint("prismatic", f"{name}_slide", f"{name}_tube", f"{name}_rod", at=foot, axis=along)
    m.joint("spherical", f"{name}_head", f"{name}_rod", m.ground, at=head)
    m.sensor("joint", f"{name}_travel", coordinate=f"{name}_slide.displacement")


def _bar(m: bl.Model, name: str, start: Place, end: Place, mass: float) -> bl.Body:
    """A body whose frame is that of the ground at rest."""
    rod = Rod(start=start, end=end, radius=0.03, mass=mass)
    return m.body(name, shapes=[rod], position=(0, 0, 0))


def _mirrored(place: Place, side: float) -> Place:
    return (place[0], side * place[1], place[2])


def _way(start: Place, end: Place) -> Place:
    x, y, z = np.subtract(end, start).tolist()
    return (x, y, z)


def main() -> None:
    """Print the groups and the time of a second; draw the travel of the dampers."""
    axles = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    m = truck_suspension(axles)
    print(bl.structural_groups(m).report())
    solver = bl.GroupSolver(m, bodies=False)
    run = solver.run(np.linspace(0, 1, 1001))
    print(f"a second at 1 kHz: {run.cpu_run * 1e3:.3g} ms")
    one = bl.group_kinematics(axle(), 1.0, step=0.01)
    one.plot("*_travel", save="truck_suspension.png")
    print("drew truck_suspension.png")


if __name__ == "__main__":
    main()
