"""Assembly: positions and velocities that fulfil the constraints.

Positions: Newton's method with the pseudo-inverse, q ← q - Φ_q⁺ Φ, which changes q as little as
possible and copes with redundant equations (Plaza 2015, eqs 2.43 and 2.44; the printed sign of 2.44
is wrong), damped so that it converges from far away.  Velocities: one solve,
v = v0 + Φ_v⁺ (β - Φ_v v0).  Values that the user names are kept, as many as the constraints leave
free, in the order in which they are named; the others are guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.analysis.preparation import Model, Values, as_system, values
from biela.equations import Quantity, System
from biela.errors import AssemblyError, ModelError
from biela.solvers.least_squares import CONVERGED, Solution, damped_newton

Floats = npt.NDArray[np.float64]

#: Constraints are met when no equation misses by more than this (m, rad).
TOLERANCE = 1e-11


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


class _Equations:
    """The geometric constraints of a system at fixed time, inputs and parameters."""

    def __init__(
        self, system: System, t: float, u: Floats, p: Floats, conditions: bool = True
    ) -> None:
        self.system = system
        self._given: dict[str, Any] = {"t": t, "u": u, "p": p}
        initial = conditions and "Init" in system
        self.names = list(system.multipliers[: system.geometric])
        self._function, self._slope = ("Init", "Init_q") if initial else ("Phi", "Phi_q")
        if not initial and not system.geometric:
            self._function = ""
        if initial:
            extra = len(np.atleast_1d(self.residual(np.zeros(len(system.q))))) - len(self.names)
            self.names += [f"initial condition {k + 1}" for k in range(extra)]

    def residual(self, q: Floats) -> Floats:
        if not self._function:
            return np.zeros(0)
        return np.atleast_1d(self.system.evaluate(self._function, q, **self._given))

    def jacobian(self, q: Floats) -> Floats:
        if not self._function:
            return np.zeros((0, len(q)))
        return np.atleast_2d(self.system.evaluate(self._slope, q, **self._given))


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
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    guess = values(system, "coordinate", system.q, q)
    held = _held(system, hold or {})
    for index, value in held.items():
        guess[index] = value
    if not signs and not near:
        if not hold:
            place, iterations = _near(system, guess, q, t, u, p)
            return _described(_Equations(system, t, u, p, q is None), place, iterations)
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
        turns = np.array([entry.unit == "rad" for entry in system.q])
        target = guess.copy()
        target[list(pose)] = list(pose.values())

        def distance(found: Assembly) -> float:
            return float(np.linalg.norm(_apart(found.q.copy(), target, turns)[list(pose)]))

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
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    guess = values(system, "coordinate", system.q, q)
    held = _held(system, hold or {})
    for index, value in held.items():
        guess[index] = value
    equations = _Equations(system, t, u, p, conditions=q is None and not hold)
    if not held:
        first = _assembled(system, guess, {}, t, u, p, conditions=q is None)
        rows = equations.jacobian(first.q)
        held = {i: guess[i] for i in _free(rows, list(range(len(guess))))}
    turns = np.array([entry.unit == "rad" for entry in system.q])
    spread = np.where(turns, np.pi, np.maximum(1.0, np.abs(guess)))
    random = np.random.default_rng(seed)
    found: list[Assembly] = []
    for k in range(restarts):
        start = guess + (spread * random.uniform(-1, 1, len(guess)) if k else 0.0)
        for index, value in held.items():
            start[index] = value
        solution = _solved(equations, start, held)
        if solution.status != CONVERGED:
            continue
        # in the turn of the guess, between minus and plus half a turn
        place = _unwound(equations, solution.x, 2 * np.pi * np.round(guess / (2 * np.pi)))
        if all(np.abs(_apart(place, a.q, turns)).max() > 1e-6 for a in found):
            found.append(_described(equations, place, solution.iterations))
    if not found:
        raise AssemblyError(_reason(equations, _solved(equations, guess, held), held))
    return sorted(found, key=lambda a: float(np.linalg.norm(_apart(a.q, guess, turns))))


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
    system = as_system(model)
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    place = values(system, "coordinate", system.q, q)
    speed = values(system, "velocity", system.v, v)
    held = _held(system, hold or {}, system.v, "velocity")
    for index, value in held.items():
        speed[index] = value
    rows, right = _velocity_equations(system, place, t, u, p)
    return _velocity(system, rows, right, speed, held)


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
    place, _ = _near(system, q, given[0], t, u, p)
    rows, right = _velocity_equations(system, place, t, u, p, conditions=given[1] is None)
    kept = {i: float(v[i]) for i in _free(rows, _named(system.v, given[1]))}
    return place, _velocity(system, rows, right, v, kept)


def consistent(
    system: System, q: Floats, v: Floats, t: float, u: Floats, p: Floats
) -> tuple[Floats, Floats]:
    """The position and velocity nearest to those given that fulfil the constraints.

    Raises:
        AssemblyError: There are none.
    """
    equations = _Equations(system, t, u, p, conditions=False)
    solution = _solved(equations, q, {})
    if solution.status != CONVERGED:
        raise AssemblyError(_reason(equations, solution, {}))
    rows, right = _velocity_equations(system, solution.x, t, u, p, conditions=False)
    return solution.x, _velocity(system, rows, right, v, {})


def _near(
    system: System, q: Floats, given: Values, t: float, u: Floats, p: Floats
) -> tuple[Floats, int]:
    """An assembly near a guess, and the iterations it took.

    As many of the values named as the constraints leave free are kept, the first ones first; the
    others choose the branch.
    """
    equations = _Equations(system, t, u, p, conditions=given is None)
    if "positions" in system:
        q = np.asarray(system.evaluate("positions", q, t=t, u=u, p=p))
    if given is not None:
        _check_start(equations, q)
    order = _named(system.q, given)
    held = {i: float(q[i]) for i in _free(equations.jacobian(q), order)}
    solution = _solved(equations, q, held)
    if solution.status != CONVERGED and held and not isinstance(given, Mapping):
        # an array, or the start of the model, is a guess as a whole
        loose = _solved(equations, q, {})
        named = [i for i in held if system.q[i].given] if given is None else []
        if loose.status == CONVERGED and not named:
            solution, held = loose, {}
    if solution.status != CONVERGED and held:
        # from another side, with what is named held
        for start in _scattered(equations, q, [*held]):
            again = _solved(equations, start, held, restarts=0)
            if again.status == CONVERGED:
                solution = again
                break
    if solution.status != CONVERGED:
        raise AssemblyError(_reason(equations, solution, held))
    place = _unwound(equations, solution.x, q)
    others = [i for i in order if i not in held]
    if others and np.abs(place[others] - q[others]).max() > 0.1 * (1 + np.abs(q[others]).max()):
        place = _nearest(equations, q, place, held, others)
    return place, solution.iterations


def _check_start(equations: _Equations, q: Floats) -> None:
    """Refuse a start in which a constraint that is missed cannot be corrected.

    Raises:
        AssemblyError: No coordinate changes it there.
    """
    residual, rows = equations.residual(q), equations.jacobian(q)
    for name, missed, row in zip(equations.names, residual, rows, strict=True):
        if abs(missed) > 1e-6 and not np.abs(row).max() > 1e-12:
            raise AssemblyError(
                f"{equations.system.name}: the start is singular: constraint {name} is missed by "
                f"{missed:.3g} and no coordinate changes it there. Give a start a little away"
            )


def _scattered(equations: _Equations, guess: Floats, fixed: Sequence[int]) -> Iterator[Floats]:
    """Random starts around a guess, with some coordinates left as they are."""
    turns = np.array([entry.unit == "rad" for entry in equations.system.q])
    spread = np.where(turns, np.pi, np.maximum(1.0, np.abs(guess)))
    random = np.random.default_rng(0)
    for _ in range(40):
        start = guess + spread * random.uniform(-1, 1, len(guess))
        start[list(fixed)] = guess[list(fixed)]
        yield start


def _nearest(
    equations: _Equations,
    guess: Floats,
    found: Floats,
    held: Mapping[int, float],
    named: Sequence[int],
) -> Floats:
    """Of the branches found from random starts, the nearest in the coordinates named."""
    turns = np.array([entry.unit == "rad" for entry in equations.system.q])

    def distance(q: Floats) -> float:
        return float(np.linalg.norm(_apart(q.copy(), guess, turns)[list(named)]))

    best = found
    for start in _scattered(equations, guess, [*held, *named]):
        solution = _solved(equations, start, held, restarts=0)
        if solution.status == CONVERGED:
            place = _unwound(equations, solution.x, guess)
            best = min(best, place, key=distance)
    return best


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
    equations = _Equations(system, t, u, p, conditions)
    solution = _solved(equations, guess, held)
    if solution.status != CONVERGED:
        raise AssemblyError(_reason(equations, solution, held))
    place = _unwound(equations, solution.x, guess)
    return _described(equations, place, solution.iterations)


def _unwound(equations: _Equations, q: Floats, guess: Floats) -> Floats:
    """The same position with the angles within half a turn of the guess, where that is the same."""
    turns = np.array([entry.unit == "rad" for entry in equations.system.q])
    near = q.copy()
    near[turns] -= 2 * np.pi * np.round((q[turns] - guess[turns]) / (2 * np.pi))
    same = np.abs(equations.residual(near)).max(initial=0.0) <= 10 * TOLERANCE
    return near if same else q


def _solved(
    equations: _Equations, start: Floats, held: Mapping[int, float], restarts: int = 3
) -> Solution:
    indices = list(held)
    rows = np.eye(len(start))[indices]

    def residual(q: Floats) -> Floats:
        return np.concatenate([equations.residual(q), q[indices] - list(held.values())])

    def jacobian(q: Floats) -> Floats:
        return np.concatenate([equations.jacobian(q), rows])

    return damped_newton(residual, jacobian, start, tolerance=TOLERANCE, restarts=restarts)


def _described(equations: _Equations, q: Floats, iterations: int) -> Assembly:
    # initial conditions belong to a start, not to the mechanism
    rows = equations.jacobian(q)[: equations.system.geometric]
    dependent = dependent_rows(rows)
    residual = equations.residual(q)
    return Assembly(
        q,
        float(np.abs(residual).max(initial=0.0)),
        iterations,
        len(q) - (len(rows) - len(dependent)),
        tuple(equations.names[i] for i in dependent),
    )


def _reason(equations: _Equations, solution: Solution, held: Mapping[int, float]) -> str:
    """Why it does not assemble, with the constraints that are not met."""
    system = equations.system
    if not np.isfinite(solution.residual).all():
        bad = int(np.argwhere(~np.isfinite(solution.residual))[0][0])
        name = equations.names[bad] if bad < len(equations.names) else "a held coordinate"
        return (
            f"{system.name}: constraint {name} is not a finite number near the start; check its "
            f"equation and the parameters"
        )
    names = equations.names + [f"{system.q[i].name} = {value:g}" for i, value in held.items()]
    order = np.argsort(-np.abs(solution.residual))[:4]
    worst = ", ".join(f"{names[i]} by {solution.residual[i]:.3g}" for i in order)
    rows = np.concatenate(
        [equations.jacobian(solution.x), np.eye(len(solution.x))[list(held)]], axis=0
    )
    dependent = [names[i] for i in dependent_rows(rows)]
    contradiction = (
        f" There {', '.join(dependent)} depend on the others and contradict them."
        if dependent
        else ""
    )
    return (
        f"{system.name} cannot be assembled: after {solution.iterations} iterations these are "
        f"missed: {worst}.{contradiction} Check lengths and fixed points, hold fewer coordinates, "
        f"or give a better first guess with start(…) or q=…"
    )


def dependent_rows(A: Floats, tolerance: float = 1e-9) -> list[int]:
    """Rows that depend on the rows before them."""
    basis = np.zeros((0, A.shape[1]))
    found = []
    least = 1e-13 * float(np.abs(A).max(initial=0.0))
    for i, row in enumerate(A):
        size = float(np.linalg.norm(row))
        rest = row - (row @ basis.T) @ basis
        rest = rest - (rest @ basis.T) @ basis
        left = float(np.linalg.norm(rest))
        if left <= max(tolerance * size, least):
            found.append(i)
        else:
            basis = np.vstack([basis, rest / left])
    return found


def _free(rows: Floats, order: Sequence[int]) -> list[int]:
    """The first of the unknowns, in an order, that the rows leave free."""
    if not len(order) or not np.isfinite(rows).all():
        return []
    n = rows.shape[1]
    picked = np.eye(n)[list(order)]
    dependent = set(dependent_rows(np.concatenate([rows, picked]), 1e-6))
    return [i for k, i in enumerate(order) if len(rows) + k not in dependent]


def _velocity_equations(
    system: System, q: Floats, t: float, u: Floats, p: Floats, conditions: bool = True
) -> tuple[Floats, Floats]:
    initial = conditions and "Init_v" in system
    pair = ("Init_v", "Init_beta") if initial else ("Phi_v", "beta")
    if not system.multipliers and not initial:
        return np.zeros((0, len(system.v))), np.zeros(0)
    rows, right = (system.evaluate(name, q, t=t, u=u, p=p) for name in pair)
    return np.atleast_2d(rows), np.atleast_1d(right)


def _velocity(
    system: System, rows: Floats, right: Floats, v: Floats, held: Mapping[int, float]
) -> Floats:
    A = np.concatenate([rows, np.eye(len(v))[list(held)]])
    b = np.concatenate([right, list(held.values())])
    if not len(A):
        return v
    change = np.linalg.lstsq(A, b - A @ v, rcond=1e-11)[0]
    found = v + change
    missed = A @ found - b
    scale = 1.0 + float(np.abs(b).max(initial=0.0)) + float(np.abs(A @ v).max(initial=0.0))
    if not np.abs(missed).max(initial=0.0) <= 1e-8 * scale:
        worst = int(np.argmax(np.abs(missed)))
        names = [*system.multipliers, *(f"{system.v[i].name} = {x:g}" for i, x in held.items())]
        name = names[worst] if worst < len(names) else "an initial condition"
        raise AssemblyError(
            f"{system.name}: no velocities fulfil all equations at the start; {name} is missed by "
            f"{missed[worst]:.3g}. Hold fewer velocities, or check equations that depend on time"
        )
    return np.asarray(found)


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


def _named(entries: Sequence[Quantity], given: Values) -> list[int]:
    """Places of the values that somebody gave, in the order in which they were named."""
    names = [entry.name for entry in entries]
    if isinstance(given, Mapping):
        first = [names.index(name) for name in given if name in names]
        return first + [k for k, e in enumerate(entries) if e.given and k not in first]
    if given is not None:
        return list(range(len(names)))
    return [k for k, entry in enumerate(entries) if entry.given]


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


def _apart(a: Floats, b: Floats, turns: npt.NDArray[np.bool_]) -> Floats:
    """The difference of two positions, angles within half a turn."""
    difference = a - b
    difference[turns] = (difference[turns] + np.pi) % (2 * np.pi) - np.pi
    return difference
