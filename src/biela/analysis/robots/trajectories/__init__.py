"""Trajectories in joint space: moves and splines within limits, on every manifold."""

from __future__ import annotations

from biela.analysis.robots.trajectories.lines import line
from biela.analysis.robots.trajectories.planning import trajectory
from biela.analysis.robots.trajectories.trajectory import Samples, Trajectory

__all__ = ["Samples", "Trajectory", "line", "trajectory"]
