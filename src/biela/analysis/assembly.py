"""Assembly: positions and velocities that fulfil the constraints.

Positions: Newton's method with the pseudo-inverse, q ← q ⊕ -Φ_q⁺ Φ, which changes q as little as
possible and copes with redundant equations (Plaza 2015, eqs 2.43 and 2.44; the printed sign of 2.44
is wrong), damped so that it converges from far away.  Velocities: one solve,
v = v0 + Φ_v⁺ (β - Φ_v v0).  Values that the user names are kept, as many as the constraints leave
free, in the order in which they are named; the others are guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import (
    ClosureEquations,
    closing_velocity,
    dependent_rows,
    left_free,
    reason,
    solved,
    unwound,
    velocity_equations,
)
from biela.analysis.idle import IdleFreedom, idle_freedoms, moved_coordinates
from biela.analysis.instant import Instant
from biela.analysis.one_start import (
    carried_position,
    first_position,
    joint_system,
    start_position,
    start_state,
    values_in_joints,
)
from biela.analysis.preparation import (
    Model,
    Values,
    as_system,
    meant,
    number,
    refuse_unknown,
    values,
    with_values,
)
from biela.analysis.start_search import named_places, position_near
from biela.budgets import RESTARTS, within
from biela.doors import door
from biela.equations import Quantity, System
from biela.equations.positions import apart, normalised, random_start
from biela.errors import AssemblyError, ModelError
from biela.solvers.least_squares import CONVERGED

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Assembly:
    """A position that fulfils the constraints.

    Attributes:
        q: The position.
        error: The largest residual left.
        iterations: Newton iterations it took.
        mobility: Degrees of freedom there.
        redundant: Names of constraints that depend on the others.
        idle: Freedoms that move nothing but themselves, such as the spin of a rod between two
            balls, in words; ``mobility`` counts them.
    """

    q: Floats
    error: float
    iterations: int
    mobility: int
    redundant: tuple[str, ...]
    idle: tuple[str, ...] = ()


@door(ModelError)
def assemble(
    model: Model,
    q: Values = None,
    *,
    hold: Mapping[str, float] | None = None,
    signs: Mapping[str, float] | None = None,
    near: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    restarts: int = 200,
    seed: int = 0,
) -> Assembly:
    """A position that fulfils the constraints, on the branch wanted.

    Args:
        model: What to assemble.
        q: A first guess, by name or in order; what is not named is taken from the model.
        hold: Coordinates that must have these values.
        signs: The branch: coordinates or outputs that must be positive or negative there, such as
            ``{"elbow": -1}``.  A side of a point is an output like ``s.output("side", gap.z)``.
        near: The branch: the one nearest to this pose, in the coordinates named.
        t: Time, for constraints that depend on it.
        parameters: Values other than those of the model.
        inputs: Likewise.
        restarts: Starts tried to find a branch that ``signs`` or ``near`` asks for.
        seed: Of the random starts.

    Raises:
        AssemblyError: The mechanism cannot be assembled, or not on that branch.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    if not signs and not near and not hold:
        place, iterations = start_position(system, q, t, u, p)
        equations = ClosureEquations(system, t, u, p, conditions=False)
        return _described(equations, place, iterations)
    guess = first_position(system, q, t, u, p)
    held = _held(system, hold or {})
    for index, value in held.items():
        guess[index] = value
    guess = normalised(system, guess, held or named_places(system.q, q))
    if not signs and not near:
        return _assembled(system, guess, held, t, u, p, conditions=False)
    found = branches(
        system, guess, hold=hold, t=t, parameters=p, inputs=u, restarts=restarts, seed=seed
    )
    wanted = [a for a in found if _has_signs(system, a.q, signs or {}, t, u, p)]
    if not wanted:
        raise AssemblyError(
            f"{system.name} has {len(found)} branches, none of which has the signs asked for: "
            f"{dict(signs or {})}"
        )
    if near:
        pose = _held(system, near)
        target = guess.copy()
        target[list(pose)] = list(pose.values())

        def distance(found: Assembly) -> float:
            return float(np.linalg.norm(apart(system, found.q, target)[list(pose)]))

        wanted.sort(key=distance)
    return wanted[0]


