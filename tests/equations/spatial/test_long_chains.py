"""What makes the derivation of long chains short changes none of its numbers."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import biela as bl
from biela.equations.spatial import LoopedDynamics, SpatialTree
from biela.equations.spatial.garbage import collector_paused
from biela.equations.spatial.links import congruent
from biela.equations.spatial.turning import Pose
from biela.model.topology.tree import joint_tree, start_poses, start_values
from tests.equations.spatial.trees import random_tree


def random_pose(random: np.random.Generator) -> Pose:
    Q, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return Pose((Q * np.linalg.det(Q)).tolist(), random.normal(size=3).tolist())


def matrix(pose: Pose) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pose.R, pose.p
    return T


def test_poses_and_inertias_of_numbers_are_products_of_matrices() -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        A, B = random_pose(random), random_pose(random)
        np.testing.assert_allclose(matrix(A @ B), matrix(A) @ matrix(B), atol=1e-14)
        p = random.normal(size=3).tolist()
        np.testing.assert_allclose(matrix(A.ahead(p)), matrix(A) @ matrix(Pose.at(*p)), atol=1e-14)
        half = random.normal(size=(4, 4))
        J = half @ half.T
        found = np.array(congruent(A, J.tolist()))
        np.testing.assert_allclose(found, matrix(A) @ J @ matrix(A).T, atol=1e-13)
        assert (found == found.T).all()


def test_the_dust_of_rounding_is_swept_off_a_product() -> None:
    quarter = np.array([[6e-17, -1.0, 0.0], [1.0, 6e-17, 0.0], [0.0, 0.0, 1.0]])
    turned = Pose(quarter.tolist(), [0.0, -0.0, 1e-16]) @ Pose.at()
    assert turned.R == [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert [str(x) for x in turned.p] == ["0.0"] * 3


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was_found(running: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if running else gc.disable)()
        with pytest.raises(ValueError, match="stop"), collector_paused():
            assert not gc.isenabled()
            raise ValueError("stop")
        assert gc.isenabled() is running
        SpatialTree(random_tree(3, 1))
        assert gc.isenabled() is running
    finally:
        (gc.enable if before else gc.disable)()


def test_frames_of_markers_are_found_when_asked_for_and_are_where_they_were() -> None:
    m = random_tree(5, 2)
    body = list(m.bodies.values())[-1]
    body.marker("tool", (0.1, 0.2, 0.3))
    body.marker("turned", (0.1, 0.2, 0.3), axis="x")
    tree = SpatialTree(m)
    assert next(iter(tree.frames)) == "ground" and f"{body.name}.tool" in tree.frames
    poses = LoopedDynamics(tree).poses()
    q = np.array(tree.start)
    R, p = poses.frame(body.name, q)
    names = [f"{body.name}.tool", f"{body.name}.turned", "ground"]
    rows = poses.frames(names, np.stack([q, q]))
    assert rows.shape == (2, 3, 12)
    np.testing.assert_allclose(rows[:, :2, :3] - (p + R @ [0.1, 0.2, 0.3]), 0, atol=1e-14)
    axes = rows[1, :, 3:].reshape(3, 3, 3)
    np.testing.assert_allclose(axes[0], R, atol=1e-14)
    np.testing.assert_allclose(axes[1][:, 2], R[:, 0], atol=1e-14)
    np.testing.assert_array_equal(rows[0, 2], [0, 0, 0, *np.eye(3).ravel()])


@pytest.mark.parametrize("placed", [False, True])
def test_values_at_the_start_need_no_poses_but_those_that_are_given(placed: bool) -> None:
    m = bl.Model("arm")
    a = m.body("a", mass=1.0, inertia=0.1)
    b = m.body("b", mass=1.0, inertia=0.1, position=(0.0, 0.5, 1.0) if placed else None)
    m.joint("revolute", "j", m.ground, a, axis="x", start=0.3)
    m.joint("prismatic", "k", a.at(), b.at())
    m.driver("rotary", "motor", coordinate="j", law="0.4 + t")
    tree = joint_tree(m)
    found = start_values(m, tree)
    assert found == start_poses(m, tree)[1]
    assert found["j"] == {"angle": 0.4}
    assert bool(found["k"]["displacement"]) is placed


def test_springs_and_gears_of_a_chain_are_found_by_the_names_of_joints() -> None:
    m = bl.Model("chain")
    before = m.ground.at()
    for k in range(4):
        rod = m.body(f"rod{k}", mass=0.5, com=(0, 0, -0.1), inertia=(2e-3, 2e-3, 1e-4))
        m.joint("revolute", f"J{k}", before, rod.at(), axis="y")
        m.force("torsional", f"S{k}", coordinate=f"J{k}.angle", stiffness=2.0, damping=0.1)
        before = rod.at(0, 0, -0.2)
    m.joint("gear", "gear", first="J0", second="J2.angle", ratio=2.0)
    tree = SpatialTree(m, rotors={"J2": 0.3})
    assert len(tree.v) == 3
    assert tree.coordinate_name("J2") == "J2.angle"
    # J2 follows J0 by q2 = r q0: its spring and its rotor act along that velocity by r²
    names = tree.v_names
    k = names.index("J0.angle_rate")
    rotor = 0.3 * _ratio(tree) ** 2
    assert [float(x) for x in tree.rotor] == [rotor if j == k else 0.0 for j in range(3)]
    forces = bl.Function("pushed", {"q": tree.q, "v": tree.v}, {"f": tree.pushed})
    q, v = np.array([0.3, -0.5, 0.7]), np.array([1.0, 2.0, -3.0])
    expected = -2.0 * q - 0.1 * v
    expected[k] *= 1 + _ratio(tree) ** 2
    np.testing.assert_allclose(forces(q, v), expected, rtol=1e-14)


def _ratio(tree: SpatialTree) -> float:
    """The angle of J2 when that of J0 is one."""
    follower = bl.Function("J2", {"q": tree.q}, {"x": tree.coordinates.followers["J2.angle"][0]})
    ratio = float(follower(np.ones(3)))
    assert abs(ratio) in (0.5, 2.0)
    return ratio
