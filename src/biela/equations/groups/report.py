"""The structure of a model as a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biela.equations.groups.group import Group
    from biela.equations.groups.structure import Structure

__all__ = ["report"]

#: Groups, names and levels that are listed one by one.
_LISTED = 40
_WORDS = {"plane": "in a plane", "sphere": "about a point", "space": "in space"}


def report(structure: Structure) -> str:
    """Groups in order, kinds, levels, what is redundant, passive or not driven."""
    s = structure
    count = len(s.groups)
    where = f" in the {s.plane} plane" if s.plane else ""
    lines = [
        f"{s.model}: {_many(s.bodies, 'body', 'bodies')}{where}, {_many(count, 'group')} of "
        f"{_many(len(s.kinds), 'kind')} in {_many(len(s.levels), 'level')}"
    ]
    if s.independent:
        lines.append(f"taken as known: {', '.join(s.independent)}")
    if s.one_group is not None:
        n = s.bodies
        lines.append(f"does not split: one group of {n} bodies, because {s.one_group}")
    lines += [f"  {k:>4}  {_group(s.groups[k])}" for k in range(min(count, _LISTED))]
    if count > _LISTED:
        lines.append(f"        … and {count - _LISTED:,} more")
    if s.kinds:
        lines.append("kinds")
    lines += [
        f"  {_many(len(s.kinds[label]), 'group'):>12}  {table.name} "
        f"({_WORDS[table.example.space]}), {label}"
        for label, table in list(s.tables.items())[:_LISTED]
    ]
    if len(s.levels) > 1 and count <= _LISTED:
        levels = " | ".join(" ".join(str(k) for k in level) for level in s.levels)
        lines.append(f"levels: {levels}")
    if s.redundant_count:
        lines.append(f"redundant: {_listed(s.redundant, s.redundant_count)}")
    for freedom in s.freedoms[:_LISTED]:
        text = f"not driven: {_listed(freedom.bodies)} can move"
        if freedom.coordinates:
            text += f"; a driver could give {_listed(freedom.coordinates)}"
        lines.append(text)
    return "\n".join(lines)


def _group(group: Group) -> str:
    text = f"{group.name}: {_listed(group.bodies)}"
    if group.known:
        text += f" after {_listed(group.known)}"
    text += f" by {_listed(group.joints)}"
    if group.independent:
        text += f", with {_listed(group.independent)} known"
    for spin in group.locked:
        text += f"; passive spin of {', '.join(spin.bodies)} held"
    if group.redundant:
        text += f"; {len(group.redundant)} redundant"
    return text


def _listed(names: Iterable[str], count: int | None = None) -> str:
    all_names = list(names)
    shown = ", ".join(all_names[:12])
    rest = (len(all_names) if count is None else count) - min(len(all_names), 12)
    return shown + (f" … and {rest:,} more" if rest > 0 else "")


def _many(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
