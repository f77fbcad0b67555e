"""The mechanisms measured: each in plain numbers, and the symbolic system of the same."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

import biela as bl
from benchmarks.closed_loops.mechanism import ORIGIN, Body, Closure, Joint, Mechanism, Triple
from examples.symbolic import four_bar as four_bar_example
from examples.symbolic import stewart as stewart_example

GRAVITY = 9.81

#: Slider-crank of Haug's first example: crank 2 m, rod 3.5 m; masses and inertias are ours.
CRANK, ROD = 2.0, 3.5
CRANK_MASS, ROD_MASS, SLIDER_MASS = 20.0, 35.0, 25.0

#: Springs in the actuators of the platform (N/m, m), which hold it without dissipation.
STIFFNESS, REST = 4000.0, 0.98


@dataclass(frozen=True)
class Entry:
    """A mechanism twice: for the peers and for biela, with the same coordinates."""

    mechanism: Mechanism
    system: Callable[[], bl.SymbolicSystem]


def bar_inertia(about_joint: float, mass: float, com: Triple) -> Any:
    """The central inertia of a bar that turns about y only.

    Its other two moments do no work; they are set equal to the first, which any body may have.
    """
    central = about_joint - mass * (com[0] ** 2 + com[2] ** 2)
    return (central, central, central, 0.0, 0.0, 0.0)


def four_bar() -> Mechanism:
    """Bars of 2, 8 and 5 m on a base of 10 m, with the parameters of the example."""
    p = {entry.name: entry.value for entry in four_bar_example.four_bar().equations().system.p}
    hinge = (Joint("hinge", "y"),)
    bodies = []
    for n in (1, 2, 3):
        com = (p[f"cg{n}x"], 0.0, p[f"cg{n}z"])
        offset = ORIGIN if n == 1 else (p[f"l{n - 1}"], 0.0, 0.0)
        inertia = bar_inertia(p[f"I{n}yy"], p[f"m{n}"], com)
        parent = "" if n == 1 else f"bar{n - 1}"
        bodies.append(Body(f"bar{n}", parent, offset, hinge, p[f"m{n}"], com, inertia))
    closure = Closure("closure", ("", (p["l4"], 0.0, 0.0)), ("bar3", (p["l3"], 0.0, 0.0)), "xz")
    marked = ("bar2", (p["l2"], 0.0, 0.0))
    made = Mechanism("four_bar", tuple(bodies), (closure,), (0.0, 0.0, -p["g"]), marked)
    # the crank turns round and round: 2 + 10 < 8 + 5 (Grashof)
    return made.started([-pi / 3, 0.7, 1.3], [4.0, 0.0, 0.0], given=[0])


def slider_crank() -> Mechanism:
    """A crank, a rod and a slider along x."""
    hinge = (Joint("hinge", "y"),)
    bodies = []
    for name, parent, offset, length, mass in (
        ("crank", "", 0.0, CRANK, CRANK_MASS),
        ("rod", "crank", CRANK, ROD, ROD_MASS),
    ):
        com = (length / 2, 0.0, 0.0)
        inertia = bar_inertia(mass * length**2 / 3, mass, com)
        bodies.append(Body(name, parent, (offset, 0.0, 0.0), hinge, mass, com, inertia))
    slide = (Joint("slide", "x"),)
    cube = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    bodies.append(Body("slider", "", ORIGIN, slide, SLIDER_MASS, ORIGIN, cube))
    closure = Closure("pin", ("slider", ORIGIN), ("rod", (ROD, 0.0, 0.0)), "xz")
    marked = ("slider", ORIGIN)
    made = Mechanism("slider_crank", tuple(bodies), (closure,), (0.0, 0.0, -GRAVITY), marked)
    return made.started([-pi / 4, 1.2, 4.6], [2 * pi, 0.0, 0.0], given=[0])


def slider_crank_system() -> bl.SymbolicSystem:
    """The slider-crank with coordinates theta1, theta2 and s."""
    s = bl.SymbolicSystem("slider_crank")
    theta1, theta2, slide = s.coordinates("theta1 theta2 s")
    l1, l2, g = s.parameters(l1=CRANK, l2=ROD, g=GRAVITY)
    m1, m2, m3 = s.parameters(m1=CRANK_MASS, m2=ROD_MASS, m3=SLIDER_MASS)
    I1, I2 = s.parameters(I1=CRANK_MASS * CRANK**2 / 3, I2=ROD_MASS * ROD**2 / 3)
    crank = s.base.rotated("crank", "y", theta1)
    rod = crank.rotated("rod", "y", theta2)
    A = s.origin.offset("A", crank.vector(l1, 0, 0))
    B = A.offset("B", rod.vector(l2, 0, 0))
    C = s.origin.offset("C", s.base.vector(slide, 0, 0))
    s.solid("crank", s.origin, crank, m1, com=(l1 / 2, 0, 0), inertia=crank.inertia(yy=I1))
    s.solid("rod", A, rod, m2, com=(l2 / 2, 0, 0), inertia=rod.inertia(yy=I2))
    s.solid("slider", C, s.base, m3)
    s.gravity = s.base.vector(0, 0, -g)
    s.close(C, B, axes="xz", name="pin")
    return s


def stewart() -> Mechanism:
    """The platform of the example, on springs in place of the forces of its actuators."""
    data = tomllib.loads(stewart_example.DATA.read_text(encoding="utf-8"))
    slides = tuple(Joint("slide", axis) for axis in "xyz")
    turns = tuple(Joint("hinge", axis) for axis in "zyx")
    tilt = (Joint("hinge", "x"), Joint("hinge", "y"))
    push = (Joint("slide", "z", STIFFNESS, REST),)

    def body(name: str, parent: str, offset: Any, joints: tuple[Joint, ...], part: str) -> Body:
        of = data[part]
        com, inertia = tuple(of["com"]), tuple(of["inertia"])
        return Body(name, parent, tuple(offset), joints, of["mass"], com, inertia)

    bodies = [body("platform", "", ORIGIN, slides + turns, "platform")]
    closures = []
    points, ground = np.array(data["joints"]["points"]), np.array(data["ground"]["points"])
    pose = [0.02, -0.01, 0.85, 0.1, 0.04, -0.03]
    q = [*pose]
    for n in range(1, 7):
        foot, top = ground[(n - 1) // 2], points[(n // 2 + 2) % 3]
        bodies.append(body(f"lower{n}", "", foot, tilt, "lower"))
        bodies.append(body(f"upper{n}", f"lower{n}", ORIGIN, push, "upper"))
        closures.append(Closure(f"leg{n}", (f"upper{n}", ORIGIN), ("platform", tuple(top))))
        x, y, z = top + pose[:3] - foot  # near enough for Newton's method
        q += [
            float(np.arctan2(-y, z)),
            float(np.arctan2(x, np.hypot(y, z))),
            float(np.hypot(z, np.hypot(x, y))),
        ]
    gravity = (0.0, 0.0, -data["gravity"])
    made = Mechanism("stewart", tuple(bodies), tuple(closures), gravity, ("platform", ORIGIN))
    v = [0.15, -0.1, 0.2, 0.4, -0.3, 0.25] + [0.0] * 18
    return made.started(q, v, given=range(6))


def stewart_system() -> bl.SymbolicSystem:
    """The example with springs along its actuators."""
    s = stewart_example.stewart()
    k, rest = s.parameters(k=STIFFNESS, rest=REST)
    for n in range(1, 7):
        lower, upper = s.solids[2 * n - 1], s.solids[2 * n]
        length = s.q[6 + 3 * n - 1]
        push = upper.base.vector(0, 0, k * (rest - length))
        s.wrench(upper, force=push, reaction_on=lower, name=f"spring{n}")
    return s


def entries() -> dict[str, Entry]:
    """The mechanisms by name, with their starts found."""
    return {
        "four_bar": Entry(four_bar(), four_bar_example.four_bar),
        "slider_crank": Entry(slider_crank(), slider_crank_system),
        "stewart": Entry(stewart(), stewart_system),
    }
