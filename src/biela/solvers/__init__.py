"""Numerics without mechanics: factorisations, Newton's method, integrators.

What a fixed time step needs is written as numeric routines (`biela.code.routines`): it runs in
process and is exported as C from the same source.
"""

from __future__ import annotations

from biela.solvers.ldlt import DROP_TOLERANCE, ldlt_factor, ldlt_solve
from biela.solvers.lu import lu_factor, lu_solve
from biela.solvers.newton import CONVERGED, NOT_CONVERGED, SINGULAR, newton, newton_fixed
from biela.solvers.runge_kutta import (
    rk4,
    rk4_in_time,
    rk4_step,
    rk4_step_in_time,
    rk4_trajectory,
    rk4_trajectory_in_time,
)

__all__ = [
    "CONVERGED",
    "DROP_TOLERANCE",
    "NOT_CONVERGED",
    "SINGULAR",
    "ldlt_factor",
    "ldlt_solve",
    "lu_factor",
    "lu_solve",
    "newton",
    "newton_fixed",
    "rk4",
    "rk4_in_time",
    "rk4_step",
    "rk4_step_in_time",
    "rk4_trajectory",
    "rk4_trajectory_in_time",
]
