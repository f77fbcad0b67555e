"""Capabilities that are derived when they are asked for, against differences and closed forms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from examples.mechanisms.rolling_disc import rolling_disc
from examples.mechanisms.slider_crank import slider_crank
from examples.mechanisms.top import top_by_euler_parameters
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar

MODELS = {
    "four_bar": lambda: four_bar(spring=True),
    "slider_crank": slider_crank,
    "rolling_disc": rolling_disc,
    "crank_rod_disc": crank_rod_disc,
    "top": top_by_euler_parameters,
}


def state(system: bl.System, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "q": random.uniform(0.2, 1.0, len(system.q)),
        "v": random.uniform(-1, 1, len(system.v)),
        "a": random.uniform(-1, 1, len(system.v)),
        "lam": random.uniform(-1, 1, len(system.multipliers)),
        "u": random.uniform(-1, 1, len(system.u)),
    }


def residual(system: bl.System, x: dict[str, np.ndarray]) -> np.ndarray:
    M = system.evaluate("M", x["q"], u=x["u"])
    Q = system.evaluate("Q", x["q"], x["v"], u=x["u"], lam=x["lam"])
    r = M @ x["a"] - Q
    if system.multipliers:
        r = r + np.atleast_2d(system.evaluate("Phi_v", x["q"], u=x["u"])).T @ x["lam"]
    return np.asarray(r)


@pytest.mark.parametrize("name", MODELS)
def test_tangents_are_the_slopes_of_the_residual(name):
    system = MODELS[name]().equations().system
    x = state(system, 1)
    K, C = system.evaluate("tangents", x["q"], x["v"], a=x["a"], lam=x["lam"], u=x["u"])
    for matrix, key in ((K, "q"), (C, "v")):
        for j in range(len(x[key])):
            h = 1e-6
            sides = []
            for sign in (1, -1):
                moved = x[key].copy()
                moved[j] += sign * h
                sides.append(residual(system, {**x, key: moved}))
            slope = (sides[0] - sides[1]) / (2 * h)
            np.testing.assert_allclose(matrix[:, j], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_kinetic_energy_is_half_v_m_v_where_time_does_not_enter(name):
    system = MODELS[name]().equations().system
    x = state(system, 2)
    T, _ = system.evaluate("energy", x["q"], x["v"])
    M = system.evaluate("M", x["q"])
    assert pytest.approx(x["v"] @ M @ x["v"] / 2, rel=1e-12) == T


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_the_energy_changes_by_the_power_of_what_has_no_potential(name):
    system = MODELS[name]().equations().system
    x = state(system, 3)
    # constraints do no work: velocities that they allow
    _, _, turn = np.linalg.svd(np.atleast_2d(system.evaluate("Phi_v", x["q"])))
    v = turn[-1]
    lam = np.zeros(len(system.multipliers))
    found = system["accelerations"](0.0, x["q"], v, x["u"], system.parameters)
    a, h = found[0], 1e-6

    def energy(sign: int) -> float:
        q = x["q"] + sign * h * v
        T, V = system.evaluate("energy", q, v + sign * h * a)
        return float(T + V)

    rate = (energy(1) - energy(-1)) / (2 * h)
    power = system.evaluate("power", x["q"], v, u=x["u"], lam=lam)
    assert abs(power) > 1e-3
    assert rate == pytest.approx(power, rel=1e-5)


def test_the_potential_of_a_spring_is_that_of_its_stretch():
    s = bl.SymbolicSystem("spring")
    (x,) = s.coordinates("x")
    k, rest, c = s.parameters(k=30.0, rest=0.4, c=2.0)
    body = s.solid("body", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.5)
    s.spring("s", (None, s.origin), (body, body.point), stiffness=k, length=rest, damping=c)
    system = s.equations().system
    T, V = system.evaluate("energy", [1.0], [2.0])
    assert pytest.approx(3.0) == T
    assert pytest.approx(30.0 * 0.6**2 / 2) == V
    assert system.evaluate("power", [1.0], [2.0]) == pytest.approx(-2.0 * 2.0**2)


def test_dependent_coordinates_given_in_closed_form_fulfil_the_constraints():
    s = slider_crank()
    theta, phi, x = s.q
    r, l = s.parameter_symbols[:2]
    rod = -bl.asin(r * bl.sin(theta) / l)
    s.explicit(phi, rod)
    s.explicit(x, r * bl.cos(theta) + l * bl.cos(rod))
    system = s.equations().system
    for angle in (0.3, 1.9, -2.4):
        q = system.evaluate("positions", [angle, 9.0, 9.0])
        assert q[0] == angle
        np.testing.assert_allclose(system.evaluate("Phi", q), 0, atol=1e-14)
    with pytest.raises(ModelError, match="not one of its coordinates"):
        s.explicit(theta.velocity, phi)


def test_a_closed_form_is_where_a_run_starts():
    s = bl.SymbolicSystem("wedge")
    x, y = s.coordinates("x y")
    s.solid("block", at=s.origin.offset("P", s.base.vector(x, 0, y)), base=s.base, mass=1.0)
    s.constrain(y - x**2, name="curve")
    s.explicit(y, x**2)
    s.gravity = (0, 0, -9.81)
    r = bl.simulate(s, 0.1, q={"x": 3.0})
    np.testing.assert_allclose(r.q[0], [3.0, 9.0], atol=1e-12)


def test_units_follow_from_what_a_coordinate_moves():
    system = slider_crank().equations().system
    assert [e.unit for e in system.q] == ["rad", "rad", "m"]
    assert [e.unit for e in system.v] == ["rad/s", "rad/s", "m/s"]
    assert {e.unit for e in top_by_euler_parameters().equations().system.q} == {""}


def test_lines_join_each_point_to_the_one_it_is_placed_from():
    system = four_bar().equations().system
    drawing = system.drawing
    assert drawing is not None
    joined = {(drawing.points[k.first], drawing.points[k.second]): k.name for k in drawing.links}
    origin = drawing.points[0]
    assert joined == {
        (origin, "A"): "bar1",
        ("A", "B"): "bar2",
        ("B", "C"): "bar3",
        (origin, "O2"): "ground",
    }
    places = system.evaluate("points", [0.0, 0.0, 0.0])
    np.testing.assert_allclose(places[drawing.points.index("C")], [15.0, 0.0, 0.0])


def test_a_name_is_taken_once_among_events():
    s = slider_crank()
    s.event("stop", s.q[2] - 1)
    with pytest.raises(ModelError, match="two events are called stop"):
        s.event("stop", s.q[2])
    system = s.equations().system
    assert system.events == ("stop",)
    np.testing.assert_allclose(system.evaluate("events", [0, 0, 1.5]), [0.5])


def test_a_start_is_kept_with_the_coordinates_it_names():
    s = slider_crank()
    s.start({s.q[0]: 0.5}, **{s.q[1].name: 0.1})
    q = s.equations().system.q
    assert (q[0].value, q[0].given) == (0.5, True)
    assert (q[1].value, q[1].given) == (0.1, True)
    with pytest.raises(ModelError, match="nothing is no coordinate"):
        s.start(nothing=1.0)


def test_a_system_is_stored_with_what_it_can_derive():
    system = four_bar().equations().system
    again = pickle.loads(pickle.dumps(system))
    q, v = [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]
    for name in ("energy", "tangents", "M_Q"):
        pairs = zip(again.evaluate(name, q, v), system.evaluate(name, q, v), strict=True)
        for found, expected in pairs:
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(again.evaluate("points", q), system.evaluate("points", q))


def test_inputs_may_have_values_of_their_own():
    s = bl.SymbolicSystem("cart")
    (x,) = s.coordinates("x")
    F, G = s.inputs("F", G=4.0)
    body = s.solid("cart", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=2.0)
    s.wrench(body, (F + G, 0, 0))
    r = bl.simulate(s, 1.0)
    assert r["x"][-1] == pytest.approx(1.0, rel=1e-9)
    assert bl.simulate(s, 1.0, inputs={"F": -4.0})["x"][-1] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ModelError, match="input H must be a number"):
        s.inputs(H="much")
