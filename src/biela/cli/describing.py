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
from biela.cli.models import model_in
from biela.cli.running import mobility_rows
from biela.cli.tables import console, listed, pairs


def info(file: Path, model_name: str | None, trees: bool) -> None:
    """Print what there is to know of the model of a file.

    Raises:
        BielaError: There is no model, or it cannot be assembled; what is known is printed first.
    """
    out = console()
    model = model_in(file, model_name)
    with out.status(f"deriving {model.name}"):
        equations = model.equations()
    system = equations.system
    out.print(f"[bold]{escape(model.name)}[/bold], derived {escape(str(equations.route))}")
    bodies = [body.name for body in model.solids]
    bodies += [body.name for body in model.flexible_bodies]
    out.print(pairs(_parts(system, bodies)))
    if system.p:
        out.print("\n[bold]parameters[/bold]")
        out.print(pairs((p.name, f"{p.value:g}") for p in system.p))
    out.print("\n[bold]operations[/bold]")
    out.print(pairs((name, str(count)) for name, count in equations.count().items()))
    if trees:
        space = model.space
        out.print("\n[bold]bases[/bold]")
        out.print(Padding(_tree(list(space.bases.values()), _base), (0, 0, 0, 2)))
        out.print("\n[bold]points[/bold]")
        out.print(Padding(_tree(list(space.points.values()), _point), (0, 0, 0, 2)))
    out.print("\n[bold]start[/bold]")
    _print_start(out, system)


def _parts(system: bl.System, bodies: Sequence[str]) -> list[tuple[str, str]]:
    geometric = list(system.multipliers[: system.geometric])
    rolling = list(system.multipliers[system.geometric :])
    rows = [
        ("bodies", listed(bodies)),
        ("coordinates", listed([c.name for c in system.q])),
        ("constraints", listed(geometric)),
    ]
    if rolling:
        rows.append(("on velocities", listed(rolling)))
    for label, names in (
        ("inputs", [u.name for u in system.u]),
        ("outputs", [y.name for y in system.y]),
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
