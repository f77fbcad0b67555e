"""The border of a bordered block form: its Schur complement G, factored and solved.

By elimination with exchange of rows where G is square, by reflections where it has more rows than
columns (Golub & Van Loan 2013, Matrix Computations, §3.4 and §5.2).
Import it inside functions: numba takes a moment.
"""
# mypy: disable-error-code="no-any-return"
# elements of a plan are numba's integers, which mypy does not know

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.jit import njit

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

__all__ = ["HEADER", "factor_border", "solve_border", "solve_border_transposed"]

#: The header of a plan: unknowns of T, border, band, blocks, places for demoted columns; then where
#: its parts begin, and where those of S.
HEADER = (
    *("size", "border", "band", "blocks", "spare"),
    *("block_start", "inverse_start", "row_start", "column", "source"),
    *("row_order", "column_order", "W", "G", "tau", "room", "wide"),
)
SIZE, BORDER, BAND, BLOCKS, SPARE = range(5)
BLOCK, INVERSE, ROW, COLUMN, SOURCE, ROW_ORDER, COLUMN_ORDER = range(5, 12)
W_AT, G_AT, TAU, ROOM, WIDE = range(12, 17)

#: The state: demoted columns, rank of G, then the demoted rows, columns, and exchanges of rows.
COUNT, RANK, LISTS = range(3)

#: A pivot of G below this part of what was accumulated in its column is rounding only.
ROUNDING = 1e-12

_options: Any = {"nogil": True, "error_model": "numpy"}


@njit("int64(int64[::1], float64[::1], int64[::1])", **_options)
def factor_border(plan: Integers, S: Reals, state: Integers) -> int:
    """Factor G in place; returns its rank."""
    spare = plan[SPARE]
    wide, n, m = plan[WIDE], plan[BORDER] + state[COUNT], plan[BAND] + state[COUNT]
    G = S[plan[G_AT] : plan[TAU]].reshape((plan[BAND] + spare, wide))
    tau = S[plan[TAU] : plan[ROOM]]
    exchanges = LISTS + 2 * spare
    for j in range(n):
        if m == n:
            # elimination with exchange of rows
            best = j
            for i in range(j + 1, m):
                if not abs(G[i, j]) <= abs(G[best, j]):
                    best = i
            state[exchanges + j] = best
            if not abs(G[best, j]) > ROUNDING * tau[j]:
                return j
            if best != j:
                for c in range(n):
                    G[j, c], G[best, c] = G[best, c], G[j, c]
            G[j, j] = 1.0 / G[j, j]
            for i in range(j + 1, m):
                G[i, j] *= G[j, j]
                for c in range(j + 1, n):
                    G[i, c] -= G[i, j] * G[j, c]
        else:
            # reflection I - τ v vᵀ, v = (1, G[j + 1:, j])
            total = 0.0
            for i in range(j, m):
                total += G[i, j] ** 2
            length = np.sqrt(total)
            if not length > ROUNDING * tau[j]:
                return j
            if G[j, j] > 0.0:
                length = -length
            tau[wide + j] = (length - G[j, j]) / length
            for i in range(j + 1, m):
                G[i, j] /= G[j, j] - length
            G[j, j] = length
            for c in range(j + 1, n):
                dot = G[j, c]
                for i in range(j + 1, m):
                    dot += G[i, j] * G[i, c]
                dot *= tau[wide + j]
                G[j, c] -= dot
                for i in range(j + 1, m):
                    G[i, c] -= dot * G[i, j]
    return n


@njit("float64(int64[::1], float64[::1], int64[::1], float64[::1])", **_options)
def solve_border(plan: Integers, S: Reals, state: Integers, z: Reals) -> float:
    """Solve G x = z in place; returns the length of what no x can remove from z."""
    spare = plan[SPARE]
    wide, n, m = plan[WIDE], plan[BORDER] + state[COUNT], plan[BAND] + state[COUNT]
    G = S[plan[G_AT] : plan[TAU]].reshape((plan[BAND] + spare, wide))
    tau = S[plan[TAU] : plan[ROOM]]
    for j in range(n):
        if m == n:
            best = state[LISTS + 2 * spare + j]
            z[j], z[best] = z[best], z[j]
        else:
            dot = z[j]
            for i in range(j + 1, m):
                dot += G[i, j] * z[i]
            dot *= tau[wide + j]
            z[j] -= dot
            for i in range(j + 1, m):
                z[i] -= dot * G[i, j]
    if m == n:
        for i in range(n):
            for j in range(i):
                z[i] -= G[i, j] * z[j]
    for j in range(n - 1, -1, -1):
        for c in range(j + 1, n):
            z[j] -= G[j, c] * z[c]
        z[j] = z[j] * G[j, j] if m == n else z[j] / G[j, j]
    rest = 0.0
    for i in range(n, m):
        rest += z[i] ** 2
        z[i] = 0.0
    return np.sqrt(rest)


@njit("void(int64[::1], float64[::1], int64[::1], float64[::1])", **_options)
def solve_border_transposed(plan: Integers, S: Reals, state: Integers, z: Reals) -> None:
    """Solve Gᵀ y = z in place; of the solutions the shortest where G has more rows."""
    spare = plan[SPARE]
    wide, n, m = plan[WIDE], plan[BORDER] + state[COUNT], plan[BAND] + state[COUNT]
    G = S[plan[G_AT] : plan[TAU]].reshape((plan[BAND] + spare, wide))
    tau = S[plan[TAU] : plan[ROOM]]
    for j in range(n):
        for i in range(j):
            z[j] -= G[i, j] * z[i]
        z[j] = z[j] * G[j, j] if m == n else z[j] / G[j, j]
    for i in range(n, m):
        z[i] = 0.0
    for j in range(n - 1, -1, -1):
        if m == n:
            for i in range(j + 1, m):
                z[j] -= G[i, j] * z[i]
        else:
            dot = z[j]
            for i in range(j + 1, m):
                dot += G[i, j] * z[i]
            dot *= tau[wide + j]
            z[j] -= dot
            for i in range(j + 1, m):
                z[i] -= dot * G[i, j]
    if m == n:
        for j in range(n - 1, -1, -1):
            best = state[LISTS + 2 * spare + j]
            z[j], z[best] = z[best], z[j]
