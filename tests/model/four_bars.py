"""The four-bar that tests of parts, topology and checks repeat."""

from __future__ import annotations

from biela.model import Model


def four_bar(*, driven: bool = False, plane: str | None = None) -> Model:
    """Crank r, coupler 300 mm, rocker 200 mm over a base of 300 mm, in the xy plane."""
    m = Model("four-bar", plane=plane)
    r = m.parameter("r", 0.1)
    crank = m.body("crank", mass=1.0, inertia=0.01)
    coupler = m.body("coupler", mass=1.0, inertia=0.01)
    rocker = m.body("rocker", mass=1.0, inertia=0.01)
    crank.marker("tip", (r, 0, 0))
    rocker.marker("tip", ("400 mm", 0, 0))
    m.joint("revolute", "A", m.ground, crank, start=1.0)
    m.joint("revolute", "B", "crank.tip", coupler, start=-0.5)
    m.joint("revolute", "C", (coupler, (0.3, 0, 0)), (rocker, ("200 mm", 0, 0)))
    m.joint("revolute", "D", (m.ground, (0.3, 0, 0)), rocker, start=1.2)
    if driven:
        m.driver("rotary", "motor", coordinate="A.angle", law="2*pi*t + r")
    return m
