"""Elimination by kind: sparse LDLᵀ of repeated structures as loops over straight-line kernels.

The unknowns come in groups, such as the coordinates of a body with the multipliers of the joints
that lead to it.  Each group has a *front*: its own unknowns and the later ones they are joined to
(its *border*).  Its elimination is straight-line code that depends only on the pattern of the
front, and the mechanisms worth looping over have few such patterns: a chain of a hundred thousand
cells has three, those of its ends and that of all others.

    [ A_gg  A_gbᵀ ]      A_gg = L D Lᵀ,   A_bb ← A_bb - A_bg A_gg⁻¹ A_gb  to the front that follows
    [ A_gb  A_bb  ]

Mechanisms that repeat nothing have as many kinds as groups; where that is too much code to compile,
a general sparse solver takes the place of the kernels (`GeneralStages`).

Duff & Reid 1983, "The multifrontal solution of indefinite sparse symmetric linear", ACM TOMS 9.
"""

from biela.solvers.fronts.analysis import Front, Fronts, TooMuchCodeError, find_fronts
from biela.solvers.fronts.general import GeneralStages
from biela.solvers.fronts.stages import FrontStages

__all__ = [
    "Front",
    "FrontStages",
    "Fronts",
    "GeneralStages",
    "TooMuchCodeError",
    "find_fronts",
]
