"""Symbolic LU, compiled.  Import it inside functions: numba takes a moment."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = ["lu_counts"]


@njit("Tuple((int64[::1], int64[::1], boolean))(int64[::1], int64[::1], int64, int64)")
def lu_counts(
    start: Integers, entries: Integers, n: int, largest: int
) -> tuple[Integers, Integers, bool]:
    """Entries right of the diagonal in the rows of U and below it in the columns of L.

    Row i of the factors has what can be reached from its entries through rows of U of lower
    number (Gilbert & Peierls 1988).  The last value is False if it was given up.
    """
    rows = len(start) - 1
    above = np.zeros(n, np.int64)
    below = np.zeros(n, np.int64)
    begin = np.zeros(n + 1, np.int64)  # rows of U, without the diagonal
    upper = np.empty(max(2 * len(entries), 16), np.int64)
    mark = np.full(n, -1, np.int64)
    stack = np.empty(n + 1, np.int64)
    used = 0
    total = 0
    for i in range(rows):
        if i < n:
            mark[i] = i
            begin[i] = used
        for e in range(start[i], start[i + 1]):
            if mark[entries[e]] == i:
                continue
            mark[entries[e]] = i
            stack[0] = entries[e]
            depth = 1
            while depth > 0:
                depth -= 1
                k = stack[depth]
                total += 1
                if k > i:
                    if used == len(upper):
                        more = np.empty(2 * len(upper), np.int64)
                        more[:used] = upper
                        upper = more
                    upper[used] = k
                    used += 1
                    continue
                below[k] += 1
                for m in range(begin[k], begin[k + 1]):
                    j = upper[m]
                    if mark[j] != i:
                        mark[j] = i
                        stack[depth] = j
                        depth += 1
        if total > largest:
            return above, below, False
        if i < n:
            above[i] = used - begin[i]
            begin[i + 1] = used
    return above, below, True
