"""Inputs and reactions of a motion: played back, balanced against power, shared where redundant."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import biela as bl
from biela.analysis.driving import driven
from biela.analysis.inverse_dynamics import inverse_dynamics
from biela.analysis.kinematics import kinematics
from biela.errors import ModelError, ShapeError
from biela.results import Results
from examples.mechanisms.slider_crank import slider_crank

MECHANISMS = Path(__file__).parents[2] / "examples" / "mechanisms"

LAW = "pi/3 + 20*t + sin(9*t)"


@pytest.fixture(scope="module")
def crank() -> bl.System:
    return slider_crank().equations().system


@pytest.fixture(scope="module")
def motion(crank: bl.System) -> Results:
    return kinematics(crank, 0.3, step=1e-3, drives={"theta": LAW})


def test_the_inputs_play_the_motion_back(crank: bl.System, motion: Results) -> None:
    found = inverse_dynamics(crank, motion, unknown=["tau"], inputs={"F": 3.0})
    assert np.allclose(found["F"], 3.0) and found["missing force"].max() < 1e-11
    torque = CubicSpline(found.t, found["tau"])
    function = crank["accelerations"]

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        given = {"t": t, "q": x[:3], "v": x[3:], "u": [float(torque(t)), 3.0]}
        given["p"] = crank.parameters
        a, _ = function(*(given[a.name] for a in function.inputs))
        return np.concatenate([x[3:], a])

    start = np.concatenate([motion.q[0], motion.v[0]])
    played = solve_ivp(rates, (0, 0.3), start, t_eval=motion.t, rtol=1e-10, atol=1e-11)
    assert np.abs(played.y[:3].T - motion.q).max() < 1e-6
    assert np.abs(played.y[3:].T - motion.v).max() < 1e-4


def test_the_torque_has_the_power_that_the_energy_takes(crank: bl.System, motion: Results) -> None:
    found = inverse_dynamics(crank, motion, unknown=["tau"], inputs={"F": 3.0})
    energy = CubicSpline(found.t, found["energy"])
    power = found["tau"] * found["dtheta"] + 3.0 * found["dx"]
    assert np.abs(energy(found.t, 1) - power)[5:-5].max() < 1e-5 * np.abs(power).max()


def test_the_multiplier_of_a_drive_is_minus_its_torque(crank: bl.System, motion: Results) -> None:
    by_input = inverse_dynamics(crank, motion, unknown=["tau"], inputs={"F": 3.0})
    by_drive = inverse_dynamics(driven(crank, {"theta": LAW}), motion, unknown=[],
                                inputs={"F": 3.0})  # fmt: skip
    assert np.allclose(by_drive["λ(drive theta)"], -by_input["tau"], rtol=0, atol=1e-11)
    assert np.allclose(by_drive.lam[:, :2], by_input.lam, rtol=0, atol=1e-10)
    # Newton's second law with these forces
    k = 77
    state = {"q": motion.q[k], "v": motion.v[k], "t": motion.t[k]}
    M = crank.evaluate("M", motion.q[k])
    Q = crank.evaluate("Q", **state, u=by_input.u[k])
    pull = crank.evaluate("Phi_v", motion.q[k]).T @ by_input.lam[k]
    assert np.allclose(M @ motion.a[k] + pull, Q, rtol=0, atol=1e-10)


def test_redundant_inputs_share_the_load_and_too_few_are_refused() -> None:
    s = bl.SymbolicSystem("lift")
    x, z = s.coordinates("x z")
    left, right, side = s.inputs("left right side")
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, z)), base=s.base, mass=2.0)
    s.wrench(body, s.base.vector(side, 0, left + 2 * right))
    s.gravity = s.base.vector(0, 0, -9.81)
    model = s.equations()
    t = np.linspace(0, 1, 11)
    q = np.stack([0.1 * t, np.sin(t)], axis=1)
    v = np.stack([0.1 + 0 * t, np.cos(t)], axis=1)
    a = np.stack([0 * t, -np.sin(t)], axis=1)
    found = inverse_dynamics(model, (t, q, v, a))
    load = 2.0 * (9.81 - np.sin(t))
    # the smallest forces with left + 2 right = load
    assert np.allclose(found.u, np.stack([load / 5, 2 * load / 5, 0 * t], axis=1))
    a[:, 0] = np.where(t > 0.65, 3.0, 0.0)
    with pytest.raises(ModelError, match=r"at t = 0\.7 s a force of 6 along dx is missing"):
        inverse_dynamics(model, (t, q, v, a), unknown=["left", "right"])


def test_friction_that_follows_the_reaction_is_included() -> None:
    s = bl.SymbolicSystem("sledge")
    x, z = s.coordinates("x z")
    (F,) = s.inputs("F")
    (mu,) = s.parameters(mu=0.3)
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, z)), base=s.base, mass=2.0)
    s.gravity = s.base.vector(0, 0, -9.81)
    s.constrain(z, name="ground")
    # pulled upwards at an angle: the normal force is m g - F/2
    normal = -s.multipliers[0]
    s.wrench(body, s.base.vector(F - mu * normal, 0, F / 2))
    found = inverse_dynamics(s, ([0.0], [[0.0, 0.0]], [[1.0, 0.0]], [[4.0, 0.0]]))
    # 2·4 = F - 0.3 (2·9.81 - F/2)
    assert found.u[0, 0] == pytest.approx((8 + 0.3 * 19.62) / 1.15)
    assert -found.lam[0, 0] == pytest.approx(19.62 - found.u[0, 0] / 2)


def test_what_is_no_motion_of_the_model_is_refused(crank: bl.System, motion: Results) -> None:
    with pytest.raises(ShapeError, match="q of the motion has shape"):
        inverse_dynamics(crank, ([0.0], [[1.0, 2.0]], [[0.0] * 3], [[0.0] * 3]))
    with pytest.raises(ModelError, match="no input torque"):
        inverse_dynamics(crank, motion, unknown=["torque"])
    s = bl.SymbolicSystem("square")
    (x,) = s.coordinates("x")
    (w,) = s.inputs("w")
    body = s.solid("body", at=s.origin.offset("B", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    s.wrench(body, s.base.vector(w * abs(w), 0, 0))
    with pytest.raises(ModelError, match="not linear in the input w"):
        inverse_dynamics(s, ([0.0], [[0.0]], [[0.0]], [[1.0]]))
    with pytest.raises(ModelError, match="not one of this model"):
        inverse_dynamics(s, motion)
    assert math.isclose(motion.t[-1], 0.3)


@pytest.mark.parametrize("coordinates", ["joint", "reference", "natural"])
@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ((0.02, 0, 0), "constraint"),
        ((0, 0.3, 0), "the rate of constraint"),
        ((0, 0, 5.0), "the acceleration of constraint"),
    ],
)
def test_a_motion_that_contradicts_the_joints_is_refused(coordinates, spoilt, said):
    model = bl.formulate(bl.load(MECHANISMS / "four_bar.toml"), coordinates)
    r = bl.kinematics(model, 0.5)
    bl.inverse_dynamics(model, (r.t, r.q, r.v, r.a))
    q, v, a = (part.copy() for part in (r.q, r.v, r.a))
    for part, by in zip((q, v, a), spoilt, strict=True):
        part[20:, -1] += by
    with pytest.raises(ModelError, match=f"not one of this model: {said} .* t = 0.2 s"):
        bl.inverse_dynamics(model, (r.t, q, v, a))


def test_a_motion_that_a_drive_does_not_make_has_forces_of_that_drive():
    """The drive tells what is asked for; twice as fast takes four times the torque."""
    model = bl.load(MECHANISMS / "four_bar.toml")
    model.gravity = (0, 0, 0)
    r = bl.kinematics(bl.formulate(model), 0.5)
    once = bl.inverse_dynamics(model, r)
    twice = bl.inverse_dynamics(model, (r.t / 2, r.q, 2 * r.v, 4 * r.a))
    assert np.abs(twice["lam"] - 4 * once["lam"]).max() < 1e-9 * np.abs(once["lam"]).max()


def test_forces_that_are_no_numbers_are_refused_with_their_time():
    m = bl.Model("pendulum", plane="xz")
    b = m.body("b", mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", m.ground, b, axis="y")
    m.force("actuator", "motor", coordinate="A")
    m.force("wrench", "w", marker=b.at(0.3, 0, 0), fx="sqrt(0.5 - t)")
    t = np.linspace(0, 1, 11)
    turn = t[:, None]
    with pytest.raises(ModelError, match=r"the forces are not finite at t = 0\.6 s"):
        bl.inverse_dynamics(m, (t, turn, 1 + 0 * turn, 0 * turn))


def limited(limit: float | None) -> bl.Model:
    m = bl.Model("arm")
    b = m.body("b", mass=2.0, com=(0.5, 0, 0), inertia=0.1)
    m.joint("revolute", "A", m.ground, b, axis="y")
    m.force("actuator", "u", coordinate="A", **({} if limit is None else {"limit": limit}))
    return m


def test_inputs_with_a_limit_are_what_the_motion_requires():
    """I A'' = u + m g l cos A, whatever the motor can give; beyond that an event tells."""
    driven = limited(None)
    driven.driver("rotary", "d", coordinate="A", law="0.1*sin(3*t)")
    motion = bl.kinematics(driven, 1.0, step=0.1)
    A, a = motion["A.angle"], motion.a[:, 0]
    expected = 0.6 * a - 2 * 9.81 * 0.5 * np.cos(A)
    for limit, told in ((None, 0), (100.0, 0), (9.5, 1)):
        r = bl.inverse_dynamics(limited(limit), motion)
        np.testing.assert_allclose(r["u"], expected, atol=1e-9)
        assert [event.name for event in r.events] == ["u exceeds the limit of its actuator"] * told
    first = motion.t[np.argmax(np.abs(expected) > 9.5)]
    assert r.events[0].time == pytest.approx(first)


def test_inputs_with_a_limit_hold_a_position_up_to_it():
    assert bl.holding_inputs(limited(10.0), {"A": 0.0}).u[0] == pytest.approx(-9.81)
    with pytest.raises(ModelError, match=r"u would have to be -9.81, which exceeds the limit"):
        bl.holding_inputs(limited(9.0), {"A": 0.0})
