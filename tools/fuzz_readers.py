"""The readers of biela, each with valid inputs to begin from and the mutations that suit it.

A reader takes a file, since that is what comes from elsewhere; texts of laws, quantities and
commands stand in a file too and are handed on as text.  What is read is then used a little, because
a value that was let in may do its damage later; ``deep`` does more of that, at a greater price.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from typer import BadParameter

import biela as bl
from biela.cli.kind_examples import toml as example_of
from biela.cli.main import main as command
from biela.cli.values import laws, quantities, seconds
from biela.errors import BielaError, ExpressionTooLargeError, ResultsError
from biela.model.element import KINDS
from biela.model.files import load_dh, load_mjcf, load_urdf, loads
from biela.model.files.writing import dumps
from biela.model.laws.law import law_from
from biela.model.meshes.files import read_mesh, write_stl
from biela.model.meshes.mesh import Mesh
from biela.model.quantities.units import quantity
from biela.results import Box, Channels, Event, Link, Results, RunStatistics, Scene
from biela.results.reference import read_csv
from tools.fuzz_doors import calls, enter, solver_calls
from tools.fuzz_mutations import (
    PLAIN,
    Mutation,
    call_changed,
    command_changed,
    npz_changed,
    toml_changed,
    xml_changed,
)

__all__ = ["READERS", "Reader"]

_ROOT = Path(__file__).resolve().parent.parent
#: Texts that may be the name of a file elsewhere.
_OUTSIDE = re.compile(r"\.\.|(?<![\w.])/")
_GALLERY = _ROOT / "examples/mechanisms"
_DATA = _ROOT / "tests/data"
#: Verbs of the command line that serve, play or measure until somebody ends them.
_OF_DRIVEN = re.compile("kinematics|export .*--groups")
_ENDLESS = frozenset({"studio", "demo", "bench", "cache"})


@dataclass(frozen=True)
class Reader:
    """A reader: what it is called, the ending of its files, valid inputs, and how it reads.

    ``read`` is given the file and whether to go deep; ``weight`` is its share of the cases.
    """

    name: str
    suffix: str
    inputs: Callable[[], list[bytes]]
    read: Callable[[Path, bool], None]
    mutations: tuple[Mutation, ...] = PLAIN
    weight: int = 40


class UnnamedError(Exception):
    """An error of biela does not say in which file the mistake is."""


# --- valid inputs ---------------------------------------------------------------------------------

_BASE = """name = "base"
description = "one of each"
[parameters]
r = "40 mm"
k = 2.5
[bodies.crank]
mass = 1.5
com = ["r/2", 0, 0]
inertia = [0.01, 0.02, 0.02]
markers = { A = { position = [0, 0, 0], axis = "z" }, B = { position = ["r", 0, 0], axis = "z" } }
[bodies.rod]
position = ["r", 0, 0]
orientation = { zyx = ["10 deg", 0, 0] }
markers = { B = { axis = "z" }, C = { position = [0.1, 0, 0], orientation = { zyx = [0, 1, 0] } } }
shapes = [{ kind = "box", size = [0.1, 0.02, 0.02], density = 7850 },
  { kind = "sphere", radius = 0.01 }]
