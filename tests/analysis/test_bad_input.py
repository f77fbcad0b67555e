"""Bad input: what cannot be simulated is refused in words that say what, where and what to do."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import biela as bl
from biela.errors import AssemblyError, ModelError, ShapeError, SimulationError
from examples.mechanisms import simple_pendulum, slider_crank
from examples.symbolic.four_bar import four_bar

FIXED, ADAPTIVE = {"step": 0.01}, {"tolerance": 1e-8}
both = pytest.mark.parametrize("stepping", [FIXED, ADAPTIVE], ids=["fixed", "adaptive"])


def mass(*geometric, law=None, velocity=()) -> bl.SymbolicSystem:
    """A point mass at (x, y); constraints and the force along x are functions of s, x and y."""
    s = bl.SymbolicSystem("mass")
    x, y = s.coordinates("x y")
    (m,) = s.parameters(m=1.0)
    body = s.solid("body", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=m)
    if law is not None:
        s.wrench(body, s.base.vector(law(s, x, y), 0, 0), name="law")
    for name, equation in zip(("first", "second"), geometric, strict=False):
        s.constrain(equation(s, x, y), name=name)
    for name, equation in zip(("first", "second"), velocity, strict=False):
        s.constrain_velocity(equation(s, x, y), name=name)
    return s


# ---------------------------------------------------------------------- contradicting constraints


def test_a_start_from_which_no_coordinate_helps_is_told():
    """On x² = 1 + y² at the origin the slope vanishes in all directions."""
    model = mass(lambda s, x, y: x**2 - y**2 - 1)
    with pytest.raises(AssemblyError, match=r"the start is singular: constraint first.*by -1"):
        bl.assemble(model, [0.0, 0.0])
    # what is named is kept, or it is told that it cannot be
    np.testing.assert_allclose(np.abs(bl.assemble(model, {"x": 2.0}).q), [2.0, np.sqrt(3.0)])
    with pytest.raises(AssemblyError, match=r"cannot be assembled with x = 0\.1"):
        bl.assemble(model, {"x": 0.1})


def test_inconsistent_constraints_are_named_with_what_they_miss():
    model = mass(lambda s, x, y: x - 1, lambda s, x, y: x - 2)
    with pytest.raises(
        AssemblyError, match=r"mass cannot be assembled.*first_1 by 0\.5.*second_1 .*contradict"
    ):
        bl.simulate(model, 1.0, **FIXED)


def test_a_consistent_duplicate_is_an_ordinary_case():
    model = mass(lambda s, x, y: x - 1, lambda s, x, y: 2 * x - 2)
    r = bl.simulate(model, 1.0, v={"dy": 3.0}, **FIXED)
    np.testing.assert_allclose(r.q[-1], [1.0, 3.0], atol=1e-12)


def test_duplicates_that_contradict_each_other_in_velocity_are_named():
    moving = mass(lambda s, x, y: x - s.time, lambda s, x, y: x - 2 * s.time)
    rolling = mass(velocity=(lambda s, x, y: x.velocity - 1, lambda s, x, y: x.velocity - 2))
    for model in (moving, rolling):
        with pytest.raises(AssemblyError, match=r"no velocities fulfil all.*second_1 is missed"):
            bl.simulate(model, 1.0, **FIXED)


@both
def test_duplicates_that_contradict_each_other_later_stop_the_run(stepping):
    model = mass(lambda s, x, y: x - s.time**2, lambda s, x, y: x - 2 * s.time**2)
    with pytest.raises(SimulationError, match=r"second_1.*contradict"):
        bl.simulate(model, 1.0, **stepping)


# ----------------------------------------------------------------------- what cannot be assembled


def test_a_mechanism_with_impossible_lengths_says_which_closure_stays_open():
    with pytest.raises(AssemblyError, match=r"four_bar cannot be assembled.*closure_1.*lengths"):
        bl.simulate(four_bar(), 1.0, q=[0.7, -1.4, 1.7], parameters={"l4": 50.0}, **FIXED)
    # the gap is the least possible: the three bars in line are 35 m too short
    with pytest.raises(AssemblyError, match=r"closure_1 by -?35"):
        bl.assemble(four_bar(), [0.01, 0.02, -0.01], parameters={"l4": 50.0})


def test_held_coordinates_that_contradict_the_closure_are_named():
    with pytest.raises(AssemblyError, match=r"theta\d = .*hold fewer coordinates"):
        bl.assemble(four_bar(), hold={"theta1": 0.7, "theta2": 0.0})


def test_a_constraint_that_is_not_a_number_is_named():
    model = mass(lambda s, x, y: bl.log(x))
    with pytest.raises(AssemblyError, match="constraint first_1 is not a finite number"):
        bl.simulate(model, 1.0, q=[-1.0, 0.0], **FIXED)
    with pytest.raises(AssemblyError, match="constraint first_1, or its derivative, is not a fin"):
        bl.mobility(model, q=[-1.0, 0.0])


# -------------------------------------------------------------------------------------- masses


def test_zero_and_negative_masses_are_refused():
    with pytest.raises(ModelError, match="mass: nothing that moves has mass or inertia; give the"):
        bl.simulate(mass(), 1.0, parameters={"m": 0.0})
    with pytest.raises(ModelError, match="not positive: an inertia along dx is negative"):
        bl.simulate(mass(), 1.0, parameters={"m": -1.0})
    with pytest.raises(ModelError, match="nothing that moves has mass"):
        bl.simulate(simple_pendulum.simple_pendulum(), 1.0, parameters={"m": 0.0})


def test_a_negative_inertia_is_found_in_a_mechanism():
    with pytest.raises(ModelError, match=r"slider_crank: the mass matrix is not positive.*dx is"):
        bl.simulate(slider_crank.slider_crank(), 0.1, parameters={"m_piston": -5.0})


def test_a_coordinate_that_moves_nothing_is_named():
    model = mass()
    model.coordinates("idle", inertia=False)
    with pytest.raises(ModelError, match="moving didle moves no mass and no constraint holds it"):
        bl.simulate(model, 1.0)


# ----------------------------------------------------------------------------- runs that diverge


@both
def test_a_law_that_becomes_nan_stops_the_run_with_time_coordinate_and_cause(stepping):
    """x'' = √(0.5 - t); until it is no number, x' = (0.5^1.5 - (0.5 - t)^1.5)/1.5."""
    model = mass(law=lambda s, x, y: bl.sqrt(0.5 - s.time))
    with pytest.raises(SimulationError) as caught:
        bl.simulate(model, 1.0, output=0.01, **stepping)
    text = str(caught.value)
    assert "mass: the state became infinite or not a number" in text
    assert re.search(r"t = 0\.(49|5) s", text)
    assert "acceleration of dx is not finite" in text
    assert "leaves its domain" in text
    r = caught.value.results
    assert r.t[-1] == pytest.approx(0.5, abs=0.011)
    expected = ((0.5**1.5) - np.maximum(0.5 - r.t, 0) ** 1.5) / 1.5
    np.testing.assert_allclose(r["dx"], expected, atol=2e-4)


