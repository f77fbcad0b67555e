"""Driven motion of a slider–crank of any size, against its closed form."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.position_method import PositionMethod
from biela.errors import ModelError


def slider_crank(size: float) -> bl.Model:
    m = bl.Model("slider-crank", plane="xz")
    m.gravity = (0, 0, -9.81 * size)
    stuff, spin = size**3, size**5
    crank = m.body("crank", mass=2 * stuff, inertia=(0.02 * spin,) * 3)
    rod = m.body("rod", mass=0.6 * stuff, com=(0.15 * size, 0, 0), inertia=(0.0045 * spin,) * 3)
    piston = m.body(
        "piston", mass=0.5 * stuff, inertia=(1e-3 * spin,) * 3, position=(0.4 * size, 0, 0)
    )
    m.joint("revolute", "A", m.ground, crank, axis="y", start=0.3)
    m.joint("revolute", "B", crank.at(0.1 * size, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.3 * size, 0, 0), piston, axis="y")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    m.driver("rotary", "motor", coordinate="A", law="0.3 + 2*t")
    return m


WAYS = {
    "joint": lambda m: bl.kinematics(bl.formulate(m), 1.0, step=0.01),
    "reference": lambda m: bl.kinematics(bl.formulate(m, "reference"), 1.0, step=0.01),
    "natural": lambda m: bl.kinematics(bl.formulate(m, "natural"), 1.0, step=0.01),
    "euler": lambda m: bl.kinematics(bl.formulate(m, "euler"), 1.0, step=0.01),
    "iterated": lambda m: bl.kinematics(
        m, 1.0, step=0.01, method=PositionMethod("newton", predictor=1)
    ),
    "looped": lambda m: bl.kinematics(m, 1.0, step=0.01, engine="looped"),
    "groups": lambda m: bl.kinematics(m, 1.0, step=0.01, formulation="auto"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1e3, 1e-3, 1e-4, 1e-5, 1e-6])
def test_a_slider_crank_of_any_size_follows_its_crank(size, way):
    results = WAYS[way](slider_crank(size))
    turn = 0.3 + 2 * results.t
    c, s = np.cos(turn), np.sin(turn)
    x = 0.1 * c + np.sqrt(0.09 - (0.1 * s) ** 2)
    v = -0.2 * s - 0.02 * s * c / np.sqrt(0.09 - (0.1 * s) ** 2)
    frame = results.frame("piston")
    np.testing.assert_allclose(frame.position[:, 0] / size, x, atol=1e-10)
    np.testing.assert_allclose(frame.velocity[:, 0] / size, v, atol=1e-9)
    assert not results.events


def test_groups_refuse_what_rounding_would_turn_over():
    with pytest.raises(ModelError, match="too small for groups"):
        WAYS["groups"](slider_crank(1e-7))
