"""One front in general: the loops for kinds that have no native code of their own.

They do the operations of `front_code` in the same order of columns. The plan of a pattern is one
array of 32-bit integers: a header, see `HEADER`, then its parts.
Import it inside functions: numba takes a moment.
"""
# mypy: disable-error-code="no-any-return"
# elements of a plan are numba's integers, which mypy does not know

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.jit import njit
from biela.solvers.sparse.front_kind import COUNTED, EXTRA, NEAR, PAIR

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Plan = Any

__all__ = [
    "FRONTS",
    "HEADER",
    "KIND",
    "LISTS",
    "front_back",
    "front_factor",
    "front_forward",
    "front_residual",
    "front_shape",
]

#: What the places of the header of a plan hold: counts, then where each part begins.
HEADER = (
    *("unknowns", "fronts", "entries"),
    *("lists", "kind", "first", "row_start", "rows", "local", "entry_start", "places"),
    *("child_start", "children", "roles", "data"),
)
FRONTS = 1
LISTS, KIND, _FIRST, _ROW_START, _ROWS, _LOCAL, _ENTRY_START, _PLACES = range(3, 11)
_CHILD_START, _CHILDREN, _ROLES = range(11, 14)

_options: Any = {"nogil": True, "error_model": "numpy"}
_plan = "int32[::1]"


@njit(f"UniTuple(int64, 3)({_plan}, int64)", **_options)
def front_shape(plan: Plan, s: int) -> tuple[Any, Any, Any]:
    """Where the list of a front starts, and its w and h."""
    first, rows = plan[_FIRST] + s, plan[_ROW_START] + s
    return (
        np.int64(plan[plan[LISTS] + s]),
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
    at, w, h = front_shape(plan, s)
    m = w + h
    entries = plan[_ENTRY_START] + s
    source = at + 2 + m - plan[entries]
    for e in range(plan[entries], plan[entries + 1]):
        q, p = divmod(np.int64(plan[plan[_PLACES] + e]), m)
        F[q, p] += A[plan[source + e]]
    for j in range(m):
        sums[0, j] = sums[1, j] = abs(F[j, j])
        if j < w:
            F[j, m] = b[plan[at + 2 + j]]
    kids = plan[_CHILD_START] + s
    for k in range(plan[kids], plan[kids + 1]):
        c = plan[plan[_CHILDREN] + k]
        child, _, size = front_shape(plan, c)
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
def front_factor(
    plan: Plan, s: int, A: Reals, b: Reals, tolerance: float, W: Reals, x: Reals
) -> int:
    """Factor a front, with x ← D⁻¹ L⁻¹ b for its unknowns; counts of small pivots as natively."""
    at, w, h = front_shape(plan, s)
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
def front_forward(plan: Plan, s: int, W: Reals, x: Reals) -> None:
    """X ← D⁻¹ L⁻¹ x for one front."""
    at, w, h = front_shape(plan, s)
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
def front_back(plan: Plan, s: int, W: Reals, x: Reals) -> None:
    """X ← L⁻ᵀ x for one front."""
    at, w, h = front_shape(plan, s)
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
def front_residual(plan: Plan, s: int, A: Reals, x: Reals, r: Reals) -> int:
    """R ← r - K x for the entries of a front; bits of the largest magnitude of its own rows."""
    at, w, h = front_shape(plan, s)
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
