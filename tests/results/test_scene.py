"""Scenes know where they are, in which plane, and where they are in between."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from biela.errors import ResultsError, ShapeError
from biela.results import Box, Cylinder, Dot, Ground, Link, Scene, Sphere, Trace
from tests.results.runs import swing


def turns(angle, axis):
    """Rotations about a coordinate axis, (k, 3, 3)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.tile(np.eye(3), (len(angle), 1, 1))
    R[:, i, i] = R[:, j, j] = np.cos(angle)
    R[:, i, j], R[:, j, i] = -np.sin(angle), np.sin(angle)
    return R


@pytest.mark.parametrize(("plane", "normal"), [("xz", 1), ("xy", 2), ("yz", 0)])
def test_motion_in_a_plane_parallel_to_a_coordinate_plane_is_found(plane, normal):
    points = np.random.default_rng(3).normal(size=(20, 4, 3))
    points[:, :, normal] = 0.7
    angle = np.linspace(0, 2, 20)
    flat = [Link("a", points), Box("b", points[:, 0], turns(angle, normal), (1, 2, 3))]
    assert Scene(flat).view == plane
    tilted = Box("c", points[:, 0], turns(angle, (normal + 1) % 3), (1, 2, 3))
    assert Scene([*flat, tilted]).view == "3d"  # turns out of the plane
    assert Scene([*flat, Dot("d", points[:, 0] + np.eye(3)[normal])]).view == "3d"  # beside it
    assert Scene(flat, "3d").view == "3d"


def test_rounding_does_not_make_a_planar_motion_spatial():
    points = np.random.default_rng(3).normal(size=(20, 4, 3))
    points[:, :, 1] = 1e-9 * points[:, :, 0]
    assert Scene([Link("a", points)]).view == "xz"
    points[:, :, 1] = 1e-3 * points[:, :, 0]
    assert Scene([Link("a", points)]).view == "3d"


def test_bounds_hold_every_shape_at_all_times():
    k = 5
    p = np.zeros((k, 3))
    p[:, 0] = np.linspace(0, 4, k)
    eye = np.eye(3)[None]
    low, high = Scene([Sphere("s", p, 0.5), Box("b", np.zeros((1, 3)), eye, (1, 4, 1))]).bounds
    assert low.tolist() == [-0.5, -2, -0.5] and high.tolist() == [4.5, 2, 0.5]
    low, high = Scene([Cylinder("c", np.ones((1, 3)), turns([np.pi / 2], 0), 0.5, 4.0)]).bounds
    assert high - low == pytest.approx([1, 4, 1])  # it lies along y
    assert Scene([Ground("g", np.zeros(3))]).extent == 1.0


@pytest.mark.parametrize(
    "shape",
    [
        Box("b", np.zeros((1, 3)), np.eye(3)[None], (1.0, 2.0, 3.0)),
        Cylinder("c", np.zeros((1, 3)), np.eye(3)[None], 1.0, 2.0),
    ],
    ids=["box", "cylinder"],
)
def test_faces_look_outward_and_close_the_body(shape):
    vertices, faces = shape.mesh()
    volume = 0.0
    for face in faces:
        a, *rest = vertices[face]
        for b, c in pairwise(rest):
            volume += np.linalg.det([a, b, c]) / 6  # positive if seen counter-clockwise
        assert np.cross(vertices[face[1]] - a, vertices[face[2]] - a) @ a > 0
    n = 20
    expected = 6.0 if isinstance(shape, Box) else 2 * n / 2 * np.sin(2 * np.pi / n)
    assert volume == pytest.approx(expected, rel=1e-12)


def test_shapes_between_instants_stay_rigid_and_close_to_the_motion():
    t = np.linspace(0, 2, 21)
    times = np.linspace(0, 2, 333)
    circle = lambda s: np.stack([np.cos(3 * s), 0 * s, np.sin(3 * s)], axis=1)  # noqa: E731
    scene = Scene([Dot("d", circle(t)), Box("b", circle(t), turns(3 * t, 0), (1, 1, 1))])
    moved = scene.at(t, times)
    dot, box = moved.shapes
    # three-point slopes: third order, where straight lines would be off by (3·0.1)²/8 = 0.011
    assert np.abs(dot.points - circle(times)).max() < 2e-3
    R = box.rotation
    assert np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max() < 1e-14
    assert np.abs(R - turns(3 * times, 0)).max() < 2e-3
    assert moved.count == 333 and scene.at(t, t).shapes[0].points == pytest.approx(circle(t))


def test_shapes_do_not_smear_over_a_jump():
    t = np.array([0.0, 1.0, 1.0, 2.0])
    p = np.array([[0.0, 0, 0], [1, 0, 0], [5, 0, 0], [6, 0, 0]])
    x = Scene([Dot("d", p)]).at(t, np.array([0.5, 0.999, 1.0, 1.5])).shapes[0].points[:, 0]
    assert x == pytest.approx([0.5, 0.999, 5.0, 5.5])


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Scene([]), ResultsError, "at least one shape"),
        (lambda: Scene(swing().scene.shapes, "zx"), ResultsError, "'zx'"),
        (lambda: Link("rod", np.zeros((4, 3))), ShapeError, r"Link 'rod'.*\(k, k, 3\).*\(4, 3\)"),
        (lambda: Trace("tip", np.zeros((0, 3))), ShapeError, "Trace 'tip'"),
        (
            lambda: Scene([Dot("a", np.zeros((4, 3))), Dot("b", np.zeros((5, 3)))]),
            ResultsError,
            "'a' has 4 and 'b' has 5",
        ),
        (
            lambda: Box("b", np.zeros((4, 3)), np.zeros((3, 3, 3)), (1, 1, 1)),
            ShapeError,
            "4 positions and 3 rotations",
        ),
        (lambda: Scene([Dot("a", np.full((2, 3), np.inf))]).bounds, ResultsError, "not finite"),
    ],
)
def test_what_is_no_scene_is_refused_in_words(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
