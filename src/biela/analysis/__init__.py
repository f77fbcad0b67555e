"""Answers to a user's questions.

Assembly, kinematics, dynamics, equilibrium, linearisation and real-time steps, each asked of a
system by the capability it needs.

May import every package of biela but the front doors, `biela.studio` and `biela.cli`.
"""

from __future__ import annotations

from biela.analysis.assembly import Assembly, assemble, assemble_velocity, branches
from biela.analysis.formulations import FORMULATIONS, Options
from biela.analysis.simulator import Simulator, simulate

__all__ = [
    "FORMULATIONS",
    "Assembly",
    "Options",
    "Simulator",
    "assemble",
    "assemble_velocity",
    "branches",
    "simulate",
]
