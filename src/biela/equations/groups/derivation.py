"""The equations of a group in the making: its joints and drivers on bodies that are placed.

The implementation of `biela.model.derivation.Derivation` behind group kernels: what elements ask
for on the bodies of `placed_bodies`, and the rows that they hold.  Only values are written here;
rates follow from them by differentiation, with the known symbols moving as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from biela.atoms import Atom
from biela.equations.blocks.casting import Prescribed
from biela.equations.blocks.populations import Floats
from biela.equations.groups.cast import Cast, CastElement, Poses
from biela.equations.groups.items import Item
from biela.equations.groups.placed_bodies import PlacedBodies, relative_poses
from biela.errors import ModelError
from biela.model.drivers.driver import Driver
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.joints.primitives import Row, all_rows
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.units import parameters_of, quantity
from biela.model.quantities.values import Value
from biela.space import Vector

__all__ = ["GroupDerivation"]


class GroupDerivation(PlacedBodies):
    """The equations of a group.

    The time is in none of them: laws are known symbols.
    """

    def __init__(self, cast: Cast, poses: Poses | None = None) -> None:
        super().__init__(cast, poses)
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
        self._laws: dict[tuple[int, int], Atom] = {}
        self._numbers: dict[tuple[int, str], Atom] = {}
        self._outside: dict[tuple[int, int, str], Atom] = {}
        self._current = 0

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
            own, reading = self._own_pair(found), coordinate.reading
            if own is not None and reading is not None and not reading.turns:
                return reading.value(own)
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
            found = np.array([described.reading.number(T) for T in relative])
            if described.unit != "rad":
                return found
            # as many turns from zero as are counted, which poses do not tell
            names = zip(cast.names, found, strict=True)
            counted = np.array([poses.coordinates.get(f"{n}.{coordinate}", x) for n, x in names])
            return np.asarray(found + 2 * np.pi * np.round((counted - found) / (2 * np.pi)))

        symbol = self.unknown(f"{cast.label}.{coordinate}", start, turns=described.unit == "rad")
        self.coordinates[element, coordinate] = symbol
        return symbol

    def _own_pair(self, joint: CastElement) -> Pair | None:
        """The markers of a joint on bodies of the group, if it has no equations.

        It is no element of any group then, as a planar joint of a planar model.
        """
        if all(end.slot < 0 for end in joint.markers):
            return None
        return self.pair_of(joint)

    def pair_of(self, joint: CastElement) -> Pair:
        """The markers of a joint that the element that asks names."""
        markers = self.cast.elements[self._current].markers
        i, j = (
            self.marker(self._current, next(k for k, m in enumerate(markers) if m.is_at(end)))
            for end in joint.markers
        )
        return Pair(i, j, self.number)

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
        own = None if isinstance(found, int) else self._own_pair(found)
        if own is not None and coordinate.reading is not None:
            self._note_side(coordinate.reading.side(own, target))
            return coordinate.reading.row(own, target, rate)
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
            return [*all_rows(joint.conditions(), pair), *self.law_rows(number, pair)]

    def law_rows(self, number: int, pair: Pair) -> list[Row]:
        """The further equations of a joint between its own coordinates."""
        joint = self.cast.elements[number].joint
        if not joint.laws:
            return []
        q = {need: self.require(number, need) for need in joint.needs}
        held = zip(joint.laws, joint.law_rows(q, pair), strict=True)
        return [replace(row, label=label) for label, row in held]

    def other_rows(self, number: int) -> list[Row]:
        """The equations of a coupling or a driver."""
        with self.element(number) as cast:
            element = cast.element
            if isinstance(element, Coupling):
                law = element.law([self.coordinate(n) for n in element.couples], self.number)
                nothing = Vector(self.space, {})
                return [Row("ratio", law, None, nothing, nothing)]
            assert isinstance(element, Driver), (
                "an element of a group is a joint, coupling or driver"
            )
            return list(element.rows(self))

    # ------------------------------------------------ what elements of other kinds say

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Refuse: kinematics has no forces.

        Raises:
            ModelError: Always.
        """
        raise ModelError(f"the reaction of {joint} is no part of the kinematics of a group")

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """An input stays at its value.

        Joints and drivers have none; laws are known by themselves.
        """
        del name, unit
        return self.workspace.atom(self.number(value, dimension))

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
