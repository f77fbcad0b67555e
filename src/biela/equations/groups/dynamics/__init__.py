"""Forward dynamics by groups: equations of motion in the independent coordinates.

With the independent coordinates z, every group gives the rates of its bodies as v = S z' and their
accelerations as S z'' + b, where S and b follow from those of the groups before it (Miralles 2018,
§5.2; his future work).  Inertia and forces are gathered group by group,

    (Σ Sᵀ M S) z'' = Σ Sᵀ (Q - M b),

so that the cost is that of the groups, each with the coordinates it depends on.  Of z, rotations
are unit quaternions, whose rates are angular velocities.
"""

from __future__ import annotations

from biela.equations.groups.dynamics.influence import Influence
from biela.equations.groups.dynamics.program import MotionProgram
from biela.equations.groups.dynamics.state import StateCoordinates

__all__ = ["Influence", "MotionProgram", "StateCoordinates"]
