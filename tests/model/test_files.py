"""Model files: what is written is read as the same model."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.errors import FileError, ModelError
from biela.model.bodies import Body
from biela.model.drivers import Driver
from biela.model.element import KINDS, quantity
from biela.model.files import dumps, load, loads, save
from biela.model.joints import Joint
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.meshes.files import write_stl
from biela.model.model import Model
from biela.model.orientation import Orientation, along, by_rows, turned
from biela.model.placing import marker_pose
from biela.model.shapes import Box, Cylinder, MeshShape, Plate, Rod

# --- equality -------------------------------------------------------------------------------------


def comparable(value: Any) -> Any:
    """Plain data to compare: shapes and arrays have no equality of their own."""
    if isinstance(value, Model):
        return {k: comparable(v) for k, v in vars(value).items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: comparable(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(v) for v in value]
    return value


def same(a: Model, b: Model) -> None:
    assert comparable(b) == comparable(a)


# --- random models --------------------------------------------------------------------------------

floats = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e9, max_value=1e9)
lengths = st.one_of(floats, st.sampled_from(["r", "2*r + 5 mm", "-120 mm", "sqrt(r^2 + l^2)"]))
angles = st.one_of(floats, st.sampled_from(["30 deg", "phi", "pi/2 - phi"]))
triples = st.tuples(lengths, lengths, lengths)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
units = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: math.hypot(*v) > 0.1)


@st.composite
def orientations(draw: st.DrawFn) -> Orientation:
    kind = draw(st.sampled_from(["none", "axis", "any axis", "turns", "both"]))
    letters = draw(st.text("xyz", min_size=1, max_size=4))
    turns = turned(letters, [draw(angles) for _ in letters]).turns
    if kind == "none":
        return Orientation()
    if kind == "axis":
        return along("test", draw(st.sampled_from(["x", "y", "z", "-x", "-y", "-z"])))
    axes = along("test", draw(units)).axes
    if kind == "any axis":
        return Orientation(axes)
    return Orientation(axes if kind == "both" else Orientation().axes, turns)


@st.composite
def laws(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["number", "text", "table", "profile"]))
    if kind == "number":
        return draw(floats)
    if kind == "text":
        return draw(st.sampled_from(["2*pi*t", "phi*sin(3*t) + cos(20 deg*t)", "1e-3*t^2"]))
    if kind == "table":
        values = [draw(floats) for _ in range(5)]
        return {"times": [0, "500 ms", 1, 2, 3.5], "values": values, "interpolation": "linear"}
    return {"profile": "smooth step", "from": 0, "to": draw(floats), "start": 0, "stop": "2 s"}


@st.composite
def models(draw: st.DrawFn) -> Model:
    m = Model(draw(texts), gravity=draw(triples.filter(lambda g: all(map(numeric, g)))))
    m.description = draw(texts)
    for name in ("r", "l", "phi"):
        m.parameter(name, draw(st.floats(0.1, 2.0)))
    for k in range(draw(st.integers(1, 4))):
        mass = draw(st.sampled_from([0.0, 1.5, "250 g", "r*3 kg"]))
        body = m.body(
            f"body {k}".replace(" ", draw(st.sampled_from(["", "_", "-", "é"]))),
            mass=mass,
            com=draw(triples),
            inertia=draw(
                st.sampled_from([(1, 2, 2.5), ("3 g*m^2",) * 3, (2, 2, 2, 0.1, -0.2, 1e-17), 0.25])
            ),
            position=draw(st.none() | triples),
            orientation=draw(st.none() | orientations()),
        )
        for n in range(draw(st.integers(0, 2))):
            body.keep(Marker(body.name, f"m {n}", draw(triples), draw(orientations())))
    names = list(m.bodies)
    for k, name in enumerate(names):
        before = names[k - 1] if k else "ground"
        kind = draw(st.sampled_from(["revolute", "prismatic", "planar", "helical", "spherical"]))
        more = {"pitch": draw(lengths.filter(bool))} if kind == "helical" else {}
        m.joint(kind, f"j{k}", (before, draw(triples)), name, axis=draw(units), **more)
    m.joint("revolute", "last", m.ground, names[-1], start="20 deg", limits=(-1, "90 deg"))
    m.joint("gear", "gear", first="last", second="last.angle", ratio=-0.1)
    m.driver("rotary", "motor", coordinate="last", law=draw(laws()))
    m.driver("path", "hand", marker=names[0], x=draw(laws()), z=draw(laws()))
    m.force("spring_damper", "spring", i="ground", j=(names[0], draw(triples)), stiffness="3 N/mm")
    m.force("wrench", "push", marker=names[0], fx=draw(laws()))
    m.sensor("point", "tip", marker=(names[-1], draw(triples)), velocity=draw(st.booleans()))
    m.run = {"duration": "2 s", "step": draw(st.floats(1e-4, 1)), "end_point": draw(st.booleans())}
    return m


def numeric(value: object) -> bool:
    return not isinstance(value, str)


@given(models())
@settings(max_examples=30, deadline=None)
def test_a_model_that_is_written_is_read_as_the_same_model(model: Model) -> None:
    text = dumps(model)
    again = loads(text)
    same(model, again)
    assert dumps(again) == text


def test_a_file_is_read_as_the_text_in_it(tmp_path: Path) -> None:
    m = slider_crank()
    save(m, tmp_path / "crank.toml")
    same(m, load(tmp_path / "crank.toml"))
    with pytest.raises(FileError, match="cannot be written"):
        save(m, tmp_path / "no folder" / "crank.toml")
    # with the byte order mark and the line ends of Windows too
    text = (tmp_path / "crank.toml").read_text(encoding="utf-8").replace("\n", "\r\n")
    (tmp_path / "windows.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    same(m, load(tmp_path / "windows.toml"))


# --- what files can say ---------------------------------------------------------------------------

SLIDER_CRANK = """
#:schema model.schema.json
name = "slider crank"
plane = "xz"
gravity = [0, 0, "-9.81 m/s^2"]

