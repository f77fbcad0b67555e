"""The position near a guess that a run starts from.

As many of the values that somebody gave are kept as the constraints leave free, the first ones
first; the others choose the branch, and angles that are read from markers are those meant, not half
a turn off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from biela.analysis.closure import (
    ClosureEquations,
    check_start,
    left_free,
    reason,
    scattered,
    solved,
    unwound,
)
from biela.analysis.instant import motions
from biela.analysis.preparation import Values, meant
from biela.equations import Quantity, System
from biela.equations.positions import apart, normalised
from biela.errors import AssemblyError
from biela.solvers.least_squares import CONVERGED, Solution

Floats = npt.NDArray[np.float64]

#: How far a mechanism is moved to see what moves with it, rad or m.
_ASIDE = 0.05


def position_near(
    system: System, q: Floats, given: Values, t: float, u: Floats, p: Floats
) -> tuple[Floats, int]:
    """An assembly near a guess, and the iterations it took.

    As many of the values named as the constraints leave free are kept, the first ones first; the
    others choose the branch.
    """
    equations = ClosureEquations(system, t, u, p, conditions=given is None)
    if "positions" in system:
        q = np.asarray(system.evaluate("positions", q, t=t, u=u, p=p))
    order = named_places(system.q, given)
    q = normalised(system, q, order)
    first = equations.choose(q, order)
    if given is not None and not isinstance(given, Mapping):
        # of a whole position the sides would be chosen by chance
        check_start(equations, q)
    held = {i: float(q[i]) for i in left_free(equations.jacobian(q), first, equations.rates(q))}
    solution = solved(equations, q, held)
    if solution.status != CONVERGED and held and not isinstance(given, Mapping):
        # an array, or the start of the model, is a guess as a whole
        loose = solved(equations, q, {})
        named = [i for i in held if system.q[i].given] if given is None else []
        if loose.status == CONVERGED and not named:
            solution, held = loose, {}
    if solution.status != CONVERGED and held:
        # from another side, with what is named held
        for start in scattered(equations, q, [*held]):
            again = solved(equations, start, held, restarts=0)
            if again.status == CONVERGED:
                solution = again
                break
    if solution.status != CONVERGED and held:
        solution, held = _not_free_after_all(equations, solution, q, first, held)
    if solution.status != CONVERGED:
        if given is not None:
            check_start(equations, q)
        raise AssemblyError(reason(equations, solution, held))
    solution, held = _held_there(equations, solution, q, order, held)
    if isinstance(given, Mapping):
        names = [entry.name for entry in system.q]
        own = [i for i in order if names[i] in {meant(name, names) for name in given}]
        solution, held = _kept_elsewhere(equations, solution, q, own, held)
    place = unwound(equations, solution.x, q)
    others = [i for i in order if i not in held]
    if others and np.abs(place[others] - q[others]).max() > 0.1 * (1 + np.abs(q[others]).max()):
        place = _nearest(equations, q, place, held, others)
    return _meant(equations, q, place, held), solution.iterations


def _not_free_after_all(
    equations: ClosureEquations,
    failed: Solution,
    guess: Floats,
    order: Sequence[int],
    held: dict[int, float],
) -> tuple[Solution, dict[int, float]]:
    """The assembly without those values that seemed free at a poor guess, and are not once closed.

    Joints that are far apart may lend a mechanism a freedom that it does not have: the rocker of a
    driven four-bar can be held only while the loop is open.  Such a value chooses the branch.
    """
    closed = solved(equations, guess, {})
    if closed.status != CONVERGED:
        return failed, held
    free = left_free(equations.jacobian(closed.x), order, equations.rates(closed.x))
    kept = {i: value for i, value in held.items() if i in free}
    if len(kept) == len(held):
        return failed, held
    again = solved(equations, closed.x, kept) if kept else closed
    return (again, kept) if again.status == CONVERGED else (failed, held)


def _meant(
    equations: ClosureEquations, guess: Floats, found: Floats, held: Mapping[int, float]
) -> Floats:
    """The position at the roots that are meant: no angle half a turn off, no body mirrored.

    Raises:
        AssemblyError: None is found near.
    """
    wrong = equations.other_roots(found)
    if not wrong:
        return found
    best = _from_afar(equations, guess, held)
    if best is None:
        raise AssemblyError(
            f"{equations.system.name} is assembled with {', '.join(wrong)} only; "
            f"give the bodies positions and orientations near the start of the motion, or start "
            f"values to the joints"
        )
    return best.x


def _from_afar(
    equations: ClosureEquations, guess: Floats, held: Mapping[int, float]
) -> Solution | None:
    """Of the assemblies found from random starts, at the roots meant, the nearest to the guess."""
    found = []
    for start in scattered(equations, guess, [*held]):
        solution = solved(equations, start, held, restarts=0)
        if solution.status == CONVERGED and not equations.other_roots(solution.x):
            found.append(replace(solution, x=unwound(equations, solution.x, guess)))
    away = [float(np.linalg.norm(apart(equations.system, one.x, guess))) for one in found]
    return found[int(np.argmin(away))] if found else None


def _held_there(
    equations: ClosureEquations,
    found: Solution,
    guess: Floats,
    order: Sequence[int],
    held: dict[int, float],
) -> tuple[Solution, dict[int, float]]:
    """The assembly with what is named held that is free there, but was not at a poor guess.

    A body whose orientation nobody gave seems held by its joints in another way than it is.
    """
    q = found.x
    free = left_free(equations.jacobian(q), order, equations.rates(q))
    if len(free) <= len(held):
        return found, held
    wanted = {i: float(guess[i]) for i in free}
    again = solved(equations, q, wanted)
    return (again, wanted) if again.status == CONVERGED else (found, held)


def _kept_elsewhere(
    equations: ClosureEquations,
    found: Solution,
    guess: Floats,
    order: Sequence[int],
    held: dict[int, float],
) -> tuple[Solution, dict[int, float]]:
    """The assembly with what is named kept, though it cannot move from the guess.

    At a dead centre the slider of a crank stands still, and does not seem to be free.  What the
    model gives, and what is named later, is let go for it.

    Raises:
        AssemblyError: It is free, and no position has the value.
    """
    first: dict[int, float] = {}
    for i in order:
        near = abs(found.x[i] - guess[i]) <= 1e-8 * abs(guess[i]) + 1e-10
        if near or i in held:
            first[i] = float(guess[i])
            continue
        if not _moves(equations, found.x, i, list(first)):
            continue
        first = wanted = first | {i: float(guess[i])}
        best = _from_afar(equations, guess, wanted)
        if best is None:
            failed = solved(equations, guess, wanted)
            raise AssemblyError(reason(equations, failed, wanted))
        found, held = _restored(equations, best, wanted, held)
    return found, held


def _restored(
    equations: ClosureEquations,
    found: Solution,
    wanted: dict[int, float],
    held: Mapping[int, float],
) -> tuple[Solution, dict[int, float]]:
    """An assembly with as much of what was held before as leaves what is wanted alone."""
    rest = {k: value for k, value in held.items() if k not in wanted}
    free = left_free(equations.jacobian(found.x), [*wanted, *rest], equations.rates(found.x))
    kept = wanted | {k: rest[k] for k in free if k in rest}
    start = found.x.copy()
    start[[*kept]] = [*kept.values()]
    again = solved(equations, start, kept)
    return (again, kept) if again.status == CONVERGED else (found, wanted)


def _moves(equations: ClosureEquations, q: Floats, i: int, held: Sequence[int]) -> bool:
    """Whether a coordinate moves with the mechanism, others held, though not at once."""
    N = equations.rates(q)
    free = motions(np.concatenate([equations.jacobian(q), N[list(held)]])).R
    kept = {k: float(q[k]) for k in held}
    for along in free.T:
        for far in (_ASIDE, -_ASIDE):
            aside = solved(equations, equations.instant.moved(q, far * along), kept, restarts=0)
            if aside.status != CONVERGED:
                continue
            if abs(aside.x[i] - q[i]) > 1e-7 * max(abs(aside.x[i]), abs(q[i])) + 1e-10:
                return True
    return False


def _nearest(
    equations: ClosureEquations,
    guess: Floats,
    found: Floats,
    held: Mapping[int, float],
    named: Sequence[int],
) -> Floats:
    """Of the branches found from random starts, the nearest in the coordinates named."""

    def distance(q: Floats) -> float:
        away = np.linalg.norm(apart(equations.system, q, guess)[list(named)])
        # e and -e are one orientation: of equals the one that is written alike
        return float(away + 1e-6 * np.linalg.norm(q - guess))

    best = found
    for start in scattered(equations, guess, [*held, *named]):
        solution = solved(equations, start, held, restarts=0)
        if solution.status == CONVERGED:
            place = unwound(equations, solution.x, guess)
            best = min(best, place, key=distance)
    return best


def named_places(entries: Sequence[Quantity], given: Values) -> list[int]:
    """Places of the values that somebody gave, in the order in which they were named."""
    names = [entry.name for entry in entries]
    if isinstance(given, Mapping):
        meanings = (meant(name, names) for name in given)
        first = [names.index(name) for name in meanings if name in names]
        return first + [k for k, e in enumerate(entries) if e.given and k not in first]
    if given is not None:
        return list(range(len(names)))
    return [k for k, entry in enumerate(entries) if entry.given]
