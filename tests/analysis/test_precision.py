"""Errors and cost of kinematic solutions, against derivatives in closed form and direct counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.cost import cost, operations
from biela.analysis.precision import precision
from biela.analysis.precision_report import Precision
from biela.errors import AssemblyError, ModelError
from examples.mechanisms.slider_crank import RADIUS, ROD, slider_crank

THETA, OMEGA = 2.5, 5.0


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


def report(crank: bl.System, **more: object) -> Precision:
    return precision(crank, drives={"theta": "1 + 5*t"}, t=0.3, **more)


def test_parameters_act_on_the_slider_as_the_derivatives_of_its_closed_form(
    crank: bl.System,
) -> None:
    found = report(crank, tolerances={"r": 1e-5, "l": 2e-5}, outputs=["x", "dx"])
    s, c = math.sin(THETA), math.cos(THETA)
    root = math.sqrt(ROD**2 - (RADIUS * s) ** 2)
    wanted = {
        ("x", "r"): c - RADIUS * s**2 / root,
        ("x", "l"): ROD / root,
        ("dx", "r"): OMEGA * (-s - 2 * RADIUS * s * c / root - RADIUS**3 * s**3 * c / root**3),
        ("dx", "l"): OMEGA * RADIUS**2 * s * c * ROD / root**3,
    }
    slopes = {(e.output, e.parameter): e.slope for e in found.modelling}
    for key, value in wanted.items():
        assert slopes[key] == pytest.approx(value, rel=1e-7)
    errors = abs(wanted["x", "r"]) * 1e-5, abs(wanted["x", "l"]) * 2e-5
    assert found.worst_case("x") == pytest.approx(sum(errors), rel=1e-6)
    assert found.root_sum_square("x") == pytest.approx(math.hypot(*errors), rel=1e-6)


def test_truncation_is_the_response_to_a_missed_residual(crank: bl.System) -> None:
    found = report(crank, tolerance=1e-6)
    # the worst case of the bound: every equation missed by ±1e-6, and solved in closed form
    # x = r cos θ + l cos φ + e1, 0 = r sin θ + l sin φ + e2, θ = 2.5 + e3
    worst = np.zeros(3)
    for signs in np.ndindex(2, 2, 2):
        e = 1e-6 * (2.0 * np.array(signs) - 1)
        theta = THETA + e[2]
        phi = -math.asin((RADIUS * math.sin(theta) + e[1]) / ROD)
        x = RADIUS * math.cos(theta) + ROD * math.cos(phi) + e[0]
        plain = -math.asin(RADIUS / ROD * math.sin(THETA))
        here = THETA, plain, RADIUS * math.cos(THETA) + ROD * math.cos(plain)
        worst = np.maximum(worst, np.abs(np.array([theta, phi, x]) - here))
    assert np.allclose(found.truncation.q, worst, rtol=1e-4)
    # the drive fixes the speed, whatever the position
    assert found.truncation.v[0] < 1e-12 < found.truncation.v[1]


def test_rounding_is_small_in_a_good_position_and_grows_towards_a_singular_one(
    crank: bl.System,
) -> None:
    good = report(crank)
    assert 0 < good.rounding.q.max() < 1e-14 and good.estimate < 1e-14
    # driven by the slider, 1e-6 m before its dead point
    near = precision(crank, {"theta": 0.01}, drives={"x": RADIUS + ROD - 1e-6})
    assert near.condition > 100 * good.condition
    assert near.rounding.q.max() > 10 * good.rounding.q.max()
    assert near.estimate == pytest.approx(near.condition * 2.220446049250313e-16)


def test_the_reports_are_tables(crank: bl.System) -> None:
    text = str(report(crank, tolerances={"l": 1e-5}, outputs=["x"]))
    assert "truncation" in text and "worst case" in text
    row = next(line for line in text.splitlines() if line.startswith("dphi"))
    assert len(row.split()) == 3


def test_questions_that_make_no_sense_are_refused(crank: bl.System) -> None:
    with pytest.raises(ModelError, match="no parameter length"):
        report(crank, tolerances={"length": 1e-5})
    with pytest.raises(ModelError, match="no output z"):
        report(crank, tolerances={"l": 1e-5}, outputs=["z"])
    with pytest.raises(ModelError, match="positive"):
        report(crank, tolerances={"l": -1e-5})
    with pytest.raises(ModelError, match="1 degrees of freedom are not driven"):
        precision(crank)
    with pytest.raises(AssemblyError, match="tolerance too large"):
        report(crank, tolerances={"l": 0.29})


def test_operations_are_counted_by_kind() -> None:
    ws = bl.Workspace("count")
    x, y = ws.symbols("x y")
    f = bl.Function("f", {"x": [x, y]}, {"y": [x * y + x / y - 3, x**5, bl.sin(x) + y]})
    found = operations("f", f)
    # products: x y, x / y, and x², x⁴ … of the power; sums: + and - of the first, + of the last
    assert (found.m, found.a, found.functions) == (2 + 3, 3, 1)


def test_the_cost_of_an_instant_adds_up(crank: bl.System) -> None:
    found = cost(crank, 0.5, drives={"theta": "1 + 5*t"})
    assert found.instants == 50 and 1 <= found.iterations <= 4 and found.time > 0
    parts = {part.name: part for part in found.parts}
    assert parts["Φ"].times == found.iterations + 1
    assert found.m == pytest.approx(sum(part.m * part.times for part in found.parts))
    # Φ: r cos θ + l cos φ - x, r sin θ + l sin φ, and the drive
    assert parts["Φ"].functions == 4 and parts["Φ"].m == 5
    assert "iterations" in str(found)
    many = cost(crank, 0.5, drives={"theta": "1 + 5*t"}, method="damped")
    assert many.iterations > found.iterations and many.m > found.m
