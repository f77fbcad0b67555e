"""Forces of the joints that close loops, in one state, and which of them are determinate.

Where the rows J of the loops depend on each other, λ + N c gives the same motion for any c, N being
the self-stresses Jᵀ N = 0; rows that hold by themselves have any multiplier.  The smallest wrenches
are taken, over all joints of the mechanism (`biela.joint_reactions`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.reactions import determinate_rows
from biela.errors import UnknownNameError
from biela.singular_values import svd
from biela.spelling import nearest

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: A singular value below this part of the largest is rounding.
_RANK: Final = 1e-9
#: A part of a self-stress below this is rounding.
_PART: Final = 1e-7


@dataclass(frozen=True)
class LoopForces:
    """What the joints that close loops do in a state.

    Attributes:
        joints: Joints that close loops, and drivers of markers (k).
        force: (k, 3), N, on the body of each marker j, at and along the axes of that marker.
        moment: (k, 3), N m.
        determinate: (k, 6): whether each component of force and moment is determinate.
        constraints: Names of the equations (m).
        multipliers: (m,); those that are not determinate are the smallest in the norm of all joint
            wrenches, as `biela.joint_reactions` has them (bodies welded to each other are one).
        determinate_multipliers: (m,).
        a: The accelerations (nv,).
    """

    joints: tuple[str, ...]
    force: Floats
    moment: Floats
    determinate: Flags
    constraints: tuple[str, ...]
    multipliers: Floats
    determinate_multipliers: Flags
    a: Floats

    def __getitem__(self, joint: str) -> tuple[Floats, Floats]:
        """Force and moment of a joint.

        Raises:
            UnknownNameError: There is no such joint.
        """
        if joint not in self.joints:
            raise UnknownNameError(f"no joint {joint!r} closes a loop{nearest(joint, self.joints)}")
        k = self.joints.index(joint)
        return self.force[k], self.moment[k]


def loop_forces(
    joints: tuple[str, ...],
    constraints: tuple[str, ...],
    a: Floats,
    lam: Floats,
    J: Floats,
    H: Floats,
    L: Floats,
    held: Callable[[], Floats],
) -> LoopForces:
    """The smallest wrenches that give the motion.

    Args:
        joints: Those with rows of H.
        constraints: Names of the rows of J.
        a: The accelerations.
        lam: Multipliers that give them.
        J: The rows.
        H: Wrenches of the joints, six rows each, by multiplier; then by those of idle rows.
        L: Wrenches in the joints of the tree, likewise.
        held: Those of the motion itself, asked for where rows depend on each other.
    """
    idle = L.shape[1] - len(lam)
    U, s, _ = svd(J)
    stress = U[:, int((s > _RANK * s.max(initial=1e-300)).sum()) :]
    null = np.zeros((L.shape[1], stress.shape[1] + idle))
    null[: len(lam), : stress.shape[1]] = stress
    null[len(lam) :, stress.shape[1] :] = np.eye(idle)
    whole = np.concatenate([lam, np.zeros(idle)])
    if null.shape[1]:
        right = np.concatenate([held() + L @ whole, whole])
        whole = whole - null @ np.linalg.lstsq(np.vstack([L @ null, null]), right, rcond=None)[0]
    wrench = (H @ whole).reshape(-1, 6)
    sure = (np.linalg.norm(H @ null, axis=1) <= _PART).reshape(-1, 6)
    return LoopForces(
        joints,
        wrench[:, 3:],
        wrench[:, :3],
        np.concatenate([sure[:, 3:], sure[:, :3]], axis=1),
        constraints,
        whole[: len(lam)],
        determinate_rows(J),
        a,
    )