@door(ModelError)
def branches(
    model: Model,
    q: Values = None,
    *,
    hold: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    restarts: int = 200,
    seed: int = 0,
) -> list[Assembly]:
    """The different assemblies found from random starts, nearest to the guess first.

    Coordinates that turn a base are the same up to full turns.  Coordinates in ``hold`` keep their
    values; without any, as many are held at the guess as there are degrees of freedom, because
    otherwise every position is an assembly.  Idle freedoms, such as the spin of a rod between two
    balls, make no branches: they are held near the guess.

    Raises:
        AssemblyError: None was found.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    joints = _joints_with(system, q, hold)
    if joints is not None:
        # where loops close as they are built: other coordinates have further solutions, such as
        # hinges turned over and bodies that are their own mirror image
        own_u, own_p = values_in_joints(system, joints, u, p)
        found = branches(
            joints, q, hold=hold, t=t, parameters=own_p, inputs=own_u, restarts=restarts, seed=seed
        )
        return [_carried_over(system, joints, one, t, u, p) for one in found]
    guess = first_position(system, q, t, u, p)
    held = _held(system, hold or {})
    for index, value in held.items():
        guess[index] = value
    guess = normalised(system, guess, held or named_places(system.q, q))
    equations = ClosureEquations(system, t, u, p, conditions=q is None and not hold)
    equations.choose(guess)
    instant = Instant(system, t, u, p)
    if not held:
        held = _freedoms_held(equations, instant, guess)
    random = np.random.default_rng(seed)
    different: list[_Branch] = []
    within(RESTARTS, restarts, "branches would try {} starts", "use fewer restarts")
    for k in range(restarts):
        start = random_start(system, guess, random) if k else guess.copy()
        for index, value in held.items():
            start[index] = value
        solution = solved(equations, start, held)
        if solution.status != CONVERGED or equations.other_roots(solution.x):
            continue
        # in the turn of the guess, between minus and plus half a turn
        place = unwound(equations, solution.x, 2 * np.pi * np.round(guess / (2 * np.pi)))
        branch = _Branch(instant, place, solution.iterations)
        if not any(branch.same(other) for other in different):
            different.append(branch)
    if not different:
        raise AssemblyError(reason(equations, solved(equations, guess, held), held))
    made = [branch.described(equations, guess) for branch in different]
    return sorted(made, key=lambda a: float(np.linalg.norm(apart(system, a.q, guess))))


def _joints_with(system: System, q: Values, hold: Mapping[str, float] | None) -> System | None:
    """The system in joint coordinates, if there is another and it knows all that is named."""
    if system.begins is None or system.begins.carrying is None:
        return None
    if q is not None and not isinstance(q, Mapping):
        return None
    try:
        joints = joint_system(system)
    except AssemblyError:
        return None
    names = [entry.name for entry in joints.q]
    return (
        joints if all(meant(name, names) in names for name in (*(q or ()), *(hold or ()))) else None
    )


def _carried_over(
    system: System, joints: System, found: Assembly, t: float, u: Floats, p: Floats
) -> Assembly:
    """An assembly in joint coordinates in those of a system."""
    q = carried_position(system, joints, found.q, t, u, p)
    equations = ClosureEquations(system, t, u, p, conditions=False)
    return _described(equations, q, found.iterations)


def _freedoms_held(
    equations: ClosureEquations, instant: Instant, guess: Floats
) -> dict[int, float]:
    """Coordinates that are held at a guess, one for each freedom that is not idle.

    Angles and lengths first: an Euler parameter is the same for two turns.
    """
    system = equations.system
    solution = solved(equations, guess, {})
    if solution.status != CONVERGED:
        raise AssemblyError(reason(equations, solution, {}))
    at = solution.x
    idle = idle_freedoms(instant, at)
    moved = moved_coordinates(instant, at, idle)
    four = {first + k for first in system.quaternions for k in range(4)}
    order = sorted(
        range(len(guess)), key=lambda i: (i in four, moved[i], system.q[i].unit != "rad")
    )
    rows = np.concatenate([equations.jacobian(at), *(one.z[None] for one in idle)])
    return {i: float(guess[i]) for i in left_free(rows, order, equations.rates(at))}


class _Branch:
    """An assembly that was found; those that differ in idle freedoms only are the same."""

    def __init__(self, instant: Instant, q: Floats, iterations: int) -> None:
        self.instant, self.q, self.iterations = instant, q, iterations
        self.idle = idle_freedoms(instant, q)
        self.moved = moved_coordinates(instant, q, self.idle)

    def same(self, other: _Branch) -> bool:
        off = np.abs(apart(self.instant.system, self.q, other.q))
        return bool(off[~(self.moved | other.moved)].max(initial=0.0) <= 1e-6)

    def described(self, equations: ClosureEquations, guess: Floats) -> Assembly:
        """The assembly, with its idle freedoms near a guess."""
        kept = {int(i): float(self.q[i]) for i in np.flatnonzero(~self.moved)}
        start = normalised(equations.system, np.where(self.moved, guess, self.q))
        again = solved(equations, start, kept) if self.idle else None
        q = again.x if again is not None and again.status == CONVERGED else self.q
        return _described(equations, q, self.iterations, self.idle)


@door(ModelError)
def assemble_velocity(
    model: Model,
    q: Values,
    v: Values = None,
    *,
    hold: Mapping[str, float] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
) -> Floats:
    """The velocities nearest to ``v`` that fulfil the constraints at a position.

    Raises:
        AssemblyError: Velocities in ``hold`` contradict the constraints.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    place = values(system, "coordinate", system.q, q)
    speed = values(system, "velocity", system.v, v)
    held = _held(system, hold or {}, system.v, "velocity")
    for index, value in held.items():
        speed[index] = value
    rows, right, _ = velocity_equations(system, place, t, u, p)
    return closing_velocity(system, rows, right, speed, held)