[bodies.slider]
mass = 0.5
[joints.A]
kind = "revolute"
i = "ground"
j = "crank.A"
start = "20 deg"
limits = ["-3 rad", 3]
[joints.B]
kind = "revolute"
i = "crank.B"
j = "rod.B"
[joints.slide]
kind = "prismatic"
i = "ground"
j = "slider"
axis = "x"
[run]
duration = 0.1
step = "10 ms"
plot = ["crank.x"]
"""
_LAWS = (
    '{ profile = "smooth step", from = 0, to = "90 deg", start = 0, stop = "2 s" }',
    '{ times = [0, 1, 2, 3], values = [0, 0.1, 0.4, 0], interpolation = "cubic" }',
    '{ profile = "trapezoid", from = 0, to = 1, start = 0, velocity = 1, acceleration = 2 }',
    '"0.3*sin(2*pi*t) + min(t, 2)"',
)
_PARTS = """name = "parts"
[bodies.carrier]
mass = 2
[joints.rail]
kind = "prismatic"
i = "ground"
j = "carrier"
[parts.cell]
count = 3
shift = ["200 mm", 0, 0]
on = "carrier"
parameters = { L = ["90 mm", "100 mm", "110 mm"] }
[parts.cell.model]
name = "cell"
parameters = { L = 0.1 }
bodies = { rod = { mass = 1, markers = { tip = { position = ["L", 0, 0] } } } }
joints = { A = { kind = "revolute", i = "ground", j = "rod" } }
[forces.between]
kind = "spring_damper"
i = "cell[0].rod"
j = "cell[1].rod.tip"
stiffness = "2 N/mm"
"""
_MJCF = b"""<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <option gravity="0 0 -9.81"/>
  <default><geom density="800"/><default class="leg"><joint axis="0 1 0" damping="0.3"
    range="-60 45"/><geom type="capsule" size="0.03"/></default></default>
  <worldbody><body name="trunk" pos="0 0 0.5" euler="10 20 30"><freejoint name="root"/>
    <geom type="box" size="0.2 0.1 0.05"/><site name="imu" pos="0.05 0 0.02" quat="1 0 0 1"/>
    <body name="thigh" pos="0.2 0.1 0" childclass="leg" axisangle="0 0 1 30">
      <joint name="hip" axis="1 0 0" pos="0 0 0.01" ref="20"/><geom fromto="0 0 0 0.05 0 -0.2"/>
      <body name="shin" pos="0.05 0 -0.2" zaxis="1 0 5">
        <joint name="knee" stiffness="4" springref="10" armature="0.1"/>
        <geom type="cylinder" size="0.02 0.1" mass="0.3"/>
        <frame pos="0 0 -0.2" euler="0 90 0"><geom type="ellipsoid" size="0.03 0.02 0.01"/></frame>
      </body></body>
    <body name="head" pos="-0.2 0 0.1" xyaxes="0 1 0 -1 0 0.2"><joint name="neck" type="ball"/>
      <inertial pos="0 0 0.05" mass="1.2" fullinertia="0.02 0.03 0.025 0.001 0.002 -0.001"/></body>
    <body name="bag" pos="-0.3 0 0"><inertial pos="0 0.02 0" mass="0.8"
      diaginertia="0.01 0.02 0.015" quat="1 0 0 0"/></body>
  </body></worldbody>
  <equality><joint joint1="hip" joint2="knee" polycoef="0 1 0 0 0"/>
    <connect body1="shin" body2="bag" anchor="0 0 0"/></equality>
  <actuator><motor joint="hip" gear="2" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos joint="hip"/></sensor>
</mujoco>"""
_URDF = b"""<robot name="arm"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="rod"><inertial><origin xyz="0 0 0.5" rpy="0 0.1 0"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial>
  <collision><origin xyz="0 0 0"/><geometry><cylinder radius="0.1" length="1"/></geometry>
  </collision><visual><geometry><mesh filename="m.stl" scale="1 1 1"/></geometry></visual></link>
<link name="tool"><inertial><mass value="0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
</link><link name="finger"/>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="10" velocity="2"/>
  <dynamics damping="0.1" friction="0.2"/></joint>
<joint name="slide" type="prismatic"><parent link="rod"/><child link="tool"/><axis xyz="1 0 0"/>
  <origin xyz="0 0 1" rpy="0 0 1.57"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="grip" type="fixed"><parent link="tool"/><child link="finger"/></joint>
