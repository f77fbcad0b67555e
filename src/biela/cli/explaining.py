"""``biela joints``: the kinds of elements of a model, and each of them explained."""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any, Final

from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table

import biela as bl
from biela.cli import kind_examples
from biela.cli.tables import console, pairs
from biela.errors import ModelError
from biela.model import Marker
from biela.model.element import KINDS, SPECIAL, Element
from biela.model.joints import Connection, Coupling, Joint
from biela.model.joints.moves import Move, Rotate, Translate
from biela.spelling import alike

_TITLES: Final = {
    "joint": "joints and couplings",
    "driver": "drivers",
    "force": "forces",
    "sensor": "sensors",
}
#: SI units of the dimensions of settings; those without a unit of their own are left out.
_UNITS: Final = {
    "length": "m",
    "angle": "rad",
    "mass": "kg",
    "area": "m²",
    "density": "kg/m³",
    "stiffness": "N/m",
    "damping": "N·s/m",
    "torsional stiffness": "N·m/rad",
    "torsional damping": "N·m·s/rad",
    "force": "N",
    "torque": "N·m",
    "none": "a pure number",
    "any": "a number",
}
_SPECIAL: Final = {
    "marker": "marker",
    "law": "law of t",
    "flag": "true or false",
    "data": "array",
}


def list_kinds() -> None:
    """Print all kinds by category, with the first line of what each is."""
    out = console()
    for category, title in _TITLES.items():
        out.print(f"[bold]{title}[/bold]")
        out.print(pairs((kind, _first_line(cls)) for kind, cls in sorted(KINDS[category].items())))
        out.print()
    out.print("Next: biela joints revolute", markup=False)


def explain(name: str) -> None:
    """Print all there is to know of a kind; of each, where categories share the name.

    Raises:
        ModelError: There is none; the message has the nearest names.
    """
    plain = name.replace("-", "_").lower()
    found = [kinds[plain] for kinds in KINDS.values() if plain in kinds]
    if not found:
        known = sorted({kind for kinds in KINDS.values() for kind in kinds})
        near = alike(plain, known, 3, 0.5)
        near += [k for k in known if k not in near and plain in k]
        hint = f"did you mean {' or '.join(near[:3])}?" if near else "biela joints lists them"
        raise ModelError(f"there is no joint, driver, force or sensor {name}; {hint}")
    for k, cls in enumerate(found):
        if k:
            console().rule(style="dim")
        _explain(cls)


def _explain(cls: type[Element]) -> None:
    out = console()
    what = "coupling" if issubclass(cls, Coupling) else cls.category
    out.print(f"[bold]{cls.kind}[/bold], a {what}")
    out.print(Padding(escape(unwrapped(inspect.getdoc(cls) or "")), (0, 0, 1, 2)))
    if issubclass(cls, Joint):
        out.print(pairs(_joint_rows(cls)))
        out.print()
    elif issubclass(cls, Coupling):
        out.print(pairs([("removes", "1 freedom"), ("equation", _coupling_law(cls))]))
        out.print()
    out.print("[bold]settings[/bold]")
    out.print(_settings_table(cls))
    for title, text, lexer in (
        ("in a model file", kind_examples.toml(cls), "toml"),
        ("in Python", kind_examples.python(cls), "python"),
    ):
        out.print(f"\n[bold]{title}[/bold]")
        shown = Syntax(text, lexer, theme="ansi_light", background_color="default", word_wrap=True)
        out.print(Padding(shown, (0, 0, 0, 2)))


def unwrapped(text: str) -> str:
    """Prose without the line breaks of its source; lists and what is set in stay as they are.

    >>> unwrapped("One\\ntwo.\\n\\n    x = 0\\n\\n* a\\n  b\\n* c")
    'One two.\\n\\n    x = 0\\n\\n* a b\\n* c'
    """
    lines: list[str] = []
    for line in text.splitlines():
        before = lines[-1] if lines else ""
        inner, item = line.startswith(" "), line.startswith(("* ", "- "))
        follows = before.startswith(("* ", "- ")) or not (inner or before.startswith(" "))
        if before and line and follows and not item:
            lines[-1] = f"{before} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _first_line(cls: type[Element]) -> str:
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())


# --- joints ---------------------------------------------------------------------------------------


def _joint_rows(cls: type[Joint]) -> list[tuple[str, str]]:
    joint = _instance(cls)
    assert isinstance(joint, Joint)
    shared = [text for key, text in _SHARED if key in cls.shares]
    rows = [("markers", "i on the body before, j on the body after" + "".join(shared))]
    for c in cls.coordinates:
        kind = "unit quaternion" if c.manifold == "rotation" else c.unit or "a pure number"
        rows.append(("coordinate", f"{c.name}, {kind}"))
    if cls.carries:
        ways = ", then ".join(_moved(cls, move) for move in _moves(joint))
        rows.append(("from i to j", ways or "none: they stay together"))
    else:
        rows.append(("from i to j", "it carries no body, and closes loops only"))
    rows.append(("leaves", _many(joint.freedoms)))
    rows.append(("removes", _many(joint.removes)))
    equations = [p.equation.replace("= 0.0", "= 0") for p in joint.conditions()]
    if cls.laws:
        equations.append(_own_law(cls))
    if equations:
        label = "equations"
        for text in equations:
            rows.append((label, text))
            label = ""
        rows.append(("", "r: point, d = r_j - r_i, x y z: axes of a marker"))
    return rows


