"""Wrenches from outside on frames of robots, in every axes, for one state and for many."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.errors import ModelError, ShapeError, UnknownNameError

#: The widest of all axes for the larger robot, all of them for the smaller.
CASES = [("swinger", "aligned"), ("swinger", "local"), ("swinger", "world"), ("crawler", "world")]


@cache
def swinger() -> bl.Robot:
    """A ball on a slide, with a mass that is a parameter."""
    m = bl.Model("swinger")
    m.parameter("m", 0.8)
    slider = m.body("slider", mass=1.5, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.02))
    ball = m.body("ball", mass="m", com=(0, 0.03, 0.2), inertia=(0.02, 0.02, 0.01))
    m.joint("prismatic", "rail", m.ground.at(0, 0, 0.2), slider, axis="x")
    m.joint("spherical", "socket", slider.at(0, 0.1, 0), ball)
    return bl.Robot(m)


@cache
def crawler(lowering: str = "unrolled") -> bl.Robot:
    """Two legs on a free base, ten freedoms, with rotors and a spring."""
    m = bl.Model("crawler")
    base = m.body("base", mass=4.0, com=(0, 0.02, 0.1), inertia=(0.05, 0.06, 0.04))
    m.joint("free", "float", m.ground, base)
    for side, y in (("left", 0.2), ("right", -0.2)):
        thigh = m.body(f"{side}_thigh", mass=1.0, com=(0, 0, -0.2), inertia=(0.02, 0.02, 0.01))
        shin = m.body(f"{side}_shin", mass=0.6, com=(0.01, 0, -0.15), inertia=(0.01, 0.01, 0.004))
        m.joint("revolute", f"{side}_hip", base.at(0, y, 0), thigh, axis="y")
        m.joint("revolute", f"{side}_knee", thigh.at(0, 0, -0.4), shin, axis="x")
        shin.marker("foot", (0.05, 0, -0.35))
    m.force("torsional", "spring", coordinate="left_knee.angle", stiffness=3.0)
    return bl.Robot(m, rotors={"left_hip": 0.2}, lowering=lowering)


ROBOTS = {"swinger": swinger, "crawler": crawler}


def states(robot: bl.Robot, count: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(7)
    q = robot.random(random, count)
    return q, *random.normal(size=(2, count, robot.nv))


def frames_of(robot: bl.Robot) -> tuple[str, str]:
    return ("right_shin.foot", "base") if robot.name == "crawler" else ("ball", "slider.rail")


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_a_wrench_is_the_joint_forces_of_its_power(name: str, axes: str) -> None:
    robot = ROBOTS[name]()
    q, v, a = states(robot, 5)
    w = np.random.default_rng(1).normal(size=(2, 5, 6))
    external = dict(zip(frames_of(robot), w, strict=True))
    forces = sum(
        np.einsum("nij,ni->nj", robot.jacobian(frame, q, axes), wrench)
        for frame, wrench in external.items()
    )
    tau = robot.rnea(q, v, a, external=external, wrench_axes=axes)
    np.testing.assert_allclose(robot.rnea(q, v, a) - tau, forces, atol=1e-11)
    found = robot.forward_dynamics(q, v, tau, external=external, wrench_axes=axes)
    np.testing.assert_allclose(found, a, atol=1e-9)
    one = {frame: wrench[2] for frame, wrench in external.items()}
    alone = robot.inverse_dynamics(q[2], v[2], a[2], external=one, wrench_axes=axes)
    np.testing.assert_allclose(alone, tau[2], atol=1e-11)
    shared = {frame: np.tile(wrench, (5, 1)) for frame, wrench in one.items()}
    np.testing.assert_allclose(
        robot.rnea(q, v, a, external=one, wrench_axes=axes),
        robot.rnea(q, v, a, external=shared, wrench_axes=axes),
        atol=1e-12,
    )


@pytest.mark.parametrize(("name", "axes"), CASES)
def test_derivatives_with_wrenches_are_those_of_differences(name: str, axes: str) -> None:
    robot = ROBOTS[name]()
    q, v, a = states(robot, 3)
    w = np.random.default_rng(2).normal(size=(2, 6))
    options = {"external": dict(zip(frames_of(robot), w, strict=True)), "wrench_axes": axes}
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a, **options)
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-12)
    tau = robot.rnea(q, v, a, **options)
    found, a_q, a_v, a_tau = robot.forward_dynamics_derivatives(q, v, tau, **options)
    np.testing.assert_allclose(found, a, atol=1e-9)
    h = 1e-5
    for k, unit in enumerate(h * np.eye(robot.nv)):
        step = np.tile(unit, (3, 1))
        after, before = robot.integrate(q, step), robot.integrate(q, -step)
        forces = robot.rnea(after, v, a, **options) - robot.rnea(before, v, a, **options)
        np.testing.assert_allclose(by_q[:, :, k], forces / (2 * h), atol=2e-7)
        faster = robot.rnea(q, v + step, a, **options) - robot.rnea(q, v - step, a, **options)
        np.testing.assert_allclose(by_v[:, :, k], faster / (2 * h), atol=2e-7)
    for tangent, rows in ((a_q, by_q), (a_v, by_v)):
        np.testing.assert_allclose(M @ tangent, -rows, atol=1e-8 * np.abs(rows).max())
    np.testing.assert_allclose(M @ a_tau, np.tile(np.eye(robot.nv), (3, 1, 1)), atol=1e-9)


@pytest.mark.parametrize("method", ["columns", "written out"])
def test_one_state_and_many_have_the_same_derivatives(method: str) -> None:
    robot = crawler()
    q, v, tau = states(robot, 2)
    w = {"right_shin.foot": [0.1, 0.2, -0.3, 4.0, 5.0, -6.0]}
    whole = robot.forward_dynamics_derivatives(q, v, tau, external=w, wrench_axes="local")
    function = spatial.forward_dynamics_derivatives(
        robot.model, method, external=tuple(w), rotors=robot.rotors
    )
    own = function(q[1], v[1], tau[1], [w["right_shin.foot"]])
    for one, many in zip(own, whole, strict=True):
        np.testing.assert_allclose(one, many[1], atol=1e-9 * np.abs(many).max())


def test_a_long_robot_feels_the_same_wrenches() -> None:
    unrolled, looped = crawler(), crawler("looped")
    assert looped.is_looped
    q, v, a = states(unrolled, 20)
    external = {"left_shin.foot": np.random.default_rng(3).normal(size=(20, 6))}
    for method in ("rnea", "forward_dynamics"):
        one, other = (getattr(r, method)(q, v, a, external=external) for r in (unrolled, looped))
        np.testing.assert_allclose(one, other, atol=1e-9 * np.abs(one).max())


def four_bar() -> bl.Robot:
    m = bl.Model("four-bar")
    a, b, c = (m.body(n, mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1)) for n in "abc")
    m.joint("revolute", "A", m.ground, a, axis="y", start={"angle": -1.2})
    m.joint("revolute", "B", a.at(1, 0, 0), b, axis="y", start={"angle": 1.2})
    m.joint("revolute", "C", m.ground.at(1.2, 0, 0), c, axis="y", start={"angle": -1.4})
    m.joint("revolute", "D", b.at(1, 0, 0), c.at(1, 0, 0), axis="y")
    return bl.Robot(m)


def test_a_wrench_on_a_closed_loop_is_held_by_its_motor() -> None:
    robot = four_bar()
    q = robot.assemble()
    v = robot.project(q, [1.0, 0, 0])
    external = {"b": [0.0, 3.0, 0.0, 2.0, 0.0, -7.0]}
    tau = np.array([1.5, 0.0, 0.0])
    a = robot.forward_dynamics(q, v, tau, external=external)
    motor = robot.constrained_inverse_dynamics(q, v, a, ["A"], external=external)
    np.testing.assert_allclose(motor, tau, atol=1e-10)
    stabilised = robot.constrained_forward_dynamics(
        np.tile(q, (3, 1)), v, tau, external=external, threads=2
    )
    np.testing.assert_allclose(stabilised, np.tile(a, (3, 1)), atol=1e-10)
    # without wrench, the difference is done work: virtual power along the only freedom
    free = robot.forward_dynamics(q, v, tau)
    change = robot.mass_matrix(q) @ (a - free)
    power = np.array(external["b"]) @ robot.frame_velocity("b", q, v)
    assert change @ v == pytest.approx(power, rel=1e-9)


def test_wrenches_that_are_none_are_refused() -> None:
    robot = crawler()
    q, v, a = states(robot, 4)
    with pytest.raises(UnknownNameError, match=r"no frame 'right_shin.fot'.*right_shin\.foot"):
        robot.rnea(q, v, a, external={"right_shin.fot": np.zeros(6)})
    with pytest.raises(ShapeError, match=r"six numbers or a row of them.*\(3,\)"):
        robot.rnea(q, v, a, external={"base": np.zeros(3)})
    with pytest.raises(ModelError, match="aligned, local, world, not 'body'"):
        robot.rnea(q, v, a, external={"base": np.zeros(6)}, wrench_axes="body")
    with pytest.raises(ShapeError, match="4 states, and 3 wrenches on base"):
        robot.rnea(q, v, a, external={"base": np.zeros((3, 6))})
    with pytest.raises(ShapeError, match=r"different numbers of states: base \(3, 6\)"):
        pair = {"base": np.zeros((3, 6)), "left_thigh": np.zeros((4, 6))}
        robot.rnea(q[0], v[0], a[0], external=pair, wrench_axes="local")
    with pytest.raises(ModelError, match="wrenches by frame"):
        robot.rnea(q, v, a, external=[np.zeros(6)])
    with pytest.raises(ModelError, match="mass_matrix takes no wrenches from outside"):
        robot.function("mass_matrix", external=("base",))
