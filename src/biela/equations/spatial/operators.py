"""The operators of a tree at a state, as matrices to look at.

Stacked from the tips to the ground, as in Jaramillo 1998, §1.7:

    Pᵀ V = H v,   Pᵀ V' = H v' + B,   P F = I V' + G,   τ = Hᵀ F               (1.62) to (1.65)
    ρ = P⁻¹,      M = Hᵀ ρ I ρᵀ H,    ξ = Hᵀ ρ (I ρᵀ B + G)                    (1.71), (1.72)

With W the forces that the joints hold, F = H⁺ᵀ τ + W F_S, and K = Pᵀ I⁻¹ P,

    A = Wᵀ K W,   B = Wᵀ K H⁺ᵀ,   C = H⁺ K H⁺ᵀ,   M⁻¹ = C - Bᵀ A⁻¹ B           (1.102)

where H⁺ᵀ = H (Hᵀ H)⁻¹, so that the columns of H need not be orthonormal.  And with articulated
inertias, E = 1 - P, Ψ = [1 - E (1 - G Hᵀ)]⁻¹ (`articulated`), M = [1 + Hᵀ ρ K] D [1 + Hᵀ ρ K]ᵀ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.code import Function
from biela.equations.spatial.algebra import inverse_inertia
from biela.equations.spatial.blocks import Block, blocks
from biela.equations.spatial.tree import SpatialTree
from biela.model import Model

Floats = npt.NDArray[np.float64]


class Operators:
    """The operators of a model: call `at` to have them at a state.

    Args:
        model: A tree of bodies.

    Raises:
        ModelError: The model is no tree, or gears tie joints together.
    """

    def __init__(self, model: Model) -> None:
        tree = SpatialTree(model)
        tree.check_open("the algebra of operators")
        tree.check_uncoupled("the split into motions and held forces")
        self.tree = tree
        self.blocks: list[Block] = blocks(tree)
        n, width = len(self.blocks), len(tree.v)
        H = [[[0.0] * width for _ in range(6)] for _ in range(n)]
        for k, block in enumerate(self.blocks):
            for number, column in zip(block.v, block.H, strict=True):
                for i in range(6):
                    H[k][i][number] = column[i]  # type: ignore[assignment]
        #: Bodies, from the ground to the tips.
        self.bodies = tuple(block.body for block in self.blocks)
        self._function = Function(
            "blocks",
            {"q": tree.q, "v": tree.v, "p": tree.p} if tree.p else {"q": tree.q, "v": tree.v},
            {
                "Phi": [row for block in self.blocks for row in _atoms(tree, block.Phi)],
                "H": [row for rows in H for row in _atoms(tree, rows)],
                "I": [row for block in self.blocks for row in _atoms(tree, block.I)],
                "V": _atoms(tree, [block.V for block in self.blocks]),
                "b": _atoms(tree, [block.b for block in self.blocks]),
                "gyr": _atoms(tree, [block.gyr for block in self.blocks]),
                "g": [tree.workspace.atom(x) for x in tree.gravity],
            },
        )

    def at(
        self, q: Sequence[float] | Floats, v: Sequence[float] | Floats, p: Floats | None = None
    ) -> OperatorValues:
        """The operators at a state."""
        tree = self.tree
        values = np.array(list(tree.model.parameters.given.values())) if p is None else p
        arguments = (q, v, values) if tree.p else (q, v)
        Phi, H, I, V, b, gyr, g = self._function(*arguments)
        n = len(self.blocks)
        return OperatorValues(
            tuple(block.parent for block in self.blocks),
            tuple(block.v for block in self.blocks),
            Phi.reshape(n, 6, 6),
            H.reshape(n, 6, -1),
            I.reshape(n, 6, 6),
            V,
            b,
            gyr,
            g,
        )


def _atoms(tree: SpatialTree, rows: object) -> list[list[object]]:
    return [[tree.workspace.atom(x) for x in row] for row in rows]  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class OperatorValues:
    """Operators as arrays.  Blocks are numbered from the ground, matrices stacked from the tips.

    Attributes:
        parent: Of each body; -1 for the ground.
        v: Numbers of the velocities of each joint.
        Phi, H, I: Blocks (n, 6, 6), (n, 6, nv) and (n, 6, 6).
        V_blocks, b, gyr: (n, 6).
        gravity: In the ground.
    """

    parent: tuple[int, ...]
    velocities: tuple[tuple[int, ...], ...]
    Phi: Floats
    H_blocks: Floats
    I_blocks: Floats
    V_blocks: Floats
    b: Floats
    gyr: Floats
    gravity: Floats

    # ------------------------------------------------------------------- stacked

    @property
    def n(self) -> int:
        """How many bodies there are."""
        return len(self.parent)

    def _rows(self, k: int) -> slice:
        """The rows of body k: the last body comes first."""
        first = 6 * (self.n - 1 - k)
        return slice(first, first + 6)

    def _stacked(self, parts: Floats) -> Floats:
        return np.concatenate([parts[k] for k in reversed(range(self.n))])

    @cached_property
    def P(self) -> Floats:
        """Block lower triangular, with -Φ_i in the row of the parent of i."""
        P = np.eye(6 * self.n)
        for k, parent in enumerate(self.parent):
            if parent >= 0:
                P[self._rows(parent), self._rows(k)] = -self.Phi[k]
        return P

    @cached_property
    def rho(self) -> Floats:
        """ρ = P⁻¹, by the products of Φ along each path (no matrix is inverted)."""
        rho = np.eye(6 * self.n)
        for k in range(self.n):
            product, here = np.eye(6), k
            while self.parent[here] >= 0:
                product = self.Phi[here] @ product
                here = self.parent[here]
                rho[self._rows(here), self._rows(k)] = product
        return rho

    @cached_property
    def H(self) -> Floats:
        """(6n, nv)."""
        return self._stacked(self.H_blocks)

    @cached_property
    def I(self) -> Floats:  # noqa: E743
        """Block diagonal."""
        found = np.zeros((6 * self.n, 6 * self.n))
        for k in range(self.n):
            found[self._rows(k), self._rows(k)] = self.I_blocks[k]
        return found

    @cached_property
    def V(self) -> Floats:
        """Velocities."""
        return self._stacked(self.V_blocks)

    @cached_property
    def B(self) -> Floats:
        """Accelerations by velocity alone, with that of the ground for gravity."""
        b = self.b.copy()
        upwards = np.concatenate([np.zeros(3), -self.gravity])
        for k, parent in enumerate(self.parent):
            if parent < 0:
                b[k] += self.Phi[k].T @ upwards
        return self._stacked(b)

    @cached_property
    def G(self) -> Floats:
        """Forces by velocity alone."""
        return self._stacked(self.gyr)

    # ------------------------------------------------------------------ dynamics

    @cached_property
    def M(self) -> Floats:
        """Hᵀ ρ I ρᵀ H (1.71)."""
        return np.asarray(self.H.T @ self.rho @ self.I @ self.rho.T @ self.H)

    @cached_property
    def xi(self) -> Floats:
        """Hᵀ ρ (I ρᵀ B + G) (1.72)."""
        return np.asarray(self.H.T @ self.rho @ (self.I @ self.rho.T @ self.B + self.G))

    def forces(self, a: Floats) -> Floats:
        """F = ρ (I ρᵀ (H v' + B) + G), (n, 6) from the ground to the tips (1.67), (1.68)."""
        F = self.rho @ (self.I @ self.rho.T @ (self.H @ a + self.B) + self.G)
        return np.asarray(F.reshape(self.n, 6)[::-1])

    # ---------------------------------------------------------- constraint forces

    @cached_property
    def W_blocks(self) -> tuple[Floats, ...]:
        """Orthonormal forces that each joint holds: the remaining unit vectors where these do.

        Else they come from a QR factorisation of the motions.
        """
        found = []
        for k, numbers in enumerate(self.velocities):
            H = self.H_blocks[k][:, list(numbers)]
            touched = np.abs(H).sum(axis=1) > 0
            if touched.sum() == H.shape[1]:
                found.append(np.eye(6)[:, ~touched])
            else:
                found.append(np.linalg.qr(H, mode="complete")[0][:, H.shape[1] :])
        return tuple(found)

    @cached_property
    def W(self) -> Floats:
        """(6n, sum of constraints), columns from the ground to the tips."""
        widths = [w.shape[1] for w in self.W_blocks]
        ends = np.concatenate([[0], np.cumsum(widths)])
        W = np.zeros((6 * self.n, int(ends[-1])))
        for k, w in enumerate(self.W_blocks):
            W[self._rows(k), ends[k] : ends[k + 1]] = w
        return W

    @cached_property
    def K(self) -> Floats:
        """Pᵀ I⁻¹ P; each inverse in closed form, from that of the central inertia."""
        inverse = np.zeros_like(self.I)
        for k in range(self.n):
            inverse[self._rows(k), self._rows(k)] = inverse_inertia(self.I_blocks[k])
        return np.asarray(self.P.T @ inverse @ self.P)

    @cached_property
    def H_plus(self) -> Floats:
        """(Hᵀ H)⁻¹ Hᵀ."""
        return np.asarray(np.linalg.solve(self.H.T @ self.H, self.H.T))

    @cached_property
    def schur(self) -> tuple[Floats, Floats, Floats]:
        """A, B and C: M⁻¹ = C - Bᵀ A⁻¹ B."""
        KW, KH = self.K @ self.W, self.K @ self.H_plus.T
        return self.W.T @ KW, self.W.T @ KH, self.H_plus @ KH

    # -------------------------------------------------------------- innovations

    @cached_property
    def articulated(self) -> tuple[Floats, Floats, Floats]:
        """I^A of each body (n, 6, 6), D (nv, nv) and the gains G (6n, nv)."""
        I = self.I_blocks.copy()
        nv = self.H.shape[1]
        D, gains = np.zeros((nv, nv)), np.zeros((6 * self.n, nv))
        for k in reversed(range(self.n)):
            numbers = list(self.velocities[k])
            H = self.H_blocks[k][:, numbers]
            Y = I[k] @ H
            D[np.ix_(numbers, numbers)] = H.T @ Y
            G = np.linalg.solve(H.T @ Y, Y.T).T if numbers else Y
            gains[self._rows(k), numbers] = G
            if self.parent[k] >= 0:
                I[self.parent[k]] += self.Phi[k] @ (I[k] - G @ Y.T) @ self.Phi[k].T
        return I, D, gains

    @property
    def D(self) -> Floats:
        """Hᵀ I^A H, block diagonal."""
        return self.articulated[1]

    @cached_property
    def gain(self) -> Floats:
        """Kk = E G, the Kalman gain, with E = 1 - P."""
        return np.asarray((np.eye(6 * self.n) - self.P) @ self.articulated[2])

    @cached_property
    def Psi(self) -> Floats:
        """[1 - E (1 - G Hᵀ)]⁻¹."""
        one = np.eye(6 * self.n)
        E = one - self.P
        return np.asarray(np.linalg.inv(one - E @ (one - self.articulated[2] @ self.H.T)))
