"""Factor and solve in bordered block form: loops over the blocks of a plan.

    [ T  B ] [x_T]   [b_T]        T block lower triangular, diagonal blocks D
    [ C  A ] [x_A] = [b_A]

    W = T⁻¹ B,  G = A - C W,    x_A = G⁻¹ (b_A - C T⁻¹ b_T),    x_T = T⁻¹ b_T - W x_A

The border is treated as so many right-hand sides of T, in one sweep. A diagonal block that is
singular gives the columns and rows it has no pivots for to border and band, for this factorisation
(its x is then one of x_A: its row of W is -1 there and 0 else). G has more rows than columns where
rows are redundant; it is factored by reflections then, by elimination with row exchanges if not.

Plain functions of arrays, compiled by numba, for `BorderedBlocks` and for native drivers.
Import it inside functions: numba takes a moment.
"""
# mypy: disable-error-code="no-any-return"
# elements of a plan are numba's integers, which mypy does not know

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from biela.jit import njit
from biela.solvers.sparse.bordered_schur import (
    BAND,
    BLOCK,
    BLOCKS,
    BORDER,
    COLUMN,
    COLUMN_ORDER,
    COUNT,
    G_AT,
    INVERSE,
    LISTS,
    RANK,
    ROOM,
    ROW,
    ROW_ORDER,
    SIZE,
    SOURCE,
    SPARE,
    TAU,
    W_AT,
    WIDE,
    factor_border,
    solve_border,
    solve_border_transposed,
)

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

__all__ = ["bordered_factor", "bordered_solve", "bordered_solve_transposed"]

#: What `bordered_factor` returns.
REGULAR, SINGULAR, TOO_MANY_DEMOTED = 0, 1, 2

#: A pivot of a block below this part of the largest entry of its row is demoted.
DEMOTED = 1e-4
_options: Any = {"nogil": True, "error_model": "numpy"}