<transmission name="t"><joint name="hinge"/><actuator name="m"><mechanicalReduction>50
</mechanicalReduction></actuator></transmission></robot>"""
_OBJ = b"""# block
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 4 3 2 1
f 5/1 6/1 7/1 8/1
f 1//1 2//1 6//1 5//1
f 2 3 7 6
f 3 4 8 7
f -8 -4 -1 -5
"""
_DAE = b"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="cm" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="block"><mesh><source id="places">
<float_array id="numbers" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#numbers" count="4" stride="3"/></technique_common></source>
<vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#corners" offset="0"/><p>0 2 1 0 1 3</p>
</triangles><polylist count="2"><input semantic="VERTEX" source="#corners" offset="0"/>
<vcount>3 3</vcount><p>0 3 2 1 2 3</p></polylist><polygons><input semantic="VERTEX"
source="#corners" offset="0"/><p>0 1 2 3</p></polygons></mesh></geometry></library_geometries>
<library_nodes><node id="again"><instance_geometry url="#block"/></node></library_nodes>
<library_visual_scenes><visual_scene id="scene"><node><translate>1 0 0</translate>
<rotate>0 0 1 90</rotate><scale>1 1 2</scale><instance_geometry url="#block"/>
<node><matrix>-1 0 0 0 0 1 0 0 0 0 1 2 0 0 0 1</matrix><instance_node url="#again"/></node></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>"""
_EXPRESSIONS = (
    "2*pi*t + 0.1*sin(3*t)", "a*exp(-t/2)*cos(5*t)^2", "if(t < 1, t**2, 2*t - 1)",
    "atan2(sin(t), cos(t)) + max(t, 1, 2)", "-(3/4)**2 + sqrt(abs(a - t))", "1/(1 + t^2)",
)  # fmt: skip
_QUANTITIES = (
    "120 mm", "9.81 m/s^2", "2*(30 deg + 5 deg)", "1.5 kN*m/rad", "3 mm * 4", "sqrt(4 m^2)",
    "2 N/mm", "1e-3 kg*m^2", "60 rpm", "5 µm", "min(2 s, 3 s)", "(1/2) mm",
)  # fmt: skip
_PENDULUM = """name = "p"
parameters = { L = "1 m" }
[bodies.rod]
mass = 1
com = ["L/2", 0, 0]
inertia = [0.01, 0.1, 0.1]
markers = { tip = { position = ["L", 0, 0] } }
[joints.A]
kind = "revolute"
i = "ground"
j = "rod"
axis = "y"
start = "20 deg"
[run]
duration = 0.02
"""
_DRIVEN = (
    _PENDULUM
    + """[drivers.motor]
kind = "rotary"
coordinate = "A.angle"
law = "0.3 + t"
"""
)
_QUIETLY = "--no-plot --animate none"
#: Commands, those about m.toml with either model as that file.
_COMMANDS = (
    "check m.toml", "info m.toml --tree", "info m.toml --coordinates reference", "joints helical",
    f"kinematics m.toml --time 0.02 --step 10ms {_QUIETLY} --csv --q A=20deg --plot rod.x",
    f"kinematics m.toml --time 20ms --drive A='30 deg*t' --method damped {_QUIETLY} --set L=2",
    f"kinematics m.toml --time 0.02 --formulation 'natural groups' {_QUIETLY}",
    f"kinematics m.toml --time 0.02 --report --within L=1mm {_QUIETLY}",
    f"run m.toml --time 0.01 --step 1e-3 {_QUIETLY} --set L=0.12 --v A=1 --q A.angle=pi/3",
    f"run m.toml --time 0.01 --integrator radau --tolerance 1e-6 {_QUIETLY} --reactions --motors",
    f"run m.toml --time 0.01 --step 1ms --formulation index3 --coordinates reference {_QUIETLY}",
    "export m.toml --language matlab --out o", "export m.toml --coordinates reference --out o",
    "export m.toml --simulator --step 5e-4 --integrator rk4 --formulation multipliers --out o",
    "export m.toml --groups --point rod.tip --step 1e-3 --out o", "new slider-crank --out n.toml",
    "convert m.toml --to n.toml", "convert m.toml --to folder/", "convert m.toml --to . --force",
    "order m.toml --coordinates natural", "order m.toml --coordinates reference",
    "groups m.toml", "groups m.toml --independent A.angle", "groups m.toml --independent auto",
)  # fmt: skip
#: Those that draw, which takes a second.
_DRAWINGS = (
    "report m.toml -o r.html --time 0.02 --step 10ms --set L=2 --plot rod.*",
    "report m.toml",
    "check m.toml --drawing c.svg",
    "order m.toml --picture o.svg",
    "groups m.toml --picture g.png",
    "run m.toml --time 0.01 --plot A.angle:rod.x --path rod.tip --animate gif",
    "kinematics m.toml --time 0.02 --against A.angle --animate html",
)
_ASSIGNMENTS = ("r=45mm", "A.angle=20deg", "L=2*pi/3", "mass=1.5 kg", "theta=40*deg", "t=10 ms")


