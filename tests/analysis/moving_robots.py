"""Robots for tests of motions: a planar arm, and one with every manifold."""

from __future__ import annotations

from functools import cache

import biela as bl
from biela.model.denavit_hartenberg import from_dh


@cache
def planar_arm() -> bl.Robot:
    """Two hinges with limits of all kinds; gravity is normal to their axes."""
    return bl.Robot(
        from_dh(
            [(0.4, 0, 0, 0), (0.3, 0, 0, 0)],
            name="arm",
            masses=[2.0, 1.0],
            coms=[(-0.2, 0, 0), (-0.15, 0, 0)],
            inertias=[0.03, 0.01],
            limits=[(-2.0, 2.0), (-2.5, 0.5)],
            velocity_limits=[1.5, 2.0],
            effort_limits=[20.0, 8.0],
            gravity=(0, -9.81, 0),
        )
    )


@cache
def flyer() -> bl.Robot:
    """A free base, a slide and a ball, with a mass that is a parameter."""
    m = bl.Model("flyer")
    m.parameter("m", 0.8)
    base = m.body("base", mass=4.0, com=(0, 0.02, 0.1), inertia=(0.05, 0.06, 0.04))
    slider = m.body("slider", mass=1.5, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.02))
    ball = m.body("ball", mass="m", com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.01))
    m.joint("free", "float", m.ground, base)
    m.joint("prismatic", "rail", base.at(0, 0, 0.2), slider, axis="x")
    m.joint("spherical", "socket", slider.at(0, 0.1, 0), ball)
    return bl.Robot(m)
