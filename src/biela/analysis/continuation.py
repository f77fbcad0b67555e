"""The whole motion of a mechanism with one freedom, followed along the curve of its positions.

No coordinate drives: the curve is followed by its own length (`arclength`), so dead points, where a
coordinate turns back and could not be driven any further, are ordinary points of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from biela.analysis.arclength import WEAK, Place, Tracer
from biela.analysis.driving import Law, driven
from biela.analysis.one_start import start_position
from biela.analysis.preparation import Model, Values, as_system, at_values, values, with_values
from biela.analysis.solution_curve import SolutionCurve, solution_curve
from biela.doors import door
from biela.equations import System
from biela.errors import ModelError, SimulationError

Floats = npt.NDArray[np.float64]


@door(ModelError)
def continuation(
    model: Model,
    *,
    q: Values = None,
    direction: Mapping[str, float] | None = None,
    step: float = 0.05,
    steps: int = 10_000,
    limits: Mapping[str, tuple[float, float]] | None = None,
    drives: Mapping[str, Law] | None = None,
    t: float = 0.0,
    parameters: Values = None,
    inputs: Values = None,
    tolerance: float = 1e-12,
) -> SolutionCurve:
    """The curve of positions of a mechanism with one freedom, through dead points.

    If drives, or constraints that depend on time, leave no freedom, time is the parameter of the
    curve: it goes back after a dead point.

    Args:
        model: The mechanism.
        q: First guess of the start, by name or in order: the branch.
        direction: Velocities or coordinates, by name, with the sign in which they shall begin to
            move; where curves cross at the start, their rates, which choose the curve.
        step: The longest step along the curve (m, rad and s count alike).
        steps: How many at most.
        limits: Further limits of coordinates, besides those of the model.
        drives: Laws of coordinates or outputs, see `driving.driven`.
        t: Time at the start, s.
        parameters: Values other than those of the model.
        inputs: Likewise.
        tolerance: Largest constraint error of a position (m, rad).

    Raises:
        ModelError: The mechanism does not have one freedom, or an argument makes no sense.
        AssemblyError: The mechanism cannot be assembled at the start.
        SimulationError: The curve cannot be followed any further.
    """
    model, parameters = with_values(model, parameters)
    if not (np.isfinite(step) and step > 0):
        raise ModelError(f"step must be a positive length, not {step!r}")
    system = driven(as_system(model), drives or {})
    if len(system.multipliers) > system.geometric:
        raise ModelError(
            f"{system.name}: some constraints hold for velocities only; there is no curve of "
            f"positions to follow"
        )
    p = values(system, "parameter", system.p, parameters)
    u = values(system, "input", system.u, inputs)
    place, _ = start_position(system, q, t, u, p)
    tracer = Tracer(system, u, p, _timed(system, t, place, u, p), tolerance)
    bounds = _bounds(at_values(system, p), limits or {})
    first = Place(t, place, _first_tangent(tracer, t, place, direction))
    places, lengths, stopped = _followed(tracer, first, step, steps, bounds)
    return solution_curve(tracer, places, lengths, stopped)


# --- the start ------------------------------------------------------------------------------------


def _freedoms(tracer: Tracer, t: float, q: Floats) -> int:
    """Freedoms of the positions near q: where curves cross there seem to be more at it."""
    least = tracer.size - tracer.rank(t, q)
    if least <= 1:
        return least
    random = np.random.default_rng(0)
    null = tracer.null_space(t, q)
    for _ in range(8):
        # along the constraints: beside them redundant rows seem to be independent
        delta = null @ random.normal(size=null.shape[1])
        place = tracer.moved(t, q, 1e-2 * delta / np.linalg.norm(delta))
        found = tracer.corrected(*place, np.zeros(tracer.size), 1e-2)
        if found is not None:
            least = min(least, tracer.size - tracer.rank(found[0], found[1]))
    return least


def _timed(system: System, t: float, q: Floats, u: Floats, p: Floats) -> bool:
    held = _freedoms(Tracer(system, u, p, False), t, q)
    if held == 1:
        return False
    timed = Tracer(system, u, p, True)
    moving = any(np.abs(timed.rows(t + s, q)[:, -1]).max(initial=0.0) > 1e-12 for s in (0.0, 1e-3))
    if held == 0 and moving and _freedoms(timed, t, q) == 1:
        return True
    if held == 0:
        raise ModelError(f"{system.name} has no freedom, and no constraint depends on time")
    raise ModelError(
        f"{system.name} has {held} degrees of freedom; a curve has one: drive or lock "
        f"{held - 1} of them with drives={{…: law}}"
    )


def _first_tangent(
    tracer: Tracer, t: float, q: Floats, direction: Mapping[str, float] | None
) -> Floats:
    system = tracer.system
    null = tracer.null_space(t, q)
    if not direction:
        if tracer.timed:  # forwards in time
            return np.asarray(null[:, -1] * (np.sign(null[-1, -1]) or 1.0))
        k = int(np.argmax(np.abs(null[:, -1])))
        return np.asarray(null[:, -1] * np.sign(null[k, -1]))
    rates = np.zeros(tracer.size)
    instant = tracer.instant(t)
    rows: list[Floats] = []
    for name, value in direction.items():
        row = np.zeros(tracer.size)
        row[: len(system.v)] = _rate_row(system, name, instant.N(q))
        rows.append(row)
        rates += float(value) * row
    wanted = np.array([float(x) for x in direction.values()])
    if null.shape[1] == 1:
        along = null[:, 0] * (np.sign(null[:, 0] @ rates) or 1.0)
    else:
        # of the curves that cross here, the one whose rates are in these proportions
        parts = np.linalg.lstsq(np.array(rows) @ null, wanted, rcond=None)[0]
        along = null @ parts
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        raise ModelError(
            f"{system.name}: {', '.join(direction)} cannot move at the start; name another "
            f"direction"
        )
    return np.asarray(along / length)


def _rate_row(system: System, name: str, N: Floats) -> Floats:
    """The row that gives the rate of a coordinate, or a velocity, of the displacements."""
    velocities = [e.name for e in system.v]
    if name in velocities:
        return np.asarray(np.eye(len(velocities))[velocities.index(name)])
    coordinates = [e.name for e in system.q]
    if name not in coordinates:
        raise ModelError(
            f"{system.name} has no coordinate or velocity {name}; it has "
            f"{', '.join([*coordinates, *velocities])}"
        )
    return np.asarray(N[coordinates.index(name)])


def _bounds(system: System, limits: Mapping[str, tuple[float, float]]) -> Floats:
    names = [e.name for e in system.q]
    found = np.array([(e.lower, e.upper) for e in system.q], dtype=float).reshape(-1, 2)
    for name, pair in limits.items():
        if name not in names:
            raise ModelError(f"{system.name} has no coordinate {name}; it has {', '.join(names)}")
        low, high = pair
        if not low < high:
            raise ModelError(f"{system.name}: the limits of {name} are not in order: {pair!r}")
        found[names.index(name)] = low, high
    return found


# --- along the curve ------------------------------------------------------------------------------


def _followed(
    tracer: Tracer, first: Place, step: float, steps: int, bounds: Floats
) -> tuple[list[Place], list[float], str]:
    places, lengths = [first], [0.0]
    length = min(step, 0.02)
    for _ in range(steps):
        here = places[-1]
        found = tracer.advance(here, length, step)
        if found is None:
            curve = solution_curve(tracer, places, lengths, "lost")
            raise SimulationError(
                f"{tracer.system.name}: the curve cannot be followed beyond a length of "
                f"{lengths[-1]:.6g}; take a smaller step. The curve until then is in the attribute "
                f"results of this error",
                curve,
            )
        after, taken, length = found
        if len(places) > 3:
            end = _closing(tracer, first, here, after, taken)
            if end is not None:
                gap = float(np.linalg.norm(end.q - here.q))
                return [*places, end], [*lengths, lengths[-1] + gap], "closed"
        outside = np.flatnonzero((after.q < bounds[:, 0]) | (after.q > bounds[:, 1]))
        for k in outside:
            inside = bounds[k, 0] <= here.q[k] <= bounds[k, 1]
            end = _at_limit(tracer, here, after, int(k), bounds[k]) if inside else None
            if end is not None:
                gap = float(np.linalg.norm(end.q - here.q))
                name = tracer.system.q[k].name
                return [*places, end], [*lengths, lengths[-1] + gap], f"limit of {name}"
        places.append(after)
        lengths.append(lengths[-1] + taken)
    return places, lengths, "steps"


def _closing(tracer: Tracer, first: Place, here: Place, after: Place, taken: float) -> Place | None:
    """The start again, if the curve passes it between two points, with its angles wound on."""
    if tracer.timed:
        return None
    start = first.q.copy()
    system = tracer.system
    turns = np.array([e.unit == "rad" for e in system.q])
    start[turns] += 2 * np.pi * np.round((here.q[turns] - start[turns]) / (2 * np.pi))
    signs = np.ones(len(start))  # four Euler parameters and their negatives are one orientation
    for k in system.quaternions:
        four = slice(k, k + 4)
        signs[four] = np.sign(start[four] @ here.q[four]) or 1.0
    start *= signs
    rates = [_unit(tracer.instant(x.t).N(x.q) @ x.tangent[: len(system.v)]) for x in (first, here)]
    span = float(np.linalg.norm(after.q - here.q))
    before, behind = (float(np.linalg.norm(x.q - start)) for x in (here, after))
    if max(before, behind) > 1.05 * span or (signs * rates[0]) @ rates[1] < 0.5:
        return None
    if np.abs(tracer.residual(first.t, start)).max(initial=0.0) > 100 * tracer.tolerance:
        return None  # a turn more is not the same position
    # a curve that only passes near has a gap across its direction
    chord = (after.q - here.q) / max(span, 1e-300)
    gap = start - here.q
    across = gap - (gap @ chord) * chord
    if np.linalg.norm(across) > 0.1 * taken:
        return None
    return Place(first.t, start, tracer.tangent(first.t, start, here.tangent))


def _unit(x: Floats) -> Floats:
    return np.asarray(x / max(float(np.linalg.norm(x)), 1e-300))


def _at_limit(tracer: Tracer, here: Place, after: Place, k: int, bound: Floats) -> Place | None:
    """The point of the curve at which a coordinate is at its limit."""
    limit = float(bound[0] if after.q[k] < bound[0] else bound[1])
    part = (limit - here.q[k]) / (after.q[k] - here.q[k])
    t, q = here.t + part * (after.t - here.t), here.q
    delta = part * float(np.linalg.norm(after.q - here.q)) * here.tangent
    t, q = tracer.moved(here.t, here.q, delta)
    for _ in range(20):
        row = np.zeros(tracer.size)
        row[: len(tracer.system.v)] = tracer.instant(t).N(q)[k]
        residual = np.append(tracer.residual(t, q), q[k] - limit)
        if np.abs(residual).max() <= tracer.tolerance:
            return Place(t, q, tracer.tangent(t, q, here.tangent))
        J = np.vstack([tracer.rows(t, q), row])
        t, q = tracer.moved(t, q, -np.linalg.lstsq(J, residual, rcond=WEAK)[0])
    return None