def _texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


def _commands(commands: Sequence[str]) -> Callable[[], list[bytes]]:
    """Commands, each with a model that it takes."""
    return lambda: [
        f"{line}\n@\n{model}".encode()
        for line in commands
        for model in (_DRIVEN, _PENDULUM)
        if (model == _DRIVEN) == ("--drive" not in line) or not _OF_DRIVEN.match(line)
    ]


@cache
def _models() -> list[bytes]:
    found = [path.read_bytes() for path in sorted(_GALLERY.glob("*.toml"))]
    found += [_PARTS.encode(), _BASE.encode()]
    for law in _LAWS:
        driver = f'[drivers.motor]\nkind = "rotary"\ncoordinate = "A.angle"\nlaw = {law}\n'
        found.append((_BASE + driver).encode())
    kinds = [kind for category in KINDS.values() for kind in category.values()]
    return [*found, *(f"{_BASE}{example_of(kind)}\n".encode() for kind in kinds)]


@cache
def _results() -> list[bytes]:
    t = np.linspace(0.0, 1.0, 5)
    column, points = t[:, None], np.stack([np.stack([t, 0 * t, t**2], 1)] * 2, 1)
    groups = {
        "q": Channels(["A.angle"], column, ["rad"], ["A.angle_rate"], [True]),
        "v": Channels(["A.angle_rate"], column, ["rad/s"]),
    }
    turned = np.tile(np.eye(3), (5, 1, 1))
    scene = Scene([Link("rod", points), Box("box", points[:, 0], turned, (1.0, 2.0, 3.0))], "xz")
    statistics = RunStatistics(method="by hand", steps=4, time_total=0.1, more={"made": "here"})
    events = [Event(0.5, "stop", 1)]
    units = {"energy": "J"}
    whole = Results("whole", t, groups, {"energy": t}, units, statistics, scene, events)
    small = Results("small", t, {"y": Channels(["x"], column, ["m"])})
    with tempfile.TemporaryDirectory() as folder:
        return [r.save(Path(folder) / "r.npz").read_bytes() for r in (whole, small)]


