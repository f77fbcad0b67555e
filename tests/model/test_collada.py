"""COLLADA files: polygons, nodes, units; and meshes that face inward."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ModelError
from biela.model.files import load_urdf
from biela.model.meshes.files import read_mesh, write_stl
from biela.model.meshes.mesh import Mesh

CORNERS = [(x, y, z) for x in (0, 2) for y in (0, 3) for z in (0, 4)]
#: Faces of the block, counter-clockwise from outside.
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def dae(polygons: str, node: str, unit: str = "0.01", more: str = "") -> str:
    places = " ".join(str(x) for corner in CORNERS for x in corner)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="u" meter="{unit}"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="block"><mesh>
    <source id="places"><float_array id="numbers" count="24">{places}</float_array>
      <technique_common><accessor source="#numbers" count="8" stride="3"/></technique_common>
    </source>
    <source id="normals"><float_array id="n" count="3">0 0 1</float_array></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    {polygons}
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene">{node}</visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>{more}
</COLLADA>"""


def polylist(offset: int = 0) -> str:
    """The faces with a normal beside each corner."""
    pairs = ((c, 0) if not offset else (0, c) for face in FACES for c in face)
    p = " ".join(f"{a} {b}" for a, b in pairs)
    vertex, normal = offset, 1 - offset
    return (
        f'<polylist count="6"><input semantic="VERTEX" source="#corners" offset="{vertex}"/>'
        f'<input semantic="NORMAL" source="#normals" offset="{normal}"/>'
        f"<vcount>4 4 4 4 4 4</vcount><p>{p}</p></polylist>"
    )


def triangles() -> str:
    p = " ".join(f"{a} {b} {c} {a} {c} {d}" for a, b, c, d in FACES)
    return (
        '<triangles count="12"><input semantic="VERTEX" source="#corners" offset="0"/>'
        f"<p>{p}</p></triangles>"
    )


def polygons() -> str:
    faces = "".join(f"<p>{' '.join(map(str, face))}</p>" for face in FACES)
    return f'<polygons><input semantic="VERTEX" source="#corners" offset="0"/>{faces}</polygons>'


SHOWN = '<node><instance_geometry url="#block"/></node>'


@pytest.mark.parametrize("text", [polylist(), polylist(1), triangles(), polygons()])
def test_all_kinds_of_polygons_give_the_block_in_metres(tmp_path, text):
    file = tmp_path / "block.dae"
    file.write_text(dae(text, SHOWN), encoding="utf-8")
    mesh = read_mesh(file)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(24e-6, rel=1e-12)
    np.testing.assert_allclose(mesh.bounds, [(0, 0, 0), (0.02, 0.03, 0.04)], atol=1e-15)
    assert read_mesh(file, 2.0).volume == pytest.approx(8 * 24e-6, rel=1e-12)


def test_nodes_place_what_they_show(tmp_path):
    node = (
        "<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate>"
        "<node><scale>1 1 2</scale><instance_geometry url='#block'/></node>"
        "<node><matrix>-1 0 0 0 0 1 0 0 0 0 1 20 0 0 0 1</matrix>"
        "<instance_geometry url='#block'/></node></node>"
    )
    file = tmp_path / "two.dae"
    file.write_text(dae(triangles(), node, "1"), encoding="utf-8")
    mesh = read_mesh(file)
    # turned about z, (x, y) goes to (10 - y, x); the second block is reflected in x, 20 up
    np.testing.assert_allclose(mesh.bounds, [(7, -2, 0), (10, 2, 24)], atol=1e-12)
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(48 + 24, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<COLLADA", "1: this is not XML"),
        ("<!DOCTYPE x><COLLADA/>", "document type"),
        (dae(triangles(), "<node/>"), "no triangles"),
        (dae(triangles(), '<node><instance_geometry url="#ball"/></node>'), "names '#ball'"),
        (dae(triangles().replace("0 1 3", "0 1 33", 1), SHOWN), "vertex 33, and there are 8"),
        (dae(polylist().replace("4 4 4 4 4 4", "4 4"), SHOWN), "polygons of 8 corners"),
        (dae(triangles().replace("0 1 3", "0 a 3", 1), SHOWN), "cannot be understood"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path, text, message):
    file = tmp_path / "block.dae"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        read_mesh(file)


def test_a_file_that_faces_inward_is_turned_with_a_note(tmp_path):
    triangles = [t for a, b, c, d in FACES for t in ((a, b, c), (a, c, d))]
    write_stl(Mesh(CORNERS, triangles).flipped(), tmp_path / "block.stl")
    notes: list[str] = []
    assert read_mesh(tmp_path / "block.stl", notes=notes).volume == pytest.approx(24)
    assert notes == ["block.stl: its triangles face inward and were turned"]
    write_stl(Mesh(CORNERS, triangles), tmp_path / "good.stl")
    assert read_mesh(tmp_path / "good.stl", notes=notes).volume == pytest.approx(24)
    assert len(notes) == 1
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        '<robot name="r"><link name="a">\n<visual><geometry><mesh filename="block.stl"/></geometry>'
        "</visual></link></robot>",
        encoding="utf-8",
    )
    notes.clear()
    model = load_urdf(robot, notes=notes)
    assert model.bodies["a"].shapes[0].mesh.volume == pytest.approx(24)
    assert notes == [f"{robot}:2: block.stl: its triangles face inward and were turned"]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_side_that_hardly_has_a_length_is_read(tmp_path):
    file = tmp_path / "flat.dae"
    turn = "<matrix>-11e-320 0 0 0 0 0 -1 0 0 1 0 2 0 0 0 1</matrix><rotate>0 0 1 90</rotate>"
    node = f'<node>{turn}<instance_geometry url="#block"/></node>'
    file.write_text(dae(polygons(), node), encoding="utf-8")
    assert len(read_mesh(file).triangles) == 12
