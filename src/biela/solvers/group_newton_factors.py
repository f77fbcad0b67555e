"""Sparse factors of the Jacobian of a group: pivots kept while they serve, else found anew."""

from __future__ import annotations

from biela.code.routines import Int, IntVector, Vector, routine
from biela.solvers.group_newton_dense import CARRIED, CHANGED, KNOWN, carry_sign
from biela.solvers.group_newton_sparse import (
    sparse_lu_analyse,
    sparse_lu_refactor,
    sparse_lu_sign,
    sparse_lu_solve,
)

__all__ = ["ANALYSES", "sparse_jacobian_factor", "sparse_jacobian_solve"]

#: What an instance keeps besides: whether it has pivots, how often they were looked for, and
#: whether its factors are the last ones of an instant.
ANALYSED, ANALYSES, LAST = 3, 4, 5


@routine(
    column_start="m + 1", row_of="e", take="e", order="m", row_counts="r", state="6", V="e",
    pivot_row="m", step_of="r", L_start="m + 1", L_row="nl", L="nl", U_start="m + 1",
    U_step="nu", U="nu", D="m", x="r", mark="r", stack="r", at="r", reached="r",
)  # fmt: skip
def new_factors(
    r: Int, m: Int, e: Int, nl: Int, nu: Int, column_start: IntVector, row_of: IntVector,
    take: IntVector, order: IntVector, row_counts: IntVector, state: IntVector, V: Vector,
    pivot_row: IntVector, step_of: IntVector, L_start: IntVector, L_row: IntVector, L: Vector,
    U_start: IntVector, U_step: IntVector, U: Vector, D: Vector, x: Vector, mark: IntVector,
    stack: IntVector, at: IntVector, reached: IntVector,
) -> Int:  # fmt: skip
    """Factor with new pivots; return 0 if the matrix is singular."""
    good = sparse_lu_analyse(
        r, m, e, nl, nu, column_start, row_of, take, order, row_counts, V, pivot_row, step_of,
        L_start, L_row, L, U_start, U_step, U, D, x, mark, stack, at, reached,
    )  # fmt: skip
    state[ANALYSED] = good
    state[ANALYSES] += 1
    if r > m:
        state[CHANGED] = 1
    return good


@routine(
    column_start="m + 1", row_of="e", take="e", order="m", row_counts="r", state="6", chosen="r",
    V="e", previous="e", pivot_row="m", step_of="r", L_start="m + 1", L_row="nl", L="nl",
    U_start="m + 1", U_step="nu", U="nu", D="m", x="r", mark="r", stack="r", at="r", reached="r",
    given="e + 2", sign="1",
)  # fmt: skip
def sparse_jacobian_factor(
    r: Int, m: Int, e: Int, nl: Int, nu: Int, column_start: IntVector, row_of: IntVector,
    take: IntVector, order: IntVector, row_counts: IntVector, state: IntVector, chosen: IntVector,
    V: Vector, previous: Vector, pivot_row: IntVector, step_of: IntVector, L_start: IntVector,
    L_row: IntVector, L: Vector, U_start: IntVector, U_step: IntVector, U: Vector, D: Vector,
    x: Vector, mark: IntVector, stack: IntVector, at: IntVector, reached: IntVector,
    given: Vector, sign: Vector,
) -> None:  # fmt: skip
    """Factor from the entries; `sign` is that of the determinant, 0 where it is singular.

    What `given` says after the entries, and what becomes of the sign where there are rows to spare,
    see `dense_jacobian_factor`.
    """
    for k in range(e):
        V[k] = given[k]
    good = 0
    if state[ANALYSED] == 1:
        good = sparse_lu_refactor(
            r, m, e, nl, nu, column_start, row_of, take, order, V, pivot_row, L_start, L_row, L,
            U_start, U_step, U, D, x,
        )  # fmt: skip
    if good == 0:
        good = new_factors(
            r, m, e, nl, nu, column_start, row_of, take, order, row_counts, state, V, pivot_row,
            step_of, L_start, L_row, L, U_start, U_step, U, D, x, mark, stack, at, reached,
        )  # fmt: skip
    state[LAST] = 1 if given[e] != 0.0 else 0
    sign[0] = float(good)
    if good == 0 or state[LAST] == 0:
        return
    found = sparse_lu_sign(r, m, pivot_row, order, D, chosen, mark)
    sign[0] = float(found)
    if r == m:
        return
    before = -1 if given[e + 1] < 0.0 else 1
    unknown = 1
    if state[CHANGED] == 0 and found * state[CARRIED] != before:
        unknown = -1
        good = new_factors(
            r, m, e, nl, nu, column_start, row_of, take, order, row_counts, state, V, pivot_row,
            step_of, L_start, L_row, L, U_start, U_step, U, D, x, mark, stack, at, reached,
        )  # fmt: skip
        found = sparse_lu_sign(r, m, pivot_row, order, D, chosen, mark)
    if state[CHANGED] == 1:
        then = unknown * found
        if state[KNOWN] == 1:
            good = sparse_lu_refactor(
                r, m, e, nl, nu, column_start, row_of, take, order, previous, pivot_row, L_start,
                L_row, L, U_start, U_step, U, D, x,
            )  # fmt: skip
            if good == 1:
                then = sparse_lu_sign(r, m, pivot_row, order, D, chosen, mark)
            good = sparse_lu_refactor(
                r, m, e, nl, nu, column_start, row_of, take, order, V, pivot_row, L_start, L_row,
                L, U_start, U_step, U, D, x,
            )  # fmt: skip
        state[CARRIED] = before * then
        state[CHANGED] = 0
    carry_sign(e, found, before, state[0:3], previous, given, sign)


@routine(
    column_start="m + 1", row_of="e", take="e", order="m", state="6", V="e", pivot_row="m",
    step_of="r", L_start="m + 1", L_row="nl", L="nl", U_start="m + 1", U_step="nu", U="nu", D="m",
    work="r", y="m", correction="m", b="r", x="m",
)  # fmt: skip
def sparse_jacobian_solve(
    r: Int, m: Int, e: Int, nl: Int, nu: Int, column_start: IntVector, row_of: IntVector,
    take: IntVector, order: IntVector, state: IntVector, V: Vector, pivot_row: IntVector,
    step_of: IntVector, L_start: IntVector, L_row: IntVector, L: Vector, U_start: IntVector,
    U_step: IntVector, U: Vector, D: Vector, work: Vector, y: Vector, correction: Vector,
    b: Vector, x: Vector,
) -> None:  # fmt: skip
    """Solve with the last factors, for the rows that have pivots.

    Velocities and accelerations, which no iteration mends, are refined once: pivots need not be
    the largest of their columns.
    """
    for i in range(r):
        work[i] = b[i]
    sparse_lu_solve(
        r, m, nl, nu, order, pivot_row, L_start, L_row, L, U_start, U_step, U, D, work, y, x
    )
    if state[LAST] == 0:
        return
    for i in range(r):
        work[i] = b[i] if step_of[i] >= 0 else 0.0
    for j in range(m):
        for p in range(column_start[j], column_start[j + 1]):
            if step_of[row_of[p]] >= 0:
                work[row_of[p]] -= V[take[p]] * x[j]
    sparse_lu_solve(
        r, m, nl, nu, order, pivot_row, L_start, L_row, L, U_start, U_step, U, D, work, y,
        correction,
    )  # fmt: skip
    for j in range(m):
        x[j] += correction[j]
