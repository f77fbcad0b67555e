"""Numbers with units: against published conversions and the dimensions of the SI."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biela as bl
from biela.atoms import Atom, Workspace
from biela.atoms import evaluate as atom_value
from biela.errors import BielaError, ModelError, ParseError
from biela.model.quantities.dimensions import DIMENSIONS, UNITS, si_unit
from biela.model.quantities.units import (
    evaluate,
    expression,
    format_quantity,
    parameters_of,
    quantity,
    unit_of,
)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("120 mm", "length", 0.12),
        ("120mm", "length", 0.12),
        ("-3.5 cm", "length", -0.035),
        ("1 in", "length", 0.0254),
        ("6 ft", "length", 1.8288),
        ("180 deg", "angle", math.pi),
        ("90°", "angle", math.pi / 2),
        ("1 turn", "angle", 2 * math.pi),
        ("60 rpm", "angular velocity", 2 * math.pi),
        ("180 deg/s", "angular velocity", math.pi),
        ("2 kg*m^2", "inertia", 2.0),
        ("2 kg m²", "inertia", 2.0),
        ("2 g*mm**2", "inertia", 2e-9),
        ("7.85 g/cm^3", "density", 7850.0),
        ("7850 kg*m^-3", "density", 7850.0),
        ("5 N*m/rad", "torsional stiffness", 5.0),
        ("5 N·m/deg", "torsional stiffness", 5.0 * 180 / math.pi),
        ("3 N/(m/s)", "damping", 3.0),
        ("3 kN s/m", "damping", 3000.0),
        ("1 lb", "mass", 0.45359237),
        ("1 lbf/in^2", "pressure", 6894.757293168361),
        ("2 bar", "pressure", 2e5),
        ("36 km/h", "velocity", 10.0),
        ("9.81 m/s^2", "acceleration", 9.81),
        ("3 N/(kg m/s^2)", "none", 3.0),
        ("3 N s/(m rad)*2", "any", 6.0),
        ("1.5 min", "time", 90.0),
        ("2.5 t", "mass", 2500.0),
        ("1 h", "time", 3600.0),
        ("12 mm/2", "length", 0.006),
        ("2*pi rad", "angle", 2 * math.pi),
        ("pi/2 + 90 deg", "angle", math.pi),
        ("(1/2) mm", "length", 0.0005),
        ("sqrt((3 mm)^2 + (4 mm)^2)", "length", 0.005),
        ("2 m*sin(30 deg)", "length", 1.0),
        ("acos(0.5) + 30 deg", "angle", math.pi / 2),
        ("atan2(1 mm, 1 mm)", "angle", math.pi / 4),
        ("max(1 mm, 2 cm, 3 mm)", "length", 0.02),
        ("max(0, 5 mm)", "length", 0.005),
        ("0 - 5 mm", "length", -0.005),
        ("5 N*2 m", "torque", 10.0),
        ("1e-3", "length", 0.001),
        ("5 mm/2 mm", "none", 2.5),
        ("2^3^2", "none", 512.0),
        ("-2^2", "none", -4.0),
    ],
)
def test_quantities_are_read_in_si_units(text, dimension, value):
    assert quantity(text, dimension) == pytest.approx(value, rel=1e-15, abs=0.0)


def test_decimal_lengths_are_the_nearest_double():
    for n in range(1, 2000):
        assert quantity(f"{n} mm", "length") == float(f"{n}e-3")


def test_plain_numbers_are_si_whatever_is_wanted():
    for dimension in [*DIMENSIONS, "any"]:
        assert quantity(0.25, dimension) == 0.25
        assert quantity("0.25", dimension) == 0.25
        assert quantity("1/4", dimension) == 0.25
        assert quantity(np.float64(0.25), dimension) == 0.25


@pytest.mark.parametrize(
    ("text", "dimension", "says"),
    [
        ("120 ms", "length", '"120 ms" is a time; a length is wanted'),
        ("10 Hz", "angular velocity", "is a frequency; an angular velocity is wanted"),
        ("5 N*m", "torsional stiffness", "is a torque"),
        ("1/2 mm", "length", "write (1/2) mm"),
        ("5 mm/2 mm", "length", "a pure number"),
        ("3 m*s", "length", "in m*s"),
        ("1e308*10", "length", "not a finite number"),
        (math.nan, "length", "not a finite number"),
        (True, "length", "is no value"),
        (None, "length", "is no value"),
        ("5 mm", "lenght", "did you mean 'length'"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(text, dimension, says):
    with pytest.raises(ModelError, match=re.escape(says)):
        quantity(text, dimension)


@pytest.mark.parametrize(
    ("text", "says", "column"),
    [
        ("120 milimeter", "no unit", 5),
        ("120 MM", "did you mean 'mm'", 5),
        ("120 mmm", "did you mean 'mm'", 5),
        ("5 mm + 3 s", "a length and a time cannot be added", 6),
        ("0.1 + 5 mm", "give the plain number a unit", 5),
        ("2*", "the text ends", 3),
        ("", "no text", 1),
        ("  ", "no text", 1),
        ("(1 mm", "not closed", 1),
        ("1 mm)", "operator is missing", 5),
        ("2 3", "operator is missing", 3),
        ("mm", "is a unit: it stands straight after a number", 1),
        ("9.81 m / s^2", "without blanks", 10),
        ("30*deg", "is a unit: it stands straight after a number", 4),
        ("2*foo", "unknown parameter 'foo'", 3),
        ("foo(2)", "unknown function", 1),
        ("sin(2 mm)", "sin takes an angle, not a length", 1),
        ("exp(2 mm)", "exp takes a pure number", 1),
        ("sqrt(-1)", "cannot be computed", 1),
        ("1/0", "cannot be computed", 2),
        ("(-8)^0.5", "cannot be computed", 5),
        ("10^10^10", "cannot be computed", 3),
        ("2^(3 mm)", "pure number", 2),
        ("max(1 mm, 2 s)", "max of a length and a time", 1),
        ("sqrt(1, 2)", "one argument", 1),
        ("2 m^1.5", "whole number", 4),
        ("2 $", "belongs to no quantity", 3),
        ("(" * 500 + "1" + ")" * 500, "parentheses", 61),
        ("1e999999999 mm", "outside the range", 1),
        ("2" + "^2" * 500, "powers", 121),
    ],
)
def test_faults_are_pointed_at(text, says, column):
    with pytest.raises(ParseError, match=says) as caught:
        quantity(text, "any")
    assert caught.value.column == column


def test_parameters_may_be_anything_and_stay_si():
    values = {"L": 0.3, "r": 0.01, "a": 3.0, "b": 4.0}
    assert evaluate("L/2", values, "length") == 0.15
    assert evaluate("2*r + 5 mm", values, "length") == pytest.approx(0.025, rel=1e-15)
    assert evaluate("sqrt(a^2+b^2)", values, "mass") == 5.0
    with pytest.raises(ModelError, match="a length; a time"):
        evaluate("2*r + 5 mm", values, "time")
    with pytest.raises(ParseError, match="did you mean 'L'"):
        evaluate("l/2", values, "length")


def test_a_parameter_with_the_name_of_a_unit_does_not_change_a_unit_written_without_blanks():
    values = {"m": 3.0, "g": 9.81, "s": 7.0}
    assert evaluate("7850 kg/m^3", values, "density") == 7850.0
    assert evaluate("5 N*m/rad", values, "torsional stiffness") == 5.0
    assert evaluate("m*g", values, "force") == 3.0 * 9.81
    assert evaluate("2 kg * m", values, "any") == 6.0
    assert evaluate("2 kg*m", values, "any") == 2.0
    assert evaluate("5 m", values, "length") == 5.0
    assert evaluate("5 N/(m)", values, "stiffness") == 5.0
    assert evaluate("5 N/(m + 1)", values, "any") == 1.25


def test_forgotten_parameters_are_not_taken_for_units():
    # g is a gram: without this rule a forgotten gravity would be a factor of 1/1000
    with pytest.raises(ParseError, match="'g' is a unit"):
        evaluate("m*g", {"m": 2.0}, "force")


def test_expressions_of_atoms_have_the_values_of_numbers():
    ws = Workspace()
    L, r, phi = ws.parameters("L r phi")
    given = {"L": 0.4, "r": 0.03, "phi": 0.7}
    for text in ("2*r + 5 mm", "L*sin(phi + 30 deg)", "max(L, r)^2 - abs(r - L)", "atan2(L, r)"):
        found = expression(text, {"L": L, "r": r, "phi": phi}, "any")
        assert isinstance(found, Atom)
        value = atom_value(found, {L: 0.4, r: 0.03, phi: 0.7})
        assert value == pytest.approx(evaluate(text, given), rel=1e-15)
    assert expression("5 mm", {"L": L}, "length") == 0.005


def test_names_of_parameters_are_found():
    assert parameters_of("2*r + 5 mm*cos(phi) + pi*q0/3 kg") == {"r", "phi", "q0"}
    assert parameters_of("5 N*m") == set()
    assert parameters_of("2 kg * m") == {"m"}
    assert parameters_of("30 deg*t") == {"t"}
    assert parameters_of("5 N/(m + s)") == {"m", "s"}
    assert parameters_of("5 N/(m*s)") == set()
    assert parameters_of(0.3) == set()


def test_the_time_is_no_tonne():
    assert evaluate("30 deg*t", {"t": 2.0}) == pytest.approx(math.pi / 3, rel=1e-15)
    assert evaluate("2 kg*t", {"t": 3.0}) == 6.0
    with pytest.raises(ParseError, match=r"write \*t"):
        evaluate("2 t", {"t": 2.0})


def test_conditions_choose():
    text = "if(x < 2 s, 1 mm, sign(x)*2 mm)"
    assert evaluate(text, {"x": 1.0}, "length") == 0.001
    assert evaluate(text, {"x": 2.0}, "length") == 0.002
    assert evaluate("(1 < 2) + (2 <= 2) + (1 > 2) + (1 >= 2)") == 2.0
    ws = Workspace()
    x = ws.symbol("x")
    found = expression(text, {"x": x}, "length")
    assert [atom_value(found, {x: v}) for v in (1.0, 2.0, 3.0)] == [0.001, 0.002, 0.002]
    with pytest.raises(ParseError, match="a length and a time cannot be compared"):
        evaluate("1 mm < 2 s")
    with pytest.raises(ParseError, match="if of a length and a time"):
        evaluate("if(1, 1 mm, 2 s)")
    with pytest.raises(ParseError, match="operator is missing"):
        evaluate("1 < 2 < 3")


@given(st.floats(-1e50, 1e50))
def test_saved_values_are_read_back_exactly(value):
    assert quantity(format_quantity(value, "length"), "length") == value


def test_every_unit_goes_back_by_its_reciprocal():
    for name, unit in UNITS.items():
        assert quantity(f"(1 {name})/(1 {name})", "none") == 1.0
        dimension = next(k for k, d in DIMENSIONS.items() if d == unit.dimension)
        assert quantity(f"2 {name}", dimension) > 0


def test_random_texts_give_a_number_or_a_biela_error():
    random.seed(4)
    pieces = [
        "1",
        "2.5",
        " mm",
        " s",
        "+",
        "-",
        "*",
        "/",
        "^",
        "(",
        ")",
        "sin(",
        "L",
        " ",
        ",",
        "²",
    ]
    read = 0
    for _ in range(3000):
        text = "".join(random.choices(pieces, k=random.randint(1, 9)))
        try:
            assert math.isfinite(evaluate(text, {"L": 0.5}))
            read += 1
        except BielaError:
            pass
    assert 100 < read < 2900


@pytest.mark.parametrize("name", [name for name in DIMENSIONS if name != "none"])
def test_the_unit_of_a_dimension_is_read_as_one_of_it(name: str) -> None:
    assert quantity(f"1 {si_unit(DIMENSIONS[name])}", name) == 1.0


def test_units_are_told_by_texts_that_have_one() -> None:
    assert unit_of("2*r + 5 mm", {"r": 0.01}) == "m"
    assert unit_of("3 kN/mm") == "N/m" and unit_of("90 deg") == "rad"
    assert unit_of("2*r", {"r": 0.01}) == unit_of("30") == unit_of("pi/2") == unit_of(2.0) == ""


@pytest.mark.parametrize("what", ["start", "rates"])
@pytest.mark.parametrize("value", ["5 kg", "5 mm", "5 Hz", "3 N"])
def test_starts_and_rates_of_joints_have_the_dimension_of_their_coordinate(what, value):
    m = bl.Model("p")
    with pytest.raises(ModelError, match=rf"joint A \(revolute\): {what} of angle: .*wanted"):
        m.joint("revolute", "A", m.ground, m.body("b", mass=1.0), **{what: value})


def test_rates_may_be_given_in_rpm_and_slides_not_in_degrees():
    m = bl.Model("p", gravity=(0, 0, 0))
    b = m.body("b", mass=2.0, com=(0.4, 0, 0), inertia=0.1)
    m.joint("revolute", "A", m.ground, b, axis="y", rates="300 rpm")
    m.force("actuator", "u", coordinate="A")
    assert bl.simulate(m, 0.01).v[0, 0] == pytest.approx(10 * math.pi)
    for wrong in ("3 mm", "3 kg"):
        with pytest.raises(ModelError, match=r"torque is wanted"):
            bl.simulate(m, 0.01, inputs={"u": wrong})
    c = m.body("c", mass=1.0)
    with pytest.raises(ModelError, match=r"joint S \(prismatic\): rates of .*velocity is wanted"):
        m.joint("prismatic", "S", m.ground, c, rates="5 deg/s")


@pytest.mark.parametrize("blank", "\x1c\x1d\x1e\x1f")
@pytest.mark.parametrize("text", ["{}0", "{}0 ", "1{}", "2{}m", "3 + {}4"])
def test_separators_of_records_are_no_blanks(blank: str, text: str) -> None:
    with pytest.raises(ParseError, match="belongs to no quantity"):
        quantity(text.format(blank))


@pytest.mark.parametrize("blank", " \t\n\u00a0\u2009\u3000")
def test_blanks_of_any_script_are_blanks(blank: str) -> None:
    assert quantity(f"{blank}2{blank}") == quantity(f"{blank}2{blank}m", "length") == 2.0
