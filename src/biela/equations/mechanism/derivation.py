"""The equations of a model in the making: what elements ask for and what they say.

The implementation of `biela.model.derivation.Derivation` on a symbolic system.  A formulation
places the bodies; the rest is here: markers, coordinates of joints, rows of constraints, forces and
measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom, evaluate
from biela.equations.constraints import Constraint
from biela.equations.mechanism.placement import Placer, identifier
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system_derivation import SystemDerivation
from biela.errors import ModelError
from biela.model import Model
from biela.model.bodies import GROUND
from biela.model.joints import Coordinate, Coupling, Joint
from biela.model.joints.primitives import Row, all_rows
from biela.model.laws.law import Law
from biela.model.markers import Marker
from biela.model.pair import Pair, Place
from biela.model.quantities.units import expression, quantity
from biela.model.quantities.values import Value
from biela.space import Solid, Vector

Floats = npt.NDArray[np.float64]

#: A row that is constant and larger than this cannot be fulfilled (m, or sine of an angle).
NEVER: Final = 1e-9
#: Changes of a row below this are rounding.
ALWAYS: Final = 1e-12
#: At so many random positions a row is looked at.
_SAMPLES: Final = 4


@dataclass(frozen=True, eq=False)
class Held:
    """A row of a joint or driver that became a constraint."""

    owner: str
    row: Row
    constraint: Constraint


@dataclass(frozen=True)
class Measured:
    """What a sensor measures."""

    name: str
    unit: str
    #: The output with its rate, where it is an angle up to whole turns.
    rate: str | None = None


class MechanismDerivation(SystemDerivation):
    """The equations of a model, being derived."""

    def __init__(self, model: Model, system: SymbolicSystem | None = None) -> None:
        super().__init__(SymbolicSystem(model.name) if system is None else system)
        self.model = model
        given = model.parameters.given
        symbols = self.system.parameters(**given)
        self.system.parameter_units.update(model.parameter_units)
        self._parameters = model.parameters.expressions(dict(zip(given, symbols, strict=True)))
        self.placer = Placer(self.system, self.number)
        ground = Place(self.system.origin, self.system.base)
        #: The frame of each body.
        self.bodies: dict[str, Place] = {GROUND: ground}
        self.solids: dict[str, Solid] = {}
        self._places: dict[Marker, Place] = {}
        #: Coordinates that are symbols, by "joint.coordinate"; rotations are not among them.
        self.coordinates: dict[str, Atom] = {}
        #: Names as people know them, by those of symbols and constraints.
        self.names: dict[str, str] = {}
        self.held: list[Held] = []
        #: Whether bodies are placed along joints, so that rows of others may hold by themselves.
        self.along_tree = False
        #: Names of the joints that carry bodies.
        self.carried: set[str] = set()
        #: Whether rates of rows are differentiated: velocities are then those of the coordinates,
        #: and Φ_v is the Jacobian of Newton's method also where norms are not 1 yet.
        self.differentiates = False
        self.measured: list[Measured] = []
        #: What is positive at the roots that are meant, by what is wrong where it is negative.
        self.sides: dict[str, Atom] = {}
        self.input_units: dict[str, str] = {}
        gravity = [self.number(g, "acceleration") for g in model.gravity]
        self.system.gravity = self.system.base.vector(*gravity)

    # ------------------------------------------------------------------ what there is

    def number(self, value: Value, dimension: str) -> Atom:
        """A value: a constant, or an expression of the parameters of the model."""
        if isinstance(value, str):
            known = self.model.parameters.dimensions
            return self.workspace.atom(expression(value, self._parameters, dimension, known))
        return self.workspace.atom(value)

    def law(self, law: Law, dimension: str) -> Atom:
        """A law of time."""
        return law.expression(self.workspace, self._parameters, dimension)

    def place(self, marker: Marker) -> Place:
        """A marker: its point and its base."""
        if marker not in self._places:
            self._places[marker] = self.placer.marker(self.bodies[marker.body], marker)
        return self._places[marker]

    def joint(self, name: str) -> tuple[Joint, Coordinate]:
        """The joint and coordinate of "joint.coordinate", or of a joint with one coordinate.

        Raises:
            ModelError: There is no such joint or coordinate.
        """
        joints = self.model.joints
        whole = joints.get(name)
        owner, _, part = (name, "", "") if whole is not None else name.rpartition(".")
        joint = joints.get(owner)
        if not isinstance(joint, Joint):
            known = ", ".join(n for n, j in joints.items() if isinstance(j, Joint))
            raise ModelError(
                f"{self.model.name}: there is no joint coordinate {name!r}; joints are {known}"
            )
        found = [c for c in joint.coordinates if c.name == part or not part]
        if len(found) != 1 or found[0].manifold == "rotation":
            known = ", ".join(
                f"{owner}.{c.name}" for c in joint.coordinates if c.manifold != "rotation"
            )
            raise ModelError(
                f"{self.model.name}: {name!r} is not one coordinate of joint {owner} "
                f"({joint.kind}), which has {known or 'none that is a number'}"
            )
        return joint, found[0]

    def coordinate(self, name: str) -> Atom:
        """The coordinate of a joint, over any number of turns.

        In a joint that closes a loop an angle becomes a coordinate without inertia; what is no
        angle is read from the markers.
        """
        joint, coordinate = self.joint(name)
        full = f"{joint.name}.{coordinate.name}"
        if full in self.coordinates:
            return self.coordinates[full]
        reading = coordinate.reading
        if reading is not None and not reading.turns:
            return reading.value(self.pair(joint.i, joint.j))
        return self.as_coordinate(name)

    def as_coordinate(self, name: str) -> Atom:
        """The coordinate of a joint as one of the system, added without inertia where it is not."""
        joint, coordinate = self.joint(name)
        full = f"{joint.name}.{coordinate.name}"
        if full in self.coordinates:
            return self.coordinates[full]
        q = self.declare(full, inertia=False)
        if coordinate.reading is not None:
            pair = self.pair(joint.i, joint.j)
            self.hold(full, [coordinate.reading.row(pair, q, q.velocity)])
            self._note_side(full, coordinate.reading.side(pair, q))
        return q

    def speed(self, name: str) -> Atom:
        """The time derivative of a coordinate of a joint; it needs no coordinate of its own."""
        joint, coordinate = self.joint(name)
        full = f"{joint.name}.{coordinate.name}"
        if full in self.coordinates:
            return self.coordinates[full].velocity
        if coordinate.reading is None:
            return self.coordinate(name).velocity
        return coordinate.reading.rate(self.pair(joint.i, joint.j))

    def unit(self, name: str) -> str:
        """The unit of a coordinate of a joint."""
        return self.joint(name)[1].unit

    def reading(self, name: str) -> tuple[Atom, bool]:
        """A coordinate as it can be read, and whether that is up to whole turns only."""
        joint, coordinate = self.joint(name)
        full = f"{joint.name}.{coordinate.name}"
        if full in self.coordinates or coordinate.reading is None:
            return self.coordinate(name), False
        reading = coordinate.reading
        return reading.value(self.pair(joint.i, joint.j)), reading.turns

    def driven(self, name: str, target: Atom, rate: Atom) -> Row:
        """The row that holds a coordinate of a joint at a target, in its best form."""
        joint, coordinate = self.joint(name)
        full = f"{joint.name}.{coordinate.name}"
        pair = self.pair(joint.i, joint.j)
        if coordinate.reading is None:
            q = self.coordinate(name)
            nothing = Vector(self.space, {})
            return Row("law", q - target, q.velocity - rate, nothing, nothing)
        row = coordinate.reading.row(pair, target, rate)
        if full not in self.coordinates:
            self._note_side(full, coordinate.reading.side(pair, target))
            return row
        q = self.coordinates[full]
        return Row(row.label, q - target, q.velocity - rate, row.force, row.moment)

    def _note_side(self, name: str, side: Atom | None) -> None:
        # what is the same in all positions tells none of them from another
        if side is None or side in self.sides.values() or self.constant(side) is not None:
            return
        wrong = f"{name} half a turn off"
        while wrong in self.sides:  # a weld about one axis, and about another
            wrong += " another way"
        self.sides[wrong] = side

    def reaction(self, joint: str) -> tuple[Vector, Vector]:
        """Force and moment that a joint exerts on the body of its marker j, at that marker.

        Raises:
            ModelError: The joint is not there, or carries its body in the tree.
        """
        if joint not in self.model.joints:
            raise ModelError(f"{self.model.name}: there is no joint {joint!r}")
        force = moment = Vector(self.space, {})
        held = [h for h in self.held if h.owner == joint]
        if not held:
            raise ModelError(
                f"{self.model.name}: joint {joint} has no multipliers here; a force that depends "
                f"on its reaction must name it in needs_reactions"
            )
        for h in held:
            force = force - h.row.force * h.constraint.multiplier
            moment = moment - h.row.moment * h.constraint.multiplier
        return force, moment

    def input(self, name: str, unit: str, value: Value = 0.0, dimension: str = "any") -> Atom:
        """A quantity given from outside at every instant."""
        symbol = identifier(name)
        self.names[symbol] = name
        self.input_units[symbol] = unit
        return self.system.inputs(**{symbol: quantity(value, dimension)})[0]

    # ---------------------------------------------------------------- what is declared

    def declare(self, name: str, *, inertia: bool = True) -> Atom:
        """A coordinate, known to people by a name with a dot in it."""
        symbol = identifier(name)
        (q,) = self.system.coordinates([symbol], inertia=inertia)
        self.names[symbol] = name
        self.names[q.velocity.name] = f"{name}_rate"
        self.coordinates[name] = q
        return q

    def hold(self, owner: str, rows: Sequence[Row], of: str = "") -> None:
        """Make rows constraints; those that always hold are left out.

        Raises:
            ModelError: A row cannot be fulfilled in any position.
        """
        for row in rows:
            self._note_side(owner, row.side)
            value = self.constant(row.value)
            if value is not None:
                if abs(value) > NEVER:
                    raise ModelError(
                        f"{self.model.name}: {of or owner} can never be fulfilled: its equation "
                        f"{row.label} is off by {value:.3g} in every position; check the "
                        f"places and axes of its markers"
                        + (
                            f" (the model is planar, in {self.model.plane})"
                            * bool(self.model.plane)
                        )
                    )
                continue
            speed = None if self.differentiates else row.speed
            constraints = self.system.hold(row.value, speed, identifier(owner))
            self.names[constraints.name] = f"{owner}.{row.label}"
            self.held.append(Held(owner, row, constraints))

    def constant(self, expression: Atom) -> float | None:
        """The value of an expression that is the same in every position; None if it is not.

        Along a tree some rows of a closing joint always hold.  Their atoms do not vanish where
        turns by numbers are multiplied, but all that is left of them is rounding.
        """
        if expression.value is not None:
            return float(expression.value)
        if not self.along_tree:
            return None
        random = np.random.default_rng(0)
        system = self.system
        values: dict[Atom, Floats | float] = {self.time: random.uniform(0, 1, _SAMPLES)}
        values |= {q: random.uniform(-1, 1, _SAMPLES) for q in system.q}
        for turned in system.orientations.values():
            e = random.normal(size=(4, _SAMPLES))
            values |= zip(turned.parameters, e / np.linalg.norm(e, axis=0), strict=True)
        for symbol, value in system.parameter_values.items():
            values[symbol] = value * (1 + random.uniform(0, 0.1, _SAMPLES))
        found = np.broadcast_to(np.asarray(evaluate(expression, values)), (_SAMPLES,))
        if not np.isfinite(found).all() or np.ptp(found) > ALWAYS * (1 + np.abs(found).max()):
            return None
        mean = float(found.mean())
        return 0.0 if abs(mean) <= ALWAYS else mean

    def hold_joint(self, joint: Joint) -> None:
        """The equations of a joint that closes a loop."""
        pair = self.pair(joint.i, joint.j)
        self.hold(joint.name, all_rows(joint.conditions(), pair), f"joint {joint.name}")
        self.hold_laws(joint, pair)

    def hold_laws(self, joint: Joint, pair: Pair) -> None:
        """The further equations of a joint that closes a loop."""
        if joint.laws:
            q = {name: self.coordinate(f"{joint.name}.{name}") for name in joint.needs}
            held = zip(joint.laws, joint.law_rows(q, pair), strict=True)
            rows = [replace(row, label=label) for label, row in held]
            self.hold(joint.name, rows, f"joint {joint.name}")

    def hold_coupling(self, coupling: Coupling) -> None:
        """The equation of gears and the like."""
        q = [self.coordinate(name) for name in coupling.couples]
        nothing = Vector(self.space, {})
        row = Row("ratio", coupling.law(q, self.number), None, nothing, nothing)
        self.hold(coupling.name, [row], f"{coupling.kind} {coupling.name}")

    # ------------------------------------------------------------- what elements say

    def apply(self, marker: Marker, force: Vector, moment: Vector) -> None:
        """A force through the point of a marker, and a moment, act on its body."""
        if marker.body != GROUND:
            point = self.place(marker).point
            self.system.wrench(self.solids[marker.body], force, moment, at=point)

    def push(self, rate: Atom, force: Atom) -> None:
        """A force along a speed."""
        self.system.push(rate, force)

    def rotor(self, name: str, inertia: Value) -> None:
        """Inertia along the rate of a joint coordinate, which becomes one of the system.

        In a joint that carries no body this gives the added coordinate its inertia, and M stays
        block-diagonal in reference-point coordinates.  The rows that read the coordinate from the
        markers bring the torque of the rotor to both bodies, as they do with that of a motor.

        Raises:
            ModelError: The joint has no such coordinate, or the inertia is negative.
        """
        if self.model.number(inertia, "any") < 0:
            raise ModelError(f"its inertia is zero or more, not {inertia!r}")
        J = self.number(inertia, "any")
        if J.ref:
            self.system.rotor(self.as_coordinate(name).velocity, J)

    def store(self, energy: Atom) -> None:
        """Potential energy of what pushes."""
        self.system.potentials.append(energy)

    def measure(
        self, name: str, value: Atom, unit: str, *, rate: Atom | None = None, turns: bool = False
    ) -> None:
        """An output."""
        self.system.output(name, value)
        counted = f"{name}_rate" if turns and rate is not None else None
        self.measured.append(Measured(name, unit, counted))
        if rate is not None:
            self.system.output(f"{name}_rate", rate)
            self.measured.append(Measured(f"{name}_rate", f"{unit}/s" if unit else "1/s"))

    def watch(self, name: str, expression: Atom) -> None:
        """An event."""
        self.system.event(name, expression)

    # -------------------------------------------------------------------------- bodies

    def solid(self, name: str, place: Place, at_centre: bool = False) -> None:
        """The mass of a body whose frame is placed.

        ``at_centre`` puts its reference point into the centre of mass: `place` then is there.
        """
        inertia = self.model.bodies[name].inertia
        xx, yy, zz, xy, xz, yz = (self.number(v, "inertia") for v in inertia.moments)
        mass = self.number(inertia.mass, "mass")
        com = [self.number(x, "length") for x in inertia.com]
        self.solids[name] = self.system.solid(
            identifier(name),
            place.point,
            place.base,
            mass,
            com=None if at_centre else com,
            central_inertia=place.base.inertia(xx, yy, zz, xy, xz, yz),
        )
