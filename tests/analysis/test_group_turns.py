"""Angles of runs by groups count turns as their drivers, or their starts, say."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.groups.simulation import group_simulation


def four_bar(start: str, law: str | None) -> bl.Model:
    """A crank of 2 m, a coupler of 8 m, a rocker of 5 m, supports 10 m apart."""
    m = bl.Model("four-bar", plane="xy", gravity=(0, -9.81, 0))
    for name, length in (("crank", 2.0), ("coupler", 8.0), ("rocker", 5.0)):
        m.body(name, mass=1.0, com=(length / 2, 0, 0), inertia=length**2 / 12)
        m.bodies[name].marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start=start)
    m.joint("revolute", "B", "crank.end", "coupler", start="-38 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    m.joint("revolute", "D", m.ground.at(10, 0, 0), "rocker", start="108 deg")
    if law is not None:
        m.driver("rotary", "motor", coordinate="A", law=law)
    return m


@pytest.mark.parametrize("law", ["420 deg + t", "-300 deg + 9*t", "60 deg + t"])
def test_a_driven_angle_is_read_as_its_driver_says(law: str) -> None:
    model = four_bar("60 deg", law)
    expected = bl.kinematics(bl.formulate(model), 2.0, step=0.05)
    runs = [
        bl.group_kinematics(model, 2.0, step=0.05),
        bl.group_inverse_dynamics(model, 2.0, step=0.05),
    ]
    for run in runs:
        np.testing.assert_allclose(run["A.angle"], expected["A.angle"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(run["D.angle"], expected["D.angle"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("start", ["420 deg", "-300 deg"])
def test_a_free_angle_starts_as_many_turns_from_zero_as_the_model_says(start: str) -> None:
    model = four_bar(start, None)
    run = group_simulation(model, 0.1, step=1e-2, independent=["A"])
    expected = bl.simulate(model, 0.1, step=1e-2, integrator="rk4")
    np.testing.assert_allclose(run["A.angle"], expected["A.angle"], rtol=0, atol=1e-5)
    assert abs(run["A.angle"][0]) > 5
