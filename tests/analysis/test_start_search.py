"""The position that a run starts from: what is named is kept, or chooses the branch."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

import biela as bl
from tests.group_solvers_in_c import four_bar_chain

CRANK, COUPLER, ROCKER, GROUND = 0.04, 0.12, 0.08, 0.1


def driven_four_bar(crank: float, rocker: float) -> bl.Model:
    """A crank-rocker in the plane, its crank held at an angle, its rocker started at another."""
    m = bl.Model("four-bar", plane="xy")
    bars = {n: m.body(n, mass=0.1, inertia=1e-4) for n in ("crank", "coupler", "rocker")}
    m.joint("revolute", "A", m.ground, bars["crank"], axis="z")
    m.joint("revolute", "B", bars["crank"].marker("B", (CRANK, 0, 0)), bars["coupler"], axis="z")
    m.joint(
        "revolute",
        "C",
        bars["coupler"].marker("C", (COUPLER, 0, 0)),
        bars["rocker"].marker("C", (ROCKER, 0, 0)),
        axis="z",
    )
    m.joint(
        "revolute",
        "D",
        m.ground.marker("D", (GROUND, 0, 0)),
        bars["rocker"],
        axis="z",
        start=rocker,
    )
    m.driver("rotary", "motor", coordinate="A.angle", law=repr(crank))
    return m


def rocker_angles(crank: float) -> tuple[float, float]:
    """Both angles of the rocker, by the triangle of coupler, rocker and diagonal."""
    diagonal = CRANK * cmath.exp(1j * crank) - GROUND
    d = abs(diagonal)
    corner = math.acos((d**2 + ROCKER**2 - COUPLER**2) / (2 * d * ROCKER))
    return cmath.phase(diagonal) - corner, cmath.phase(diagonal) + corner


@pytest.mark.parametrize("degrees", range(20, 360, 40))
def test_a_start_that_a_driver_contradicts_chooses_the_branch(degrees):
    crank, wish = math.radians(degrees), math.radians(100.0)
    found = bl.kinematics(driven_four_bar(crank, wish), 0.01, step=0.01)

    def away(angle: float) -> float:
        return abs(cmath.phase(cmath.exp(1j * (angle - wish))))

    nearest = min(rocker_angles(crank), key=away)
    turns = (found["D.angle"][0] - nearest) / (2 * math.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


def test_all_rockers_of_a_long_chain_start_where_they_are_named():
    """The couplers are named nowhere: at that guess more of the rockers seem free than are."""
    model = four_bar_chain(12)
    results = bl.kinematics(model, 0.01, step=0.01)
    for k in range(1, 13):
        named = model.joints[f"D{k}"].start["angle"]
        assert results[f"D{k}.angle"][0] == pytest.approx(named, abs=1e-9)