def initial_state(
    system: System,
    q: Floats,
    v: Floats,
    *,
    t: float,
    u: Floats,
    p: Floats,
    given: tuple[Values, Values] = (None, None),
) -> tuple[Floats, Floats]:
    """A consistent start near a guess; the first values named are kept as far as they can be.

    Initial conditions of the model hold where the call names nothing itself.
    """
    if system.begins is not None:
        return start_state(system, *given, t=t, u=u, p=p)
    place, _ = position_near(system, q, given[0], t, u, p)
    rows, right, _ = velocity_equations(system, place, t, u, p, conditions=given[1] is None)
    kept = {i: float(v[i]) for i in left_free(rows, named_places(system.v, given[1]))}
    return place, closing_velocity(system, rows, right, v, kept)


def consistent(
    system: System, q: Floats, v: Floats, t: float, u: Floats, p: Floats
) -> tuple[Floats, Floats]:
    """The position and velocity nearest to those given that fulfil the constraints.

    Raises:
        AssemblyError: There are none.
    """
    equations = ClosureEquations(system, t, u, p, conditions=False)
    solution = solved(equations, normalised(system, q), {})
    if solution.status != CONVERGED:
        raise AssemblyError(reason(equations, solution, {}))
    rows, right, _ = velocity_equations(system, solution.x, t, u, p, conditions=False)
    return solution.x, closing_velocity(system, rows, right, v, {})


# --- the parts ------------------------------------------------------------------------------------


def _assembled(
    system: System,
    guess: Floats,
    held: Mapping[int, float],
    t: float,
    u: Floats,
    p: Floats,
    conditions: bool,
) -> Assembly:
    equations = ClosureEquations(system, t, u, p, conditions)
    equations.choose(guess)
    solution = solved(equations, guess, held)
    if solution.status != CONVERGED:
        raise AssemblyError(reason(equations, solution, held))
    place = unwound(equations, solution.x, guess)
    return _described(equations, place, solution.iterations)


def _described(
    equations: ClosureEquations,
    q: Floats,
    iterations: int,
    idle: Sequence[IdleFreedom] | None = None,
) -> Assembly:
    # initial conditions belong to a start, not to the mechanism
    rows = equations.jacobian(q)[: equations.system.geometric]
    dependent = dependent_rows(rows)
    residual = equations.residual(q)
    if idle is None:
        idle = idle_freedoms(equations.instant, q)
    return Assembly(
        q,
        float(np.abs(residual).max(initial=0.0)),
        iterations,
        len(equations.system.v) - (len(rows) - len(dependent)),
        tuple(equations.names[i] for i in dependent),
        tuple(str(one) for one in idle),
    )


def _held(
    system: System,
    named: Mapping[str, float],
    entries: Sequence[Quantity] | None = None,
    what: str = "coordinate",
) -> dict[int, float]:
    among = list(system.q if entries is None else entries)
    names = [entry.name for entry in among]
    refuse_unknown(system, what, named, names)
    held = {}
    for name, value in named.items():
        k = names.index(meant(name, names))
        held[k] = number(system, f"{what} {name}", value, among[k].unit)
    return held


def _has_signs(
    system: System, q: Floats, signs: Mapping[str, float], t: float, u: Floats, p: Floats
) -> bool:
    known: dict[str, Any] = {e.name: x for e, x in zip(system.q, q, strict=True)}
    if "outputs" in system:
        y = np.atleast_1d(system.evaluate("outputs", q, t=t, u=u, p=p))
        known |= {e.name: x for e, x in zip(system.y, y, strict=True)}
    for name in signs:
        if name not in known:
            raise ModelError(
                f"{system.name} has no coordinate or output {name}; it has {', '.join(known)}"
            )
    return all(known[name] * sign > 0 for name, sign in signs.items())