@cache
def _stl() -> list[bytes]:
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    mesh = Mesh(np.array(corners, float), np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "m.stl"
        write_stl(mesh, file)
        binary = file.read_bytes()
        write_stl(mesh, file, text=True)
        return [binary, file.read_bytes()]


@cache
def _dumps() -> list[bytes]:
    ws = bl.Workspace("pendulum")
    theta = ws.coordinate("theta")
    m, length = ws.symbols("m L")
    curve = ws.spline("drag", [0.0, 1.0, 2.0], [0.0, 0.5, 0.0])
    bl.diff(m * length**2 * bl.sin(theta) / 3 + curve(theta) + bl.sqrt(m + 2), theta)
    bl.select(theta < 1, m, length)
    return [bl.dump(ws).encode()]


def _dh_tables() -> list[bytes]:
    return [
        b"# modified\na, alpha, d, theta, kind, mass, lower, upper\n0, 90 deg, 0.66, 0, revolute,"
        b"2, -1, 1\n432 mm, 0, 0, 0,, 1\n0, 0, 0.1, 0, prismatic\n",
    ]


def _dh_toml() -> list[bytes]:
    return [
        b'name = "arm"\n[denavit_hartenberg]\nconvention = "modified"\nrows = [{ a = 0, alpha = '
        b'"90 deg", d = 1, theta = 0 }, { a = "432 mm", alpha = 0, d = 0, theta = 0, kind = '
        b'"prismatic" }]\nmasses = [2.0, 1.0]\ncoms = [[0, 0, 0.1], [0, 0, 0]]\ninertias = '
        b"[[1, 1, 1], [1, 1, 1]]\nlimits = [[-1, 1], []]\nvelocity_limits = [1, 2]\n"
        b"effort_limits = [3, 4]\ngravity = [0, 0, -9.81]\n",
    ]


@cache
def _thesis() -> list[bytes]:
    """The four files of a folder after one another, each below a line with its name."""
    folders = [_DATA / "seed2" / name for name in ("robot_arm", "slider_crank")]
    return [
        b"".join(b"@" + f.name.encode() + b"\n" + f.read_bytes() for f in sorted(folder.iterdir()))
        for folder in folders
    ]


# --- reading --------------------------------------------------------------------------------------


def _named(file: Path, read: Callable[[], Any]) -> Any:
    """What a file holds; an error that does not say which file it is about is a mistake."""
    try:
        return read()
    except BielaError as error:
        if str(file) not in str(error) and str(file.parent / "f") not in str(error):
            raise UnnamedError(f"{type(error).__name__}: {error}") from error
        raise


def _finite(results: Results) -> None:
    if not np.isfinite(results.q).all():
        raise AssertionError("positions that are not numbers, and no word of it")


def _move(model: Any, deep: bool) -> None:
    model.flattened()
    if not deep:
        return
    with contextlib.suppress(BielaError):  # what a file cannot say
        loads(dumps(model))
    bl.check(model)
    bl.mobility(model)
    if model.drivers:
        _finite(bl.kinematics(model, 0.02, step=0.01))
    else:
        _finite(bl.simulate(model, 0.002, step=0.001))


def _model(file: Path, deep: bool) -> None:
    _move(_named(file, lambda: bl.load(file)), deep)


def _robot(load: Callable[[Path], Any]) -> Callable[[Path, bool], None]:
    def read(file: Path, deep: bool) -> None:
        model = _named(file, lambda: load(file))
        if not deep:
            _move(model, False)
            return
        robot = bl.load(file)
        v = np.zeros(len(robot.v_names))
        robot.forward_dynamics(robot.neutral(), v, v)

    return read


def _results_read(file: Path, deep: bool) -> None:
    found = _named(file, lambda: Results.load(file))
    repr(found)
    for name in found.names:
        found[name]
        found.unit(name)
    if deep:
        with contextlib.suppress(ResultsError):  # what is drawn need not be there
            found.to_csv(file.with_name("out.csv"))


def _mesh_read(file: Path, deep: bool) -> None:
    mesh = _named(file, lambda: read_mesh(file))
    if mesh.is_closed:
        mesh.mass_properties(7850.0)


def _csv_read(file: Path, deep: bool) -> None:
    repr(_named(file, lambda: read_csv(file)))


def _dump_read(file: Path, deep: bool) -> None:
    found = _named(file, lambda: bl.load(file))
    if isinstance(found, bl.Workspace):
        bl.dump(found)


def _thesis_read(file: Path, deep: bool) -> None:
    folder = file.with_name("thesis")
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for part in file.read_bytes().split(b"@")[1:]:
        name, _, content = part.partition(b"\n")
        if name in (b"drivers.txt", b"general.txt", b"initial.txt", b"joints.txt"):
            (folder / name.decode()).write_bytes(content)
    _move(_named(folder, lambda: bl.load(folder)), deep)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def _expression_read(file: Path, deep: bool) -> None:
    ws = bl.Workspace()
    ws.symbol("a")
    found = ws.parse(_text(file))
    with contextlib.suppress(ExpressionTooLargeError):
        repr(found)
    derivative = bl.diff(found, ws.time)
    if deep:
        bl.Function("f", {"t": ws.time, "a": ws["a"]}, {"y": [found, derivative]})(0.5, 1.0)


def _quantity_read(file: Path, deep: bool) -> None:
    text = _text(file)
    for dimension in ("any", "length"):
        with contextlib.suppress(BielaError):
            quantity(text, dimension)
    quantity(text)


def _law_read(file: Path, deep: bool) -> None:
    text = _text(file)
    try:
        law = law_from(tomllib.loads(f"law = {text}")["law"])
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, BielaError):
            raise
        law = law_from(text)
    for t in (0.0, 0.7, 1e9):
        law.derivatives(t, {"a": 1.0})


