"""Inverse kinematics: the position of a mechanism for given places, directions and poses."""

from __future__ import annotations

from biela.analysis.inverse_kinematics.solution import IKBatch, IKPath, IKSolution
from biela.analysis.inverse_kinematics.solver import InverseKinematics
from biela.analysis.inverse_kinematics.targets import (
    CoordinateTarget,
    DirectionTarget,
    PointTarget,
    PoseTarget,
    Target,
)

__all__ = [
    "CoordinateTarget",
    "DirectionTarget",
    "IKBatch",
    "IKPath",
    "IKSolution",
    "InverseKinematics",
    "PointTarget",
    "PoseTarget",
    "Target",
]
