"""Small files that ask for endless work, one for each reader and kind of blow-up, in several sizes.

Each is answered, by success or by a `BielaError`, within `SECONDS` and `MEMORY`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

#: What the answer to a hostile file may take.
SECONDS = 2.0
MEMORY = 500 * 10**6

_ROD = '[bodies.rod]\nmass = 1\n[joints.A]\nkind = "revolute"\ni = "ground"\nj = "rod"\n'
_MODEL = f'name = "hostile"\n{_ROD}'
#: Bodies and joints without the headings, for tables in line.
_INLINE = (
    'bodies = { rod = { mass = 1 } }, joints = { A = { kind = "revolute", i = "ground", '
    'j = "rod" } }'
)


@dataclass(frozen=True)
class Hostile:
    """A file: the kind of blow-up, the reader it is for, its bytes, and files beside it."""

    kind: str
    reader: str
    content: bytes
    beside: dict[str, bytes] = field(default_factory=dict)


@cache
def hostile_files() -> tuple[Hostile, ...]:
    """All of them, in an order that does not change."""
    return tuple(made for maker in _MAKERS for made in maker())


# --- models ---------------------------------------------------------------------------------------


def _models() -> Iterator[Hostile]:
    def toml(kind: str, text: str) -> Hostile:
        return Hostile(kind, "model", text.encode())

    for n in (200, 2_000, 20_000, 100_000):
        yield toml(f"key of {n} dots", "a." * n + "a = 1\n")
        yield toml(f"header of {n} dots", "[" + "a." * n + "a]\n")
        yield toml(f"quoted key of {n} dots", '"a".' * n + '"a" = 1\n')
        yield toml(f"key of {n} dots in a table in line", "x = {" + "a." * n + "a = 1}\n")
        yield toml(f"{n} arrays in each other", "x = " + "[" * n + "]" * n)
        yield toml(f"{n} arrays in each other, not closed", "x = " + "[" * n)
        yield toml(f"{n} tables in each other", "x = " + "{a = " * n + "1" + "}" * n)
        yield toml(f"a number of {n} digits", f"{_MODEL}gravity = [0, 0, {'9' * n}]\n")
        yield toml(f"a float of {n} digits", f"{_MODEL}[parameters]\na = 0.{'9' * n}\n")
        yield toml(f"a name of {n} letters", f'name = "{"a" * n}"\n{_ROD}')
        yield toml(f"a text of {n} parentheses", f'{_MODEL}[parameters]\na = "{"(" * n}1{")" * n}"')
        yield toml(f"a text of {n} signs", f'{_MODEL}[parameters]\na = "{"-" * n}1"')
        yield toml(f"a text of {n} powers", f'{_MODEL}[parameters]\na = "{"2^" * n}1"')
        yield toml(f"a sum of {n} terms", f'{_MODEL}[parameters]\na = "{"1+" * n}1"')
        yield toml(f"an unknown key of {n} letters", f"{'a' * n} = 1\n{_MODEL}")
        yield toml(f"an array of {n} numbers", f"{_MODEL}gravity = [{'0,' * n}]\n")
    for count in ("10**18", "1000000000000000000", "99999999999999999999", "1000000000", "5000000"):
        yield toml(
            f"count {count}",
            f'{_MODEL}[parts.p]\ncount = {count}\nmodel = {{ name = "c", {_INLINE} }}\n',
        )
        yield toml(
            f"empty part, count {count}",
            f'{_MODEL}[parts.p]\ncount = {count}\nmodel = {{ name = "c" }}\n',
        )
        yield toml(
            f"linked part, count {count}",
            f'{_MODEL}[parts.p]\ncount = {count}\nlink = "rod"\nmodel = {{ name = "c", '
            f"{_INLINE} }}\n",
        )
        yield toml(
            f"force to the last of {count}",
            f'{_MODEL}[parts.p]\ncount = {count}\nmodel = {{ name = "c", {_INLINE} }}\n'
            f'[forces.f]\nkind = "spring_damper"\ni = "rod"\nj = "p[-1].rod"\nstiffness = 1\n',
        )
    for base, levels in ((8, 12), (2, 30), (2, 90), (1000, 6), (10, 9), (1, 200)):
        yield toml(f"parts {base}^{levels}", _nested(base, levels))
        yield toml(f"linked parts {base}^{levels}", _nested(base, levels, 'link = "rod"\n'))
        text = f'name = "f"\n[parts.a]\nfile = "f0.toml"\ncount = {base}\n'
        beside = {
            f"f{k}.toml": f'name = "f{k}"\n[parts.a]\nfile = "f{k + 1}.toml"\ncount = {base}\n'
            f'[parts.b]\nfile = "f{k + 1}.toml"\n'.encode()
            for k in range(levels)
        }
        beside[f"f{levels}.toml"] = _MODEL.encode()
        yield Hostile(f"files {base}^{levels}, twice each", "model", text.encode(), beside)
    yield Hostile(
        "a file that is a part of itself",
        "model",
        b'name = "f"\n[parts.a]\nfile = "f0.toml"\n',
        {"f0.toml": b'name = "g"\n[parts.a]\nfile = "f0.toml"\n'},
    )
    for n in (300, 3_000):
        joints = "".join(
            f'[joints.J{k}]\nkind = "fixed"\ni = "ground"\nj = "rod"\n' for k in range(n)
        )
        yield toml(f"{n} joints between two bodies", _MODEL + joints)
        yield toml(f"{n} mistakes", _MODEL + joints.replace("fixed", "fixd"))
        yield toml(
            f"{n} parameters in a chain",
            f"{_MODEL}[parameters]\np0 = 1\n"
            + "".join(f'p{k + 1} = "p{k} + p{k}"\n' for k in range(n)),
        )
        yield toml(
            f"{n} parameters that double",
            f"{_MODEL}[parameters]\np0 = 10\n"
            + "".join(f'p{k + 1} = "p{k} * p{k}"\n' for k in range(n)),
        )
        times = ",".join(map(str, range(n)))
        yield toml(
            f"a law of {n} points",
            f'{_MODEL}[drivers.d]\nkind = "rotary"\ncoordinate = '
            f'"A.angle"\nlaw = {{ times = [{times}], values = [{times}] }}\n',
        )
    for law in _EXPRESSIONS:
        yield toml(
            f"law {law[:20]} ({len(law)})",
            f'{_MODEL}[drivers.d]\nkind = "rotary"\ncoordinate = "A.angle"\nlaw = "{law}"\n',
        )


def _nested(base: int, levels: int, more: str = "") -> str:
    """Parts in parts, as tables under long headings; each model has a body of its own."""
    text, at = _MODEL, "parts.p"
    for level in range(levels):
        text += f'[{at}]\ncount = {base}\n{more}[{at}.model]\nname = "m{level}"\n'
        text += f'[{at}.model.bodies.rod]\nmass = 1\n[{at}.model.joints.A]\nkind = "revolute"\n'
        text += 'i = "ground"\nj = "rod"\n'
        at += ".model.parts.p"
    return text


# --- motions: by the command line and by the table [run] ------------------------------------------


def _motions() -> Iterator[Hostile]:
    driver = '[drivers.d]\nkind = "rotary"\ncoordinate = "A.angle"\nlaw = "t"\n'
    for verb, model in (("kinematics", _MODEL + driver), ("run", _MODEL)):
        fixed = " --step 0.001" if verb == "run" else ""
        for options in (
            "--time 1e300", f"--time 1e300{fixed}", "--time 1 --step 1e-300",
            "--time 1 --step 1e-12", "--time 1 --step 1e-9", "--time 1e9 --step 1",
            "--time 1e6 --step 1e-6",
            "--time 1e-300 --step 1e-302", "--time 1e308 --step 1e-308", "--time 1e12 --step 1",
        ):  # fmt: skip
            text = f"{verb} m.toml {options} --no-plot --animate none"
            yield Hostile(f"{verb} {options}", "command", text.encode(), {"m.toml": model.encode()})
        for table in (
            "duration = 1e300", "duration = 1\nstep = 1e-300", "duration = 1\nstep = 1e-9",
            "duration = 1e9\nstep = 1", "duration = 1e8\nstep = 1e-3", "duration = 1e308",
            "duration = 1e12\nstep = 1", 'duration = "9^9^9 s"', "duration = 1\nstep = 1e-10",
        ):  # fmt: skip
            text = f"{verb} m.toml --no-plot --animate none"
            beside = {"m.toml": f"{model}[run]\n{table}\n".encode()}
            yield Hostile(f"{verb} with {table!r}", "command", text.encode(), beside)
    for value in (
        "9**9**9",
        "1e308*1e308",
        "(" * 5000,
        "-" * 50_000 + "1",
        "10**(10**9)",
        "9" * 50_000,
    ):
        for option in ("--set r", "--q A", "--v A", "--time", "--step"):
            text = f"run m.toml {option}{' ' if option in ('--time', '--step') else '='}'{value}'"
            yield Hostile(
                f"run {option} {value[:10]} ({len(value)})",
                "command",
                text.encode(),
                {"m.toml": _MODEL.encode()},
            )


# --- texts ----------------------------------------------------------------------------------------

_EXPRESSIONS = (
    "9**9**9", "9**9**9**9", "2**(10**9)", "(10**3000)**1000", "t**(10**18)", "t**(9**9**9)",
    "(1/3)**(10**7)", "10**400", "(" * 20_000 + "t" + ")" * 20_000, "-" * 40_000 + "t",
    "+".join(["t"] * 10_000), "*".join(["(t+1)"] * 5_000), "sin(" * 5_000 + "t" + ")" * 5_000,
    "**".join(["t"] * 2_000), "**".join(["2"] * 300), "1e308*1e308", "exp(exp(exp(10)))",
    "a" * 50_000, "9" * 20_000, "max(" + ",".join(["t"] * 10_000) + ")", "((10**300)**10)**100*t",
    "*".join(["9" * 3_000] * 20), "+".join(f"1/{10**40 + k}" for k in range(1_000)), "(" * 50_000,
    "1" + "+(1" * 10_000, "if(" * 3_000, "t" + "/t" * 10_000, "sqrt(" * 3_000 + "2" + ")" * 3_000,
)  # fmt: skip


def _texts() -> Iterator[Hostile]:
    for reader in ("expression", "quantity", "law", "assignment"):
        for text in _EXPRESSIONS:
            given = f"r={text}" if reader == "assignment" else text
            yield Hostile(f"{text[:20]} ({len(text)})", reader, given.encode())
        for unit in ("mm" * 10_000, "m^" * 3_000 + "2", "m*" * 10_000 + "m", "m^" + "9" * 5_000):
            given = f"{'r=' * (reader == 'assignment')}5 {unit}"
            yield Hostile(f"unit {unit[:10]} ({len(unit)})", reader, given.encode())


# --- robots ---------------------------------------------------------------------------------------


def _robots() -> Iterator[Hostile]:
    link = (
        '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    )
    joint = '<joint name="j{1}" type="{2}"><parent link="l{0}"/><child link="l{1}"/></joint>'
    for n in (100, 400):
        for kind in ("revolute", "fixed", "floating"):
            limit = '<limit lower="0" upper="1" effort="1" velocity="1"/>'
            chain = "".join(joint.format(k, k + 1, kind) for k in range(n))
            chain = chain.replace("</joint>", f"{limit}</joint>") if kind == "revolute" else chain
            links = "".join(link.format(k) + "</link>" for k in range(n + 1))
            yield Hostile(
                f"{n} {kind} links in a line",
                "urdf",
                f'<robot name="r">{links}{chain}</robot>'.encode(),
            )
        star = "".join(joint.format(0, k + 1, "fixed") for k in range(n))
        yield Hostile(
            f"{n} links in a star", "urdf", f'<robot name="r">{links}{star}</robot>'.encode()
        )
        yield Hostile(
            f"{n} links in a circle",
            "urdf",
            f'<robot name="r">{links}{chain}'
            f'<joint name="c" type="fixed"><parent link="l{n}"/><child link="l0"/></joint>'
            "</robot>".encode(),
        )
        bodies = "".join(
            f'<body name="b{k}"><joint type="hinge"/><geom size="1"/>' for k in range(n)
        )
        yield Hostile(
            f"{n} bodies in each other",
            "mjcf",
            f"<mujoco><worldbody>{bodies}{'</body>' * n}</worldbody></mujoco>".encode(),
        )
    for reader, root in (("urdf", "robot"), ("mjcf", "mujoco"), ("collada", "COLLADA")):
        for n in (450, 5_000, 100_000):
            yield Hostile(
                f"{n} elements in each other",
                reader,
                f"<{root}>{'<a>' * n}{'</a>' * n}</{root}>".encode(),
            )
            yield Hostile(
                f"{n} elements in each other, open", reader, f"<{root}>{'<a>' * n}".encode()
            )
        for n in (1_000, 20_000):
            attributes = " ".join(f'a{k}="1"' for k in range(n))
            yield Hostile(f"{n} attributes", reader, f"<{root} {attributes}/>".encode())
            yield Hostile(
                f"{n} unknown elements", reader, f"<{root}>{'<a/>' * n}</{root}>".encode()
            )
            yield Hostile(
                f"an attribute of {n} numbers", reader, f'<{root} name="{"1 " * n}"/>'.encode()
            )
        for n in (10, 40):
            entities = "".join(f'<!ENTITY e{k + 1} "&e{k};&e{k};">' for k in range(n))
            text = f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]><{root}>&e{n};</{root}>'
            yield Hostile(f"{n} entities that double", reader, text.encode())
            for code in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"):
                for declared in ("", f'<?xml version="1.0" encoding="{code}"?>'):
                    yield Hostile(
                        f"{n} entities that double, {code}{' declared' * bool(declared)}",
                        reader,
                        (declared + text).encode(code),
                    )
    for n in (30, 3_000):
        classes = '<default class="c{0}">' * 1
        inner = "".join(classes.format(k) for k in range(n)) + "</default>" * n
        yield Hostile(
            f"{n} defaults in each other",
            "mjcf",
            f"<mujoco><default>{inner}</default></mujoco>".encode(),
        )
        yield Hostile(
            f"replicate {n}",
            "mjcf",
            f'<mujoco><worldbody><replicate count="{10**n}">'
            '<body><geom size="1"/></body></replicate></worldbody></mujoco>'.encode(),
        )
    yield Hostile("an include of itself", "mjcf", b'<mujoco><include file="m.xml"/></mujoco>')
    for kind in ("composite", "flexcomp"):
        yield Hostile(
            kind,
            "mjcf",
            f'<mujoco><worldbody><body><{kind} count="99999 99999 9999"/>'
            "</body></worldbody></mujoco>".encode(),
        )


# --- tables ---------------------------------------------------------------------------------------


def _tables() -> Iterator[Hostile]:
    for n in (100, 2_000, 20_000):
        wide = ",".join(f"c{k}" for k in range(n))
        row = ",".join(["1"] * n)
        for reader in ("reference csv", "dh csv"):
            yield Hostile(f"{n} columns", reader, f"{wide}\n{row}\n".encode())
            yield Hostile(
                f"{n} empty lines", reader, b"a,alpha,d,theta\n" + b"\n" * n + b"0,0,0,0\n"
            )
            yield Hostile(f"a cell of {n} digits", reader, b"a,alpha,d,theta\n0,0,0," + b"9" * n)
            yield Hostile(
                f"a quote that is open for {n} lines", reader, b'a,alpha,d,theta\n"' + b"0\n" * n
            )
            yield Hostile(f"{n} quotes", reader, b"a,alpha,d,theta\n" + b'"' * n)
        yield Hostile(
            f"{n} rows", "reference csv", b"t,x\n" + b"".join(b"%d,1\n" % k for k in range(n))
        )
    for n in (30, 150):
        yield Hostile(f"{n} rows", "dh csv", b"a,alpha,d,theta\n" + b"1,0,0,0\n" * n)
        rows = "{ a = 1, alpha = 0, d = 0, theta = 0 }," * n
        yield Hostile(f"{n} rows", "dh toml", f"[denavit_hartenberg]\nrows = [{rows}]\n".encode())
    for n in (200, 100_000):
        for line in (f"{'a.' * n}a = 1", f"x = {'[' * n}{']' * n}", f"x = {'{a=' * n}1{'}' * n}"):
            yield Hostile(
                f"{line[:6]} … of {n}",
                "dh toml",
                f"{line}\n[denavit_hartenberg]\nrows = []\n".encode(),
            )
    for value in ("1e300", "9**9**9", "(" * 2_000, "9" * 400):
        yield Hostile(f"theta {value[:10]}", "dh csv", f"a,alpha,d,theta\n0,0,0,{value}\n".encode())
    for count in (10**4, 10**9, 10**18, 10**400):
        yield Hostile(
            f"{count:.0e} links" if count < 10**300 else "10^400 links",
            "thesis",
            f"@general.txt\n{count}\n0 0 -9.81\n@joints.txt\n{count}\n@drivers.txt\n{count}\n"
            f"@initial.txt\n{count} 1 2\n".encode(),
        )
        yield Hostile(
            f"end {str(count)[:4]} ({len(str(count))})",
            "dump",
            f'biela atoms 1\nworkspace "w"\nend {count}\n'.encode(),
        )
        yield Hostile(
            f"a curve of {str(count)[:4]} ({len(str(count))}) points",
            "dump",
            f'biela atoms 1\nworkspace "w"\ncurve c 0.0 {count}\nbreaks 0.0\n'.encode(),
        )
        yield Hostile(
            f"a power of {str(count)[:4]} ({len(str(count))})",
            "dump",
            f'biela atoms 1\nworkspace "w"\n2 symbol x parameter 0\n3 power_int 2 {count}\n'
            "end 4\n".encode(),
        )
        yield Hostile(
            f"{str(count)[:4]} ({len(str(count))}) arguments",
            "dump",
            f'biela atoms 1\nworkspace "w"\nfunction f {count}\nend 2\n'.encode(),
        )
    for n in (100, 5_000):
        lines = "".join(f"{k + 3} mul {k + 2} {k + 2}\n" for k in range(n))
        yield Hostile(
            f"{n} squares of squares",
            "dump",
            f'biela atoms 1\nworkspace "w"\n2 symbol x parameter 0\n{lines}end {n + 3}\n'.encode(),
        )
        yield Hostile(
            f"a number of {n} digits",
            "dump",
            f'biela atoms 1\nworkspace "w"\n2 constant {"9" * n}\nend 3\n'.encode(),
        )


# --- meshes ---------------------------------------------------------------------------------------


def _meshes() -> Iterator[Hostile]:
    for count in (1_000, 10**6, 10**9, 2**32 - 1):
        header = b"binary".ljust(80) + count.to_bytes(4, "little")
        yield Hostile(f"binary STL of {count} triangles", "stl", header + bytes(50))
        yield Hostile(
            f"STL that begins with solid, of {count}", "stl", b"solid" + header[5:] + bytes(50)
        )
    for n in (1_000, 10_000):
        yield Hostile(
            f"a loop of {n} vertices", "stl", b"solid\nouter loop\n" + b"vertex 0 0 0\n" * n
        )
        ring = b"".join(b"v %d %d 0\n" % (k % 97, k * k % 89) for k in range(n // 4))
        face = b"f " + b" ".join(b"%d" % (k + 1) for k in range(n // 4)) + b"\n"
        yield Hostile(f"a face of {n // 4} corners that cross", "obj", ring + face)
        yield Hostile(f"{n} faces of one corner", "obj", b"v 0 0 0\n" + b"f 1\n" * n)
        yield Hostile(f"{n} faces of one point", "obj", b"v 0 0 0\n" + b"f 1 1 1\n" * n)
        yield Hostile(f"{n} lines that go on", "obj", b"v 0 0 0 \\\n" * n)
        yield Hostile(
            f"a vertex of number {n}0000000000", "obj", b"v 0 0 0\nf 1 1 %d0000000000\n" % n
        )
    for base, levels in ((2, 40), (2, 16), (2, 25), (10, 6), (300, 3), (2, 150)):
        yield Hostile(f"nodes {base}^{levels}", "collada", _collada(_doubled(base, levels), levels))
        yield Hostile(
            f"nodes {base}^{levels}, no geometry",
            "collada",
            _collada(_doubled(base, levels).replace("instance_geometry", "nothing"), levels),
        )
    yield Hostile(
        "a node in itself",
        "collada",
        _collada('<node id="n0"><instance_node url="#n0"/></node>', 0),
    )
    yield Hostile(
        "nodes in a circle",
        "collada",
        _collada(
            '<node id="n0"><instance_node url="#n1"/></node><node id="n1">'
            '<instance_node url="#n0"/><instance_node url="#n0"/></node>',
            0,
        ),
    )
    for n in (1_000, 20_000):
        yield Hostile(
            f"{n} geometries in a node",
            "collada",
            _collada(
                f'<node id="n0">{"<instance_geometry url=" * 0}'
                + '<instance_geometry url="#g"/>' * n
                + "</node>",
                0,
            ),
        )
        yield Hostile(
            f"{n} transformations",
            "collada",
            _collada(
                '<node id="n0">'
                + "<scale>2 2 2</scale>" * n
                + '<instance_geometry url="#g"/></node>',
                0,
            ),
        )
    for stride, offset in ((10**9, 0), (0, 0), (-1, 0), (3, 10**9), (3, -5), (10**30, 0)):
        yield Hostile(
            f"stride {stride}, offset {offset}",
            "collada",
            _collada('<node id="n0"><instance_geometry url="#g"/></node>', 0, stride, offset),
        )
    for counts in ("999999999", "3 999999999", "-3", "0 0 0", "9" * 30):
        text = _collada('<node id="n0"><instance_geometry url="#g"/></node>', 0).decode()
        text = text.replace("triangles", "polylist").replace("<p>", f"<vcount>{counts}</vcount><p>")
        yield Hostile(f"polygons of {counts} corners", "collada", text.encode())


def _doubled(base: int, levels: int) -> str:
    """Nodes each of which shows the next one several times; the last shows the geometry."""
    nodes = [
        f'<node id="n{k}">' + f'<instance_node url="#n{k + 1}"/>' * base + "</node>"
        for k in range(levels)
    ]
    return "".join(nodes) + f'<node id="n{levels}"><instance_geometry url="#g"/></node>'


def _collada(nodes: str, levels: int, stride: int = 3, offset: int = 0) -> bytes:
    return (
        '<COLLADA version="1.4.1"><library_geometries><geometry id="g"><mesh><source id="s">'
        '<float_array id="f">0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor '
        f'source="#f" stride="{stride}"/></technique_common></source><vertices id="v"><input '
        'semantic="POSITION" source="#s"/></vertices><triangles><input semantic="VERTEX" '
        f'source="#v" offset="{offset}"/><p>0 1 2</p></triangles></mesh></geometry>'
        f"</library_geometries><library_nodes>{nodes}</library_nodes><library_visual_scenes>"
        '<visual_scene id="scene"><node><instance_node url="#n0"/></node></visual_scene>'
        '</library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>'
    ).encode()


# --- products: of what a file has with how often it is used or compared ---------------------------


def _products() -> Iterator[Hostile]:
    yield from _names()
    yield from _shared_attributes()
    yield from _shared_meshes()
    yield from _outlines()
    for depth, keys in ((95, 95), (300, 95)):
        text = "x = " + ("{" + "a." * keys + "a = ") * depth + "1" + "}" * depth
        yield Hostile(f"{depth} tables of {keys} dots in each other", "model", text.encode())
    for depth, n in ((50, 45_000), (95, 45_000)):
        array = "[" * depth + "0," * n + "]" * depth
        yield Hostile(f"{n} numbers {depth} deep", "model", f"x = {array}\n".encode())
        yield Hostile(
            f"{n} numbers {depth} deep",
            "dh toml",
            f"[denavit_hartenberg]\nrows = {array}\n".encode(),
        )
    for n in (320, 480, 490, 990):  # about where Python ends recursions
        yield Hostile(f"{n} arrays deep", "model", f"x = {'[' * n}{']' * n}".encode())
        yield Hostile(f"{n} tables deep", "model", f"x = {'{a=' * n}1{'}' * n}".encode())
    for n in (5_000, 90_000):
        blanks = " " * n
        yield Hostile(f"{n} blanks before no value", "model", f"a = {blanks}x\n".encode())
        yield Hostile(f"{n} blanks before an array", "model", f"= {blanks}[\n".encode())
        yield Hostile(f"a heading of {n} blanks", "reference csv", f"t,a{blanks}x\n1,2\n".encode())
        yield Hostile(f"a heading of {n} brackets", "reference csv", f"t,{'[' * n}\n1,2\n".encode())
    rows = "1,0,0,0\n" * 11_000
    yield Hostile("11000 rows", "dh csv", f"a,alpha,d,theta\n{rows}".encode())


def _names() -> Iterator[Hostile]:
    """Many wrong names beside many right ones."""
    n = 900
    bodies = "".join(f"[bodies.somebody{k}]\nmass = 1\n" for k in range(n))
    joint = "[joints.j{0}]\nkind = '{1}'\ni = '{2}'\nj = '{3}'\n"
    joints = "".join(joint.format(k, "fixed", "ground", "rod") for k in range(n))
    parameters = "".join(f"par{k} = 1\n" for k in range(4 * n))
    texts = {
        "bodies": bodies
        + "".join(joint.format(k, "fixed", f"nobody{k}", f"somebodi{k}") for k in range(n)),
        "markers": bodies
        + "".join(joint.format(k, "fixed", f"nobody.m{k}", "ground") for k in range(n)),
        "joints": _ROD
        + joints
        + "".join(f"[sensors.s{k}]\nkind = 'joint'\ncoordinate = 'i{k}.angle'\n" for k in range(n)),
        "parameters": f"{_ROD}[parameters]\n{parameters}"
        + "".join(f"wrong{k} = 'pra{k}'\n" for k in range(2 * n)),
        "units": f"{_ROD}[parameters]\n" + "".join(f"a{k} = '1 mmx{k}'\n" for k in range(5 * n)),
        "keys": "[bodies.b]\n" + "".join(f"mas{k} = 1\n" for k in range(9 * n)),
        "kinds": _ROD + "".join(f"[joints.j{k}]\nkind = 'rev{k}'\n" for k in range(3 * n)),
        "long names": "".join(f"[bodies.{'x' * 3000}{k}]\n" for k in range(16))
        + "".join(joint.format(k, "fixed", f"q{k}", "z") for k in range(n)),
        "names of one letter": "".join(f"[bodies.{'a' * 52}{k}]\n" for k in range(700))
        + "".join(joint.format(k, "fixed", f"{'a' * 50}b{k}", "ground") for k in range(n // 2)),
    }
    for what, text in texts.items():
        yield Hostile(f"wrong {what}", "model", f"name = 'a'\n{text}".encode())
    links = "".join(f'<link name="l{k}"/>' for k in range(2 * n))
    ends = '<joint name="j{0}" type="fixed"><parent link="m{0}"/><child link="n{0}"/></joint>'
    wrong = "".join(ends.format(k) for k in range(700))
    yield Hostile("wrong links", "urdf", f'<robot name="r">{links}{wrong}</robot>'.encode())
    bodies = "".join(f'<body name="a{k}"/>' for k in range(2 * n))
    wrong = "".join(f'<weld body1="b{k}" body2="c{k}"/>' for k in range(n))
    yield Hostile(
        "wrong bodies",
        "mjcf",
        f"<mujoco><worldbody>{bodies}</worldbody><equality>{wrong}</equality></mujoco>".encode(),
    )


def _shared_attributes() -> Iterator[Hostile]:
    """Long name spaces and classes, of which each element has its share; many equal names."""
    for reader, root in (("urdf", "robot"), ("mjcf", "mujoco"), ("collada", "COLLADA")):
        for opening, element in (
            ("xmlns", "<a/>"),
            ("xmlns:p", "<p:a/>"),
            ("xmlns:p", "<a p:b=''/>"),
        ):
            text = f"<{root} {opening}='{'u' * 40_000}'>{element * 5_000}</{root}>"
            yield Hostile(f"a long name space for {element}", reader, text.encode())
        text = f"<{root}>{'<a>' * 490}{'<b/>' * 22_000}{'</a>' * 490}</{root}>"
        yield Hostile("many elements deep inside", reader, text.encode())
    many = " ".join(f'a{k}=""' for k in range(5_000))
    for name, default in (("long", f'<geom size="{"1 " * 20_000}"/>'), ("many", f"<geom {many}/>")):
        for n in (900, 7_000):
            yield Hostile(
                f"{name} attributes of {n} geoms",
                "mjcf",
                f"<mujoco><default>{default}</default><worldbody><body>{'<geom/>' * n}</body>"
                "</worldbody></mujoco>".encode(),
            )
        classes = "".join(f'<default class="c{k}"/>' for k in range(1_800))
        yield Hostile(
            f"{name} attributes of classes",
            "mjcf",
            f"<mujoco><default>{default}{classes}</default></mujoco>".encode(),
        )
    for inside in ("<body/>", '<body name="a"/>', "<body><joint/></body>", '<geom size="1"/>'):
        yield Hostile(
            f"900 times {inside}",
            "mjcf",
            f"<mujoco><worldbody><body>{inside * 900}</body></worldbody></mujoco>".encode(),
        )


def _shared_meshes() -> Iterator[Hostile]:
    """One mesh file, which many bodies have."""
    vertices = "".join(f"v {k % 7} {k % 11} {k % 13}\n" for k in range(2_000))
    faces = "".join(
        f"f {k % 2000 + 1} {7 * k % 2000 + 1} {13 * k % 2000 + 1}\n" for k in range(3_000)
    )
    for name, obj in (("a mesh", vertices + faces), ("a faulty mesh", vertices + faces + "f x")):
        beside = {"m.obj": obj.encode()}
        for scaled in (False, True):
            kind = f"{name} in many {'sizes' if scaled else 'bodies'}"
            scales = [f"{k + 1 if scaled else 1}" for k in range(800)]
            shapes = ",".join(f"{{mesh='m.obj', scale={s}}}" for s in scales)
            yield Hostile(
                kind, "model", f"name='a'\n[bodies.b]\nshapes=[{shapes}]\n".encode(), beside
            )
            visuals = "".join(
                f'<visual><geometry><mesh filename="m.obj" scale="{s} 1 1"/></geometry></visual>'
                for s in scales
            )
            yield Hostile(
                kind,
                "urdf",
                f'<robot name="r"><link name="l">{visuals}</link></robot>'.encode(),
                beside,
            )
            assets = "".join(
                f'<mesh name="m{k}" file="m.obj" scale="{s} 1 1"/>' for k, s in enumerate(scales)
            )
            geoms = "".join(f'<geom type="mesh" mesh="m{k}"/>' for k in range(len(scales)))
            yield Hostile(
                kind,
                "mjcf",
                f"<mujoco><asset>{assets}</asset><worldbody>{geoms}</worldbody></mujoco>".encode(),
                beside,
            )
    yield from _repeated_scenes()


def _repeated_scenes() -> Iterator[Hostile]:
    """Scenes that show the same again and again."""
    scene = '<node id="n0">' + '<instance_node url="#m"/>' * 1_500 + '</node><node id="m">{}'
    scene += '<instance_geometry url="#g"/></node>'
    for what, inside in (("scales", "<scale>1 1 1</scale>"), ("elements", "<a/>")):
        nodes = scene.format(inside * 2_500)
        yield Hostile(f"a node of many {what}, often", "collada", _collada(nodes, 0))
    many = '<node id="n0">' + '<instance_node url="#m"/>' * 190 + '</node><node id="m">'
    many += '<instance_geometry url="#g"/>' * 100 + "</node>"
    floats = _collada(many, 0).replace(b"0 1 0</float", b"0 1 0" + b" 0 0 0" * 9_000 + b"</float")
    yield Hostile("many vertices, often", "collada", floats)
    shown = _collada('<node id="n0"><instance_geometry url="#g"/></node>', 0).decode()
    lists = f"<vcount>{'0 ' * 9_000}</vcount>{'<p/>' * 9_000}"
    polylist = shown.replace("triangles", "polylist").replace("<p>0 1 2</p>", lists)
    yield Hostile("many lists of polygons", "collada", polylist.encode())
    groups = "".join(
        f"<vertices id='v{k}'><input semantic='POSITION' source='#s'/></vertices><triangles>"
        f"<input semantic='VERTEX' source='#v{k}' offset='0'/><p>0 1 2</p></triangles>"
        for k in range(300)
    )
    text = floats.decode().replace("</mesh>", f"{groups}</mesh>")
    yield Hostile("many groups of one source", "collada", text.encode())


def _outlines() -> Iterator[Hostile]:
    """Polygons of many corners."""
    for n in (500, 900, 3_000, 9_000):
        comb = ",".join(f"[{k},{9 * (k % 2) + 1}]" for k in range(n)) + f",[{n},0],[0,0]"
        shape = f"{{kind='plate', corners=[{comb}], thickness=1, density=1}}"
        yield Hostile(
            f"a plate of {n} corners", "model", f"name='a'\n[bodies.b]\nshapes=[{shape}]\n".encode()
        )
    for n in (4, 8, 100, 500, 3_000):
        vertices = "".join(f"v {k % 97} {k * k % 89} 0\n" for k in range(n))
        face = "f " + " ".join(str(k + 1) for k in range(n)) + "\n"
        faces = face * max(1, (90_000 - len(vertices)) // len(face))
        yield Hostile(f"faces of {n} corners", "obj", (vertices + faces).encode())


# --- results --------------------------------------------------------------------------------------


def _results() -> Iterator[Hostile]:
    for shape in (
        "(1000000000,)", "(1000000000000,)", "(10000, 100000)", "(99999999999999999999,)", "(-5,)",
        "(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)", "(True,)", "(1.5,)", "(" * 200 + ")" * 200, "(0,)",
    ):  # fmt: skip
        for entry in ("t", "header", "group/q"):
            yield Hostile(f"{entry} of shape {shape[:24]}", "results", _npz({entry: _npy(shape)}))
    for kind in ("<f8", "|O", "|S1000000000", "<U1000000000", "<c16", "|V99999999999"):
        yield Hostile(f"type {kind}", "results", _npz({"t": _npy("(1000000000,)", kind)}))
    for n in (10**6, 10**7, 5 * 10**7):
        yield Hostile(f"{n} zeros", "results", _npz({"t": _npy(f"({n},)", "|u1", bytes(n))}))
        yield Hostile(
            f"a JSON text of {n} blanks",
            "results",
            _npz({"header": _npy(f"({n},)", "|u1", b" " * n)}),
        )
    for n in (1_000, 100_000):
        for opening in (b"[", b'{"a":'):
            text = opening * n
            yield Hostile(
                f"a JSON text of {n} {opening.decode()}",
                "results",
                _npz({"header": _npy(f"({len(text)},)", "|u1", text)}),
            )
        yield Hostile(f"a header of {n} characters", "results", _npz({"t": _npy("(1,)" + " " * n)}))
    for item in (b"{}", b"[]", b"[[]]", b'{"a":1}', b"1.5", b'""'):
        text = b'{"format": "biela.results", "x": [' + b",".join([item] * 2_100_000) + b"]}"
        yield Hostile(
            f"a JSON text of many {item.decode()}",
            "results",
            _npz({"header": _npy(f"({len(text)},)", "|u1", text)}),
        )
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        n = 10**7
        packed = _npz({"t": _npy(f"({n},)", "|u1", bytes(n))}, method)
        yield Hostile(f"{n} zeros, packed by method {method}", "results", packed)
    for n in (100, 5_000):
        yield Hostile(f"{n} entries", "results", _npz({f"e{k}": _npy("(0,)") for k in range(n)}))


def _npy(shape: str, kind: str = "<f8", data: bytes = b"") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    if len(header) > 65_535:
        return b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + data
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def _npz(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    header = b'{"format": "biela.results", "version": 1}'
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in {
            "header": _npy(f"({len(header)},)", "|u1", header),
            **entries,
        }.items():
            archive.writestr(f"{name}.npy", content)
    return made.getvalue()


_MAKERS: tuple[Callable[[], Iterator[Hostile]], ...] = (
    _models, _motions, _texts, _robots, _tables, _meshes, _products, _results,
)  # fmt: skip
