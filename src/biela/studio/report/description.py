"""A model in tables: its bodies, joints, drivers, forces, sensors and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import biela as bl
from biela.model.element import Element
from biela.model.files.toml_text import value_text
from biela.model.files.writing import plain
from biela.model.joints import Connection, Joint
from biela.model.joints.joint import BY_COORDINATE
from biela.model.markers import Marker
from biela.model.topology.planarity import planar_removes
from biela.results.units import shown
from biela.studio.report.fragments import number, table, words
from biela.studio.topology import Describable

__all__ = ["description_parts", "figures_of"]


def description_parts(model: Describable) -> Mapping[str, str]:
    """The tables by title, those left out that would be empty."""
    if isinstance(model, bl.SymbolicSystem):
        return _symbolic(model)
    found = {
        "Bodies": _bodies(model),
        "Joints": _joints(model),
        "Drivers": _elements(model.drivers),
        "Forces": _elements(model.forces),
        "Sensors": _elements(model.sensors),
        "Parts": table(
            ("part", "model", "instances"),
            [(part.name, part.model.name, part.size) for part in model.parts.values()],
        )
        if model.parts
        else "",
        "Parameters": _parameters(model),
    }
    for part in model.parts.values():
        found[f"Bodies of {part.name}"] = _bodies(part.model)
        found[f"Joints of {part.name}"] = _joints(part.model)
        found[f"Drivers of {part.name}"] = _elements(part.model.drivers)
        found[f"Forces of {part.name}"] = _elements(part.model.forces)
    return {title: html for title, html in found.items() if html}


def figures_of(model: Describable) -> list[tuple[str, str]]:
    """What a model is, in a few lines: gravity, plane, masses."""
    if isinstance(model, bl.SymbolicSystem):
        return [("written in", "symbols")]
    gravity = ", ".join(number(model.number(g, "acceleration")) for g in model.gravity)
    mass = sum(model.number(body.inertia.mass, "mass") for body in model.bodies.values())
    rows = [
        ("moves in", f"the {model.plane} plane" if model.plane else "space"),
        ("gravity", f"({gravity}) m/s²"),
    ]
    if model.bodies and not model.parts:
        rows.append(("mass of all bodies", f"{number(mass)} kg"))
    return rows


# ------------------------------------------------------------------------- bodies and joints


def _bodies(model: bl.Model) -> str:
    rows = []
    for body in model.bodies.values():
        centre = ", ".join(number(model.number(x, "length")) for x in body.inertia.com)
        moments = [number(model.number(x, "inertia")) for x in body.inertia.moments]
        products = moments[3:] if any(x != "0" for x in moments[3:]) else []
        shapes = ", ".join(dict.fromkeys(shape.kind for shape in body.shapes))
        rows.append(
            (
                body.name,
                model.number(body.inertia.mass, "mass"),
                f"({centre})",
                f"({', '.join([*moments[:3], *products])})",
                shapes,
                ", ".join(body.markers),
            )
        )
    if not rows:
        return ""
    heads = ("body", "mass [kg]", "centre of mass [m]", "inertia [kg·m²]", "shapes", "markers")
    return table(heads, rows) + words(
        "Inertia about the centre of mass, along the axes of the body: xx, yy, zz, and where they "
        "are not zero xy, xz, yz.",
        "caption",
    )


def _joints(model: bl.Model) -> str:
    rows = [_joint(model, joint) for joint in model.joints.values()]
    removes = f"removes in the {model.plane} plane" if model.plane else "removes"
    heads = ("joint", "kind", "from", "to", removes, "starts at", "settings")
    return table(heads, rows) if rows else ""


def _joint(model: bl.Model, joint: Connection) -> tuple[str | int, ...]:
    if not isinstance(joint, Joint):
        return joint.name, joint.kind, "", "", joint.removes, "", _settings(joint)
    ends = (_place(joint.i), _place(joint.j))
    removes = planar_removes(model, joint, model.plane) if model.plane else joint.removes
    return (joint.name, joint.kind, *ends, removes, _start(model, joint), _settings(joint))


def _start(model: bl.Model, joint: Joint) -> str:
    units = {coordinate.name: coordinate.unit for coordinate in joint.coordinates}
    several = len(units) > 1
    return ", ".join(
        f"{name + ' = ' if several else ''}{number(model.number(value))} {units.get(name, '')}"
        for name, value in joint.start.items()
    )


# -------------------------------------------------------------------------------- elements


def _parameters(model: bl.Model) -> str:
    rows = [
        (name, value, shown(model.parameter_units.get(name, "")))
        for name, value in model.parameters.items()
    ]
    if not rows:
        return ""
    html = table(("parameter", "value", "unit"), rows)
    if all(row[2] for row in rows):
        return html
    return html + words("Values without a unit are pure numbers, or given in SI units.", "caption")


def _elements(elements: Mapping[str, Element]) -> str:
    rows = [(e.name, e.kind, _settings(e)) for e in elements.values()]
    return table(("name", "kind", "settings"), rows) if rows else ""


def _settings(element: Element) -> str:
    """What is set, as a model file has it; markers of joints have columns of their own."""
    given: dict[str, Any] = {}
    for name, item in element.settings().items():
        value = getattr(element, name)
        if value is None or (isinstance(element, Joint) and name in ("i", "j")):
            continue
        if isinstance(value, Marker):
            given[name] = _place(value)
        elif not _is_default(item.default, value):
            given[name] = plain(value)
    if isinstance(element, Joint):
        for name in BY_COORDINATE[1:]:
            given |= {name: plain(getattr(element, name))} if getattr(element, name) else {}
    return ", ".join(f"{name} = {_text(value)}" for name, value in given.items())


def _is_default(default: Any, value: Any) -> bool:
    return type(default) is type(value) and bool(default == value)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else value_text(value)
    return text if len(text) <= 160 else f"{text[:157]}…"


def _place(marker: Marker) -> str:
    return marker.label if marker.name else marker.body


# --------------------------------------------------------------------------------- symbols


def _symbolic(model: bl.SymbolicSystem) -> Mapping[str, str]:
    system = model.equations().system
    solids = [(body.name, "rigid", str(body.mass)) for body in model.solids]
    solids += [(body.name, "flexible", "") for body in model.flexible_bodies]
    found = {
        "Bodies": table(("body", "kind", "mass"), solids) if solids else "",
        "Coordinates": _quantities(system.q),
        "Inputs": _quantities(system.u),
        "Outputs": _quantities(system.y),
        "Parameters": _quantities(system.p),
    }
    return {title: html for title, html in found.items() if html}


def _quantities(entries: Iterable[Any]) -> str:
    rows = [(entry.name, entry.unit, entry.value) for entry in entries]
    return table(("name", "unit", "value"), rows) if rows else ""
