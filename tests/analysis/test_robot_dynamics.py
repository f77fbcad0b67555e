"""What a robot is asked: threads, regressor, Christoffel's symbols, momentum, accelerations."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError, ShapeError, UnknownNameError
from tests.analysis.moving_robots import planar_arm
from tests.analysis.test_robot_wrenches import crawler, four_bar, states, swinger


def test_threads_do_not_change_a_digit() -> None:
    robot = swinger()
    q, v, a = states(robot, 203)
    w = {"ball": np.random.default_rng(5).normal(size=(203, 6))}
    asked = {
        "rnea": (q, v, a),
        "inverse_dynamics": (q, v, a),
        "forward_dynamics": (q, v, a),
        "mass_matrix": (q,),
        "mass_product": (q, a),
        "inverse_mass_product": (q, a),
        "inverse_mass_matrix": (q,),
        "bias_forces": (q, v),
        "gravity_forces": (q,),
        "coriolis_matrix": (q, v),
        "christoffel": (q,),
        "regressor": (q, v, a),
        "inverse_dynamics_derivatives": (q, v, a),
        "forward_dynamics_derivatives": (q, v, a),
        "energy": (q, v),
        "pose": ("ball", q),
        "jacobian": ("ball", q),
        "frame_velocity": ("ball", q, v),
        "frame_acceleration": ("ball", q, v, a),
        "centre_of_mass": (q,),
        "centre_of_mass_velocity": (q, v),
        "centre_of_mass_jacobian": (q,),
        "centroidal_momentum": (q, v),
        "centroidal_momentum_matrix": (q,),
        "momentum": (q, v),
        "momentum_rate": (q, v, a),
        "integrate": (q, v),
        "difference": (q, q[::-1]),
    }
    for name, arrays in asked.items():
        more = {"external": w} if name in ("rnea", "forward_dynamics") else {}
        one = getattr(robot, name)(*arrays, **more)
        several = getattr(robot, name)(*arrays, **more, threads=3)
        for alone, shared in zip(
            one if isinstance(one, tuple) else (one,),
            several if isinstance(several, tuple) else (several,),
            strict=True,
        ):
            assert len(alone) == 203
            np.testing.assert_array_equal(alone, shared, err_msg=name)
    with pytest.raises(ShapeError, match="threads must be a whole number from 1, not 0"):
        robot.rnea(q, v, a, threads=0)


def test_threads_share_the_states_of_a_long_robot() -> None:
    robot = crawler("looped")
    q, v, a = states(robot, 203)
    for name in ("rnea", "forward_dynamics"):
        one = getattr(robot, name)(q, v, a)
        for threads in (2, 5, 64):
            np.testing.assert_array_equal(getattr(robot, name)(q, v, a, threads=threads), one)
    with pytest.raises(ShapeError, match="threads must be a whole number from 1, not -1"):
        robot.rnea(q, v, a, threads=-1)


def test_the_regressor_times_the_inertias_is_the_joint_forces() -> None:
    robot = swinger()
    q, v, a = states(robot, 4)
    phi = []
    for body in robot.model.bodies.values():
        mass = robot.model.number(body.inertia.mass, "mass")
        c, (xx, yy, zz, *_) = np.array(body.inertia.com, float), body.inertia.moments
        I = np.diag([xx, yy, zz]) + mass * (c @ c * np.eye(3) - np.outer(c, c))
        phi += [mass, *(mass * c), *I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]]
    names = robot.regressor_names
    assert names[:5] == ("slider.m", "slider.mx", "slider.my", "slider.mz", "slider.Ixx")
    assert len(names) == len(phi)
    Y = robot.regressor(q, v, a)
    np.testing.assert_allclose(Y @ phi, robot.rnea(q, v, a), atol=1e-11)


def test_christoffel_symbols_are_those_of_the_mass_matrix() -> None:
    robot = planar_arm()
    q = robot.random(1, 3)
    h = 1e-5
    M_q = np.stack(
        [(robot.mass_matrix(q + s) - robot.mass_matrix(q - s)) / (2 * h) for s in h * np.eye(2)],
        axis=-1,
    )
    expected = (M_q + M_q.transpose(0, 1, 3, 2) - M_q.transpose(0, 3, 1, 2)) / 2
    found = robot.christoffel(q)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(robot.christoffel(q[1]), found[1], atol=1e-14)


def test_christoffel_symbols_with_rotations_make_the_coriolis_matrix() -> None:
    robot = swinger()
    q, v, _ = states(robot, 2)
    C = np.einsum("nijk,nk->nij", robot.christoffel(q), v)
    np.testing.assert_allclose(C, robot.coriolis_matrix(q, v), atol=1e-12)


def test_computed_torque_makes_a_linear_error() -> None:
    robot = swinger()
    q, v, a_d = states(robot, 3)
    kp, kd = np.linspace(10, 40, robot.nv), 2 * np.sqrt(np.linspace(10, 40, robot.nv))
    q_d, v_d = robot.integrate(q, 0.3 * v[::-1]), v[::-1]
    tau = robot.computed_torque(q, v, q_d, v_d, a_d, kp=kp, kd=kd)
    a = robot.forward_dynamics(q, v, tau)
    expected = a_d + kd * (v_d - v) + kp * 0.3 * v[::-1]
    np.testing.assert_allclose(a, expected, atol=1e-8)
    law = robot.function("computed_torque")
    given = law(q[0], v[0], q_d[0], np.zeros(robot.nv), np.zeros(robot.nv), 3.0, 7.0, [0.8])
    own = robot.computed_torque(q[0], v[0], q_d[0], kp=7.0, kd=3.0)
    np.testing.assert_allclose(own, given, atol=1e-10)


@pytest.mark.parametrize("axes", ["aligned", "local"])
def test_the_acceleration_of_a_frame_is_the_rate_of_its_velocity(axes: str) -> None:
    robot = swinger()
    q, v, a = states(robot, 4)
    h = 1e-6
    after, before = (
        robot.frame_velocity("ball", robot.integrate(q, s * (v + s / 2 * a)), v + s * a)
        for s in (h, -h)
    )
    rate = (after - before) / (2 * h)
    if axes == "local":
        R = robot.pose("ball", q)[:, :3, :3]
        rate = np.einsum("nij,nki->nkj", R, rate.reshape(4, 2, 3)).reshape(4, 6)
    found = robot.frame_acceleration("ball", q, v, a, axes)
    np.testing.assert_allclose(found, rate, atol=1e-7)


def test_momentum_is_the_sum_over_bodies_and_changes_by_its_rate() -> None:
    robot = swinger()
    q, v, a = states(robot, 3)
    total, mass, first = np.zeros((3, 6)), 0.0, np.zeros((3, 3))
    for name, body in robot.model.bodies.items():
        m, c = robot.model.number(body.inertia.mass, "mass"), np.array(body.inertia.com, float)
        T, twist = robot.pose(name, q), robot.frame_velocity(name, q, v)
        R, omega = T[:, :3, :3], twist[:, :3]
        arm = R @ c
        r, speed = T[:, :3, 3] + arm, twist[:, 3:] + np.cross(omega, arm)
        I = R @ np.diag(body.inertia.moments[:3]) @ R.transpose(0, 2, 1)
        total[:, :3] += np.einsum("nij,nj->ni", I, omega) + np.cross(r, m * speed)
        total[:, 3:] += m * speed
        mass, first = mass + m, first + m * r
    np.testing.assert_allclose(robot.momentum(q, v), total, atol=1e-12)
    com = robot.centre_of_mass(q)
    np.testing.assert_allclose(com, first / mass, atol=1e-13)
    np.testing.assert_allclose(robot.centre_of_mass_velocity(q, v), total[:, 3:] / mass, atol=1e-12)
    about = total[:, :3] - np.cross(com, total[:, 3:])
    h = robot.centroidal_momentum(q, v)
    np.testing.assert_allclose(h, np.hstack([about, total[:, 3:]]), atol=1e-12)
    A_G, J = robot.centroidal_momentum_matrix(q), robot.centre_of_mass_jacobian(q)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", A_G, v), h, atol=1e-12)
    np.testing.assert_allclose(A_G[:, 3:], mass * J, atol=1e-12)
    s = 1e-6
    after, before = (
        robot.centroidal_momentum(robot.integrate(q, d * (v + d / 2 * a)), v + d * a)
        for d in (s, -s)
    )
    np.testing.assert_allclose(robot.momentum_rate(q, v, a), (after - before) / (2 * s), atol=1e-7)


def test_a_frame_is_brought_to_places_and_poses() -> None:
    robot = planar_arm()
    wanted = robot.pose("link2", robot.random(4, 6))
    found = robot.inverse_kinematics("link2", wanted, threads=2)
    assert found.converged.all()
    np.testing.assert_allclose(robot.pose("link2", found.q), wanted, atol=1e-9)
    assert robot.within_limits(found.q, 1e-9).all()
    one = robot.inverse_kinematics("link2", wanted[0, :3, 3], robot.start)
    assert one.converged
    np.testing.assert_allclose(robot.pose("link2", one.q)[:3, 3], wanted[0, :3, 3], atol=1e-9)
    far = robot.inverse_kinematics("link2", [2.0, 0, 0], restarts=0)
    assert not far.converged
    place, turn = bl.PointTarget("link2"), bl.CoordinateTarget("joint2.angle")
    both = robot.inverse_kinematics([turn, place], [found.q[0][1], wanted[0, :3, 3]])
    assert both.converged and both.q[1] == pytest.approx(found.q[0][1], abs=1e-9)
    with pytest.raises(UnknownNameError, match=r"no frame 'lnk2'.*link2"):
        robot.inverse_kinematics("lnk2", [0, 0, 0])
    with pytest.raises(ShapeError, match=r"place \(3,\) or a pose \(4, 4\).*\(2,\)"):
        robot.inverse_kinematics("link2", [0, 0])


def test_inverse_kinematics_keeps_loops_closed() -> None:
    robot = four_bar()
    goal = robot.assemble([-0.9, 1.0, -1.1])
    place = robot.pose("b", goal)[:3, 3]
    found = robot.inverse_kinematics("b", place, robot.start)
    assert found.converged
    np.testing.assert_allclose(robot.pose("b", found.q)[:3, 3], place, atol=1e-9)
    assert np.abs(robot.closure(found.q)).max() < 1e-9


def test_parameters_of_a_robot_count_in_its_inverse_kinematics() -> None:
    m = bl.Model("crane")
    m.parameter("l", 1.0)
    arm = m.body("arm", mass=1.0, inertia=0.1)
    m.joint("revolute", "A", m.ground, arm)
    arm.marker("tip", ("l", 0, 0))
    robot = bl.Robot(m, parameters={"l": 2.0})
    found = robot.inverse_kinematics("arm.tip", [0, 2, 0], [0.3])
    assert found.converged and found.q[0] == pytest.approx(np.pi / 2, abs=1e-8)


def test_limits_that_meet_or_exclude_each_other() -> None:
    def gripper(low: float, high: float) -> bl.Robot:
        m = bl.Model("gripper")
        one, two = (m.body(n, mass=1.0, inertia=0.1) for n in ("one", "two"))
        m.joint("revolute", "A", m.ground, one, limits=(0.0, 0.5))
        m.joint("revolute", "B", m.ground, two, limits=(low, high))
        m.joint("gear", "g", first="A.angle", second="B.angle", ratio=-1.0)
        return bl.Robot(m)

    robot = gripper(0.0, 0.5)
    with pytest.warns(UserWarning, match="those of B.angle leave A.angle"):
        np.testing.assert_array_equal(robot.random(0, 3), np.zeros((3, 1)))
    assert robot.within_limits(robot.random(0))
    nothing = pytest.raises(
        ModelError, match=r"no value for A\.angle: at least 0 and at most -0\.1"
    )
    with pytest.warns(UserWarning, match="leave A.angle nothing"), nothing:
        gripper(0.1, 0.5).random(0)
