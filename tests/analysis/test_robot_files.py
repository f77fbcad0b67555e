"""What a robot keeps of its file: the names of joints and links, the rotors of motors."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import FileError, ModelError, UnknownNameError
from biela.model.files import dumps, loads

LINK = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'


def urdf(*joints: str, links: tuple[str, ...]) -> bl.Robot:
    """A chain of joints about x, each link 0.3 above the one before."""
    body = "".join(f'<link name="{name}">{LINK}</link>' for name in links)
    for k, name in enumerate(joints):
        body += (
            f'<joint name="{name}" type="continuous"><origin xyz="0 0 0.3"/><axis xyz="1 0 0"/>'
            f'<parent link="{links[k]}"/><child link="{links[k + 1]}"/></joint>'
        )
    return bl.load(f'<robot name="r">{body}</robot>', notes=[])


def test_joints_go_by_the_names_of_the_file_and_of_the_model() -> None:
    robot = urdf("joint_0.0", "HAA", "knee", links=("base", "HAA", "shin", "foot.1"))
    assert robot.joint_names == ("joint_0_0", "HAA_joint", "knee")
    for k, names in enumerate((("joint_0.0", "joint_0_0"), ("HAA", "HAA_joint"), ("knee",))):
        for name in names:
            assert robot.q_index(name) == robot.v_index(name) == slice(k, k + 1)
            assert robot.q_index(f"{name}.angle") == slice(k, k + 1)
            assert robot.v_index(f"{name}.angle_rate") == slice(k, k + 1)
    q = robot.configuration({"joint_0.0": 0.1, "HAA": 0.2}, knee=0.3)
    np.testing.assert_array_equal(q, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(robot.pose("foot.1", q), robot.pose("foot_1", q))
    np.testing.assert_array_equal(robot.jacobian("foot.1", q), robot.jacobian("foot_1", q))
    push = [0, 0, 0, 0, 1.0, 0]
    tau = [robot.rnea(q, q, q, external={name: push}) for name in ("foot.1", "foot_1")]
    np.testing.assert_array_equal(*tau)
    # another robot of the model knows them, too
    assert bl.Robot(robot.model).q_index("HAA") == slice(1, 2)
    with pytest.raises(UnknownNameError, match=r"nothing called 'joint_0\.1'"):
        robot.q_index("joint_0.1")


def test_a_name_of_the_model_means_what_it_says() -> None:
    # "a.b" is called "a_b", which the file has for another joint
    robot = urdf("a.b", "a_b", links=("base", "one", "two"))
    assert robot.q_index("a_b") == robot.q_index("a.b") == slice(0, 1)
    assert robot.joint_names[0] == "a_b"
    assert robot.q_index(robot.joint_names[1]) == slice(1, 2)


MJCF = """<mujoco model="arm"><worldbody><body name="rod">
  <joint name="j.1" axis="0 1 0" armature="0.4"/>
  <inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.01"/>
  <body name="tip" pos="0 0 -1"><joint name="k" axis="0 1 0"/>
  <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.01 0.01 0.01"/></body></body></worldbody>
</mujoco>"""


def test_rotors_travel_with_the_model() -> None:
    robot = bl.load(MJCF, notes=[])
    assert robot.rotors == robot.model.rotors == {"j_1.angle": 0.4}
    q = [0.3, -0.2]
    M = robot.mass_matrix(q)
    bare = bl.Robot(robot.model, rotors={"j_1": 0.0}).mass_matrix(q)
    np.testing.assert_allclose(M - bare, np.diag([0.4, 0.0]), atol=1e-14)
    for other in (
        bl.Robot(robot.model),
        bl.Robot(robot.model, rotors=robot.rotors),
        bl.Robot(robot.model, symbolic=["inertia"]),
        bl.Robot(loads(dumps(robot.model))),
    ):
        np.testing.assert_allclose(other.mass_matrix(q), M, rtol=1e-14)
    robot.model.rotors["k"] = 0.25
    np.testing.assert_array_equal(robot.mass_matrix(q), M)
    after = bl.Robot(robot.model).mass_matrix(q)
    np.testing.assert_allclose(after - M, np.diag([0.0, 0.25]), atol=1e-14)


def test_rotors_of_parts_are_those_of_every_instance() -> None:
    leg = bl.Model("leg")
    leg.joint("revolute", "hip", leg.ground, leg.body("shin", mass=1.0, inertia=0.1), axis="x")
    leg.rotors["hip"] = 0.5
    m = bl.Model("walker")
    m.part("leg", leg, 2, shift=(0.4, 0, 0))
    np.testing.assert_allclose(bl.Robot(m).mass_matrix([0.1, 0.2]), 0.6 * np.eye(2), rtol=1e-14)


def test_equations_of_a_file_have_its_rotors() -> None:
    m = bl.load(MJCF, notes=[]).model
    q = [0.3, 0.2]
    added = bl.Robot(m).mass_matrix(q) - bl.Robot(m, rotors={"j_1": 0.0}).mass_matrix(q)
    np.testing.assert_allclose(added, np.diag([0.4, 0.0]), atol=1e-15)
    np.testing.assert_allclose(bl.formulate(m).evaluate("M", q), bl.Robot(m).mass_matrix(q))


def test_rotors_that_cannot_be_are_refused() -> None:
    text = dumps(bl.load(MJCF, notes=[]).model)
    for wrong, message in (
        ('"j_1.angle" = -1.0', "zero or more, not -1.0"),
        ("elbow = 1.0", "there is no joint 'elbow'"),
        ('"j_1.way" = 1.0', "not one coordinate of joint j_1"),
    ):
        with pytest.raises(FileError, match=message):
            loads(text.replace('"j_1.angle" = 0.4', wrong))
    with pytest.raises(FileError, match="2: joint j_1: an armature is zero or more, not -1"):
        bl.load(MJCF.replace('armature="0.4"', 'armature="-1"'), notes=[])
    m = bl.load(MJCF, notes=[]).model
    m.rotors["k"] = -0.1
    with pytest.raises(ModelError, match="rotor of k: its inertia is zero or more"):
        bl.Robot(m)


def test_a_rollout_of_closed_loops_is_that_of_the_model_as_it_was() -> None:
    def crank() -> bl.Model:
        m = bl.Model("crank", gravity=(0, -9.81, 0))
        a, b = (m.body(n, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)) for n in "ab")
        m.joint("revolute", "A", m.ground, a, start={"angle": 1.0})
        m.joint("revolute", "B", a.at(1, 0, 0), b, start={"angle": -2.0})
        m.joint("point_on_line", "C", m.ground.at(axis="x"), b.at(1, 0, 0))
        return m

    m = crank()
    robot, other = bl.Robot(m), bl.Robot(crank())
    m.gravity = (0.0, 0.0, 0.0)
    q = other.assemble()
    runs = [r.rollout(q[None], dt=1e-3, steps=20) for r in (robot, other, bl.Robot(m))]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert np.abs(runs[2].q - runs[1].q).max() > 1e-4
