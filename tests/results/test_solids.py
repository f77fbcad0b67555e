"""Solid bodies in pictures: faces are cut without holes, and edges are drawn where they show."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest

from biela.errors import ShapeError
from biela.results import Box, Cylinder, Dot, Link, Polyhedron, Results, Scene, Trace
from biela.results.coarsening import coarser
from biela.results.display import Mesh, items, legend
from biela.results.dividing import divided
from biela.results.edges import Faces, normals_of

REST = (np.zeros((1, 3)), np.eye(3)[None])
BODIES = [Box("box", *REST, (1.0, 0.2, 0.3)), Cylinder("rod", *REST, 0.05, 1.0)]


def volume(vertices, faces):
    parts = [vertices[[f[0], f[k], f[k + 1]]] for f in faces for k in range(1, len(f) - 1)]
    return sum(np.linalg.det(part) for part in parts) / 6


def prism(corners):
    """A polyhedron of triangles over an outline: faces of the sides and two fans."""
    n = len(corners)
    low, high = (np.column_stack([corners, np.full(n, z)]) for z in (-0.5, 0.5))
    k = np.arange(n)
    after = (k + 1) % n
    sides = np.concatenate([np.stack([k, after, n + after], 1), np.stack([k, n + after, n + k], 1)])
    fan = np.stack([0 * k[2:], k[1:-1], k[2:]], axis=1)
    faces = np.concatenate([sides, fan[:, ::-1], n + fan])
    return np.concatenate([low, high]), faces.tolist()


@pytest.mark.parametrize("longest", [0.3, 0.07])
@pytest.mark.parametrize("shape", BODIES, ids=lambda shape: shape.name)
def test_a_body_cut_into_small_faces_is_closed_and_as_large(shape, longest):
    vertices, faces = shape.mesh()
    points, small = divided(vertices, faces, longest)
    runs = Counter(edge for face in small for edge in zip(face, [*face[1:], face[0]], strict=True))
    assert all(runs[b, a] == count == 1 for (a, b), count in runs.items())
    assert max(np.linalg.norm(points[a] - points[b]) for a, b in runs) <= longest
    assert volume(points, small) == pytest.approx(volume(vertices, faces), rel=1e-12)


def test_long_strips_are_cut_across_only():
    vertices, faces = Cylinder("rod", *REST, 0.01, 0.8).mesh()
    _, small = divided(vertices, faces, 0.15)
    walls = [face for face in small if len(face) == 4]
    assert len(walls) == 20 * 8


def test_the_edges_of_a_box_are_its_twelve_also_when_it_is_cut():
    vertices, faces = BODIES[0].mesh()
    whole = Faces.of(vertices, faces)
    assert len(whole.edges) == 12 and whole.sharp.all()
    points, small = divided(vertices, faces, 0.1)
    cut = Faces.of(points, small)
    ends = points[cut.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert cut.sharp.all() and lengths.sum() == pytest.approx(4 * (1.0 + 0.2 + 0.3))


def test_of_a_round_wall_only_the_rims_are_sharp():
    faces = Faces.of(*BODIES[1].mesh())
    assert np.linalg.norm(faces.normals, axis=1) == pytest.approx(1.0)
    assert faces.sharp.sum() == 2 * 20 and len(faces.edges) == 3 * 20


def strokes_of(shape):
    """Lengths of the lines that are drawn of a body, seen along -y onto xz."""
    from biela.results.strokes import Pen

    scene = Scene([shape], "xz")
    (mesh,) = items(scene)
    assert isinstance(mesh, Mesh)
    V = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    strokes = Pen(V, np.zeros(1), 0.01, scene.extent).strokes(mesh, 0)
    return [s for s in strokes if s.face[3] == 0]


def test_a_cylinder_from_the_side_shows_its_contour():
    lines = strokes_of(Cylinder("rod", *REST, 0.05, 1.0))
    lengthwise = [s.xy for s in lines if np.ptp(s.xy[:, 1]) > 0.5]
    assert sorted(xy[0, 0] for xy in lengthwise) == pytest.approx([-0.05, 0.05], abs=1e-3)


def test_a_polyhedron_keeps_its_faces_and_refuses_others():
    corners, faces = prism(np.array([[0.0, 0], [1, 0], [0, 1]]))
    body = Polyhedron("wedge", *REST, corners, faces)
    assert body.mesh()[1] == faces and volume(*body.mesh()) == pytest.approx(0.5)
    with pytest.raises(ShapeError, match=r"face of the Polyhedron 'wedge' is \(0, 9, 1\).*6"):
        Polyhedron("wedge", *REST, corners, [[0, 9, 1]])
    with pytest.raises(ShapeError, match="vertices"):
        Polyhedron("wedge", *REST, corners[:, :2], faces)


def test_a_body_of_many_vertices_stays_inside_its_bounds():
    angle = np.linspace(0, 2 * np.pi, 81)[:-1]
    corners, faces = prism(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert len(corners) > 100
    low, high = Scene([Polyhedron("disc", *REST, corners, faces)]).bounds
    assert (low <= corners.min(axis=0)).all() and (high >= corners.max(axis=0)).all()


def body_of_two(k=4):
    corners, faces = prism(np.array([[0.0, 0], [1, 0], [0, 1]]))
    position, rotation = np.arange(3.0 * k).reshape(k, 3), np.tile(np.eye(3), (k, 1, 1))
    parts = [Polyhedron("body", position, rotation, corners + i, faces) for i in range(2)]
    return Results("two", np.arange(float(k)), {}, scene=Scene(parts))


def test_the_pose_of_a_body_of_several_parts_is_kept_once(tmp_path):
    r = body_of_two()
    page = r.animate(fps=1, speed=1.0).html()
    data = json.loads(re.search(r"^const data = (.*);$", page, re.M)[1])
    assert [item["pose"] for item in data["items"]] == [0, 0] and len(data["poses"]) == 1
    again = Results.load(r.save(tmp_path / "two.npz"))
    with np.load(tmp_path / "two.npz") as file:
        assert sum(name.endswith("/rotation") for name in file.files) == 1
    for shape, other in zip(again.scene.shapes, r.scene.shapes, strict=True):
        assert np.array_equal(shape.corners(), other.corners()) and shape.faces == other.faces


def test_repeated_parts_have_one_colour_and_one_entry_in_the_legend():
    lines = np.zeros((1, 2, 3))
    lines[0, 1, 0] = 1.0
    named = ["leg[0].rod", "leg[1].rod", "plate"]
    shapes = [
        *(Link(name, lines) for name in named),
        Link("ground", lines),
        Dot("pin", lines[:, 0], "#D55E00"),
        Trace("path of tip", lines[:, 1]),
    ]
    scene = Scene(shapes)
    entries = legend(scene)
    assert list(entries) == ["leg.rod", "plate", "path of tip"]
    assert len(set(entries.values())) == 3 and "#D55E00" not in entries.values()  # it is taken
    assert legend(Scene([Link(f"bar{i}", lines) for i in range(30)])) == {}


def test_paths_do_not_take_the_colours_of_bodies():
    line = np.array([[[0.0, 0, 0], [1, 0, 0]]])
    bars = [Link(f"bar{i}", line) for i in range(7)]
    entries = legend(Scene([*bars, Trace("path of tip", line[:, 1])]))
    assert len(set(entries.values())) == len(entries) == 8


def ball(rings=80, sides=160):
    """A unit sphere of many triangles."""
    polar, around = np.linspace(0, np.pi, rings + 1)[1:-1], 2 * np.pi * np.arange(sides) / sides
    z, r = np.repeat(np.cos(polar), sides), np.repeat(np.sin(polar), sides)
    angle = np.tile(around, rings - 1)
    body = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    k = np.arange(sides)
    after = (k + 1) % sides
    last = (rings - 2) * sides
    top, bottom = len(body), len(body) + 1
    faces = [np.stack([0 * k + top, k, after], 1)]
    faces += [np.stack([0 * k + bottom, last + after, last + k], 1)]
    for low in range(0, last, sides):
        faces += [np.stack([low + k, low + sides + k, low + sides + after], 1)]
        faces += [np.stack([low + k, low + sides + after, low + after], 1)]
    return np.concatenate([body, [[0, 0, 1.0], [0, 0, -1.0]]]), np.concatenate(faces)


def test_a_fine_mesh_is_drawn_coarser_without_holes():
    vertices, faces = ball()
    corners, triangles, source = coarser(vertices, faces, 0.1)
    assert len(triangles) < len(faces) / 5
    assert volume(corners, triangles) == pytest.approx(4 * np.pi / 3, rel=0.03)
    edges = Counter(
        frozenset(e) for f in triangles.tolist() for e in zip(f, f[1:] + f[:1], strict=True)
    )
    assert set(edges.values()) == {2}
    # the normals of the triangles that they were are nearly those of the ball
    middles = corners[triangles].mean(axis=1)
    normals = normals_of(vertices[faces])[source]
    assert ((middles * normals).sum(axis=1) > 0.98 * np.linalg.norm(middles, axis=1)).all()


@pytest.mark.parametrize("view", ["xz", "3d"])
def test_a_smooth_mesh_shows_its_contour_and_no_edges(view):
    vertices, faces = ball()
    (mesh,) = items(Scene([Polyhedron("ball", *REST, vertices, faces)], view))
    assert isinstance(mesh, Mesh)
    assert len(mesh.faces.corners) < len(faces)
    assert not mesh.faces.sharp.any()
    assert np.abs(np.linalg.norm(mesh.vertices, axis=1) - 1).max() < 0.01


def test_edges_and_the_faces_beside_them_are_those_found_one_by_one():
    vertices, faces = divided(*Cylinder("rod", *REST, 0.05, 1.0).mesh(), 0.2)
    faces = [*faces, [0, 1, 2]]  # a face more, at edges that have two
    found = Faces.of(vertices, faces)
    beside = {}
    for number, face in enumerate(faces):
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            beside.setdefault((min(a, b), max(a, b)), []).append(number)
    for edge, sides in zip(found.edges.tolist(), found.sides.tolist(), strict=True):
        assert sides == [beside[tuple(edge)][0], beside[tuple(edge)][-1]]
    centers = [vertices[face].mean(axis=0) for face in faces]
    np.testing.assert_allclose(found.centers, centers, atol=1e-15)
    listed = {tuple(edge) for edge in found.edges.tolist()}
    borders = {edge for edge, sides in beside.items() if sides[0] == sides[-1]}
    assert borders <= listed < set(beside)


def test_faces_may_be_an_array(tmp_path):
    vertices, faces = prism(np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]))
    shape = Polyhedron("block", *REST, vertices, np.array(faces))
    assert shape.mesh()[1] == faces
    r = Results("r", [0.0, 1.0], {}, scene=Scene([shape]))
    again = Results.load(r.save(tmp_path / "run.npz")).scene.shapes[0]
    np.testing.assert_array_equal(again.faces, faces)
    with pytest.raises(ShapeError, match=r"a face .* is \(0, 1, 8\); it should be three"):
        Polyhedron("block", *REST, vertices, np.array([[0, 1, 2], [0, 1, 8]]))
    with pytest.raises(ShapeError, match=r"is \(0, 1\)"):
        Polyhedron("block", *REST, vertices, np.array([[0, 1]]))
