"""Mistakes in model files: all of them, each with its line and a hint."""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biela.errors import FileError, ModelError
from biela.model.files import load, loads
from biela.model.files.toml_text import document_text
from tests.model.test_files import SLIDER_CRANK

WRONG = """\
name = "slider crank"
plan = "xz"
gravity = [0, "-9.81 m/s^2"]
[parameters]
r = "80 mm"
l = "3*q"
[bodies.crank]
mass = "0.5 m"
com = ["r/2", 0,
   "2 kg"]
inertia = [1, 2]
orientation = {zyx = ["30 deg", 0, 0, 1]}
[bodies.crank.markers]
pin = {position=["r",0,0], axs="y"}
tip = {axis = "u"}
[bodies.rod]
shapes = [
  {kind="box", size=[0.3, "10 mm", "10 mm"], densty=7850},
  {kind="bux"},
  {size = 3}]
points = [{mass = true}]
[joints.A]
kind = "revolut"
[joints.B]
kind = "revolute"
i = "crnak"
j = "crank.pni"
start = "3 m"
limits = [0, 1, 2]
[joints.C]
kind = "helical"
i = "ground"
j = {body="rodd"}
start = {angel = 0}
[joints.D]
i = "crank"
[drivers.motor]
kind = "rotary"
coordinate = "B.angel"
law = "2*pi*tt"
[drivers."the other"]
kind = "rotary"
coordinate = 3
law = "2*(pi"
[drivers.crank]
kind = "rotary"
coordinate = "BB"
law = [1]
[forces]
f = 3
s = {kind = "spring_damper", i = "crank.tip", j = "rod.nothing", stiffness = "3 N", actuated = 1}
[sensors.r]
kind = "reaction"
joint = "E"
[run]
duration = "1 m"
max_iterations = 2.5
end_point = "no"
"""

EXPECTED = """\
2: plan: unknown key 'plan'; did you mean 'plane'?
3: gravity: three values are wanted, such as [0, 0, 1], not an array of 2
6: parameters.l: unknown parameter 'q' (in "3*q", column 3)
8: bodies.crank.mass: "0.5 m" is a length; a mass is wanted
10: bodies.crank.com[2]: "2 kg" is a mass; a length is wanted
11: bodies.crank.inertia: an inertia is three moments, six (xx, yy, zz, xy, xz, yz) or 3 x 3, \
not an array of 2
12: bodies.crank.orientation: zyx wants 3 angles in an array, not an array of 4
14: bodies.crank.markers.pin.axs: unknown key 'axs'; did you mean 'axis'?
15: bodies.crank.markers.tip.axis: 'u' is not a direction; use x, y, z, -x, -y, -z or three numbers
18: bodies.rod.shapes[0].densty: unknown key 'densty'; did you mean 'density'?
19: bodies.rod.shapes[1]: 'bux' is not a kind of shape; did you mean 'box'?
20: bodies.rod.shapes[2]: its kind is missing; there are: box, cylinder, tube, cone, sphere, \
ellipsoid, capsule, rod, plate, mesh
21: bodies.rod.points[0].mass: a mass is wanted, a number in SI units or a text such as \
"120 mm", not true
21: bodies.rod.points[0].position: it is missing (its place)
23: joints.A.kind: 'revolut' is not a kind of joint; did you mean 'revolute'?
26: joints.B.i: there is no body 'crnak'; did you mean 'crank'?
27: joints.B.j: body crank has no marker 'pni'; did you mean 'pin'?
28: joints.B.start: "3 m" is a length; an angle is wanted
29: joints.B.limits: the lowest and the highest value are wanted, not an array of 3
30: joints.C.pitch: it is missing (advance along z in one turn about z; negative: left-handed)
33: joints.C.j.body: there is no body 'rodd'; did you mean 'rod'?
34: joints.C.start.angel: unknown key 'angel'; did you mean 'angle'?
35: joints.D: it has no kind, such as kind = "revolute"
39: drivers.motor.coordinate: joint B has no coordinate 'angel'; did you mean 'angle'?
40: drivers.motor.law: unknown parameter 'tt' in the law; did you mean 't'?
43: drivers.the other.coordinate: the name of a coordinate is wanted, not 3
44: drivers.the other.law: this parenthesis is not closed (in "2*(pi", column 3)
45: drivers.crank: the name crank is taken by bodies.crank
47: drivers.crank.coordinate: there is no joint 'BB'; did you mean 'B'?
48: drivers.crank.law: a law of the time t is wanted, such as "2*pi*t", not an array of 1
50: forces.f: a table is wanted, not 3
51: forces.s.j: body rod has no marker 'nothing'; there is none on it
51: forces.s.stiffness: "3 N" is a force; a stiffness is wanted
51: forces.s.actuated: true or false is wanted, not 1
54: sensors.r.joint: there is no joint 'E'; there are: A, B, C, D
56: run.duration: "1 m" is a length; a time is wanted
57: run.max_iterations: a whole number is wanted, not 2.5
58: run.end_point: true or false is wanted, not 'no'
"""