@both
def test_a_law_that_divides_by_zero_at_the_start_says_so(stepping):
    with pytest.raises(
        SimulationError, match=r"t = 0 s.*acceleration of dx is not finite.*divides"
    ):
        bl.simulate(mass(law=lambda s, x, y: 1 / x), 1.0, **stepping)


def test_a_step_too_long_for_a_stiff_force_is_told_so():
    """An oscillator of 10⁴ rad/s with a step of 10 ms."""
    model = mass(law=lambda s, x, y: -1e8 * x)
    with pytest.raises(SimulationError, match=r"infinite.*stiff force; try integrator='radau'"):
        bl.simulate(model, 1.0, q={"x": 1e-3}, **FIXED)


@both
def test_a_motion_that_escapes_in_finite_time_keeps_the_results_until_then(stepping):
    """x'' = 2 x³ with x = x' = 1 has the solution 1/(1 - t)."""
    model = mass(law=lambda s, x, y: 2 * x**3)
    with pytest.raises(
        SimulationError, match=r"mass: .* after t = .*largest entry of the state is d?x"
    ) as caught:
        bl.simulate(model, 2.0, q={"x": 1.0}, v={"dx": 1.0}, **stepping)
    r = caught.value.results.between(0.0, 0.5)
    np.testing.assert_allclose(r["x"], 1 / (1 - r.t), rtol=1e-6)


# ----------------------------------------------------------------------------- names and sizes


def test_unknown_names_are_refused_with_those_there_are():
    for given, words in (
        ({"q": {"z": 1.0}}, "mass has no coordinate z; it has x, y"),
        ({"v": {"x": 1.0}}, "mass has no velocity x; it has dx, dy"),
        ({"parameters": {"M": 1.0}}, "mass has no parameter M; it has m"),
        ({"inputs": {"F": 1.0}}, "mass has no input F; it has none"),
        ({"on_event": {"bang": "stop"}}, "mass has no event bang; it has none"),
    ):
        with pytest.raises(ModelError, match=words):
            bl.simulate(mass(), 1.0, **given)
    with pytest.raises(ModelError, match="slider_crank has no coordinate beta; it has theta"):
        bl.simulate(
            slider_crank.slider_crank(),
            0.1,
            formulation="index2",
            options=bl.Options(independent=("beta",)),
        )


