"""The start of a motion against closed forms, and equations that contradict each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.initial import initial_problem
from biela.analysis.kinematics import kinematics
from biela.errors import AssemblyError, ModelError
from examples.mechanisms.slider_crank import closed_form, slider_crank
from examples.symbolic.four_bar import four_bar

GUESS = {"theta2": -1.0, "theta3": 2.2}


@pytest.fixture(scope="module")
def bars() -> bl.System:
    return four_bar().equations().system


def test_conditions_of_the_model_give_its_start() -> None:
    system = slider_crank().equations().system
    found = initial_problem(system, parameters={"theta_0": 0.8, "omega_0": -3.0})
    q, v = closed_form(0.8, -3.0)
    assert np.allclose(found.q, q, rtol=0, atol=1e-12)
    assert np.allclose(found.v, v, rtol=0, atol=1e-12)
    assert found.mobility == 1 and found.error < 1e-12
    # the motion obeys Newton and the constraints
    given = {"p": {"theta_0": 0.8, "omega_0": -3.0}}
    M = system.evaluate("M", found.q, **given)
    Q = system.evaluate("Q", found.q, found.v, **given)
    rows = system.evaluate("Phi_v", found.q, **given)
    assert found.lam is not None
    assert np.allclose(M @ found.a + rows.T @ found.lam, Q, rtol=0, atol=1e-10)
    gamma = system.evaluate("gamma", found.q, found.v, **given)
    assert np.allclose(rows @ found.a, gamma, rtol=0, atol=1e-9)


def test_equations_as_texts_give_the_same_start_as_a_drive(bars: bl.System) -> None:
    found = initial_problem(
        bars,
        GUESS,
        positions=["theta1 - pi/3"],
        velocities=["dtheta1 - 2"],
        accelerations=["ddtheta1 + 5"],
    )
    wanted = kinematics(bars, 0.1, step=0.1, drives={"theta1": "pi/3 + 2*t - 2.5*t**2"}, q=GUESS)
    assert np.allclose(found.q, wanted.q[0], rtol=0, atol=1e-11)
    assert np.allclose(found.v, wanted.v[0], rtol=0, atol=1e-10)
    assert np.allclose(found.a, wanted.a[0], rtol=0, atol=1e-9)
    assert found.lam is None


def test_equations_may_be_of_any_form(bars: bl.System) -> None:
    # the sum of two angles, and a velocity that is a multiple of another
    found = initial_problem(
        bars,
        {"theta1": 0.4, **GUESS},
        positions=["theta1 + theta2 + 0.2*t"],
        velocities=["dtheta1 - 2*dtheta3 - l1"],
        t=1.5,
    )
    assert found.q[0] + found.q[1] == pytest.approx(-0.3, abs=1e-11)
    assert found.v[0] == pytest.approx(2 * found.v[2] + 2.0, abs=1e-11)


def test_a_condition_on_the_position_fixes_no_velocity(bars: bl.System) -> None:
    found = initial_problem(bars, GUESS, {"dtheta1": 4.0}, positions=["theta1 - pi/3"])
    assert found.q[0] == pytest.approx(math.pi / 3, abs=1e-11)
    assert found.v[0] == pytest.approx(4.0, abs=1e-12)


def test_equations_that_cannot_be_met_or_read_are_refused(bars: bl.System) -> None:
    with pytest.raises(AssemblyError, match="cannot be assembled"):
        initial_problem(bars, GUESS, positions=["theta1 - 1", "theta1 - 2"])
    with pytest.raises(AssemblyError, match="no velocities fulfil"):
        initial_problem(bars, GUESS, velocities=["dtheta1 - 1", "dtheta1 - 2"])
    with pytest.raises(AssemblyError, match="no accelerations fulfil"):
        initial_problem(bars, GUESS, accelerations=["ddtheta1 - 1", "ddtheta1 - 2"])
    with pytest.raises(ModelError, match="unknown name phi"):
        initial_problem(bars, GUESS, positions=["phi - 1"])
    with pytest.raises(ModelError, match="depends on dtheta1"):
        initial_problem(bars, GUESS, positions=["dtheta1 - 1"])
    with pytest.raises(ModelError, match="not linear"):
        initial_problem(bars, GUESS, velocities=["dtheta1**2 - 1"])
