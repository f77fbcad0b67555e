"""The equations of a group on bodies whose motion is known: what a multiplier does to each body.

Every body, of the group or before it, is given by its centre of mass and its axes in the ground.
With the velocity v of the centre and the angular velocity ω, both along the axes of the ground, a
row Φ changes by

    Φ' = J_v v + J_ω ω + J_θ θ' + …,

so that a unit of its multiplier is the force J_v and the moment J_ω about the centre.  θ are the
coordinates that count turns (`biela.model.joints.readings`): they move no body, and the row that
reads them carries what acts on them, the inertia of rotors included.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, jacobian, substitute
from biela.equations.blocks.populations import Floats, Frames, Integers
from biela.equations.groups.cast import Cast, CastElement, Owner, Poses
from biela.equations.groups.derivation import GroupDerivation
from biela.equations.groups.placed_bodies import frame_of_plane
from biela.equations.reference_point import NORMAL
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.joints.primitives import Row
from biela.model.pair import Pair, Place
from biela.space import Vector

__all__ = ["BodySymbols", "Counted", "MultiplierDerivation", "Velocity"]

#: A velocity that a row changes with: of a body (its number, a component), or of a coordinate
#: (-1, its number).
Velocity = tuple[int, int]


@dataclass(frozen=True, eq=False)
class BodySymbols:
    """A body of known motion.

    Attributes:
        numbers: (instances,) of the body in the model.
        place: Centre of mass and axes.
        symbols: Components of the centre, then cosine and sine, or the first two axes.
        velocities: Of the centre, then angular; two and one in a plane.
        rates: Of ``symbols`` in these velocities.
    """

    numbers: Integers
    place: Place
    symbols: list[Atom]
    velocities: list[Atom]
    rates: list[Atom]


@dataclass(frozen=True, eq=False)
class Counted:
    """A coordinate that counts turns: its symbol, and its names in all instances."""

    symbol: Atom
    names: list[str]
    own: bool


class MultiplierDerivation(GroupDerivation):
    """The rows of a group, on bodies whose motion is known.

    Args:
        cast: The groups of a kind.
        centres: (bodies of the model, 3) centres of mass in the frames of the bodies.
        counted: Names of the coordinates that count turns in this model.
        poses: Where bodies of a planar model are across its plane.

    Attributes:
        solids: The bodies of the group, then those it rests on.
        counts: Coordinates that count turns, those of its own joints first.
    """

    def __init__(
        self, cast: Cast, centres: Floats, counted: Collection[str], poses: Poses | None = None
    ) -> None:
        super().__init__(cast, poses)
        self.centres, self._counted = centres, frozenset(counted)
        self.solids: list[BodySymbols] = []
        self._numbered: dict[bytes, int] = {}
        for slot in range(cast.size):
            self._solid(cast.bodies[:, slot])
        self._counts: dict[str, Counted] = {}

    # ------------------------------------------------------------------------ bodies

    def _solid(self, numbers: Integers) -> int:
        """The number of a body here; it is made if it is the first time."""
        key = np.ascontiguousarray(numbers, dtype=np.int64).tobytes()
        if key in self._numbered:
            return self._numbered[key]
        k = self._numbered[key] = len(self.solids)
        self.solids.append(self._symbols(f"b{k}", numbers))
        frame = self.centres[numbers], np.broadcast_to(np.eye(3), (len(numbers), 3, 3))
        self.put(k, self.solids[k].place, frame)
        return k

    def _symbols(self, name: str, numbers: Integers) -> BodySymbols:
        system, plane = self.system, self.plane
        letters = plane or "xyz"
        r = list(system.coordinates([f"{name}_{axis}" for axis in letters]))
        v = list(system.parameters([f"{name}_v{axis}" for axis in letters]))
        at = dict(zip(letters, r, strict=True))
        zero = self.workspace.atom(0)
        centre = system.origin.offset(
            f"{name}_centre", system.base.vector(*(at.get(axis, zero) for axis in "xyz"))
        )
        if plane is not None:
            turn = list(system.coordinates([f"{name}_cos", f"{name}_sin"]))
            (w,) = system.parameters([f"{name}_w"])
            R = frame_of_plane(self.workspace, plane, turn[0], turn[1])
            base = system.base.by_matrix(name, R)
            place = Place(centre, base)
            return BodySymbols(
                numbers, place, [*r, *turn], [*v, w], [*v, -w * turn[1], w * turn[0]]
            )
        x = list(system.coordinates([f"{name}_x{axis}" for axis in "xyz"]))
        y = list(system.coordinates([f"{name}_y{axis}" for axis in "xyz"]))
        omega = list(system.parameters([f"{name}_w{axis}" for axis in "xyz"]))
        z = _cross(x, y)
        base = system.base.by_matrix(name, [[x[k], y[k], z[k]] for k in range(3)])
        rates = [*v, *_cross(omega, x), *_cross(omega, y)]
        return BodySymbols(numbers, Place(centre, base), [*r, *x, *y], [*v, *omega], rates)

    def placed(self, name: str, slot: int, frames: Frames) -> Place:
        """A frame on a body, in all instances; known bodies are bodies as those of the group."""
        if slot == Owner.KNOWN:
            slot = self._solid(frames.body)
        return super().placed(name, slot, frames)

    # ------------------------------------------------------ coordinates that count turns

    @property
    def counts(self) -> list[Counted]:
        """The coordinates that count turns, those of its own joints first."""
        return sorted(self._counts.values(), key=lambda c: not c.own)

    def _is_counted(self, names: list[str]) -> bool:
        return names[0] in self._counted

    def _counting(self, names: list[str], own: bool) -> Atom:
        if names[0] not in self._counts:
            (symbol,) = self.system.coordinates([f"x{len(self._counts)}"])
            self._counts[names[0]] = Counted(symbol, names, own)
        return self._counts[names[0]].symbol

    def _owner(self, found: int | CastElement) -> CastElement:
        return self.cast.elements[found] if isinstance(found, int) else found

    def _pair_of(self, found: int | CastElement) -> Pair:
        """The markers of a joint of this group, or of an earlier one."""
        joint = self._owner(found).joint
        if isinstance(found, int):
            with self.element(found):
                return self.pair(joint.i, joint.j)
        places = [
            self.placed(self.fresh(f"outside{k}_"), m.slot, m.frames)
            for k, m in enumerate(found.markers[:2])
        ]
        return Pair(places[0], places[1], self.number)

    def coordinate(self, name: str) -> Atom:
        """The coordinate of a joint: a symbol where it counts turns, else read."""
        found, _, coordinate = self.named(name)
        names = [f"{n}.{coordinate.name}" for n in self._owner(found).names]
        if self._is_counted(names):
            return self._counting(names, isinstance(found, int))
        assert coordinate.reading is not None, "what has no reading is counted"
        return coordinate.reading.value(self._pair_of(found))

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate of a joint at a target."""
        found, _, coordinate = self.named(name)
        names = [f"{n}.{coordinate.name}" for n in self._owner(found).names]
        if not self._is_counted(names):
            assert coordinate.reading is not None, "what has no reading is counted"
            return coordinate.reading.row(self._pair_of(found), target, rate)
        nothing = Vector(self.space, {})
        label = "law"
        if coordinate.reading is not None:
            label = coordinate.reading.row(self._pair_of(found), target, rate).label
        q = self._counting(names, isinstance(found, int))
        return Row(label, q - target, None, nothing, nothing)

    def require(self, element: int, coordinate: str) -> Atom:
        """The coordinate of a joint of the group: a symbol, which `reading_rows` hold."""
        names = [f"{n}.{coordinate}" for n in self.cast.elements[element].names]
        return self._counting(names, True)

    def reading_rows(self, number: int) -> list[tuple[str, Row]]:
        """The rows that read the coordinates of a joint that count turns, by coordinate."""
        found = []
        cast = self.cast.elements[number]
        for coordinate in cast.joint.coordinates:
            names = [f"{n}.{coordinate.name}" for n in cast.names]
            if coordinate.reading is not None and self._is_counted(names):
                found.append((coordinate.name, self._reading_row(number, coordinate, names)))
        return found

    def _reading_row(self, number: int, coordinate: Coordinate, names: list[str]) -> Row:
        assert coordinate.reading is not None
        q = self._counting(names, True)
        return coordinate.reading.row(self._pair_of(number), q, q.velocity)

    # -------------------------------------------------------------------------- rows

    def named_rows(self) -> list[tuple[int, str, Row]]:
        """All rows: the element, what follows its name in the name of the row, and the row.

        Rows that no position changes, such as those across the plane of a planar model, are left
        out.
        """
        elements = self.cast.elements
        joints = [k for k, e in enumerate(elements) if isinstance(e.element, Joint)]
        others = [k for k in range(len(elements)) if k not in joints]
        others.sort(key=lambda k: not isinstance(elements[k].element, Coupling))
        found = [(k, row.label, row) for k in joints for row in self.joint_rows(k)]
        found += [(k, row.label, row) for k in others for row in self.other_rows(k)]
        for k in joints:
            found += [(k, f"{name}.{row.label}", row) for name, row in self.reading_rows(k)]
        moving = {q.ref for q in self.system.q}
        table = self.workspace.table
        return [one for one in found if moving & set(table.live([one[2].value.ref]))]

    def velocities(self) -> list[tuple[Velocity, Atom]]:
        """All velocities: of the bodies of the group, its coordinates, and of what is known."""
        size = self.cast.size
        bodies = [
            ((k, c), v)
            for k, solid in enumerate(self.solids)
            for c, v in enumerate(solid.velocities)
        ]
        counts = [((-1, k), c.symbol.velocity) for k, c in enumerate(self.counts)]
        own = [e for e in bodies if e[0][0] < size]
        own += [e for e in counts if self.counts[e[0][1]].own]
        known = set(key for key, _ in own)
        return [*own, *(e for e in [*bodies, *counts] if e[0] not in known)]

    def slopes(self, rows: list[Row]) -> list[list[Atom]]:
        """∂Φ'/∂v, a row an equation, in the order of `velocities`."""
        rates = [self.space.time_rate(row.value) for row in rows]
        turning: dict[Atom, Atom | float] = {}
        for solid in self.solids:
            turning |= {
                s.velocity: rate for s, rate in zip(solid.symbols, solid.rates, strict=True)
            }
        return jacobian(substitute(rates, turning), [v for _, v in self.velocities()]).rows

    def spin_slopes(self) -> list[list[Atom]]:
        """For each passive spin its angular velocity about its axis, in the same order."""
        found = []
        zero = self.workspace.atom(0)
        for k, spin in enumerate(self.cast.spins):
            axis = spin.second - spin.first
            axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
            direction = self.components_of(spin.slot, f"spin{k}_", axis, False)
            entries = {(spin.slot, 3 + c): a for c, a in enumerate(direction)}
            found.append([entries.get(key, zero) for key, _ in self.velocities()])
        return found

    @property
    def normal(self) -> int | None:
        """Number of the axis across the plane of a planar model."""
        return None if self.plane is None else "xyz".index(NORMAL[self.plane])


def _cross(a: list[Atom], b: list[Atom]) -> list[Atom]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
