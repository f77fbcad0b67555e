"""Numerics without mechanics: factorisations, Newton's method, integrators.

What a fixed time step needs is written as numeric routines (`biela.code.routines`): it runs in
process and is exported as C from the same source.
"""

from __future__ import annotations

from biela.solvers.damped import STALLED, newton_damped
from biela.solvers.implicit_motion import Correction, ImplicitMotion, Iteration
from biela.solvers.independent import CoordinatePartition, choose_independent, full_pivoting
from biela.solvers.integrators.rk4 import (
    rk4,
    rk4_in_time,
    rk4_step,
    rk4_step_in_time,
    rk4_trajectory,
    rk4_trajectory_in_time,
)
from biela.solvers.ldlt import DROP_TOLERANCE, ldlt_factor, ldlt_solve
from biela.solvers.lu import lu_factor, lu_solve
from biela.solvers.minimum_norm import (
    NOT_FINITE,
    newton_minimum_norm,
    newton_minimum_norm_fixed,
)
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, SINGULAR, newton, newton_fixed
from biela.solvers.nonlinear import Solution, Steps, solve_equations
from biela.solvers.pseudo_inverse import RANK_TOLERANCE, orthogonal_factor, orthogonal_solve
from biela.solvers.sparse.block_ldlt import BlockLDLT
from biela.solvers.sparse.block_lu import BlockLU
from biela.solvers.sparse.bordered import BorderedBlocks
from biela.solvers.sparse.pattern import SymmetricPattern, drop_threshold
from biela.solvers.sparse.scalar_ldlt import (
    sparse_equilibrate,
    sparse_ldlt_factor,
    sparse_ldlt_refine,
    sparse_ldlt_residual,
    sparse_ldlt_solve,
)
from biela.solvers.sparse.scalar_solver import NEARLY_DROPPED, SparseLDLT

__all__ = [
    "CONVERGED",
    "DROP_TOLERANCE",
    "NEARLY_DROPPED",
    "NOT_CONVERGED",
    "NOT_FINITE",
    "RANK_TOLERANCE",
    "SINGULAR",
    "STALLED",
    "BlockLDLT",
    "BlockLU",
    "BorderedBlocks",
    "CoordinatePartition",
    "Correction",
    "ImplicitMotion",
    "Iteration",
    "Solution",
    "SparseLDLT",
    "Steps",
    "SymmetricPattern",
    "choose_independent",
    "drop_threshold",
    "full_pivoting",
    "ldlt_factor",
    "ldlt_solve",
    "lu_factor",
    "lu_solve",
    "newton",
    "newton_damped",
    "newton_fixed",
    "newton_minimum_norm",
    "newton_minimum_norm_fixed",
    "orthogonal_factor",
    "orthogonal_solve",
    "rk4",
    "rk4_in_time",
    "rk4_step",
    "rk4_step_in_time",
    "rk4_trajectory",
    "rk4_trajectory_in_time",
    "solve_equations",
    "sparse_equilibrate",
    "sparse_ldlt_factor",
    "sparse_ldlt_refine",
    "sparse_ldlt_residual",
    "sparse_ldlt_solve",
]
