"""Files with models, as a user would write them."""

from __future__ import annotations

from pathlib import Path

THESIS = Path(__file__).parents[1] / "data" / "seed2" / "slider_crank"

PENDULUM = """\
import biela as bl

def {name}():
    s = bl.SymbolicSystem("pendulum")
    (theta,) = s.coordinates("theta")
    m, l, g = s.parameters(m=1.0, l=0.5, g=9.81)
    arm = s.base.rotated("arm", "-y", theta)
    bob = s.origin.offset("bob", arm.vector(0, 0, -l))
    s.solid("bob", at=bob, base=arm, mass=m)
    s.gravity = (0, 0, -g)
    s.start(theta=0.3)
    return s
"""

#: Two bars from one pivot to a point that both hold: the second pin is redundant along y.
LOOP = """\
import biela as bl

s = bl.SymbolicSystem("loop")
a, b = s.coordinates("a b")
l, m = s.parameters(l=0.5, m=2.0)
(push,) = s.inputs("push")
first, second = (s.base.rotated(n, "-y", q) for n, q in (("first", a), ("second", b)))
ends = [s.origin.offset(f"end_{base.name}", base.vector(0, 0, -l)) for base in (first, second)]
bars = [
    s.solid(f"bar_{base.name}", at=end, base=base, mass=m)
    for base, end in zip((first, second), ends)
]
s.wrench(bars[0], force=s.base.vector(push, 0, 0))
s.gravity = (0, 0, -9.81)
s.constrain(a - b, name="glued")
s.constrain(2 * a - 2 * b, name="again")
s.output("x", s.position(s.origin, ends[0]).x)
s.start(a=0.2, b=0.2)
"""

BODIES = """\
import biela as bl
m = bl.Model("swing")
rod = m.body("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
m.joint("revolute", "pivot", m.ground, rod, axis="y", start="20 deg")
"""

#: Example 1 of the thesis: x of the slider is r cos θ + √(l² - r² sin² θ), θ = π/4 + 2π t.
SLIDER_CRANK = """\
name = "slider-crank"
plane = "xy"
gravity = [0, 0, 0]

[parameters]
r = "2 m"
l = 3.5

[bodies.crank]
mass = 1.0
inertia = 0.1
[bodies.rod]
mass = 1.0
inertia = 0.1
position = [1.4, 1.4, 0]
orientation = {z = ["-24 deg"]}
[bodies.slider]
mass = 1.0
inertia = 0.1
position = [4.6, 0, 0]

[joints.A]
kind = "revolute"
i = "ground"
j = "crank"
start = "45 deg"
[joints.B]
kind = "revolute"
i = {body = "crank", position = ["r", 0, 0]}
j = "rod"
[joints.C]
kind = "revolute"
i = {body = "rod", position = ["l", 0, 0]}
j = "slider"
[joints.slide]
kind = "prismatic"
i = {body = "ground", axis = "x"}
j = {body = "slider", axis = "x"}

[drivers.motor]
kind = "rotary"
coordinate = "A"
law = "pi/4 + 2*pi*t"

[run]
duration = "0.5 s"
step = "20 ms"
"""

#: An arm that a motor turns at a constant speed ω = π: torque m g l cos θ, θ = π t.
ARM = """\
name = "arm"
plane = "xz"

[bodies.arm]
mass = 2.0
com = [0.5, 0, 0]

[joints.pivot]
kind = "revolute"
i = "ground"
j = "arm"
axis = "-y"

[drivers.motor]
kind = "rotary"
coordinate = "pivot.angle"
law = "pi*t"

[run]
duration = 1
step = 0.05
"""

#: Four bars of 1 m; the crank swings between its two dead points.
PARALLELOGRAM = """\
name = "parallelogram"
plane = "xz"
[bodies.left]
markers = { end = { position = [1, 0, 0], axis = "-y" } }
[bodies.coupler]
markers = { end = { position = [1, 0, 0], axis = "-y" } }
[bodies.right]
markers = { end = { position = [1, 0, 0], axis = "-y" } }
[bodies.ground]
markers = { D = { position = [1, 0, 0], axis = "-y" } }
[joints]
A = { kind = "revolute", i = "ground", j = "left", axis = "-y", start = "90 deg" }
B = { kind = "revolute", i = "left.end", j = "coupler", axis = "-y", start = "-90 deg" }
C = { kind = "revolute", i = "coupler.end", j = "right.end", start = "90 deg" }
D = { kind = "revolute", i = "ground.D", j = "right", axis = "-y", start = "90 deg" }
[drivers]
motor = { kind = "rotary", coordinate = "A", law = "90 deg + 90 deg*sin(180 deg*t)" }
[run]
duration = 1
step = 0.05
"""
