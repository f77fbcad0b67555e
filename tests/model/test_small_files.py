"""Small files that ask for much work: what they would make is counted, and read once, before."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from biela.budgets import (
    CORNERS,
    CUTTING,
    DEFAULTS,
    ELEMENTS_DEEP,
    LEVELS,
    MJCF_PARTS,
    NAME_SPACE,
    REPEATED_TRIANGLES,
    ROWS,
)
from biela.errors import BielaError, ModelError
from biela.model.denavit_hartenberg import from_dh
from biela.model.files.denavit_hartenberg_tables import load_dh
from biela.model.files.lines import key_lines
from biela.model.files.mjcf import load_mjcf
from biela.model.files.reading import load, loads
from biela.model.files.urdf import load_urdf
from biela.model.files.urdf_building import free_name
from biela.model.meshes import collada, files
from biela.model.meshes.files import read_mesh
from biela.model.meshes.polygons import area_moments, as_polygon, cutting_steps, triangulated
from biela.model.model import Model

MESH = """<source id='s'><float_array>0 0 0 1 0 0 0 1 0 0 0 1 {more}</float_array></source>{groups}
<triangles><input semantic='VERTEX' source='#s' offset='0'/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def scene(nodes: str = "", more: str = "", groups: str = "") -> str:
    mesh = f"<geometry id='g'><mesh>{MESH.format(more=more, groups=groups)}</mesh></geometry>"
    shown = f"<library_visual_scenes><visual_scene>{nodes}</visual_scene></library_visual_scenes>"
    return (
        f"<COLLADA><library_geometries>{mesh}</library_geometries>{shown * bool(nodes)}</COLLADA>"
    )


@pytest.fixture
def mesh_of(tmp_path: Path) -> Callable[[str, str | bytes], files.Mesh]:
    def read(name: str, content: str | bytes) -> files.Mesh:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_mesh(file)

    return read


# --- XML ------------------------------------------------------------------------------------------

ENTITIES = "<!DOCTYPE a [<!ENTITY e '0 0 0 '>]>"
CODES = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"]


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("code", CODES)
def test_no_encoding_hides_a_document_type(mesh_of, tmp_path, code: str, declared: bool) -> None:
    head = f"<?xml version='1.0' encoding='{code}'?>" if declared else ""
    for content in (
        f"{head}{ENTITIES}{scene(more='&e;')}".encode(code),
        head.encode() + f"{ENTITIES}{scene(more='&e;')}".encode(code),
    ):
        with pytest.raises(ModelError, match=r"m\.dae:1: (a document type|this is not XML)"):
            mesh_of("m.dae", content)
        for load_robot, name in ((load_urdf, "m.urdf"), (load_mjcf, "m.xml")):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(BielaError, match=r"document type|not XML|should be UTF-8"):
                load_robot(tmp_path / name)


def test_a_mesh_in_utf_16_is_read(mesh_of) -> None:
    head = "<?xml version='1.0' encoding='UTF-16'?>"
    assert len(mesh_of("m.dae", (head + scene()).encode("utf-16")).triangles) == 4


@pytest.mark.parametrize("read", ["m.dae", "urdf", "mjcf"])
def test_long_name_spaces_and_deep_elements_are_refused(mesh_of, read: str) -> None:
    readers = {"urdf": load_urdf, "mjcf": load_mjcf, "m.dae": lambda text: mesh_of("m.dae", text)}
    space = "u" * (NAME_SPACE + 1)
    for text, said in (
        (f"<a xmlns='{space}'/>", "1,001 letters; the limit is 1,000"),
        (f"<a xmlns:p='{space}'><p:b/></a>", "1,001 letters"),
        ("<a>" * (ELEMENTS_DEEP + 1), f"nested too deep; the limit is {ELEMENTS_DEEP}"),
    ):
        with pytest.raises(ModelError, match=said):
            readers[read](text)


# --- COLLADA --------------------------------------------------------------------------------------


