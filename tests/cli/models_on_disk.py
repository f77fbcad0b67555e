"""Files with models, as a user would write them."""

from __future__ import annotations

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
