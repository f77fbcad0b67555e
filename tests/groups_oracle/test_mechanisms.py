"""Every formulation of the examples against the golden tables and against one another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.groups_oracle import by_groups, closed_forms, natural, natural_groups, relative
from tests.groups_oracle.constraint_set import Motion, joined, solve, still
from tests.groups_oracle.golden import example


def uniform(angles, rate, acceleration=0.0):
    x = np.asarray(angles, dtype=float)
    return Motion(x, np.full_like(x, rate), np.full_like(x, acceleration))


# --- E1, E2: the four-bar ------------------------------------------------------------------------


def four_bar_points(formulation, angle):
    """x2, y2 with rates at every angle: (instants, 6)."""
    data = example("e1_four_bar").data
    rows = []
    if formulation.startswith("global"):
        found = natural.swept_four_bar(
            (2, 8, 5), (0, 0), (10, 0), data["guess_natural"], angle, "tensor" in formulation
        )
        return np.array([np.concatenate([s.x[2:], s.v[2:], s.a[2:]]) for s in found])
    guess = {"loop": data["guess_relative"], "relative": (0.4, -1.2)}.get(formulation, (8.0, 5.0))
    for x, v, a in zip(*angle, strict=True):
        one = Motion(np.array([x]), np.array([v]), np.array([a]))
        P = Motion(*closed_forms.crank(closed_forms.Motion(x, v, a), 2.0))
        if formulation == "loop":
            s = solve(relative.four_bar_loop(2, 8, 5, 10, 0), guess, one)
            _, point = relative.four_bar_points(2, 8, s, one)
        elif formulation == "relative":
            s = solve(relative.dyad_3r((8, 0), (5, 0)), guess, joined(still([10, 0]), P))
            point = relative.point_of_bar(P, s[:3], (8, 0))
        else:
            group = natural_groups.dyad_3r(8, 5)
            h = joined(P, still([10, 0]))
            s = point = solve(group, guess, h, tensor="tensor" in formulation)
        guess = s.x
        rows.append(np.concatenate([point.x, point.v, point.a]))
    return np.array(rows)


FOUR_BARS = ["global", "global, tensor", "loop", "groups", "groups, tensor", "relative"]


@pytest.mark.parametrize("formulation", FOUR_BARS)
def test_every_formulation_of_the_four_bar_gives_the_golden_table(formulation):
    table = example("e1_four_bar")["points"]
    angle = uniform(np.radians(table.column("alpha_deg")), 1.0, 1.0)
    points = four_bar_points(formulation, angle)
    golden = table.array("x2", "y2", "vx2", "vy2", "ax2", "ay2")
    np.testing.assert_allclose(points, golden, rtol=0, atol=1e-9)
    _, P2 = closed_forms.four_bar(closed_forms.Motion(*angle), 2, 8, 5, (10, 0))
    np.testing.assert_allclose(points, np.hstack(P2), rtol=0, atol=1e-10)


def test_the_relative_angles_of_the_loop_are_golden():
    table = example("e1_four_bar")["relative"]
    guess = example("e1_four_bar").data["guess_relative"]
    for row, degrees in zip(table.array(), table.column("phi2_deg"), strict=True):
        s = solve(
            relative.four_bar_loop(2, 8, 5, 10, 0),
            guess,
            uniform([np.radians(degrees)], 1.0, 1.0),
        )
        np.testing.assert_allclose(np.concatenate(s[:3]), row[1:], rtol=0, atol=1e-9)


# --- E3: the chain --------------------------------------------------------------------------------


def chain_angle(t):
    data = example("e3_four_bar_chain").data
    return uniform(np.pi / 2 + data["rate"] * (np.asarray(t) - data["dt"]), data["rate"])


def test_the_chain_gives_the_exact_columns_in_every_formulation():
    table = example("e3_four_bar_chain")["exact"]
    angle = chain_angle(table.column("t"))
    golden = table.array("x", "v", "a")
    ways = {
        "groups": [[part[0] for part in row[1][:3]] for row in by_groups.chain_natural(2, angle)],
        "relative": [[part[0] for part in row[1][1]] for row in by_groups.chain_relative(2, angle)],
        "global": [whole_chain(x) for x in angle.x],
        "tensor": [
            [part[0] for part in row[1][:3]]
            for row in by_groups.chain_natural(2, angle, tensor=True)
        ],
    }
    for name, found in ways.items():
        np.testing.assert_allclose(found, golden, rtol=0, atol=1e-10, err_msg=name)


def whole_chain(x):
    """The second joint by the chain as one system, walked to from its start in small steps."""
    way = np.linspace(np.pi / 2, np.pi / 2 + (x - np.pi / 2) % (2 * np.pi), 31)
    found = natural.swept_chain(2, uniform(way, example("e3_four_bar_chain").data["rate"]))[-1]
    return [part[4] for part in found[:3]]


def test_joints_of_a_long_chain_move_alike():
    angle = chain_angle([0.005, 30.005, 60.0])
    for row in (by_groups.chain_natural(40, angle), by_groups.chain_relative(40, angle)):
        last = row[-1][39][1] if isinstance(row[-1][39][1], Motion) else row[-1][39]
        exact = closed_forms.chain_joint(closed_forms.Motion(*chain_angle([60.0])), 40)
        for part, value in zip(exact, last[:3], strict=True):
            np.testing.assert_allclose(value, part[0], rtol=0, atol=1e-9)


def test_a_stale_jacobian_gives_the_figures_that_the_source_printed():
    chain = example("e3_four_bar_chain")
    for t, x, v, a in chain["cuadro_1"].array()[1:]:
        # a few steps make the run forget its guess
        angle = chain_angle(t + chain.data["dt"] * np.arange(-3, 1))
        found = by_groups.chain_natural(2, angle, stale=True)[-1][1]
        assert found.x[0] == pytest.approx(x, abs=1e-9)
        assert found.v[0] == pytest.approx(v, rel=0, abs=4e-11)
        assert found.a[0] == pytest.approx(a, rel=0, abs=4e-11)


# --- E4, E5, E6: the spatial slider ---------------------------------------------------------------


@pytest.mark.parametrize("step", [30, 7])
def test_the_spatial_slider_as_one_system_crosses_every_switch(step):
    angle = uniform(np.radians(np.arange(0, 361, step)), 24.0)
    rows = {natural.slider_row(x, np.pi / 6) for x in angle.x}
    assert rows == {"cos", "sin y"}
    guess = np.array([0, 0, 2, 5.6])
    found = natural.swept_slider(2, 6, np.pi / 6, guess, angle)
    P = closed_forms.inclined_crank(closed_forms.Motion(*angle), 2, np.pi / 6)
    s = closed_forms.slider_on_rail(P, 6, np.array([1.0, 0, 0]), np.zeros(3))
    for order in range(3):
        values = np.array([solution[order] for solution in found])
        scale = 24.0**order
        np.testing.assert_allclose(values[:, :3], P[order], rtol=0, atol=1e-10 * scale)
        np.testing.assert_allclose(values[:, 3], s[order], rtol=0, atol=1e-10 * scale)


def test_a_steep_axis_takes_the_other_sine():
    beta = np.radians(70)
    angle = uniform(np.radians(np.arange(0, 361, 10)), 1.0)
    assert natural.slider_row(0.0, beta) == "sin x"
    found = natural.swept_slider(2, 6, beta, np.array([0, 0, 2, 5.6]), angle)
    P = closed_forms.inclined_crank(closed_forms.Motion(*angle), 2, beta)
    np.testing.assert_allclose([s.x[:3] for s in found], P.x, rtol=0, atol=1e-10)


def test_the_slider_loop_gives_the_golden_table():
    table = example("e4_slider")["computed"]
    guess = [0.3, 0.5, 5.6]
    for row in table.array():
        s = solve(relative.slider_loop(2, 6), guess, uniform([np.radians(row[0])], 24.0))
        guess = s.x
        assert s.x == pytest.approx([row[4], row[5], row[1]], rel=0, abs=1e-9)
        assert s.v[2] == pytest.approx(row[2], rel=0, abs=1e-9)
        assert s.a[2] == pytest.approx(row[3], rel=0, abs=2e-9)


@pytest.mark.parametrize("coordinates", ["relative", "NAT4", "NAT8"])
@pytest.mark.parametrize("tensor", [False, True])
def test_the_slider_by_groups_gives_the_golden_table(coordinates, tensor):
    table = example("e4_slider")["computed"]
    angle = uniform(np.radians(table.column("phi_deg")), 24.0)
    found = np.array([list(row[0]) for row in by_groups.fan(1, angle, coordinates, tensor=tensor)])
    np.testing.assert_allclose(found, table.array("x2", "v2", "a2"), rtol=0, atol=2e-9)


@pytest.mark.parametrize("coordinates", ["relative", "NAT4", "NAT8"])
def test_every_slider_of_the_fan_follows_its_closed_form(coordinates):
    angle = uniform(np.radians(np.arange(0, 361, 10)), 34.9)
    found = by_groups.fan(5, angle, coordinates)
    P = closed_forms.inclined_crank(closed_forms.Motion(*angle), 2, np.pi / 6)
    for k in range(5):
        _, psi = by_groups.rail(k, 5)
        e = np.array([np.cos(psi), np.sin(psi), 0.0])
        s = closed_forms.slider_on_rail(P, 6, e, np.zeros(3))
        for order in range(3):
            values = [row[k][order] for row in found]
            np.testing.assert_allclose(values, s[order], rtol=0, atol=1e-9 * 34.9**order)
