"""The derivation of one element on the few bodies it touches, all of them free.

The implementation of `biela.model.derivation.Derivation` behind kernels: what differs between
instances is a symbol here.

    q0, v0 …   coordinates and velocities of the bodies: place r of the centre of mass and Euler
               parameters, r' and ω'; in the plane two coordinates of the place and the angle
    x, dx      coordinates that count turns, or that have no reading, and their rates
    w, dw …    laws of time: value, rate, second rate
    u, lam     inputs, and multipliers of joints whose reactions are asked for
    p          of each marker its place from the centre of mass and the entries of its axes that
               are not 0 or ±1; in the plane the place of each body across it; numbers
"""

from __future__ import annotations

from dataclasses import replace

from biela.atoms import Atom
from biela.equations.blocks.casting import Casting, Prescribed, axes_pattern
from biela.equations.blocks.collected import Collected, FreeBody, Output
from biela.equations.reference_point import NORMAL
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system_derivation import SystemDerivation
from biela.errors import ModelError
from biela.model.bodies import GROUND
from biela.model.joints import Coordinate, Joint
from biela.model.joints.primitives import Row, all_rows
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Place
from biela.model.quantities.units import parameters_of, quantity
from biela.model.quantities.values import Value
from biela.space import Vector


class KernelDerivation(SystemDerivation):
    """The equations of one element."""

    def __init__(self, casting: Casting, plane: str | None, counted: frozenset[str]) -> None:
        super().__init__(SymbolicSystem("kernel"))
        self.casting, self.plane = casting, plane
        self._across: list[Atom] = []
        self.bodies = [self._body(f"b{k}") for k in range(casting.body_count)]
        #: The parameters in order, each with where its values come from.
        self.columns: list[tuple[Atom, tuple[str, int, int]]] = []
        for k, across in enumerate(self._across):
            self.columns.append((across, ("across", k, 0)))
        self._places = [self._marker(k) for k in range(len(casting.frames))]
        self.texts: list[tuple[str, str]] = []
        self.numbers: dict[Value, Atom] = {}
        for k in range(len(casting.numbers)):
            self.numbers[f"#{k}"] = self._column(f"number{k}", ("number", k, 0))
        #: Coordinates that are symbols: there already, or asked for here.
        self.counted = set(counted)
        self.coordinates: dict[str, Atom] = {}
        self.laws: dict[int, Atom] = {}
        self.law_dimensions: dict[int, str] = {}
        self.multipliers: dict[str, list[Atom]] = {}
        self.said = Collected()

    # ------------------------------------------------------------------------ bodies

    def _body(self, name: str) -> FreeBody:
        system, origin = self.system, self.system.origin
        if self.plane is None:
            r = list(system.coordinates([f"{name}_{axis}" for axis in "xyz"]))
            base = system.orientation(name)
            turned = system.orientations[name]
            centre = origin.offset(f"{name}_centre", system.base.vector(r[0], r[1], r[2]))
            v = [*(c.velocity for c in r), *turned.angular_velocity]
            return FreeBody(Place(centre, base), [*r, *turned.parameters], v)
        q = list(system.coordinates([*(f"{name}_{axis}" for axis in self.plane), f"{name}_turn"]))
        (across,) = system.parameters([f"{name}_across"])
        self._across.append(across)
        at = dict(zip(self.plane, q, strict=False))
        x, y, z = (at.get(axis, across) for axis in "xyz")
        centre = origin.offset(f"{name}_centre", system.base.vector(x, y, z))
        base = system.base.rotated(name, NORMAL[self.plane], q[2])
        return FreeBody(Place(centre, base), q, [c.velocity for c in q])

    def _marker(self, k: int) -> Place:
        slot = self.casting.slots[k]
        ground = Place(self.system.origin, self.system.base)
        body = ground if slot < 0 else self.bodies[slot].place
        s = [self._column(f"m{k}_s{c}", ("place", k, c)) for c in range(3)]
        point = body.point.offset(f"m{k}_point", body.base.vector(s[0], s[1], s[2]))
        pattern = axes_pattern(self.casting.frames[k].axes)
        if pattern == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0):
            return Place(point, body.base)
        R = [
            self._column(f"m{k}_R{c}", ("axes", k, c)) if x is None else self.workspace.atom(x)
            for c, x in enumerate(pattern)
        ]
        return Place(point, body.base.by_matrix(f"m{k}_axes", [R[0:3], R[3:6], R[6:9]]))

    def _column(self, name: str, source: tuple[str, int, int]) -> Atom:
        (symbol,) = self.system.parameters([name])
        self.columns.append((symbol, source))
        return symbol

    # ------------------------------------------------------------------ what there is

    def number(self, value: Value, dimension: str) -> Atom:
        """A number that differs between instances, or one that does not."""
        if value in self.numbers:
            return self.numbers[value]
        if not isinstance(value, str) or not parameters_of(value):
            return self.workspace.atom(quantity(value, dimension))
        self.texts.append((value, dimension))
        k = len(self.texts) - 1
        self.numbers[value] = self._column(f"text{k}", ("text", k, 0))
        return self.numbers[value]

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time: a symbol with its rates."""
        if not isinstance(law, Prescribed):
            return law.expression(self.workspace, {}, dimension)
        k = law.number
        if k not in self.laws:
            (self.laws[k],) = self.system.coordinates([f"w{k}"])
            self.law_dimensions[k] = dimension
        return self.laws[k]

    def place(self, marker: Marker) -> Place:
        """A marker."""
        return self._places[int(marker.name[1:])]

    def _joint(self, name: str) -> tuple[Joint, Coordinate]:
        owner, _, part = name.partition(".")
        joint = self.casting.joints[owner]
        found = [c for c in joint.coordinates if c.name == part and c.manifold != "rotation"]
        if not found:
            use = self.casting.uses[int(owner[1:])]
            known = ", ".join(c.name for c in joint.coordinates if c.manifold != "rotation")
            raise ModelError(
                f"{self.casting.original.name}: {part!r} is not one coordinate of joint "
                f"{use.joint.name} ({joint.kind}), which has {known or 'none that is a number'}"
            )
        return joint, found[0]

    def coordinate(self, name: str) -> Atom:
        """The coordinate of a joint, over any number of turns."""
        joint, coordinate = self._joint(name)
        reading = coordinate.reading
        if name not in self.counted and reading is not None and not reading.turns:
            return reading.value(self.pair(joint.i, joint.j))
        return self.symbol(name)

    def symbol(self, name: str) -> Atom:
        """A coordinate that is a symbol."""
        if name not in self.coordinates:
            self.counted.add(name)
            plain = name.replace(".", "_")
            (self.coordinates[name],) = self.system.coordinates([f"x_{plain}"])
        return self.coordinates[name]

    def speed(self, name: str) -> Atom:
        """The time derivative of a coordinate of a joint."""
        joint, coordinate = self._joint(name)
        if name in self.counted or coordinate.reading is None:
            return self.symbol(name).velocity
        return coordinate.reading.rate(self.pair(joint.i, joint.j))

    def unit(self, name: str) -> str:
        """The unit of a coordinate of a joint."""
        return self._joint(name)[1].unit

    def reading(self, name: str) -> tuple[Atom, bool]:
        """A coordinate as it can be read, and whether that is up to whole turns only."""
        joint, coordinate = self._joint(name)
        if name in self.counted or coordinate.reading is None:
            return self.symbol(name), False
        reading = coordinate.reading
        return reading.value(self.pair(joint.i, joint.j)), reading.turns

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate of a joint at a target."""
        joint, coordinate = self._joint(name)
        if coordinate.reading is None:
            q, nothing = self.symbol(name), Vector(self.space, {})
            return Row("law", q - target, q.velocity - rate, nothing, nothing)
        row = coordinate.reading.row(self.pair(joint.i, joint.j), target, rate)
        if name not in self.counted:
            return row
        q = self.symbol(name)
        return Row(row.label, q - target, q.velocity - rate, row.force, row.moment)

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Force and moment that a joint exerts on the body of its marker j, at that marker."""
        rows = [row for row in self.joint_rows(joint) if not self.fixed(row)]
        names = [f"lam_{joint}_{k}" for k in range(len(rows))]
        self.multipliers[joint] = list(self.system.parameters(names)) if names else []
        force = moment = Vector(self.space, {})
        for row, multiplier in zip(rows, self.multipliers[joint], strict=True):
            force = force - row.force * multiplier
            moment = moment - row.moment * multiplier
        return force, moment

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """A quantity given from outside at every instant."""
        symbol = self.workspace.input(f"u{len(self.said.inputs)}")
        own = name.removeprefix(self.casting.element.name)
        self.said.inputs.append((own, unit, quantity(value, dimension), symbol))
        return symbol

    # ------------------------------------------------------------- what elements say

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its body."""
        if marker.body != GROUND:
            slot = int(marker.body[1:])
            self.said.wrenches.append((slot, self.place(marker).point, force, moment))

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed."""
        self.said.pushes.append((rate, self.workspace.atom(force)))

    def store(self, energy: Atom) -> None:
        """Potential energy of what pushes."""
        self.said.energies.append(energy)

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """An output."""
        own = name.removeprefix(self.casting.element.name)
        after = f"{own}_rate"
        counted = after if turns and rate is not None else ""
        self.said.outputs.append((Output(own, unit, counted), value))
        if rate is not None:
            self.said.outputs.append((Output(after, f"{unit}/s" if unit else "1/s"), rate))

    def watch(self, name: str, expression: Atom) -> None:
        """An event, by its name after that of the element."""
        self.said.events.append((name.removeprefix(self.casting.element.name), expression))

    # ---------------------------------------------------------------------- equations

    def joint_rows(self, name: str) -> list[Row]:
        """The equations of a joint that closes a loop; "" is the element itself."""
        joint = self.casting.joints[name] if name else self.casting.element
        assert isinstance(joint, Joint)
        pair = self.pair(joint.i, joint.j)
        rows = all_rows(joint.conditions(), pair)
        if joint.laws:
            own = name or "self"
            q = {need: self.symbol(f"{own}.{need}") for need in joint.needs}
            held = zip(joint.laws, joint.law_rows(q, pair), strict=True)
            rows += [replace(row, label=label) for label, row in held]
        return rows

    def fixed(self, row: Row) -> bool:
        """Whether a row depends on numbers alone."""
        moving = {q.ref for q in self.system.q} | {self.time.ref}
        return not moving & set(self.workspace.table.live([row.value.ref]))
