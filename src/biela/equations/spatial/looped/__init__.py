"""Looped lowering of the recursions on trees: one kernel for each kind of link, compiled once."""

from biela.equations.spatial.looped.functions import LoopedDynamics

__all__ = ["LoopedDynamics"]
