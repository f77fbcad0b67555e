"""A glance at a model: a small table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from biela.model.model import Model

__all__ = ["html"]

#: Names that are listed; more are counted.
_SHOWN: Final = 8
_CELL: Final = "text-align:left;vertical-align:top;padding:2px 12px 2px 0"


def html(model: Model) -> str:
    """What the model consists of; nothing is derived or computed."""
    rows = [
        ("bodies", list(model.bodies)),
        ("joints", [f"{e.name} ({e.kind})" for e in model.joints.values()]),
        ("drivers", [f"{e.name} ({e.kind})" for e in model.drivers.values()]),
        ("forces", [f"{e.name} ({e.kind})" for e in model.forces.values()]),
        ("sensors", [f"{e.name} ({e.kind})" for e in model.sensors.values()]),
        ("parts", [f"{part.name} × {part.size:,}" for part in model.parts.values()]),
        ("parameters", [f"{name} = {value:g}" for name, value in model.parameters.items()]),
    ]
    cells = "".join(
        f'<tr><th style="{_CELL}">{what}</th><td style="{_CELL}">{_listed(names)}</td></tr>'
        for what, names in rows
        if names
    )
    plane = f", in the {model.plane} plane" if model.plane else ""
    told = f"<p>{escape(model.description)}</p>" if model.description else ""
    return f"<div><strong>{escape(model.name)}</strong>{plane}{told}<table>{cells}</table></div>"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f", … {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else ""
    return escape(", ".join(every[:_SHOWN]) + more)
