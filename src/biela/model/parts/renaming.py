"""The texts and elements of a model as they read inside another one.

A part brings its own names: "crank" becomes "arm.crank", and its parameter r becomes arm_r in every
text it stands in.  Names are replaced as whole words only, and never where a unit of the same name
stands: in "2*m + 5 mm + 1 m" only the first m is a parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from biela.model.element import Element
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.orientation import Orientation
from biela.model.quantities.unit_text import UnitReader
from biela.model.quantities.values import SiText

T = TypeVar("T", bound=Element)

#: Fields that name other elements.
_REFERENCES = ("coordinate", "joint", "body")
#: Fields that are words of biela, not of the model.
_WORDS = ("text", "flag")
#: Fields called a text that are formulas, by category and kind.
_FORMULAS = {("sensor", "expression"): ("text",), ("joint", "point_on_curve"): ("x", "y", "z")}
#: Marker fields that stand for the ground, or its axes, if they are left out.
_GROUND_IF_NONE = ("i", "along")


class _Names(UnitReader):
    """Finds the names in a text that are no units."""

    def places(self) -> list[tuple[int, int]]:
        """Where they stand."""
        found = []
        after_value = False
        while self.here.kind != "end":
            token = self.here
            if after_value and self._is_unit(self.at):
                self._unit()
                after_value = False
                continue
            if token.kind == "name":
                found.append((token.start, token.end))
            after_value = token.kind == "number" or token.text in ("pi", ")")
            self.at += 1
        return found


@lru_cache(maxsize=4096)
def _name_places(text: str) -> tuple[tuple[int, int], ...]:
    """Where names stand, the last first: instances of a part ask the same a thousand times."""
    return tuple(reversed(_Names(text, (), ("t",)).places()))


def renamed_text(text: str, names: Mapping[str, str], prefix: str = "") -> str:
    """A text with parameters replaced by others, or by texts in parentheses.

    With a ``prefix``, names with a dot are coordinates and get it.

    >>> renamed_text("2*m + 5 mm", {"m": "arm_m"})
    '2*arm_m + 5 mm'
    """
    if not names and not prefix:
        return text
    for start, end in _name_places(text):
        name = text[start:end]
        known = names.get(name, prefix + name if prefix and "." in name else name)
        text = f"{text[:start]}{known}{text[end:]}"
    return text


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value, or values in lists and tables, with parameters replaced."""
    if not names:
        return value
    if isinstance(value, SiText):
        return value.changed(lambda text: renamed_text(text, names))
    if isinstance(value, str):
        return renamed_text(value, names)
    if isinstance(value, Mapping):
        return {key: renamed(entry, names) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(renamed(entry, names) for entry in value)
    return value


def renamed_law(law: Law, names: Mapping[str, str]) -> Law:
    """A law with parameters replaced in the texts it holds."""
    if not law.parameters & names.keys():
        return law
    assert dataclasses.is_dataclass(law)
    changes = {
        field.name: renamed(getattr(law, field.name), names)
        for field in dataclasses.fields(law)
        if field.init
    }
    return dataclasses.replace(law, **changes)


def renamed_orientation(orientation: Orientation, names: Mapping[str, str]) -> Orientation:
    """An orientation whose angles have their parameters replaced."""
    if not orientation.turns or not names:
        return orientation
    turns = tuple((axis, renamed(angle, names)) for axis, angle in orientation.turns)
    return Orientation(orientation.axes, turns)


def moved_element(
    element: T,
    prefix: str,
    names: Mapping[str, str],
    move: Callable[[Marker], Marker],
    ground: Marker | None,
) -> T:
    """An element of a part as it reads in the host.

    Args:
        element: A joint, driver, force or sensor of the part.
        prefix: What goes before the names of the part.
        names: Parameters of the part, and what stands for them.
        move: Takes markers of the part to those of the host.
        ground: The frame of the part's ground, for what is seen from there if no marker is given;
            None where that is the ground of the host.
    """
    changes: dict[str, Any] = {"name": prefix + element.name}
    described = element.settings()
    formulas = _FORMULAS.get((element.category, element.kind), ())
    for field in dataclasses.fields(element):
        value = getattr(element, field.name)
        if field.name == "name":
            continue
        dimension = described[field.name].metadata["dimension"] if field.name in described else ""
        if dimension == "marker":
            if value is not None:
                changes[field.name] = move(value)
            elif ground is not None and field.name in _GROUND_IF_NONE:
                changes[field.name] = ground
        elif field.name in formulas:
            changes[field.name] = renamed_text(value, names, prefix)
        elif value is None or dimension in _WORDS:
            continue
        elif dimension in _REFERENCES:
            changes[field.name] = prefix + value
        elif dimension == "law":
            changes[field.name] = renamed_law(value, names)
        elif names:
            changes[field.name] = renamed(value, names)
    return dataclasses.replace(element, **changes)
