"""A Stewart platform: 24 coordinates, 13 solids, 18 closure equations, 6 degrees of freedom.

Six actuators stand in pairs on three points of the ground, and cross over to three points of the
platform: at every point there, one actuator arrives from each of two ground points.

The platform has a frame at P with three displacements x, y, z and three angles, yaw, pitch and roll
(turns about z, y and x, in that order).  Actuator i is two solids in one base, which is turned from
the ground by alpha_i about x and then by beta_i about y: a lower part with its frame at the ground
joint A_i, and an upper part with its frame at C_i, a length l_i along z of that base.  The actuator
pushes the two parts apart with a force F_i.  Each C_i is held at its joint of the platform by three
equations.

Plaza (2015), appendix A.4, which gives neither geometry nor masses; ours are in
``data/stewart.toml``.  Every solid has all ten inertia parameters, and each actuator has its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import biela as bl
from biela.space import Base, Point, Solid, Vector

DATA = Path(__file__).parent / "data" / "stewart.toml"


def stewart() -> bl.SymbolicSystem:
    """The platform on its six actuators."""
    data = tomllib.loads(DATA.read_text(encoding="utf-8"))
    s = bl.SymbolicSystem("stewart")
    x, y, z, yaw, pitch, roll = s.coordinates("x y z yaw pitch roll")
    (g,) = s.parameters(g=data["gravity"])
    s.gravity = s.base.vector(0, 0, -g)

    P = s.origin.offset("P", s.base.vector(x, y, z))
    platform = s.base.euler("platform", "zyx", (yaw, pitch, roll))
    add_solid(s, "platform", P, platform, data["platform"])

    ground = [
        s.origin.offset(f"A{k}", place(s, f"A{k}", s.base, position))
        for k, position in enumerate(data["ground"]["points"], 1)
    ]
    joints = [
        P.offset(f"P{k}", place(s, f"P{k}", platform, position))
        for k, position in enumerate(data["joints"]["points"], 1)
    ]

    for i in range(6):
        n = i + 1
        alpha, beta, length = s.coordinates(f"alpha{n} beta{n} l{n}")
        (force,) = s.inputs(f"F{n}")
        leg = s.base.euler(f"leg{n}", "xy", (alpha, beta))
        A = ground[i // 2]
        C = A.offset(f"C{n}", leg.vector(0, 0, length))
        lower = add_solid(s, f"lower{n}", A, leg, data["lower"])
        upper = add_solid(s, f"upper{n}", C, leg, data["upper"])
        s.wrench(upper, force=leg.vector(0, 0, force), reaction_on=lower, name=f"actuator{n}")
        # actuators 1, 6 meet, and 2, 3, and 4, 5
        s.close(C, joints[(n // 2 + 2) % 3], name=f"leg{n}")
    return s


def add_solid(
    s: bl.SymbolicSystem, name: str, at: Point, base: Base, data: Mapping[str, Any]
) -> Solid:
    """A solid with ten symbols: mass, centre of mass, and inertia about the point of its frame."""
    m, c, central = data["mass"], np.array(data["com"]), data["inertia"]
    xx, yy, zz = central[:3] + m * (c @ c - c**2)
    xy, xz, yz = central[3:] - m * np.array([c[0] * c[1], c[0] * c[2], c[1] * c[2]])
    values = {"m": m, "cx": c[0], "cy": c[1], "cz": c[2]}
    values |= {"Ixx": xx, "Iyy": yy, "Izz": zz, "Ixy": xy, "Ixz": xz, "Iyz": yz}
    mass, cx, cy, cz, *inertia = s.parameters(**{f"{k}_{name}": v for k, v in values.items()})
    return s.solid(name, at, base, mass, com=(cx, cy, cz), inertia=base.inertia(*inertia))


def place(s: bl.SymbolicSystem, name: str, base: Base, position: list[float]) -> Vector:
    """A vector with three symbols as components."""
    names = (f"x_{name}", f"y_{name}", f"z_{name}")
    return base.vector(*s.parameters(**dict(zip(names, position, strict=True))))


if __name__ == "__main__":
    equations = stewart().equations()
    print(equations.system)
    print("derived:", equations.route)
    for name, count in equations.count().items():
        print(f"{name:12} {count}")
