"""Looped lowering of the recursions on trees: one kernel for each kind of link, compiled once."""

from biela.equations.spatial.looped.functions import LoopedDynamics
from biela.equations.spatial.looped.kinematics import LinkPoses
from biela.equations.spatial.looped.motion import LoopedMotion
from biela.equations.spatial.looped.tape import NotLoopedError

__all__ = ["LinkPoses", "LoopedDynamics", "LoopedMotion", "NotLoopedError"]