def _assignment_read(file: Path, deep: bool) -> None:
    text = _text(file)
    with contextlib.suppress(BielaError):
        laws("--drive", [text])
    with contextlib.suppress(BielaError, BadParameter):
        seconds(text)
    quantities("--set", [text])


def _command_read(file: Path, deep: bool) -> None:
    """Runs a command in the folder of the file, which has models; what it leaves is removed."""
    words, _, model = _text(file).partition("\n@\n")
    try:
        arguments = shlex.split(words)
    except ValueError:
        arguments = words.split()
    if not arguments or _ENDLESS & set(arguments):
        return
    # nothing is written but in this folder
    arguments = [word.replace("/", "_") if _OUTSIDE.search(word) else word for word in arguments]
    for name in ("four_bar.toml", "slider_crank.toml"):
        target = file.with_name(name)
        if not target.exists():
            target.write_bytes((_GALLERY / name).read_bytes())
    if model:
        file.with_name("m.toml").write_text(model, encoding="utf-8", newline="")
    with alone(file.parent, {"m.toml"} if model else set()):
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            code = command(arguments)
    if code:
        raise BielaError(f"refused with {code}")


@contextlib.contextmanager
def alone(folder: Path, more: Collection[str] = ()) -> Iterator[None]:
    """Works in a folder; what is new in it is removed at the end, and so are ``more`` files."""
    before, there = Path.cwd(), set(os.listdir(folder)).difference(more)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        for name in set(os.listdir(folder)) - there:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def _door_read(file: Path, deep: bool) -> None:
    with alone(file.parent):
        enter(file.read_bytes())


#: The readers.
READERS: tuple[Reader, ...] = (
    Reader("model", ".toml", _models, _model, (*PLAIN, *(toml_changed,) * 6)),
    Reader("urdf", ".urdf", lambda: [_URDF, (_DATA / "urdf/arm6.urdf").read_bytes()],
           _robot(lambda f: load_urdf(f, notes=[])), (*PLAIN, *(xml_changed,) * 6)),
    Reader("mjcf", ".xml", lambda: [_MJCF], _robot(lambda f: load_mjcf(f, notes=[])),
           (*PLAIN, *(xml_changed,) * 6)),
    Reader("stl", ".stl", _stl, _mesh_read),
    Reader("obj", ".obj", lambda: [_OBJ], _mesh_read),
    Reader("collada", ".dae", lambda: [_DAE], _mesh_read, (*PLAIN, *(xml_changed,) * 6)),
    Reader("results", ".npz", _results, _results_read, (*PLAIN, *(npz_changed,) * 8)),
    Reader("reference csv", ".csv", _texts("t [s],x [mm],y\n0,1,2\n0.5,3,4\n1,5,6\n",
           "t;a (deg)\n0;1,5\n1;2,5\n"), _csv_read),
    Reader("dh csv", ".csv", _dh_tables, _robot(load_dh)),
    Reader("dh toml", ".toml", _dh_toml, _robot(load_dh), (*PLAIN, *(toml_changed,) * 6)),
    Reader("thesis", ".txt", _thesis, _thesis_read),
    Reader("dump", ".atoms", _dumps, _dump_read),
    Reader("expression", ".txt", _texts(*_EXPRESSIONS), _expression_read),
    Reader("quantity", ".txt", _texts(*_QUANTITIES), _quantity_read),
    Reader("law", ".txt", _texts(*_LAWS, *_EXPRESSIONS), _law_read),
    Reader("assignment", ".txt", _texts(*_ASSIGNMENTS), _assignment_read),
    Reader("door", ".json", calls, _door_read, (call_changed,), 30),
    Reader("solver", ".json", solver_calls, _door_read, (call_changed,), 2),
    Reader("command", ".txt", _commands(_COMMANDS), _command_read, (command_changed,), 10),
    Reader("drawing", ".txt", _commands(_DRAWINGS), _command_read, (command_changed,), 1),
)  # fmt: skip
