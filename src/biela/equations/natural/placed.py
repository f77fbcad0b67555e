"""Natural coordinates of a model: points and axes that joints share, and six equations a body.

Every body is one point and three arrows, shared with other bodies where joints let it be; joints
that are not expressed by sharing, drivers, forces and sensors are written on markers, whose places
are linear in the coordinates, by the same rows as in all other coordinates.  Angles and distances
of joints become coordinates where somebody asks for them (mixed coordinates).

    v = q',     M constant,     ω = (a₃ · a₂', a₁ · a₃', a₂ · a₁') along the axes a_k of the body

(García de Jalón & Bayo 1994, ch. 2 to 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from biela.atoms import Atom
from biela.equations.mechanism.derivation import MechanismDerivation
from biela.equations.mechanism.placement import identifier
from biela.equations.natural.bodies import NaturalBody
from biela.equations.natural.entities import Floats, NaturalPoint, NaturalVector
from biela.equations.natural.implied import implied
from biela.equations.natural.layout import Layout
from biela.equations.natural.linear_masses import NaturalSystem
from biela.equations.natural.rigid import Span, rigid_body
from biela.equations.natural.sharing import Node, axis_node, point_node, shared_entities
from biela.equations.natural.spanning import completing, spanning
from biela.equations.reference_point import NORMAL
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Joint
from biela.model.joints.primitives import all_rows
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


def placed(model: Model) -> NaturalDerivation:
    """All bodies on shared points and axes, and joints held as far as these do not."""
    derivation = NaturalDerivation(model)
    for name in model.bodies:
        derivation.lay(name)
    derivation.layout.lower()
    derivation.names |= derivation.layout.names
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.hold_joint(joint)
    for joint in model.joints.values():
        if isinstance(joint, Joint):
            derivation.start_joint(joint)
    return derivation


class NaturalDerivation(MechanismDerivation):
    """The equations of a model in natural coordinates, being derived."""

    def __init__(self, model: Model) -> None:
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
        self.naturals: dict[str, Carried] = {}
        #: Where each entity that is no relative coordinate stands: body, place or direction in it.
        self.stands: dict[str, tuple[str, Triple]] = {}
        self._points: dict[tuple[int, int, int], Point] = {}
        self.poses, _ = start_poses(model, joint_tree(model))

    # ---------------------------------------------------------------------------- bodies

    def lay(self, name: str) -> None:
        """Give a body its point and arrows, its mass, and the equations that keep its shape."""
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
            made = self.layout.vector(f"{name}.{letter}", self._numbers(R @ unit))
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

    def _weigh(self, name: str) -> None:
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
            self._masses.append(carried.body.mass(ten))

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

    # --------------------------------------------------------------------------- markers

    def place(self, marker: Marker) -> Place:
        """A marker: its point, one with those it shares it with, and its base."""
        if marker not in self._places:
            body = self.bodies[marker.body]
            turned = self.placer.marker(body, replace(marker, position=(0.0, 0.0, 0.0)))
            point = self._point_at(self._components(marker), marker.label)
            self._places[marker] = Place(point, turned.base)
        return self._places[marker]

    def _components(self, marker: Marker) -> list[Atom]:
        node = point_node(self, marker)
        if marker.body == GROUND:
            return list(node.at)
        carried = self.naturals[marker.body]
        root = self._point_classes.root(self._point_classes.node(node))
        if root not in carried.points:
            return carried.point(node.at)
        entity = self._point(root)
        if self.model.plane is None:
            return list(entity.components)
        # in the plane as it is; across it where the body is
        found = carried.point(node.at)
        for axis, x in zip(self.model.plane, entity.components, strict=True):
            found["xyz".index(axis)] = x
        return found

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

    # ---------------------------------------------------------------------------- joints

    def hold_joint(self, joint: Joint) -> None:
        """The equations of a joint that its markers do not fulfil by what they share."""
        pair = self.pair(joint.i, joint.j)
        rows = all_rows(joint.conditions(), pair)
        shared = self._realised(joint)
        if shared:
            known = implied(self.model, joint, shared)
            rows = [row for row, held in zip(rows, known, strict=True) if not held]
        self.hold(joint.name, rows, f"joint {joint.name}")
        self.hold_laws(joint, pair)

    def start_joint(self, joint: Joint) -> None:
        """Coordinates that are given at the start become relative coordinates.

        An assembly then keeps them, and tells branches by them, as it does in joint coordinates.
        """
        for coordinate in joint.coordinates:
            if coordinate.name in joint.start and coordinate.manifold == "line":
                self.as_coordinate(f"{joint.name}.{coordinate.name}")
                self.carried.add(joint.name)

    def _realised(self, joint: Joint) -> frozenset[str]:
        """What the markers of a joint share, of what they could."""
        found = set()
        if "point" in joint.shares and self.place(joint.i).point is self.place(joint.j).point:
            found.add("point")
        if "axis" in joint.shares:
            roots = [
                self._axis_classes.root(self._axis_classes.node(axis_node(self, marker)))
                for marker in (joint.i, joint.j)
            ]
            used = [
                marker.body == GROUND or root in self.naturals[marker.body].axes
                for marker, root in zip((joint.i, joint.j), roots, strict=True)
            ]
            if roots[0] == roots[1] and all(used):
                found.add("axis")
        return frozenset(found)

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
