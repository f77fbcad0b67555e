"""The initial problem: position, velocity and acceleration at the start of a motion.

    Φ(q, t) = 0,         further equations of q,        by Newton's method
    Φ_v v = β,           further equations of v,        linear
    M v' + Φ_vᵀ λ = Q,   Φ_v v' = γ,                    or Φ_v v' = γ and equations of v'

(Plaza 2015, eqs 2.46 to 2.49).  The further equations are those of the model (`initial`,
`initial_velocity`), or texts given here in their place; where they leave something open, what is
given is changed as little as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.assembly import initial_state
from biela.analysis.instant import Instant, motions
from biela.analysis.one_start import first_position, start_position, start_state
from biela.analysis.preparation import Model, Values, as_system, check_masses, values, with_values
from biela.atoms import Atom, Kind, Workspace, jacobian, substitute
from biela.code import Function
from biela.code.arrays import Entries
from biela.doors import door
from biela.equations import System
from biela.equations.system import LazyFunctions
from biela.errors import AssemblyError, BielaError, ModelError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class InitialState:
    """A consistent start.

    Attributes:
        t: Time, s.
        q: Position.
        v: Velocity.
        a: Acceleration.
        lam: Multipliers; None for accelerations from equations, which no forces explain.
        error: Largest residual of the constraints on positions.
        mobility: Degrees of freedom of the velocities.
    """

    t: float
    q: Floats
    v: Floats
    a: Floats
    lam: Floats | None
    error: float
    mobility: int


@door(ModelError)
def initial_problem(
    model: Model,
    q: Values = None,
    v: Values = None,
    *,
    positions: Sequence[str] = (),
    velocities: Sequence[str] = (),
    accelerations: Sequence[str] = (),
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
) -> InitialState:
    """Solve for the start of a motion.

    Args:
        model: What moves.
        q: First guess of the position, by name or in order; without ``positions``, as many of the
            values named are kept as the constraints leave free.
        v: Likewise for velocities.
        positions: Further equations of the position, each a text held at zero: "theta1 - pi/4".
            They take the place of those of the model; likewise the velocities.
        velocities: Further equations, linear in the velocities: "dx - r*dphi".
        accelerations: Equations linear in the accelerations, called "d" and the name of the
            velocity ("ddtheta - 2").  With any, accelerations follow from them and the constraints
            instead of from forces.
        t: Time, s.
        parameters: Values other than those of the model.
        inputs: Likewise.

    Raises:
        ModelError: An equation cannot be read, or is not linear where it must be.
        AssemblyError: The equations contradict each other.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    conditions = _Conditions(system)
    if positions or velocities:
        # values named in the call win against the conditions of the model, but not against texts
        place = (
            first_position(system, q, t, u, p)
            if positions
            else start_position(system, q, t, u, p)[0]
        )
        speed = values(system, "velocity", system.v, v)
        system = conditions.added(positions, velocities)
        named = (None if positions else place, None if velocities else v)
        place, speed = initial_state(system, place, speed, t=t, u=u, p=p, given=named)
    else:
        place, speed = start_state(system, q, v, t=t, u=u, p=p)
    instant = Instant(system, t, u, p)
    lam: Floats | None
    if accelerations:
        a, lam = _kinematic(conditions, instant, accelerations, place, speed), None
    else:
        check_masses(system, t, place, u, p)
        a, lam = instant.motion(place, speed)
    return InitialState(
        float(t),
        place,
        speed,
        a,
        lam,
        float(np.abs(instant.Phi(place)).max(initial=0.0)),
        motions(instant.Phi_v(place)).mobility,
    )


def _kinematic(
    conditions: _Conditions, instant: Instant, texts: Sequence[str], q: Floats, v: Floats
) -> Floats:
    """The smallest accelerations that fulfil the constraints and the equations given."""
    function = conditions.accelerations(texts)
    given = {"t": instant.t, "q": q, "v": v, "u": instant.u, "p": instant.p}
    rows, right = function(*(given[a.name] for a in function.inputs))
    A = np.concatenate([instant.Phi_v(q), rows])
    b = np.concatenate([instant.gamma(q, v), right])
    a = motions(A).inverse @ b
    missed = A @ a - b
    if not np.abs(missed).max() <= 1e-8 * (1 + np.abs(b).max()):
        names = [*instant.system.multipliers, *texts]
        worst = int(np.argmax(np.abs(missed)))
        raise AssemblyError(
            f"{instant.system.name}: no accelerations fulfil all equations at the start; "
            f"{names[worst]} is missed by {missed[worst]:.3g}"
        )
    return np.asarray(a)


