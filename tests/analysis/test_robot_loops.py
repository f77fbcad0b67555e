"""Robots with closed loops: positions, motions, motors, forces of the loops, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import AssemblyError, ModelError, ShapeError, UnknownNameError
from tests.equations.spatial.closed_models import bricard, expected, five_bar, four_bar, stewart


def state(robot: bl.Robot, seed: int = 0, t: float = 0.0) -> tuple[np.ndarray, ...]:
    """A closed position, velocities that keep it closed, and joint forces."""
    random = np.random.default_rng(seed)
    q = robot.assemble(t=t)
    return q, robot.project(q, random.normal(size=robot.nv), t=t), random.normal(size=robot.nv)


# ------------------------------------------------------------------------- positions


def test_loops_close_near_where_they_were_and_held_coordinates_stay() -> None:
    robot = bl.Robot(five_bar())
    q = robot.assemble()
    assert np.abs(robot.closure(q)).max() < 1e-12
    assert np.abs(robot.difference(robot.start, q)).max() < 0.5
    names = [name.partition(".")[0] for name in robot.v_names]
    start = robot.start.copy()
    start[names.index("A")] = -1.9
    held = robot.assemble(start, hold=["A", "E"])
    assert held[names.index("A")] == -1.9
    assert held[names.index("E")] == robot.start[names.index("E")]
    assert np.abs(robot.closure(held)).max() < 1e-12
    both = robot.assemble(np.stack([robot.start, q]))
    np.testing.assert_allclose(both[1], q, atol=1e-12)
    assert robot.closure(both).shape == (2, 2)
    assert robot.closure_jacobian(both).shape == (2, 2, 4)


def test_what_cannot_close_says_what_stays_open() -> None:
    m = five_bar()
    a = m.bodies["a"]
    m.joint("spherical", "far", a.at(0.5, 0, 0), m.ground.at(9, 0, 0))
    with pytest.raises(AssemblyError, match=r"no position .* open stay far\.[xz] by [78]"):
        bl.Robot(m).assemble()
    with pytest.raises(UnknownNameError, match="no coordinate 'Z' to hold"):
        bl.Robot(five_bar()).assemble(hold=["Z"])


def test_a_platform_turned_by_balls_closes() -> None:
    robot = bl.Robot(stewart())
    random = np.random.default_rng(4)
    q = robot.assemble(robot.integrate(robot.start, 0.05 * random.normal(size=robot.nv)))
    assert np.abs(robot.closure(q)).max() < 1e-12
    v = robot.project(q, random.normal(size=robot.nv))
    np.testing.assert_allclose(robot.closure_jacobian(q) @ v, 0, atol=1e-12)


def test_a_tree_has_nothing_to_close() -> None:
    m = bl.Model("pendulum")
    rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.001))
    m.joint("revolute", "pivot", m.ground, rod, axis="y")
    robot = bl.Robot(m)
    assert robot.constraints == ()
    assert robot.closure([0.3]).shape == (0,)
    assert robot.closure_jacobian([[0.3], [0.4]]).shape == (2, 0, 1)
    np.testing.assert_array_equal(robot.assemble([0.3]), [0.3])
    np.testing.assert_array_equal(robot.project([0.3], [0.7]), [0.7])
    a = robot.forward_dynamics([0.3], [0.7], [0.1])
    np.testing.assert_allclose(robot.constrained_forward_dynamics([0.3], [0.7], [0.1]), a)
    assert robot.loop_forces([0.3], [0.7], [0.1]).joints == ()
    np.testing.assert_allclose(robot.constrained_inverse_dynamics([0.3], [0.7], a), [0.1])


# --------------------------------------------------------------------------- motions


@pytest.mark.parametrize("make", [four_bar, bricard])
def test_energy_is_kept_and_loops_stay_closed(make: object) -> None:
    robot = bl.Robot(make())
    q, v, _ = state(robot)
    none = np.zeros(robot.nv)
    before = sum(robot.energy(q, v))
    h = 1e-3
    for _ in range(200):
        # Runge-Kutta of order four; these joints have q' = v
        ks = []
        x, y = q, v
        for step in (h / 2, h / 2, h, 0.0):
            a = robot.forward_dynamics(x, y, none)
            ks.append((y, a))
            x, y = q + step * y, v + step * a
        q, v = (
            s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            for s, (k1, k2, k3, k4) in zip((q, v), zip(*ks, strict=True), strict=True)
        )
    assert np.abs(robot.closure(q)).max() < 1e-8
    assert sum(robot.energy(q, v)) == pytest.approx(before, abs=1e-7)


def test_gains_take_gaps_back() -> None:
    robot = bl.Robot(four_bar())
    q, v, tau = state(robot)
    q = robot.integrate(q, [1e-3, -1e-3, 1e-3])
    plain = robot.constrained_forward_dynamics(q, v, tau)
    np.testing.assert_allclose(plain, robot.forward_dynamics(q, v, tau))
    for _ in range(400):
        a = robot.constrained_forward_dynamics(q, v, tau * 0, baumgarte=(40.0, 400.0))
        v = v + 1e-3 * a
        q = q + 1e-3 * v
    assert np.abs(robot.closure(q)).max() < 1e-5


def test_many_states_at_once_are_those_one_by_one() -> None:
    robot = bl.Robot(stewart())
    random = np.random.default_rng(1)
    starts = robot.integrate(
        np.repeat(robot.start[None], 5, 0), 0.02 * random.normal(size=(5, robot.nv))
    )
    q = robot.assemble(starts)
    v, tau = robot.project(q, random.normal(size=(5, robot.nv))), random.normal(size=(5, robot.nv))
    many = robot.forward_dynamics(q, v, tau)
    for k in range(5):
        np.testing.assert_allclose(many[k], robot.forward_dynamics(q[k], v[k], tau[k]), atol=1e-10)


def test_rotors_and_laws_of_time_are_part_of_the_motion() -> None:
    m = five_bar()
    m.force("torsional", "wind", coordinate="A", force="3*sin(2*t)")
    m.driver("rotary", "motor", coordinate="E", law="-0.9 + 0.3*t^2")
    robot = bl.Robot(m, rotors={"A": 0.7})
    q, v, _ = state(robot, t=0.4)
    tau = np.zeros(robot.nv)
    names = [name.partition(".")[0] for name in robot.v_names]
    e, a_ = names.index("E"), names.index("A")
    assert q[e] == pytest.approx(-0.9 + 0.3 * 0.4**2, abs=1e-12)
    assert v[e] == pytest.approx(0.6 * 0.4, abs=1e-12)
    a = robot.forward_dynamics(q, v, tau, t=0.4)
    assert a[e] == pytest.approx(0.6, abs=1e-10)
    # the power of what acts is that which the motion takes
    forces = robot.loop_forces(q, v, tau, t=0.4)
    motor = forces.multipliers[forces.constraints.index("motor.law")]
    taken = robot.rnea(q, v, a, t=0.4)
    assert taken @ v == pytest.approx(-motor * v[e], rel=1e-9)
    other = bl.Robot(five_bar(), rotors={"A": 0.7})
    wind = 3 * np.sin(0.8)
    np.testing.assert_allclose(taken[a_], other.rnea(q, v, a)[a_] - wind, atol=1e-10)


# ------------------------------------------------------------------ motors and forces


def test_motors_hold_what_their_number_allows() -> None:
    robot = bl.Robot(five_bar())
    q, v, tau = state(robot)
    a = robot.forward_dynamics(q, v, tau)
    u = robot.constrained_inverse_dynamics(q, v, a, ["A", "E"])
    np.testing.assert_allclose(robot.forward_dynamics(q, v, u), a, atol=1e-10)
    assert np.count_nonzero(u) == 2
    least = robot.constrained_inverse_dynamics(q, v, a)
    assert np.linalg.norm(least) < np.linalg.norm(u)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, least), a, atol=1e-10)
    with pytest.raises(ModelError, match=r"leave 1 of its freedoms loose: .* actuate one of these"):
        robot.constrained_inverse_dynamics(q, v, a, ["A"])


def test_an_overconstrained_mechanism_needs_the_motor_it_has_in_its_assembled_position() -> None:
    robot = bl.Robot(bricard())
    q, v, tau = state(robot)
    a = robot.forward_dynamics(q, v, tau)
    with pytest.raises(ModelError, match="leave 1 of its freedoms loose"):
        robot.constrained_inverse_dynamics(q, v, a, [])


@pytest.mark.parametrize("make", [four_bar, five_bar, bricard])
def test_forces_of_loops_are_the_reactions_of_free_bodies(make: object) -> None:
    m = make()
    robot = bl.Robot(m)
    q, v, _ = state(robot)
    found = robot.loop_forces(q, v, np.zeros(robot.nv))
    all_joints = bl.joint_reactions(m, q=q, v=v, axes="marker")
    (name,) = found.joints
    k = all_joints.joints.index(name)
    np.testing.assert_array_equal(found.determinate[0], all_joints.determinate[0, k])
    np.testing.assert_allclose(np.concatenate(found[name]), all_joints.wrenches[0, k], atol=1e-8)
    with pytest.raises(UnknownNameError, match="no joint 'nobody' closes a loop"):
        found["nobody"]
    with pytest.raises(ShapeError, match="takes one state"):
        robot.loop_forces(q[None], v[None], np.zeros((1, robot.nv)))


def test_multipliers_with_self_stresses_still_give_the_motion() -> None:
    robot = bl.Robot(bricard())
    q, v, tau = state(robot)
    found = robot.loop_forces(q, v, tau)
    assert not found.determinate_multipliers.any()
    J = robot.closure_jacobian(q)
    M, xi = robot.mass_matrix(q), robot.bias_forces(q, v)
    np.testing.assert_allclose(M @ found.a + J.T @ found.multipliers, tau - xi, atol=1e-10)


# ----------------------------------------------------------------------------- files

URDF = """
<robot name="gripper">
  <link name="base"/>
  <link name="left"><inertial><origin xyz="0.3 0 0"/><mass value="1.0"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0.4 0 0"/><mass value="0.8"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0.3 0 0"/><mass value="1.2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="l" type="continuous"><parent link="base"/><child link="left"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="b" type="continuous"><parent link="left"/><child link="rod"/>
    <origin xyz="0.6 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="r" type="continuous"><parent link="base"/><child link="right"/>
    <origin xyz="0.7 0 0"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def test_a_robot_file_gets_the_joint_that_closes_its_loop(tmp_path: Path) -> None:
    file = tmp_path / "gripper.urdf"
    file.write_text(URDF, encoding="utf-8")
    m = bl.load_model(file)
    rod, right = m.bodies["rod"], m.bodies["right"]
    m.joint("revolute", "pin", rod.at(0.8, 0, 0), right.at(0.6, 0, 0), axis="y")
    robot = bl.Robot(m)
    start = dict(zip(robot.q_names, robot.start, strict=True))
    guess = {"l.angle": -1.4, "b.angle": 1.3, "r.angle": -1.5}
    q = robot.assemble([guess.get(name, value) for name, value in start.items()])
    tip = robot.pose("rod", q) @ [0.8, 0, 0, 1]
    np.testing.assert_allclose(tip, robot.pose("right", q) @ [0.6, 0, 0, 1], atol=1e-12)
    v = robot.project(q, np.ones(robot.nv))
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    np.testing.assert_allclose(a, expected(m, q, v, np.zeros(robot.nv))[0], atol=1e-10)


