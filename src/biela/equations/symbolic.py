"""The symbolic system: the user is the formulator.

Coordinates, bases, points, solids, wrenches and constraint equations are written down one by one;
biela derives the matrices of the motion from them and turns them into a `System`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biela.atoms import Atom, Workspace, jacobian, substitute
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations import virtual_power
from biela.equations.constraints import Constraint, ConstraintSet, Levels
from biela.equations.derived import Equations
from biela.equations.system import Quantity, System
from biela.equations.virtual_power import CANDIDATES, Route
from biela.errors import DomainError, ModelError
from biela.space import (
    Base,
    Frame,
    Point,
    Solid,
    Space,
    Tensor,
    Toward,
    Vector,
    Wrench,
    acceleration,
    angular_acceleration,
    angular_velocity,
    position,
    velocity,
    velocity_in,
)
from biela.space.solids import point_inertia


class SymbolicSystem:
    """A multibody system described by symbols.

    >>> s = SymbolicSystem("pendulum")
    >>> (theta,) = s.coordinates("theta")
    >>> m, l, g = s.parameters(m=1.0, l=0.5, g=9.81)
    >>> arm = s.base.rotated("arm", "y", theta)
    >>> bob = s.origin.offset("bob", arm.vector(0, 0, -l))
    >>> mass = s.solid("mass", at=bob, base=arm, mass=m)
    >>> s.gravity = s.base.vector(0, 0, -g)
    >>> eq = s.equations()
    >>> eq.mass([0.3])
    array([[0.25]])
    """

    def __init__(self, name: str) -> None:
        self.name = name
        identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        self.workspace = Workspace(identifier if identifier[:1].isalpha() else f"m{identifier}")
        self.space = Space(self.workspace)
        self._gravity = Vector(self.space, {})
        self.solids: list[Solid] = []
        self.wrenches: list[Wrench] = []
        self._constraints = ConstraintSet(name, self.space)
        self._coordinates: list[Atom] = []
        self._inertialess: set[Atom] = set()
        self._inputs: dict[Atom, float] = {}
        self._parameters: dict[Atom, float] = {}
        self._initial: list[Atom] = []
        self._initial_velocity: list[Atom] = []
        self._outputs: dict[str, Atom] = {}
        self._unknowns: list[Atom] = []

    def __repr__(self) -> str:
        return (
            f"SymbolicSystem {self.name}: {len(self._coordinates)} coordinates, "
            f"{len(self.solids)} solids, {len(self.constraint_list)} constraints"
        )

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
        """Their velocities."""
        return [q.velocity for q in self._coordinates]

    @property
    def parameter_symbols(self) -> list[Atom]:
        """The parameters in the order of their declaration."""
        return list(self._parameters)

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
            if not inertia:
                self._inertialess.add(q)
        return new

    def parameters(self, names: str | Sequence[str] = (), /, **values: float) -> tuple[Atom, ...]:
        """Declare parameters, by name alone or with their values (SI units)."""
        symbols = list(self.workspace.parameters(names)) if names else []
        for symbol in symbols:
            self._parameters.setdefault(symbol, 0.0)
        for name, value in values.items():
            symbol = self.workspace.parameter(name)
            try:
                self._parameters[symbol] = float(value)
            except (TypeError, ValueError):
                raise ModelError(
                    f"{self.name}: the value of parameter {name} must be a number, not {value!r}"
                ) from None
            symbols.append(symbol)
        return tuple(symbols)

    def inputs(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Declare inputs: forces, torques, commands given at every instant."""
        new = self.workspace.inputs(names)
        for symbol in new:
            self._inputs.setdefault(symbol, 0.0)
        return new

    def unknowns(self, names: str | Sequence[str]) -> tuple[Atom, ...]:
        """Declare joint unknowns: components of joint forces used in wrenches, linearly.

        They are taken out of Q as the matrix V, M v' + Vᵀ ε = Q.
        """
        new = self.workspace.unknowns(names)
        self._unknowns += [symbol for symbol in new if symbol not in self._unknowns]
        return new

    def output(self, name: str, expression: Atom) -> None:
        """Add an entry to the outputs y."""
        self._outputs[name] = expression

    # --------------------------------------------------------------- what moves

    def solid(
        self,
        name: str,
        at: Point,
        base: Base,
        mass: Atom | float,
        com: Sequence[Atom | float] | Vector = (0, 0, 0),
        inertia: Tensor | None = None,
        first_moment: Sequence[Atom | float] | Vector | None = None,
    ) -> Solid:
        """Add a rigid body with a frame at a point and along a base.

        ``com`` goes from the point to the centre of mass, in the base of the body; or
        ``first_moment`` gives mass times that vector. ``inertia`` is about the point (default: a
        mass without extension, as seen from there).
        """
        if any(solid.name == name for solid in self.solids):
            raise ModelError(f"{self.name}: two solids are called {name}")
        m = self.workspace.atom(mass)
        if m.value is not None and m.value < 0:
            raise ModelError(f"{self.name}: solid {name} has a negative mass, {m.value}")
        # kept in the base of the solid, whatever algebra is in force
        given = self._vector(base, com if first_moment is None else first_moment).gathered(base)
        moment = given if first_moment is not None else given.map(lambda x: m * x, settle=False)
        if inertia is None:
            inertia = point_inertia(base, m, moment)
        solid = Solid(name, at, base, m, moment, inertia)
        self.solids.append(solid)
        return solid

    def _vector(self, base: Base, components: Sequence[Atom | float] | Vector) -> Vector:
        if isinstance(components, Vector):
            return components
        if not isinstance(components, Sequence):
            raise DomainError(f"{components!r} is not a vector; use base.vector(x, y, z)")
        if len(components) != 3:
            raise DomainError(f"three components are needed, not {len(components)}")
        return base.vector(components[0], components[1], components[2])

    # ---------------------------------------------------------------- what acts

    def wrench(
        self,
        solid: Solid,
        force: Vector | Sequence[Atom | float] | None = None,
        moment: Vector | Sequence[Atom | float] | None = None,
        at: Point | None = None,
        name: str = "",
        reaction_on: Solid | None = None,
        toward: Toward | None = None,
    ) -> None:
        """A force through a point (that of the solid by default) and a moment on a solid.

        Three numbers in place of a vector are components in the inertial base.  With
        ``reaction_on`` the opposite acts on another solid.  ``toward`` sets the direction of the
        operations with it (a force of the inertial base is often cheapest towards the root).
        """
        nothing = Vector(self.space, {})
        force = nothing if force is None else self._vector(self.base, force)
        moment = nothing if moment is None else self._vector(self.base, moment)
        point = at or solid.point
        name = name or f"wrench{len(self.wrenches) + 1}"
        self.wrenches.append(Wrench(name, solid, point, force, moment, toward))
        if reaction_on is not None:
            self.wrenches.append(
                Wrench(f"{name}_reaction", reaction_on, point, -force, -moment, toward)
            )

    def spring(
        self,
        name: str,
        first: tuple[Solid | None, Point],
        second: tuple[Solid | None, Point],
        stiffness: Atom | float = 0,
        length: Atom | float = 0,
        damping: Atom | float = 0,
        force: Atom | float = 0,
    ) -> None:
        """A spring, damper and actuator in the line between two points of two solids.

        The pull is k (l - l0) + c l' - f: an actuator force f pushes the points apart.  None in
        place of a solid is the ground.
        """
        gap = position(first[1], second[1])
        distance2 = gap.norm2()
        distance = distance2 ** self.workspace.atom(0.5)
        pull = self.workspace.atom(stiffness) * (distance - length) - force
        pull = pull + self.workspace.atom(damping) * self.space.time_rate(distance)
        along = gap * (pull / distance)
        for (solid, point), sign in ((first, 1), (second, -1)):
            if solid is not None:
                self.wrenches.append(
                    Wrench(name, solid, point, along * sign, Vector(self.space, {}))
                )

    # -------------------------------------------------------------- constraints

    def constrain(self, *equations: Atom, name: str = "") -> tuple[Constraint, ...]:
        """Geometric equations: each expression of q and t is held at zero."""
        return tuple(self._constraints.add(e, name, geometric=True) for e in equations)

    def constrain_velocity(self, *equations: Atom, name: str = "") -> tuple[Constraint, ...]:
        """Non-holonomic equations: each expression, linear in the velocities, is held at zero."""
        return tuple(self._constraints.add(e, name, geometric=False) for e in equations)

    def close(
        self, first: Point, second: Point, axes: str = "xyz", name: str = ""
    ) -> tuple[Constraint, ...]:
        """Hold two points together along axes of the inertial base.

        The velocity equations are written with the velocity operator, which gives fewer operations
        than differentiating the positions.
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
            made.append(self._constraints.add(gap[k], name, geometric=True, speed=speed[k]))
        return tuple(made)

    def initial(self, *equations: Atom) -> None:
        """Further equations that fix the initial position."""
        for equation in equations:
            self._constraints.check("initial", equation, geometric=True)
        self._initial += equations

    def initial_velocity(self, *equations: Atom) -> None:
        """Further equations, linear in the velocities, that fix the initial motion."""
        for equation in equations:
            self._constraints.check("initial", equation, geometric=False)
        self._initial_velocity += equations

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

    # ---------------------------------------------------------------- equations

    def mass_and_forces(self, route: Route) -> tuple[list[list[Atom]], list[Atom]]:
        """M and Q by virtual power, on a given route."""
        return virtual_power.mass_and_forces(
            self.space,
            self.solids,
            self.wrenches,
            self.gravity,
            self.v,
            [i for i, q in enumerate(self._coordinates) if q not in self._inertialess],
            route,
        )

    def constraints(self) -> Levels:
        """All constraint equations at the three levels."""
        return self._constraints.levels(self.q, self.v)

    def equations(self, route: Route | None = None) -> Equations:
        """Derive everything; without a route, by the one that gives fewest operations."""
        if not self.solids:
            raise ModelError(f"{self.name} has no solids: add one with solid(…)")
        if not self._coordinates:
            raise ModelError(f"{self.name} has no coordinates: declare them first")
        self._check_inertialess()
        chosen, (M, Q) = min(
            (
                (candidate, self.mass_and_forces(candidate))
                for candidate in ((route,) if route else self._candidates())
            ),
            key=lambda found: self._size(found[1]),
        )
        entries: dict[str, Any] = {"M": M, "Q": Q}
        if self._unknowns:
            by_unknown = jacobian(Q, self._unknowns).rows
            entries["Q"] = substitute(Q, {symbol: 0 for symbol in self._unknowns})
            entries["V"] = [[-row[k] for row in by_unknown] for k in range(len(self._unknowns))]
        ordered = self._constraints.ordered
        if ordered:
            found = self.constraints()
            entries |= {
                "Phi": found.Phi,
                "Phi_q": found.Phi_q,
                "dPhi": found.dPhi,
                "Phi_v": found.Phi_v,
                "beta": found.beta,
                "gamma": found.gamma,
            }
        if self._initial or self._initial_velocity:
            start = self._constraints.levels(self.q, self.v, self._initial, self._initial_velocity)
            entries |= {
                "Init": start.Phi,
                "Init_q": start.Phi_q,
                "Init_v": start.Phi_v,
                "Init_beta": start.beta,
            }
        if self._outputs:
            entries["outputs"] = list(self._outputs.values())
        entries = {name: entry for name, entry in entries.items() if entry}
        system = System(
            name=self.name,
            q=tuple(Quantity(q.name) for q in self.q),
            v=tuple(Quantity(v.name) for v in self.v),
            u=tuple(Quantity(u.name, "", value) for u, value in self._inputs.items()),
            p=tuple(Quantity(p.name, "", value) for p, value in self._parameters.items()),
            y=tuple(Quantity(name) for name in self._outputs),
            multipliers=tuple(c.name for c in ordered),
            geometric=sum(c.geometric for c in ordered),
            functions={name: self.function(name, {name: e}) for name, e in entries.items()},
        )
        return Equations(self, system, chosen, entries)

    def _check_inertialess(self) -> None:
        """A coordinate declared to move no mass must not."""
        for solid in self.solids:
            if not any(x.ref for x in solid.inertial_parameters):
                continue
            moving = [velocity(self.space.inertial, solid.point)]
            moving.append(angular_velocity(self.base, solid.base))
            for q in self._inertialess:
                if any(not u.diff(q.velocity).is_zero for u in moving):
                    raise ModelError(
                        f"{self.name}: coordinate {q.name} is declared without inertia, but it "
                        f"moves solid {solid.name}"
                    )

    def _candidates(self) -> list[Route]:
        """The routes worth trying: merging turns needs turns that can be merged."""
        merging = any(base.follows_axis for base in self.space.bases.values())
        return [route for route in CANDIDATES if merging or not route.carry.merge]

    def _size(self, matrices: tuple[list[list[Atom]], list[Atom]]) -> int:
        M, Q = matrices
        table = self.workspace.table
        return len(table.live(e.ref for row in [*M, Q] for e in row))

    def function(self, name: str, outputs: Mapping[str, Entries]) -> Function:
        """A function of t, q, v, u and p, and of the multipliers if the outputs need them."""
        inputs: dict[str, Any] = {"t": self.time, "q": self.q, "v": self.v}
        inputs |= {"u": list(self._inputs), "p": list(self._parameters)}
        multipliers = [c.multiplier for c in self._constraints.ordered]
        if multipliers and self._needs(outputs).intersection(m.ref for m in multipliers):
            inputs["lam"] = multipliers
        return Function(name, inputs, outputs)

    def _needs(self, outputs: Mapping[str, Entries]) -> set[int]:
        """All atoms that the outputs depend on."""
        flat: list[Any] = list(outputs.values())
        refs = []
        while flat:
            item = flat.pop()
            if isinstance(item, list):
                flat.extend(item)
            else:
                refs.append(item.ref)
        return set(self.workspace.table.live(refs))
