"""Linear algebra on atoms: M = Lᵀ D L from the tips to the ground, with no fill-in for trees.

The last row is eliminated first: an entry between two branches of the tree is zero in M and stays
zero in L (Featherstone 2008, *Rigid Body Dynamics Algorithms*, §6.5).  Zeros cost nothing on atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biela.equations.spatial.turning import Scalar, dot, zero
from biela.errors import ModelError

Rows = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class Factors:
    """M = Lᵀ D L with a unit lower triangular L; ``inverse`` holds 1/D."""

    L: Rows
    inverse: list[Scalar]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """M⁻¹ b."""
        n = len(b)
        x = list(b)
        for i in reversed(range(n)):
            for j in range(i):
                if not (zero(self.L[i][j]) or zero(x[i])):
                    x[j] = x[j] - self.L[i][j] * x[i]
        x = [a * d for a, d in zip(x, self.inverse, strict=True)]
        for i in range(n):
            x[i] = x[i] - dot(self.L[i][:i], x[:i])
        return x


def factorised(M: Sequence[Sequence[Scalar]], names: Sequence[str] = ()) -> Factors:
    """The factors of a symmetric positive definite matrix.

    ``names`` are those of its rows, for the message.

    Raises:
        ModelError: A pivot is the number 0: nothing has inertia along that row.
    """
    n = len(M)
    work: Rows = [list(row) for row in M]
    L: Rows = [[float(i == j) for j in range(n)] for i in range(n)]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        if zero(work[k][k]):
            raise ModelError(
                f"nothing has inertia along {names[k] if names else f'row {k + 1}'}: give what "
                f"moves with it mass or inertia, or a rotor"
            )
        inverse[k] = 1.0 / work[k][k]
        # the entries of a sparse row are few: only those are looked at
        meets = [i for i in range(k) if not zero(work[k][i])]
        for i in meets:
            L[k][i] = work[k][i] * inverse[k]
        for i in meets:
            for j in meets:
                if j <= i:
                    work[i][j] = work[i][j] - L[k][i] * work[k][j]
    return Factors(L, inverse)


def inverse_of(M: Sequence[Sequence[Scalar]], names: Sequence[str] = ()) -> Rows:
    """M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ, each entry of a half once."""
    return inverse_of_factors(factorised(M, names))


def inverse_of_factors(factors: Factors) -> Rows:
    """M⁻¹ of the factors of M."""
    n = len(factors.inverse)
    # rows of L⁻¹, lower triangular
    back: Rows = [[float(i == j) for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(i):
            back[i][j] = -dot(factors.L[i][j:i], [back[k][j] for k in range(j, i)])
    half = [[x * d for x, d in zip(row, factors.inverse, strict=True)] for row in back]
    found: Rows = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            found[i][j] = found[j][i] = dot(half[i][: j + 1], back[j][: j + 1])
    return found
