"""Attributes of MJCF elements: defaults by class, angles, and the many ways to write a rotation.

The format is that of MuJoCo (mujoco.readthedocs.io, *XML reference*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from biela.budgets import DEFAULTS, within
from biela.errors import FileError
from biela.model.files.xml_source import Floats, Xml, XmlSource
from biela.model.joints.moves import Rotate, transform
from biela.model.orientation import along
from biela.model.placing import posed
from biela.spelling import nearest

#: How a rotation may be written.
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


@dataclass
class Defaults:
    """Attributes by class and tag; a class within another begins with its attributes."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {"main": {}})

    def read(self, source: XmlSource, element: Xml, inherited: str | None = None) -> None:
        """Take in a <default> and those inside."""
        name = element.attributes.get("class", "main" if inherited is None else "")
        if not name:
            source.fault(element, "a <default> inside of another needs a class")
        if name not in self.classes or inherited is not None:
            above = self.classes.get(inherited or "main", {})
            self.classes[name] = {tag: dict(given) for tag, given in above.items()}
        own = self.classes[name]
        for child in element.children:
            if child.tag != "default":
                own[child.tag] = own.get(child.tag, {}) | child.attributes
        # classes inside begin with them, and so does each element of the class
        within(
            DEFAULTS,
            sum(1 + len(given) for given in own.values()),
            f"{source.name}:{element.line}: a default class has {{}} tags and attributes",
            "leave out what MuJoCo does not know",
            FileError,
        )
        for child in element.all("default"):
            self.read(source, child, name)

    def completed(self, source: XmlSource, element: Xml, childclass: str, tag: str = "") -> Xml:
        """The element with the attributes of its class, or else of the class of its body."""
        name = element.attributes.get("class", childclass)
        if name not in self.classes:
            source.fault(
                element, f"there is no default class {name!r}{nearest(name, self.classes)}"
            )
            return element
        given = dict(self.classes[name].get(tag or element.tag, {}))
        if any(turn in element.attributes for turn in TURNS):
            given = {key: text for key, text in given.items() if key not in TURNS}
        return Xml(element.tag, given | element.attributes, element.line, element.children)


#: Flags that switch forces and constraints off, but for gravity.
_MECHANICS = frozenset(
    ("actuation", "clampctrl", "constraint", "damper", "equality", "frictionloss", "passive",
     "spring")
)  # fmt: skip


@dataclass
class Settings:
    """What <compiler> and <option> say about all elements."""

    degrees: bool = True
    euler: str = "xyz"
    autolimits: bool = True
    from_geoms: str = "auto"
    meshdir: str = ""
    gravity: Floats = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    @classmethod
    def of(cls, source: XmlSource, root: Xml) -> Settings:
        """The settings of a file; the ones that cannot be obeyed are noted."""
        made = cls()
        for element in root.all("compiler"):
            words = ("degree", "radian")
            if "angle" in element.attributes:
                made.degrees = source.choice(element, "angle", "degree", words) == "degree"
            if element.attributes.get("coordinate", "local") != "local":
                source.fault(element, "coordinates other than local are not read")
            made.euler = element.attributes.get("eulerseq", made.euler)
            if len(made.euler) != 3 or set(made.euler.lower()) - set("xyz"):
                source.fault(element, f"eulerseq is three letters of xyz, not {made.euler!r}")
                made.euler = "xyz"
            made.autolimits = element.attributes.get("autolimits", "true") == "true"
            made.from_geoms = element.attributes.get("inertiafromgeom", made.from_geoms)
            made.meshdir = element.attributes.get(
                "meshdir", element.attributes.get("assetdir", made.meshdir)
            )
            for key in ("balanceinertia", "boundmass", "boundinertia", "settotalmass",
                        "inertiagrouprange", "fusestatic"):  # fmt: skip
                if key in element.attributes:
                    source.note(element, f"<compiler> {key} is not obeyed")
        for element in root.all("option"):
            made.gravity = source.numbers(element, "gravity", list(made.gravity))
            for key in ("wind", "density", "viscosity"):
                if source.numbers(element, key, (0.0,), counts=(1, 3)).any():
                    source.note(element, f"<option> {key}: there is no medium in the model")
            for flag in (child for child in element.children if child.tag == "flag"):
                disabled = [key for key, word in flag.attributes.items() if word == "disable"]
                if "gravity" in disabled:
                    made.gravity = np.zeros(3)
                for key in _MECHANICS.intersection(disabled):
                    source.note(flag, f"<flag> {key}: it is not disabled in the model")
        return made

    def angle(self, value: float) -> float:
        """An angle of the file in radians."""
        return math.radians(value) if self.degrees else value

    def pose(self, source: XmlSource, element: Xml) -> Floats:
        """T of pos and a rotation."""
        place = source.numbers(element, "pos", (0.0, 0.0, 0.0))
        return posed([float(x) for x in place], self._rotation(source, element))

    def _rotation(self, source: XmlSource, element: Xml) -> Floats:
        given = [turn for turn in TURNS if turn in element.attributes]
        if len(given) > 1:
            source.fault(element, f"<{element.tag}> is turned by {' and by '.join(given)}")
        if not given:
            return np.eye(3)
        count = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[given[0]]
        values = source.numbers(element, given[0], (0.0,) * count)
        axes = {"quat": values, "axisangle": values[:3], "zaxis": values, "xyaxes": values[:3]}
        if given[0] in axes and not np.linalg.norm(axes[given[0]]):
            source.fault(element, f"<{element.tag}> {given[0]} must not be zero")
            return np.eye(3)
        if given[0] == "quat":
            return quaternion_matrix(values)
        if given[0] == "axisangle":
            return about(values[:3], self.angle(float(values[3])))
        if given[0] == "zaxis":
            return z_towards(values)
        if given[0] == "xyaxes":
            return np.array(along(element.tag, list(np.cross(values[:3], values[3:])),
                                  list(values[:3])).axes)  # fmt: skip
        turns = [Rotate(a.lower(), self.angle(float(v))) for a, v in zip(self.euler, values,
                                                                        strict=True)]  # fmt: skip
        # capital letters turn about the axes of the parent: the last turn is then the outermost
        R = np.eye(3)
        for letter, turn in zip(self.euler, turns, strict=True):
            step = transform([turn])[:3, :3]
            R = R @ step if letter.islower() else step @ R
        return R


def quaternion_matrix(e: Floats) -> Floats:
    """R of Euler parameters of any length, the scalar first."""
    w, v = e[0] / np.linalg.norm(e), e[1:] / np.linalg.norm(e)
    R: Floats = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * skew(v)
    return R


def skew(v: Floats) -> Floats:
    """The matrix of v ×."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def about(axis: Floats, angle: float) -> Floats:
    """R of a turn about an axis (Rodrigues)."""
    S = skew(axis / np.linalg.norm(axis))
    R: Floats = np.eye(3) + math.sin(angle) * S + (1 - math.cos(angle)) * S @ S
    return R


def z_towards(direction: Floats) -> Floats:
    """The shortest turn that brings z into a direction."""
    w = direction / np.linalg.norm(direction)
    axis = np.cross([0.0, 0.0, 1.0], w)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-10:
        return np.eye(3) if w[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return about(axis, math.atan2(sine, float(w[2])))
