"""`Robot.simulate` obeys the model: its inputs, events, sensors and reactions, and joint forces."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError

STEP = 1e-3


@numba.cfunc("void(CPointer(f8), CPointer(f8), CPointer(f8), CPointer(f8))")
def compiled(t: Any, x: Any, p: Any, u: Any) -> None:
    """A compiled controller that sets the first input."""
    u[0] = 1.7


def slide(**friction: float) -> bl.Model:
    """A mass of 2 kg on a slide along x, a quarter of which turns on it, and a motor."""
    m = bl.Model("slide")
    cart = m.body("cart", mass=1.5, inertia=(0.1, 0.1, 0.1))
    top = m.body("top", mass=0.5, inertia=(0.1, 0.1, 0.1))
    m.joint("prismatic", "S", m.ground.at(axis="x"), cart.at(axis="x"))
    m.joint("revolute", "T", cart, top)
    m.force("actuator", "motor", coordinate="S", gear=2.0)
    if friction:
        m.force("friction", "dry", coordinate="S", **friction)
    return m


def arm() -> bl.Model:
    """A hinge, a ball whose joint goes from the tip to the root, and a hinge."""
    m = bl.Model("arm")
    skew = (0.02, 0.03, 0.04, 0.002, -0.003, 0.001)
    upper = m.body("upper", mass=1.2, com=(0.2, 0.01, 0.02), inertia=skew)
    lower = m.body("lower", mass=0.8, com=(0.1, -0.02, 0.01), inertia=skew)
    hand = m.body("hand", mass=0.3, com=(0.05, 0.02, 0), inertia=skew)
    m.joint("revolute", "A", m.ground, upper, axis="y", start=0.4, rates=1.5)
    m.joint("spherical", "B", lower, upper.at(0.4, 0, 0))
    m.joint("revolute", "C", lower.at(0.3, 0, 0), hand, axis=(1, 2, 3), rates=0.7)
    return m


@pytest.mark.parametrize(
    ("inputs", "force"),
    [
        ({"motor": 1.7}, 3.4),
        ([1.7], 3.4),
        ([1.7, 0.3, 0.0], 3.7),
        ({"motor": 1.7, "tau.S": 0.3}, 3.7),
        (None, 0.0),
    ],
)
def test_motors_and_joint_forces_push_alike(inputs: Any, force: float) -> None:
    run = bl.Robot(slide()).simulate(0.4, step=STEP, inputs=inputs)
    assert run.groups["u"].names == ("motor", "tau.S.displacement", "tau.T.angle")
    np.testing.assert_allclose(run["S"], force / 2.0 * run.t**2 / 2, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, v: [1.7],
        lambda t, q, v: np.array([1.7, 0.0, 0.0]),
        lambda t, q, v: {"motor": 1.7},
        lambda t, q, v: {"tau.S.displacement": 3.4},
        compiled,
    ],
    ids=["own", "all", "by name", "torque", "compiled"],
)
def test_a_controller_sets_the_inputs_of_the_model_or_all(law: Any) -> None:
    run = bl.Robot(slide()).simulate(0.4, step=STEP, control=law, sample_time=0.01)
    np.testing.assert_allclose(run["S"], 1.7 * run.t**2 / 2, rtol=0, atol=1e-13)


def test_a_controller_that_sets_too_many_inputs_is_told_which_there_are() -> None:
    with pytest.raises(ModelError, match=r"returned 2 numbers; .* motor, tau\.S\.displ"):
        bl.Robot(slide()).simulate(0.1, step=STEP, control=lambda t, q, v: [1.0, 2.0])


def test_a_stop_is_an_event_when_it_is_met_and_can_end_the_run() -> None:
    m = slide()
    m.force("stop", "wall", coordinate="S", upper=0.25, stiffness=1e4)
    robot = bl.Robot(m)
    seen: list[tuple[float, float]] = []
    answers = {"wall.upper": lambda t, q, v: seen.append((t, q[0]))}
    run = robot.simulate(0.3, v={"S": 1.0}, step=STEP, on_event=answers)
    assert [e.name for e in run.events] == ["wall.upper", "wall.upper"]
    assert seen[0] == pytest.approx((0.25, 0.25), abs=1e-12)
    assert run.v[-1, 0] == pytest.approx(-1.0, abs=1e-4)
    run = robot.simulate(0.3, v={"S": 1.0}, step=STEP, on_event={"wall.upper": "stop"})
    assert run.t[-1] == pytest.approx(0.25, abs=1e-12)


def test_sensors_measure_where_a_hand_is_and_how_it_turns() -> None:
    m = bl.Model("geared")
    a, b = (m.body(name, mass=1.0, com=(0.2, 0, 0), inertia=0.02) for name in "ab")
    m.joint("revolute", "A", m.ground, a, axis="z", rates=2.0)
    m.joint("revolute", "B", m.ground.at(0.5, 0, 0), b, axis="z")
    m.joint("gear", "G", first="A.angle", second="B.angle", ratio=2.5)
    m.sensor("point", "tip", marker=b.at(0.4, 0, 0))
    m.sensor("joint", "turned", coordinate="B")
    m.sensor("expression", "sum", text="A.angle + 3*B.angle.rate + t", unit="rad")
    run = bl.Robot(m).simulate(2.0, step=STEP)
    turn = np.array(run["B.angle"])
    np.testing.assert_allclose(np.abs(turn), 5.0 * run.t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["turned"], turn, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["tip.x"], 0.5 + 0.4 * np.cos(turn), rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["tip.vy"], 0.4 * np.cos(turn) * turn[-1] / 2.0, atol=1e-12)
    np.testing.assert_allclose(run["sum"], 3.0 * run.t + 3 * turn[-1] / 2.0, rtol=0, atol=1e-12)


def test_friction_under_load_brakes_by_the_weight_and_functions_see_the_robot() -> None:
    mu, g, seen = 0.3, 9.80665, []
    m = slide(coefficient=mu, transition=1e-3)
    m.gravity = (0, 0, -g)
    robot = bl.Robot(m)
    assert robot.q_names == ("S.displacement", "T.angle")

    def law(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        seen.append((t, *q, *v))
        return [1.1]

    run = robot.simulate(0.2, q=[0.1, 0.2], v=[2.0, 5.0], step=STEP, control=law)
    a = 2.2 / 2.0 - mu * g  # of all that the slide carries
    np.testing.assert_allclose(run["S"], 0.1 + 2.0 * run.t + a * run.t**2 / 2, rtol=0, atol=1e-10)
    t, x, angle, speed, spin = np.array(seen).T
    np.testing.assert_allclose(x, 0.1 + 2.0 * t + a * t**2 / 2, rtol=0, atol=1e-10)
    np.testing.assert_allclose(speed, 2.0 + a * t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(angle, 0.2 + 5.0 * t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(spin, 5.0, rtol=0, atol=1e-10)
    pushed = robot.simulate(0.2, v=[2.0, 0.0], step=STEP, inputs={"motor": 1.0, "tau.S": 0.2})
    np.testing.assert_allclose(pushed.t**2 * a / 2 + 2.0 * pushed.t, pushed["S"], atol=1e-10)


def test_a_sensor_feels_the_tension_of_a_pendulum_with_its_torque() -> None:
    m = bl.Model("pendulum")
    rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    m.joint("revolute", "A", m.ground, rod, axis="y", start=0.3, rates=12.0)
    m.sensor("reaction", "load", joint="A", along=rod.at(), components="fz my")
    robot = bl.Robot(m)
    turns = []

    def law(t: float, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
        turns.append(q[0])
        return {"tau.A.angle": 0.7}

    run = robot.simulate(1.0, step=2e-4, control=law)
    angle, rate = np.array(run["A.angle"]), np.array(run["A.angle_rate"])
    g = -float(m.gravity[2])
    expected = 2.0 * (g * np.cos(angle) + 0.5 * rate**2)
    np.testing.assert_allclose(run["load.fz"], expected, rtol=1e-9)
    np.testing.assert_allclose(run["load.my"], 0.0, rtol=0, atol=1e-9)
    assert angle[-1] > 2 * np.pi  # functions see whole turns
    assert np.ptp(turns) > 2 * np.pi
    energy = 0.52 * rate**2 / 2 - 2.0 * g * 0.5 * np.cos(angle) - 0.7 * angle
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-7)


def test_joint_reactions_know_motors_and_joint_forces() -> None:
    plain, driven = arm(), arm()
    for m in (plain, driven):
        m.force("actuator", "motor", coordinate="C", value=0.2)
    driven.force("actuator", "torque", coordinate="A", value=0.6)
    robot = bl.Robot(plain)
    run = robot.simulate(0.05, step=STEP, inputs={"tau.A": 0.6})
    other = bl.simulate(bl.formulate(driven, "reference"), 0.05, step=STEP)
    found, expected = bl.joint_reactions(plain, run), bl.joint_reactions(driven, other)
    assert found.joints == ("A", "B", "C")
    scale = np.abs(expected.wrenches).max()
    np.testing.assert_allclose(found.wrenches, expected.wrenches, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("loaded", [False, True])
def test_moments_on_a_ball_push_alike_in_all_equations(axis: str, loaded: bool) -> None:
    plain = arm()
    inputs = {f"tau.B.rotation_w{axis}": 0.4, "tau.C": -0.1}
    run = bl.Robot(plain).simulate(0.05, step=STEP, inputs=inputs)
    if not loaded:
        # these are refused where forces do not give the motion
        assert len(bl.joint_reactions(plain, run).t) == len(run.t)
        return
    plain.sensor("reaction", "load", joint="A")
    other = bl.Robot(plain).simulate(0.05, step=STEP, inputs=inputs)
    for body in plain.bodies:
        expected, found = run.frame(body).position, other.frame(body).position
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_a_body_that_floats_with_a_load_on_it_is_pushed_by_its_joint_forces() -> None:
    m = bl.Model("floating")
    base = m.body("base", mass=3.0, inertia=(0.1, 0.2, 0.3))
    arm = m.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.joint("revolute", "A", base, arm, axis="z")
    m.sensor("reaction", "load", joint="A")
    m.gravity = (0, 0, 0)
    run = bl.Robot(m).simulate(0.2, step=STEP, inputs={"tau.base.x": 2.0})
    np.testing.assert_allclose(run["base.x"], 2.0 / 4.0 * run.t**2 / 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run["load.fx"], 1.0 * 2.0 / 4.0, rtol=0, atol=1e-9)


def test_dynamics_that_would_need_reactions_or_inputs_are_refused_by_name() -> None:
    robot = bl.Robot(slide(coefficient=0.3))
    np.testing.assert_allclose(robot.mass_matrix([0, 0])[0, 0], 2.0)
    with pytest.raises(ModelError, match=r"dry \(friction\) depends on the reaction .*simulate"):
        robot.forward_dynamics([0, 0], [0, 0], [0, 0])
    m = slide()
    ends = {"i": m.ground.at(1.0, 0, 0), "j": m.bodies["cart"]}
    m.force("spring_damper", "ram", stiffness=0.0, length=1.0, actuated=True, **ends)
    with pytest.raises(ModelError, match=r"ram \(spring_damper\) has the input ram.*simulate"):
        bl.Robot(m).rnea([0, 0], [0, 0], [0, 0])
    run = bl.Robot(m).simulate(0.4, step=STEP, inputs={"ram": -3.0})
    np.testing.assert_allclose(np.abs(run["S"]), 1.5 * run.t**2 / 2, rtol=0, atol=1e-12)


def test_what_the_functions_of_a_loaded_robot_cannot_have_is_said() -> None:
    m = arm()
    m.sensor("reaction", "load", joint="B")
    robot = bl.Robot(m)
    with pytest.raises(ModelError, match=r"load \(reaction\) needs reactions, and B\.rotation_e0"):
        robot.simulate(0.1, step=STEP, control=lambda t, q, v: {})
    m = slide(coefficient=0.3)
    m.force("stop", "wall", coordinate="S", upper=0.1, stiffness=1e4)
    with pytest.raises(ModelError, match="an answer to an event cannot give one"):
        bl.Robot(m).simulate(
            0.2, v=[2.0, 0.0], step=STEP, on_event={"wall.upper": lambda t, q, v: (q, v)}
        )
    with pytest.raises(ModelError, match="give the controller in Python"):
        bl.Robot(m).simulate(0.2, step=STEP, control=compiled)


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (lambda m: m.sensor("joint", "turned", coordinate="S"), r"turned \(joint\)"),
        (lambda m: m.force("actuator", "pump", coordinate="S", value=1.0), r"pump \(actuator\)"),
        (lambda m: m.force("actuator", "pump", coordinate="S", law="t"), r"pump \(actuator\)"),
        (
            lambda m: m.force("stop", "wall", coordinate="S", upper=1.0, stiffness=1.0),
            r"wall \(stop\)",
        ),
        (lambda m: m.force("friction", "pin", coordinate="S", coefficient=0.1), r"pin \(friction"),
    ],
)
def test_a_long_robot_refuses_what_its_motion_would_lack(add: Any, said: str) -> None:
    m = slide()
    add(m)
    with pytest.raises(ModelError, match=rf"{said}.* runs link after link"):
        bl.Robot(m, lowering="looped").simulate(0.1, step=STEP)
    m = slide()
    run = bl.Robot(m, lowering="looped").simulate(0.1, step=STEP, inputs={"tau.S": 1.0})
    np.testing.assert_allclose(run.q[-1, 0], 0.5 * 0.1**2 / 2, rtol=1e-9)
    with pytest.raises(ModelError, match="no input motor"):
        bl.Robot(m, lowering="looped").simulate(0.1, step=STEP, inputs={"motor": 1.0})
