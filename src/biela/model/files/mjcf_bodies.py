"""The tree of bodies of an MJCF file: bodies, their mass, joints and sites.

A body with the joints J₁ … Jₙ has the pose T_parent T_body J₁(q₁) … Jₙ(qₙ), each joint about its
own place and axis in the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from biela.budgets import MJCF_JOINTS, within
from biela.errors import FileError, ModelError
from biela.model.bodies import GROUND, Body, Inertia
from biela.model.element import plain_name
from biela.model.files.mjcf_attributes import Defaults, Settings
from biela.model.files.mjcf_geoms import Geoms
from biela.model.files.urdf_building import free_name, inertia_of
from biela.model.files.xml_source import Floats, Xml, XmlSource
from biela.model.markers import Marker
from biela.model.mass_properties import MassProperties
from biela.model.model import Model
from biela.model.orientation import along, by_rows
from biela.model.shapes import Shape

#: Kinds of joints, and their coordinate if there is one.
_KINDS: dict[str, tuple[str, str | None]] = {
    "hinge": ("revolute", "angle"),
    "slide": ("prismatic", "displacement"),
    "ball": ("spherical", None),
    "free": ("free", None),
}
_INSIDE = ("body", "frame", "joint", "freejoint", "geom", "site", "inertial")


@dataclass
class Known:
    """A joint of the file: its coordinate in the model, if it has one, and where that starts."""

    coordinate: str | None
    ref: float


@dataclass
class MjcfBodies:
    """Adds the bodies of a file to a model, and remembers where they and their joints are."""

    source: XmlSource
    model: Model
    settings: Settings
    defaults: Defaults
    geoms: Geoms
    #: By their names in the file.
    bodies: dict[str, Body] = field(default_factory=dict)
    joints: dict[str, Known] = field(default_factory=dict)
    sites: dict[str, Marker] = field(default_factory=dict)
    #: Pose of each body of the model in the pose of the file.
    poses: dict[str, Floats] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    def add_world(self, world: Xml) -> None:
        """All that is in <worldbody>."""
        ground = self.model.ground
        self.bodies["world"] = ground
        self.poses[GROUND] = np.eye(4)
        self._fill(world, ground, "main")

    # --------------------------------------------------------------------- bodies

    def _inside(
        self, element: Xml, frame: Floats, childclass: str
    ) -> Iterator[tuple[Xml, Floats, str]]:
        """The children of a body, those in a <frame> with its pose and class."""
        for child in element.children:
            if child.tag == "frame":
                pose = frame @ self.settings.pose(self.source, child)
                inner = child.attributes.get("childclass", childclass)
                yield from self._inside(child, pose, inner)
            elif child.tag in _INSIDE:
                yield child, frame, childclass
            else:
                self.source.note(child, f"<{child.tag}> is not read")

    def _fill(self, element: Xml, body: Body, childclass: str) -> None:
        """Shapes, sites and the bodies on a body; its joints are made already."""
        children = list(self._inside(element, np.eye(4), childclass))
        weighed = body.name != GROUND and self._from_geoms(element)
        shapes: list[Shape] = []
        for child, frame, cls in children:
            if child.tag == "geom":
                geom = self.defaults.completed(self.source, child, cls)
                shape = self.geoms.shape(geom, frame, weighed)
                if shape is not None:
                    shapes.append(shape)
            elif child.tag == "site":
                self._site(body, self.defaults.completed(self.source, child, cls), frame)
        body.shapes = (*body.shapes, *shapes)
        if body.name != GROUND:
            self._weigh(element, body, shapes if weighed else [])
        for child, frame, cls in children:
            if child.tag == "body":
                self._body(child, body, frame, cls)

    def _from_geoms(self, element: Xml) -> bool:
        word = self.settings.from_geoms
        return word == "true" or (word == "auto" and element.first("inertial") is None)

    def _body(self, element: Xml, parent: Body, frame: Floats, childclass: str) -> None:
        cls = element.attributes.get("childclass", childclass)
        name = element.attributes.get("name", "")
        own = self.usable(name, "body", element)
        pose = frame @ self.settings.pose(self.source, element)
        joints = [
            (self.defaults.completed(self.source, child, inner, "joint"), placed)
            for child, placed, inner in self._inside(element, np.eye(4), cls)
            if child.tag in ("joint", "freejoint")
        ]
        within(
            MJCF_JOINTS,
            len(joints),
            f"{self.source.name}:{element.line}: body {own} has {{}} joints",
            "give it three to move and three to turn, or leave some out",
            FileError,
        )
        for key in ("gravcomp", "mocap"):
            if element.attributes.get(key, "0") not in ("0", "false"):
                self.source.note(element, f"{key} of a body is not in the model")
        at = self.poses[parent.name] @ pose
        before, T = parent, pose
        for k, (joint, placed) in enumerate(joints):
            last = k == len(joints) - 1
            given = joint.attributes.get("name", "")
            label = self.usable(given, f"{own}_joint", joint)
            if given and given != label:
                self.model.aliases["joint", given] = label
            after = self.model.body(own if last else self._free(f"{own}_{label}", label))
            self.poses[after.name] = at
            self._joint(joint, label, before, T @ placed, after, placed)
            before, T = after, np.eye(4)
        if not joints:
            before = self.model.body(own)
            self.poses[own] = at
            label = self._free(f"{own}_fixed")
            self.model.joint("fixed", label, _marker(parent, pose), _marker(before, np.eye(4)))
        if name:
            self.bodies[name] = before
        if name and name != own:
            self.model.aliases["body", name] = own
        self._fill(element, before, cls)

    def _weigh(self, element: Xml, body: Body, shapes: list[Shape]) -> None:
        inertial = element.first("inertial")
        if not self._from_geoms(element) and inertial is not None:
            body.inertia = self._inertial(inertial)
            return
        try:
            parts = [shape.mass_properties() for shape in shapes]
            if parts:
                total = sum(parts[1:], parts[0])
                body.inertia = inertia_of(total.mass, total.com, total.inertia)
        except ModelError as error:
            self.source.fault(element, str(error))

    def _inertial(self, element: Xml) -> Inertia:
        source = self.source
        T = self.settings.pose(source, element)
        xx, yy, zz = source.numbers(element, "diaginertia", (0.0, 0.0, 0.0))
        full = source.numbers(element, "fullinertia", (xx, yy, zz, 0.0, 0.0, 0.0))
        xx, yy, zz, xy, xz, yz = full
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mass, tensor = source.number(element, "mass"), T[:3, :3] @ I @ T[:3, :3].T
        try:
            MassProperties(mass, T[:3, 3], tensor)
        except ModelError as error:
            source.fault(element, str(error))
        return inertia_of(mass, T[:3, 3], tensor)

    def _site(self, body: Body, site: Xml, frame: Floats) -> None:
        name = site.attributes.get("name", "")
        if not name:
            return
        marker = _marker(body, frame @ self.settings.pose(self.source, site))
        self.sites[name] = body.named(marker, plain_name(name))

    # --------------------------------------------------------------------- joints

    def _joint(
        self, joint: Xml, label: str, before: Body, T: Floats, after: Body, within: Floats
    ) -> None:
        source = self.source
        kind = "free" if joint.tag == "freejoint" else source.choice(joint, "type", "hinge",
                                                                     list(_KINDS))  # fmt: skip
        made, coordinate = _KINDS[kind]
        if kind == "free":
            self._float(joint, label, before, after)
            return
        axis = source.numbers(joint, "axis", (0.0, 0.0, 1.0))
        if coordinate is not None and not axis.any():
            source.fault(joint, f"joint {label}: the axis is zero; give a direction")
            return
        own = np.eye(4)
        own[:3, 3] = source.numbers(joint, "pos", (0.0, 0.0, 0.0))
        if coordinate is not None:
            own[:3, :3] = np.array(along(label, list(axis)).axes)
        ref = self._size(source.number(joint, "ref"), kind) if coordinate is not None else 0.0
        zero = np.eye(4)
        if kind == "slide":
            zero[2, 3] = -ref
        elif kind == "hinge":
            c, s = np.cos(ref), np.sin(ref)
            zero[:2, :2] = [[c, s], [-s, c]]
        self.model.joint(
            made,
            label,
            _marker(before, T @ own @ zero),
            _marker(after, within @ own),
            start={coordinate: ref} if coordinate is not None and ref else None,
            limits=self._limits(joint, kind, coordinate),
        )
        self._forces(joint, kind, label, coordinate)
        name = joint.attributes.get("name", "")
        if name:
            along_it = None if coordinate is None else f"{label}.{coordinate}"
            self.joints[name] = Known(along_it, ref)

    def _float(self, joint: Xml, label: str, before: Body, after: Body) -> None:
        """A free joint: its coordinates are the pose in the world, and start as the file has it."""
        if before.name != GROUND:
            self.source.fault(joint, f"joint {label}: a free body hangs from the world alone")
            return
        start = _marker(after, self.poses[after.name])
        after.position, after.orientation = start.position, start.orientation
        self.model.joint("free", label, self.model.ground, after)
        self._forces(joint, "free", label, None)
        self.joints[joint.attributes.get("name", label)] = Known(None, 0.0)

    def _size(self, value: float, kind: str) -> float:
        return self.settings.angle(value) if kind == "hinge" else value

    def _limits(
        self, joint: Xml, kind: str, coordinate: str | None
    ) -> dict[str, tuple[float, float]] | None:
        limited = joint.attributes.get("limited", "auto")
        if "range" not in joint.attributes or limited == "false":
            return None
        if limited == "auto" and not self.settings.autolimits:
            return None
        low, high = (self._size(float(x), kind)
                     for x in self.source.numbers(joint, "range", (0.0, 0.0)))  # fmt: skip
        if coordinate is None or low >= high:
            why = f"of a {kind} joint" if coordinate is None else "with nothing between"
            self.source.note(joint, f"a range {why} is left out")
            return None
        return {coordinate: (low, high)}

    def _forces(self, joint: Xml, kind: str, label: str, coordinate: str | None) -> None:
        source = self.source
        names = ("stiffness", "damping", "frictionloss", "armature")
        # the first number of a polynomial is the linear part
        terms = {n: source.numbers(joint, n, (0.0,), counts=(1, 2, 3)) for n in names}
        values = {n: float(found[0]) for n, found in terms.items()}
        for name, found in terms.items():
            if found[1:].any():
                source.note(joint, f"joint {label}: {name} is linear in the model")
        for name in ("springdamper", "actuatorfrcrange"):
            if name in joint.attributes:
                source.note(joint, f"joint {label}: {name} is left out")
        if values["armature"] < 0:
            source.fault(
                joint, f"joint {label}: an armature is zero or more, not {values['armature']:g}"
            )
        elif values["armature"] and coordinate is not None:
            self.model.rotors[f"{label}.{coordinate}"] = values["armature"]
        elif values["armature"]:
            source.note(
                joint,
                f"joint {label}: armature {values['armature']:g} of a {kind} joint is left out",
            )
        if coordinate is None:
            lost = [n for n in names[:3] if values[n]]
            if lost:
                source.note(
                    joint, f"joint {label}: {', '.join(lost)} of a {kind} joint is left out"
                )
            return
        along_it = f"{label}.{coordinate}"
        if values["stiffness"] or values["damping"]:
            # of an angle both are for a radian, in files with degrees too
            spring = "torsional" if kind == "hinge" else "axial"
            self.model.force(
                spring,
                self._free(f"{label}_spring"),
                coordinate=along_it,
                stiffness=values["stiffness"],
                damping=values["damping"],
                rest=self._size(source.number(joint, "springref"), kind),
            )
        if values["frictionloss"] < 0:
            source.note(joint, f"joint {label}: a negative frictionloss is left out")
        elif values["frictionloss"]:
            self.model.force(
                "friction",
                self._free(f"{label}_friction"),
                coordinate=along_it,
                kinetic=values["frictionloss"],
            )

    # ---------------------------------------------------------------------- names

    def usable(self, name: str, otherwise: str, element: Xml) -> str:
        """A name that the model can have, or one for what has none."""
        plain = plain_name(name)
        if plain == GROUND:
            plain = f"{GROUND}_body"
        found = self._free(plain or otherwise)
        if name and found != name:
            self.source.note(element, f"{name!r} is called {found!r} in the model")
        return found

    def _free(self, name: str, *more: str) -> str:
        m = self.model
        tables = (m.bodies, m.joints, m.drivers, m.forces)
        return free_name(
            name, lambda n: n in more or any(n in table for table in tables), self._last
        )


def _marker(body: Body, pose: Floats) -> Marker:
    x, y, z = (float(v) for v in pose[:3, 3])
    return Marker(body.name, "", (x, y, z), by_rows(pose[:3, :3]))
