"""A robot by name: one state and many, parameters, export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.analysis.robots.robot import Robot
from biela.errors import ModelError, ShapeError


def arm() -> bl.Model:
    m = bl.Model("arm")
    m.parameter("l", 0.5)
    base = m.body("base", mass=3.0, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.05))
    upper = m.body("upper", mass=2.0, com=("0.5*l", 0, 0), inertia=(0.01, 0.05, 0.05))
    m.joint("free", "floating", m.ground, base)
    m.joint("revolute", "shoulder", base.at(0, 0, 0.3), upper, axis="y")
    upper.marker("hand", ("l", 0, 0))
    return m


def states(robot: Robot, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    start = np.tile(robot.start, (count, 1))
    q = robot.integrate(start, random.normal(size=(count, robot.nv)))
    return q, random.normal(size=(count, robot.nv)), random.normal(size=(count, robot.nv))


def test_forward_dynamics_of_many_states_undoes_inverse_dynamics() -> None:
    robot = Robot(arm())
    q, v, a = states(robot, 9)
    tau = robot.rnea(q, v, a)
    assert tau.shape == (9, 7)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-10)
    np.testing.assert_allclose(robot.rnea(q[4], v[4], a[4]), tau[4], atol=1e-12)
    M, xi = robot.mass_matrix(q), robot.bias_forces(q, v)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", M, a) + xi, tau, atol=1e-11)


def test_the_hand_is_where_its_parameter_puts_it() -> None:
    for length in (0.5, 0.8):
        robot = Robot(arm(), parameters={"l": length})
        q, v, _ = states(robot, 5)
        T, base = robot.pose("upper.hand", q), robot.pose("upper", q)
        expected = base[:, :3, 3] + length * base[:, :3, 0]
        np.testing.assert_allclose(T[:, :3, 3], expected, atol=1e-14)
        h = 1e-6
        after, before = (robot.pose("upper.hand", robot.integrate(q, s * h * v)) for s in (1, -1))
        speed = np.einsum("kij,kj->ki", robot.jacobian("upper.hand", q)[:, 3:], v)
        rate = (after[:, :3, 3] - before[:, :3, 3]) / (2 * h)
        np.testing.assert_allclose(speed, rate, atol=1e-8)


def test_displacements_and_differences_undo_each_other() -> None:
    robot = Robot(arm())
    q, v, _ = states(robot, 4)
    v = 0.5 * v
    np.testing.assert_allclose(robot.difference(q, robot.integrate(q, v)), v, atol=1e-12)


def test_energy_changes_by_the_power_of_the_joint_forces() -> None:
    robot = Robot(arm(), rotors={"shoulder": 0.3})
    q, v, a = (x[0] for x in states(robot, 1))
    h = 1e-5

    def energy(t: float) -> float:
        return float(sum(robot.energy(robot.integrate(q, t * v), v + t * a)))

    rate = (energy(h) - energy(-h)) / (2 * h)
    assert rate == pytest.approx(float(robot.rnea(q, v, a) @ v), rel=1e-7)


def test_a_robot_stays_what_its_model_was_when_it_was_made() -> None:
    m = arm()
    robot, other = Robot(m), Robot(arm())
    q, v, a = (x[0] for x in states(other, 1))
    tau = robot.rnea(q, v, a)
    m.gravity = (0.0, 0.0, 0.0)
    m.bodies["upper"].inertia = m.bodies["base"].inertia
    m.joint("revolute", "wrist", m.bodies["upper"].at("l", 0, 0), m.body("hand", mass=1.0))
    np.testing.assert_array_equal(robot.rnea(q, v, a), tau)
    for name, arrays in {
        "gravity_forces": (q,),
        "bias_forces": (q, v),
        "mass_matrix": (q,),
    }.items():
        found, expected = (getattr(r, name)(*arrays) for r in (robot, other))
        np.testing.assert_array_equal(found, expected)
    assert robot.nv == 7 and Robot(robot.model).nv == 8


def test_a_robot_is_exported_as_source(tmp_path: Path) -> None:
    files = Robot(arm()).export("c", tmp_path, ["rnea", "mass_matrix"])
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert "inverse_dynamics(" in text
    assert "mass_matrix(" in text


def test_functions_of_several_frames_are_exported_by_their_names(tmp_path: Path) -> None:
    wanted = ["mass_matrix", ("pose", "upper.hand"), ("pose", "base")]
    Robot(arm()).export("python", tmp_path, wanted)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.py"))
    for name in ("mass_matrix", "pose_upper_hand", "pose_base"):
        assert f"def {name}(" in text


def test_bad_questions_are_answered_by_what_there_is() -> None:
    with pytest.raises(ModelError, match="no parameter k; it has l"):
        Robot(arm(), parameters={"k": 1.0})
    robot = Robot(arm())
    with pytest.raises(ModelError, match="no function 'fly'"):
        robot.function("fly")
    with pytest.raises(
        ModelError, match=r"function\('pose', frame\), not 'pose', 'upper', 'local'"
    ):
        robot.function("pose", "upper", "local")
    with pytest.raises(ModelError, match=r"function\('jacobian', frame, axes\), not 'jacobian'"):
        robot.function("jacobian")
    with pytest.raises(ModelError, match="rotor of shoulder: its inertia is zero or more, not -1"):
        Robot(arm(), rotors={"shoulder": -1.0})
    with pytest.raises(ShapeError, match="array of 3 dimensions"):
        robot.mass_matrix(np.zeros((2, 2, 8)))


def test_a_post_has_a_place_and_no_dynamics() -> None:
    m = bl.Model("post")
    m.joint("fixed", "foot", m.ground, m.body("post", mass=1.0, inertia=0.1).at(0, 0, -1))
    robot = Robot(m)
    assert robot.pose("post", [])[2, 3] == 1.0
    with pytest.raises(ModelError, match="post has no freedoms and so no mass_matrix"):
        robot.mass_matrix([])


def test_coordinates_in_the_place_of_a_frame_are_refused_with_the_order():
    robot = Robot(arm())
    with pytest.raises(ShapeError, match=r"comes before the coordinates, as in pose\(frame, q\)"):
        robot.pose(robot.start, "hand")
