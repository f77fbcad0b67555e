"""Planning: from waypoints, times and limits to a trajectory.

Between two waypoints the way is the geodesic q₀ ⊕ s (q₁ ⊖ q₀): numbers change in proportion and
rotations turn about fixed axes.  A *move* has one s(t) for all freedoms, so that all joints start
and arrive together; a *spline* passes several waypoints without stopping.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.robots.trajectories import splines
from biela.analysis.robots.trajectories.trajectory import Trajectory
from biela.analysis.robots.trajectories.trapezoids import Trapezoid
from biela.analysis.robots.trajectories.turns import rates_of
from biela.budgets import LARGEST
from biela.errors import ModelError, ShapeError

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]

KINDS: Final = ("trapezoid", "quintic", "cubic")
#: The peaks of rotations about changing axes are found to this part.
_CURVED: Final = 2e-3
#: How often the time is shared out anew.
_TRIALS: Final = 25


def trajectory(
    robot: Motions,
    waypoints: Any,
    times: Any = None,
    *,
    kind: str = "quintic",
    velocity: Any = None,
    acceleration: Any = None,
    together: bool = True,
    ends: Any = None,
) -> Trajectory:
    """See `Robot.trajectory`."""
    points = robot.normalised(np.asarray(waypoints, dtype=float))
    if points.ndim != 2 or len(points) < 2:
        raise ShapeError(
            f"{robot.name}: waypoints are two or more rows of {robot.nq} coordinates, not an array "
            f"of shape {np.shape(waypoints)}"
        )
    if not (np.abs(points) <= LARGEST).all():
        raise ModelError(f"{robot.name}: waypoints are finite numbers of at most {LARGEST:g}")
    if getattr(robot, "constraints", ()):
        raise ModelError(
            f"{robot.name} has closed loops, which hold its coordinates together: they would open "
            f"between waypoints. Move some coordinates by drivers instead, with biela.kinematics"
        )
    if kind not in KINDS:
        raise ModelError(f"{robot.name}: a trajectory is {', '.join(KINDS)}; not {kind!r}")
    limits = (
        limit(robot, "velocity", robot.velocity_limits if velocity is None else velocity),
        limit(robot, "acceleration", np.inf if acceleration is None else acceleration),
    )
    delta = np.asarray(robot.function("difference").map(points[:-1], points[1:]))
    if kind == "trapezoid":
        return _trapezoids(robot, points, delta, times, *limits, together)
    if times is not None:
        return _spline(robot, points, delta, times_of(robot, times, len(points)), kind, ends)
    return _scaled(robot, points, delta, kind, *limits, ends)


# ------------------------------------------------------------------------- trapezoids


def _trapezoids(
    robot: Motions,
    points: Floats,
    delta: Floats,
    times: Any,
    velocity: Floats,
    acceleration: Floats,
    together: bool,
) -> Trajectory:
    """From waypoint to waypoint, resting at each."""
    instants = None if times is None else times_of(robot, times, len(points))
    wanted = None if instants is None else np.diff(instants)
    start = 0.0 if instants is None else float(instants[0])
    groups = [[j] for _, j in robot.scalars.values()]
    groups += [[j, j + 1, j + 2] for _, j in robot.quaternions]
    if together:
        groups = [[j for group in groups for j in group]]
    breaks, base, coefficients, passed = [start], [], [], [start]
    for k, way in enumerate(delta):
        moves = {}
        for g, group in enumerate(groups):
            size = np.abs(way[group])
            moving = size > 0
            if not moving.any():
                continue
            fast = float((velocity[group][moving] / size[moving]).min())
            sharp = float((acceleration[group][moving] / size[moving]).min())
            if not math.isfinite(sharp):
                raise ModelError(
                    f"{robot.name}: a trapezoid needs the largest accelerations: give "
                    f"acceleration=…, one number or one for each of {robot.nv} velocities"
                )
            moves[g] = Trapezoid.fastest(fast, sharp)
        least = max((move.duration for move in moves.values()), default=0.0)
        lasting = least if wanted is None else float(wanted[k])
        if lasting < least * (1 - 1e-12):
            raise ModelError(
                f"{robot.name}: the way to waypoint {k + 1} takes {least:.6g} s within the limits, "
                f"and {lasting:.6g} s are given"
            )
        if lasting == 0.0:  # the same waypoint again
            passed.append(start)
            continue
        moves = {g: move.lasting(lasting) for g, move in moves.items()}
        cuts = sorted({0.0, lasting, *(b for move in moves.values() for b in move.breaks)})
        cuts = [c for c, after in pairwise(cuts) if after - c > 1e-14 * lasting]
        for first in cuts:
            c = np.zeros((6, robot.nv))
            for g, move in moves.items():
                c[:, groups[g]] = np.outer(move.coefficients(first), way[groups[g]])
            breaks.append(start + first)
            base.append(points[k])
            coefficients.append(c)
        start += lasting
        passed.append(start)
    if not base:
        raise ModelError(f"{robot.name}: all waypoints are the same: there is no way to go")
    edges = np.array([*breaks[1:], start])
    return Trajectory(robot, edges, np.array(base), np.array(coefficients), np.array(passed))


# ---------------------------------------------------------------------------- splines


def _spline(
    robot: Motions, points: Floats, delta: Floats, times: Floats, kind: str, ends: Any
) -> Trajectory:
    """Through waypoints at given times."""
    h = np.diff(times)
    v, a = _ends(robot, ends)
    if kind == "cubic":
        speeds, pushes = splines.cubic(h, delta, v), np.zeros((len(points), robot.nv))
    else:
        speeds, pushes = splines.quintic(h, delta, v, a)
    pieces = []
    for k, way in enumerate(delta):
        v1, a1 = speeds[k + 1].copy(), pushes[k + 1].copy()
        for _, j in robot.quaternions:
            part = slice(j, j + 3)
            # the rates of the rotation vector that turn at the end as the next piece begins
            v1[part], a1[part] = rates_of(way[part], v1[part], a1[part])
        if kind == "cubic":
            pieces.append(splines.cubic_coefficients(h[k], way, speeds[k], v1))
        else:
            pieces.append(splines.quintic_coefficients(h[k], way, speeds[k], pushes[k], v1, a1))
    return Trajectory(robot, times, points[:-1], np.array(pieces), times)


def _scaled(
    robot: Motions,
    points: Floats,
    delta: Floats,
    kind: str,
    velocity: Floats,
    acceleration: Floats,
    ends: Any,
) -> Trajectory:
    """As fast as the limits allow, with the time shared out such that every part comes near one.

    Slowing down by κ divides velocities by κ and accelerations by κ²: of durations that were tried
    the least uniform κ is taken, then parts that stay away from the limits are made shorter.
    """
    if ends is not None:
        raise ModelError(f"{robot.name}: velocities at the ends need times=…")
    size = np.abs(delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        fast = np.where(size > 0, size / velocity, 0.0).max(axis=1)
        sharp = np.sqrt(np.where(size > 0, size / acceleration, 0.0).max(axis=1))
    h = np.maximum(fast, sharp)
    if not (h > 0).all():
        k = int(np.flatnonzero(~(h > 0))[0])
        if size[k].max() > 0:
            raise ModelError(
                f"{robot.name}: nothing says how long the way to waypoint {k + 1} takes: give "
                f"times=…, or limits velocity=… or acceleration=…"
            )
        raise ModelError(
            f"{robot.name}: waypoints {k} and {k + 1} are the same: leave one out, or give times=…"
        )
    curved = bool(robot.quaternions) and len(delta) > 1
    best: Trajectory | None = None
    for _ in range(_TRIALS if len(delta) > 1 else 1):
        tried = _spline(robot, points, delta, np.concatenate([[0.0], np.cumsum(h)]), kind, None)
        v, a = tried.piece_peaks
        needed = np.maximum((v / velocity).max(axis=1), np.sqrt((a / acceleration).max(axis=1)))
        factor = float(needed.max()) * (1 + _CURVED if curved else 1.0)
        if best is None or factor * tried.duration < best.duration:
            best = tried.slowed(factor)
        h = h * (needed / needed.max()) ** 0.5
    assert best is not None, "at least one is tried"
    return best


# ------------------------------------------------------------------------ what is given


def limit(robot: Motions, what: str, given: Any) -> Floats:
    """A limit for each velocity.

    Raises:
        ShapeError: There are not as many as velocities.
        ModelError: One is not above zero.
    """
    try:
        found = np.broadcast_to(np.asarray(given, dtype=float), (robot.nv,))
    except ValueError:
        raise ShapeError(
            f"{robot.name}: the largest {what} is one number or one for each of {robot.nv} "
            f"velocities, not an array of shape {np.shape(given)}"
        ) from None
    if not (found > 1 / LARGEST).all():
        k = int(np.flatnonzero(~(found > 1 / LARGEST))[0])
        raise ModelError(
            f"{robot.name}: the largest {what} of {robot.v_names[k]} must be above zero, not "
            f"{found[k]:g}"
        )
    return found


def times_of(robot: Motions, times: Any, count: int) -> Floats:
    """Times of waypoints; one number is the duration, shared out evenly.

    Raises:
        ModelError: There are not as many as waypoints, or they do not increase.
    """
    found = np.ravel(np.asarray(times, dtype=float))
    if len(found) == 1:
        found = np.linspace(0.0, float(found[0]), count)
    if (
        len(found) != count
        or not np.isfinite(found).all()
        or not (np.diff(found) > 1 / LARGEST).all()
    ):
        raise ModelError(
            f"{robot.name}: times are {count} that increase, one for each waypoint, or the "
            f"duration alone; not {times!r}"
        )
    return found


def _ends(robot: Motions, ends: Any) -> tuple[Floats, Floats]:
    """Velocities and accelerations (2, nv) at both ends; at rest by default."""
    rest = np.zeros((2, robot.nv))
    if ends is None:
        return rest, rest
    given: Sequence[Any] = list(ends)
    if len(given) != 2 or any(np.shape(v) != (robot.nv,) for v in given):
        raise ShapeError(
            f"{robot.name}: ends are the velocities at the start and at the end, {robot.nv} each"
        )
    return np.array(given, dtype=float), rest
