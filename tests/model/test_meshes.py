"""Meshes: exact integrals against Delaunay tetrahedra, closedness, orientation, files."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from biela.errors import ModelError
from biela.model.meshes.files import read_mesh, write_stl
from biela.model.meshes.mesh import Mesh
from biela.model.meshes.repair import repaired
from biela.model.shapes import Box, Sphere, Tube

CUBE = Box((1, 1, 1)).surface()


def hull(seed: int, n: int = 30) -> tuple[Mesh, np.ndarray]:
    """The hull of random points, facing outward, and the points."""
    points = np.random.default_rng(seed).normal(size=(n, 3)) + 5
    found = ConvexHull(points)
    triangles = found.simplices.copy()
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return Mesh(points, triangles), points


def by_tetrahedra(points):
    """Volume, centre and inertia by Delaunay tetrahedra, with a quadrature of degree two."""
    near, far = 0.5854101966249685, 0.1381966011250105
    rule = np.full((4, 4), far) + np.eye(4) * (near - far)
    corners = points[Delaunay(points).simplices]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    places = np.einsum("qc,tcx->tqx", rule, corners).reshape(-1, 3)
    weights = np.repeat(volumes / 4, 4)
    centre = weights @ places / weights.sum()
    d = places - centre
    second = (weights[:, None] * d).T @ d
    return weights.sum(), centre, np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("seed", range(5))
def test_integrals_of_a_random_polyhedron_are_those_of_its_tetrahedra(seed):
    mesh, points = hull(seed)
    volume, centre, inertia = by_tetrahedra(points)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(volume, rel=1e-12)
    found = mesh.mass_properties(3.0)
    assert found.mass == pytest.approx(3 * volume, rel=1e-12)
    assert found.com == pytest.approx(centre, rel=1e-12)
    assert found.inertia == pytest.approx(3 * inertia, abs=1e-11 * np.abs(inertia).max())


@pytest.mark.parametrize("seed", range(3))
def test_scaling_changes_the_volume_by_its_determinant(seed):
    mesh, _ = hull(seed)
    for factors in ((2, 3, 0.5), (-1, 1, 1), (-2, -1, -1), 0.001):
        changed = mesh.scaled(factors)
        product = abs(np.prod(np.broadcast_to(factors, 3)))
        assert changed.volume == pytest.approx(mesh.volume * product, rel=1e-12)


def test_a_mesh_far_from_the_origin_keeps_its_digits():
    found = CUBE.moved((1e5, -1e5, 1e5)).mass_properties(1.0)
    # places are rounded to 1e-11 there, and no more than that may be lost
    assert found.inertia == pytest.approx(np.eye(3) / 6, abs=1e-10)


def test_the_area_of_a_cube_is_six():
    assert CUBE.area == pytest.approx(6, rel=1e-14)


def test_an_open_mesh_is_not_weighed():
    opened = Mesh(CUBE.vertices, CUBE.triangles[1:])
    assert not opened.is_closed
    with pytest.raises(ModelError, match="3 of 18 edges lack"):
        opened.mass_properties(1.0)
    with pytest.raises(ModelError, match="holes"):
        repaired(opened)


def test_an_inward_mesh_is_not_weighed_but_repaired():
    inward = CUBE.flipped()
    assert inward.volume == pytest.approx(-1, rel=1e-14)
    with pytest.raises(ModelError, match="face inward"):
        inward.mass_properties(1.0)
    mesh, notes = repaired(inward)
    assert mesh.volume == pytest.approx(1, rel=1e-14)
    assert notes == ("12 of 12 triangles were turned to face outward",)


@pytest.mark.parametrize("seed", range(5))
def test_randomly_turned_triangles_are_put_right(seed):
    mesh, _ = hull(seed)
    rng = np.random.default_rng(seed)
    turned = rng.random(len(mesh.triangles)) < 0.5
    triangles = mesh.triangles.copy()
    triangles[turned] = triangles[turned][:, ::-1]
    found, notes = repaired(Mesh(mesh.vertices, triangles))
    assert found.mass_properties(1.0).com == pytest.approx(mesh.mass_properties(1.0).com, rel=1e-12)
    assert found.volume == pytest.approx(mesh.volume, rel=1e-12)
    assert notes == (f"{turned.sum()} of {len(turned)} triangles were turned to face outward",)


def joined(*meshes: Mesh) -> Mesh:
    starts = itertools.accumulate((len(m.vertices) for m in meshes[:-1]), initial=0)
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.triangles + s for m, s in zip(meshes, starts, strict=True)]),
    )


def test_a_cavity_stays_a_cavity_and_a_lone_inward_part_does_not():
    inner = CUBE.scaled(0.5).flipped()
    hollow, notes = repaired(joined(CUBE, inner))
    assert hollow.volume == pytest.approx(1 - 0.125, rel=1e-14)
    assert notes == ("part 2 of 2 faces inward: taken for a cavity",)
    apart, notes = repaired(joined(CUBE, inner.moved((5, 0, 0))))
    assert apart.volume == pytest.approx(1.125, rel=1e-14)
    assert notes == ("12 of 24 triangles were turned to face outward",)


def test_cubes_that_share_an_edge_are_both_put_right():
    pair = joined(CUBE, CUBE.moved((1, 1, 0)).flipped())
    found, _ = repaired(pair)
    assert found.volume == pytest.approx(2, rel=1e-14)


def test_a_band_with_one_side_is_refused():
    n = 9
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    rows = [
        [
            (1 + s * np.cos(a / 2)) * np.cos(a),
            (1 + s * np.cos(a / 2)) * np.sin(a),
            s * np.sin(a / 2),
        ]
        for a in t
        for s in (-0.3, 0.3)
    ]
    faces = []
    for k in range(n):
        a, b, c, d = 2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3
        if k == n - 1:
            c, d = 1, 0  # half a turn
        faces += [(a, c, b), (b, c, d)]
    with pytest.raises(ModelError, match="Möbius"):
        repaired(Mesh(rows, faces))


def test_welding_joins_near_vertices_across_cells_and_drops_slivers():
    rng = np.random.default_rng(2)
    mesh = Sphere(1.0).surface(16)
    soup = mesh.vertices[mesh.triangles].reshape(-1, 3)
    shaken = Mesh(soup + rng.uniform(-1e-7, 1e-7, soup.shape), np.arange(len(soup)).reshape(-1, 3))
    assert not shaken.is_closed
    assert not shaken.welded().is_closed
    welded = shaken.welded(1e-6)
    assert welded.is_closed
    assert len(welded.vertices) == len(mesh.vertices)
    assert welded.volume == pytest.approx(mesh.volume, rel=1e-6)
    sliver = Mesh([*CUBE.vertices, CUBE.vertices[0]], [*CUBE.triangles, (0, 8, 1)])
    assert len(sliver.welded(0.0).triangles) == 12
    with pytest.raises(ModelError, match="leaves no triangle"):
        CUBE.welded(10.0)
    with pytest.raises(ModelError, match="leaves no triangle"):
        Mesh(np.ones((3, 3)), [[0, 1, 2]]).welded()


@pytest.mark.parametrize(
    ("vertices", "triangles", "says"),
    [
        ([[0, 0]], [[0, 0, 0]], r"shape \(n, 3\)"),
        (np.zeros((3, 3)), [[0, 1]], r"shape \(m, 3\)"),
        (np.zeros((3, 3)), np.zeros((0, 3), int), r"shape \(m, 3\)"),
        (np.zeros((3, 3)), [[0, 1, 3]], "only 3 vertices"),
        (np.zeros((3, 3)), [[0, 1, -1]], "only 3 vertices"),
        (np.zeros((3, 3)), [[0.5, 1, 2]], "whole numbers"),
        ([[0, 0, 0], [np.nan, 0, 0], [1, 1, 1]], [[0, 1, 2]], "vertex 1"),
    ],
)
def test_arrays_that_are_no_mesh_are_refused(vertices, triangles, says):
    with pytest.raises(ModelError, match=says):
        Mesh(vertices, triangles)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [True, False])
def test_what_is_written_as_stl_is_read_back(tmp_path, text):
    mesh = Tube(0.1, 0.05, 0.3).surface(20)
    file = tmp_path / "tube.STL"
    write_stl(mesh, file, text=text, scale=1000)
    found = read_mesh(file, scale=0.001)
    assert found.is_closed
    assert len(found.vertices) == len(mesh.vertices)
    assert found.volume == pytest.approx(mesh.volume, rel=1e-12 if text else 1e-6)
    if text:
        normals = [
            [float(w) for w in line.split()[2:]]
            for line in file.read_text().splitlines()
            if line.startswith("facet")
        ]
        a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
        cross = np.cross(b - a, c - a)
        assert np.array(normals) == pytest.approx(
            cross / np.linalg.norm(cross, axis=1, keepdims=True), abs=1e-12
        )


def test_a_binary_stl_may_begin_with_the_word_solid(tmp_path):
    file = tmp_path / "cube.stl"
    write_stl(CUBE, file)
    content = file.read_bytes()
    file.write_bytes(b"solid part".ljust(80) + content[80:])
    assert read_mesh(file).volume == pytest.approx(1, rel=1e-6)


def test_faces_of_an_obj_file_may_be_polygons_with_relative_numbers(tmp_path):
    # a block with an L outline: two faces with a corner that points inward
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
    lines = ["# a bracket", "mtllib none.mtl", "o part", "vn 0 0 1"]
    lines += [f"v {x} {y} {z}" for z in (0, 1) for x, y in outline]
    lines += ["f 6 5 4 3 2 1 # below", "f 7//1 8//1 9//1 10//1 \\", "11//1 12//1"]
    for k in range(6):
        n = (k + 1) % 6
        lines.append(f"f {k - 12}/3 {n - 12}/4 {n - 6} {k - 6}")
    file = tmp_path / "bracket.obj"
    file.write_text("\n".join(lines))
    mesh = read_mesh(file, scale=0.1)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(0.004, rel=1e-12)
    assert mesh.area == pytest.approx((2 * 4 + 10) * 0.01, rel=1e-12)


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.obj", TRIANGLE + "f 1 2 7", r"a.obj:4: a face with vertex 7"),
        ("a.obj", TRIANGLE + "f 1 2", r"a.obj:4: a face with 2 vertices"),
        ("a.obj", TRIANGLE + "f 1 2 x", r"a.obj:4: 'x' is no vertex"),
        ("a.obj", TRIANGLE + "f 1 2 0", r"a.obj:4: '0' is no vertex"),
        ("a.obj", TRIANGLE + "f 1 2 -9", r"a.obj:4: '-9' is no vertex"),
        ("a.obj", "v 0 0\n", r"a.obj:1: a vertex is three finite numbers, not '0 0'"),
        ("a.obj", "v 0 0 inf\n", r"a.obj:1"),
        ("a.obj", TRIANGLE, "no faces"),
        ("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x\n", r"a.stl:4"),
        ("a.stl", "solid\nouter loop\nvertex 0 0 1\nendloop\n", r"a.stl:4: .* 1 vertices"),
        ("a.stl", "solid\nouter loop\nvertex 0 0 1\n", r"a.stl:3: the file ends"),
        ("a.stl", "solid\nvertex 0 0 1\n", r"a.stl:2: a vertex outside"),
        ("a.stl", "solid\nfoo\n", r"a.stl:2: 'foo' is no word"),
        ("a.stl", "solid\nendsolid\n", "no triangles"),
        ("a.stl", "", "0 bytes are no STL"),
        ("a.stl", b"\0" * 80 + struct.pack("<I", 1000) + b"\0" * 50, "1000 triangles"),
        ("a.stl", b"\0" * 84, "no triangles"),
        ("a.stl", b"\0" * 80 + struct.pack("<I", 1) + b"\xff" * 50, "triangle 1"),
        ("a.step", "", "read from .stl, .obj and .dae files, not .step"),
    ],
)
def test_faults_in_files_are_told_with_file_and_line(tmp_path, name, content, says):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelError, match=says):
        read_mesh(file)


def test_missing_files_and_wrong_scales_are_told(tmp_path):
    with pytest.raises(ModelError, match="No such file"):
        read_mesh(tmp_path / "none.stl")
    with pytest.raises(ModelError, match="scale"):
        read_mesh(tmp_path / "none.stl", scale=0)
