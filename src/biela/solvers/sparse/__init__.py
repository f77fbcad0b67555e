"""Sparse systems with patterns that never change: analysed once, factored and solved often.

Which is for what, see the guide "Sparse systems":

- `BlockLDLT`: symmetric saddle-point matrices [[M, Φᵀ], [Φ, 0]] of any size, by fronts with native
  straight-line code for the kinds that repeat. For simulation in process.
- `SparseLDLT`: the same matrices entry by entry, as numeric routines that are exported as C.
- `BorderedBlocks`: unsymmetric matrices in bordered block triangular form, Φ_q^d.
- `BlockLU`: other square matrices.

## Native drivers

A time-stepping loop that numba compiles calls the functions of
`biela.solvers.sparse.block_routines` directly; they are plain functions of arrays with explicit
signatures. A solver that Python made gives the arrays:

    solver = BlockLDLT(pattern, late, blocks=…)         # once: analysis and native code
    plan, addresses, W = solver.plan, solver.addresses, solver.work     # int32, int64, float64

    @njit
    def step(plan, addresses, A, b, W, x, r, dropped, report):
        # A: a value an entry of the pattern; b, x: n numbers; r: 2 n; dropped: int64, n; report: 3
        rank = block_ldlt_factor_solve(
            plan, addresses, A, b, 1e-12, 3, W, x, r, dropped, report
        )
        # x solves K x = b; report is (limit for dropping, backward error, small pivots)
        y[:] = other                                     # more right-hand sides, same matrix
        block_ldlt_solve(plan, addresses, W, y)          # in place
        block_ldlt_back(plan, addresses, W, x)           # after block_ldlt_factor only

- `block_ldlt_factor_solve(plan, addresses, A, b, tolerance, sweeps, W, x, r, dropped, report)`
  does all: factors with forward substitution fused, drops redundant rows, substitutes back, looks
  at the backward error and refines if it exceeds 1e-13. `sweeps = -1` leaves the look out. Returns
  the rank as the pivots tell it; `BlockLDLT` also examines the rows where they are small. b and x
  are different arrays.
- `block_ldlt_factor(plan, addresses, A, b, tolerance, W, x)` then `block_ldlt_back(plan, addresses,
  W, x)`: the bare minimum, one pass each. Returns dropped pivots + 2³² × nearly dropped ones.
- `block_ldlt_solve(plan, addresses, W, x)`: another right-hand side, in place.
- `block_ldlt_residual(plan, addresses, A, b, x, any_dropped, dropped, W, r)`: r = b - K x, returns
  the backward error.

The same for `BorderedBlocks`, with the functions of `biela.solvers.sparse.bordered_routines` and
its `plan`, `addresses`, `work` (S) and `state`; y has room for rows + columns + `spare` numbers:

- `bordered_factor(plan, addresses, A, S, state)` returns 0 if all is well, 1 for a singular matrix,
  2 where too many blocks are singular.
- `bordered_solve(plan, addresses, A, S, state, b, x, y)` returns what redundant rows contradict.
- `bordered_solve_transposed(plan, A, S, state, c, x, y)`.

The solver object must live as long as its `addresses` are called: it keeps the native code. `plan`
and `addresses` are only read and may be shared by threads; work arrays may not. Code in C calls a
`numba.cfunc` that calls these functions, by its `address`.
"""

from __future__ import annotations

from biela.solvers.sparse.block_ldlt import BlockLDLT
from biela.solvers.sparse.block_lu import BlockLU
from biela.solvers.sparse.bordered import BorderedBlocks
from biela.solvers.sparse.pattern import SymmetricPattern, drop_threshold
from biela.solvers.sparse.scalar_solver import NEARLY_DROPPED, SparseLDLT

__all__ = [
    "NEARLY_DROPPED",
    "BlockLDLT",
    "BlockLU",
    "BorderedBlocks",
    "SparseLDLT",
    "SymmetricPattern",
    "drop_threshold",
]
