"""Forward dynamics by the forces that joints hold: M⁻¹ = C - Bᵀ A⁻¹ B with a sparse A.

The forces through the joints are F = G τ + W F_S (`held_forces`); those held do no work,
Wᵀ Pᵀ V' = 0, which gives (Jaramillo 1998, Fig. 8, with the sign of step 5 corrected)

    1  τ ← τ - ξ            2  a_T = C τ          3  S = -B τ       4  A F_S = S
    5  a_S = +Bᵀ F_S        6  v' = a_T + a_S     7  integrate.

with K = Pᵀ I⁻¹ P,  A = Wᵀ K W,  B = Wᵀ K G,  C = Gᵀ K G.  The source has chains: A is positive
definite and block tridiagonal.  In a tree a body also meets the others that its parent carries;
eliminated from the tips nothing else fills, and the cost is linear in the number of bodies.

A rotor of inertia J takes the part J v' of the joint force τ.  With f = -√J v' that is one more
force of its joint, held not by a constraint but by an inertia of its own:

    F = G (τ + √J f) + W F_S,      A ← [W, G√J]ᵀ K [W, G√J] + diag(0, 1).

Every moving body, or group of bodies welded together, needs mass and inertia about each axis:
the method is made of I⁻¹.  Only a body without any, between two joints, is no obstacle: these are
one joint (`rigid_blocks`).  A joint whose own motions depend on each other in some position (three
hinges at gimbal lock) has no G there, as M without rotors has no inverse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom, sqrt
from biela.equations.spatial.algebra import inverse_inertia
from biela.equations.spatial.blocks import Block, rigid_blocks
from biela.equations.spatial.factorisation import factorised, inverse_of
from biela.equations.spatial.held_forces import force_split
from biela.equations.spatial.newton_euler import bias
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import (
    Scalar,
    dot,
    minus,
    plus,
    product,
    scaled,
    skew,
    times,
    transposed,
    zero,
)
from biela.errors import ModelError
from biela.model.joints import Joint

Rows = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """The steps of the algorithm: a_T, S, F_S, a_S and the accelerations.

    S and F_S have for each moving body the forces that its joint holds, then those of its rotors.
    """

    a_T: list[Atom]
    S: list[Atom]
    F_S: list[Atom]
    a_S: list[Atom]
    accelerations: list[Atom]


def constraint_forces(
    tree: SpatialTree,
    tau: Sequence[Scalar],
    *,
    wrenches: Mapping[str, Sequence[Scalar]] | None = None,
) -> ConstraintForces:
    """Accelerations and constraint forces for joint forces τ.

    F_S are those of the acceleration alone: the forces of the bias add to them.

    Raises:
        ModelError: Gears tie joints together, a rotor has negative inertia, or a body has no
            inverse inertia.
    """
    return ConstraintForceSolver(tree).steps(minus(tau, bias(tree, wrenches=wrenches)))


class ConstraintForceSolver:
    """M⁻¹ of a tree, as C - Bᵀ A⁻¹ B with A factorised once.

    Raises:
        ModelError: As `constraint_forces`.
    """

    def __init__(self, tree: SpatialTree) -> None:
        tree.check_uncoupled("the constraint-force algorithm")
        self.tree = tree
        self.blocks = rigid_blocks(tree)
        splits = [force_split(tree, block) for block in self.blocks]
        self.G = [split.G for split in splits]
        #: Held forces of each joint, and those of its rotors.
        self.W = [
            split.W + _rotor_forces(tree, block, split.G)
            for block, split in zip(self.blocks, splits, strict=True)
        ]
        self.constraints = [len(split.W) for split in splits]
        self.inverse = [_inverse(block, tree) for block in self.blocks]
        self.factors = factorised(self.A())

    def steps(self, tau: Sequence[Scalar]) -> ConstraintForces:
        """Steps 2 to 6 for joint forces without bias."""
        y = self._K([_combined(G, [tau[n] for n in b.v]) for b, G in self._joints()])
        a_T = self._projected(y)
        S = [-dot(w, row) for W, row in zip(self.W, y, strict=True) for w in W]
        F_S = self.factors.solve(S)
        a_S = self._projected(self._K(self._spread(F_S)))
        atom = self.tree.workspace.atom

        def atoms(x: Sequence[Scalar]) -> list[Atom]:
            return [atom(entry) for entry in x]

        return ConstraintForces(atoms(a_T), atoms(S), atoms(F_S), atoms(a_S), atoms(plus(a_T, a_S)))

    def accelerations(self, tau: Sequence[Scalar]) -> list[Atom]:
        """M⁻¹ τ."""
        return self.steps(tau).accelerations

    # ------------------------------------------------------------------ vectors

    def _joints(self) -> zip[tuple[Block, Rows]]:
        return zip(self.blocks, self.G, strict=True)

    def _spread(self, F_S: Sequence[Scalar]) -> Rows:
        """W F_S, a row a body."""
        found, first = [], 0
        for W in self.W:
            found.append(_combined(W, F_S[first : first + len(W)]))
            first += len(W)
        return found

    def _K(self, u: Rows) -> Rows:
        """Pᵀ I⁻¹ P u."""
        x = [list(row) for row in u]
        for k, block in enumerate(self.blocks):
            if block.parent >= 0:
                x[block.parent] = minus(x[block.parent], times(block.Phi, u[k]))
        x = [times(inverse, row) for inverse, row in zip(self.inverse, x, strict=True)]
        return [
            row if block.parent < 0 else minus(row, times(transposed(block.Phi), x[block.parent]))
            for block, row in zip(self.blocks, x, strict=True)
        ]

    def _projected(self, y: Rows) -> list[Scalar]:
        """Gᵀ y."""
        found: list[Scalar] = [0.0] * len(self.tree.v)
        for (block, columns), row in zip(self._joints(), y, strict=True):
            for n, column in zip(block.v, columns, strict=True):
                found[n] = dot(column, row)
        return found

    # ------------------------------------------------------------------- matrix

    def A(self) -> Rows:
        """Wᵀ K W: a body meets its parent and the others that its parent carries."""
        firsts = np.concatenate([[0], np.cumsum([len(W) for W in self.W])]).tolist()
        A: Rows = [[0.0] * firsts[-1] for _ in range(firsts[-1])]
        carried: dict[int, list[int]] = {}
        for i, block in enumerate(self.blocks):
            self._add(A, firsts, i, i, self.inverse[i])
            for k in range(firsts[i] + self.constraints[i], firsts[i + 1]):
                A[k][k] = A[k][k] + 1.0  # the rotor itself
            p = block.parent
            if p < 0:
                continue
            carried.setdefault(p, []).append(i)
            half = product(transposed(block.Phi), self.inverse[p])
            self._add(A, firsts, i, p, [[-x for x in row] for row in half])
            for j in carried[p]:
                self._add(A, firsts, i, j, product(half, self.blocks[j].Phi))
        return A

    def _add(self, A: Rows, firsts: list[int], i: int, j: int, K: Rows) -> None:
        for a, w in enumerate(self.W[i]):
            row = times(transposed(K), w)
            for b, other in enumerate(self.W[j]):
                r, c = firsts[i] + a, firsts[j] + b
                if i == j and b > a:
                    continue
                A[r][c] = A[r][c] + dot(row, other)
                A[c][r] = A[r][c]


def _rotor_forces(tree: SpatialTree, block: Block, G: Rows) -> Rows:
    """G √J, a column for each velocity of a joint with a rotor."""
    found = []
    for number, column in zip(block.v, G, strict=True):
        J = tree.rotor[number]
        if zero(J):
            continue
        if not isinstance(J, Atom) and J < 0:
            raise ModelError(
                f"{tree.model.name}: the rotor along {tree.v_names[number]} has the inertia {J:g}; "
                f"it must not be negative"
            )
        found.append(scaled(column, sqrt(J) if isinstance(J, Atom) else math.sqrt(J)))
    return found


def _inverse(block: Block, tree: SpatialTree) -> Rows:
    """I⁻¹ of a body; of parameters as `inverse_inertia` has it."""
    I = block.I
    try:
        if not any(isinstance(x, Atom) for row in I for x in row):
            return [[float(x) for x in row] for row in inverse_inertia(np.array(I, float))]
        return _symbolic_inverse(I)
    except ModelError as error:
        joint, welded = _joint_of(tree, block.body), _welded(tree, block.body)
        what = f"bodies {', '.join(welded)}, welded together," if welded else f"body {block.body}"
        raise ModelError(f"{tree.model.name}: {what} on joint {joint}: {error}") from None


def _symbolic_inverse(I: Rows) -> Rows:
    m = I[3][3]
    if zero(m):
        raise ModelError(
            "a body without mass has no inverse inertia, which constraint forces need; use the "
            "method articulated or innovations"
        )
    s = [I[2][4] / m, I[0][5] / m, I[1][3] / m]
    S = skew(s)
    shift = product(S, S)
    J = [[I[i][j] + m * shift[i][j] for j in range(3)] for i in range(3)]
    Ji = inverse_of(J, ["x", "y", "z"])
    upper = product(Ji, S)
    lower = product(S, upper)
    return [[*Ji[i], *(-x for x in upper[i])] for i in range(3)] + [
        [
            *(-upper[j][i] for j in range(3)),
            *((1.0 / m if i == j else 0.0) - lower[i][j] for j in range(3)),
        ]
        for i in range(3)
    ]


def _joint_of(tree: SpatialTree, body: str) -> str:
    ends, closing = {body, tree.carriers[body]}, {joint.name for joint in tree.closing}
    joints = [j for j in tree.model.joints.values() if isinstance(j, Joint)]
    return next(
        joint.name
        for joint in joints
        if {joint.i.body, joint.j.body} == ends and joint.name not in closing
    )


def _welded(tree: SpatialTree, body: str) -> list[str]:
    link = tree.frame(body)[0]
    found = [other for other in tree.carriers if tree.frame(other)[0] == link]
    return found if len(found) > 1 else []


def _combined(columns: Rows, x: Sequence[Scalar]) -> list[Scalar]:
    total: list[Scalar] = [0.0] * 6
    for column, factor in zip(columns, x, strict=True):
        total = plus(total, [c * factor for c in column])
    return total
