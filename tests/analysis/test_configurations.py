"""Configurations of robots: names, limits, random ones, and the ways between two."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError, ShapeError, UnknownNameError
from tests.analysis.moving_robots import flyer, planar_arm


def test_names_are_places_in_both_directions():
    robot = flyer()
    assert robot.joint_names == ("float", "rail", "socket")
    assert robot.q_index("float") == slice(0, 7)
    assert robot.v_index("float") == slice(0, 6)
    assert robot.q_index("rail") == robot.q_index("rail.displacement") == slice(7, 8)
    assert robot.v_index("rail.displacement") == slice(6, 7)
    assert robot.q_index("socket.rotation") == slice(8, 12)
    assert robot.q_names[robot.q_index("float.y")] == ("float.y",)
    assert robot.quaternions == ((3, 3), (8, 7))
    assert {"base", "ball", "slider.rail"} <= set(robot.frame_names)
    with pytest.raises(UnknownNameError, match=r"sockett.*socket"):
        robot.q_index("sockett")


def test_names_with_a_common_beginning_are_different_joints():
    m = bl.Model("hand")
    for name in ("finger", "thumb", "finger_tip"):
        body = m.body(f"{name}_body", mass=1.0, inertia=0.1)
        m.joint("revolute", name, m.ground, body)
    robot = bl.Robot(m)
    assert robot.q_index("finger") == robot.v_index("finger") == slice(0, 1)
    assert robot.q_index("finger_tip") == robot.v_index("finger_tip.angle") == slice(2, 3)
    assert robot.v_index("thumb.angle_rate") == slice(1, 2)
    np.testing.assert_array_equal(robot.configuration(finger=0.4), [0.4, 0, 0])
    with pytest.raises(UnknownNameError, match=r"nothing called 'fing'.*finger"):
        robot.q_index("fing")


def test_a_configuration_is_given_by_name():
    robot = flyer()
    q = robot.configuration({"float.y": 2.0, "socket": [0, 0, 0, 2.0]}, rail=0.3)
    np.testing.assert_array_equal(q, [0, 2, 0, 1, 0, 0, 0, 0.3, 0, 0, 0, 1])
    with pytest.raises(ShapeError, match="socket has 4 coordinates, not 1"):
        robot.configuration(socket=0.3)
    with pytest.raises(ModelError, match=r"socket\.rotation is no rotation"):
        robot.configuration(socket=[0, 0, 0, 0])


def test_limits_are_those_of_the_joints():
    robot = planar_arm()
    np.testing.assert_array_equal(robot.lower, [-2.0, -2.5])
    np.testing.assert_array_equal(robot.upper, [2.0, 0.5])
    np.testing.assert_array_equal(robot.velocity_limits, [1.5, 2.0])
    np.testing.assert_array_equal(robot.effort_limits, [20.0, 8.0])
    assert robot.within_limits([1.0, 0.2]) is True
    assert robot.within_limits([[1.0, 0.2], [1.0, 0.6]]).tolist() == [True, False]
    free = flyer()
    assert np.isinf(free.lower).all() and np.isinf(free.velocity_limits).all()


def test_random_configurations_fill_the_limits_evenly():
    robot = planar_arm()
    q = robot.random(np.random.default_rng(0), 4000)
    assert robot.within_limits(q).all()
    np.testing.assert_allclose(q.mean(axis=0), [0.0, -1.0], atol=0.1)
    np.testing.assert_allclose(q.var(axis=0), [4**2 / 12, 3**2 / 12], rtol=0.1)
    np.testing.assert_array_equal(robot.random(3), robot.random(3))
    assert robot.random(3).shape == (2,)


def test_random_rotations_have_no_preferred_direction():
    robot = flyer()
    q = robot.random(1, 4000)
    e = q[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(e, axis=1), 1.0, atol=1e-14)
    # of a direction that is even on the sphere in four dimensions
    np.testing.assert_allclose(e.T @ e / len(e), np.eye(4) / 4, atol=0.02)


def test_the_neutral_configuration_has_every_body_in_its_frame_of_the_ground():
    robot = flyer()
    np.testing.assert_array_equal(robot.neutral(), robot.configuration())
    np.testing.assert_allclose(robot.pose("base", robot.neutral()), np.eye(4))


def test_parts_of_a_way_add_up_on_every_manifold():
    robot = flyer()
    q0, q1 = robot.random(2, 2)
    q0[8:12] *= -1  # the other quaternion of the same rotation
    way = robot.difference(q0, q1)
    np.testing.assert_allclose(robot.pose("ball", robot.integrate(q0, way)),
                               robot.pose("ball", q1), atol=1e-12)  # fmt: skip
    rows = robot.interpolate(q0, q1, [0.0, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(robot.pose("ball", rows[3]), robot.pose("ball", q1), atol=1e-12)
    np.testing.assert_allclose(robot.difference(rows[0], rows[1]), way / 4, atol=1e-12)
    np.testing.assert_allclose(robot.difference(rows[1], rows[3]), 3 * way / 4, atol=1e-12)
    np.testing.assert_allclose(robot.interpolate(q0, q1, 0.5), rows[2], atol=1e-15)


def test_velocities_of_frames_and_the_centre_of_mass():
    robot = flyer()
    q, v = robot.random(3), np.random.default_rng(3).normal(size=robot.nv)
    h = 1e-6
    after, before = (robot.integrate(q, s * h * v) for s in (1, -1))
    rate = (robot.pose("ball", after) - robot.pose("ball", before))[:3, 3] / (2 * h)
    np.testing.assert_allclose(robot.frame_velocity("ball", q, v)[3:], rate, atol=1e-8)
    masses = {"base": 4.0, "slider": 1.5, "ball": 0.8}
    places = {"base": (0, 0.02, 0.1, 1), "slider": (0.05, 0, 0, 1), "ball": (0, 0, 0.2, 1)}
    centre = sum(m * (robot.pose(b, q) @ places[b])[:3] for b, m in masses.items()) / 6.3
    np.testing.assert_allclose(robot.centre_of_mass(q), centre, atol=1e-13)
    assert robot.centre_of_mass(np.tile(q, (3, 1))).shape == (3, 3)


def test_a_robot_prints_its_joints_limits_and_masses():
    lines = str(planar_arm()).splitlines()
    assert lines[0].startswith("arm: 2 freedoms, 2 coordinates, 2 bodies")
    assert lines[2].split() == [
        "joint", "kind", "from", "to", "q", "v", "limits", "velocity", "effort",
    ]  # fmt: skip
    assert lines[4].split() == [
        "joint2", "revolute", "link1", "link2", "1", "1", "[-2.5,", "0.5]", "2", "8",
    ]  # fmt: skip
    assert lines[-1] == "mass: 3 kg (link1 2, link2 1)"
    text = str(flyer())
    assert "0:7" in text and "limits" not in text


def test_a_picture_shows_the_configuration(tmp_path):
    robot = planar_arm()
    robot.draw([0.3, -0.4], save=tmp_path / "arm.png")
    assert (tmp_path / "arm.png").stat().st_size > 2000
    results = robot.results([0.0, 1.0], [[0.0, 0.0], [np.pi / 2, 0.0]])
    np.testing.assert_allclose(results.frame("link2").position[-1], [0, 0.7, 0], atol=1e-12)
    with pytest.raises(ShapeError, match="a row of 2 numbers for each of 2 times"):
        robot.results([0.0, 1.0], [[0.0, 0.0]])


def test_functions_of_frames_are_exported(tmp_path):
    robot = planar_arm()
    files = robot.export("c", tmp_path, ["inverse_dynamics", ("pose", "link2")])
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert "inverse_dynamics(" in text and "pose(" in text
    (tmp_path / "other").mkdir()
    again = robot.export("c", ["inverse_dynamics", ("pose", "link2")], tmp_path / "other")
    assert text == "".join(path.read_text(encoding="utf-8") for path in again)


def test_mimicking_joints_have_no_coordinate_of_their_own():
    m = bl.Model("gripper")
    fingers = [m.body(name, mass=0.1, inertia=1e-4) for name in ("left", "right")]
    for body, axis, reach in zip(fingers, ("x", "-x"), (0.06, 0.04), strict=True):
        m.joint(
            "prismatic",
            f"{body.name}_slide",
            m.ground,
            body,
            axis=axis,
            limits=(0, reach),
            velocity_limits=reach,
        )
    m.joint("gear", "both", first="left_slide", second="right_slide", ratio=1.0)
    robot = bl.Robot(m)
    assert robot.joint_names == ("left_slide",)
    # the right finger goes less far, and the left one with it, which is said once
    with pytest.warns(UserWarning, match=r"right_slide\.displacement leave left_slide") as said:
        np.testing.assert_allclose((robot.lower, robot.upper), [[0.0], [0.04]])
        np.testing.assert_allclose(robot.velocity_limits, [0.04])
    assert len(said) == 1
    assert robot.narrowed == (
        "those of right_slide.displacement leave left_slide.displacement [0, 0.04] of [0, 0.06]",
        "that of the rate of right_slide.displacement leaves left_slide.displacement_rate 0.04 of "
        "0.06",
    )
    assert f"limits of followers: {', '.join(robot.narrowed)}" in str(robot)
    assert "coupled: both (gear of left_slide and right_slide)" in str(robot)
    found = robot.rollout([0.01], None, [0.02], dt=1e-2, steps=10)
    # 0.2 kg move as one
    np.testing.assert_allclose(found.q[0, -1, 0], 0.01 + 0.1 * 0.1**2 / 2, rtol=1e-12)


@pytest.mark.parametrize(
    ("limits", "ratio"), [((0.0, 0.08), 1.0), (None, 1.0), ((-0.3, 0.3), -0.1)]
)
def test_a_follower_that_goes_as_far_as_its_leader_takes_nothing_from_it(limits, ratio):
    m = bl.Model("gripper")
    left, right = (m.body(name, mass=0.1, inertia=1e-4) for name in ("left", "right"))
    m.joint("prismatic", "a", m.ground, left, axis="x", limits=(0, 0.06))
    given = {} if limits is None else {"limits": limits}
    m.joint("prismatic", "b", m.ground, right, axis="x", **given)
    m.joint("gear", "both", first="a", second="b", ratio=ratio)
    robot = bl.Robot(m)
    np.testing.assert_allclose((robot.lower, robot.upper), [[0.0], [0.06]])
    assert robot.narrowed == ()


def test_coordinates_stand_breadth_first_along_the_tree():
    m = bl.Model("tree")
    bodies = {name: m.body(name, mass=1.0, inertia=0.1) for name in "abcde"}
    for joint, before, after in (("A", None, "a"), ("B", "a", "b"), ("C", "b", "c"),
                                 ("D", None, "d"), ("E", "d", "e")):  # fmt: skip
        m.joint("revolute", joint, bodies[before] if before else m.ground, bodies[after])
    assert bl.Robot(m).joint_names == ("A", "D", "B", "E", "C")
