"""Another choice of velocities, by multiplication.

With v = B(q, t) w + c(q, t) the velocity Jacobians of all bodies are multiplied by B from the
right (Plaza 2015, eq. 4.25), which gives, for M v' = Q,

    M* = Bᵀ M B,     Q* = Bᵀ (Q - M (B' w + c')).

Quasi-velocities (body rates instead of rates of Euler angles) and minimal velocities of a
constrained system (the columns of B span the motions allowed) are of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from biela.atoms import Atom, substitute
from biela.errors import ShapeError
from biela.space import Space

Matrix = list[list[Atom]]


def reparametrised(
    space: Space,
    M: Matrix,
    Q: Sequence[Atom],
    v: Sequence[Atom],
    B: Sequence[Sequence[Atom]],
    w: Sequence[Atom],
    c: Sequence[Atom] | None = None,
) -> tuple[Matrix, list[Atom]]:
    """M* and Q* in the velocities ``w``; the old velocities are replaced everywhere."""
    n, m = len(v), len(w)
    if len(B) != n or any(len(row) != m for row in B):
        raise ShapeError(f"B must have {n} rows and {m} columns, one for each old and new velocity")
    ws = space.workspace
    constant = list(c) if c is not None else [ws.atom(0)] * n
    old = {v[i]: _dot(B[i], w) + constant[i] for i in range(n)}

    def moved(expressions: Sequence[Atom]) -> list[Atom]:
        return substitute(list(expressions), old)

    # B' w + c' with w held: the rate of B w + c when only q and t move
    rates = moved([space.bias_rate(old[v[i]]) for i in range(n)])
    force = [q - _dot(row, rates) for q, row in zip(moved(Q), M, strict=True)]
    columns = [[B[i][k] for i in range(n)] for k in range(m)]
    MB = [[_dot(row, column) for row in M] for column in columns]
    inner = [[_dot(columns[a], MB[b]) if b >= a else None for b in range(m)] for a in range(m)]
    new_M: Matrix = [[ws.atom(0)] * m for _ in range(m)]
    for a in range(m):
        for b in range(a, m):
            entry = inner[a][b]
            assert entry is not None, "the upper triangle was computed"
            new_M[a][b] = new_M[b][a] = entry
    return new_M, [_dot(column, force) for column in columns]


def _dot(a: Sequence[Atom], b: Sequence[Atom]) -> Atom:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total
