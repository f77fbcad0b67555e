"""Formulations: each derives a `System`, the equations of motion in its own coordinates.

`SymbolicSystem` is the one where the user is the formulator.
"""

from biela.equations.constraints import Constraint
from biela.equations.derived import Equations
from biela.equations.flexible import FlexibleBody
from biela.equations.formulate import COORDINATES, formulate
from biela.equations.regrouping import Regrouping, Through, regrouped
from biela.equations.symbolic import SymbolicSystem
from biela.equations.system import CAPABILITIES, Quantity, System
from biela.equations.virtual_power import Route

__all__ = [
    "CAPABILITIES",
    "COORDINATES",
    "Constraint",
    "Equations",
    "FlexibleBody",
    "Quantity",
    "Regrouping",
    "Route",
    "SymbolicSystem",
    "System",
    "Through",
    "formulate",
    "regrouped",
]
