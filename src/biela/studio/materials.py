"""Colours of bodies that a URDF file gives: the material of the first shape of each link.

A model of bodies has none: colours say nothing about how a mechanism moves.
"""

from __future__ import annotations

import math
from pathlib import Path

from biela.model.files.xml_source import Xml, XmlSource

__all__ = ["colours_of"]


def colours_of(path: Path) -> dict[str, str]:
    """Colours "#rrggbb" by the name of the link; none of files that are no URDF.

    Materials may be named first and used by their names later; ``rgba`` goes from 0 to 1, and what
    is no such colour is left out.

    Raises:
        FileError: The file cannot be read.
    """
    if path.suffix.lower() not in (".urdf", ".xml"):
        return {}
    robot = XmlSource.of(path).tree()
    if robot.tag != "robot":
        return {}
    materials = [element for element in robot.walk() if element.tag == "material"]
    named = {m.attributes.get("name", ""): _colour(m) for m in materials if _colour(m)}
    found: dict[str, str] = {}
    for link in robot.all("link"):
        for visual in link.all("visual"):
            material = visual.first("material")
            if material is not None:
                colour = _colour(material) or named.get(material.attributes.get("name", ""), "")
                if colour:
                    found.setdefault(link.attributes.get("name", ""), colour)
    return found


def _colour(material: Xml) -> str:
    """The colour of a material that has one of its own."""
    element = material.first("color")
    try:
        parts = [float(text) for text in element.attributes["rgba"].split()] if element else []
    except (KeyError, ValueError):
        return ""
    if len(parts) < 3 or not all(math.isfinite(part) for part in parts):
        return ""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in parts[:3])