def test_wrong_sizes_are_refused_with_the_right_ones():
    for given, words in (
        ({"q": [1.0]}, r"2 coordinates \(x, y\), and 1 numbers are given"),
        ({"v": [1.0, 2.0, 3.0]}, r"2 velocities \(dx, dy\), and 3 numbers are given"),
        ({"parameters": [1.0, 2.0]}, r"1 parameters \(m\), and 2 numbers are given"),
        ({"inputs": [1.0]}, r"0 inputs \(none\), and 1 numbers are given"),
    ):
        with pytest.raises(ShapeError, match=words):
            bl.simulate(mass(), 1.0, **given)


@pytest.mark.parametrize("value", [math.nan, math.inf, "abc"])
def test_values_that_are_no_finite_numbers_are_refused(value):
    with pytest.raises(ModelError, match="coordinate x is not a finite number"):
        bl.simulate(mass(), 1.0, q={"x": value})
    with pytest.raises(ModelError, match="parameter m is not a finite number"):
        bl.simulate(mass(), 1.0, parameters={"m": value})


# -------------------------------------------------------------------------------------- times


@pytest.mark.parametrize("duration", [math.inf, math.nan, -1.0, 0.0, "1"])
def test_the_duration_is_a_positive_time(duration):
    with pytest.raises(ModelError, match="the duration must be a positive time, not"):
        bl.simulate(mass(), duration)


def test_steps_outputs_and_sample_times_are_positive():
    for name in ("step", "output", "sample_time"):
        for value in (0.0, -0.1, math.nan, math.inf):
            with pytest.raises(ModelError, match=f"{name} must be a positive time, not"):
                bl.simulate(mass(), 1.0, **{name: value})


def test_tolerances_are_positive():
    for value in (0.0, -1e-3, math.nan):
        with pytest.raises(ShapeError, match="tolerances are positive"):
            bl.simulate(mass(), 1.0, tolerance=value)


def test_the_start_time_is_finite():
    with pytest.raises(ModelError, match="start time"):
        bl.simulate(mass(), 1.0, t=math.nan)


# ------------------------------------------------------------------------------ models, options


def test_what_is_not_a_model_is_refused():
    with pytest.raises(ModelError, match="int is not a model; give a Model, a SymbolicSystem"):
        bl.simulate(3, 1.0)
    with pytest.raises(ModelError, match="empty has no solids: add one"):
        bl.simulate(bl.SymbolicSystem("empty"), 1.0)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"metric": "K"}, "metric 'K' is not known; use 'M' or 'identity'"),
        ({"projections": "sometimes"}, "projections 'sometimes' is not known; use 'always'"),
        ({"baumgarte": -1.0}, "option baumgarte must be a number from 0, not -1"),
        ({"penalty": math.nan}, "option penalty must be a number from 0, not nan"),
        ({"rounds": 0}, "option rounds must be 1 or more, not 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(option, words):
    with pytest.raises(ModelError, match=words):
        bl.Options(**option)


# ----------------------------------------------------------------------------- laws of drivers


def driven_pendulum(law: str) -> bl.Model:
    m = bl.Model("pendulum", plane="xz")
    rod = m.body("rod", mass=1.0, inertia=0.1, com=(0.5, 0, 0))
    m.joint("revolute", "pivot", m.ground, rod, axis="y")
    m.driver("rotary", "motor", coordinate="pivot.angle", law=law)
    return m


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("2*pi*t + q", r"the law of driver 'motor' has q, which is neither .*parameters\(q=…\)"),
        ("sqrt(t - 1)", "the law of driver 'motor' is nan at t = 0 s"),
    ],
)
def test_a_law_that_gives_no_number_is_named_with_its_driver(law, message):
    with pytest.raises(ModelError, match=message):
        bl.kinematics(driven_pendulum(law), 1.0)


def test_a_law_that_ends_within_the_run_is_named_with_the_time():
    with pytest.raises(
        SimulationError, match=r"the law of driver 'motor' is nan at t = 0\.25"
    ) as failed:
        bl.kinematics(driven_pendulum("sqrt(1/4 - t)"), 1.0, step=0.01)
    assert failed.value.results.t[-1] == pytest.approx(0.25)


def test_bodies_that_are_all_fixed_cannot_move():
    m = bl.Model("frame")
    m.joint("fixed", "weld", m.ground, m.body("post", mass=1.0, inertia=1.0))
    with pytest.raises(ModelError, match="frame: nothing can move, all bodies are fixed"):
        bl.simulate(m, 1.0)
