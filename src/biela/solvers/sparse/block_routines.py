"""The numeric part of block LDLᵀ: loops over the fronts of a plan.

Plain functions of arrays, compiled by numba, for the class `BlockLDLT` and for native drivers. The
plan is one array of 32-bit integers, see `front_loops`. Fronts whose kind has code of its own go
through it by address, the others through general loops.
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
from biela.solvers.sparse.front_kind import NEAR
from biela.solvers.sparse.front_loops import (
    FRONTS,
    KIND,
    LISTS,
    front_back,
    front_factor,
    front_forward,
    front_residual,
    front_shape,
)

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Plan = Any

__all__ = [
    "block_ldlt_back",
    "block_ldlt_dropped",
    "block_ldlt_factor",
    "block_ldlt_factor_solve",
    "block_ldlt_ratios",
    "block_ldlt_refine",
    "block_ldlt_residual",
    "block_ldlt_solve",
]

#: A factorisation is repeated so often with another limit for dropping.
_PASSES = 3
#: Solutions of a larger backward error are refined.
REFINED_ABOVE = 1e-13
#: Backward errors that need not fall any more.
ROUNDING = 1e-15


@intrinsic
def _call_address(typingctx: Any, address: Any, plan: Any, at: Any, arrays: Any, *rest: Any) -> Any:
    """Call the code at `address`: pointers to W, the list of a front, more arrays, a tolerance."""
    result = types.int64 if rest else types.void

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number, p, place, packed, last = values
        data = [
            context.make_array(kind)(context, builder, builder.extract_value(packed, k)).data
            for k, kind in enumerate(arrays)
        ]
        start = context.make_array(plan)(context, builder, p).data
        data.insert(1, builder.gep(start, [place]))
        if rest:
            data.append(builder.extract_value(last, 0))
        returned = ir.IntType(64) if rest else ir.VoidType()
        prototype = ir.FunctionType(returned, [value.type for value in data])
        value = builder.call(builder.inttoptr(number, prototype.as_pointer()), data)
        return value if rest else context.get_dummy_value()

    packed_type: Any = types.StarArgTuple
    return result(address, plan, at, arrays, packed_type(rest)), generate


_call: Any = _call_address
_options: Any = {"nogil": True, "error_model": "numpy"}
_plan = "int32[::1]"


# --- all fronts -----------------------------------------------------------------------------------


@njit(
    f"int64({_plan}, int64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1])",
    **_options,
)
def block_ldlt_factor(
    plan: Plan,
    addresses: Integers,
    A: Reals,
    b: Reals,
    tolerance: float,
    W: Reals,
    x: Reals,
) -> int:
    """Factor, and substitute forward at once: x becomes D⁻¹ L⁻¹ b.

    Returns the number of pivots dropped, plus 2³² times that of those below 1e-4 of what was
    accumulated in them. b and x must not be the same array.
    """
    small = 0
    lists, kinds = plan[LISTS], plan[KIND]
    for s in range(plan[FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            at = np.int64(plan[lists + s])
            small += _call(addresses[4 * kind], plan, at, (W, A, b, x), tolerance)
        else:
            small += front_factor(plan, s, A, b, tolerance, W, x)
    return small


@njit(f"void({_plan}, int64[::1], float64[::1], float64[::1])", **_options)
def block_ldlt_back(plan: Plan, addresses: Integers, W: Reals, x: Reals) -> None:
    """Substitute back in place, x ← L⁻ᵀ x, after `block_ldlt_factor`."""
    lists, kinds = plan[LISTS], plan[KIND]
    for s in range(plan[FRONTS] - 1, -1, -1):
        kind = plan[kinds + s]
        if kind >= 0:
            _call(addresses[4 * kind + 2], plan, np.int64(plan[lists + s]), (W, x))
        else:
            front_back(plan, s, W, x)


@njit(f"void({_plan}, int64[::1], float64[::1], float64[::1])", **_options)
def block_ldlt_solve(plan: Plan, addresses: Integers, W: Reals, x: Reals) -> None:
    """Solve with the last factors in place: x is b on entry. Dropped unknowns are 0."""
    lists, kinds = plan[LISTS], plan[KIND]
    for s in range(plan[FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            _call(addresses[4 * kind + 1], plan, np.int64(plan[lists + s]), (W, x))
        else:
            front_forward(plan, s, W, x)
    block_ldlt_back(plan, addresses, W, x)


@njit(f"int64({_plan}, float64[::1], float64, int64[::1])", **_options)
def block_ldlt_dropped(plan: Plan, W: Reals, tolerance: float, dropped: Integers) -> int:
    """Set `dropped` to 1 for each row whose pivot was dropped, 0 for the others; count them."""
    count = 0
    for s in range(plan[FRONTS]):
        at, w, _ = front_shape(plan, s)
        for j in range(w):
            place = np.int64(plan[at]) + 2 * j
            gone = W[place] <= tolerance * W[place + 1]
            dropped[plan[at + 2 + j]] = 1 if gone else 0
            count += 1 if gone else 0
    return count


@njit(f"void({_plan}, float64[::1], float64[::1])", **_options)
def block_ldlt_ratios(plan: Plan, W: Reals, ratios: Reals) -> None:
    """Set `ratios` to the magnitude of each pivot as a part of what was accumulated in it."""
    for s in range(plan[FRONTS]):
        at, w, _ = front_shape(plan, s)
        for j in range(w):
            place = np.int64(plan[at]) + 2 * j
            d, e = W[place], W[place + 1]
            ratios[plan[at + 2 + j]] = d / e if d != 0.0 else 0.0


@njit("float64(float64[::1])", **_options)
def _largest(values: Reals) -> float:
    """The largest magnitude; four at a time, as each comparison waits for the one before.

    A nan may not be seen here; it is in the residual.
    """
    whole = len(values) // 4 * 4
    a = b = c = d = 0.0
    for i in range(0, whole, 4):
        a = max(a, abs(values[i]))
        b = max(b, abs(values[i + 1]))
        c = max(c, abs(values[i + 2]))
        d = max(d, abs(values[i + 3]))
    for i in range(whole, len(values)):
        a = max(a, abs(values[i]))
    return max(max(a, b), max(c, d))


@njit(
    f"float64({_plan}, int64[::1], float64[::1], float64[::1], float64[::1], int64, int64[::1],"
    "float64[::1], float64[::1])",
    **_options,
)
def block_ldlt_residual(
    plan: Plan,
    addresses: Integers,
    A: Reals,
    b: Reals,
    x: Reals,
    any_dropped: int,
    dropped: Integers,
    W: Reals,
    r: Reals,
) -> float:
    """Set r = b - K x and return the backward error max|r| / (max|K| max|x| + max|b|).

    With any norm ‖K‖ ≥ max|K| the error is smaller still. Dropped rows do not count, if there are
    any: what they leave is the inconsistency of redundant rows.
    """
    n = plan[0]
    for i in range(n):
        r[i] = b[i]
    lists, kinds = plan[LISTS], plan[KIND]
    bits = np.zeros(1, np.int64)
    for s in range(plan[FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            at = np.int64(plan[lists + s])
            bits[0] = max(bits[0], _call(addresses[4 * kind + 3], plan, at, (W, A, x, r), 0.0))
        else:
            bits[0] = max(bits[0], front_residual(plan, s, A, x, r))
    largest = bits.view(np.float64)[0]
    if any_dropped != 0:
        largest = 0.0
        for i in range(n):
            # a nan is larger than all
            if not abs(r[i]) <= largest and dropped[i] == 0:
                largest = abs(r[i])
    scale = _largest(A) * _largest(x) + _largest(b)
    return largest / scale if largest != 0.0 else 0.0


@njit(
    f"float64({_plan}, int64[::1], float64[::1], float64[::1], int64, int64[::1], int64, int64,"
    "float64[::1], float64[::1], float64[::1])",
    **_options,
)
def block_ldlt_refine(
    plan: Plan,
    addresses: Integers,
    A: Reals,
    b: Reals,
    any_dropped: int,
    dropped: Integers,
    sweeps: int,
    small: int,
    W: Reals,
    x: Reals,
    r: Reals,
) -> float:
    """Refine x while its backward error is above 1e-13 and falls; return that error.

    Where pivots are `small` this error of the whole does not show what near a singular position is
    lost in single rows: two sweeps are done whatever it is. `r` has room for 2 n numbers. The
    unknowns of dropped rows stay 0.
    """
    n = plan[0]
    residual, better = r[:n], r[n:]
    error = block_ldlt_residual(plan, addresses, A, b, x, any_dropped, dropped, W, residual)
    least = 2 if small > 0 else 0
    for sweep in range(sweeps):
        if error <= REFINED_ABOVE and sweep >= least:
            break
        block_ldlt_solve(plan, addresses, W, residual)
        for i in range(n):
            better[i] = x[i] + residual[i]
        new = block_ldlt_residual(plan, addresses, A, b, better, any_dropped, dropped, W, residual)
        if not (new < error or new <= ROUNDING):
            break
        error = new
        for i in range(n):
            x[i] = better[i]
    return error


@njit(f"float64({_plan}, float64[::1], float64, int64, float64[::1])", **_options)
def _limit(plan: Plan, W: Reals, tolerance: float, near: int, ratios: Reals) -> float:
    """`drop_threshold` of the pivots that are small; `ratios` has room for them."""
    count = 0
    for s in range(plan[FRONTS]):
        at, w, _ = front_shape(plan, s)
        for j in range(w):
            place = np.int64(plan[at]) + 2 * j
            d, e = W[place], W[place + 1]
            if d < NEAR * e or e == 0.0:
                ratios[count] = d / e if e > 0.0 else 0.0
                count += 1
    rising = np.sort(ratios[:count])
    dropped = np.searchsorted(rising, tolerance, side="right")
    if dropped == 0:
        return tolerance
    top, above = tolerance, 1.0
    for k in range(dropped, count):
        if rising[k] > 10 * top:
            above = rising[k]
            break
        top = rising[k]
    if top > 1e4 * tolerance or above < 100 * top:
        return tolerance
    return min(np.sqrt(top * above), 1e4 * tolerance)


@njit(
    f"int64({_plan}, int64[::1], float64[::1], float64[::1], float64, int64, float64[::1],"
    "float64[::1], float64[::1], int64[::1], float64[::1])",
    **_options,
)
def block_ldlt_factor_solve(
    plan: Plan,
    addresses: Integers,
    A: Reals,
    b: Reals,
    tolerance: float,
    sweeps: int,
    W: Reals,
    x: Reals,
    r: Reals,
    dropped: Integers,
    report: Reals,
) -> int:
    """Factor and solve K x = b, see whether x is good, refine it if not; return the rank.

    Args:
        plan: of the pattern, `BlockLDLT.plan`.
        addresses: of the code of its kinds of fronts, `BlockLDLT.addresses`.
        A: values of the entries.
        b: right-hand side; another array than x.
        tolerance: part of what was accumulated in a pivot below which it is dropped.
        sweeps: refinement sweeps allowed; -1 does not look at the residual at all.
        W: factors and work, `BlockLDLT.work`. It starts as zeros and belongs to the plan.
        x: the solution.
        r: room for 2 n numbers.
        dropped: 1 for rows that were dropped, else 0; valid where the rank is less than n.
        report: limit that was used for dropping, backward error (-1 if not looked at), and number
            of pivots that were dropped or nearly.
    """
    n = plan[0]
    limit = tolerance
    small = block_ldlt_factor(plan, addresses, A, b, limit, W, x)
    count, near = small & 0xFFFFFFFF, small >> 32
    if near > 0 or count > 0:
        for _ in range(_PASSES):
            new = _limit(plan, W, limit, near, r)
            if block_ldlt_dropped(plan, W, new, dropped) == count:
                break
            limit = new
            small = block_ldlt_factor(plan, addresses, A, b, limit, W, x)
            count, near = small & 0xFFFFFFFF, small >> 32
        block_ldlt_dropped(plan, W, limit, dropped)
    block_ldlt_back(plan, addresses, W, x)
    report[0] = limit
    report[1] = -1.0
    report[2] = max(near, count)
    if sweeps >= 0:
        report[1] = block_ldlt_refine(
            plan, addresses, A, b, count, dropped, sweeps, max(near, count), W, x, r
        )
    return n - count
