"""Closed loops and drivers on top of M⁻¹: what a tree gives in O(n), once for each row.

With the rows J v' = γ of loops and drivers (`loop_rows`) and M v' + Jᵀ λ = Q,

    (J M⁻¹ Jᵀ) λ = J M⁻¹ Q - γ,     v' = M⁻¹ (Q - Jᵀ λ),

where M⁻¹ is any of the factorisations of the tree: by innovations (`articulated`), or by the forces
that its joints hold (`constraint_forces`).  Rows that depend on others are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from biela.atoms import Atom
from biela.equations.elimination import DROP_TOLERANCE, factorise
from biela.equations.ranked_rows import RankedRows
from biela.equations.spatial.constrained import Constrained
from biela.equations.spatial.rows import LoopRow, jacobian
from biela.equations.spatial.tree import SpatialTree
from biela.equations.spatial.turning import Scalar, dot, minus, plus, scaled, zero


def constrained_by_inverse(
    tree: SpatialTree,
    rows: Sequence[LoopRow],
    inverse: Callable[[Sequence[Scalar]], list[Atom]],
    Q: Sequence[Scalar],
    gamma: Sequence[Scalar],
    ranked: Sequence[RankedRows] = (),
) -> Constrained:
    """Accelerations and multipliers of a tree whose loops are closed.

    Args:
        tree: The links.
        rows: What closes loops and drives.
        inverse: M⁻¹ x of a vector.
        Q: Joint forces without bias, τ - ξ.
        gamma: J v'.
        ranked: Rows that depend on each other wherever the loops are closed.
    """
    atom = tree.workspace.atom
    free: list[Scalar] = list(inverse(Q))
    J = jacobian(tree, rows)
    X = [inverse(row) for row in J]
    n = len(rows)
    S: list[list[Atom]] = [[atom(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            S[i][j] = S[j][i] = atom(dot(J[i], X[j]))
    factors = factorise(S, range(n), DROP_TOLERANCE, ranked=ranked)
    right = minus([dot(row, free) for row in J], gamma)
    multipliers = factors.solve([atom(x) for x in right])
    a = free
    for x, multiplier in zip(X, multipliers, strict=True):
        if not zero(multiplier):
            a = plus(a, scaled(x, -multiplier))
    dropped = [factors.dropped.get(k, atom(0)) for k in range(n)]
    return Constrained([atom(x) for x in a], multipliers, dropped)
