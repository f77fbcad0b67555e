"""Values and laws that a person gives: with units, and joints by their names."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError

DEGREE = math.pi / 180


@pytest.fixture(scope="module")
def pendulum() -> bl.Model:
    m = bl.Model("pendulum")
    m.parameters["l"] = 0.5
    rod = m.body("rod", mass=1.0, com=(0, 0, "-l"))
    m.joint("revolute", "J", m.ground, rod, axis="y")
    arm = m.body("arm", mass=1.0, inertia=0.1)
    m.joint("cylindrical", "C", m.ground, arm, axis="z", at=(3, 0, 0))
    return m


def test_values_by_name_may_have_units(pendulum):
    given = {"q": {"J.angle": "20 deg"}, "v": {"J": "30 rpm"}, "parameters": {"l": "400 mm"}}
    numbers = {"q": {"J.angle": 20 * DEGREE}, "v": {"J.angle_rate": math.pi}}
    found = bl.simulate(pendulum, 0.1, **given)
    assert found.q[-1] == pytest.approx(
        bl.simulate(pendulum, 0.1, parameters={"l": 0.4}, **numbers).q[-1], rel=1e-14
    )
    # the length is another one: φ'' = -g/l sin φ
    assert found["dJ.angle_rate"][0] == pytest.approx(-9.81 / 0.4 * math.sin(20 * DEGREE))


@pytest.mark.parametrize("name", ["J", "J.angle"])
def test_a_joint_with_one_coordinate_goes_by_its_name(pendulum, name):
    results = bl.simulate(pendulum, 0.01, q={name: 0.3})
    assert results["J.angle"][0] == 0.3
    assert np.array_equal(results["J"], results["J.angle"])


@pytest.mark.parametrize(
    ("law", "closed"),
    [
        ("30 deg*t", lambda t: 30 * DEGREE * t),
        ("20 deg + 30 deg*sin(2*pi*t)", lambda t: DEGREE * (20 + 30 * np.sin(math.tau * t))),
        ("t**2", lambda t: t**2),
        ("l*t + 60 rpm*t", lambda t: (0.5 + math.tau) * t),
    ],
)
@pytest.mark.parametrize("name", ["J", "J.angle"])
def test_laws_may_have_units(pendulum, name, law, closed):
    drives = {name: law, "C.angle": 0.0, "C.displacement": "3 mm"}
    results = bl.kinematics(pendulum, 0.5, step=0.1, drives=drives)
    assert results["J"] == pytest.approx(closed(results.t), abs=1e-12)
    assert results["C.displacement"] == pytest.approx(np.full(6, 0.003), abs=1e-15)


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ({"J": "20 mm"}, "is a length; an angle is wanted"),
        ({"J": 0.1, "J.angle": 0.2}, "J and J.angle are the same coordinate"),
        ({"C": 0.1}, "no coordinate C; it has"),
        ({"J": "20 grad or so"}, "coordinate J is not a finite number: '20 grad or so'"),
    ],
)
def test_what_cannot_be_meant_is_refused(pendulum, q, said):
    with pytest.raises(ModelError, match=said):
        bl.simulate(pendulum, 0.1, q=q)


@pytest.mark.parametrize(
    ("drives", "said"),
    [
        ({"J": "30 deg*"}, "the law of J.angle cannot be read"),
        ({"J": "20 deg + 3 mm"}, "the law of J.angle cannot be read"),
        ({"J": "t", "J.angle": "t"}, "J.angle is driven already"),
        ({"C": "t"}, "no coordinate, velocity or output C"),
    ],
)
def test_a_drive_that_cannot_be_meant_is_refused(pendulum, drives, said):
    with pytest.raises(ModelError, match=said):
        bl.kinematics(pendulum, 0.1, step=0.1, drives=drives)


# ------------------------------------------------------------------------------------ four bars


@pytest.fixture(scope="module")
def four_bar() -> bl.Model:
    m = bl.Model("four-bar", plane="xy", gravity=(0, 0, 0))
    for name, length in (("crank", 2.0), ("coupler", 8.0), ("rocker", 5.0)):
        m.body(name, mass=length, inertia=1.0).marker("end", (length, 0, 0))
    m.joint("revolute", "A", m.ground, "crank", start="60 deg")
    m.joint("revolute", "B", "crank.end", "coupler", start="-38 deg")
    m.joint("revolute", "C", "coupler.end", "rocker.end")
    m.joint("revolute", "D", m.ground.at(10, 0, 0), "rocker", start="108 deg")
    return m


@pytest.mark.parametrize("coordinates", ["joint", "reference"])
@pytest.mark.parametrize("name", ["A", "A.angle_rate"])
def test_the_velocity_of_a_joint_of_a_loop_is_kept_by_either_name(four_bar, coordinates, name):
    results = bl.simulate(bl.formulate(four_bar, coordinates), 0.01, v={name: 2.0})
    assert results["A.angle_rate"][0] == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("name", ["D", "D.angle"])
def test_the_position_of_a_joint_of_a_loop_is_kept_by_either_name(four_bar, name):
    results = bl.simulate(four_bar, 0.01, q={name: 1.9})
    assert results["D.angle"][0] == pytest.approx(1.9, rel=1e-12)


def test_unknown_names_are_told_with_joints_first_and_with_what_may_be_meant(four_bar):
    with pytest.raises(ModelError, match=r"no coordinate Z; it has A.angle, .* crank.rx, "):
        bl.group_simulation(four_bar, 0.1, q={"Z": 1.0})
    with pytest.raises(ModelError, match=r"did you mean 'D.angle'\?$"):
        bl.group_simulation(four_bar, 0.1, q={"D.angel": 1.0})
    with pytest.raises(ModelError, match=r"did you mean 'crank.rx'\?$"):
        bl.group_simulation(four_bar, 0.1, q={"crank.x": 1.0})
    for simulated in (bl.simulate, bl.group_simulation):
        with pytest.raises(ModelError, match=r"A\.angle is a coordinate, and A\.angle_rate its"):
            simulated(four_bar, 0.1, v={"A.angle": 2.0})


def test_by_groups_a_guess_may_have_the_name_of_a_joint(four_bar):
    drives = {"A": "60 deg + t"}
    options = {"step": 0.05, "drives": drives, "formulation": "natural groups"}
    above, below = (bl.kinematics(four_bar, 0.1, q={"D": D}, **options) for D in (1.9, -2.3))
    assert above["D.angle"][0] == pytest.approx(1.893897, abs=1e-6)
    assert below["D.angle"][0] == pytest.approx(-2.274148, abs=1e-6)
