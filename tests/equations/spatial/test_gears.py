"""Gears between joints of a tree: a coordinate that follows another is no coordinate of its own."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations import spatial
from biela.equations.spatial import Operators, SpatialTree
from biela.errors import ModelError
from tests.equations.spatial.trees import state, value

INERTIA = (0.1, 0.12, 0.08, 0.01, -0.02, 0.005)


def geared_arm() -> bl.Model:
    """A wrist that turns with the elbow, a rack on another branch, and a train of two gears."""
    m = bl.Model("geared")
    m.parameter("r", -0.7)
    bodies = {}
    for name in ("upper", "lower", "wrist", "slide", "wheel"):
        bodies[name] = m.body(name, mass=1.0, com=(0.2, 0.05, -0.1), inertia=INERTIA)
    m.joint("revolute", "shoulder", m.ground, bodies["upper"], axis="y")
    m.joint("universal", "elbow", bodies["upper"].at(0.5, 0, 0.1), bodies["lower"])
    m.joint("revolute", "wrist_hinge", bodies["lower"].at(0.4, 0.1, 0), bodies["wrist"], axis="x")
    m.joint("prismatic", "guide", bodies["upper"].at(0.1, 0.2, 0), bodies["slide"], axis=(1, 2, 2))
    m.joint("revolute", "axle", m.ground.at(1, 0, 0), bodies["wheel"], axis=(0, 1, 1))
    m.joint("gear", "g", first="elbow.second", second="wrist_hinge", ratio="r", phase=0.4)
    m.joint("rack_pinion", "rp", pinion="shoulder", rack="guide", radius=0.3, offset=0.1)
    m.joint("gear", "h", first="axle", second="wrist_hinge", ratio=2.0)
    m.force("torsional", "spring", coordinate="wrist_hinge", stiffness=5.0, damping=0.3, rest=0.1)
    return m


def whole_motion(m: bl.Model, q: np.ndarray) -> tuple[bl.System, np.ndarray, np.ndarray]:
    """The equations with all coordinates, their values, and B with v = B w."""
    tree, system = SpatialTree(m), bl.formulate(m)
    known = dict(zip(tree.q_names, q, strict=True))
    r = m.parameters["r"]
    known["wrist_hinge.angle"] = r * known["elbow.second"] + 0.4
    known["axle.angle"] = known["wrist_hinge.angle"] / 2
    known["guide.displacement"] = 0.3 * known["shoulder.angle"] + 0.1
    follows = {
        "wrist_hinge.angle_rate": ("elbow.second_rate", r),
        "axle.angle_rate": ("elbow.second_rate", r / 2),
        "guide.displacement_rate": ("shoulder.angle_rate", 0.3),
    }
    B = np.zeros((len(system.v), len(tree.v)))
    for i, entry in enumerate(system.v):
        leader, ratio = follows.get(entry.name, (entry.name, 1.0))
        B[i, tree.v_names.index(leader)] = ratio
    return system, np.array([known[entry.name] for entry in system.q]), B


def test_geared_joints_move_as_the_projection_of_virtual_power() -> None:
    m = geared_arm()
    tree = SpatialTree(m)
    assert tree.v_names == ["shoulder.angle_rate", "elbow.first_rate", "elbow.second_rate"]
    q, v, a = state(tree, 3)
    p = [m.parameters["r"]]
    system, whole, B = whole_motion(m, q)
    M = B.T @ value(system, "M", whole) @ B
    expected = M @ a - B.T @ value(system, "Q", whole, B @ v)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a, p)
    np.testing.assert_allclose(tau, expected, atol=1e-12)
    for method in ("composite", "unit accelerations", "operators"):
        found = spatial.mass_matrix(m, method).interpret(q, p)
        np.testing.assert_allclose(found, M, atol=1e-12)
    found = spatial.forward_dynamics(m).interpret(q, v, tau, p)
    np.testing.assert_allclose(found, a, atol=1e-11)
    T, V = spatial.energy(m).interpret(q, v, p)
    np.testing.assert_allclose([T, V], value(system, "energy", whole, B @ v), atol=1e-12)
    C = spatial.coriolis_matrix(m).interpret(q, v, p)
    h = 1e-6
    mass = spatial.mass_matrix(m)
    rate = (mass.interpret(q + h * v, p) - mass.interpret(q - h * v, p)) / (2 * h)
    np.testing.assert_allclose(C + C.T, rate, atol=1e-8)


def test_frames_and_momentum_feel_all_that_a_velocity_moves() -> None:
    m = geared_arm()
    tree = SpatialTree(m)
    q, v, a = state(tree, 4)
    p = [m.parameters["r"]]
    system, whole, B = whole_motion(m, q)
    twists = value(system, "twists", whole, B @ v)
    for frame in ("wrist", "slide", "wheel"):
        J = spatial.jacobian(m, frame).interpret(q, p)
        k = system.frames.index(frame)
        np.testing.assert_allclose(J @ v, [*twists[k][3:], *twists[k][:3]], atol=1e-12)
    *_, A_G, h, _, _ = spatial.centroidal(m).interpret(q, v, p)
    np.testing.assert_allclose(A_G @ v, h, atol=1e-12)
    poses = value(system, "poses", whole)
    speeds = []
    for body in m.bodies:
        k = system.frames.index(body)
        com = poses[k][3:].reshape(3, 3) @ [0.2, 0.05, -0.1]
        speeds.append(twists[k][:3] + np.cross(twists[k][3:], com))
    np.testing.assert_allclose(h[3:], np.sum(speeds, axis=0), atol=1e-12)
    Y, _ = spatial.regressor(m)
    columns = Y.interpret(q, v, a, p)
    c = np.array([0.2, 0.05, -0.1])
    xx, yy, zz, xy, xz, yz = INERTIA
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + c @ c * np.eye(3) - np.outer(c, c)
    phi = [1.0, *c, *I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]] * 5
    tau = spatial.inverse_dynamics(m).interpret(q, v, a, p)
    angle, speed = -0.7 * q[2] + 0.4, -0.7 * v[2]
    spring = 5.0 * (angle - 0.1) + 0.3 * speed
    np.testing.assert_allclose(columns @ phi + [0, 0, -0.7 * spring], tau, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "leader", "follower"),
    [
        ("universal", "first", "second"),
        ("planar", "angle", "x"),
        ("cylindrical", "angle", "displacement"),
    ],
)
def test_a_gear_may_tie_two_coordinates_of_one_joint(kind: str, leader: str, follower: str) -> None:
    """The bodies move as without the gear, with B that brings the rate of the follower."""
    m = bl.Model("geared joint")
    arm, hand = (m.body(n, mass=1.0, com=(0.2, 0.05, -0.1), inertia=INERTIA) for n in ("a", "b"))
    m.joint(kind, "J", m.ground.at(axis=(1, 2, 3)), arm.at(0.1, 0, 0.2, axis=(0, 1, 1)))
    m.joint("revolute", "K", arm.at(0.5, 0, 0), hand, axis="y")
    free = bl.formulate(m)
    if kind == "universal":
        ties = {"first": f"J.{leader}", "second": f"J.{follower}", "ratio": -0.7, "phase": 0.2}
        m.joint("gear", "g", **ties)
    else:
        ties = {"pinion": f"J.{leader}", "rack": f"J.{follower}", "radius": -0.7, "offset": 0.2}
        m.joint("rack_pinion", "g", **ties)
    tree = SpatialTree(m)
    q, v, a = state(tree, 6)
    known = dict(zip(tree.q_names, q, strict=True))
    known[f"J.{follower}"] = -0.7 * known[f"J.{leader}"] + 0.2
    whole = np.array([known[entry.name] for entry in free.q])
    B = np.zeros((len(free.v), len(tree.v)))
    for i, entry in enumerate(free.v):
        own = entry.name != f"J.{follower}_rate"
        name = entry.name if own else f"J.{leader}_rate"
        B[i, tree.v_names.index(name)] = 1.0 if own else -0.7
    M = B.T @ value(free, "M", whole) @ B
    expected = M @ a - B.T @ value(free, "Q", whole, B @ v)
    tau = spatial.inverse_dynamics(m).interpret(q, v, a)
    np.testing.assert_allclose(tau, expected, atol=1e-12)
    np.testing.assert_allclose(spatial.mass_matrix(m).interpret(q), M, atol=1e-12)
    np.testing.assert_allclose(spatial.forward_dynamics(m).interpret(q, v, tau), a, atol=1e-11)
    J = spatial.jacobian(m, "b").interpret(q)
    twist = value(free, "twists", whole, B @ v)[free.frames.index("b")]
    np.testing.assert_allclose(J @ v, [*twist[3:], *twist[:3]], atol=1e-12)
    h, mass = 1e-6, spatial.mass_matrix(m)
    rate = (mass.interpret(q + h * v) - mass.interpret(q - h * v)) / (2 * h)
    C = spatial.coriolis_matrix(m).interpret(q, v)
    np.testing.assert_allclose(C + C.T, rate, atol=1e-8)


def test_a_rotor_on_a_gear_counts_by_the_square_of_its_ratio() -> None:
    m = geared_arm()
    q, _, _ = state(SpatialTree(m), 5)
    p = [m.parameters["r"]]
    plain = spatial.mass_matrix(m).interpret(q, p)
    geared = spatial.mass_matrix(m, rotors={"guide": 2.0, "wrist_hinge": 1.0}).interpret(q, p)
    np.testing.assert_allclose(geared - plain, np.diag([2.0 * 0.3**2, 0.0, 0.49]), atol=1e-14)


@pytest.mark.parametrize("method", ["articulated", "innovations", "constraint forces"])
def test_what_takes_joints_one_by_one_refuses_gears(method: str) -> None:
    with pytest.raises(ModelError, match="follows another coordinate"):
        spatial.forward_dynamics(geared_arm(), method)
    with pytest.raises(ModelError, match="follows another coordinate"):
        Operators(geared_arm())


def test_gears_that_close_a_loop_are_refused_by_name() -> None:
    m = geared_arm()
    m.joint("gear", "back", first="axle", second="elbow.second", ratio=1.0)
    with pytest.raises(ModelError, match="gear back couples joints that are coupled already"):
        SpatialTree(m)
