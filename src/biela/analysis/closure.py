"""The equations that close a mechanism, solved from a guess, and why they sometimes cannot be.

Positions by the damped pseudo-inverse iteration, velocities by one least-squares solve; see
`biela.analysis.assembly`, which asks the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from biela.analysis.instant import RANK_TOLERANCE, Instant, motions, unit_rows
from biela.analysis.unrolled import derivatives
from biela.atoms import Atom
from biela.code import Function
from biela.equations import System
from biela.equations.positions import random_start
from biela.errors import AssemblyError, SingularityError
from biela.singular_values import svd
from biela.solvers.least_squares import CONVERGED, Solution, damped_newton

Floats = npt.NDArray[np.float64]

#: Constraints are met when no equation misses by more than this (m, rad).
TOLERANCE = 1e-11
#: Parts of accelerations that no motion has, relative, below which they are rounding.
_UNCURVED = 1e-7
#: Starts and iterations to find velocities of motions through a singular position.
_CURVED_STARTS, _CURVED_STEPS = 12, 60
#: Motions by less than this part of a mechanism in a second are rest, 1/s.
_REST = 1e-6
#: What is missed by less is rounding, and not corrected.
_ROUNDING = 1e-14


class ClosureEquations:
    """The geometric constraints of a system at fixed time, inputs and parameters."""

    def __init__(
        self, system: System, t: float, u: Floats, p: Floats, conditions: bool = True
    ) -> None:
        self.system = system
        self.t = t
        self._given: dict[str, Any] = {"t": t, "u": u, "p": p}
        initial = conditions and "Init" in system
        self.names = list(system.multipliers[: system.geometric])
        self._function, self._slope = ("Init", "Init_q") if initial else ("Phi", "Phi_q")
        if not initial and not system.geometric:
            self._function = ""
        self._rows: list[int] | None = None
        if initial:
            extra = len(np.atleast_1d(self.residual(np.zeros(len(system.q))))) - len(self.names)
            self.names += [f"initial condition {k + 1}" for k in range(extra)]

    def residual(self, q: Floats) -> Floats:
        """By how much each equation is missed."""
        if not self._function:
            return np.zeros(0)
        found = np.atleast_1d(self.system.evaluate(self._function, q, **self._given))
        return found if self._rows is None else found[self._rows]

    def choose(self, q: Floats, order: Sequence[int] = ()) -> list[int]:
        """Of what is given at the start, keep what the constraints leave free, first ones first.

        Conditions that are wishes stay or go; of the coordinates in ``order`` those are returned
        that may be held.
        """
        system, wished = self.system, self.system.wished
        if self._function != "Init" or not wished or self._rows is not None:
            return list(order)
        first = len(self.names) - len(wished)
        named = {system.q[i].name: i for i in order}
        asked = [name for name in system.starts if name in named or name in wished]
        asked += [name for name in named if name not in asked]

        def free(place: Floats) -> tuple[bool, ...]:
            rows, N = self.jacobian(place), self.rates(place)
            slopes = [
                N[named[name]] if name in named else rows[first + wished.index(name)]
                for name in asked
            ]
            dependent = dependent_rows(np.concatenate([rows[:first], np.array(slopes)]), 1e-6)
            return tuple(first + k not in dependent for k in range(len(asked)))

        # a guess is often a dead point, such as two bars in line: its neighbourhood is asked too
        random = np.random.default_rng(0)
        near = [
            self.instant.moved(q, 0.05 * random.uniform(-1, 1, len(system.v))) for _ in range(3)
        ]
        flags = max(free(place) for place in (q, *near))
        kept = [name for name, is_free in zip(asked, flags, strict=True) if is_free]
        self._rows = [*range(first), *(first + wished.index(n) for n in kept if n not in named)]
        self.names = [self.names[k] for k in self._rows]
        return [named[name] for name in kept if name in named]

    def jacobian(self, q: Floats) -> Floats:
        """Their slopes along displacements, a column a velocity."""
        if not self._function:
            return np.zeros((0, len(self.system.v)))
        rows = self.by_coordinates(q)
        return rows @ self.rates(q) if "rates" in self.system else rows

    def by_coordinates(self, q: Floats) -> Floats:
        """Their slopes by the coordinates."""
        if not self._function:
            return np.zeros((0, len(q)))
        found = np.atleast_2d(self.system.evaluate(self._slope, q, **self._given))
        return found if self._rows is None else found[self._rows]

    def other_roots(self, q: Floats) -> list[str]:
        """What fulfils the equations by another root: angles half a turn off, bodies mirrored."""
        if not self.system.sides:
            return []
        sides = np.atleast_1d(self.system.evaluate("sides", q, **self._given))
        return [name for name, side in zip(self.system.sides, sides, strict=True) if side < 0]

    @property
    def instant(self) -> Instant:
        """The system at the same time, inputs and parameters."""
        return Instant(self.system, self._given["t"], self._given["u"], self._given["p"])

    def rates(self, q: Floats) -> Floats:
        """The matrix N of q' = N v."""
        return self.instant.N(q)

    @cached_property
    def retraction_slope(self) -> Function:
        """The derivative of q ⊕ δ by δ."""
        retract = self.system["retract"]
        q, delta = ([Atom(retract.table, ref) for ref in a.refs] for a in retract.inputs)
        moved = list(retract.expressions(retract.outputs[0].name))
        return Function(
            "retraction_slope", {"q": q, "delta": delta}, {"slope": derivatives(moved, delta)}
        )


