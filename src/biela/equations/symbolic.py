"""The symbolic system: the user is the formulator.

Coordinates, bases, points, solids, wrenches and constraint equations are written down one by one;
biela derives the matrices of the motion from them and turns them into a `System`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from biela.atoms import Atom, jacobian, substitute
from biela.code import Function
from biela.code.arrays import Entries
from biela.equations import virtual_power
from biela.equations.acting import Acting
from biela.equations.beams import beam, vibrations
from biela.equations.bodies import check_frame, rigid_body
from biela.equations.capabilities import coordinate_units, drawing, makers, velocity_units
from biela.equations.choice import Choice, derive
from biela.equations.constraints import Levels
from biela.equations.deferred import Deferred, Part
from biela.equations.derived import Equations
from biela.equations.flexible import FlexibleBody, particles
from biela.equations.system import LazyFunctions, Quantity, System
from biela.equations.virtual_power import FOR_FORCES, FOR_MASS, Dynamics, Route
from biela.errors import ModelError
from biela.space import (
    Algebra,
    Base,
    Point,
    Solid,
    Tensor,
    Vector,
    angular_velocity,
    velocity,
)


class SymbolicSystem(Acting):
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
        super().__init__(name)
        self.solids: list[Solid] = []
        self.flexible_bodies: list[FlexibleBody] = []

    def __repr__(self) -> str:
        return (
            f"SymbolicSystem {self.name}: {len(self._coordinates)} coordinates, "
            f"{len(self.solids)} solids, {len(self.constraint_list)} constraints"
        )

    # --------------------------------------------------------------- what moves

    def solid(
        self,
        name: str,
        at: Point,
        base: Base,
        mass: Atom | float,
        com: Sequence[Atom | float] | Vector | None = None,
        inertia: Tensor | None = None,
        first_moment: Sequence[Atom | float] | Vector | None = None,
        central_inertia: Tensor | None = None,
    ) -> Solid:
        """Add a rigid body with a frame at a point and along a base.

        ``com`` goes from the point to the centre of mass, in the base of the body (default: no
        way, the centre is at the point); or ``first_moment`` gives mass times that vector.
        ``inertia`` is about the point; or ``central_inertia`` is about the centre of mass, along
        the base of the body (default: none, a mass without extension).

        Raises:
            ModelError: If the name is taken, the frame is not one of this system, the mass or an
                inertia cannot be that of a body, or something is given twice.
        """
        self._check_new(name)
        who = f"{self.name}: solid {name}"
        check_frame(who, self.space, at, base)
        solid = rigid_body(
            who,
            name,
            (at, base),
            self.workspace.atom(mass),
            None if com is None else self._vector(base, com),
            None if first_moment is None else self._vector(base, first_moment),
            inertia,
            central_inertia,
        )
        self.solids.append(solid)
        return solid

    def flexible(
        self,
        name: str,
        at: Point,
        base: Base,
        modes: Sequence[Atom],
        masses: Any,
        places: Any,
        shapes: Any,
        stiffness: Sequence[Sequence[Atom | float]],
        damping: Sequence[Sequence[Atom | float]] | None = None,
        turns: Any = None,
        unit_mass: Atom | float = 1,
        unit_length: Atom | float = 1,
    ) -> FlexibleBody:
        """Add a body that deflects in assumed shapes, given at particles.

        Particle n of ``masses`` (N) rests at ``places`` (N, 3), from ``at`` in ``base``, and a unit
        of mode a moves it by ``shapes[a][n]`` (modes, N, 3) and turns it by ``turns[a][n]`` (only
        markers need this).  ``modes`` are coordinates of the system, ``stiffness`` and ``damping``
        their matrices.  Masses and places may be numbers of units that are parameters.
        """
        self._check_new(name)
        check_frame(f"{self.name}: body {name}", self.space, at, base)
        body = particles(
            self,
            (name, at, base, tuple(modes)),
            (masses, places, shapes, turns),
            (stiffness, damping),
            (self.workspace.atom(unit_mass), self.workspace.atom(unit_length)),
        )
        self.flexible_bodies.append(body)
        return body

    def beam(
        self,
        name: str,
        at: Point,
        base: Base,
        length: Atom | float,
        mass_per_length: Atom | float,
        bending: Mapping[str, Atom | float],
        modes: int = 1,
        along: str = "x",
        ends: str = "clamped-free",
        damping: Atom | float = 0,
        polynomials: int | None = None,
    ) -> FlexibleBody:
        """Add a slender beam from a point along an axis of a base, which bends in its vibrations.

        ``bending`` gives the stiffness E I for deflections along one or two other axes.  For each,
        ``modes`` coordinates are declared, named ``{name}_y1`` …: the largest deflection that the
        vibration makes.  The frame is held in the beam as ``ends`` say.  ``damping`` (s) is that of
        the material, D = damping K; ``polynomials`` is how many the shapes are sought among.
        """
        self._check_new(name)
        check_frame(f"{self.name}: beam {name}", self.space, at, base)
        atom = self.workspace.atom
        body = beam(
            self,
            (name, at, base),
            (atom(length), atom(mass_per_length), atom(damping)),
            {axis: atom(EI) for axis, EI in bending.items()},
            along,
            vibrations(modes, ends, polynomials),
        )
        self.flexible_bodies.append(body)
        return body

    def _check_new(self, name: str) -> None:
        taken = {body.name for body in self.solids} | {body.name for body in self.flexible_bodies}
        if name in taken:
            raise ModelError(f"{self.name}: two solids are called {name}")

    def check_rigid(self, who: str) -> None:
        """Refuse flexible bodies where only solids are treated.

        Raises:
            ModelError: If there is a flexible body.
        """
        if self.flexible_bodies:
            raise ModelError(
                f"{self.name}: {who} knows rigid bodies only, and "
                f"{self.flexible_bodies[0].name} is flexible"
            )

    def with_solids(
        self, solids: Sequence[Solid], parameters: Mapping[Atom, float]
    ) -> SymbolicSystem:
        """A copy with other solids in place of its own, one for one, and with other parameters.

        The trees of bases and points are shared.
        """
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set):
                setattr(twin, name, value.copy())
        twin._constraints = copy(self._constraints)
        twin._constraints.written = list(self._constraints.written)
        replaced = dict(zip(self.solids, solids, strict=True))
        twin.solids = list(solids)
        twin.wrenches = [
            replace(wrench, solid=replaced.get(wrench.solid, wrench.solid))
            for wrench in self.wrenches
        ]
        twin._parameters = dict(parameters)
        return twin

    # ---------------------------------------------------------------- equations

    def mass_and_forces(self, route: Route) -> tuple[list[list[Atom]], list[Atom]]:
        """M and Q by virtual power, on a given route."""
        dynamics = self._dynamics(route.solids)
        M = self.with_rotor_inertia(dynamics.mass(route.carry))
        return M, self.with_rotor_forces(self.with_pushes(dynamics.forces(route.carry)))

    def _dynamics(self, algebra: Algebra) -> Dynamics:
        """What the bodies need by one algebra."""
        without = {q.velocity for q in self._inertialess}
        return virtual_power.dynamics(
            self.space,
            self.solids,
            self.wrenches,
            self.gravity,
            self.v,
            [j for j, v in enumerate(self.v) if v not in without],
            algebra,
            self.flexible_bodies,
        )

    def constraints(self) -> Levels:
        """All constraint equations at the three levels."""
        return self._constraints.levels(self.q, self.v)

    def equations(self, route: Route | None = None) -> Equations:
        """Derive everything; without a route, by those that give fewest operations."""
        self._check_complete()
        choice = self._derived(route)
        forces, alone = self._forces(choice)
        entries = forces | self._levels() | self._start_levels() | self._given()
        entries = {name: entry for name, entry in entries.items() if entry}
        made = {n: self.function(n, {n: alone.get(n, e)}) for n, e in entries.items()}
        system = self._system(LazyFunctions(made, makers(self, entries)))
        return Equations(self, system, choice.together, entries, alone)

    def deferred(self, *, later: bool = False) -> System:
        """The system of these equations, whose conditions at the start are derived when asked for.

        So are all of its matrices if they may come ``later``: where positions are all that is
        wanted, M and Q take longest and are never asked for.  The equations may not be changed.
        """
        self._check_complete()
        alone: dict[str, Any] = {}

        def forces() -> Mapping[str, Any]:
            found, smallest = self._forces(self._derived(None))
            alone.update(smallest)
            return found

        written, initial = self._constraints.written, self._initial
        rates = self._initial_velocity
        placed = any(c.geometric for c in written)
        start: list[str] = []
        if initial or rates:
            start += ["Init", "Init_q"] if initial or placed else []
            start += ["Init_v", "Init_beta"] if rates or written else []
        levels = ["dPhi", "Phi_v", "beta", "gamma"] if written else []
        given = {
            "outputs": self._outputs,
            "events": self._events,
            "rates": self.orientations,
            "positions": self._explicit,
        }
        entries = Deferred(
            [
                Part(["M", "Q", *(["V"] if self._unknowns else [])], forces),
                Part([*(["Phi", "Phi_q"] if placed else []), *levels], self._levels),
                Part(start, self._start_levels),
                Part([name for name, any_given in given.items() if any_given], self._given),
            ]
        )

        def function(name: str) -> Function:
            entry = entries[name]
            return self.function(name, {name: alone.get(name, entry)})

        own: dict[str, Callable[[], Function]] = {n: partial(function, n) for n in entries}
        functions = LazyFunctions({}, own | makers(self, entries))
        if not later:
            for name in entries:
                if name not in start:
                    entries[name]
            for name in entries:
                if name not in start:
                    functions[name]
        return self._system(functions)

    def _check_complete(self) -> None:
        """Refuse to derive what cannot move."""
        if not (self.solids or self.flexible_bodies):
            raise ModelError(f"{self.name} has no solids: add one with solid(…)")
        if not self._coordinates:
            raise ModelError(f"{self.name} has no coordinates: declare them first")
        self._check_inertialess()

    def _derived(self, route: Route | None) -> Choice:
        for_M, for_Q = ([route], [route]) if route else self._candidates()
        return derive(self._dynamics, for_M, for_Q)

    def _forces(self, choice: Choice) -> tuple[dict[str, Any], dict[str, Any]]:
        """M, Q and the matrix of joint unknowns; and M and Q as each is smallest alone."""
        together = choice.together
        held: dict[Atom, Atom | float] = {symbol: 0 for symbol in self._unknowns}
        both, alone_Q = (
            self.with_rotor_forces(self.with_pushes(substitute(Q, held)))
            for Q in (together.Q, choice.apart.Q)
        )
        entries: dict[str, Any] = {"M": self.with_rotor_inertia(together.M), "Q": both}
        if self._unknowns:
            by_unknown = jacobian(together.Q, self._unknowns).rows
            entries["V"] = [[-row[k] for row in by_unknown] for k in range(len(self._unknowns))]
        return entries, {"M": self.with_rotor_inertia(choice.apart.M), "Q": alone_Q}

    def _levels(self) -> dict[str, Any]:
        """The constraints at all levels."""
        if not self._constraints.written:
            return {}
        found = self.constraints()
        return {
            "Phi": found.Phi,
            "Phi_q": found.Phi_q,
            "dPhi": found.dPhi,
            "Phi_v": found.Phi_v,
            "beta": found.beta,
            "gamma": found.gamma,
        }

    def _start_levels(self) -> dict[str, Any]:
        """The same with the conditions at the start."""
        if not (self._initial or self._initial_velocity):
            return {}
        start = self._constraints.levels(self.q, self.v, self._initial, self._initial_velocity)
        return {
            "Init": start.Phi,
            "Init_q": start.Phi_q,
            "Init_v": start.Phi_v,
            "Init_beta": start.beta,
        }

    def _given(self) -> dict[str, Any]:
        """Expressions that are not derived."""
        entries: dict[str, Any] = {}
        if self._outputs:
            entries["outputs"] = list(self._outputs.values())
        if self._events:
            entries["events"] = list(self._events.values())
        if self.orientations:
            entries["rates"] = [self.space.time_rate(q) for q in self.q]
        if self._explicit:
            entries["positions"] = [self._explicit.get(q, q) for q in self.q]
        return entries

    def _system(self, functions: LazyFunctions) -> System:
        units = coordinate_units(self)
        ordered = self._constraints.ordered
        return System(
            name=self.name,
            q=tuple(self._quantity(q, units[q]) for q in self.q),
            v=tuple(self._quantity(v, unit) for v, unit in velocity_units(self, units).items()),
            u=tuple(Quantity(u.name, "", value) for u, value in self._inputs.items()),
            p=tuple(
                Quantity(p.name, self.parameter_units.get(p.name, ""), value)
                for p, value in self._parameters.items()
            ),
            y=tuple(Quantity(name) for name in self._outputs),
            multipliers=tuple(c.name for c in ordered),
            geometric=sum(c.geometric for c in ordered),
            events=tuple(self._events),
            drawing=drawing(self),
            frames=tuple(self._frames),
            quaternions=tuple(self.q.index(o.parameters[0]) for o in self.orientations.values()),
            functions=functions,
        )

    def _quantity(self, symbol: Atom, unit: str) -> Quantity:
        turns_nothing = any(symbol == o.parameters[0] for o in self.orientations.values())
        value = self._start.get(symbol, 1.0 if turns_nothing else 0.0)
        limits = self._limits.get(symbol, (-math.inf, math.inf))
        return Quantity(symbol.name, unit, value, symbol in self._start, *limits)

    def _check_inertialess(self) -> None:
        """A coordinate declared to move no mass must not."""
        for body in self.flexible_bodies:
            for q in self._inertialess.intersection(body.modes):
                raise ModelError(
                    f"{self.name}: coordinate {q.name} is declared without inertia, but it "
                    f"is a mode of {body.name}"
                )
        for solid in [*self.solids, *(body.deformed for body in self.flexible_bodies)]:
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

    def _candidates(self) -> tuple[list[Route], list[Route]]:
        """The routes worth trying for M and for Q: merging turns needs turns that can be merged."""
        if any(base.follows_axis for base in self.space.bases.values()):
            return list(FOR_MASS), list(FOR_FORCES)
        unmerged = ([route.unmerged for route in routes] for routes in (FOR_MASS, FOR_FORCES))
        for_M, for_Q = (list(dict.fromkeys(routes)) for routes in unmerged)
        return for_M, for_Q

    def function(self, name: str, outputs: Mapping[str, Entries], **more: list[Atom]) -> Function:
        """A function of t, q, v, u and p, and of the multipliers if the outputs need them."""
        inputs: dict[str, Any] = {"t": self.time, "q": self.q, "v": self.v}
        inputs |= {"u": list(self._inputs), "p": list(self._parameters)}
        multipliers = self.multipliers
        if multipliers and self._needs(outputs).intersection(m.ref for m in multipliers):
            inputs["lam"] = multipliers
        return Function(name, inputs | more, outputs)

    def _needs(self, outputs: Mapping[str, Entries]) -> set[int]:
        """All atoms that the outputs depend on."""
        flat: list[Any] = list(outputs.values())
        refs = []
        while flat:
            item = flat.pop()
            if isinstance(item, list | tuple):
                flat.extend(item)
            else:
                refs.append(item.ref)
        return set(self.workspace.table.live(refs))