[parameters]
r = "80 mm"
l = "3*r"

[bodies.crank]
mass = "0.5 kg"
com = ["r/2", 0, 0]
inertia = [1e-4, 1e-4, 2e-4]
markers = {pin = {position = ["r", 0, 0], axis = "y"}}

[bodies.rod]
shapes = [{kind = "box", size = ["l", "10 mm", "10 mm"], density = 7850, position = ["l/2", 0, 0]}]

[bodies.slider]
mass = 0.2

[joints.A]
kind = "revolute"
i = "ground"
j = "crank"
axis = "y"
start = "30 deg"

[joints.B]
kind = "revolute"
i = "crank.pin"
j = {body = "rod", axis = "y"}

[joints.C]
kind = "revolute"
i = {body = "rod", position = ["l", 0, 0]}
j = "slider"
axis = "y"

[joints.slide]
kind = "prismatic"
i = "ground"
j = "slider"
axis = "x"

[drivers.motor]
kind = "rotary"
coordinate = "A"
law = "2*pi*t"

[run]
duration = "1 s"
step = "1 ms"
"""


def slider_crank() -> Model:
    """The same in Python."""
    m = Model("slider crank", plane="xz", gravity=(0, 0, "-9.81 m/s^2"))
    m.parameter("r", "80 mm")
    m.parameter("l", "3*r")
    crank = m.body("crank", mass="0.5 kg", com=("r/2", 0, 0), inertia=(1e-4, 1e-4, 2e-4))
    crank.marker("pin", ("r", 0, 0), axis="y")
    box = Box(size=("l", 0.01, 0.01), density=7850, position=("l/2", 0, 0))
    rod = m.body("rod", shapes=[box])
    slider = m.body("slider", mass=0.2)
    m.joint("revolute", "A", m.ground, crank, axis="y", start="30 deg")
    m.joint("revolute", "B", "crank.pin", rod.at(axis="y"))
    m.joint("revolute", "C", rod.at("l"), slider, axis="y")
    m.joint("prismatic", "slide", m.ground, slider, axis="x")
    m.driver("rotary", "motor", coordinate="A", law="2*pi*t")
    m.run = {"duration": "1 s", "step": "1 ms"}
    return m


def test_a_file_says_what_one_would_write_in_python() -> None:
    same(slider_crank(), loads(SLIDER_CRANK))


def test_texts_stay_as_they_were_written() -> None:
    text = dumps(loads(SLIDER_CRANK))
    for kept in ('mass = "0.5 kg"', '"r/2"', '"-9.81 m/s^2"', '"30 deg"', '"2*pi*t"', '"1 ms"'):
        assert kept in text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{axis = "y"}', along("", "y")),
        ('{axis = [1, 1, 0], x_axis = "z"}', along("", (1, 1, 0), "z")),
        ('{x_axis = "y"}', along("", "z", "y")),
        ('{orientation = {zyx = ["30 deg", 0, 1]}}', turned("zyx", ("30 deg", 0.0, 1.0))),
        ("{orientation = {quaternion = [0.9, 0, 0, 0.4]}}", None),
        (
            "{orientation = {axes = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], x = [0.5]}}",
            Orientation(((0, -1, 0), (1, 0, 0), (0, 0, 1)), (("x", 0.5),)),
        ),
    ],
)
def test_frames_are_turned_in_any_of_the_ways(given: str, expected: Orientation | None) -> None:
    m = loads(f'name = "m"\n[bodies.b.markers]\nm = {given}')
    marker = m.bodies["b"].markers["m"]
    if expected is None:  # a turn about z by 2 atan(0.4/0.9), whatever the length of the parameters
        angle = 2 * math.atan2(0.4, 0.9)
        expected = by_rows(
            np.array(
                [
                    [math.cos(angle), -math.sin(angle), 0],
                    [math.sin(angle), math.cos(angle), 0],
                    [0, 0, 1],
                ]
            )
        )
        R = marker_pose(m, marker)[:3, :3]
        assert np.array(expected.axes) == pytest.approx(R, abs=1e-15)
    else:
        assert marker.orientation == expected


def test_axes_typed_by_hand_become_the_nearest_rotation() -> None:
    m = loads(
        'name = "m"\n[bodies.b]\norientation = '
        "{axes = [[0.70710678, -0.70710678, 0], [0.70710678, 0.70710678, 0], [0, 0, 1]]}"
    )
    orientation = m.bodies["b"].orientation
    assert orientation is not None
    R = np.array(orientation.axes)
    assert pytest.approx(np.eye(3), abs=1e-15) == R @ R.T
    assert R[0, 0] == pytest.approx(math.sqrt(0.5), abs=1e-15)


def test_every_shape_survives(tmp_path: Path) -> None:
    m = Model("shapes")
    cylinder = Cylinder(0.02, 0.3, density=2700, rotation=np.array(along("", "y").axes))
    plate = Plate(((0, 0), (1, 0), (0.2, 0.7)), 0.01, mass=3.0, position=(0, 0.1, 0))
    rod = Rod((0, 0, 0), (0, 0, 1), mass=0.1)
    m.body("a", shapes=[cylinder, plate, rod, Box(size=(1, 2, 3))])
    m.ground.shapes = (Box(size=(3, 3, 0.1)),)
    same(m, loads(dumps(m)))
    assert "mass = " not in dumps(m).replace("mass = 3", "").replace("mass = 0.1", "")


def test_meshes_are_read_from_their_files_and_made_files(tmp_path: Path) -> None:
    mesh = Box(size=(30, 20, 10)).surface()
    write_stl(mesh, tmp_path / "rod.stl")
    head = 'name = "m"\n[bodies.rod]\nshapes = [{'
    (tmp_path / "m.toml").write_text(head + 'mesh = "rod.stl", scale = "mm", density = 7850}]\n')
    m = load(tmp_path / "m.toml")
    assert m.bodies["rod"].inertia.mass == pytest.approx(6e-6 * 7850, rel=1e-12)
    save(m, tmp_path / "again.toml")
    same(m, load(tmp_path / "again.toml"))
    assert not list(tmp_path.glob("again_*.stl"))

    # another file of that name in another folder is not taken for it
    (tmp_path / "other").mkdir()
    write_stl(Box(size=(1, 1, 1)).surface(), tmp_path / "other" / "rod.stl")
    save(m, tmp_path / "other" / "m.toml")
    moved = load(tmp_path / "other" / "m.toml")
    assert moved.bodies["rod"].inertia == m.bodies["rod"].inertia

    made = Model("made in Python")
    made.body("rod", shapes=[MeshShape(mesh=mesh.scaled(1 / 3), density=1.0)])
    with pytest.raises(ModelError, match="use save"):
        dumps(made)
    save(made, tmp_path / "made.toml")
    again = load(tmp_path / "made.toml")
    assert again.bodies["rod"].inertia == made.bodies["rod"].inertia


def test_parts_come_from_files_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    save(slider_crank(), tmp_path / "parts" / "cell.toml")
    row = """
        name = "row"
        plane = "xz"
        [parameters]
        d = "50 mm"
        [parts.cell]
        file = "parts/cell.toml"
        count = 3
        shift = [0, "d", 0]
        parameters = {r = ["70 mm", "80 mm", 0.09]}
        [parts.one]
        file = "parts/cell.toml"
        position = [0, 0, 1]
    """
    (tmp_path / "row.toml").write_text(row)
    m = load(tmp_path / "row.toml")
    same(m.parts["cell"].model, slider_crank())
    assert m.parts["cell"].count == 3
    assert np.asarray(m.parts["cell"].parameters["r"]).tolist() == [0.07, 0.08, 0.09]
    same(m, loads(dumps(m)))  # the parts are written out in the file itself


def test_chains_of_parts_and_joints_between_them_are_kept() -> None:
    cell = Model("cell")
    rod = cell.body("rod", mass=1.0)
    rod.marker("tip", (0, 0, -1))
    cell.joint("revolute", "pivot", cell.ground, rod, axis="y")
    m = Model("chain")
    m.body("cart", mass=2.0)
    m.part("chain", cell, 4, link="rod.tip", on="cart", orientation=("z", ("30 deg",)))
    between = [("distance", "rod.tip", "rod", {"name": "bar", "length": 2.0})]
    m.part("row", cell, 3, shift=(0, "1 m", 0), between=between)
    again = loads(dumps(m))
    same(m, again)
    assert again.parts["chain"].link == "rod.tip"
    assert again.parts["row"].between[0].name == "bar"


def test_a_marker_made_on_a_body_of_a_part_is_kept() -> None:
    m = Model("host", plane="xz")
    m.part("cell", slider_crank(), 2, shift=(1, 0, 0))
    m.body("plate", mass=1.0)
    m.joint("revolute", "ball", "plate", ("cell[1].slider", (0, 0, "10 mm")))
    m.force("spring_damper", "spring", i="ground", j="cell[0].crank.pin", stiffness=3.0)
    again = loads(dumps(m))
    same(m, again)
    joint: Any = again.joints["ball"]
    assert joint.j == Marker("cell[1].slider", "ball", (0.0, 0.0, "10 mm"))


# --- kinds of one's own ---------------------------------------------------------------------------


@pytest.fixture
def wobble() -> Any:
    """A kind of driver that exists in this file only; some fields have names of pydantic's own."""

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Wobble(Driver):
        """It wobbles."""

        coordinate: str = quantity("coordinate", "what wobbles")
        json: float | str = quantity("length", "amplitude")
        copy: Law | None = quantity("law", "how", default=None)
        schema: tuple[Any, ...] = quantity("data", "anything", default=())
        body: str = quantity("body", "whose", default="ground")

        kind: ClassVar[str] = "wobble"

        def rows(self, derivation: Any) -> Any:
            return []

    yield Wobble
    del KINDS["driver"]["wobble"]


