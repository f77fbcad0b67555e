"""Ways to turn the equations of a constrained system into the right-hand side of an integrator.

One module a formulation; each makes a `Formulation` out of an `Unrolled` system.  They are chosen
by name in `biela.analysis.simulate`.
"""

from __future__ import annotations

from biela.analysis.formulations.choice import (
    FORMULATIONS,
    PARTITIONED,
    PENALISED,
    PROJECTED,
    REDUCED,
    STEPPING,
    Formulation,
    StateKernel,
    formulate,
)
from biela.analysis.formulations.options import Options

__all__ = [
    "FORMULATIONS",
    "PARTITIONED",
    "PENALISED",
    "PROJECTED",
    "REDUCED",
    "STEPPING",
    "Formulation",
    "Options",
    "StateKernel",
    "formulate",
]
