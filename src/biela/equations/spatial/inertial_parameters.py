"""The regressor of the joint forces: τ = Y(q, v, v') φ, with ten parameters φ a body.

The parameters of a body are those of its own frame: mass, first moments, and the inertia about the
origin, in the order of `biela.equations.regressor.PARAMETERS`; products as they stand in the
tensor.  With a and U of that frame (`motion`)

    m:      [0; a],     s:  [e × a; U e],     I:  the axial vector of U Σ, Σ = ½ tr(I) 1 - I.
"""

from __future__ import annotations

from biela.atoms import Atom
from biela.equations.regressor import PARAMETERS
from biela.equations.spatial.motion import (
    Acceleration,
    Spin,
    accelerations,
    from_frame,
    to_parent,
)
from biela.equations.spatial.newton_euler import moving
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, plus, times, transposed

_INERTIAS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def regressor(tree: SpatialTree) -> tuple[list[list[Atom]], list[str]]:
    """Y, and the name "body.parameter" of each column; without rotors, springs and friction."""
    motions = accelerations(tree, tree.v, tree.a, tree.gravity)
    columns: list[list[Scalar]] = []
    names: list[str] = []
    for body in tree.model.bodies:
        k, here = tree.frame(body)
        names += [f"{body}.{parameter}" for parameter in PARAMETERS]
        if k < 0:
            columns += [[0.0] * len(tree.v) for _ in PARAMETERS]
            continue
        motion, back = motions[k], transposed(here.R)
        acc = plus(motion.a, times(motion.spin.U, here.p))
        spin = Spin(times(back, motion.spin.omega), times(back, motion.spin.alpha))
        local = Acceleration(spin, times(back, acc))
        for unit in _units():
            columns.append(_carried(tree, k, from_frame(here, moving(unit, local))))
    rows = zip(*columns, strict=True)
    return [[tree.workspace.atom(x) for x in row] for row in rows], names


def _units() -> list[list[list[Scalar]]]:
    """The pseudo-inertia of each parameter being one and the others zero."""
    found = []
    for i in (3, 0, 1, 2):
        J: list[list[Scalar]] = [[0.0] * 4 for _ in range(4)]
        J[i][3] = J[3][i] = 1.0
        found.append(J)
    for i, j in _INERTIAS:
        J = [[0.0] * 4 for _ in range(4)]
        if i == j:
            for k in range(3):
                J[k][k] = -0.5 if k == i else 0.5
        else:
            J[i][j] = J[j][i] = -1.0
        found.append(J)
    return found


def _carried(tree: SpatialTree, k: int, F: list[Scalar]) -> list[Scalar]:
    """The joint forces of one force on link k."""
    tau: list[Scalar] = [0.0] * len(tree.v)
    while k >= 0:
        link = tree.links[k]
        for number, H in zip(link.v, link.H, strict=True):
            tau[number] = tau[number] + dot(H, F)
        F, k = to_parent(link, F), link.parent
    return tau
