"""What is written down for a symbolic system: its symbols, constraints and observers.

The first half of `SymbolicSystem`, which adds bodies and forces and derives the equations.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom
from biela.equations.bodies import check_frame
from biela.equations.constraints import Constraint, ConstraintSet
from biela.equations.coordinates import Coordinates
from biela.errors import DomainError, ModelError
from biela.space import (
    Base,
    Frame,
    Point,
    Solid,
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


class Declarations(Coordinates):
    """Coordinates, parameters, inputs, outputs, events, constraints and kinematic operators."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._gravity = Vector(self.space, {})
        self._constraints = ConstraintSet(name, self.space)
        self._frames: dict[str, Frame] = {}
        self._inputs: dict[Atom, float] = {}
        self._parameters: dict[Atom, float] = {}
        #: Units of parameters by name, as far as somebody told them.
        self.parameter_units: dict[str, str] = {}
        self._initial: list[Atom] = []
        self._initial_velocity: list[Atom] = []
        self._outputs: dict[str, Atom] = {}
        self._events: dict[str, Atom] = {}
        self._explicit: dict[Atom, Atom] = {}
        self._unknowns: list[Atom] = []

    # ------------------------------------------------------------------- symbols

    @property
    def gravity(self) -> Vector:
        """The acceleration of gravity; none unless set."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector | Sequence[Atom | float]) -> None:
        self._gravity = self._vector(self.base, value)

    @property
    def parameter_symbols(self) -> list[Atom]:
        """The parameters in the order of their declaration."""
        return list(self._parameters)

    @property
    def parameter_values(self) -> dict[Atom, float]:
        """The value of each parameter."""
        return dict(self._parameters)

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
