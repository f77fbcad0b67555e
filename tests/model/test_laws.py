"""Laws of time: values against closed forms, derivatives against finite differences, data back."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline

import biela as bl
from biela.atoms import Workspace, diff, evaluate
from biela.errors import BielaError, ModelError, ParseError
from biela.model.laws.law import Constant, Formula, Law, Table, law_from
from biela.model.laws.profiles import Profile, cycloid, harmonic, ramp, smooth_step, trapezoid

TIMES = [0.0, 0.3, 1.0, 1.2, 2.0]
VALUES = [1.0, 0.5, -0.2, 0.7, 1.0]

LAWS: dict[str, tuple[Law, dict[str, float]]] = {
    "number": (Constant(0.7), {}),
    "formula": (Formula("pi/4 + 2*pi*t + a*sin(3*t)^2"), {"a": 0.3}),
    "formula with units": (Formula("30 deg*exp(-t/1500 ms) + 60 rpm*t"), {}),
    "spline": (Table(TIMES, VALUES), {}),
    "natural": (Table(TIMES, VALUES, end="natural"), {}),
    "clamped": (Table(TIMES, VALUES, end="clamped", slopes=(1.0, -2.0)), {}),
    "periodic": (Table(TIMES, VALUES, end="periodic"), {}),
    "lines": (Table(TIMES, VALUES, "linear"), {}),
    "ramp": (ramp(0.2, -0.5, 0.5, 1.7), {}),
    "smooth step": (smooth_step(0, "L/2", "t0", "1700 ms"), {"L": 0.8, "t0": 0.4}),
    "cycloid": (cycloid(1, 2, 0.5, 1.7), {}),
    "trapezoid": (trapezoid(0.1, 0.9, 0.2, 1.1, 4.0), {}),
    "triangle": (trapezoid(0.9, 0.1, 0.2, 50.0, 3.0), {}),
    "harmonic": (harmonic(0.2, "2 rev/s", "30 deg", 1.0), {}),
}
#: Times away from the corners of all of these.
AWAY = np.array([-0.37, 0.11, 0.273, 0.61, 0.87, 1.13, 1.37, 1.61, 1.83, 2.6, 5.3])


@pytest.mark.parametrize("name", LAWS)
def test_derivatives_are_the_limits_of_differences(name):
    law, values = LAWS[name]
    f, df, ddf = law.derivatives(AWAY, values)
    h = 1e-4
    high, low = law.value(AWAY + h, values), law.value(AWAY - h, values)
    assert df == pytest.approx((high - low) / (2 * h), abs=2e-5, rel=1e-6)
    high, low = law.derivatives(AWAY + h, values)[1], law.derivatives(AWAY - h, values)[1]
    assert ddf == pytest.approx((high - low) / (2 * h), abs=2e-4, rel=1e-6)
    one = law.derivatives(AWAY[3], values)
    assert one == pytest.approx((f[3], df[3], ddf[3]), rel=1e-13)  # powers of arrays round apart
    assert all(type(x) is float for x in one)


@pytest.mark.parametrize("name", LAWS)
def test_values_are_those_of_the_atom_in_any_workspace(name):
    law, values = LAWS[name]
    ws = Workspace()
    symbols = {n: ws.parameter(f"body_{n}") for n in law.parameters}  # other names there
    f = law.expression(ws, symbols)
    given = {symbols[n]: values[n] for n in symbols}
    for t in AWAY:
        at = {**given, ws.time: t}
        df = diff(f, ws.time)
        found = evaluate([f, df, diff(df, ws.time)], at)
        assert tuple(float(x) for x in found) == law.derivatives(t, values)
    assert law.expression(ws, symbols) == f


@pytest.mark.parametrize("name", LAWS)
def test_laws_are_written_as_plain_data_and_read_back(name):
    law, values = LAWS[name]
    data = law.to_data()
    again = law_from(json.loads(json.dumps(data)))
    assert again == law
    assert (again.value(AWAY, values) == law.value(AWAY, values)).all()
    assert set(law.parameters) == set(values)


def test_formulas_have_their_values():
    t = np.linspace(0, 3, 7)
    law = law_from("pi/4 + 60 rpm*t + a*t^2")
    assert law.value(t, {"a": 0.5}) == pytest.approx(
        np.pi / 4 + 2 * np.pi * t + t**2 / 2, rel=1e-14
    )
    switch = law_from("if(t < 1 s, 0, 5 mm)")
    assert switch.value(t).tolist() == [0, 0, 0.005, 0.005, 0.005, 0.005, 0.005]


@pytest.mark.parametrize("end", ["not-a-knot", "natural", "clamped", "periodic"])
def test_splines_are_those_of_scipy(end):
    ends = {"not-a-knot": end, "natural": end, "clamped": ((1, 1.5), (1, -2.0)), "periodic": end}
    other = CubicSpline(TIMES, VALUES, bc_type=ends[end])
    law = Table(TIMES, VALUES, end=end, slopes=(1.5, -2.0))
    t = np.linspace(0.01, 1.99, 50)
    for k, found in enumerate(law.derivatives(t)):
        assert found == pytest.approx(other(t, k), rel=1e-10, abs=1e-10)


def test_lines_are_those_of_numpy_and_hold_their_ends():
    t = np.linspace(-1, 3, 41)
    law = Table(TIMES, VALUES, "linear")
    assert law.value(t) == pytest.approx(np.interp(t, TIMES, VALUES), abs=1e-14)
    straight = Table(TIMES, VALUES, "linear", outside="linear")
    slope = (VALUES[-1] - VALUES[-2]) / (TIMES[-1] - TIMES[-2])
    assert straight.value(3.0) == pytest.approx(VALUES[-1] + slope, rel=1e-14)


def test_equal_tables_are_one_atom_and_different_ones_two():
    ws = Workspace()
    one = Table(TIMES, VALUES).expression(ws)
    assert Table(TIMES, VALUES).expression(ws) == one
    assert Table(TIMES, VALUES, "linear").expression(ws) != one
    assert len(ws.table.piecewise) == 2
    assert Table(TIMES, VALUES).expression(ws, time=2 * ws.time) != one


@pytest.mark.parametrize(("make", "fastest"), [(smooth_step, 15 / 8), (cycloid, 2.0)])
def test_smooth_steps_start_and_end_at_rest_and_are_as_fast_as_stated(make, fastest):
    a, b, start, stop = 0.3, -1.1, 0.7, 2.2
    law = make(a, b, start, stop)
    f, df, ddf = law.derivatives(np.array([-5.0, start, stop, 50.0]))
    assert f == pytest.approx([a, a, b, b], abs=1e-15)
    assert df == pytest.approx(0, abs=1e-14)
    assert ddf == pytest.approx(0, abs=1e-13)
    middle = law.derivatives((start + stop) / 2)
    assert middle[0] == pytest.approx((a + b) / 2, rel=1e-14)
    assert middle[1] == pytest.approx(fastest * (b - a) / (stop - start), rel=1e-14)
    assert middle[2] == pytest.approx(0, abs=1e-13)


def test_a_smooth_step_is_the_quintic_of_its_six_conditions():
    law = smooth_step(0.3, -1.1, 0.7, 2.2)
    # the one polynomial of degree five with these values, slopes and curvatures at the ends
    ends = ([(1, 0.0), (2, 0.0)], [(1, 0.0), (2, 0.0)])
    other = make_interp_spline([0.7, 2.2], [0.3, -1.1], k=5, bc_type=ends)
    t = np.linspace(0.71, 2.19, 30)
    for k, found in enumerate(law.derivatives(t)):
        assert found == pytest.approx(other(t, k), rel=1e-9, abs=1e-9)
    largest = np.abs(law.derivatives(np.linspace(0.7, 2.2, 20001))[2]).max()
    assert largest == pytest.approx(10 / math.sqrt(3) * 1.4 / 1.5**2, rel=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "v", "acc"),
    [(0.1, 0.9, 1.1, 4.0), (0.9, 0.1, 1.1, 4.0), (0, 1, 50, 3), (2, -3, 1, 1)],
)
def test_a_trapezoid_keeps_its_limits_and_arrives_in_time(a, b, v, acc):
    law = trapezoid(a, b, 0.2, v, acc)
    d = abs(b - a)
    top = min(v, math.sqrt(d * acc))
    duration = d / top + top / acc
    t = np.linspace(0.2, 0.2 + duration, 4001)
    f, df, ddf = law.derivatives(t)
    assert f[0] == a
    assert f[-1] == pytest.approx(b, rel=1e-13)
    assert np.abs(df).max() == pytest.approx(top, rel=1e-3)
    assert np.abs(df).max() <= top * (1 + 1e-12)
    inside = ddf[1:-1]
    assert set(np.round(np.abs(inside), 9)) <= {0.0, acc}
    # the velocity is the trapezoid
    expected = np.minimum(top, acc * np.minimum(t - 0.2, 0.2 + duration - t)) * np.sign(b - a)
    assert df == pytest.approx(expected, abs=1e-12)
    assert law.derivatives(1e9) == pytest.approx((b, 0, 0), rel=1e-13)
    assert law.derivatives(-1e9) == (a, 0, 0)


def test_no_way_at_all_takes_no_time():
    assert trapezoid(0.5, 0.5, 0, 1, 1).derivatives(0.3) == (0.5, 0, 0)
    assert trapezoid("a", "b", 0, 1, 1).value(0.3, {"a": 0.5, "b": 0.5}) == 0.5


def test_harmonic_motion_is_a_sine():
    t = np.linspace(0, 2, 9)
    law = harmonic("20 mm", "2 rev/s", "30 deg", 1.0)
    w, p = 4 * np.pi, np.pi / 6
    f, df, ddf = law.derivatives(t)
    assert f == pytest.approx(1 + 0.02 * np.sin(w * t + p), rel=1e-14)
    assert df == pytest.approx(0.02 * w * np.cos(w * t + p), abs=1e-13)
    assert ddf == pytest.approx(-0.02 * w**2 * np.sin(w * t + p), abs=1e-12)


def test_what_a_law_must_be_is_checked_by_its_units():
    ws = Workspace()
    assert law_from("30 deg").expression(ws, dimension="angle").value == pytest.approx(np.pi / 6)
    for data in (
        "30 deg",
        "30 deg + 2*t",
        {"profile": "ramp", "from": 0, "to": "1 deg", "start": 0, "stop": 1},
    ):
        law_from(data).expression(ws, dimension="angle")
        with pytest.raises(ModelError, match="an angle; a length is wanted"):
            law_from(data).expression(ws, dimension="length")


def test_laws_are_made_of_what_is_given():
    assert law_from(2) == Constant(2.0)
    assert law_from(np.float64(2)) == Constant(2.0)
    assert law_from((TIMES, VALUES)) == Table(TIMES, VALUES)
    assert law_from((np.array(TIMES), np.array(VALUES))) == Table(TIMES, VALUES)
    assert law_from({"times": ["0 ms", "500 ms", 1], "values": ["0 deg", "180 deg", 0]}) == Table(
        [0, 0.5, 1], [0, math.pi, 0]
    )
    assert law_from({"profile": "harmonic", "amplitude": 1, "frequency": 2}) == harmonic(1, 2)
    law = ramp(0, 1, 0, 1)
    assert law_from(law) is law
    assert isinstance(law, Profile)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: law_from("2*"), "the text ends"),
        (lambda: law_from("2 t"), r"write \*t"),
        (lambda: law_from("foo(t)"), "unknown function"),
        (lambda: law_from(None), "is no law"),
        (lambda: law_from(True), "is no law"),
        (lambda: law_from([1, 2]), "is no law"),
        (lambda: law_from(math.inf), "finite"),
        (lambda: law_from({"times": [0, 1]}), "needs values"),
        (lambda: law_from({"times": [0, 1], "value": [0, 1]}), "did you mean 'values'"),
        (lambda: law_from({"times": 3, "values": [0, 1]}), "a list of numbers"),
        (lambda: law_from({"times": [0, "1 mm"], "values": [0, 1]}), r"times\[1\].*a length"),
        (lambda: Table([0, 1, 1], [0, 1, 2]), "x must increase"),
        (lambda: Table([0, 1], [0, 1], "quintic"), "linear or cubic"),
        (lambda: Table([0, 1], [0, 1], end="free"), "not-a-knot"),
        (lambda: Table([0, 1], [0, 1], end="clamped", slopes=(1,)), "a first and a last slope"),
        (lambda: Table([0, 1, 2], [0, 1, 2], end="periodic"), "equal first and last"),
        (lambda: law_from({"profile": "smoth step"}), "did you mean 'smooth step'"),
        (lambda: law_from({"profile": "ramp", "from": 1}), "needs 'to'"),
        (lambda: law_from({"profile": "ramp", "form": 1}), "did you mean 'from'"),
        (lambda: ramp(0, 1, 2, 1), "must stop after it starts"),
        (lambda: ramp(0, 1, "1 mm", 2), "a length; a time"),
        (lambda: ramp("2*t", 1, 0, 2), "cannot depend on t"),
        (lambda: trapezoid(0, 1, 0, -1, 1), "velocity of a trapezoid must be positive"),
        (lambda: trapezoid(0, 1, 0, 1, 0), "acceleration of a trapezoid must be positive"),
        (lambda: harmonic(1, "2 Hz"), "a frequency; an angular velocity"),
    ],
)
def test_what_is_no_law_is_refused(make, says):
    with pytest.raises(BielaError, match=says):
        make()


def test_missing_parameters_are_named():
    law = law_from("a*t + b")
    with pytest.raises(ModelError, match="needs a value of b"):
        law.value(1.0, {"a": 2.0})
    with pytest.raises(ParseError, match="unknown parameter 'b'"):
        law.expression(Workspace(), {"a": 2.0})


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        *(("rotary", law) for law in ("5 kg*t", "5 mm*t", "2 N*t", "1 m/s*t", "3 kg*sin(2*t)")),
        *(("translational", law) for law in ("90 deg/s*t", "10 rpm*t", "2 kg*t", "5 deg*t")),
    ],
)
def test_units_of_products_with_the_time_are_checked(kind, law):
    m = bl.Model("units", plane="xy")
    joint = "revolute" if kind == "rotary" else "prismatic"
    axis = {} if kind == "rotary" else {"axis": "x"}
    m.joint(joint, "A", m.ground, m.body("b", mass=1.0, inertia=0.1), **axis)
    with pytest.raises(ModelError, match=r"driver d .*law.*wanted"):
        m.driver(kind, "d", coordinate="A", law=law)


@pytest.mark.parametrize(
    ("kind", "law", "value"),
    [
        ("rotary", "90 deg/s*t", np.pi / 2),
        ("rotary", "2*t", 2.0),
        ("rotary", "3 rad/s*t + 30 deg", 3 + np.pi / 6),
        ("rotary", "60 rpm*t", 2 * np.pi),
        ("rotary", "5 deg*sin(2*t)", np.radians(5) * np.sin(2)),
        ("translational", "5 mm*t", 5e-3),
        ("translational", "2 m/s*t", 2.0),
        ("translational", "1 m/s^2*t^2/2", 0.5),
        ("translational", "t", 1.0),
        ("translational", "1 + t", 2.0),
        ("translational", "t*sin(2 rad/s*t)", np.sin(2)),
    ],
)
def test_the_time_is_a_time_or_a_number(kind, law, value):
    m = bl.Model("units", plane="xy")
    joint = "revolute" if kind == "rotary" else "prismatic"
    axis = {} if kind == "rotary" else {"axis": "x"}
    m.joint(joint, "A", m.ground, m.body("b", mass=1.0, inertia=0.1), **axis)
    m.driver(kind, "d", coordinate="A", law=law)
    found = bl.kinematics(m, 1.0, step=0.5).q[-1, 0]
    assert found == pytest.approx(value, abs=1e-12)


def test_a_whole_number_beyond_any_double_is_no_law() -> None:
    with pytest.raises(ModelError, match="too large a number"):
        law_from(10**400)


@pytest.mark.parametrize("profile", [["ramp"], {}, 3, None])
def test_a_profile_is_a_word(profile):
    with pytest.raises(ModelError, match="unknown profile"):
        law_from({"profile": profile, "from": 0, "to": 1})
    with pytest.raises(ModelError, match="unknown profile"):
        Profile(profile, (0.0,))
