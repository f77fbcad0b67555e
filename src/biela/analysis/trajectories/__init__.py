"""Trajectories in joint space: moves and splines within limits, on every manifold."""

from __future__ import annotations

from biela.analysis.trajectories.lines import line
from biela.analysis.trajectories.planning import trajectory
from biela.analysis.trajectories.trajectory import Samples, Trajectory

__all__ = ["Samples", "Trajectory", "line", "trajectory"]
