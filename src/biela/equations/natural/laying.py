"""The bodies of a model on points and arrows that they share with others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from biela.atoms import Atom
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.placement import identifier
from biela.equations.natural.bodies import NaturalBody
from biela.equations.natural.entities import Floats, NaturalPoint, NaturalVector
from biela.equations.natural.layout import Layout
from biela.equations.natural.linear_masses import NaturalSystem
from biela.equations.natural.rigid import Span, hold_shape, rigid_body
from biela.equations.natural.rods import rod_body, spread_across
from biela.equations.natural.sharing import Node, shared_entities
from biela.equations.natural.spanning import completing, spanning
from biela.equations.reference_point import NORMAL
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.markers import Marker
from biela.model.pair import Place
from biela.model.topology.tree import joint_tree, start_poses
from biela.space import Point

Triple: TypeAlias = Sequence[Atom]


@dataclass(frozen=True, eq=False)
class Carried:
    """A body of a model on its point and arrows.

    Attributes:
        body: The body, seen from its origin.
        origin: Its origin in the frame of the model.
        points: The classes of points that are coordinates of it.
        axes: The classes of axes, likewise.
    """

    body: NaturalBody
    origin: Triple
    points: frozenset[int]
    axes: frozenset[int]

    def point(self, at: Triple) -> list[Atom]:
        """The components in the ground of a place in the frame of the model."""
        return self.body.point([x - o for x, o in zip(at, self.origin, strict=True)])


class Laying(MechanismDerivation):
    """Bodies, their masses and frames: what `NaturalDerivation` adds markers and joints to."""

    def __init__(self, model: Model, rods: Collection[str] = ()) -> None:
        source = NaturalSystem(model.name)
        super().__init__(model, source)
        self.differentiates = True
        # rows that sharing or the plane fulfil are left out
        self.along_tree = True
        self.layout = Layout(model.name, plane=model.plane or "", source=source)
        self._masses = source.masses
        shared = shared_entities(self)
        self._point_classes, self._axis_classes = shared.points, shared.axes
        self._shared_points = shared.points.shared()
        self._shared_axes = shared.axes.shared()
        self._entities: dict[tuple[str, int], NaturalPoint | NaturalVector] = {}
        #: What shared points are called, by any of their markers.
        self._labels = {n.marker.label for nodes in self._shared_points.values() for n in nodes}
        self.naturals: dict[str, Carried] = {}
        #: Where each entity that is no relative coordinate stands: body, place or direction in it.
        self.stands: dict[str, tuple[str, Triple]] = {}
        self._points: dict[tuple[int, int, int], Point] = {}
        self.poses, _ = start_poses(model, joint_tree(model))
        #: Bodies on two points alone, whose spin is left out.
        self.rods = frozenset(rods)

    def position_of(self, marker: Marker) -> tuple[Atom, Atom, Atom]:
        """The place of a marker in the frame of its body."""
        x, y, z = (self.number(c, "length") for c in marker.position)
        return x, y, z

    # ---------------------------------------------------------------------------- bodies

    def lay(self, name: str) -> None:
        """Give a body its point and arrows, its mass, and the equations that keep its shape."""
        if name in self.rods:
            self._lay_rod(name)
            return
        plane = self.model.plane
        wanted = 3 if plane is None else 1
        points = _of(name, self._shared_points)
        axes = _of(name, self._shared_axes)
        if plane is not None:
            axes = {root: node for root, node in axes.items() if self._flat(node)}
        roots = list(points)
        origin = points[roots[0]].numbers if roots else self._centre(name)
        others = [("point", root, points[root].numbers - origin) for root in roots[1:]]
        others += [("axis", root, node.numbers) for root, node in axes.items()]
        arrows = [self._in_plane(arrow) for _, _, arrow in others]
        chosen = [others[k] for k in spanning(arrows, wanted)]
        own = [] if plane is not None and chosen else self._own([a for _, _, a in chosen], wanted)
        span = Span(name)
        if roots:
            span.origin, span.at = self._point(roots[0]), points[roots[0]].at
        else:
            span.origin, span.at = self._own_point(name, origin), self._com(name)
        for kind, root, _ in chosen:
            if kind == "point":
                end = [x - o for x, o in zip(points[root].at, span.at, strict=True)]
                span.segment(self._point(root), end)
            else:
                span.vector(self._axis(root), axes[root].at)
        R = self.poses[name][:3, :3]
        for letter, unit in zip("uvw", own, strict=False):
            made = self.layout.vector(self._own_name(name, letter), self._numbers(R @ unit))
            along = [self.workspace.atom(float(x)) for x in unit]
            self.stands[made.name] = name, along
            span.vector(made, along)
        place = self.poses[name][:3, :3] @ origin + self.poses[name][:3, 3]
        across = 0.0 if plane is None else float(place["xyz".index(NORMAL[plane])])
        body = rigid_body(self.layout, span, across)
        kept = [(kind, root) for kind, root, _ in chosen]
        self.naturals[name] = Carried(
            body,
            span.at,
            frozenset([*roots[:1], *(root for kind, root in kept if kind == "point")]),
            frozenset(root for kind, root in kept if kind == "axis"),
        )
        self._weigh(name)
        self._frame(name)

    def _lay_rod(self, name: str) -> None:
        """Give a body two points, which keep their distance.

        Raises:
            ModelError: A joint of it does not share its point.
        """
        points = _of(name, self._shared_points)
        if len(points) != 2:
            raise ModelError(
                f"{self.model.name}: body {name} cannot be a two-point rod: one of its joints has "
                f"equations of its own, as those have whose reactions somebody asks for"
            )
        (first, origin), (second, end) = points.items()
        span = Span(name)
        span.origin, span.at = self._point(first), origin.at
        way = [x - o for x, o in zip(end.at, origin.at, strict=True)]
        span.segment(self._point(second), way)
        hold_shape(self.layout, span)
        ends = [self._point(root).components for root in (first, second)]
        arrow = [b - a for a, b in zip(*ends, strict=True)]
        unit = end.numbers - origin.numbers
        unit = unit / np.linalg.norm(unit)
        body = rod_body(name, ends[0], arrow, way, unit, self.poses[name][:3, :3])
        self.naturals[name] = Carried(body, span.at, frozenset((first, second)), frozenset())
        self._weigh(name, way)
        self._frame(name)

    def _own(self, arrows: Sequence[Floats], wanted: int) -> list[Floats]:
        """Unit vectors of a body alone that complete its arrows."""
        if self.model.plane is None:
            return completing(arrows, wanted)
        return [np.eye(3)["xyz".index(self.model.plane[0])]]

    def _point(self, root: int) -> NaturalPoint:
        made = self._entities.get(("point", root))
        if made is None:
            node, fixed = self._representative(self._shared_points[root])
            T = np.eye(4) if fixed else self.poses[node.body]
            at = (
                self._plain(node.at)
                if fixed
                else self._numbers(T[:3, :3] @ node.numbers + T[:3, 3])
            )
            made = self.layout.point(node.marker.label, at, fixed)
            self._entities["point", root] = made
            self.stands[made.name] = node.body, node.at
        assert isinstance(made, NaturalPoint)
        return made

    def _axis(self, root: int) -> NaturalVector:
        made = self._entities.get(("axis", root))
        if made is None:
            node, fixed = self._representative(self._shared_axes[root])
            R = np.eye(3) if fixed else self.poses[node.body][:3, :3]
            along = self._plain(node.at) if fixed else self._numbers(R @ node.numbers)
            made = self.layout.vector(f"{node.marker.label}.axis", along, fixed)
            self._entities["axis", root] = made
            self.stands[made.name] = node.body, node.at
        assert isinstance(made, NaturalVector)
        return made

    @staticmethod
    def _representative(nodes: Sequence[Node]) -> tuple[Node, bool]:
        """The node that places a class: that of the ground, which is fixed, or the first."""
        for node in nodes:
            if node.body == GROUND:
                return node, True
        return nodes[0], False

    def _own_point(self, name: str, at: Floats) -> NaturalPoint:
        T = self.poses[name]
        self.stands[f"{name}.r"] = name, self._com(name)
        return self.layout.point(f"{name}.r", self._numbers(T[:3, :3] @ at + T[:3, 3]))

    def _own_name(self, body: str, letter: str) -> str:
        """What a unit vector of a body alone is called: "body.u", or "body.u_2" …

        A shared point has the name of a marker, which a user may have called like that.
        """
        name = found = f"{body}.{letter}"
        k = 1
        while found in self._labels:
            k += 1
            found = f"{name}_{k}"
        return found

    def _weigh(self, name: str, way: Triple | None = None) -> None:
        inertia, carried = self.model.bodies[name].inertia, self.naturals[name]
        m = self.number(inertia.mass, "mass")
        Ixx, Iyy, Izz, Ixy, Ixz, Iyz = (self.number(v, "inertia") for v in inertia.moments)
        x, y, z = (c - o for c, o in zip(self._com(name), carried.origin, strict=True))
        ten = [
            m,
            *(m * x, m * y, m * z),
            (Iyy + Izz - Ixx) / 2 + m * x * x,
            (Ixx + Izz - Iyy) / 2 + m * y * y,
            (Ixx + Iyy - Izz) / 2 + m * z * z,
            m * x * y - Ixy,
            m * x * z - Ixz,
            m * y * z - Iyz,
        ]
        if any(entry.ref for entry in ten):
            spread = None if way is None else spread_across(ten, way)
            self._masses.append(carried.body.mass(ten, spread))

    def _frame(self, name: str) -> None:
        """The frame of a body, on which forces act."""
        carried, ws = self.naturals[name], self.workspace
        axes = [
            carried.body.direction([ws.atom(float(i == k)) for i in range(3)]) for k in range(3)
        ]
        rows = [[axes[k][i] for k in range(3)] for i in range(3)]
        base = self.system.base.by_matrix(identifier(name), rows)
        zero = [ws.atom(0)] * 3
        point = self._point_at(carried.point(zero), name)
        self.bodies[name] = Place(point, base)
        self.solids[name] = self.system.solid(identifier(name), point, base, 0.0)

    def _point_at(self, components: Sequence[Atom], name: str) -> Point:
        """A point by its components: the same for the same."""
        x, y, z = components
        key = (x.ref, y.ref, z.ref)
        if not any(key):
            return self.system.origin
        if key not in self._points:
            plain, k = identifier(name), 1
            free = plain
            while free in self.space.points:
                k += 1
                free = f"{plain}_{k}"
            vector = self.system.base.vector(x, y, z)
            self._points[key] = self.system.origin.offset(free, vector)
        return self._points[key]

    # --------------------------------------------------------------------------- numbers

    def _centre(self, name: str) -> Floats:
        com = self.model.bodies[name].inertia.com
        return np.array([self.model.number(x, "length") for x in com])

    def _com(self, name: str) -> list[Atom]:
        return [self.number(x, "length") for x in self.model.bodies[name].inertia.com]

    def _in_plane(self, arrow: Floats) -> Floats:
        plane = self.model.plane
        return arrow if plane is None else np.array([arrow["xyz".index(axis)] for axis in plane])

    def _numbers(self, arrow: Floats) -> list[float]:
        return [float(x) for x in self._in_plane(arrow)]

    def _plain(self, at: Triple) -> list[Atom]:
        plane = self.model.plane or "xyz"
        return [at["xyz".index(axis)] for axis in plane]

    def _flat(self, node: Node) -> bool:
        """Whether an axis lies in the plane."""
        return abs(float(node.numbers["xyz".index(NORMAL[self.model.plane or "xy"])])) < 1e-12


def _of(name: str, shared: dict[int, list[Node]]) -> dict[int, Node]:
    """The classes that a body shares, with its own node of each."""
    return {root: node for root, nodes in shared.items() for node in nodes if node.body == name}
