"""Scenes of mechanisms: shapes move with their bodies, and signs are where the joints are."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.scenes import mechanism_scene
from biela.equations.figures import (
    BallFigure,
    JointFigure,
    LineFigure,
    SlideFigure,
    SolidFigure,
    StrutFigure,
)
from biela.model.shapes import Box
from biela.results import Dot, Ground, Link, Polyhedron, Results, Sphere

ANGLES = np.linspace(0.0, 1.5, 6)
FRAMES = ("arm", "arm.pin", "ground.pin", "ground.far", "slider")


def poses(axis=1):
    """An arm that turns, a pin at its end, two places of the ground, and a slider along x."""
    rows = np.zeros((len(ANGLES), len(FRAMES), 12))
    rows[:, :, 3::4] = 1.0
    R = np.tile(np.eye(3), (len(ANGLES), 1, 1))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, i, i] = R[:, j, j] = np.cos(ANGLES)
    R[:, i, j], R[:, j, i] = -np.sin(ANGLES), np.sin(ANGLES)
    rows[:, :2, 3:] = R.reshape(-1, 1, 9)
    rows[:, 1, :3] = R[:, :, 0]
    rows[:, 3, :3] = (2.0, 0.0, 0.0)
    # z of the far frame along x, in which the slider goes
    rows[:, 3:, 3:] = [0, 0, 1, 0, 1, 0, -1, 0, 0]
    rows[:, 4, :3] = np.outer(2 + ANGLES, [1.0, 0, 0])
    return rows, R


def scene_of(*figures, axis=1, plane=""):
    return mechanism_scene(figures, FRAMES, poses(axis)[0], plane)


def only(scene, kind):
    return [shape for shape in scene.shapes if isinstance(shape, kind)]


def test_solids_and_balls_turn_with_their_body():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    scene = scene_of(SolidFigure("arm", corners, triangles), BallFigure("arm", (1, 0, 0), 0.1))
    (solid,), (ball,) = only(scene, Polyhedron), only(scene, Sphere)
    R = poses()[1]
    assert solid.corners() == pytest.approx(np.einsum("kij,mj->kmi", R, corners), abs=1e-14)
    assert ball.center == pytest.approx(R[:, :, 0], abs=1e-14)
    assert scene.view == "xz" and scene_of(BallFigure("arm", (1, 0, 0), 0.1), axis=2).view == "xy"


def test_a_joint_is_a_ring_in_a_plane_and_a_hub_in_space():
    figures = [
        LineFigure("arm", (("ground.pin", (0, 0, 0)), ("arm.pin", (0, 0, 0)))),
        JointFigure("revolute", "arm.pin"),
        JointFigure("revolute", "ground.pin", support=True),
        JointFigure("spherical", "ground.pin", support=True),
    ]
    flat = scene_of(*figures)
    rings = only(flat, Dot)
    assert [ring.hollow for ring in rings] == [True, True, False]
    assert rings[0].points == pytest.approx(poses()[1][:, :, 0]) and len(rings[1].points) == 1
    assert len(only(flat, Ground)) == 1  # two joints in one place stand on one support
    space = scene_of(*figures, plane="3d")
    assert len(only(space, Polyhedron)) == 2 and len(only(space, Sphere)) == 1
    assert not only(space, Dot)


def test_a_guide_reaches_as_far_as_its_slider_goes():
    scene = scene_of(SlideFigure("ground.far", "slider", "ground", "slider"))
    (guide,), (block,) = only(scene, Link), only(scene, Polyhedron)
    x = guide.points[0, :, 0]
    assert len(guide.points) == 1 and np.abs(guide.points[0, :, 1:]).max() == 0
    reached = block.corners()[:, :, 0]
    assert x.min() < 2 and x.max() > 3.5
    assert x.min() <= reached.min() + 1e-12 and x.max() >= reached.max() - 1e-12
    size = np.ptp(block.vertices, axis=0)
    assert size[2] > size[0] == pytest.approx(size[1])  # long along its axis


def test_a_spring_goes_from_end_to_end_and_keeps_its_teeth():
    spring, winch = only(
        scene_of(
            StrutFigure("spring", "ground.far", "arm.pin", "spring"),
            StrutFigure("winch", "ground.pin", "slider", "length"),
        ),
        Link,
    )
    ends = spring.points[:, [0, -1]]
    assert ends[:, 0] == pytest.approx(np.tile([2.0, 0, 0], (6, 1)))
    assert ends[:, 1] == pytest.approx(poses()[1][:, :, 0])
    along = ends[:, 1] - ends[:, 0]
    off = np.linalg.norm(np.cross(spring.points - ends[:, :1], along[:, None]), axis=2)
    heights = off / np.linalg.norm(along, axis=1)[:, None]
    assert np.ptp(heights.max(axis=1)) < 1e-12 < heights.max()
    assert winch.dashed and not spring.dashed


def crank_with_box():
    m = bl.Model("crank", plane="xz")
    crank = m.body("crank", shapes=[Box((1, 0.1, 0.1), position=(0.5, 0, 0), mass=1)])
    m.joint("revolute", "A", m.ground, crank, axis="-y")
    m.driver("rotary", "motor", coordinate="A", law="2*t")
    crank.marker("tip", (1, 0, 0))
    return m


def test_the_scene_of_a_run_is_saved_with_it_and_shows_paths(tmp_path):
    found = bl.kinematics(crank_with_box(), 1.0, step=0.1)
    (box,) = only(found.scene, Polyhedron)
    angle = 2 * found.t
    far = box.corners()[:, box.vertices[:, 0] > 0.5].mean(axis=1)
    tip = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    assert far == pytest.approx(tip, abs=1e-12)
    again = Results.load(found.save(tmp_path / "run.npz")).scene
    assert again.view == found.scene.view == "xz"
    for shape, other in zip(again.shapes, found.scene.shapes, strict=True):
        assert type(shape) is type(other)
        assert np.array_equal(shape.corners(), other.corners())
    film = found.animate(trace=["crank.tip"])
    assert film.scene.shapes[-1].points == pytest.approx(tip, abs=1e-12)
    assert len(found.scene.shapes) == len(film.scene.shapes) - 1
    with pytest.raises(bl.BielaError, match=r"crank\.tap"):
        found.draw(trace=["crank.tap"])
