"""Forward dynamics by the forces that joints hold: M⁻¹ = C - Bᵀ A⁻¹ B with a sparse A.

The forces through the joints are F = H⁺ᵀ τ + W F_S; those held do no work, Wᵀ Pᵀ V' = 0, which
gives (Jaramillo 1998, Fig. 8, with the sign of step 5 corrected)

    1  τ ← τ - ξ            2  a_T = C τ          3  S = -B τ       4  A F_S = S
    5  a_S = +Bᵀ F_S        6  v' = a_T + a_S     7  integrate.

A = Wᵀ Pᵀ I⁻¹ P W is positive definite and, for a chain, block tridiagonal; eliminated from the tips
its cost is linear in the number of bodies.  Every body needs mass and inertia about each axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biela.atoms import Atom
from biela.equations.spatial.algebra import inverse_inertia
from biela.equations.spatial.blocks import Block, blocks
from biela.equations.spatial.factorisation import factorised
from biela.equations.spatial.newton_euler import bias
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, plus, product, times, transposed
from biela.errors import ModelError

Rows = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """The steps of the algorithm: a_T, S, F_S, a_S and the accelerations."""

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
        ModelError: A joint has motions that depend on its coordinates, a rotor, or a body has no
            inverse inertia.
    """
    tree.check_uncoupled("the constraint-force algorithm")
    if any(rotor != 0.0 for rotor in tree.rotor):
        raise ModelError(
            f"{tree.model.name} has rotors, which the constraint-force algorithm does not know; "
            f"use articulated bodies"
        )
    solver = _Solver(tree)
    free = minus(tau, bias(tree, wrenches=wrenches))
    u = solver.active(free)
    y = solver.K(u)
    a_T = solver.projected(y)
    S = [-x for x in solver.held(y)]
    F_S = factorised(solver.A()).solve(S)
    a_S = solver.projected(solver.K(solver.spread(F_S)))
    atom = tree.workspace.atom

    def atoms(x: Sequence[Scalar]) -> list[Atom]:
        return [atom(entry) for entry in x]

    return ConstraintForces(atoms(a_T), atoms(S), atoms(F_S), atoms(a_S), atoms(plus(a_T, a_S)))


class _Solver:
    """The operators of a tree with constant H and W, applied block by block."""

    def __init__(self, tree: SpatialTree) -> None:
        self.blocks = blocks(tree)
        self.size = len(tree.v)
        self.W = [_held(block, tree) for block in self.blocks]
        self.H = [_dual(block, tree) for block in self.blocks]
        self.inverse = [self._inverse(block, tree) for block in self.blocks]

    @staticmethod
    def _inverse(block: Block, tree: SpatialTree) -> Rows:
        if any(isinstance(x, Atom) for row in block.I for x in row):
            raise ModelError(
                f"{tree.model.name}: the inertia of {block.body} is a parameter; the constraint-"
                f"force algorithm inverts numbers only: use articulated bodies"
            )
        try:
            return [[float(x) for x in row] for row in inverse_inertia(np.array(block.I, float))]
        except ModelError as error:
            raise ModelError(f"{tree.model.name}: body {block.body}: {error}") from None

    # ------------------------------------------------------------------ vectors

    def active(self, tau: Sequence[Scalar]) -> Rows:
        """H⁺ᵀ τ, a row a body."""
        return [
            _combined(columns, [tau[n] for n in block.v])
            for block, columns in zip(self.blocks, self.H, strict=True)
        ]

    def spread(self, F_S: Sequence[Scalar]) -> Rows:
        """W F_S."""
        found, first = [], 0
        for W in self.W:
            found.append(_combined(W, F_S[first : first + len(W)]))
            first += len(W)
        return found

    def K(self, u: Rows) -> Rows:
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

    def projected(self, y: Rows) -> list[Scalar]:
        """H⁺ y."""
        found: list[Scalar] = [0.0] * self.size
        for block, columns, row in zip(self.blocks, self.H, y, strict=True):
            for n, column in zip(block.v, columns, strict=True):
                found[n] = dot(column, row)
        return found

    def held(self, y: Rows) -> list[Scalar]:
        """Wᵀ y."""
        return [dot(w, row) for W, row in zip(self.W, y, strict=True) for w in W]

    # ------------------------------------------------------------------- matrix

    def A(self) -> Rows:
        """Wᵀ K W: a body meets its parent and the others that its parent carries."""
        firsts = np.concatenate([[0], np.cumsum([len(W) for W in self.W])]).tolist()
        A: Rows = [[0.0] * firsts[-1] for _ in range(firsts[-1])]
        for i, block in enumerate(self.blocks):
            self._add(A, firsts, i, i, self.inverse[i])
            p = block.parent
            if p < 0:
                continue
            half = product(transposed(block.Phi), self.inverse[p])
            self._add(A, firsts, i, p, [[-x for x in row] for row in half])
            for j in range(i + 1):
                if self.blocks[j].parent == p:
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


def _numbers(block: Block, tree: SpatialTree) -> np.ndarray:
    if any(isinstance(x, Atom) for column in block.H for x in column):
        raise ModelError(
            f"{tree.model.name}: the motions of the joint of {block.body} depend on its "
            f"coordinates; the constraint-force algorithm needs constant ones: use articulated "
            f"bodies, or Operators(model)"
        )
    return np.array(block.H, dtype=float).reshape(-1, 6)


def _held(block: Block, tree: SpatialTree) -> Rows:
    """Orthonormal forces that the joint holds; unit vectors in order where these do."""
    if len(block.v) == 6:
        return []
    H = _numbers(block, tree)
    touched = np.abs(H).sum(axis=0) > 0
    if touched.sum() == len(H):
        W = np.eye(6)[~touched]
    else:
        W = np.linalg.qr(H.T, mode="complete")[0][:, len(H) :].T
    return [[float(x) for x in w] for w in W]


def _dual(block: Block, tree: SpatialTree) -> Rows:
    """The columns of H (Hᵀ H)⁻¹; for six freedoms those of H⁻ᵀ."""
    if not block.v:
        return []
    if len(block.v) == 6 and any(isinstance(x, Atom) for column in block.H for x in column):
        return _orthonormal(block, tree)
    H = _numbers(block, tree)
    return [[float(x) for x in row] for row in np.linalg.solve(H @ H.T, H)]


def _orthonormal(block: Block, tree: SpatialTree) -> Rows:
    """The six motions of a free joint are orthonormal, whatever its rotation, at its own marker."""
    link, here = tree.frame(block.body)
    plain = all(x == 0.0 for x in here.p)
    if not plain or len(tree.links[link].v) != 3:
        raise ModelError(
            f"{tree.model.name}: the free joint of {block.body} is not at the origin of the body, "
            f"so that its motions depend on its coordinates; use articulated bodies"
        )
    return [list(column) for column in block.H]


def _combined(columns: Rows, x: Sequence[Scalar]) -> list[Scalar]:
    total: list[Scalar] = [0.0] * 6
    for column, factor in zip(columns, x, strict=True):
        total = plus(total, [c * factor for c in column])
    return total
