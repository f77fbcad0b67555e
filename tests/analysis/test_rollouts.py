"""Rollouts against single simulations, steps in numpy, MuJoCo, and the energy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.errors import ModelError, ShapeError
from tests.analysis.moving_robots import flyer, planar_arm


def start(robot: bl.Robot, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    return robot.random(random, count), random.normal(size=(count, robot.nv))


@pytest.mark.parametrize("make", [planar_arm, flyer])
def test_each_motion_is_that_of_a_simulation(make):
    robot = make()
    q, v = start(robot, 11)
    tau = np.random.default_rng(1).normal(size=robot.nv)
    found = robot.rollout(q, v, tau, dt=2e-3, steps=60)
    assert found.q.shape == (11, 61, robot.nq)
    for k in (0, 7, 10):
        alone = robot.simulate(0.12, q=q[k], v=v[k], step=2e-3, inputs=tau)
        np.testing.assert_allclose(found.q[k], alone.q, atol=1e-10)
        np.testing.assert_allclose(found.v[k], alone.v, atol=1e-9)
    np.testing.assert_allclose(found.t, alone.t, atol=1e-15)


def test_a_semi_implicit_step_moves_on_the_manifold_with_the_new_velocity():
    robot = flyer()
    q, v = start(robot, 5)
    inputs = np.random.default_rng(2).normal(size=(5, 20, robot.nv))
    found = robot.rollout(q, v, inputs, dt=5e-3, method="semi_implicit_euler")
    for k in range(20):
        v = v + 5e-3 * robot.forward_dynamics(q, v, inputs[:, k])
        q = robot.integrate(q, 5e-3 * v)
        np.testing.assert_allclose(found.v[:, k + 1], v, atol=1e-11)
        np.testing.assert_allclose(found.q[:, k + 1], q, atol=1e-12)


def test_energy_is_kept_and_its_error_falls_with_the_fourth_power_of_the_step():
    robot = flyer()
    q, v = start(robot, 8)

    def drift(dt: float) -> float:
        found = robot.rollout(q, v, dt=dt, steps=round(0.4 / dt))
        first = sum(robot.energy(q, v))
        last = sum(robot.energy(found.q[:, -1], found.v[:, -1]))
        return float(np.abs(last - first).max())

    coarse, fine = drift(8e-3), drift(4e-3)
    assert coarse < 1e-4
    assert 10 < coarse / fine < 40


def test_threads_and_the_number_of_motions_do_not_change_a_digit():
    robot = flyer()
    q, v = start(robot, 150)
    whole = robot.rollout(q, v, dt=1e-2, steps=10)
    shared = robot.rollout(q, v, dt=1e-2, steps=10, threads=3)
    few = robot.rollout(q[70:75], v[70:75], dt=1e-2, steps=10)
    np.testing.assert_array_equal(shared.q, whole.q)
    np.testing.assert_array_equal(shared.v, whole.v)
    np.testing.assert_array_equal(few.q, whole.q[70:75])


def test_substeps_are_steps_that_are_not_stored():
    robot = planar_arm()
    q, v = start(robot, 3)
    u = np.random.default_rng(3).normal(size=(3, 6, 2))
    coarse = robot.rollout(q, v, u, dt=4e-3, substeps=4)
    fine = robot.rollout(q, v, np.repeat(u, 4, axis=1), dt=1e-3)
    np.testing.assert_array_equal(coarse.q, fine.q[:, ::4])
    np.testing.assert_array_equal(coarse.tau, u)


def test_every_motion_may_have_its_own_parameters():
    robot = flyer()
    q, v = start(robot, 1)
    masses = np.array([0.4, 0.8, 1.6])
    found = robot.rollout(q, v, dt=5e-3, steps=30, parameters={"m": masses})
    for k, mass in enumerate(masses):
        alone = bl.Robot(robot.model, parameters={"m": mass})
        same = alone.rollout(q, v, dt=5e-3, steps=30)
        np.testing.assert_allclose(found.q[k], same.q[0], atol=1e-12)
    assert np.abs(found.q[0] - found.q[2]).max() > 1e-3


def test_a_law_holds_its_forces_over_a_sample():
    robot = flyer()
    q, v = start(robot, 4)
    goal, rest = robot.neutral(), np.zeros(robot.nv)
    kp = np.linspace(20, 40, robot.nv)
    law = robot.pd_law(kp, 3.0, gravity=True)
    wanted = np.concatenate([goal, rest])
    found = robot.rollout(q, v, wanted, dt=1e-2, steps=15, substeps=2, law=law)
    goals = np.tile(goal, (4, 1))
    for k in range(15):
        here, speed = found.q[:, k], found.v[:, k]
        tau = kp * robot.difference(here, goals) - 3.0 * speed + robot.gravity_forces(here)
        np.testing.assert_allclose(found.tau[:, k], tau, atol=1e-9)
    same = robot.rollout(q, v, found.tau, dt=1e-2, substeps=2)
    np.testing.assert_allclose(same.q, found.q, atol=1e-11)


def test_a_law_without_inputs_holds_the_weight():
    robot = planar_arm()
    q0 = robot.random(4, 3)
    found = robot.rollout(q0, dt=1e-2, steps=50, law=robot.function("gravity_forces"))
    np.testing.assert_allclose(found.q, np.repeat(q0[:, None], 51, axis=1), atol=1e-12)
    assert np.abs(found.tau).min() > 0.1


def test_many_laws_share_the_dynamics_and_old_ones_are_let_go():
    robot = planar_arm()
    gains = np.linspace(1.0, 30.0, 20)
    wanted = np.zeros(4)
    ends = [
        robot.rollout([0.5, -0.5], None, wanted, dt=1e-2, steps=5, law=robot.pd_law(k, 1.0)).q[
            0, -1
        ]
        for k in gains
    ]
    again = robot.rollout([0.5, -0.5], None, wanted, dt=1e-2, steps=5, law=robot.pd_law(1.0, 1.0))
    np.testing.assert_array_equal(again.q[0, -1], ends[0])
    assert len({tuple(end) for end in ends}) == 20
    assert len(robot.__dict__["_rollers"]) <= 16


def test_computed_torque_makes_an_error_decay_as_its_gains_say():
    robot = planar_arm()
    law = spatial.computed_torque(robot.model)
    q0 = np.array([[0.3, -1.0], [-0.8, 0.2]])
    wanted = np.concatenate([np.zeros(2), np.zeros(2), np.zeros(2), [20.0, 100.0]])
    found = robot.rollout(q0, None, wanted, dt=1e-4, steps=2000, law=law)
    # e'' + 20 e' + 100 e = 0 from rest: e = e0 (1 + 10 t) exp(-10 t)
    factor = (1 + 10 * found.t) * np.exp(-10 * found.t)
    np.testing.assert_allclose(found.q, q0[:, None] * factor[:, None], atol=2e-4)


def test_joint_forces_are_cut_off_at_the_effort_limits():
    robot = planar_arm()
    u = np.array([[50.0, -3.0], [-50.0, 30.0]])
    found = robot.rollout([0.1, -0.2], None, u, dt=1e-3, saturate=True)
    np.testing.assert_array_equal(found.tau[0], [[20.0, -3.0], [-20.0, 8.0]])
    same = robot.rollout([0.1, -0.2], None, [[20.0, -3.0], [-20.0, 8.0]], dt=1e-3)
    np.testing.assert_allclose(found.q, same.q, atol=1e-15)


def test_a_motion_that_blows_up_does_not_take_the_others_with_it():
    robot = planar_arm()
    u = np.zeros((2, 400, 2))
    u[1] = 1e250
    found = robot.rollout([0.1, -0.2], None, u, dt=1e-2)
    assert found.finite.tolist() == [True, False]
    assert "1 not finite" in repr(found)


def test_motions_are_those_of_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    rollout = pytest.importorskip("mujoco.rollout")
    file = tmp_path / "arm.xml"
    file.write_text(
        """<mujoco model="arm"><option timestep="0.002" integrator="RK4"/>
        <worldbody><body name="a" pos="0 0 1"><joint name="A" axis="0 1 0" armature="0.05"/>
        <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.01"/>
        <body name="b" pos="0 0 0.4"><joint name="B" type="slide" axis="1 0 0"/>
        <inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.02 0.01"/>
        <body name="c" pos="0.1 0 0"><joint name="C" axis="0 0 1"/>
        <inertial pos="0.1 0 0.1" mass="0.5" diaginertia="0.002 0.003 0.004"/>
        </body></body></body></worldbody>
        <actuator><motor joint="A"/><motor joint="B"/><motor joint="C"/></actuator></mujoco>""",
        encoding="utf-8",
    )
    robot = bl.load(file)
    random = np.random.default_rng(0)
    q, v = random.uniform(-1, 1, (2, 9, 3))
    u = random.normal(size=(9, 40, 3))
    peer = mujoco.MjModel.from_xml_path(str(file))
    state, _ = rollout.rollout(
        peer, mujoco.MjData(peer), np.concatenate([np.zeros((9, 1)), q, v], axis=1), u
    )
    found = robot.rollout(q, v, u, dt=2e-3)
    np.testing.assert_allclose(found.q[:, 1:], state[:, :, 1:4], atol=1e-11)
    np.testing.assert_allclose(found.v[:, 1:], state[:, :, 4:], atol=1e-10)


def test_what_does_not_fit_is_said():
    robot = planar_arm()
    q = np.zeros(2)
    with pytest.raises(ModelError, match="how many steps"):
        robot.rollout(q, dt=1e-3)
    with pytest.raises(ModelError, match="rk4 or semi_implicit_euler, not by 'euler'"):
        robot.rollout(q, dt=1e-3, steps=2, method="euler")
    with pytest.raises(ModelError, match="dt between samples is positive"):
        robot.rollout(q, dt=0.0, steps=2)
    with pytest.raises(ShapeError, match="q0 has 2 numbers"):
        robot.rollout(np.zeros(3), dt=1e-3, steps=2)
    with pytest.raises(ShapeError, match=r"inputs for 5 steps, and steps is 4"):
        robot.rollout(q, None, np.zeros((5, 2)), dt=1e-3, steps=4)
    with pytest.raises(ShapeError, match=r"\(N, T, 2\); not \(5, 3\)"):
        robot.rollout(q, None, np.zeros((5, 3)), dt=1e-3)
    with pytest.raises(ShapeError, match="counts the motions"):
        robot.rollout(np.zeros((3, 2)), np.zeros((4, 2)), dt=1e-3, steps=2)
    with pytest.raises(ModelError, match="no parameter 'g'; it has none"):
        robot.rollout(q, dt=1e-3, steps=2, parameters={"g": 1.0})
    with pytest.raises(ModelError, match="threads is a whole number from 1"):
        robot.rollout(q, dt=1e-3, steps=2, threads=0)
    with pytest.raises(ModelError, match="one output of 2 joint forces"):
        robot.rollout(q, dt=1e-3, steps=2, law=robot.function("mass_matrix"))


def test_a_robot_that_was_stored_rolls_as_before():
    robot = flyer()
    q, v = start(robot, 3)
    before = robot.rollout(q, v, dt=1e-2, steps=5)
    again = pickle.loads(pickle.dumps(robot))
    np.testing.assert_array_equal(again.rollout(q, v, dt=1e-2, steps=5).q, before.q)


def four_bar() -> bl.Robot:
    m = bl.Model("four bar")
    crank, rod, rocker = (m.body(n, mass=1.0, inertia=0.05) for n in ("crank", "rod", "rocker"))
    m.joint("revolute", "A", m.ground, crank, axis="y", start=0.4)
    m.joint("revolute", "B", crank.at(0.5, 0, 0), rod, axis="y", start=-0.2)
    m.joint("revolute", "D", m.ground.at(1.5, 0, 0), rocker, axis="y", start=-1.5)
    m.joint("revolute", "C", rod.at(1.4, 0, 0), rocker.at(1.1, 0, 0), axis="y")
    return bl.Robot(m)


def test_closed_loops_stay_closed_and_move_as_in_a_simulation():
    robot = four_bar()
    q = robot.assemble()
    v = robot.project(q, np.array([2.0, 0.0, 0.0]))
    found = robot.rollout(q, v, dt=1e-3, steps=300)
    gaps = robot.closure(found.q[0])
    assert np.abs(gaps).max() < 1e-8
    alone = bl.simulate(robot.model, 0.3, q=q, v=v, step=1e-3)
    np.testing.assert_allclose(found.q[0], alone.q, atol=1e-7)
    np.testing.assert_allclose(robot.results(alone.t, found.q[0]).q, found.q[0])


def test_closed_loops_are_not_planned_joint_by_joint():
    robot = four_bar()
    with pytest.raises(ModelError, match="four bar has closed loops"):
        robot.trajectory([robot.start, robot.start + 0.1], 1.0)


def test_laws_and_forces_may_depend_on_the_time():
    m = bl.Model("cart")
    cart = m.body("cart", mass=2.0, inertia=0.1)
    m.joint("prismatic", "rail", m.ground, cart, axis="x")
    robot = bl.Robot(m)
    ws = bl.Workspace("law")
    t = ws.symbol("t")
    law = bl.Function("shake", {"t": t}, {"tau": [2.0 * bl.cos(t)]})
    for method in ("rk4", "semi_implicit_euler"):
        found = robot.rollout([0.0], None, dt=1e-3, steps=1000, law=law, t=0.5, method=method)
        # a = cos t from rest at 0.5
        exact = np.cos(0.5) - np.cos(found.t) - np.sin(0.5) * (found.t - 0.5)
        np.testing.assert_allclose(found.q[0, :, 0], exact, atol=2e-3)
        assert found.t[0] == 0.5
        np.testing.assert_allclose(found.tau[0, :, 0], 2 * np.cos(found.t[:-1]), atol=1e-11)


def test_a_robot_too_long_to_be_written_out_is_told():
    robot = bl.Robot(planar_arm().model, lowering="looped")
    with pytest.raises(ModelError, match="link after link"):
        robot.rollout([0.0, 0.0], dt=1e-3, steps=2)
