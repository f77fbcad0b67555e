"""Straight lines of a frame: inverse kinematics at points of the line, joined by a spline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from biela.analysis.inverse_kinematics import InverseKinematics, PoseTarget
from biela.analysis.robots.trajectories.planning import limit, times_of, trajectory
from biela.analysis.robots.trajectories.trajectory import Trajectory
from biela.budgets import LINE, within
from biela.errors import AssemblyError, ModelError, ShapeError

if TYPE_CHECKING:
    from biela.analysis.robots.motions import Motions

Floats = npt.NDArray[np.float64]


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
    first = robot.normalised(q)
    if first.ndim != 1:
        raise ShapeError(
            f"{robot.name}: a line starts at one configuration, not at an array of shape "
            f"{first.shape}"
        )
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
    within(LINE, points, f"{robot.name}: a line would have {{}} points", "meet fewer points of it")
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
        ends = times_of(robot, times, 2)
        return trajectory(robot, rows, ends[0] + (ends[1] - ends[0]) * u, kind="quintic")
    made = trajectory(robot, rows, u, kind="quintic")
    limits = (
        limit(robot, "velocity", robot.velocity_limits if velocity is None else velocity),
        limit(robot, "acceleration", np.inf if acceleration is None else acceleration),
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
