"""The numeric part of block LDLᵀ: loops over the fronts of a plan.

Plain functions of arrays, compiled by numba, for the class `BlockLDLT` and for native drivers. The
plan is one array of 32-bit integers: a header, see `HEADER`, then its parts. Fronts whose kind
has code of its own go through it by address, the others through the general form below.
Import it inside functions: numba takes a moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from biela.solvers.sparse.front_code import COUNTED, EXTRA, NEAR, PAIR

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Plan = NDArray[np.int32]

__all__ = [
    "block_ldlt_back",
    "block_ldlt_dropped",
    "block_ldlt_factor",
    "block_ldlt_factor_solve",
    "block_ldlt_refine",
    "block_ldlt_residual",
    "block_ldlt_solve",
]

#: What the places of the header of a plan hold: counts, then where each part begins.
HEADER = (
    "unknowns fronts entries "
    "lists kind first row_start rows local entry_start places child_start children roles data"
).split()
_FRONTS = 1
_LISTS, _KIND, _FIRST, _ROW_START, _ROWS, _LOCAL, _ENTRY_START, _PLACES = range(3, 11)
_CHILD_START, _CHILDREN, _ROLES = range(11, 14)

#: A factorisation is repeated so often with another limit for dropping.
_PASSES = 3
#: Solutions of a larger backward error are refined.
REFINED_ABOVE = 1e-13
#: Backward errors that need not fall any more.
ROUNDING = 1e-15


@intrinsic
def _call(typingctx: Any, address: Any, plan: Any, at: Any, arrays: Any, *rest: Any) -> Any:
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


_options: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
_plan = "int32[::1]"


# --- one front, in general ------------------------------------------------------------------------


@njit(f"UniTuple(int64, 3)({_plan}, int64)", **_options)
def _shape(plan: Plan, s: int) -> tuple[int, int, int]:
    """Where the list of a front starts, and its w and h."""
    first, rows = plan[_FIRST] + s, plan[_ROW_START] + s
    return (
        np.int64(plan[plan[_LISTS] + s]),
        np.int64(plan[first + 1] - plan[first]),
        np.int64(plan[rows + 1] - plan[rows]),
    )


@njit(
    f"void({_plan}, int64, float64[::1], float64[::1], float64[::1], float64[:, ::1],"
    "float64[:, ::1])",
    **_options,
)
def _front_assemble(
    plan: Plan, s: int, A: Reals, b: Reals, W: Reals, F: Reals, sums: Reals
) -> None:
    """Set F, by columns with the right-hand side below, and sums of magnitudes of its diagonal."""
    at, w, h = _shape(plan, s)
    m = w + h
    entries = plan[_ENTRY_START] + s
    source = at + 2 + m - plan[entries]
    for e in range(plan[entries], plan[entries + 1]):
        j, i = divmod(np.int64(plan[plan[_PLACES] + e]), m)
        F[j, i] += A[plan[source + e]]
    for j in range(m):
        sums[0, j] = sums[1, j] = abs(F[j, j])
        if j < w:
            F[j, m] = b[plan[at + 2 + j]]
    kids = plan[_CHILD_START] + s
    for k in range(plan[kids], plan[kids + 1]):
        c = plan[plan[_CHILDREN] + k]
        child, _, size = _shape(plan, c)
        rest = np.int64(plan[child + 1])
        local = np.int64(plan[_LOCAL] + plan[plan[_ROW_START] + c])
        for q in range(size):
            j = plan[local + q]
            base = rest + q * (size + EXTRA)
            for p in range(q, size):
                F[j, plan[local + p]] += W[base + p]
            F[j, m] += W[base + size]
            sums[0, j] += W[base + size + 1]
            sums[1, j] += W[base + size + 2]


@njit(
    "int64(float64[:, ::1], float64[:, ::1], int64, int64, float64, float64[:, ::1],"
    "float64[:, ::1])",
    **_options,
)
def _front_pivots(
    F: Reals, sums: Reals, j: int, size: int, tolerance: float, r: Reals, judged: Reals
) -> int:
    """Inverse in r of the pivot of one or two columns; 0 of what is dropped. See `front_code`."""
    small = 0
    if size == 1:
        d, e = F[j, j], sums[1, j]
        gone = abs(d) <= tolerance * e
        r[0, 0] = 0.0 if gone else 1.0 / d
        judged[j, 0], judged[j, 1] = abs(d), e
        sums[0, j] *= abs(r[0, 0])
        if abs(d) < NEAR * e:
            small += 1 << 32
        return small + (1 if gone else 0)
    d0, f, d1 = F[j, j], F[j, j + 1], F[j + 1, j + 1]
    e0, e1 = sums[1, j], sums[1, j + 1]
    det = d0 * d1 - f * f
    total = e0 * e1 + f * f
    judged[j + 1, 0] = judged[j + 1, 1] = 1.0
    if abs(det) < NEAR * total:
        small += 1 << 32
    if abs(det) <= tolerance * total:
        gone0 = abs(d0) <= tolerance * e0
        gone1 = abs(d1) <= tolerance * e1 or not gone0
        r[0, 0] = 0.0 if gone0 else 1.0 / d0
        r[1, 1] = 0.0 if gone1 else 1.0 / d1
        r[0, 1] = r[1, 0] = 0.0
        judged[j, 0], judged[j, 1] = 0.0 if gone0 else 1.0, 1.0
        judged[j + 1, 0] = 0.0 if gone1 else 1.0
        sums[0, j] = sums[0, j + 1] = 1.0
        return small + (1 if gone0 else 0) + (1 if gone1 else 0)
    inverse = 1.0 / det
    r[0, 0], r[1, 1] = d1 * inverse, d0 * inverse
    r[0, 1] = r[1, 0] = -f * inverse
    judged[j, 0], judged[j, 1] = abs(det), total
    sums[0, j] = sums[0, j + 1] = (abs(d0 * d1) + f * f) * abs(inverse)
    return small


@njit(
    f"int64({_plan}, int64, float64[::1], float64[::1], float64, float64[::1], float64[::1])",
    **_options,
)
def _front_factor(
    plan: Plan, s: int, A: Reals, b: Reals, tolerance: float, W: Reals, x: Reals
) -> int:
    at, w, h = _shape(plan, s)
    m = w + h
    F, sums = np.zeros((m, m + 1)), np.zeros((2, m))
    _front_assemble(plan, s, A, b, W, F, sums)
    panel = np.int64(plan[at])
    roles = plan[_ROLES] + plan[plan[_FIRST] + s]
    counted = np.empty(m, np.bool_)
    for i in range(m):
        if i < w:
            counted[i] = plan[roles + i] & COUNTED
        else:
            row = plan[plan[_ROWS] + plan[plan[_ROW_START] + s] + i - w]
            counted[i] = plan[plan[_ROLES] + row] & COUNTED
    r, judged = np.zeros((2, 2)), np.zeros((w, 2))
    L = np.zeros((2, m + 1))
    small = 0
    j = 0
    while j < w:
        size = 2 if plan[roles + j] & PAIR else 1
        small += _front_pivots(F, sums, j, size, tolerance, r, judged)
        for i in range(j + size, m + 1):
            for q in range(size):
                L[q, i] = 0.0
                for t in range(size):
                    L[q, i] += F[j + t, i] * r[q, t]
        for q in range(size):
            for i in range(j + size, m):
                l = L[q, i]
                if l == 0.0:
                    continue
                if counted[i]:
                    term = abs(F[j + q, i] * l)
                    sums[0, i] += term
                    sums[1, i] += term * sums[0, j + q]
                for a in range(i, m + 1):
                    F[i, a] -= F[j + q, a] * l
        for q in range(size):
            base = panel + 2 * w + (j + q) * m
            x[plan[at + 2 + j + q]] = L[q, m]
            for t in range(q, size):
                W[base + j + t] = r[t, q]
            for i in range(j + size, m):
                W[base + i] = L[q, i]
            W[panel + 2 * (j + q)] = judged[j + q, 0]
            W[panel + 2 * (j + q) + 1] = judged[j + q, 1]
        j += size
    rest = np.int64(plan[at + 1])
    for q in range(h):
        base = rest + q * (h + EXTRA)
        for p in range(q, h + 1):
            W[base + p] = F[w + q, w + p]
        W[base + h + 1] = sums[0, w + q] if counted[w + q] else 0.0
        W[base + h + 2] = sums[1, w + q] if counted[w + q] else 0.0
    return small


@njit(f"void({_plan}, int64, float64[::1], float64[::1])", **_options)
def _front_forward(plan: Plan, s: int, W: Reals, x: Reals) -> None:
    at, w, h = _shape(plan, s)
    m = w + h
    panel = np.int64(plan[at]) + 2 * w
    roles = plan[_ROLES] + plan[plan[_FIRST] + s]
    columns = at + 2
    j = 0
    while j < w:
        size = 2 if plan[roles + j] & PAIR else 1
        base = panel + j * m
        for q in range(size):
            value = x[plan[columns + j + q]]
            for a in range(j + size, m):
                x[plan[columns + a]] -= W[base + q * m + a] * value
        first = plan[columns + j]
        if size == 1:
            x[first] *= W[base + j]
        else:
            second = plan[columns + j + 1]
            u, v = x[first], x[second]
            x[first] = W[base + j] * u + W[base + j + 1] * v
            x[second] = W[base + j + 1] * u + W[base + m + j + 1] * v
        j += size


@njit(f"void({_plan}, int64, float64[::1], float64[::1])", **_options)
def _front_back(plan: Plan, s: int, W: Reals, x: Reals) -> None:
    at, w, h = _shape(plan, s)
    m = w + h
    panel = np.int64(plan[at]) + 2 * w
    roles = plan[_ROLES] + plan[plan[_FIRST] + s]
    columns = at + 2
    for j in range(w - 1, -1, -1):
        value = x[plan[columns + j]]
        for a in range(j + 2 if plan[roles + j] & PAIR else j + 1, m):
            value -= W[panel + j * m + a] * x[plan[columns + a]]
        x[plan[columns + j]] = value


@njit(f"int64({_plan}, int64, float64[::1], float64[::1], float64[::1])", **_options)
def _front_residual(plan: Plan, s: int, A: Reals, x: Reals, r: Reals) -> int:
    """R ← r - K x for the entries of a front; bits of the largest magnitude of its own rows."""
    at, w, h = _shape(plan, s)
    m = w + h
    entries = plan[_ENTRY_START] + s
    source = at + 2 + m - plan[entries]
    for e in range(plan[entries], plan[entries + 1]):
        q, p = divmod(np.int64(plan[plan[_PLACES] + e]), m)
        i, j = plan[at + 2 + p], plan[at + 2 + q]
        value = A[plan[source + e]]
        r[i] -= value * x[j]
        if i != j:
            r[j] -= value * x[i]
    found = np.zeros(1)
    for j in range(w):
        if not abs(r[plan[at + 2 + j]]) <= found[0]:
            found[0] = abs(r[plan[at + 2 + j]])
    return found.view(np.int64)[0]


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
    lists, kinds = plan[_LISTS], plan[_KIND]
    for s in range(plan[_FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            at = np.int64(plan[lists + s])
            small += _call(addresses[4 * kind], plan, at, (W, A, b, x), tolerance)
        else:
            small += _front_factor(plan, s, A, b, tolerance, W, x)
    return small


@njit(f"void({_plan}, int64[::1], float64[::1], float64[::1])", **_options)
def block_ldlt_back(plan: Plan, addresses: Integers, W: Reals, x: Reals) -> None:
    """Substitute back in place, x ← L⁻ᵀ x, after `block_ldlt_factor`."""
    lists, kinds = plan[_LISTS], plan[_KIND]
    for s in range(plan[_FRONTS] - 1, -1, -1):
        kind = plan[kinds + s]
        if kind >= 0:
            _call(addresses[4 * kind + 2], plan, np.int64(plan[lists + s]), (W, x))
        else:
            _front_back(plan, s, W, x)


@njit(f"void({_plan}, int64[::1], float64[::1], float64[::1])", **_options)
def block_ldlt_solve(plan: Plan, addresses: Integers, W: Reals, x: Reals) -> None:
    """Solve with the last factors in place: x is b on entry. Dropped unknowns are 0."""
    lists, kinds = plan[_LISTS], plan[_KIND]
    for s in range(plan[_FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            _call(addresses[4 * kind + 1], plan, np.int64(plan[lists + s]), (W, x))
        else:
            _front_forward(plan, s, W, x)
    block_ldlt_back(plan, addresses, W, x)


@njit(f"int64({_plan}, float64[::1], float64, int64[::1])", **_options)
def block_ldlt_dropped(plan: Plan, W: Reals, tolerance: float, dropped: Integers) -> int:
    """Set `dropped` to 1 for each row whose pivot was dropped, 0 for the others; count them."""
    count = 0
    for s in range(plan[_FRONTS]):
        at, w, _ = _shape(plan, s)
        for j in range(w):
            place = np.int64(plan[at]) + 2 * j
            gone = W[place] <= tolerance * W[place + 1]
            dropped[plan[at + 2 + j]] = 1 if gone else 0
            count += 1 if gone else 0
    return count


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
    lists, kinds = plan[_LISTS], plan[_KIND]
    bits = np.zeros(1, np.int64)
    for s in range(plan[_FRONTS]):
        kind = plan[kinds + s]
        if kind >= 0:
            at = np.int64(plan[lists + s])
            bits[0] = max(bits[0], _call(addresses[4 * kind + 3], plan, at, (W, A, x, r), 0.0))
        else:
            bits[0] = max(bits[0], _front_residual(plan, s, A, x, r))
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
        new = block_ldlt_residual(
            plan, addresses, A, b, better, any_dropped, dropped, W, residual
        )
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
    for s in range(plan[_FRONTS]):
        at, w, _ = _shape(plan, s)
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