def check_start(equations: ClosureEquations, q: Floats) -> None:
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


def scattered(equations: ClosureEquations, guess: Floats, fixed: Sequence[int]) -> Iterator[Floats]:
    """Random starts around a guess, with some coordinates left as they are."""
    random = np.random.default_rng(0)
    for _ in range(40):
        start = random_start(equations.system, guess, random)
        start[list(fixed)] = guess[list(fixed)]
        yield start


def unwound(equations: ClosureEquations, q: Floats, guess: Floats) -> Floats:
    """The same position with the angles within half a turn of the guess, where that is the same."""
    turns = np.array([entry.unit == "rad" for entry in equations.system.q])
    near = q.copy()
    near[turns] -= 2 * np.pi * np.round((q[turns] - guess[turns]) / (2 * np.pi))
    same = np.abs(equations.residual(near)).max(initial=0.0) <= 10 * TOLERANCE
    return near if same else q


def solved(
    equations: ClosureEquations, start: Floats, held: Mapping[int, float], restarts: int = 3
) -> Solution:
    """A position near a start that fulfils the equations, with some coordinates held.

    Where positions are reached by displacements, the unknowns are those from the start.
    """
    indices = list(held)
    rows = np.eye(len(start))[indices]
    if "retract" in equations.system:
        return _solved_by_displacement(equations, start, held, restarts)

    def residual(q: Floats) -> Floats:
        return np.concatenate([equations.residual(q), q[indices] - list(held.values())])

    def jacobian(q: Floats) -> Floats:
        return np.concatenate([equations.by_coordinates(q), rows])

    found = damped_newton(residual, jacobian, start, tolerance=TOLERANCE, restarts=restarts)
    return polished(found, residual, jacobian)


def polished(
    found: Solution, residual: Callable[[Floats], Floats], jacobian: Callable[[Floats], Floats]
) -> Solution:
    """A solution with what one step more can gain: Newton's method doubles the digits."""
    if found.status != CONVERGED or np.abs(found.residual).max(initial=0.0) <= _ROUNDING:
        return found
    x = found.x - np.linalg.lstsq(jacobian(found.x), residual(found.x), rcond=1e-9)[0]
    left = residual(x)
    before = np.abs(found.residual).max()
    if np.isfinite(left).all() and np.abs(left).max() < before:
        return replace(found, x=x, residual=left)
    return found


def _solved_by_displacement(
    equations: ClosureEquations, start: Floats, held: Mapping[int, float], restarts: int
) -> Solution:
    system = equations.system
    retract, slope = system["retract"], equations.retraction_slope
    indices = list(held)
    rows = np.eye(len(start))[indices]

    def residual(delta: Floats) -> Floats:
        q = np.asarray(retract(start, delta))
        return np.concatenate([equations.residual(q), q[indices] - list(held.values())])

    def jacobian(delta: Floats) -> Floats:
        q = np.asarray(retract(start, delta))
        return np.asarray(np.concatenate([equations.by_coordinates(q), rows]) @ slope(start, delta))

    rest = np.zeros(len(system.v))
    found = damped_newton(residual, jacobian, rest, tolerance=TOLERANCE, restarts=restarts)
    found = polished(found, residual, jacobian)
    return replace(found, x=np.asarray(retract(start, found.x)))


