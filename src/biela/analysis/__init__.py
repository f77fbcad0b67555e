"""Answers to a user's questions.

Assembly, kinematics, dynamics, equilibrium, linearisation, reactions and real-time steps, each
asked of a system by the capability it needs.

May import every package of biela but the front doors, `biela.studio` and `biela.cli`.
"""

from __future__ import annotations

from biela.analysis.assembly import Assembly, assemble, assemble_velocity, branches
from biela.analysis.continuation import continuation
from biela.analysis.cost import Cost, cost
from biela.analysis.driving import driven
from biela.analysis.equilibrium import Equilibrium, equilibria, equilibrium, holding_inputs
from biela.analysis.formulations import FORMULATIONS, Options
from biela.analysis.initial import InitialState, initial_problem
from biela.analysis.inverse_dynamics import inverse_dynamics
from biela.analysis.joint_reactions import JointReactions, joint_reactions
from biela.analysis.joint_unknowns import joint_unknowns
from biela.analysis.kinematic_bases import KinematicBases, kinematic_bases
from biela.analysis.kinematics import kinematics
from biela.analysis.linear_system import LinearSystem, Mode
from biela.analysis.linearisation import Linearisation, linearise
from biela.analysis.mobility import Mobility, mobility
from biela.analysis.position_method import PositionMethod
from biela.analysis.precision import precision
from biela.analysis.precision_report import Precision
from biela.analysis.reactions import Reactions, Redundancy, reactions, redundancy
from biela.analysis.realtime import export_simulator
from biela.analysis.redundant_motion import Objective
from biela.analysis.simulation import Simulator, simulate
from biela.analysis.solution_curve import SolutionCurve

__all__ = [
    "FORMULATIONS",
    "Assembly",
    "Cost",
    "Equilibrium",
    "InitialState",
    "JointReactions",
    "KinematicBases",
    "LinearSystem",
    "Linearisation",
    "Mobility",
    "Mode",
    "Objective",
    "Options",
    "PositionMethod",
    "Precision",
    "Reactions",
    "Redundancy",
    "Simulator",
    "SolutionCurve",
    "assemble",
    "assemble_velocity",
    "branches",
    "continuation",
    "cost",
    "driven",
    "equilibria",
    "equilibrium",
    "export_simulator",
    "holding_inputs",
    "initial_problem",
    "inverse_dynamics",
    "joint_reactions",
    "joint_unknowns",
    "kinematic_bases",
    "kinematics",
    "linearise",
    "mobility",
    "precision",
    "reactions",
    "redundancy",
    "simulate",
]