class _Conditions:
    """Equations out of texts, in the names of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._ws = ws = Workspace("conditions")
        self._t = ws.time
        self._q = [ws.symbol(e.name, Kind.COORDINATE) for e in system.q]
        self._v = [ws.symbol(e.name, Kind.VELOCITY) for e in system.v]
        self._p = [ws.symbol(e.name, Kind.PARAMETER) for e in system.p]
        self._u = [ws.symbol(e.name, Kind.INPUT) for e in system.u]
        self._a = [ws.symbol(f"d{e.name}", Kind.ACCELERATION) for e in system.v]

    def added(self, positions: Sequence[str], velocities: Sequence[str]) -> System:
        """The system with initial conditions in place of its own."""
        system = self.system
        made: dict[str, Any] = {}
        if positions:
            at_q = [self._read(text, {Kind.COORDINATE}) for text in positions]
            own, slopes = self._own("Phi", "Phi_q", bool(system.geometric))
            made["Init"] = [*own, *at_q]
            made["Init_q"] = [*slopes, *jacobian(at_q, self._q).rows]
        if velocities:
            at_v = [self._read(text, {Kind.COORDINATE, Kind.VELOCITY}) for text in velocities]
            rows, constant = self._linear(at_v, self._v, velocities)
            slopes, right = self._own("Phi_v", "beta", bool(system.multipliers))
            made["Init_v"] = [*slopes, *rows]
            made["Init_beta"] = [*right, *(-c for c in constant)]
        functions = {
            name: Function(name, self._inputs(), {name: entry}) for name, entry in made.items()
        }
        kept = {name: partial(system.functions.__getitem__, name) for name in system.functions}
        return replace(system, functions=LazyFunctions(functions, kept), begins=None)

    def accelerations(self, texts: Sequence[str]) -> Function:
        """Rows and right-hand side of equations of the accelerations."""
        kinds = {Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION}
        equations = [self._read(text, kinds) for text in texts]
        rows, constant = self._linear(equations, self._a, texts)
        return Function(
            "accelerations", self._inputs(), {"rows": rows, "right": [-c for c in constant]}
        )

    def _inputs(self) -> dict[str, Entries]:
        return {"t": self._t, "q": self._q, "v": self._v, "u": self._u, "p": self._p}

    def _own(self, first: str, second: str, constrained: bool) -> tuple[list[Any], list[Any]]:
        """What the constraints of the system are, at the symbols of the conditions."""
        if not constrained:
            return [], []
        inputs = self._inputs()
        found = []
        for name in (first, second):
            function = self.system[name]
            found.append(list(function.inline(*(inputs[a.name] for a in function.inputs))))
        return found[0], found[1]

    def _read(self, text: str, kinds: set[Kind]) -> Atom:
        name = self.system.name
        try:
            found = self._ws.parse(text)
        except BielaError as error:
            raise ModelError(f"{name}: the condition {text!r} cannot be read: {error}") from error
        allowed = kinds | {Kind.TIME, Kind.PARAMETER}
        for atom in found.table.live([found.ref]):
            symbol = found.table.symbols.get(atom)
            if symbol is not None and symbol.kind not in allowed:
                raise ModelError(
                    f"{name}: the condition {text!r} depends on {symbol.name} "
                    f"({symbol.kind.name.lower()}), and may not"
                )
        return found

    def _linear(
        self, equations: list[Atom], unknowns: list[Atom], texts: Sequence[str]
    ) -> tuple[list[list[Atom]], list[Atom]]:
        """Slopes of the equations by the unknowns, and what is left where these are zero."""
        if not equations:
            return [], []
        rows = jacobian(equations, unknowns).rows
        refs = {x.ref for x in unknowns}
        for text, row in zip(texts, rows, strict=True):
            if refs & set(self._ws.table.live(e.ref for e in row)):
                raise ModelError(
                    f"{self.system.name}: the condition {text!r} is not linear in "
                    f"{', '.join(x.name for x in unknowns if x.ref)}"
                )
        zero: dict[Atom, Atom | float] = {x: 0 for x in unknowns}
        return [list(row) for row in rows], list(substitute(equations, zero))
