"""A glance at results: one line for the terminal, a small table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from biela.results.units import shown

if TYPE_CHECKING:
    from biela.results.results import Results

__all__ = ["html", "text"]

_KINDS = {
    "q": "coordinates",
    "v": "velocities",
    "a": "accelerations",
    "lam": "multipliers",
    "u": "inputs",
    "y": "outputs",
}
_SHOWN = 8
_CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"


def text(results: Results) -> str:
    """One line: name, span, and the groups with their sizes."""
    groups = ", ".join(f"{group} {len(channels)}" for group, channels in results.groups.items())
    parts = [_span(results), groups]
    if results.monitors:
        parts.append(f"monitors {len(results.monitors)}")
    if results.interrupted:
        parts.append("interrupted")
    return f"Results({results.name!r}: {'; '.join(part for part in parts if part)})"


def html(results: Results) -> str:
    """A table of the groups, monitors, events and statistics; computes nothing that is lazy."""
    rows = [("time", escape(_span(results)))]
    for group, channels in results.groups.items():
        kind = f" {_KINDS[group]}" if group in _KINDS else ""
        listed = _listed(list(zip(channels.names, channels.units, strict=True)))
        rows.append((f"<code>{escape(group)}</code>{kind}", listed))
    if results.monitors:
        monitors = [(name, results.unit(name)) for name in results.monitors]
        rows.append(("monitors", _listed(monitors)))
    if results.events:
        events = [(f"{event.name} at {event.time:.4g} s", "") for event in results.events]
        rows.append(("events", _listed(events)))
    if results.statistics is not None:
        rows += [(escape(label), escape(figure)) for label, figure in results.statistics.rows()]
    cells = "".join(
        f'<tr><th style="{_CELL}">{head}</th><td style="{_CELL}">{body}</td></tr>'
        for head, body in rows
    )
    note = " (interrupted)" if results.interrupted else ""
    return f"<div><strong>{escape(results.name)}</strong>{note}<table>{cells}</table></div>"


def _span(results: Results) -> str:
    count = f"{len(results)} instant{'s' if len(results) > 1 else ''}"
    return f"{count} from {results.t[0]:g} s to {results.t[-1]:g} s"


def _listed(channels: list[tuple[str, str]]) -> str:
    """The first few names with their units, and how many more there are."""
    items = [
        f"{escape(name)}&nbsp;[{escape(shown(unit))}]" if unit else escape(name)
        for name, unit in channels[:_SHOWN]
    ]
    if len(channels) > _SHOWN:
        items.append(f"… {len(channels) - _SHOWN} more")
    return ", ".join(items)