def test_all_mistakes_are_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load(file)
    told = str(caught.value).replace(f"{file}:", "").splitlines()
    expected = EXPECTED.splitlines()
    # mistakes on one line come in no order that matters
    assert sorted(told) == sorted(expected)
    assert [int(t.partition(":")[0]) for t in told] == [int(e.partition(":")[0]) for e in expected]
    assert isinstance(caught.value, ModelError)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = 80 mm", r'm:1:11: this is not TOML: .*quotes: "80 mm"'),
        ('name = "a"\n[bodies\n', r"m:2(:\d+)?: this is not TOML"),
        ('name = "a"\nname = "b"', "m:2(:\\d+)?: this is not TOML"),
        ('name = "a\n', "m:1(:\\d+)?: this is not TOML"),
        ("x = " + "[" * 3000, "m:1: the tables and arrays are nested too deep"),
        ('name = "a"\nx = ' + "9" * 5000, "m:2: Exceeds the limit"),
        ('name = "a"\ngravity = [\n0, 0, 1' + "0" * 400 + "]", r"m:3: gravity\[2\]: .*too large"),
        ('name = "a"\ngravity = [\n0, 0, 0o' + "7" * 6000 + "]", r"m:3: gravity\[2\]: .*too large"),
        ("", "m:1: name: it is missing"),
        ("name = 3", "m:1: name: a text is wanted, not 3"),
        ('name = "a"\nplane = "zz"', "m:2: plane: the plane of a model is xy, xz or yz, not 'zz'"),
        ('name = "a"\nbodies = 3', "m:2: bodies: a table is wanted, not 3"),
        ('name = "a"\njoints = 3', "m:2: joints: a table is wanted, not 3"),
        ('name = "a"\n[bodies.b]\nmass = nan', "m:3: bodies.b.mass: nan is not a finite number"),
        (
            'name = "a"\n[parameters]\nl = "2*r"\nr = 1',
            "m:3: parameters.l: it needs r, which is given further down",
        ),
        ('name = "a"\n[parameters]\n"2x" = 1', "m:3: parameters.2x: a parameter cannot be called"),
        ('name = "a"\n[bodies."a b"]\n', "m:2: bodies.a b: 'a b' is not a name"),
        (
            'name = "a"\n[bodies.b]\nmass = 1\ninertia = [1, 1, 3]',
            "m:2: bodies.b: no body has the principal moments of inertia",
        ),
        ('name = "a"\n[bodies.ground]\nmass = 1', "m:2: bodies.ground: the ground has markers and"),
        (
            'name = "a"\n[bodies.b.markers]\n"x.y" = {}',
            "m:3: bodies.b.markers.x.y: a marker cannot be called 'x.y'",
        ),
        (
            'name = "a"\n[bodies.b.markers]\nm = {axis = "x", orientation = {z = [0]}}',
            "m:3: bodies.b.markers.m: it is turned by axes and by an orientation",
        ),
        (
            'name = "a"\n[bodies.b]\norientation = {axes = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}',
            "m:3: bodies.b.orientation: this rotation is a reflection",
        ),
        ('name = "a"\n[bodies.b]\norientation = {zyq = [0]}', "m:3: .*unknown key 'zyq'"),
        ('name = "a"\n[bodies.b]\norientation = "x"', "m:3: .*'x' is not an orientation; give"),
        (
            'name = "a"\n[bodies.b]\norientation = {quaternion = [0, 0, 0, 0]}',
            "m:3: bodies.b.orientation: Euler parameters are four numbers, not all 0",
        ),
        (
            'name = "a"\n[bodies.b]\norientation = {z = [1], x = [2]}',
            "m:3: bodies.b.orientation: this orientation is given twice",
        ),
        (
            'name = "a"\n[bodies.b]\nshapes = [{kind = "box", size = [1, 2]}]',
            r"m:3: bodies.b.shapes\[0\]: the size of a box must be three finite numbers",
        ),
        (
            'name = "a"\n[bodies.b]\n[joints.j]\nkind = "revolute"\ni = "b"\nj = "b"\naxis = "x"',
            "m:3: joints.j: joint j joins body b with itself",
        ),
        (
            'name = "a"\n[bodies.b]\n[joints.j]\nkind = "free"\ni = "ground"\nj = "b"\n'
            '[drivers.d]\nkind = "rotary"\ncoordinate = "j"\nlaw = 1',
            "m:9: drivers.d.coordinate: joint j has 4 coordinates; write j.x or j.y or",
        ),
        (
            'name = "a"\n[joints.ground]\nkind = "gear"\nfirst = "a"\nsecond = "b"\nratio = 1',
            "m:2: joints.ground: ground is the body that does not move",
        ),
        (
            'name = "a"\n[bodies.b]\n[forces.f]\nkind = "spring_damper"\ni = "ground"\nj = "b"\n'
            "characteristic = 3",
            "m:7: forces.f.characteristic: an array is wanted, not 3",
        ),
        ('name = "a"\n[parts.p]\ncount = 2', "m:2: parts.p: a part has a file, or a model"),
        ('name = "a"\n[parts.p]\nmodel = {nam = 3}', "m:3: parts.p.model.nam: unknown key 'nam'"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(FileError, match=told):
        loads(text, name="m")


def test_a_joint_of_an_unknown_kind_is_told_once() -> None:
    text = 'name = "a"\n[bodies.b]\n[joints.j]\nkind = "revolut"\ni = "ground"\nj = "b"\n'
    with pytest.raises(FileError) as caught:
        loads(text + '[drivers.d]\nkind = "rotary"\ncoordinate = "j.angle"\nlaw = 1')
    assert len(str(caught.value).splitlines()) == 1


def test_a_kind_may_be_written_with_hyphens() -> None:
    text = 'name = "a"\n[bodies.b]\n[joints.j]\nkind = "Point-on-line"\ni = "ground"\nj = "b"'
    assert loads(text).joints["j"].kind == "point_on_line"


def test_a_file_that_is_not_there_or_not_utf_8_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no.toml: the file cannot be read"):
        load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes('name = "a"\n# manivela pequeña\n'.encode("latin-1"))
    with pytest.raises(FileError, match=r"latin.toml:2: the file should be UTF-8"):
        load(tmp_path / "latin.toml")


# --- nothing outside of the folder ----------------------------------------------------------------

MESH = 'name = "m"\n[bodies.b]\nshapes = [{mesh = "FILE", density = 1}]\n'
PART = 'name = "m"\n[parts.p]\nfile = "FILE"\n'


@pytest.mark.parametrize("text", [MESH, PART])
@pytest.mark.parametrize(
    "name", ["../secret.stl", "/etc/passwd", "sub/../../secret.stl", "C:/x.stl", "link.stl"]
)
def test_files_outside_of_the_folder_are_refused(tmp_path: Path, text: str, name: str) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.stl").write_text("solid\nendsolid\n")
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    (folder / "m.toml").write_text(text.replace("FILE", name))
    with pytest.raises(FileError, match=r"is outside of the folder of the model"):
        load(folder / "m.toml")
    with pytest.raises(FileError, match="cannot be found from a text alone"):
        loads(text.replace("FILE", "x.stl"))


def test_a_file_that_is_missing_is_told_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(MESH.replace("FILE", "rod.stl"))
    with pytest.raises(FileError, match=r"m.toml:3: bodies.b.shapes\[0\]: there is no file 'rod.s"):
        load(tmp_path / "m.toml")


def test_a_part_of_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(PART.replace("FILE", "b.toml"))
    (tmp_path / "b.toml").write_text(PART.replace("FILE", "a.toml"))
    with pytest.raises(FileError, match=r"b.toml:2: parts.p: a.toml is a part of itself"):
        load(tmp_path / "a.toml")


def test_a_mistake_in_the_file_of_a_part_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(PART.replace("FILE", "b.toml"))
    (tmp_path / "b.toml").write_text('name = "b"\n[bodies.x]\nmas = 1')
    with pytest.raises(FileError, match=r"b.toml:3: bodies.x.mas: unknown key 'mas'"):
        load(tmp_path / "a.toml")


# --- anything else --------------------------------------------------------------------------------

ANYTHING: list[Any] = [
    *(0, -1, 1e-12, 10**30, True, "", "x", "1 mm", "30 deg", "t", "ground", "crank", "crank.pin"),
    *("A.angle", "gear", "r/0", "sqrt(-1)", "1e999", "(", "\0", "a b"),
    *([], [1, 2], ["a"], [[1]], [0, 0, 0], {}, {"a": 1}, {"kind": "box"}, {"body": "rod"}),
    *({"zyx": [1, 2, 3]}, {"profile": "ramp"}, {"times": [0], "values": [1]}),
]
KEYS = [
    *("kind", "i", "axis", "at", "start", "law", "mass", "shapes", "orientation", "count", "file"),
    *("model", "parts", "bodies", "ground", "joints", "forces", "run", "", "a.b", "points"),
]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every table and array with each of its keys."""
    entries = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in entries:
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_a_file_says_it_is_a_model_or_a_list_of_mistakes_with_lines(seed: int) -> None:
    rng = random.Random(seed)
    whole = tomllib.loads(SLIDER_CRANK)
    for _ in range(40):
        document = copy.deepcopy(whole)
        for _ in range(rng.choice((1, 1, 3))):
            table, key = rng.choice(list(places(document)))
            how = rng.choice(("replace", "replace", "remove", "add"))
            if how == "remove":
                del table[key]
            elif how == "add" and isinstance(table, dict):
                table[rng.choice(KEYS)] = copy.deepcopy(rng.choice(ANYTHING))
            else:
                table[key] = copy.deepcopy(rng.choice(ANYTHING))
            if not document:
                break
        text = document_text(document)
        try:
            loads(text, name="m")
        except FileError as error:
            for line in str(error).splitlines():
                number = int(line.split(":")[1])
                assert line.startswith("m:")
                assert 1 <= number <= text.count("\n") + 1
