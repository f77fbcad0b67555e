"""The joints of a model in a table: what they join, and their limits; the masses of its bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.markup import escape
from rich.table import Table

import biela as bl
from biela.model.joints import Joint

_HEAD = ("joint", "kind", "from", "to", "limits", "velocity", "effort")


def has_limits(model: bl.Model) -> bool:
    """Whether a joint has limits of any kind."""
    return any(
        joint.limits or joint.velocity_limits or joint.effort_limits
        for joint in model.joints.values()
        if isinstance(joint, Joint)
    )


def joint_table(model: bl.Model) -> Table:
    """A row for each coordinate of each joint that moves."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for k, head in enumerate(_HEAD):
        table.add_column(f"  {head}" if not k else head, style="cyan" if not k else "")
    for joint in model.joints.values():
        if isinstance(joint, Joint) and joint.coordinates:
            for name, *cells in _rows(model, joint):
                table.add_row(f"  {escape(name)}", *map(escape, cells))
    return table


def _rows(model: bl.Model, joint: Joint) -> Iterator[tuple[str, ...]]:
    for k, coordinate in enumerate(joint.coordinates):
        unit = coordinate.unit
        dimension = {"rad": "angle", "m": "length"}.get(unit, "any")
        several = len(joint.coordinates) > 1
        pair = joint.limits.get(coordinate.name)
        low, high = (model.number(x, dimension) for x in pair) if pair else (math.nan, math.nan)
        speed = joint.velocity_limits.get(coordinate.name)
        effort = joint.effort_limits.get(coordinate.name)
        force = {"rad": "N m", "m": "N"}.get(unit, "")
        yield (
            f"{joint.name}.{coordinate.name}" if several else joint.name,
            joint.kind if not k else "",
            joint.i.body if not k else "",
            joint.j.body if not k else "",
            f"{low:.4g} … {high:.4g} {unit}" if pair else "",
            "" if speed is None else f"{model.number(speed, 'any'):.4g} {unit}/s",
            "" if effort is None else f"{model.number(effort, 'any'):.4g} {force}",
        )


def masses(model: bl.Model) -> list[tuple[str, str]]:
    """The mass of each body that has one, and of all."""
    found = {name: model.number(b.inertia.mass, "mass") for name, b in model.bodies.items()}
    rows = [(name, f"{mass:.4g} kg") for name, mass in found.items() if mass]
    return [*rows, ("all", f"{sum(found.values()):.4g} kg")]