def reason(equations: ClosureEquations, solution: Solution, held: Mapping[int, float]) -> str:
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
    held_rows = equations.rates(solution.x)[list(held)]
    rows = np.concatenate([equations.jacobian(solution.x), held_rows], axis=0)
    conflict = contradiction(names, rows, solution.residual)
    contradicted = f" There {conflict}." if conflict else ""
    largest = float(np.abs(solution.x).max(initial=0.0))
    farthest = max(largest, float(np.abs(solution.residual).max(initial=0.0)))
    if np.spacing(farthest) > TOLERANCE:
        # positions of 10⁵ turns: not wrong, but too coarse to close a loop with
        return (
            f"{system.name} cannot be assembled: these are missed: {worst}. Coordinates or laws "
            f"reach {farthest:.3g} at t = {equations.t:g} s, where double precision resolves "
            f"{np.spacing(farthest):.1g} only; start nearer to t = 0, or take whole turns off laws"
        )
    wanted = ", ".join(names[len(equations.names) :][:3])
    at = f" with {wanted}" if wanted else ""
    return (
        f"{system.name} cannot be assembled{at}: after {solution.iterations} iterations these are "
        f"missed: {worst}.{contradicted} Check lengths and fixed points, hold fewer coordinates, "
        f"or give a better first guess with start(…) or q=…"
    )


def contradiction(names: Sequence[str], rows: Floats, missed: Floats) -> str:
    """Say which constraints contradict each other; nothing if a small motion can fulfil them all.

    Args:
        names: Of the constraints.
        rows: Their rows Φ_v.
        missed: By how much they are missed, in position or velocity.
    """
    if not (len(rows) and np.isfinite(rows).all() and np.isfinite(missed).all()):
        return ""
    left = missed - rows @ np.linalg.lstsq(rows, missed, rcond=1e-8)[0]
    size = float(np.abs(missed).max())
    return in_conflict(names, left) if np.abs(left).max() > 1e-6 * size else ""


def in_conflict(names: Sequence[str], left: Floats, most: int = 6) -> str:
    """Name the constraints that contradict each other.

    ``left`` is what least squares leave of them, r with Φ_vᵀ r = 0: the combination of constraints
    that no motion changes.

    >>> in_conflict(["crank", "rod", "motor"], np.array([0.5, 1e-17, -0.5]))
    'crank and motor contradict each other'
    """
    size = np.abs(left)
    found = np.flatnonzero(size > 0.05 * size.max(initial=0.0))
    largest = np.sort(found[np.argsort(-size[found], kind="stable")][:most])
    named = [names[int(i)] if i < len(names) else "an initial condition" for i in largest]
    if len(found) > most:
        named.append(f"{len(found) - most} more")
    if len(named) < 2:
        return f"{''.join(named)} contradicts the others"
    return f"{', '.join(named[:-1])} and {named[-1]} contradict each other"


def displacements(q: Floats, units: Sequence[str], rates: Sequence[str]) -> Floats:
    """How far each velocity may carry a mechanism: its largest coordinate of the kind, m or rad.

    |∂Φ/∂x| times these is what a constraint could be missed by.  An angle counts 1 at the least.

    Args:
        q: Coordinates.
        units: Their units.
        rates: Units of the velocities.
    """
    lengths = np.array([unit == "m" for unit in units], dtype=bool)
    far = float(np.abs(q[lengths]).max(initial=0.0)) or 1.0
    turned = max(1.0, float(np.abs(q[~lengths]).max(initial=0.0)))
    return np.where([unit == "m/s" for unit in rates], far, turned)


