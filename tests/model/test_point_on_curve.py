"""A bead on a wire, by texts and by points: energy, period, and both formulations."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis import simulate
from biela.equations.formulate import formulate
from biela.errors import ModelError
from biela.model import Model
from tests.model.motions import COORDINATES, DIFFERENCE, random_state, slope

#: A cycloid of wheels of radius R, upside down: a bead on it swings with period 4π √(R/g).
R = 0.5
CYCLOID = {"x": "R*(s + sin(s))", "z": "R*(1 - cos(s))"}


def bead(**curve) -> Model:
    m = Model("bead")
    m.parameter("R", R)
    ball = m.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.joint("point_on_curve", "wire", (m.ground, (0.1, 0.2, 0.3)), ball, **curve)
    return m


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_bead_on_a_cycloid_swings_in_the_same_time_from_any_height(coordinates):
    system = formulate(bead(**CYCLOID), coordinates)
    period = 4 * np.pi * np.sqrt(R / 9.81)
    for start in (0.3, 1.2):
        q = {"wire.s": start}
        if coordinates == "reference":
            x, z = R * (start + np.sin(start)), R * (1 - np.cos(start))
            q |= {"ball.rx": 0.1 + x, "ball.ry": 0.2, "ball.rz": 0.3 + z}
        found = simulate(system, period, q=q, tolerance=1e-10)
        s = np.asarray(found["wire.s"])
        assert s[0] == pytest.approx(start, abs=1e-9)
        assert s[-1] == pytest.approx(start, abs=1e-7)
        # 4R sin(s/2), the length of the arc from the bottom, swings as a harmonic
        arc = np.sin(start / 2) * np.cos(2 * np.pi * np.asarray(found.t) / period)
        np.testing.assert_allclose(np.sin(s / 2), arc, atol=1e-7)


POINTS = [(np.cos(a), np.sin(a), 0.3 * np.sin(2 * a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1]]


@pytest.mark.parametrize("closed", (True, False))
def test_a_curve_goes_through_its_points_and_closes(closed):
    joint = bead(points=POINTS, closed=closed).joints["wire"]
    places = np.array(POINTS)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    for s, place in zip(lengths, places, strict=True):
        np.testing.assert_allclose(joint.curve(s, float), place, atol=1e-14)
    if closed:
        lap = lengths[-1] + np.linalg.norm(places[-1] - places[0])
        for s in (0.0, 0.4, 3.0):
            before, after = joint.curve(s, float), joint.curve(s + 2 * lap, float)
            np.testing.assert_allclose(before, after, atol=1e-12)
        tangents = [
            np.subtract(joint.curve(s + 1e-6, float), joint.curve(s, float)) for s in (-1e-6, 0.0)
        ]
        np.testing.assert_allclose(*tangents, atol=1e-11)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_bead_runs_round_a_closed_wire_and_keeps_its_energy(coordinates):
    m = bead(points=POINTS, closed=True)
    system = formulate(m, coordinates)
    q = {"wire.s": 0.0}
    v = {"wire.s_rate": 4.0}
    if coordinates == "reference":
        q |= {"ball.rx": 1.1, "ball.ry": 0.2, "ball.rz": 0.3}
    found = simulate(system, 3.0, q=q, v=v, tolerance=1e-9)
    s = np.asarray(found["wire.s"])
    assert s[-1] > 8.0  # more than a lap, which is 6.7 m long
    states = zip(np.asarray(found.q), np.asarray(found.v), strict=True)
    energies = np.array([sum(system.evaluate("energy", *state)) for state in states])
    np.testing.assert_allclose(energies, energies[0], rtol=1e-6)


def test_both_formulations_agree_on_the_motion_of_a_bead():
    m = bead(points=POINTS, closed=True)
    ends = []
    for coordinates in COORDINATES:
        system = formulate(m, coordinates)
        q = {"wire.s": 0.5}
        if coordinates == "reference":
            x, y, z = m.joints["wire"].curve(0.5, float)
            q |= {"ball.rx": 0.1 + x, "ball.ry": 0.2 + y, "ball.rz": 0.3 + z}
        found = simulate(system, 1.0, q=q, v={"wire.s_rate": 1.0}, tolerance=1e-10)
        ends.append(found["wire.s"][-1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_rates_of_the_equations_are_their_time_derivatives():
    system = formulate(bead(**CYCLOID, y="0.2*s^2"), "reference")
    t, q, v = random_state(system, 3)
    rate = slope(lambda t, q: system.evaluate("Phi", q), system, t, q, v)
    np.testing.assert_allclose(system.evaluate("Phi_v", q) @ v, rate, **DIFFERENCE)
    at = q[[x.name for x in system.q].index("wire.s")]
    curve = [R * (at + np.sin(at)), 0.2 * at**2, R * (1 - np.cos(at))]
    expected = q[:3] - [0.1, 0.2, 0.3] - curve
    np.testing.assert_allclose(system.evaluate("Phi", q), expected, atol=1e-13)


def test_it_leaves_four_freedoms():
    joint = bead(**CYCLOID).joints["wire"]
    assert (joint.removes, joint.freedoms) == (2, 4)


@pytest.mark.parametrize(
    ("curve", "message"),
    (
        ({}, "depends on s"),
        ({"x": "R"}, "depends on s"),
        ({"x": "s", "closed": True}, "only a curve given by points"),
        ({"x": "s", "points": POINTS}, "not by both"),
        ({"points": [(0, 0, 0), (0, 0, 0)]}, "no two neighbours alike"),
        ({"points": [(0, 0, 0), (1, 0, 0)], "closed": True}, "at least 3 points"),
        ({"points": [(0, 0), (1, 0)]}, "three values"),
    ),
)
def test_what_is_no_curve_is_refused(curve, message):
    with pytest.raises(ModelError, match=message):
        bead(**curve)