_SHARED: Final = (
    ("point", "; their points coincide"),
    ("axis", "; their z axes are the axis of the joint"),
)


def _instance(cls: type[Element]) -> Element:
    """An element whose values are the names of its settings, to be read in equations."""
    given: dict[str, Any] = dict(kind_examples.settings(cls))
    for name, item in cls.settings().items():
        dimension = item.metadata["dimension"]
        if dimension == "marker":
            given[name] = Marker("before" if name == "i" else "after", cls.kind)
        elif dimension == "coordinate" or dimension not in SPECIAL:
            given[name] = name
    given.pop("start", None)
    return cls(name=cls.kind, **given)


def _moves(joint: Joint) -> list[Move]:
    ws = bl.Workspace(joint.kind)
    symbols: dict[str, Any] = {c.name: ws.symbol(c.name) for c in joint.coordinates}
    moves = joint.moves([symbols[c.name] for c in joint.coordinates], _Named(ws, symbols))
    return [m for m in moves if not (isinstance(m, Translate) and m.distance == 0.0)]


def _coupling_law(cls: type[Connection]) -> str:
    coupling = _instance(cls)
    assert isinstance(coupling, Coupling)
    ws = bl.Workspace(cls.kind)
    symbols: dict[str, Any] = {name: ws.symbol(name) for name in coupling.couples}
    law = coupling.law([symbols[name] for name in coupling.couples], _Named(ws, symbols))
    return f"{law} = 0"


class _Named:
    """Numbers of an explanation: texts are the names of settings and stay symbols."""

    def __init__(self, workspace: bl.Workspace, symbols: dict[str, Any]) -> None:
        self._workspace, self._symbols = workspace, symbols

    def __call__(self, value: float | str, dimension: str) -> Any:
        del dimension
        if not isinstance(value, str):
            return value
        if value not in self._symbols:
            self._symbols[value] = self._workspace.symbol(value)
        return self._symbols[value]


def _moved(cls: type[Joint], move: Move) -> str:
    if isinstance(move, Rotate):
        return f"a turn about {move.axis} by {_said(move.angle)}"
    if isinstance(move, Translate):
        return f"a way along {move.axis} by {_said(move.distance)}"
    return f"any turn, {cls.coordinates[move.coordinate].name}"


def _said(value: Any) -> str:
    """An expression, with 2π as such."""
    return str(value).replace(repr(2 * math.pi), "(2π)")


def _own_law(cls: type[Joint]) -> str:
    """What the law of a joint says of itself; a letter with an index stays small."""
    text = (inspect.getdoc(cls.law_rows) or "").rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2] == "_" and text[0] in "XYZ" else text


def _many(freedoms: int) -> str:
    return f"{freedoms} freedom{'s' * (freedoms != 1)}"


# --- settings -------------------------------------------------------------------------------------


def _settings_table(cls: type[Element]) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0))
    for style in ("cyan", "", "dim", ""):
        table.add_column(style=style, overflow="fold")
    for name, item in cls.settings().items():
        dimension = item.metadata["dimension"]
        kind = _SPECIAL.get(dimension) or _UNITS.get(dimension) or dimension
        table.add_row(f"  {name}", kind, _default(item), escape(item.metadata["help"]))
    if issubclass(cls, Joint):
        names = ", ".join(c.name for c in cls.coordinates if c.manifold == "line")
        table.add_row("  at", "m", "optional", "place in the ground, where no markers are named")
        table.add_row("  axis, x_axis", "direction", "optional", "of markers made here")
        if names:
            for key, help in (
                ("start", "values at the start"),
                ("rates", "rates at the start"),
                ("limits", "lowest and highest values"),
                ("velocity_limits", "largest rates"),
                ("effort_limits", "largest forces or torques"),
            ):
                table.add_row(f"  {key}", "by coordinate", "optional", f"{help} of {names}")
    return table


def _default(item: dataclasses.Field[Any]) -> str:
    if item.default is dataclasses.MISSING:
        factory = item.default_factory is not dataclasses.MISSING
        return "optional" if factory else "needed"
    if item.default is None or item.default in ("", ()):
        return "optional"
    if isinstance(item.default, bool):
        return "true" if item.default else "false"
    return f"{item.default:g}" if isinstance(item.default, float) else str(item.default)