MJCF = """
<mujoco model="linkage">
  <compiler angle="radian"/>
  <worldbody>
    <body name="a"><joint name="ja" axis="0 1 0"/>
      <inertial pos="0.3 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
      <body name="b" pos="0.6 0 0"><joint name="jb" axis="0 1 0"/>
        <inertial pos="0.4 0 0" mass="0.8" diaginertia="0.01 0.03 0.03"/></body></body>
    <body name="c" pos="0.7 0 0"><joint name="jc" axis="0 1 0"/>
      <inertial pos="0.3 0 0" mass="1.2" diaginertia="0.01 0.02 0.02"/></body>
  </worldbody>
  <equality><connect name="pin" body1="b" body2="c" anchor="0.7 0 0.4"/></equality>
</mujoco>
"""


def test_equalities_of_mjcf_close_loops(tmp_path: Path) -> None:
    file = tmp_path / "linkage.xml"
    file.write_text(MJCF, encoding="utf-8")
    m = bl.load_model(file)
    robot = bl.Robot(m)
    assert {name.partition(".")[0] for name in robot.constraints} == {"pin"}
    # in the position of the file the two anchors are one point of the ground
    assert np.abs(robot.closure(robot.start)).max() < 1e-12
    q = robot.assemble(robot.start + np.array([0.3, -0.2, 0.1]))
    v = robot.project(q, np.ones(robot.nv))
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    J = robot.closure_jacobian(q)
    h = 1e-5
    after, before = (robot.closure_jacobian(robot.integrate(q, s * v)) @ v for s in (h, -h))
    np.testing.assert_allclose(J @ a, -(after - before) / (2 * h), atol=1e-7)
