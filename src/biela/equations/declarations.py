"""What is written down for a symbolic system: its symbols, constraints and observers.

The first half of `SymbolicSystem`, which adds bodies and forces and derives the equations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from biela.atoms import Atom, Kind, Workspace
from biela.equations.bodies import check_frame
from biela.equations.constraints import Constraint, ConstraintSet
from biela.equations.orientation import Orientation, declared
from biela.errors import DomainError, ModelError
from biela.space import (
    Base,
    Frame,
    Point,
    Solid,
    Space,
    Twist,
    Vector,
    acceleration,
    angular_acceleration,
    angular_velocity,
    position,
    twist,
    velocity,
    velocity_in,
)


class Declarations:
    """Coordinates, parameters, inputs, outputs, events, constraints and kinematic operators."""

    def __init__(self, name: str) -> None:
        self.name = name
        identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        self.workspace = Workspace(identifier if identifier[:1].isalpha() else f"m{identifier}")
        self.space = Space(self.workspace)
        self._gravity = Vector(self.space, {})
        self._constraints = ConstraintSet(name, self.space)
        self._coordinates: list[Atom] = []
        self._velocities: list[Atom] = []
        #: What `orientation` declared, by name.
        self.orientations: dict[str, Orientation] = {}
        self._frames: dict[str, Frame] = {}
        self._limits: dict[Atom, tuple[float, float]] = {}
        self._inertialess: set[Atom] = set()
        self._inputs: dict[Atom, float] = {}
        self._parameters: dict[Atom, float] = {}
        self._initial: list[Atom] = []
        self._initial_velocity: list[Atom] = []
        self._outputs: dict[str, Atom] = {}
        self._events: dict[str, Atom] = {}
        self._explicit: dict[Atom, Atom] = {}
        self._start: dict[Atom, float] = {}
        self._unknowns: list[Atom] = []

    # ------------------------------------------------------------------- symbols

    @property
    def base(self) -> Base:
        """The inertial base."""
        return self.space.root

    @property
    def origin(self) -> Point:
        """The root of the points."""
        return self.space.origin

    @property
    def gravity(self) -> Vector:
        """The acceleration of gravity; none unless set."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector | Sequence[Atom | float]) -> None:
        self._gravity = self._vector(self.base, value)

    @property
    def time(self) -> Atom:
        """The time."""
        return self.workspace.time

    @property
    def q(self) -> list[Atom]:
        """The coordinates in the order of their declaration."""
        return list(self._coordinates)

    @property
    def v(self) -> list[Atom]:
        """The velocities in the order of their declaration.

        Those of the coordinates, and for each orientation its angular velocity.
        """
        return list(self._velocities)

    @property
    def parameter_symbols(self) -> list[Atom]:
        """The parameters in the order of their declaration."""
        return list(self._parameters)

    @property
    def parameter_values(self) -> dict[Atom, float]:
        """The value of each parameter."""
        return dict(self._parameters)

    def coordinates(self, names: str | Sequence[str], inertia: bool = True) -> tuple[Atom, ...]:
        """Declare coordinates; ``inertia=False`` for those that move no mass.

        Such coordinates (surface parameters of a contact, auxiliary ones) have zero rows and
        columns in M, which are not computed.
        """
        new = self.workspace.coordinates(names)
        for q in new:
            if q in self._coordinates:
                raise ModelError(f"{self.name}: coordinate {q.name} is declared twice")
            self._coordinates.append(q)
            self._velocities.append(q.velocity)
            if not inertia:
                self._inertialess.add(q)
        return new

    def orientation(self, name: str, parent: Base | None = None) -> Base:
        """A base free to turn in any way, without a singular position.

        Declares the Euler parameters ``{name}_e0`` to ``{name}_e3`` as coordinates, which start as
        1, 0, 0, 0, and the angular velocity against the parent (the inertial base if not given),
        by its components ``{name}_wx``, ``{name}_wy``, ``{name}_wz`` in the new base (rad/s), as
        velocities.  The unit norm needs no constraint: q' = N(q) v keeps it, and what moves the
        system restores it.  The symbols are kept in ``orientations[name]``.

        >>> from biela.equations import SymbolicSystem
        >>> s = SymbolicSystem("top")
        >>> body = s.orientation("body")
        >>> s.q, s.v
        ([body_e0, body_e1, body_e2, body_e3], [body_wx, body_wy, body_wz])
        >>> s.orientations["body"].angular_velocity[2]
        body_wz

        Raises:
            ModelError: If one of the names is taken, or the parent is not of this system.
            DomainError: If it is not a name.
        """
        turned_from = self.base if parent is None else parent
        if turned_from.space is not self.space:
            raise ModelError(
                f"{self.name}: base {turned_from.name} belongs to another system, "
                f"{turned_from.space.name}"
            )
        endings = ("e0", "e1", "e2", "e3", "wx", "wy", "wz")
        for ending in endings:
            if f"{name}_{ending}" in self.workspace:
                raise ModelError(
                    f"{self.name}: {name}_{ending} is declared already; choose another name for "
                    f"the orientation {name}"
                )
        if name in self.space.bases:
            raise ModelError(f"{self.name} already has a base {name}: choose another name")
        e0, e1, e2, e3 = self.workspace.symbols(
            [f"{name}_{ending}" for ending in endings[:4]], Kind.COORDINATE
        )
        made = declared(self.workspace, name, (e0, e1, e2, e3), turned_from)
        self._coordinates += made.parameters
        self._velocities += made.angular_velocity
        self.orientations[name] = made
        return made.base

    def limits(self, coordinate: Atom, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Say between which values a coordinate may be (SI units).

        Raises:
            ModelError: If it is not a coordinate of this system, or the limits are none.
        """
        if coordinate not in self._coordinates:
            raise ModelError(f"{self.name}: {coordinate!r} is not one of its coordinates")
        if any(coordinate in made.parameters for made in self.orientations.values()):
            raise ModelError(
                f"{self.name}: {coordinate.name} is one of four Euler parameters, which have no "
                f"limits of their own"
            )
        try:
            low, high = float(lower), float(upper)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise ModelError(
                f"{self.name}: the limits of {coordinate.name} must be two numbers, the lower one "
                f"first, not {lower!r} and {upper!r}"
            )
        self._limits[coordinate] = low, high

    def frame(self, name: str, point: Point, base: Base) -> Frame:
        """Name a frame, whose pose, twist and acceleration the system then gives.

        Raises:
            ModelError: If the name is taken, or the frame is not of this system.
        """
        if name in self._frames:
            raise ModelError(f"{self.name}: two frames are called {name}")
        check_frame(f"{self.name}: frame {name}", self.space, point, base)
        self._frames[name] = Frame(point, base)
        return self._frames[name]

    @property
    def frames(self) -> dict[str, Frame]:
        """The named frames, in the order of their declaration."""
        return dict(self._frames)

    def check_plain(self, who: str) -> None:
        """Refuse orientations where only coordinates with velocities of their own are treated.

        Raises:
            ModelError: If there is one.
        """
        if self.orientations:
            raise ModelError(
                f"{self.name}: {who} is for coordinates whose rates are the velocities, q' = v, "
                f"and orientation {next(iter(self.orientations))} has Euler parameters; turn the "
                f"base by angles instead: base.euler(…)"
            )

    def parameters(self, names: str | Sequence[str] = (), /, **values: float) -> tuple[Atom, ...]:
        """Declare parameters, by name alone or with their values (SI units)."""
        symbols = list(self.workspace.parameters(names)) if names else []
        for symbol in symbols:
            self._parameters.setdefault(symbol, 0.0)
        for name, value in values.items():
            symbol = self.workspace.parameter(name)
            self._parameters[symbol] = self._number(f"parameter {name}", value)
            symbols.append(symbol)
        return tuple(symbols)

    def inputs(self, names: str | Sequence[str] = (), /, **values: float) -> tuple[Atom, ...]:
        """Declare inputs: forces, torques, commands given at every instant.

        By name alone, or with the values they have if nobody gives others.
        """
        new = list(self.workspace.inputs(names)) if names else []
        for symbol in new:
            self._inputs.setdefault(symbol, 0.0)
        for name, value in values.items():
            symbol = self.workspace.input(name)
            self._inputs[symbol] = self._number(f"input {name}", value)
            new.append(symbol)
        return tuple(new)

    def _number(self, what: str, value: float) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{self.name}: the value of {what} must be a number, not {value!r}"
            ) from None
        if not math.isfinite(number):
            raise ModelError(f"{self.name}: the value of {what} must be finite, not {number}")
        return number

    def unknowns(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Declare joint unknowns: components of joint forces used in wrenches, linearly.

        They are taken out of Q as the matrix V, M v' + Vᵀ ε = Q.
        """
        new = self.workspace.unknowns(names)
        self._unknowns += [symbol for symbol in new if symbol not in self._unknowns]
        return new

    def output(self, name: str, expression: Atom) -> None:
        """Add an entry to the outputs y."""
        if name in self._outputs:
            raise ModelError(f"{self.name}: two outputs are called {name}")
        self._outputs[name] = self.workspace.atom(expression)

    def event(self, name: str, expression: Atom) -> None:
        """Watch an expression: a change of its sign is an event of a simulation."""
        if name in self._events:
            raise ModelError(f"{self.name}: two events are called {name}")
        self._events[name] = self.workspace.atom(expression)

    def explicit(self, coordinate: Atom, expression: Atom) -> None:
        """Give a dependent coordinate in closed form, as a function of the others."""
        if coordinate not in self._coordinates:
            raise ModelError(f"{self.name}: {coordinate!r} is not one of its coordinates")
        self._explicit[coordinate] = self.workspace.atom(expression)

    def start(self, values: Mapping[Atom | str, float] | None = None, /, **named: float) -> None:
        """Set where a motion starts: values of coordinates and velocities, by symbol or name.

        They are a first guess where constraints leave no choice; what is not given is 0.
        """
        symbols = {symbol.name: symbol for symbol in (*self.q, *self.v)}
        given = {str(getattr(k, "name", k)): x for k, x in (values or {}).items()}
        for name, value in (given | named).items():
            if name not in symbols:
                known = ", ".join(symbols)
                raise ModelError(f"{self.name}: {name} is no coordinate or velocity of {known}")
            self._start[symbols[name]] = self._number(f"{name} at the start", value)

    @property
    def multipliers(self) -> list[Atom]:
        """The symbols of the multipliers, in the order of the rows of the constraints."""
        return [c.multiplier for c in self._constraints.ordered]

    def _vector(self, base: Base, components: Sequence[Atom | float] | Vector) -> Vector:
        if isinstance(components, Vector):
            if components.space is not self.space:
                raise DomainError(
                    f"{self.name}: {components!r} belongs to another system, "
                    f"{components.space.name}"
                )
            return components
        if not isinstance(components, Sequence):
            raise DomainError(f"{components!r} is not a vector; use base.vector(x, y, z)")
        if len(components) != 3:
            raise DomainError(f"three components are needed, not {len(components)}")
        return base.vector(components[0], components[1], components[2])

    # -------------------------------------------------------------- constraints

    def constrain(self, *equations: Atom, name: str = "") -> tuple[Constraint, ...]:
        """Geometric equations: each expression of q and t is held at zero."""
        return tuple(self._constraints.add(e, name, geometric=True) for e in equations)

    def hold(self, equation: Atom, speed: Atom | None = None, name: str = "") -> Constraint:
        """A geometric equation whose time derivative may be given in a better form."""
        return self._constraints.add(equation, name, geometric=True, speed=speed)

    def constrain_velocity(self, *equations: Atom, name: str = "") -> tuple[Constraint, ...]:
        """Non-holonomic equations: each expression, linear in the velocities, is held at zero."""
        return tuple(self._constraints.add(e, name, geometric=False) for e in equations)

    def close(
        self, first: Point, second: Point, axes: str = "xyz", name: str = ""
    ) -> tuple[Constraint, ...]:
        """Hold two points together along axes of the inertial base.

        The velocity equations are written with the velocity operator, which gives fewer operations
        than differentiating the positions.  Axes along which the points never part, as across the
        plane of a planar mechanism, add nothing.

        Raises:
            ModelError: If the points never part along any of the axes, or along one of them
                whatever the coordinates are.
        """
        gap = position(first, second).components(self.base)
        speed = (
            velocity(self.space.inertial, second) - velocity(self.space.inertial, first)
        ).components(self.base)
        made = []
        for axis in axes:
            if axis not in "xyz":
                raise DomainError(f"{axis!r} is not an axis; use x, y, z")
            k = "xyz".index(axis)
            if gap[k].ref:
                made.append(self._constraints.add(gap[k], name, geometric=True, speed=speed[k]))
        if not made:
            raise ModelError(
                f"{self.name}: {first.name} and {second.name} never part along {axes}: there is "
                f"nothing to close"
            )
        return tuple(made)

    def initial(self, *equations: Atom) -> None:
        """Further equations that fix the initial position."""
        for equation in equations:
            self._constraints.check("initial", equation, geometric=True)
        self._initial += [self.workspace.atom(equation) for equation in equations]

    def initial_velocity(self, *equations: Atom) -> None:
        """Further equations, linear in the velocities, that fix the initial motion."""
        for equation in equations:
            self._constraints.check("initial", equation, geometric=False)
        self._initial_velocity += [self.workspace.atom(equation) for equation in equations]

    @property
    def constraint_list(self) -> list[Constraint]:
        """The constraints in the order in which they were written."""
        return self._constraints.written

    # ---------------------------------------------------------------- operators

    def position(self, start: Point, end: Point) -> Vector:
        """The vector from one point to another."""
        return position(start, end)

    def velocity(self, point: Point, frame: Frame | None = None, of: Solid | None = None) -> Vector:
        """The velocity of a point, or of a point as if it belonged to a solid."""
        observer = frame or self.space.inertial
        return velocity(observer, point) if of is None else velocity_in(observer, point, of)

    def acceleration(self, point: Point, frame: Frame | None = None) -> Vector:
        """The acceleration of a point."""
        return acceleration(frame or self.space.inertial, point)

    def angular_velocity(self, base: Base, observer: Base | None = None) -> Vector:
        """The angular velocity of a base."""
        return angular_velocity(observer or self.base, base)

    def angular_acceleration(self, base: Base, observer: Base | None = None) -> Vector:
        """The angular acceleration of a base."""
        return angular_acceleration(observer or self.base, base)

    def twist(self, solid: Solid, at: Point | None = None, frame: Frame | None = None) -> Twist:
        """The motion of a solid: the velocity of a point of it (its own by default), and ω."""
        return twist(frame or self.space.inertial, solid, at)
