"""L D Lᵀ of a sparse positive definite matrix row by row, as a record of a tape.

    row i of L:  y = row i of A;  for each k in its pattern, in order:
                 y -= y_k (column k of L above row i),  l_ik = y_k / d_k,  d_i -= l_ik y_k

The pattern of every row is found once, from the elimination tree (Davis 2006, Direct Methods for
Sparse Linear Systems, §4.8).  ``void code(double *w, int64 first, int64 count, double **table)``
reads A (entries of the lower triangle by rows, the diagonal last) and b from the workspace and
writes x.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from biela.code.looped import Call, Memory

__all__ = ["positive_definite_stage"]

Integers = npt.NDArray[np.int64]
_numba: Any = numba  # it carries no types
carray: Any = _numba.carray
_integer, _double = _numba.types.int64, _numba.types.CPointer(_numba.types.float64)
_compiled: Any = _numba.cfunc(
    _numba.types.void(_double, _integer, _integer, _numba.types.CPointer(_double)),
    error_model="numpy",
)


@_compiled
def solve_by_rows(w: Any, first: int, count: int, table: Any) -> None:
    """A x = b by new factors."""
    sizes = carray(table[0], 6).view(np.int64)
    n, entries, fill = sizes[0], sizes[1], sizes[2]
    start = carray(table[1], n + 1).view(np.int64)
    column = carray(table[2], entries).view(np.int64)
    row_start = carray(table[3], n + 1).view(np.int64)
    pattern = carray(table[4], fill + 1).view(np.int64)
    first_of = carray(table[5], n + 1).view(np.int64)
    used = carray(table[6], n + 1).view(np.int64)
    rows = carray(table[7], fill + 1).view(np.int64)
    L = carray(table[8], fill + 1)
    d = carray(table[9], n)
    y = carray(table[10], n)
    whole = carray(w, max(sizes[3] + entries, max(sizes[4], sizes[5]) + n))
    A = whole[sizes[3] : sizes[3] + entries]
    b = whole[sizes[4] : sizes[4] + n]
    x = whole[sizes[5] : sizes[5] + n]
    for i in range(n):
        used[i] = 0
        for e in range(start[i], start[i + 1] - 1):
            y[column[e]] = A[e]
        pivot = A[start[i + 1] - 1]
        for p in range(row_start[i], row_start[i + 1]):
            k = pattern[p]
            value = y[k]
            y[k] = 0.0
            for e in range(first_of[k], first_of[k] + used[k]):
                y[rows[e]] -= L[e] * value
            l = value / d[k]
            pivot -= l * value
            at = first_of[k] + used[k]
            rows[at], L[at] = i, l
            used[k] += 1
        d[i] = pivot
    for i in range(n):
        x[i] = b[i]
    for k in range(n):
        for e in range(first_of[k], first_of[k] + used[k]):
            x[rows[e]] -= L[e] * x[k]
    for k in range(n):
        x[k] /= d[k]
    for k in range(n - 1, -1, -1):
        for e in range(first_of[k], first_of[k] + used[k]):
            x[k] -= L[e] * x[rows[e]]


def positive_definite_stage(
    memory: Memory, rows: Integers, columns: Integers, names: tuple[str, str, str]
) -> Call:
    """The record that solves A x = b.

    Args:
        memory: The workspace.
        rows: Of the entries of the lower triangle, ascending, with the diagonal last in each row.
        columns: Likewise, ascending in each row.
        names: The vectors of the entries, of b and of x.
    """
    n = int(rows[-1]) + 1
    start = np.searchsorted(rows, np.arange(n + 1))
    patterns = _row_patterns(n, start, columns)
    counts = np.zeros(n + 1, dtype=np.int64)
    for pattern in patterns:
        counts[np.array(pattern, dtype=np.int64) + 1] += 1
    fill = int(counts.sum())
    flat = np.array([k for pattern in patterns for k in pattern] + [0], dtype=np.int64)
    row_start = np.concatenate([[0], np.cumsum([len(p) for p in patterns])])
    places = [memory.first(name) for name in names]
    arrays = [
        np.array([n, len(rows), fill, *places]),
        start,
        columns,
        row_start,
        flat,
        np.cumsum(counts),
        np.zeros(n + 1, dtype=np.int64),
        np.zeros(fill + 1, dtype=np.int64),
        np.zeros(fill + 1),
        np.zeros(n),
        np.zeros(n),
    ]
    kept = [a if a.dtype == float else np.ascontiguousarray(a, dtype=np.int64) for a in arrays]
    table = np.array([a.ctypes.data for a in kept], dtype=np.int64)
    written = ((memory.first(names[2]), n),)
    return Call(solve_by_rows.address, table.ctypes.data, written, (kept, table, solve_by_rows))


def _row_patterns(n: int, start: Integers, columns: Integers) -> list[list[int]]:
    """The columns of L in every row, ascending: what the elimination tree reaches."""
    parent = np.full(n, -1, dtype=np.int64)
    found: list[list[int]] = []
    for i in range(n):
        marked: set[int] = set()
        for k in columns[start[i] : start[i + 1] - 1]:
            k = int(k)
            while k not in marked and k != i:
                marked.add(k)
                if parent[k] < 0:
                    parent[k] = i
                k = int(parent[k])
        found.append(sorted(marked))
    return found
