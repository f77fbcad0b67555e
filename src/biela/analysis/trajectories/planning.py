"""Planning: from waypoints, times and limits to a trajectory.

Between two waypoints the way is the geodesic q₀ ⊕ s (q₁ ⊖ q₀): numbers change in proportion and
rotations turn about fixed axes.  A *move* has one s(t) for all freedoms, so that all joints start
and arrive together; a *spline* passes several waypoints without stopping.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from biela.analysis.trajectories import splines
from biela.analysis.trajectories.trajectory import Trajectory
from biela.analysis.trajectories.trapezoids import Trapezoid
from biela.analysis.trajectories.turns import rates_of
from biela.errors import AssemblyError, ModelError, ShapeError

if TYPE_CHECKING:
    from biela.analysis.robot_motions import Motions

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
    if kind not in KINDS:
        raise ModelError(f"{robot.name}: a trajectory is {', '.join(KINDS)}; not {kind!r}")
    limits = (
        _limit(robot, "velocity", robot.velocity_limits if velocity is None else velocity),
        _limit(robot, "acceleration", np.inf if acceleration is None else acceleration),
    )
    delta = np.asarray(robot.function("difference").map(points[:-1], points[1:]))
    if kind == "trapezoid":
        return _trapezoids(robot, points, delta, times, *limits, together)
    if times is not None:
        return _spline(robot, points, delta, _times(robot, times, len(points)), kind, ends)
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
    wanted = None if times is None else np.diff(_times(robot, times, len(points)))
    start = 0.0 if times is None else float(np.ravel(times)[0])
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
            continue
        moves = {g: move.lasting(lasting) for g, move in moves.items()}
        cuts = sorted({0.0, lasting, *(b for move in moves.values() for b in move.breaks)})
        cuts = [c for c, after in zip(cuts, cuts[1:], strict=False) if after - c > 1e-14 * lasting]
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


# ----------------------------------------------------------------- lines of a frame


def line(
    robot: Motions,
    frame: str,
    q: Any,
    target: Any,
    times: Any = None,
    *,
    points: int = 21,
    velocity: Any = None,
    acceleration: Any = None,
) -> Trajectory:
    """See `Robot.line`."""
    from biela.analysis.inverse_kinematics import InverseKinematics, PoseTarget

    first = robot.normalised(q)
    T0 = robot.pose(frame, first)
    goal = np.asarray(target, dtype=float)
    T1 = T0.copy()
    if goal.shape == (3,):
        T1[:3, 3] = goal
    elif goal.shape == (4, 4):
        T1 = goal
    else:
        raise ShapeError(
            f"{robot.name}: the end of a line is a place (3,) or a pose (4, 4), not {goal.shape}"
        )
    if points < 2:
        raise ModelError(f"{robot.name}: a line has two points or more, not {points}")
    u = np.linspace(0.0, 1.0, points)
    # at rest at both ends, and as smooth as a quintic
    s = u**3 * (10 - 15 * u + 6 * u * u)
    poses = np.array([_between(T0, T1, float(x)) for x in s])
    solver = InverseKinematics(robot.kinematic_system, [PoseTarget(frame)])
    path = solver.follow(u, poses, first, restarts=0)
    if not path.converged.all():
        k = int(np.flatnonzero(~path.converged)[0])
        raise AssemblyError(
            f"{robot.name}: {frame} cannot reach the point {s[k]:.0%} of the way along the line "
            f"within the limits of the joints: start elsewhere, or end nearer"
        )
    rows = np.asarray(path.q)
    rows[0] = first
    if times is not None:
        ends = _times(robot, times, 2)
        return trajectory(robot, rows, ends[0] + (ends[1] - ends[0]) * u, kind="quintic")
    made = trajectory(robot, rows, u, kind="quintic")
    limits = (
        _limit(robot, "velocity", robot.velocity_limits if velocity is None else velocity),
        _limit(robot, "acceleration", np.inf if acceleration is None else acceleration),
    )
    v, a = made.peaks
    factor = max(float((v / limits[0]).max()), math.sqrt(float((a / limits[1]).max())))
    if not factor > 0:
        raise ModelError(
            f"{robot.name}: nothing says how long the line takes: give times=…, or limits "
            f"velocity=… or acceleration=…"
        )
    return made.slowed(factor)


def _between(T0: Floats, T1: Floats, s: float) -> Floats:
    """The pose a part of the way: straight, and turned about a fixed axis."""
    R = T0[:3, :3].T @ T1[:3, :3]
    cosine = (np.trace(R) - 1) / 2
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = float(np.linalg.norm(axis))
    angle = math.atan2(sine, cosine)
    if sine > 1e-9:
        n = axis / sine
    elif cosine > 0:
        n = np.array([0.0, 0.0, 1.0])
    else:  # half a turn: 1 + R = 2 n nᵀ
        columns = R + np.eye(3)
        n = columns[:, int(np.argmax(np.diag(columns)))]
        n = n / np.linalg.norm(n)
    K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    part = s * angle
    T = np.eye(4)
    T[:3, :3] = T0[:3, :3] @ (np.eye(3) + math.sin(part) * K + (1 - math.cos(part)) * K @ K)
    T[:3, 3] = (1 - s) * T0[:3, 3] + s * T1[:3, 3]
    return T


# ------------------------------------------------------------------------ what is given


def _limit(robot: Motions, what: str, given: Any) -> Floats:
    try:
        found = np.broadcast_to(np.asarray(given, dtype=float), (robot.nv,))
    except ValueError:
        raise ShapeError(
            f"{robot.name}: the largest {what} is one number or one for each of {robot.nv} "
            f"velocities, not an array of shape {np.shape(given)}"
        ) from None
    if not (found > 0).all():
        k = int(np.flatnonzero(~(found > 0))[0])
        raise ModelError(
            f"{robot.name}: the largest {what} of {robot.v_names[k]} must be above zero, not "
            f"{found[k]:g}"
        )
    return found


def _times(robot: Motions, times: Any, count: int) -> Floats:
    """Times of waypoints; one number is the duration, shared out evenly."""
    found = np.ravel(np.asarray(times, dtype=float))
    if len(found) == 1:
        found = np.linspace(0.0, float(found[0]), count)
    if len(found) != count or not np.isfinite(found).all() or not (np.diff(found) > 0).all():
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