def speeds(q: Floats, velocities: Floats, units: Sequence[str], rates: Sequence[str]) -> Floats:
    """How fast each velocity is among those of its kind along a motion, m/s or rad/s.

    |∂Φ/∂x| times these is what the rate of a constraint could be missed by.  What moves by less
    than a millionth of the mechanism in a second is at rest.

    Args:
        q: Coordinates at an instant.
        velocities: At all instants (k, n).
        units: Units of the coordinates.
        rates: Units of the velocities.
    """
    lengths = np.array([unit == "m/s" for unit in rates], dtype=bool)
    along = float(np.abs(velocities[:, lengths]).max(initial=0.0))
    around = float(np.abs(velocities[:, ~lengths]).max(initial=0.0))
    return np.maximum(np.where(lengths, along, around), _REST * displacements(q, units, rates))


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


def left_free(rows: Floats, order: Sequence[int], N: Floats | None = None) -> list[int]:
    """The first of the unknowns, in an order, that the rows leave free.

    ``N`` has the rows of the unknowns, where they are not the columns themselves.
    """
    if not len(order) or not np.isfinite(rows).all():
        return []
    picked = (np.eye(rows.shape[1]) if N is None else N)[list(order)]
    dependent = set(dependent_rows(np.concatenate([rows, picked]), 1e-6))
    return [i for k, i in enumerate(order) if len(rows) + k not in dependent]


class VelocityEquations(NamedTuple):
    """Equations of velocities: rows and right-hand side, and how many of the last are wishes.

    Those say that a joint rests whose rate nobody gave.
    """

    rows: Floats
    right: Floats
    resting: int = 0


def velocity_equations(
    system: System, q: Floats, t: float, u: Floats, p: Floats, conditions: bool = True
) -> VelocityEquations:
    """Φ_v and β, with the initial conditions of the model if they count."""
    initial = conditions and "Init_v" in system
    pair = ("Init_v", "Init_beta") if initial else ("Phi_v", "beta")
    if not system.multipliers and not initial:
        return VelocityEquations(np.zeros((0, len(system.v))), np.zeros(0))
    rows, right = (system.evaluate(name, q, t=t, u=u, p=p) for name in pair)
    rows, right = np.atleast_2d(rows), np.atleast_1d(right)
    if initial and system.wished_rates:
        first = len(rows) - system.wished_rates
        dependent = [k for k in dependent_rows(rows, 1e-6) if k >= first]
        wishes = range(len(rows) - system.resting, len(rows))
        resting = len(set(wishes) - set(dependent))
        rows, right = np.delete(rows, dependent, axis=0), np.delete(right, dependent)
        return VelocityEquations(rows, right, resting)
    return VelocityEquations(rows, right)


def closing_velocity(
    system: System, rows: Floats, right: Floats, v: Floats, held: Mapping[int, float]
) -> Floats:
    """The velocities nearest to v that fulfil the equations, with some of them held.

    Raises:
        AssemblyError: There are none.
    """
    A = np.concatenate([rows, np.eye(len(v))[list(held)]])
    b = np.concatenate([right, list(held.values())])
    if not len(A):
        return v
    # in natural coordinates a small link beside large ones makes rows of very different sizes
    alike, lengths = unit_rows(A)
    change = np.linalg.lstsq(alike, (b - A @ v) / lengths, rcond=1e-11)[0]
    found = v + change
    missed = A @ found - b
    fast = np.maximum(np.abs(found), np.abs(v))
    for unit in {entry.unit for entry in system.v}:  # as fast as any of its unit
        those = [k for k, entry in enumerate(system.v) if entry.unit == unit]
        fast[those] = fast[those].max()
    sizes = np.abs(A) @ fast + np.abs(b)
    # a row may be rounding only, in a singular position
    over = ~(np.abs(missed) <= 1e-8 * sizes + 1e-13 * sizes.max() + 1e-15)
    if over.any():
        worst = int(np.argmax(np.where(over, np.nan_to_num(np.abs(missed), nan=np.inf), -1.0)))
        names = [*system.multipliers, *(f"{system.v[i].name} = {x:g}" for i, x in held.items())]
        name = names[worst] if worst < len(names) else "an initial condition"
        raise AssemblyError(
            f"{system.name}: no velocities fulfil all equations at the start; {name} is missed by "
            f"{missed[worst]:.3g}: {in_conflict(names, missed)}. Hold fewer velocities, or check "
            f"equations that depend on time"
        )
    return np.asarray(found)


