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
from biela.analysis.one_start import first_position, start_position, start_state
from biela.analysis.preparation import Model, Values, as_system, values, with_values
from biela.analysis.start_search import named_places, position_near
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
    """

    q: Floats
    error: float
    iterations: int
    mobility: int
    redundant: tuple[str, ...]


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
    otherwise every position is an assembly.

    Raises:
        AssemblyError: None was found.
    """
    model, parameters = with_values(model, parameters)
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    guess = first_position(system, q, t, u, p)
    held = _held(system, hold or {})
    for index, value in held.items():
        guess[index] = value
    guess = normalised(system, guess, held or named_places(system.q, q))
    equations = ClosureEquations(system, t, u, p, conditions=q is None and not hold)
    equations.choose(guess)
    if not held:
        first = _assembled(system, guess, {}, t, u, p, conditions=q is None)
        rows, N = equations.jacobian(first.q), equations.rates(first.q)
        held = {i: guess[i] for i in left_free(rows, list(range(len(guess))), N)}
    random = np.random.default_rng(seed)
    found: list[Assembly] = []
    for k in range(restarts):
        start = random_start(system, guess, random) if k else guess.copy()
        for index, value in held.items():
            start[index] = value
        solution = solved(equations, start, held)
        if solution.status != CONVERGED:
            continue
        # in the turn of the guess, between minus and plus half a turn
        place = unwound(equations, solution.x, 2 * np.pi * np.round(guess / (2 * np.pi)))
        if all(np.abs(apart(system, place, a.q)).max() > 1e-6 for a in found):
            found.append(_described(equations, place, solution.iterations))
    if not found:
        raise AssemblyError(reason(equations, solved(equations, guess, held), held))
    return sorted(found, key=lambda a: float(np.linalg.norm(apart(system, a.q, guess))))


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
    rows, right = velocity_equations(system, place, t, u, p)
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
    rows, right = velocity_equations(system, place, t, u, p, conditions=given[1] is None)
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
    rows, right = velocity_equations(system, solution.x, t, u, p, conditions=False)
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


def _described(equations: ClosureEquations, q: Floats, iterations: int) -> Assembly:
    # initial conditions belong to a start, not to the mechanism
    rows = equations.jacobian(q)[: equations.system.geometric]
    dependent = dependent_rows(rows)
    residual = equations.residual(q)
    return Assembly(
        q,
        float(np.abs(residual).max(initial=0.0)),
        iterations,
        len(equations.system.v) - (len(rows) - len(dependent)),
        tuple(equations.names[i] for i in dependent),
    )


def _held(
    system: System,
    named: Mapping[str, float],
    entries: Sequence[Quantity] | None = None,
    what: str = "coordinate",
) -> dict[int, float]:
    among = list(system.q if entries is None else entries)
    names = [entry.name for entry in among]
    for name in named:
        if name not in names:
            raise ModelError(f"{system.name} has no {what} {name}; it has {', '.join(names)}")
    return {names.index(name): float(value) for name, value in named.items()}


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
