"""The names that a model file gives, gathered before its tables are checked against them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from biela.errors import ModelError, ParseError
from biela.model.bodies import GROUND
from biela.model.element import kind_named
from biela.model.joints import Joint
from biela.model.parameters import Parameters
from biela.spelling import few_guesses, nearest


@dataclass(frozen=True)
class Known:
    """What texts and references of a file may use.

    Attributes:
        parameters: By name, in SI units; one that cannot be computed stands with 1.
        bodies: The markers of each body that the file names; the ground is one.
        joints: The coordinates of each joint; None if its kind is unknown.
        parts: The parts, inside of which names are not looked up here.
    """

    parameters: Parameters = field(default_factory=Parameters)
    bodies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    joints: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()

    def place_fault(self, text: str) -> str:
        """What is wrong with a body or "body.marker"; "" if nothing is."""
        if text in self.bodies or self._in_part(text):
            return ""
        body, _, marker = text.rpartition(".")
        if body not in self.bodies:
            what = "body" if "." not in text else "body or marker"
            return f"there is no {what} {text!r}{nearest(text, self._places(text))}"
        if marker not in self.bodies[body]:
            if not self.bodies[body]:
                return f"body {body} has no marker {marker!r}; there is none on it"
            return f"body {body} has no marker {marker!r}{nearest(marker, self.bodies[body])}"
        return ""

    def _places(self, text: str) -> Iterator[str]:
        yield from self.bodies
        if "." in text:
            for body, markers in self.bodies.items():
                yield from (f"{body}.{marker}" for marker in sorted(markers))

    def body_fault(self, name: str) -> str:
        """What is wrong with the name of a body."""
        if name in self.bodies or self._in_part(name):
            return ""
        return f"there is no body {name!r}{nearest(name, self.bodies)}"

    def joint_fault(self, name: str) -> str:
        """What is wrong with the name of a joint."""
        if name in self.joints or self._in_part(name):
            return ""
        return f"there is no joint {name!r}{nearest(name, self.joints)}"

    def coordinate_fault(self, text: str) -> str:
        """What is wrong with a joint, or "joint.coordinate"."""
        if self._in_part(text):
            return ""
        joint, _, coordinate = text.rpartition(".")
        if text in self.joints:
            joint, coordinate = text, ""
        if joint not in self.joints:
            name = joint or text
            return f"there is no joint {name!r}{nearest(name, self.joints)}"
        there = self.joints[joint]
        if there is None:  # its kind is told to be wrong; that is enough
            return ""
        if coordinate and coordinate not in there:
            return f"joint {joint} has no coordinate {coordinate!r}{nearest(coordinate, there)}"
        if not coordinate and len(there) != 1:
            several = " or ".join(f"{joint}.{name}" for name in there)
            return f"joint {joint} has {len(there)} coordinates{'; write ' * bool(there)}{several}"
        return ""

    def _in_part(self, name: str) -> bool:
        return name.partition(".")[0].partition("[")[0] in self.parts


def known_in(document: Mapping[str, Any]) -> Known:
    """The names of a document, whatever is wrong with the rest of it."""
    parameters = Parameters()
    with few_guesses(0):  # what is wrong is told when the tables are checked
        for name, given in _table(document, "parameters").items():
            try:
                parameters.define(name, given)
            except (ModelError, ParseError):
                parameters[name] = 1.0
        joints = {name: _coordinates(joint) for name, joint in _table(document, "joints").items()}
    bodies: dict[str, frozenset[str]] = {GROUND: frozenset()}
    for name, body in _table(document, "bodies").items():
        bodies[name] = frozenset(_table(body, "markers"))
    return Known(
        parameters,
        bodies,
        joints,
        frozenset(_table(document, "parts")),
    )


def _table(data: object, key: str) -> Mapping[str, Any]:
    found = data.get(key) if isinstance(data, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _coordinates(joint: object) -> tuple[str, ...] | None:
    kind = joint.get("kind") if isinstance(joint, Mapping) else None
    if not isinstance(kind, str):
        return None
    try:
        cls = kind_named("joint", kind)
    except ModelError:
        return None
    return tuple(c.name for c in cls.coordinates) if issubclass(cls, Joint) else ()
