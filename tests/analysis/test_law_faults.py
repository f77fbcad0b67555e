"""Laws of time that a motion cannot follow are named by every door; nothing is a silent NaN."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import BielaError, ModelError, SimulationError


def slider_crank(law: object) -> bl.Model:
    m = bl.Model("slider-crank", plane="xz")
    crank = m.body("crank", mass=2.0, inertia=(0.02, 0.02, 0.02))
    rod = m.body("rod", mass=0.6, com=(0.15, 0, 0), inertia=(0.0045, 0.0045, 0.0045))
    piston = m.body("piston", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=(0.4, 0, 0))
    m.joint("revolute", "A", m.ground, crank, axis="y", start=0.3)
    m.joint("revolute", "B", crank.at(0.1, 0, 0), rod, axis="y")
    m.joint("revolute", "C", rod.at(0.3, 0, 0), piston, axis="y")
    m.joint("prismatic", "slide", m.ground, piston, axis="x")
    m.driver("rotary", "motor", coordinate="A", law=law)
    return m


def with_pendulum(law: object) -> bl.Model:
    """The same with a free pendulum, for runs that need a freedom."""
    m = slider_crank(law)
    bob = m.body("bob", mass=1.0, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.01))
    m.joint("revolute", "P", m.bodies["piston"], bob, axis="y", start=0.3)
    return m


DOORS = {
    "kinematics": lambda law: bl.kinematics(slider_crank(law), 1.0, step=0.01),
    "looped kinematics": lambda law: bl.kinematics(
        slider_crank(law), 1.0, step=0.01, engine="looped"
    ),
    "group kinematics": lambda law: bl.kinematics(
        slider_crank(law), 1.0, step=0.01, formulation="auto"
    ),
    "simulate": lambda law: bl.simulate(with_pendulum(law), 1.0),
    "fixed steps": lambda law: bl.simulate(with_pendulum(law), 1.0, step=1e-2),
    "looped": lambda law: bl.simulate(with_pendulum(law), 1.0, step=1e-2, engine="looped"),
    "groups": lambda law: bl.group_simulation(with_pendulum(law), 1.0, step=1e-2),
}

#: A law, what its value, rate or acceleration is not, and when.
BROKEN = {
    "ends": ("0.3 + 2*sqrt(0.5 - t)", "the law of driver 'motor' is nan", 0.5),
    "corner of the rate": ("2*t + abs(t - 0.5)**1.5", "acceleration of the law of driver", 0.5),
    "begins with infinite acceleration": ("0.3 + t**1.5", "acceleration of the law of driver", 0),
    "begins with infinite rate": ("0.3 + sqrt(t)", "the rate of the law of driver", 0),
    "begins nowhere": ("2*t + log(t)", "the law of driver 'motor' is -inf", 0),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", BROKEN)
def test_a_law_that_is_not_finite_is_named(door, case):
    law, said, when = BROKEN[case]
    with pytest.raises(BielaError, match=said) as caught:
        DOORS[door](law)
    results = getattr(caught.value, "results", None)
    if when:
        assert isinstance(caught.value, SimulationError)
        assert when - 0.03 < results.t[-1] <= when
    if results is not None:
        # what is kept is what the law asks for
        for name in ("q", "v"):
            assert np.isfinite(getattr(results, name)).all()


LINEAR = {"times": [0, 0.3, 0.6, 1], "values": [0.3, 0.9, 0.5, 1.5], "interpolation": "linear"}


@pytest.mark.parametrize("door", ["simulate", "looped", "groups"])
def test_a_jump_of_a_rate_that_ends_a_run_is_named(door):
    with pytest.raises(SimulationError, match=r"[Rr]ate of the law of driver 'motor' jumps from 2"):
        DOORS[door](LINEAR)


def test_names_keep_their_capitals():
    m = with_pendulum("0.3 + 2*t")
    m.drivers.pop("motor")
    m.driver("rotary", "Motor_A", coordinate="A", law=LINEAR)
    with pytest.raises(SimulationError, match=r"The rate of the law of driver 'Motor_A' jumps"):
        bl.simulate(m, 1.0)


@pytest.mark.parametrize("door", ["kinematics", "looped kinematics", "group kinematics"])
def test_kinematics_follows_a_polygon(door):
    results = DOORS[door](LINEAR)
    crank = results["A.angle"] if "A.angle" in results else results["crank.angle"]
    asked = np.interp(results.t, LINEAR["times"], LINEAR["values"])
    np.testing.assert_allclose(np.abs(crank), asked, atol=1e-9)


def test_smooth_laws_are_not_blamed():
    m = slider_crank("0.3 + 2*t")
    m.driver("translational", "other", coordinate="slide", law="0.3978 + 0.1*t")
    with pytest.raises(BielaError) as caught:
        bl.kinematics(m, 1.0, step=0.01)
    assert "jumps" not in str(caught.value)
    assert "finite" not in str(caught.value)


def test_reactions_to_a_force_that_is_not_a_number_are_refused():
    m = slider_crank("0.3 + 2*t")
    m.force("wrench", "gas", marker=m.bodies["piston"].at(0, 0, 0), fx="sqrt(0.5 - t)")
    motion = bl.kinematics(m, 1.0, step=0.1)
    with pytest.raises(ModelError, match=r"forces in the joints are not finite at t = 0\.6 s"):
        bl.joint_reactions(m, motion)
