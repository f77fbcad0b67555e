"""``biela info``: what a model consists of, how large its equations are, how it can move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.tree import Tree

import biela as bl
from biela.analysis.mobility import defines
from biela.cli.joint_table import has_limits, joint_table, masses
from biela.cli.models import Described, model_in, system_of
from biela.cli.running import mobility_rows
from biela.cli.tables import console, listed, pairs
from biela.model.topology.topology import Topology
from biela.results.units import shown


def info(file: Path, model_name: str | None, coordinates: str | None, trees: bool) -> None:
    """Print what there is to know of the model of a file.

    Raises:
        BielaError: There is no model, or it cannot be assembled; what is known is printed first.
    """
    out = console()
    model = model_in(file, model_name)
    with out.status(f"deriving {model.name}"):
        system = system_of(model, coordinates)
    out.print(f"[bold]{escape(model.name)}[/bold], {escape(_derived(model, coordinates))}")
    if isinstance(model, bl.Model) and model.description:
        out.print(f"  {escape(model.description)}")
    out.print(pairs([*_described(model), *_parts(system)]))
    if isinstance(model, bl.Model) and has_limits(model):
        out.print("\n[bold]joints[/bold]")
        out.print(joint_table(model))
        out.print("\n[bold]masses[/bold]")
        out.print(pairs(masses(model)))
    if system.p:
        out.print("\n[bold]parameters[/bold]")
        units = model.parameter_units if isinstance(model, bl.Model) else {}
        values = (
            (p.name, f"{p.value:g} {shown(p.unit or units.get(p.name, ''))}") for p in system.p
        )
        out.print(pairs((name, text.rstrip()) for name, text in values))
    out.print("\n[bold]operations[/bold]")
    out.print(pairs(_counts(model, system)))
    if trees and isinstance(model, bl.Model):
        out.print("\n[bold]bodies[/bold]")
        out.print(Padding(_body_tree(model), (0, 0, 0, 2)))
    elif trees:
        assert isinstance(model, bl.SymbolicSystem)
        space = model.space
        out.print("\n[bold]bases[/bold]")
        out.print(Padding(_tree(list(space.bases.values()), _base), (0, 0, 0, 2)))
        out.print("\n[bold]points[/bold]")
        out.print(Padding(_tree(list(space.points.values()), _point), (0, 0, 0, 2)))
    out.print("\n[bold]start[/bold]")
    _print_start(out, system)


def _derived(model: Described, coordinates: str | None) -> str:
    if isinstance(model, bl.SymbolicSystem):
        return f"derived {model.equations().route}"
    chosen = coordinates or str(model.run.get("coordinates", "joint"))
    plane = f", in the {model.plane} plane" if model.plane else ""
    return f"in {chosen} coordinates{plane}"


def _described(model: Described) -> list[tuple[str, str]]:
    """What a person wrote: bodies, and joints and the like with their kinds."""
    if isinstance(model, bl.SymbolicSystem):
        bodies = [body.name for body in model.solids]
        bodies += [body.name for body in model.flexible_bodies]
        return [("bodies", listed(bodies))]
    rows = [("bodies", listed(list(model.bodies)))]
    for label, elements in (
        ("joints", model.joints),
        ("drivers", model.drivers),
        ("forces", model.forces),
        ("sensors", model.sensors),
    ):
        if elements:
            rows.append((label, listed([f"{e.name} ({e.kind})" for e in elements.values()])))
    if model.parts:
        rows.append(("parts", listed([f"{p.name} × {p.size}" for p in model.parts.values()])))
    return rows


def _counts(model: Described, system: bl.System) -> list[tuple[str, str]]:
    if isinstance(model, bl.SymbolicSystem):
        return [(name, str(count)) for name, count in model.equations().count().items()]
    names = ("M", "Q", "Phi", "Phi_v", "beta", "gamma", "outputs")
    return [(name, str(system[name].count)) for name in names if name in system]


def _body_tree(model: bl.Model) -> Tree:
    """The bodies, each below the one it is reached from, and those no joint reaches."""
    topology = Topology.of(model)
    parent = topology.parent.tolist()
    names = [topology.graph.bodies[k] for k in range(topology.bodies + 1)]
    drawn = {0: Tree(escape(names[0]), guide_style="dim")}
    while len(drawn) < len(names):
        fresh = [k for k in range(len(names)) if k not in drawn and parent[k] in drawn]
        for k in fresh:
            drawn[k] = drawn[parent[k]].add(_body(model, names[k]))
        if not fresh:
            loose = next(k for k in range(len(names)) if k not in drawn)
            drawn[loose] = drawn[0].add(f"{_body(model, names[loose])} (not connected)")
    return drawn[0]


def _body(model: bl.Model, name: str) -> str:
    body = model.find_body(name)
    markers = f": {', '.join(body.markers)}" if body.markers else ""
    return escape(f"{name}{markers}")


def _parts(system: bl.System) -> list[tuple[str, str]]:
    own = {c.name for c in system.q}
    rows_of = list(system.multipliers[: system.geometric])
    geometric = [name for name in rows_of if not defines(name, own)]
    defining = [name for name in rows_of if defines(name, own)]
    rolling = list(system.multipliers[system.geometric :])
    rows = [
        ("coordinates", listed([c.name for c in system.q])),
        ("constraints", listed(geometric)),
    ]
    if defining:
        rows.append(("definitions", listed(defining)))
    if rolling:
        rows.append(("on velocities", listed(rolling)))
    for label, names in (
        ("inputs", [u.name for u in system.u]),
        ("outputs", [y.name for y in system.y]),
        ("frames", list(system.frames)),
        ("events", list(system.events)),
        ("capabilities", list(system.functions)),
    ):
        if names:
            rows.append((label, listed(names, 40)))
    return rows


def _print_start(out: Any, system: bl.System) -> None:
    assembled = bl.assemble(system)
    speed = bl.assemble_velocity(system, assembled.q)
    table = Table.grid(padding=(0, 3, 0, 0))
    for style in ("cyan", "", ""):
        table.add_column(style=style)
    for k, (c, rate) in enumerate(zip(system.q, system.v, strict=False)):
        table.add_row(
            f"  {escape(c.name)}",
            f"{assembled.q[k]:.6g} {c.unit}".rstrip(),
            f"{escape(rate.name)} {speed[k]:.6g} {rate.unit}".rstrip(),
        )
    out.print(table)
    if system.multipliers:
        out.print(pairs(mobility_rows(bl.redundancy(system, assembled.q, assemble=False))))
    else:
        out.print(pairs([("mobility", str(len(system.v)))]))


def _tree(nodes: Sequence[Any], spelled: Callable[[Any], str]) -> Tree:
    """The nodes below their parents; a parent comes before its children."""
    drawn: dict[Any, Tree] = {}
    root = Tree("")
    for node in nodes:
        text = escape(spelled(node))
        if node.parent is None:
            root = drawn[node] = Tree(text, guide_style="dim")
        else:
            drawn[node] = drawn[node.parent].add(text)
    return root


def _base(base: Any) -> str:
    if base.parent is None:
        return str(base.name)
    rotation = base.rotation
    if hasattr(rotation, "angle"):
        return f"{base.name}: about {'xyz'[rotation.axis]} by {rotation.angle}"
    return f"{base.name}: by a matrix"


def _point(point: Any) -> str:
    if point.parent is None:
        return str(point.name)
    return f"{point.name}: {repr(point.vector).removeprefix('Vector ')}"