def test_a_kind_defined_anywhere_works_in_files(wobble: type[Driver]) -> None:
    text = """
        [drivers.w]
        kind = "wobble"
        coordinate = "slide.displacement"
        json = "3 mm"
        copy = "sin(t)"
        schema = [1, [2, "x"]]
        body = "rod"
    """
    m = loads(SLIDER_CRANK + text)
    driver: Any = m.drivers["w"]
    assert isinstance(driver, wobble)
    assert (driver.json, driver.schema) == ("3 mm", (1, (2, "x")))
    same(m, loads(dumps(m)))
    with pytest.raises(FileError, match=r'drivers.w.json: "3 s" is a time; a length is wanted'):
        loads(SLIDER_CRANK + text.replace("3 mm", "3 s"))
    with pytest.raises(FileError, match=r"drivers.w.body: there is no body 'rodd'"):
        loads(SLIDER_CRANK + text.replace('"rod"', '"rodd"'))


def test_every_kind_of_joint_can_be_written(tmp_path: Path) -> None:
    extra: dict[str, dict[str, Any]] = {
        "helical": {"pitch": "2 mm"},
        "distance": {"length": "r"},
        "point_on_curve": {"x": "s", "points": ()},
        "coordinate_difference": {"along": "y", "value": "1 cm"},
    }
    m = Model("all")
    m.parameter("r", 2.0)
    skipped = []
    for kind, cls in sorted(KINDS["joint"].items()):
        required = {
            f.name
            for f in cls.settings().values()
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        }
        if not issubclass(cls, Joint) or required - {"i", "j"} - set(extra.get(kind, {})):
            skipped.append(kind)
            continue
        m.body(f"b_{kind}")
        m.joint(kind, kind, m.ground, f"b_{kind}", axis="y", **extra.get(kind, {}))
    assert len(m.joints) >= 14, skipped
    same(m, loads(dumps(m)))


def test_bodies_of_the_ground_only_have_markers() -> None:
    m = loads('name = "m"\n[bodies.ground.markers]\nbase = {position = [1, 2, 3]}')
    assert isinstance(m.ground, Body)
    assert m.ground.markers["base"] == Marker("ground", "base", (1.0, 2.0, 3.0))
    assert not m.bodies


def test_what_is_plotted_of_a_run_is_named_in_its_table() -> None:
    text = SLIDER_CRANK + 'plot = ["slider.x", "A.angle"]\nagainst = "A.angle"\npath = "slider"\n'
    text += "through_dead_points = true\n"
    m = loads(text)
    assert m.run["plot"] == ["slider.x", "A.angle"] and m.run["against"] == "A.angle"
    assert m.run["path"] == ["slider"]  # one name needs no brackets
    assert m.run["through_dead_points"] is True
    assert loads(dumps(m)).run == m.run
    for wrong in ("3", "[1, 2]", '["a", ""]'):
        with pytest.raises(ModelError, match=r"run\.plot.*names of results are wanted"):
            loads(SLIDER_CRANK + f"plot = {wrong}\n")
