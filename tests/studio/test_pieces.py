"""Scenes as solids and lines: surfaces that are closed, and motions that are those of the scene."""

from __future__ import annotations

import numpy as np
import pytest

from biela.results import Cylinder, Dot, Ground, Link, Polyhedron, Scene, Sphere, Trace
from biela.studio.pieces import Solid, Stroke, alike, between, pieces
from biela.studio.session import Session
from biela.studio.shelf import gallery
from biela.studio.solids import Mesh, ball, bar, foot, plate

Z = np.array([0.0, 0.0, 1.0])


def volume(mesh: Mesh) -> float:
    """By Gauss: positive where all faces look outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def is_closed(mesh: Mesh) -> bool:
    """Every edge is run through once in each direction."""
    edges = np.concatenate([mesh.faces[:, [k, (k + 1) % 3]] for k in range(3)])
    there = {tuple(edge) for edge in edges.tolist()}
    return len(there) == len(edges) and all((b, a) in there for a, b in there)


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        (ball(0.5), 4 / 3 * np.pi * 0.5**3),
        (bar(np.array([[1.0, 2.0, 3.0], [1.0, 2.5, 3.0]]), 0.2), np.pi * 0.2**2 * 0.5),
        (bar(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), 0.2), np.pi * 0.2**2 * 2),
        (plate(np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]]), 0.1), 2 * 0.2),
        (foot(1.0, Z, np.array([0.0, 1.0, 0.0])), None),
    ],
)
def test_surfaces_are_closed_and_look_outwards(mesh: Mesh, expected: float | None) -> None:
    assert is_closed(mesh) and mesh.closed
    assert volume(mesh) > 0
    if expected is not None:  # of prisms and facets in place of round things
        assert volume(mesh) == pytest.approx(expected, rel=0.06)
        assert volume(mesh) <= expected * (1 + 1e-9)


def test_what_is_open_or_inside_out_is_drawn_from_both_sides() -> None:
    whole = ball(0.5)
    assert not Mesh(whole.vertices, whole.faces[1:]).closed
    assert not Mesh(whole.vertices, whole.faces[:, ::-1]).closed
    # as files of surfaces have it, with points of its own for every triangle
    apart = Mesh(
        whole.vertices[whole.faces].reshape(-1, 3), np.arange(3 * len(whole.faces)).reshape(-1, 3)
    )
    assert apart.closed


def moved(solid: Solid, place: float) -> np.ndarray:
    """The vertices of a solid, by the rotation of its Euler parameters."""
    r, (e0, *e) = solid.track.at(place)
    v = solid.mesh.vertices * [1, 1, solid.track.scale_at(place)]
    turned = v + 2 * np.cross(e, np.cross(e, v) + e0 * v)
    return np.asarray(r + turned)


def test_a_line_between_two_points_is_a_bar_that_follows_them() -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(6, 2, 3))
    scene = Scene([Link("rod", points), Ground("ground", np.zeros(3))], "3d")
    rod = next(p for p in pieces(scene) if p.name == "rod")
    for k in range(6):
        corners = moved(rod, k)
        n = len(corners) // 2
        ends = np.array([corners[:n].mean(axis=0), corners[n:].mean(axis=0)])
        assert ends == pytest.approx(points[k], abs=1e-12)


def test_a_plate_is_rigid_and_passes_through_its_corners() -> None:
    outline = np.array([[0.0, 0, 0], [1, 0, 0], [1.2, 0.7, 0], [0.3, 0.9, 0]])
    angle = np.linspace(0, 2, 5)
    R = np.array(
        [[[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]] for a in angle]
    )
    points = np.einsum("kij,nj->kni", R, outline) + angle[:, None, None]
    (solid,) = pieces(Scene([Link("plate", points, closed=True)], "3d"))
    for k in range(5):
        corners = moved(solid, k)
        assert (corners[:4] + corners[4:]) / 2 == pytest.approx(points[k], abs=1e-12)
    # the same own axes whichever instants there are
    (alone,) = pieces(Scene([Link("plate", points[3:4], closed=True)], "3d"), 1.0)
    assert alone.track.at(0)[0] == pytest.approx(solid.track.at(3)[0])
    assert abs(alone.track.at(0)[1] @ solid.track.at(3)[1]) == pytest.approx(1.0)


def test_every_shape_becomes_a_piece_and_signs_are_no_bodies() -> None:
    still = np.zeros((1, 3)), np.eye(3)[None]
    shapes = [
        Sphere("ball", np.zeros((1, 3)), 0.1),
        Cylinder("roll", *still, 0.1, 0.3),
        Polyhedron("wedge", *still, np.eye(3), [[0, 1, 2]]),
        Dot("joints", np.zeros((1, 3)), hollow=True),
        Link("spring", np.zeros((1, 18, 3)), width=1.6, pins=False),
        Link("length", np.ones((1, 2, 3)) * [[0.0], [1.0]], dashed=True),
        Trace("way", np.random.default_rng(1).normal(size=(1, 3))),
    ]
    found = {p.name: p for p in pieces(Scene(shapes, "xz"))}
    assert [type(found[n]) for n in ("ball", "roll", "wedge", "joints")] == [Solid] * 4
    assert [type(found[n]) for n in ("spring", "length", "way")] == [Stroke] * 3
    assert found["joints"].role == "joint" and found["roll"].role == "body"
    spread = np.ptp(found["joints"].mesh.vertices, axis=0)
    assert spread[1] > 1.4 * spread[0], "a pin across the plane xz"
    assert len(found["length"].segments(0)) == 12, "a broken line"


def test_between_instants_things_are_between() -> None:
    assert between(np.array([[0.0, 1], [4, 3]]), 0.25) == pytest.approx([1.0, 1.5])
    assert between(np.array([1.0, 2.0]), 9.0) == 2.0


def test_a_position_is_drawn_like_the_instant_it_was_taken_from() -> None:
    session = Session(gallery().source("excavator"))
    session.open()
    motion = pieces(session.scene)
    session.go_to(session.motion.t[40])
    session.pose = session.position()
    posed = pieces(session.posed_scene(), session.size)
    assert [p.name for p in posed] == [p.name for p in motion]
    for a, b in zip(motion, posed, strict=True):
        if isinstance(a, Solid) and a.role == "body":
            assert a.track.at(40)[0] == pytest.approx(b.track.at(0)[0], abs=1e-12)
            assert abs(a.track.at(40)[1] @ b.track.at(0)[1]) == pytest.approx(1.0)
    assert alike(motion, motion)
    session.set_parameter("boom_length", 5.6)
    assert session.run(), session.error
    assert not alike(motion, pieces(session.scene)), "another size has other surfaces"
