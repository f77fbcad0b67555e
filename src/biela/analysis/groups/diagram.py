"""The group diagram on paper: a box a group, an arrow from what it rests on, the ground below."""

from __future__ import annotations

from pathlib import Path

from biela.equations.groups.group import Group
from biela.equations.groups.structure import Structure
from biela.results.layered_drawing import LARGEST, Box, draw_layers

__all__ = ["draw_groups"]

#: Bodies and joints that a box names.
_NAMED = 6


def draw_groups(structure: Structure, path: str | Path) -> Path:
    """Draw the groups in columns by level; those of one kind have one colour.

    The format is that of the suffix.  Of many groups the first ones are drawn.

    Raises:
        ResultsError: There are no groups, or the file cannot be written.
    """
    shown = structure.groups[:LARGEST]
    sorts = {kind: k for k, kind in enumerate(structure.kinds)}
    boxes = [
        Box(
            f"{number}: {_short(group)}",
            _lines(group),
            group.level,
            group.after,
            sorts[group.kind],
            "ground" in group.known_in_order,
        )
        for number, group in enumerate(shown)
    ]
    title = structure.model
    if len(shown) < len(structure.groups):
        title += f" (the first {len(shown)} of {len(structure.groups):,} groups)"
    return draw_layers(boxes, path, title=title)


def _short(group: Group) -> str:
    return group.name.partition(" (")[0]


def _lines(group: Group) -> tuple[str, ...]:
    lines = [*_listed(group.bodies)]
    if group.drivers or group.independent:
        lines.append("driven by " + ", ".join(_listed((*group.drivers, *group.independent))))
    if group.locked:
        lines.append(f"{len(group.locked)} passive spin held")
    if group.redundant:
        lines.append(f"{len(group.redundant)} redundant")
    return tuple(lines)


def _listed(names: tuple[str, ...]) -> list[str]:
    if len(names) <= _NAMED:
        return list(names)
    return [*names[:_NAMED], f"… {len(names) - _NAMED} more"]
