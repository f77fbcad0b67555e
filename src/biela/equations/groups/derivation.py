"""The equations of a group in the making: its joints and drivers on bodies that are placed.

The implementation of `biela.model.derivation.Derivation` behind group kernels.  A way to choose
coordinates (`relative`, `reference_point`, `natural`) places the bodies of the group; markers on
known bodies are symbols h, those on the ground and all local geometry are parameters p with a row
an instance.  Only values are written here; rates follow from them by differentiation, with the
known symbols moving as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from biela.atoms import Atom, Workspace
from biela.equations.blocks.casting import Prescribed
from biela.equations.blocks.populations import Floats, Frames, clean
from biela.equations.groups.cast import Cast, CastElement, Owner, Poses
from biela.equations.groups.items import Item, ItemKind
from biela.equations.reference_point import NORMAL
from biela.equations.symbolic import SymbolicSystem
from biela.errors import ModelError
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.joints.primitives import Row, all_rows
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.units import parameters_of, quantity
from biela.model.quantities.values import Value
from biela.space import Base, Point, Space, Vector, position

__all__ = ["Column", "GroupDerivation", "Known", "Unknown", "frame_of_plane"]


@dataclass(frozen=True, eq=False)
class Unknown:
    """A coordinate of the group that its equations give.

    Attributes:
        symbol: In the equations.
        name: For people: "joint.coordinate" or "body.x" of the first instance.
        start: Its values at a position, for all instances.
        turns: Whether it is an angle, known up to whole turns.
    """

    symbol: Atom
    name: str
    start: Callable[[Poses], Floats]
    turns: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """A number that an earlier group, or a law, gives: a component of an item."""

    symbol: Atom
    item: Item
    component: int


@dataclass(frozen=True, eq=False)
class Column:
    """A parameter: its symbol, and its values in all instances."""

    symbol: Atom
    values: Floats


class GroupDerivation:
    """The equations of a group."""

    def __init__(self, cast: Cast, poses: Poses | None = None) -> None:
        self.cast, self.plane = cast, cast.plane
        self._poses = poses
        self.system = SymbolicSystem("group")
        #: Where bodies are, once they are placed.
        self.bodies: dict[int, Place] = {}
        #: The frame that stands for a body here, in its own frame: places and axes.
        self.frames: dict[int, tuple[Floats, Floats]] = {}
        self.unknowns: list[Unknown] = []
        self.known: list[Known] = []
        self.columns: list[Column] = []
        #: Coordinates of joints that are symbols, by number of the element and name.
        self.coordinates: dict[tuple[int, str], Atom] = {}
        #: Equations of the coordinates themselves: norms, spins that are held.
        self.further: list[Row] = []
        #: What is positive where angles are those meant, and not half a turn off.
        self.sides: list[Atom] = []
        #: Joints that carry bodies, which have no equations.
        self.carried: set[int] = set()
        #: Drivers whose law is a coordinate already.
        self.satisfied: set[int] = set()
        self._places: dict[tuple[int, int], Place] = {}
        self._laws: dict[tuple[int, int], Atom] = {}
        self._numbers: dict[tuple[int, str], Atom] = {}
        self._outside: dict[tuple[int, int, str], Atom] = {}
        self._remembered: dict[object, list[Atom]] = {}
        self._current = 0
        self._count = 0

    # ---------------------------------------------------------------------- symbols

    def column(self, name: str, values: Floats) -> Atom:
        """A parameter; the number itself where it is 0, 1 or -1 in all instances."""
        values = np.asarray(values, dtype=float)
        first = float(values[0])
        if first in (0.0, 1.0, -1.0) and (values == first).all():
            return self.workspace.atom(first)
        (symbol,) = self.system.parameters([self.fresh(name)])
        self.columns.append(Column(symbol, values))
        return symbol

    def unknown(self, name: str, start: Callable[[Poses], Floats], *, turns: bool = False) -> Atom:
        """A coordinate of the group."""
        (symbol,) = self.system.coordinates([f"x{len(self.unknowns)}"])
        self.unknowns.append(Unknown(symbol, name, start, turns))
        return symbol

    def given(self, item: Item, component: int) -> Atom:
        """A component of an item that is known."""
        (symbol,) = self.system.coordinates([f"h{len(self.known)}"])
        self.known.append(Known(symbol, item, component))
        return symbol

    def fresh(self, name: str) -> str:
        """A name that nobody has used."""
        self._count += 1
        return f"{name}_{self._count}"

    # ----------------------------------------------------------------------- places

    @property
    def space(self) -> Space:
        """Where points and bases live."""
        return self.system.space

    @property
    def workspace(self) -> Workspace:
        """Where the atoms live."""
        return self.system.workspace

    @property
    def time(self) -> Atom:
        """The time: laws are known symbols, so no equation contains it."""
        return self.system.time

    def vector_of(self, base: Base, name: str, rows: Floats) -> Vector:
        """A vector of parameters along the axes of a base, (n, 3)."""
        x, y, z = (self.column(f"{name}{c}", rows[:, k]) for k, c in enumerate("xyz"))
        return base.vector(x, y, z)

    def in_plane(self, rows: Floats) -> Floats:
        """Places in a body or the ground without what they have across the plane of the model."""
        if self.plane is None:
            return rows
        kept = np.array(rows)
        kept[:, "xyz".index(NORMAL[self.plane])] = 0.0
        return kept

    def offset(self, point: Point, base: Base, name: str, rows: Floats) -> Point:
        """A point of parameters from another one."""
        vector = self.vector_of(base, name, rows)
        return point if vector.is_zero else point.offset(self.fresh(name), vector)

    def turned(self, base: Base, name: str, axes: Floats) -> Base:
        """A base turned by rotations that are parameters, (n, 3, 3)."""
        flat = clean(axes).reshape(len(axes), 9)
        R = [self.column(f"{name}{k}", flat[:, k]) for k in range(9)]
        if [r.value for r in R] == [1, 0, 0, 0, 1, 0, 0, 0, 1]:
            return base
        return base.by_matrix(self.fresh(name), [R[0:3], R[3:6], R[6:9]])

    def put(self, slot: int, place: Place, frame: tuple[Floats, Floats]) -> None:
        """Place a body of the group by a frame fixed in it."""
        self.bodies[slot] = place
        self.frames[slot] = frame

    def local(self, slot: int, frames: Frames) -> tuple[Floats, Floats]:
        """Places and axes of frames on a body of the group, seen from the frame it is placed by."""
        place, axes = self.frames[slot]
        back = np.swapaxes(axes, 1, 2)
        at = np.einsum("nij,nj->ni", back, self.in_plane(frames.place - place))
        return clean(at), clean(back @ frames.axes)

    def marker(self, element: int, number: int) -> Place:
        """A marker of an element."""
        key = (element, number)
        if key not in self._places:
            found = self.cast.elements[element].markers[number]
            self._places[key] = self.placed(f"e{element}m{number}", found.slot, found.frames)
        return self._places[key]

    def placed(self, name: str, slot: int, frames: Frames) -> Place:
        """A frame on a body, in all instances."""
        if slot >= 0:
            body, (at, axes) = self.bodies[slot], self.local(slot, frames)
            point = self.offset(body.point, body.base, name, at)
            return Place(
                self._lifted(point, name, frames), self.turned(body.base, f"{name}_axes", axes)
            )
        root, origin = self.system.base, self.system.origin
        if slot == Owner.GROUND:
            point = self.offset(origin, root, name, clean(self.in_plane(frames.place)))
            return Place(
                self._lifted(point, name, frames), self.turned(root, f"{name}_axes", frames.axes)
            )
        r = self._known_triple("point", frames.body, frames.place)
        point = self._lifted(
            origin.offset(self.fresh(name), root.vector(*r)), f"{name}_over", frames
        )
        if self.plane is not None:
            cosine, sine = (self.given(Item("turn", frames.body), k) for k in range(2))
            base = root.by_matrix(
                self.fresh(name), frame_of_plane(self.workspace, self.plane, cosine, sine)
            )
            return Place(point, self.turned(base, f"{name}_axes", frames.axes))
        known = [self._known_triple("axis", frames.body, frames.axes[:, :, k]) for k in range(3)]
        matrix = [[known[column][row] for column in range(3)] for row in range(3)]
        return Place(point, root.by_matrix(self.fresh(name), matrix))

    def _lifted(self, point: Point, name: str, frames: Frames) -> Point:
        """A point of a planar model where it is across the plane: a distance may depend on it."""
        if self.plane is None or self._poses is None:
            return point
        k = "xyz".index(NORMAL[self.plane])
        moving = frames.body >= 0
        place = self._poses.place[np.maximum(frames.body, 0), k]
        over = np.zeros((len(frames.place), 3))
        over[:, k] = np.where(moving, place, 0.0) + frames.place[:, k]
        return self.offset(point, self.system.base, f"{name}_across", clean(over))

    def _known_triple(self, kind: ItemKind, body: object, local: Floats) -> list[Atom]:
        assert isinstance(body, np.ndarray)
        item = Item(kind, body, local)
        if self.plane is None:
            return [self.given(item, k) for k in range(3)]
        zero = self.workspace.atom(0)
        kept = {axis: self.given(item, k) for k, axis in enumerate(self.plane)}
        return [kept.get(axis, zero) for axis in "xyz"]

    def seen_from_frame(self, slot: int, rows: Floats, points: bool) -> Floats:
        """Points or directions of a body of the group, seen from the frame it is placed by."""
        place, axes = self.frames[slot]
        moved = self.in_plane(rows - place) if points else rows
        return clean(np.einsum("nji,nj->ni", axes, moved))

    def components_of(self, slot: int, name: str, rows: Floats, point: bool) -> Sequence[Atom]:
        """A point or a direction of a body of the group in the ground, from its own frame."""
        body = self.bodies[slot]
        seen = self.seen_from_frame(slot, rows, point)
        if not point:
            return self.vector_of(body.base, name, seen).components(self.system.base)
        place = self.offset(body.point, body.base, name, seen)
        return position(self.system.origin, place).components(self.system.base)

    def turn_of(self, slot: int, normal: str) -> list[Atom]:
        """Cosine and sine of the angle of a body of a planar group, in its own frame."""
        k = "xyz".index(normal)
        a = (k + 1) % 3
        across = np.zeros((self.cast.count, 3))
        across[:, a] = 1.0
        direction = self.components_of(slot, f"turn{slot}_", across, False)
        return [direction[a], direction[(k + 2) % 3]]

    def remembered(self, key: object, make: Callable[[], list[Atom]]) -> list[Atom]:
        """Atoms that are made once for a key."""
        if key not in self._remembered:
            self._remembered[key] = make()
        return self._remembered[key]

    # ------------------------------------------------------------- what elements ask

    @contextmanager
    def element(self, number: int) -> Iterator[CastElement]:
        """What is asked now is asked by that element."""
        before, self._current = self._current, number
        try:
            yield self.cast.elements[number]
        finally:
            self._current = before

    def number(self, value: Value, dimension: str) -> Atom:
        """A number that differs between instances, or one that does not."""
        if not isinstance(value, str) or not (value.startswith("#") or parameters_of(value)):
            return self.workspace.atom(quantity(value, dimension))
        key = (self._current, value)
        if key not in self._numbers:
            element = self.cast.elements[self._current]
            if value.startswith("#"):
                rows = element.numbers[int(value[1:])]
            elif element.read is not None:
                rows = element.read(value, dimension)
            else:
                raise ModelError(f"{element.label}: {value!r} cannot be read here")
            self._numbers[key] = self.column(f"n{self._current}", rows)
        return self._numbers[key]

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time: a known symbol."""
        if not isinstance(law, Prescribed):
            return law.expression(self.workspace, {}, dimension)
        key = (self._current, law.number)
        if key not in self._laws:
            find = self.cast.elements[self._current].law_places
            assert find is not None, "an element with laws says where their values stand"
            self._laws[key] = self.given(Item("law", find(law.number, dimension)), 0)
        return self._laws[key]

    @property
    def laws(self) -> Mapping[tuple[int, int], Atom]:
        """The symbols of laws, by number of the element and of the law in it."""
        return self._laws

    def place(self, marker: Marker) -> Place:
        """A marker of the element that asks."""
        return self.marker(self._current, int(marker.name[1:]))

    def pair(self, i: Marker, j: Marker) -> Pair:
        """Two markers of the element that asks."""
        return Pair(self.place(i), self.place(j), self.number)

    def named(self, name: str) -> tuple[int | CastElement, Joint, Coordinate]:
        """What "j0.angle" means to the element that asks.

        Raises:
            ModelError: The joint has no such coordinate.
        """
        owner, _, part = name.partition(".")
        element = self.cast.elements[self._current]
        found = element.joints[int(owner[1:])]
        joint = (self.cast.elements[found] if isinstance(found, int) else found).joint
        for coordinate in joint.coordinates:
            if coordinate.name == part and coordinate.manifold != "rotation":
                return found, joint, coordinate
        known = ", ".join(c.name for c in joint.coordinates if c.manifold != "rotation")
        raise ModelError(
            f"{element.label}: {part!r} is not one coordinate of a {joint.kind} joint, which has "
            f"{known or 'none that is a number'}"
        )

    def coordinate(self, name: str) -> Atom:
        """The coordinate of a joint, over any number of turns."""
        found, joint, coordinate = self.named(name)
        if not isinstance(found, int):
            return self._outside_coordinate(found, coordinate.name)
        if (found, coordinate.name) in self.coordinates:
            return self.coordinates[found, coordinate.name]
        reading = coordinate.reading
        if reading is not None and not reading.turns:
            with self.element(found):
                return reading.value(self.pair(joint.i, joint.j))
        return self.require(found, coordinate.name)

    def require(self, element: int, coordinate: str) -> Atom:
        """The coordinate of a joint of the group, over any number of turns, for other groups."""
        if (element, coordinate) in self.coordinates:
            return self.coordinates[element, coordinate]
        with self.element(element) as cast:
            joint = cast.joint
            (described,) = (c for c in joint.coordinates if c.name == coordinate)
            symbol = self.joint_unknown(element, coordinate)
            if described.reading is not None:
                pair = self.pair(joint.i, joint.j)
                self.further.append(described.reading.row(pair, symbol, symbol.velocity))
                self._note_side(described.reading.side(pair, symbol))
        return symbol

    def _note_side(self, side: Atom | None) -> None:
        if side is not None and side.value is None:
            self.sides.append(side)

    def joint_unknown(self, element: int, coordinate: str) -> Atom:
        """The coordinate of a joint of the group as an unknown."""
        cast = self.cast.elements[element]
        (described,) = (c for c in cast.joint.coordinates if c.name == coordinate)
        i, j = cast.markers[0].frames, cast.markers[1].frames

        def start(poses: Poses) -> Floats:
            if described.reading is None:
                return np.array([poses.coordinates[f"{n}.{coordinate}"] for n in cast.names])
            relative = relative_poses(poses, i, j)
            return np.array([described.reading.number(T) for T in relative])

        symbol = self.unknown(f"{cast.label}.{coordinate}", start, turns=described.unit == "rad")
        self.coordinates[element, coordinate] = symbol
        return symbol

    def _outside_coordinate(self, cast: CastElement, coordinate: str) -> Atom:
        key = (id(cast), self._current, coordinate)
        if key not in self._outside:
            names = [f"{name}.{coordinate}" for name in cast.names]
            item = Item("coordinate", np.zeros(len(names), dtype=np.int64), names=names)
            self._outside[key] = self.given(item, 0)
        return self._outside[key]

    def speed(self, name: str) -> Atom:
        """The time derivative of a coordinate of a joint."""
        return self.space.time_rate(self.coordinate(name))

    def unit(self, name: str) -> str:
        """The unit of a coordinate of a joint."""
        return self.named(name)[2].unit

    def reading(self, name: str) -> tuple[Atom, bool]:
        """A coordinate as it can be read."""
        found, joint, coordinate = self.named(name)
        if not isinstance(found, int) or coordinate.reading is None:
            return self.coordinate(name), False
        if (found, coordinate.name) in self.coordinates:
            return self.coordinates[found, coordinate.name], False
        with self.element(found):
            pair = self.pair(joint.i, joint.j)
            return coordinate.reading.value(pair), coordinate.reading.turns

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate of a joint at a target."""
        found, joint, coordinate = self.named(name)
        nothing = Vector(self.space, {})
        if not isinstance(found, int) or coordinate.reading is None:
            q = self.coordinate(name)
            return Row("law", q - target, None, nothing, nothing)
        if (found, coordinate.name) in self.coordinates:
            q = self.coordinates[found, coordinate.name]
            return Row("law", q - target, None, nothing, nothing)
        with self.element(found):
            pair = self.pair(joint.i, joint.j)
            self._note_side(coordinate.reading.side(pair, target))
            return coordinate.reading.row(pair, target, rate)

    # ------------------------------------------------------------------------- rows

    def joint_rows(self, number: int) -> list[Row]:
        """The equations of a joint whose bodies are placed."""
        with self.element(number) as cast:
            joint = cast.joint
            pair = self.pair(joint.i, joint.j)
            rows = all_rows(joint.conditions(), pair)
            if joint.laws:
                q = {need: self.require(number, need) for need in joint.needs}
                held = zip(joint.laws, joint.law_rows(q, pair), strict=True)
                rows += [replace(row, label=label) for label, row in held]
        return rows

    def other_rows(self, number: int) -> list[Row]:
        """The equations of a coupling or a driver."""
        with self.element(number) as cast:
            element = cast.element
            if isinstance(element, Coupling):
                law = element.law([self.coordinate(n) for n in element.couples], self.number)
                nothing = Vector(self.space, {})
                return [Row("ratio", law, None, nothing, nothing)]
            rows: Sequence[Row] = element.rows(self)  # type: ignore[attr-defined]
            return list(rows)

    # ------------------------------------------------ what elements of other kinds say

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Refuse: kinematics has no forces.

        Raises:
            ModelError: Always.
        """
        raise ModelError(f"the reaction of {joint} is no part of the kinematics of a group")

    def input(self, name: str, unit: str, value: float = 0.0) -> Atom:
        """An input stays at its value.

        Joints and drivers have none; laws are known by themselves.
        """
        del name, unit
        return self.workspace.atom(value)

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """Forces are no part of kinematics."""

    def push(self, rate: Atom, force: Atom) -> None:
        """Forces are no part of kinematics."""

    def store(self, energy: Atom) -> None:
        """Energy is no part of kinematics."""

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """Sensors read the motion afterwards."""

    def watch(self, name: str, expression: Atom) -> None:
        """Events are looked for afterwards."""


def frame_of_plane(ws: Workspace, plane: str, cosine: Atom, sine: Atom) -> list[list[Atom]]:
    """The rotation about the normal of a plane by an angle given by its cosine and sine."""
    k = "xyz".index(NORMAL[plane])
    a, b = (k + 1) % 3, (k + 2) % 3
    R = [[ws.atom(float(i == j)) for j in range(3)] for i in range(3)]
    R[a][a], R[a][b], R[b][a], R[b][b] = cosine, -sine, sine, cosine
    return R


def relative_poses(poses: Poses, i: Frames, j: Frames) -> Floats:
    """The poses (n, 4, 4) of frames j seen from frames i."""
    (ri, Ri), (rj, Rj) = poses.of(i), poses.of(j)
    T = np.zeros((len(ri), 4, 4))
    T[:, :3, :3] = np.swapaxes(Ri, 1, 2) @ Rj
    T[:, :3, 3] = np.einsum("nji,nj->ni", Ri, rj - ri)
    T[:, 3, 3] = 1.0
    return T
