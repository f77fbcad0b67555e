"""Answers to a user's questions.

Assembly, kinematics, dynamics, equilibrium, linearisation, reactions and real-time steps, each
asked of a system by the capability it needs.

May import every package of biela but the front doors, `biela.studio` and `biela.cli`.
"""

from __future__ import annotations

from biela.analysis.assembly import Assembly, assemble, assemble_velocity, branches
from biela.analysis.driving import driven
from biela.analysis.equilibrium import Equilibrium, equilibria, equilibrium, holding_inputs
from biela.analysis.formulations import FORMULATIONS, Options
from biela.analysis.initial import InitialState, initial_problem
from biela.analysis.inverse_dynamics import inverse_dynamics
from biela.analysis.joint_unknowns import joint_unknowns
from biela.analysis.kinematics import kinematics
from biela.analysis.linear_system import LinearSystem, Mode
from biela.analysis.linearisation import Linearisation, linearise
from biela.analysis.reactions import Reactions, Redundancy, reactions, redundancy
from biela.analysis.realtime import export_simulator
from biela.analysis.simulator import Simulator, simulate

__all__ = [
    "FORMULATIONS",
    "Assembly",
    "Equilibrium",
    "InitialState",
    "LinearSystem",
    "Linearisation",
    "Mode",
    "Options",
    "Reactions",
    "Redundancy",
    "Simulator",
    "assemble",
    "assemble_velocity",
    "branches",
    "driven",
    "equilibria",
    "equilibrium",
    "export_simulator",
    "holding_inputs",
    "initial_problem",
    "inverse_dynamics",
    "joint_unknowns",
    "kinematics",
    "linearise",
    "reactions",
    "redundancy",
    "simulate",
]