def moving_velocity(
    instant: Instant,
    q: Floats,
    equations: VelocityEquations,
    v: Floats,
    held: Sequence[int],
    firm: int,
) -> Floats:
    """The velocities nearest to v with which a motion goes on from a singular position.

    Where rows of Φ_v depend on others in one position only, Φ_v v = β allows more than the motions
    that there are: of a four-bar with its bars in line two directions are left, of which all
    combinations fulfil the rows, but the linkage moves along two of them only.  For a motion with
    the velocity v there must be accelerations, Φ_v v' = γ(q, v), so

        Wᵀ γ(q, v) = 0    for all W with Wᵀ Φ_v = 0,

    which are quadratic equations of v; of rows that depend on others everywhere they hold for
    every v that fulfils Φ_v v = β.

    Args:
        instant: The system at its time.
        q: A position that fulfils the constraints.
        equations: What v fulfils, which stays fulfilled but for joints that rest by wish only.
        v: Velocities that do.
        held: Those of them that are to stay, the first ones first.
        firm: How many of these must.

    Raises:
        SingularityError: No motion has these velocities.
    """
    Phi_v, lengths = unit_rows(instant.Phi_v(q))
    if not len(Phi_v):
        return v
    U, sizes, _ = svd(Phi_v)
    rank = int((sizes > RANK_TOLERANCE * sizes[0]).sum())
    W = U[:, rank:]

    def missed(speed: Floats) -> Floats:
        return np.asarray(W.T @ (instant.gamma(q, speed) / lengths))

    def left(speed: Floats) -> float:
        size = float(np.abs(instant.gamma(q, speed) / lengths).max(initial=0.0))
        return float(np.abs(missed(speed)).max(initial=0.0)) / (1.0 + size)

    if not W.shape[1] or not left(v) > _UNCURVED:
        return v
    free = motions(Phi_v).R
    other = v + free @ np.random.default_rng(0).normal(size=free.shape[1])
    if np.abs(missed(other) - missed(v)).max() <= _UNCURVED * (1.0 + np.abs(missed(v)).max()):
        return v  # laws of time that contradict each other, which the run will find
    rows = equations.rows
    # the last joints are the first that do not rest, and the last values the first to change
    kept = [(len(rows) - k, len(held)) for k in range(equations.resting + 1)]
    kept += [(len(rows) - equations.resting, k) for k in range(len(held) - 1, firm - 1, -1)]
    for count, stay in kept:
        fulfilled = np.concatenate([rows[:count], np.eye(len(v))[list(held[:stay])]])
        N = motions(unit_rows(fulfilled)[0]).R
        found = list(_curved(missed, left, v, N)) if N.shape[1] else []
        if found:
            return min(found, key=lambda speed: float(np.linalg.norm(speed - v)))
    system = instant.system
    names = system.multipliers
    dependent = ", ".join(names[i] for i in dependent_rows(Phi_v))
    given = ", ".join(f"{system.v[i].name} = {np.round(v[i], 12):g}" for i in held[:firm])
    raise SingularityError(
        f"{system.name}: the start at t = {instant.t:g} s is a singular position, in which "
        f"{dependent} depends on the other constraints, and no motion goes through it with "
        f"{given or 'the velocities given'}. "
        f"Give fewer velocities, or none, or start a little away from it"
    )


def _curved(
    missed: Callable[[Floats], Floats], left: Callable[[Floats], float], v: Floats, N: Floats
) -> Iterator[Floats]:
    """Roots v + N z of quadratic equations, from several starts around v."""
    random = np.random.default_rng(0)
    size = 1.0 + float(np.abs(v).max())
    for k in range(_CURVED_STARTS):
        speed = v + size * N @ random.normal(size=N.shape[1]) * (k > 0)
        for _ in range(_CURVED_STEPS):
            # of quadratic functions central differences are exact
            slopes = [
                (missed(speed + size * n) - missed(speed - size * n)) / (2 * size) for n in N.T
            ]
            step = np.linalg.lstsq(np.stack(slopes, axis=1), missed(speed), rcond=1e-9)[0]
            speed = speed - N @ step
            if np.linalg.norm(step) <= 1e-15 * size:
                break
        if left(speed) <= 1e-3 * _UNCURVED:
            yield speed