def test_a_scene_repeats_no_vertex_that_no_triangle_has(mesh_of, monkeypatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(
        collada, "Mesh", lambda places, faces: made.append(len(places)) or files.Mesh(places, faces)
    )
    nodes = "<node>" + "<instance_geometry url='#g'/>" * 50 + "</node>"
    mesh_of("m.dae", scene(nodes, more="0 0 0 " * 1000))
    assert made == [50 * 4]


def test_what_a_scene_repeats_is_read_once(mesh_of, monkeypatch) -> None:
    read = []
    floats = collada._floats
    monkeypatch.setattr(collada, "_floats", lambda e: read.append(e) or floats(e))
    nodes = "<node>" + "<instance_node url='#n'/>" * 20 + "</node>"
    again = "<node id='n'><scale>1 1 1</scale><instance_geometry url='#g'/></node>"
    groups = "".join(
        f"<vertices id='v{k}'><input semantic='POSITION' source='#s'/></vertices><triangles>"
        f"<input semantic='VERTEX' source='#v{k}' offset='0'/><p>0 1 2</p></triangles>"
        for k in range(20)
    )
    mesh_of("m.dae", scene(nodes + f"<extra>{again}</extra>", groups=groups))
    assert len(read) == 2


def test_a_geometry_whose_name_is_given_often_is_shown_once(mesh_of, monkeypatch) -> None:
    again = "<geometry id='g'/>" * 30
    text = scene().replace("<geometry id='g'>", f"{again}<geometry id='g'>")
    made: list[int] = []
    monkeypatch.setattr(
        collada, "Mesh", lambda places, faces: made.append(len(faces)) or files.Mesh(places, faces)
    )
    mesh_of("m.dae", text)
    assert made == [4]


def test_a_polylist_has_one_list_of_corners(mesh_of) -> None:
    groups = (
        "<polylist><input semantic='VERTEX' source='#s' offset='0'/><vcount>0</vcount><p/><p/>"
        "</polylist>"
    )
    with pytest.raises(ModelError, match=r"m\.dae: .* one <p>, not 2"):
        mesh_of("m.dae", scene(groups=groups))


# --- polygons -------------------------------------------------------------------------------------


def comb(n: int) -> np.ndarray:
    return np.array([*((k, 9 * (k % 2) + 1) for k in range(n)), (n, 0), (0, 0)], dtype=float)


def spiral(n: int) -> np.ndarray:
    way = [(1 + 0.02 * k, 0.2 * k) for k in range(n // 2)]
    way += [(r + 0.1, a) for r, a in reversed(way)]
    return np.array([(r * math.cos(a), r * math.sin(a)) for r, a in way])


def star(n: int, rng: random.Random) -> np.ndarray:
    size = [rng.uniform(0.2, 2.0) for _ in range(n)]
    turn = [math.tau * k / n for k in range(n)]
    return np.array([(r * math.cos(a), r * math.sin(a)) for r, a in zip(size, turn, strict=True)])


def check_triangles(corners: np.ndarray) -> None:
    """They have the area of the polygon, none is turned over, and each edge has its counterpart."""
    triangles = np.array(triangulated(corners))
    assert len(triangles) == len(corners) - 2
    a, b, c = np.moveaxis(corners[triangles], 1, 0)
    areas = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    total = area_moments(corners)[0]
    assert areas.min() >= -1e-12 * total
    assert areas.sum() == pytest.approx(total, rel=1e-12)
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    n = len(corners)
    assert {e for e in edges if e[::-1] not in edges} == {(k, (k + 1) % n) for k in range(n)}


def test_polygons_of_many_kinds_are_cut_into_triangles() -> None:
    rng = random.Random(4)
    for n in (4, 5, 8, 30, 120, 300):
        for made in (comb(n), spiral(2 * n), star(n, rng)):
            check_triangles(as_polygon(made))
    flat = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    check_triangles(as_polygon(flat))


def test_a_large_polygon_is_cut_soon() -> None:
    """Cutting in the cube of its corners would take minutes."""
    check_triangles(as_polygon(comb(CORNERS - 2)))


def test_faces_that_would_take_long_to_cut_are_refused_before_any_is_cut(
    mesh_of, monkeypatch
) -> None:
    corners = as_polygon(spiral(500))
    vertices = "".join(f"v {x} {y} 0\n" for x, y in corners)
    face = f"f {' '.join(str(k + 1) for k in range(len(corners)))}\n"
    count = CUTTING // cutting_steps(corners) + 1
    cut = []
    monkeypatch.setattr(files, "triangulated", lambda flat: cut.append(flat) or triangulated(flat))
    with pytest.raises(ModelError, match=r"m\.obj: .* comparisons; the limit is 5,000,000"):
        mesh_of("m.obj", vertices + face * count)
    assert not cut
    mesh_of("m.obj", vertices + face)
    assert len(cut) == 1


def test_faces_across_any_axis_are_cut_the_right_way_round(mesh_of) -> None:
    """An L-shaped prism, each face in one piece, turned in all ways."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    points = np.array([(x, y, z) for z in (0, 1) for x, y in outline], dtype=float)
    faces = [[5, 4, 3, 2, 1, 0], [6, 7, 8, 9, 10, 11]]
    faces += [[k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6] for k in range(6)]
    rows = "".join(f"f {' '.join(str(k + 1) for k in face)}\n" for face in faces)
    for axes in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        for tilt in (0.0, 0.3):
            turned = points[:, axes]
            turned[:, 0] += tilt * turned[:, 1]
            vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in turned)
            assert mesh_of("m.obj", vertices + rows).volume == pytest.approx(3.0)


def test_the_corners_of_a_plate_have_a_limit() -> None:
    shape = "{{kind='plate', corners={}, thickness=1, density=1}}"
    text = "name='a'\n[bodies.b]\nshapes=[" + shape.format(comb(CORNERS).tolist()) + "]\n"
    with pytest.raises(ModelError, match=r"<text>:3: .* 1,002 corners; the limit is 1,000"):
        loads(text)


# --- models ---------------------------------------------------------------------------------------


def test_lines_are_noted_for_no_deeper_keys_than_a_model_may_have() -> None:
    depth = LEVELS - 10
    text = "x = " + ("{" + "a." * 60 + "a = ") * depth + "1" + "}" * depth
    lines = key_lines(text)
    assert max(map(len, lines)) == LEVELS
    deep = key_lines("x =\t" + "[" * 40 + "\n0,\n0" + "]" * 40)
    assert deep[("x", *(0,) * 39, 1)] == 3


def test_a_line_of_blanks_is_searched_once() -> None:
    """Searching it from each blank again would take minutes."""
    with pytest.raises(ModelError, match="<text>:1:"):
        loads("a = " + " " * 200_000 + "x\n")
    with pytest.raises(ModelError, match=r'stands in quotes: "12\.5 mm"'):
        loads("a = [ 12.5 mm, 3]\n")


def test_of_many_wrong_names_each_is_told_and_the_first_ones_with_a_guess() -> None:
    n = 600
    bodies = "".join(f"[bodies.somebody{k}]\n" for k in range(n))
    joints = "".join(
        f"[joints.j{k}]\nkind = 'fixed'\ni = 'somebodi{k}'\nj = 'ground'\n" for k in range(n)
    )
    with pytest.raises(ModelError) as caught:
        loads(f"name = 'a'\n{bodies}{joints}")
    said = str(caught.value).splitlines()
    assert len(said) == n
    assert said[0].endswith("did you mean 'somebody0'?")
    assert said[-1].endswith("'somebodi599'")


def test_guesses_are_kept_for_what_is_told() -> None:
    """Parameters are looked at twice, the first time without a word."""
    wrong = "".join(f"a{k} = '1 mmx{k}'\n" for k in range(300))
    with pytest.raises(ModelError, match=r"a0: 'mmx0' is no unit: did you mean 'mm'\?"):
        loads(f"name = 'a'\n[parameters]\n{wrong}")


def test_a_table_of_links_has_a_limit() -> None:
    with pytest.raises(ModelError, match=r"2,001 rows .* the limit is 2,000"):
        from_dh([(0, 0, 0, 0)] * (ROWS + 1))


def test_a_cell_of_a_table_beyond_all_limits_is_refused_in_words(tmp_path) -> None:
    (tmp_path / "d.csv").write_text(f"a,alpha,d,theta\n0,0,0,{'1' * 200_000}\n")
    with pytest.raises(ModelError, match=r"d\.csv:2: field larger"):
        load_dh(tmp_path / "d.csv")


def test_instances_times_parameters_have_a_limit() -> None:
    cell = Model("cell")
    for k in range(200):
        cell.parameter(f"p{k}", 1.0)
    host = Model("host")
    host.part("cells", cell, count=9000)
    with pytest.raises(ModelError, match=r"cells would set about 1\.8e6 parameters"):
        host.flattened()


# --- meshes of models -----------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    found: list[Path] = []
    monkeypatch.setattr(
        files, "read_mesh", lambda path, *more: found.append(path) or read_mesh(path, *more)
    )
    return found


@pytest.mark.parametrize("content", [TETRAHEDRON, TETRAHEDRON + "f 1 2 x\n"])
def test_a_mesh_of_many_bodies_in_many_sizes_is_read_once(tmp_path, reads, content: str) -> None:
    (tmp_path / "m.obj").write_text(content)
    shapes = ",".join(f"{{mesh='m.obj', scale={k + 1}}}" for k in range(9))
    visual = '<visual><geometry><mesh filename="m.obj" scale="{0} 1 1"/></geometry></visual>'
    visuals = "".join(visual.format(k + 1) for k in range(9))
    assets = "".join(
        f'<mesh name="m{k}" file="m.obj" scale="1 {k + 1} 1"/><mesh name="n{k}" file="m.obj"/>'
        for k in range(9)
    )
    geoms = "".join(f'<geom type="mesh" mesh="{m}{k}"/>' for m in "mn" for k in range(9))
    for name, text, read in (
        ("a.toml", f"name='a'\n[bodies.b]\nmass=1\nshapes=[{shapes}]\n", load),
        ("a.urdf", f'<robot name="r"><link name="l">{visuals}</link></robot>', load_urdf),
        ("a.xml", f"<mujoco><asset>{assets}</asset><worldbody>{geoms}</worldbody></mujoco>",
         load_mjcf),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        reads.clear()
        try:
            made = read(tmp_path / name, **({} if read is load else {"notes": []}))
        except ModelError:
            assert "x" in content
        else:
            bodies = [made.ground, *made.bodies.values()]
            sizes = {s.mesh.volume * 6 for body in bodies for s in body.shapes}
            wanted = [float((k + 1) ** (3 if read is load else 1)) for k in range(9)]
            assert "x" in content or sorted(sizes) == pytest.approx(wanted)
        assert len(reads) == 1


def test_copies_of_a_mesh_in_other_sizes_have_a_limit(tmp_path, monkeypatch) -> None:
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    monkeypatch.setattr(files, "REPEATED_TRIANGLES", 10)
    meshes = files.Meshes()
    for scale in (1.0, 2.0, 3.0, 2.0):
        meshes.mesh(tmp_path / "m.obj", scale)
    with pytest.raises(ModelError, match=r"m\.obj: copies .* 12 triangles; the limit is 10"):
        meshes.mesh(tmp_path / "m.obj", (1.0, 2.0, 3.0))
    assert REPEATED_TRIANGLES >= 10**6


# --- MJCF -----------------------------------------------------------------------------------------


def test_the_parts_of_an_mjcf_file_are_counted_first() -> None:
    text = f"<mujoco><worldbody><body>{'<joint/>' * MJCF_PARTS}</body></worldbody></mujoco>"
    with pytest.raises(ModelError, match=r"<text>: .* 20,001 bodies, .* the limit is 20,000"):
        load_mjcf(text)


def test_a_default_class_has_a_limit() -> None:
    many = " ".join(f'a{k}=""' for k in range(DEFAULTS))
    for inside in (f"<geom {many}/>", "".join(f"<t{k}/>" for k in range(DEFAULTS + 1))):
        with pytest.raises(ModelError, match=r"<text>:1: .* 1,001 tags and attributes; the limit"):
            load_mjcf(f"<mujoco><default>{inside}</default></mujoco>")


def test_a_long_attribute_is_neither_read_nor_told_whole() -> None:
    with pytest.raises(ModelError) as caught:
        load_mjcf(
            f'<mujoco><worldbody><body><geom size="{"1 " * 9000}"/></body></worldbody></mujoco>'
        )
    assert "1 or 2 or 3 finite numbers, not '1 1" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_the_next_free_name_is_not_searched_from_the_start() -> None:
    taken: set[str] = set()
    asked = 0

    def is_taken(name: str) -> bool:
        nonlocal asked
        asked += 1
        return name in taken

    last: dict[str, int] = {}
    for _ in range(100):
        taken.add(free_name("body", is_taken, last))
    assert len(taken) == 100
    assert asked < 300