@intrinsic
def _call_address(typingctx: Any, address: Any, arrays: Any) -> Any:
    """Call the code at `address` with a pointer an array; it returns an integer."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number, packed = values
        data = [
            context.make_array(kind)(context, builder, builder.extract_value(packed, k)).data
            for k, kind in enumerate(arrays)
        ]
        prototype = ir.FunctionType(ir.IntType(64), [value.type for value in data])
        return builder.call(builder.inttoptr(number, prototype.as_pointer()), data)

    return types.int64(address, arrays), generate


_call: Any = _call_address


@njit("int64(int64, float64[:, ::1], float64[::1], int64[::1], int64[::1])", **_options)
def _exchange(k: int, D: Reals, scale: Reals, column: Integers, row: Integers) -> int:
    """Turn y = D x into x = D⁻¹ y in place, one exchange of x_j and y_i after the other.

    The pivot is the largest entry in parts of `scale` of its row. `column[i]` becomes the j that
    row i was exchanged for, -1 if no pivot was left for it; `row` is the inverse of that. Returns
    the number of exchanges.
    """
    column[:k] = -1
    row[:k] = -1
    for count in range(k):
        best, p, q = 0.0, -1, -1
        for i in range(k):
            if column[i] < 0:
                for j in range(k):
                    if row[j] < 0 and not abs(D[i, j]) <= best * scale[i]:
                        best, p, q = abs(D[i, j]) / scale[i], i, j
        if p < 0 or best <= DEMOTED:
            return count
        column[p], row[q] = q, p
        reciprocal = 1.0 / D[p, q]
        for i in range(k):
            if i != p:
                factor = D[i, q] * reciprocal
                for j in range(k):
                    if j != q:
                        D[i, j] -= factor * D[p, j]
                D[i, q] = factor
        for j in range(k):
            D[p, j] *= -reciprocal
        D[p, q] = reciprocal
    return k


@njit("int64(int64[::1], float64[::1], float64[::1], int64[::1])", **_options)
def _blocks(plan: Integers, A: Reals, S: Reals, state: Integers) -> int:
    """Inverses of the diagonal blocks, and W; returns 1 if too many columns were demoted."""
    n, p, spare = plan[SIZE], plan[BORDER], plan[SPARE]
    wide = plan[WIDE]
    W = S[plan[W_AT] : plan[W_AT] + n * wide].reshape((n, wide))
    count = 0
    for b in range(plan[BLOCKS]):
        lo, hi = plan[plan[BLOCK] + b], plan[plan[BLOCK] + b + 1]
        k = hi - lo
        D, v = np.zeros((k, k)), np.zeros((k, wide))
        scale = np.zeros(k)
        for i in range(k):
            for e in range(plan[plan[ROW] + lo + i], plan[plan[ROW] + lo + i + 1]):
                j, value = plan[plan[COLUMN] + e], A[plan[plan[SOURCE] + e]]
                scale[i] = max(scale[i], abs(value))
                if j >= n:
                    v[i, j - n] += value
                elif j >= lo:
                    D[i, j - lo] += value
                else:
                    for c in range(p + count):
                        v[i, c] -= value * W[j, c]
            if scale[i] == 0.0:
                scale[i] = 1.0
        whole = D.copy()
        column, row = np.empty(k, np.int64), np.empty(k, np.int64)
        rank = _exchange(k, D, scale, column, row)
        inverse = S[plan[plan[INVERSE] + b] : plan[plan[INVERSE] + b] + k * k].reshape((k, k))
        inverse[:] = 0.0
        for i in range(k):
            for j in range(k):
                if column[i] >= 0 and row[j] >= 0:
                    inverse[column[i], row[j]] = D[i, j]
        before = count
        if rank < k:
            if count + k - rank > spare:
                return 1
            found = 0
            for i in range(k):
                if column[i] < 0:
                    state[LISTS + count + found] = lo + i
                    found += 1
            for j in range(k):
                if row[j] < 0:
                    state[LISTS + spare + count] = lo + j
                    for i in range(k):
                        v[i, p + count] = whole[i, j]
                    count += 1
        W[lo:hi] = 0.0
        for j in range(k):
            for i in range(k):
                for c in range(p + count):
                    W[lo + j, c] += inverse[j, i] * v[i, c]
        for c in range(before, count):
            W[state[LISTS + spare + c], p + c] = -1.0
    state[COUNT] = count
    return 0


@njit("int64(int64[::1], int64[::1], int64)", **_options)
def _band_row(plan: Integers, state: Integers, i: int) -> int:
    """Row i of the band, those of demoted rows after the others."""
    q = plan[BAND]
    return plan[SIZE] + i if i < q else state[LISTS + i - q]


@njit("void(int64[::1], float64[::1], float64[::1], int64[::1])", **_options)
def _border(plan: Integers, A: Reals, S: Reals, state: Integers) -> None:
    """G = A - C W, and in `tau` the magnitudes accumulated in its columns."""
    n, p, spare = plan[SIZE], plan[BORDER], plan[SPARE]
    wide, count = plan[WIDE], p + state[COUNT]
    W = S[plan[W_AT] : plan[W_AT] + n * wide].reshape((n, wide))
    G = S[plan[G_AT] : plan[TAU]].reshape((plan[BAND] + spare, wide))
    tau = S[plan[TAU] : plan[ROOM]]
    tau[:] = 0.0
    for i in range(plan[BAND] + state[COUNT]):
        G[i] = 0.0
        sizes = np.zeros(count)
        row = plan[ROW] + _band_row(plan, state, i)
        for e in range(plan[row], plan[row + 1]):
            j, value = plan[plan[COLUMN] + e], A[plan[plan[SOURCE] + e]]
            if j >= n:
                G[i, j - n] += value
                sizes[j - n] += abs(value)
            else:
                for c in range(count):
                    term = value * W[j, c]
                    G[i, c] -= term
                    sizes[c] += abs(term)
        for c in range(count):
            tau[c] = max(tau[c], sizes[c])


@njit("int64(int64[::1], float64[::1], int64[::1])", **_options)
def _border_status(plan: Integers, S: Reals, state: Integers) -> int:
    state[RANK] = 0
    if plan[BORDER] + state[COUNT] > 0:
        if plan[BAND] < plan[BORDER]:
            return SINGULAR
        state[RANK] = factor_border(plan, S, state)
        if state[RANK] < plan[BORDER] + state[COUNT]:
            return SINGULAR
    return REGULAR


@njit("int64(int64[::1], float64[::1], float64[::1], int64[::1])", **_options)
def _factor(plan: Integers, A: Reals, S: Reals, state: Integers) -> int:
    if _blocks(plan, A, S, state):
        return TOO_MANY_DEMOTED
    _border(plan, A, S, state)
    return _border_status(plan, S, state)


@njit(
    "int64(int64[::1], int64[::1], float64[::1], float64[::1], int64[::1])",
    **_options,
)
def bordered_factor(
    plan: Integers, addresses: Integers, A: Reals, S: Reals, state: Integers
) -> int:
    """Factor the matrix with these values of its entries.

    Args:
        plan: of the block form, `BorderedBlocks.plan`.
        addresses: of its native code, `BorderedBlocks.addresses`; may be empty.
        A: values of the entries.
        S: factors, `BorderedBlocks.work`.
        state: `BorderedBlocks.state`: number of demoted columns, rank of the border, the lists.

    Returns 0, or 1 if the matrix has not full column rank, or 2 if more columns of singular blocks
    would be demoted than there is room for. Only after 0 may the factors be used.
    """
    if len(addresses) > 0:
        state[COUNT] = 0
        if _call(addresses[0], (A, S)) == 0:
            if plan[BORDER] + plan[BAND] == 0:
                return REGULAR
            return _border_status(plan, S, state)
    return _factor(plan, A, S, state)


@njit(
    "float64(int64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1],"
    "float64[::1])",
    **_options,
)
def _solve(
    plan: Integers, A: Reals, S: Reals, state: Integers, b: Reals, x: Reals, y: Reals
) -> float:
    n, p, q = plan[SIZE], plan[BORDER], plan[BAND]
    count = state[COUNT]
    z = y[n:]
    for k in range(plan[BLOCKS]):
        lo, hi = plan[plan[BLOCK] + k], plan[plan[BLOCK] + k + 1]
        start = plan[plan[INVERSE] + k]
        for i in range(lo, hi):
            y[i] = 0.0
        for i in range(lo, hi):
            value = b[plan[plan[ROW_ORDER] + i]]
            for e in range(plan[plan[ROW] + i], plan[plan[ROW] + i + 1]):
                if plan[plan[COLUMN] + e] < lo:
                    value -= A[plan[plan[SOURCE] + e]] * y[plan[plan[COLUMN] + e]]
            for j in range(lo, hi):
                y[j] += S[start + (j - lo) * (hi - lo) + i - lo] * value
    for i in range(q + count):
        row = _band_row(plan, state, i)
        z[i] = b[plan[plan[ROW_ORDER] + row]]
        for e in range(plan[plan[ROW] + row], plan[plan[ROW] + row + 1]):
            if plan[plan[COLUMN] + e] < n:
                z[i] -= A[plan[plan[SOURCE] + e]] * y[plan[plan[COLUMN] + e]]
    rest = solve_border(plan, S, state, z)
    wide = plan[WIDE]
    for j in range(n):
        for c in range(p + count):
            y[j] -= S[plan[W_AT] + j * wide + c] * z[c]
        x[plan[plan[COLUMN_ORDER] + j]] = y[j]
    for c in range(p):
        x[plan[plan[COLUMN_ORDER] + n + c]] = z[c]
    return rest


@njit(
    "float64(int64[::1], int64[::1], float64[::1], float64[::1], int64[::1], float64[::1],"
    "float64[::1], float64[::1])",
    **_options,
)
def bordered_solve(
    plan: Integers,
    addresses: Integers,
    A: Reals,
    S: Reals,
    state: Integers,
    b: Reals,
    x: Reals,
    y: Reals,
) -> float:
    """Solve for one right-hand side, after `bordered_factor` returned 0.

    b has a number a row, x one a column; `y` has room for as many as rows, columns and demoted
    columns together. Returns the length of the part of b that redundant rows contradict: 0 for a
    square matrix.
    """
    # short, so that compilers put it into the loops of drivers
    if len(addresses) > 0 and state[COUNT] == 0:
        if plan[BORDER] + plan[BAND] == 0:
            _call(addresses[1], (A, S, b, x))
            return 0.0
        _call(addresses[1], (A, S, b, y))
        rest = solve_border(plan, S, state, y[plan[SIZE] :])
        _call(addresses[2], (A, S, y, x))
        return rest
    return _solve(plan, A, S, state, b, x, y)


@njit(
    "void(int64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1],"
    "float64[::1])",
    **_options,
)
def bordered_solve_transposed(
    plan: Integers, A: Reals, S: Reals, state: Integers, c: Reals, x: Reals, y: Reals
) -> None:
    """Solve the transposed system: c has a number a column, x one a row; `y` as before.

    Gᵀ x_A = c_A - Wᵀ c_T, then x_T = T⁻ᵀ (c_T - Cᵀ x_A) from the last block to the first.
    """
    n, p, q, spare = plan[SIZE], plan[BORDER], plan[BAND], plan[SPARE]
    count, wide = state[COUNT], plan[WIDE]
    z = y[n:]
    for i in range(max(p, q) + spare):
        z[i] = c[plan[plan[COLUMN_ORDER] + n + i]] if i < p else 0.0
    for j in range(n):
        y[j] = c[plan[plan[COLUMN_ORDER] + j]]
        for k in range(p + count):
            z[k] -= S[plan[W_AT] + j * wide + k] * y[j]
    solve_border_transposed(plan, S, state, z)
    for i in range(q + count):
        row = _band_row(plan, state, i)
        for e in range(plan[plan[ROW] + row], plan[plan[ROW] + row + 1]):
            if plan[plan[COLUMN] + e] < n:
                y[plan[plan[COLUMN] + e]] -= A[plan[plan[SOURCE] + e]] * z[i]
    for k in range(plan[BLOCKS] - 1, -1, -1):
        lo, hi = plan[plan[BLOCK] + k], plan[plan[BLOCK] + k + 1]
        start = plan[plan[INVERSE] + k]
        for i in range(lo, hi):
            value = 0.0
            for j in range(lo, hi):
                value += S[start + (j - lo) * (hi - lo) + i - lo] * y[j]
            x[plan[plan[ROW_ORDER] + i]] = value
            for e in range(plan[plan[ROW] + i], plan[plan[ROW] + i + 1]):
                if plan[plan[COLUMN] + e] < lo:
                    y[plan[plan[COLUMN] + e]] -= A[plan[plan[SOURCE] + e]] * value
    for i in range(q + count):
        x[plan[plan[ROW_ORDER] + _band_row(plan, state, i)]] = z[i]
