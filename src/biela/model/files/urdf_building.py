"""From the description of a robot to a model: bodies, joints, motors, friction and couplings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from biela.errors import ModelError
from biela.model.bodies import GROUND, Body, Inertia
from biela.model.element import plain_name
from biela.model.files.urdf_description import Urdf, UrdfJoint, UrdfLink
from biela.model.files.urdf_shapes import MeshPlaces, shapes_of
from biela.model.files.xml_source import Floats, XmlSource
from biela.model.markers import Marker
from biela.model.mass_properties import MassProperties
from biela.model.model import Model
from biela.model.orientation import along, by_rows

#: The kinds of joints, and their coordinate if there is one.
KINDS: dict[str, tuple[str, str | None]] = {
    "revolute": ("revolute", "angle"),
    "continuous": ("revolute", "angle"),
    "prismatic": ("prismatic", "displacement"),
    "fixed": ("fixed", None),
    "floating": ("free", None),
    "planar": ("planar", None),
}


#: Of the inertia about the origin.
_ROUNDING = 1e-15


@dataclass
class Weight:
    """Mass, first moment (3,) and inertia (3, 3) about the origin of a body, summed up.

    Plain sums, which do not ask whether the tensor is that of a body: files are often wrong there.
    """

    mass: float = 0.0
    moment: Floats = field(default_factory=lambda: np.zeros(3))
    inertia: Floats = field(default_factory=lambda: np.zeros((3, 3)))

    def add(self, mass: float, com: Floats, inertia: Floats, pose: Floats) -> None:
        """A part whose frame has a pose in the body; its inertia is about its centre of mass."""
        c, R = pose[:3, :3] @ com + pose[:3, 3], pose[:3, :3]
        self.mass += mass
        self.moment = self.moment + mass * c
        self.inertia = (
            self.inertia + R @ inertia @ R.T + mass * (c @ c * np.eye(3) - np.outer(c, c))
        )

    def total(self) -> Inertia:
        """As a body has it, about its centre of mass (Steiner)."""
        c = self.moment / self.mass if self.mass > 0 else np.zeros(3)
        I = self.inertia - self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return inertia_of(self.mass, c, I)


def inertia_of(mass: float, com: Floats, tensor: Floats) -> Inertia:
    """Numbers as a body has them.

    What is below the rounding of the inertia about the origin of the body is zero: a moment of
    -5e-20 that a program or a turn left over would be that of no body.
    """
    x, y, z = (float(v) for v in com)
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    dust = _ROUNDING * max(float(np.abs(tensor).max()), float(mass * (com @ com)))
    values = (float(tensor[i, j]) for i, j in pairs)
    a, b, c, d, e, f = (0.0 if abs(value) <= dust else value for value in values)
    return Inertia(float(mass), (x, y, z), (a, b, c, d, e, f))


class UrdfBuilder:
    """Builds the model of a robot."""

    def __init__(
        self,
        source: XmlSource,
        robot: Urdf,
        places: MeshPlaces,
        geometry: str = "visual",
        merge_fixed: bool = False,
    ) -> None:
        self._source, self._robot, self._places = source, robot, places
        self._geometry, self._merges = geometry, merge_fixed
        self._model = Model(robot.name)
        #: The body of which each link is part, and its pose in it.
        self._home: dict[str, tuple[Body, Floats]] = {}
        self._weights: dict[str, Weight] = {}
        self._joint_names: dict[str, str] = {}
        self._last: dict[str, int] = {}

    def built(self, floating: bool) -> Model:
        """The model."""
        model, robot = self._model, self._robot
        root = robot.links[robot.root]
        if not floating and (self._merges or root.name == GROUND):
            self._join(root, model.ground, np.eye(4))
        else:
            self._own_body(root)
        joints = robot.in_order()
        for joint in joints:
            link = robot.links[joint.child]
            if joint.type == "fixed" and self._merges:
                body, pose = self._home[joint.parent]
                self._join(link, body, pose @ joint.pose)
            else:
                self._own_body(link)
        self._weigh()
        body, _ = self._home[root.name]
        if body is not model.ground:
            name = free_name("root_joint", lambda n: n in robot.joints or self._taken(n), {})
            model.joint("free" if floating else "fixed", name, model.ground, body)
        for joint in joints:
            if joint.type != "fixed" or not self._merges:
                self._connect(joint)
        for joint in joints:
            self._forces(joint)
        return model

    # --------------------------------------------------------------------- bodies

    def _own_body(self, link: UrdfLink) -> None:
        body = self._model.body(self._usable(link.name, link.line))
        if body.name != link.name:
            self._model.aliases["body", link.name] = body.name
        self._home[link.name] = body, np.eye(4)
        self._fill(link, body, np.eye(4))

    def _join(self, link: UrdfLink, body: Body, pose: Floats) -> None:
        """A link that is part of a body: its frame stays as a marker."""
        self._home[link.name] = body, pose
        self._fill(link, body, pose)
        if link.name != GROUND:
            body.keep(_marker(body, self._plain(link.name), pose))

    def _fill(self, link: UrdfLink, body: Body, pose: Floats) -> None:
        if body is not self._model.ground:
            weight = self._weights.setdefault(body.name, Weight())
            weight.add(link.mass, link.com, link.inertia, pose)
        if self._geometry != "none":
            geometries = link.visual if self._geometry == "visual" else link.collision
            made = shapes_of(self._source, geometries, self._places, pose)
            body.shapes = (*body.shapes, *made)

    def _weigh(self) -> None:
        for link in self._robot.links.values():
            try:
                MassProperties(link.mass, link.com, link.inertia)
            except ModelError as error:
                message = " ".join(str(error).split())
                self._source.note(link.line, f"link {link.name!r} is kept as it is: {message}")
        for name, weight in self._weights.items():
            body = self._model.bodies[name]
            links = [
                link for link in self._robot.links.values() if self._home[link.name][0] is body
            ]
            if len(links) == 1:  # as it stands, without the rounding of sums
                body.inertia = inertia_of(links[0].mass, links[0].com, links[0].inertia)
            else:
                body.inertia = weight.total()

    # --------------------------------------------------------------------- joints

    def _connect(self, joint: UrdfJoint) -> None:
        model = self._model
        name = self._usable(joint.name, joint.line, "_joint")
        self._joint_names[joint.name] = name
        if name != joint.name:
            model.aliases["joint", joint.name] = name
        (before, pose_i), (after, pose_j) = self._home[joint.parent], self._home[joint.child]
        kind, coordinate = KINDS[joint.type]
        turn = np.eye(4)
        if joint.type not in ("fixed", "floating"):
            turn[:3, :3] = np.array(along(f"joint {joint.name}", list(joint.axis)).axes)
        limits = None
        if coordinate is not None and math.isfinite(joint.lower):
            limits = {coordinate: (joint.lower, joint.upper)}
        model.joint(
            kind,
            name,
            _marker(before, "", pose_i @ joint.pose @ turn),
            _marker(after, "", pose_j @ turn),
            limits=limits,
            velocity_limits=_size(coordinate, joint.velocity),
            effort_limits=_size(coordinate, joint.effort),
        )

    def _forces(self, joint: UrdfJoint) -> None:
        coordinate = KINDS[joint.type][1]
        if coordinate is None:
            what = [n for n in ("damping", "friction") if getattr(joint, n)]
            if what and joint.type != "fixed":
                self._source.note(joint.line, f"{' and '.join(what)} of a {joint.type} joint")
            if joint.mimic is not None:
                self._source.note(joint.line, f"a {joint.type} joint cannot mimic another")
            return
        name = self._joint_names[joint.name]
        along_it = f"{name}.{coordinate}"
        settings = {"viscous": joint.damping, "kinetic": joint.friction}
        if min(settings.values()) < 0:
            self._source.note(
                joint.line, f"joint {joint.name!r}: negative damping or friction is left out"
            )
            settings = {key: max(value, 0.0) for key, value in settings.items()}
        if any(settings.values()):
            self._model.force(
                "friction", self._free(f"{name}_friction"), coordinate=along_it, **settings
            )
        if joint.mimic is not None:
            self._couple(joint, along_it)
        elif 0 < joint.effort < math.inf:
            self._model.force(
                "actuator", self._free(f"{name}_motor"), coordinate=along_it, limit=joint.effort
            )

    def _couple(self, joint: UrdfJoint, second: str) -> None:
        """Hold q = k q₁ + q₀: gears for two of a kind, a rack and pinion for an angle and a way."""
        assert joint.mimic is not None
        leader, k, offset = (
            self._robot.joints[joint.mimic.joint],
            joint.mimic.multiplier,
            joint.mimic.offset,
        )
        coordinate = KINDS[leader.type][1]
        if coordinate is None:
            self._source.note(
                joint.line, f"{leader.name!r}, of type {leader.type}, is not mimicked"
            )
            return
        first = f"{self._joint_names[leader.name]}.{coordinate}"
        name = self._free(f"{self._joint_names[joint.name]}_mimic")
        if not k:  # held where it is, whatever the other does
            turns = KINDS[joint.type][1] == "angle"
            kind = "rotary" if turns else "translational"
            self._model.driver(kind, name, coordinate=second, law=offset)
            return
        ways = [KINDS[j.type][1] == "displacement" for j in (leader, joint)]
        if ways == [False, True]:
            self._rack(name, first, second, k, offset)
        elif ways == [True, False]:
            # angle = k way + offset, read the other way round
            self._rack(name, second, first, 1 / k, -offset / k)
        else:
            self._model.joint("gear", name, first=first, second=second, ratio=k, phase=offset)

    def _rack(self, name: str, pinion: str, rack: str, radius: float, offset: float) -> None:
        self._model.joint(
            "rack_pinion", name, pinion=pinion, rack=rack, radius=radius, offset=offset
        )

    # ---------------------------------------------------------------------- names

    def _plain(self, name: str) -> str:
        return plain_name(name) or "_"

    def _usable(self, name: str, line: int, suffix: str = "_link") -> str:
        """A name that the model can have: bodies and joints share one list in it."""
        plain = self._plain(name)
        found = plain if plain != GROUND and not self._taken(plain) else plain + suffix
        found = self._free(found)
        if found != name:
            self._source.note(line, f"{name!r} is called {found!r} in the model")
        return found

    def _free(self, name: str) -> str:
        return free_name(name, self._taken, self._last)

    def _taken(self, name: str) -> bool:
        m = self._model
        return any(name in table for table in (m.bodies, m.joints, m.drivers, m.forces))


def free_name(name: str, taken: Callable[[str], bool], last: dict[str, int]) -> str:
    """The name, or the first free one like it; ``last`` are the numbers that were tried before."""
    found, k = name, last.get(name, 1)
    while taken(found):
        k += 1
        found = f"{name}_{k}"
    last[name] = k
    return found


def _size(coordinate: str | None, limit: float) -> dict[str, float] | None:
    """A limit either way; zero and none mean that there is none."""
    return {coordinate: limit} if coordinate is not None and 0 < limit < math.inf else None


def _marker(body: Body, name: str, pose: Floats) -> Marker:
    x, y, z = (float(v) for v in pose[:3, 3])
    return Marker(body.name, name, (x, y, z), by_rows(pose[:3, :3]))
