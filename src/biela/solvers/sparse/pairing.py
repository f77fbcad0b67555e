"""Unknowns without inertia, each paired with a constraint that determines it.

Such an unknown has nothing on the diagonal, so it cannot be eliminated alone. With a constraint φ
that acts on it, it makes a pivot of two rows,

    [ 0  φ ]
    [ φ  -s ],    determinant -φ² wherever φ ≠ 0 and nothing else has joined the unknown,

once the other unknowns of that constraint are gone (they leave s ≥ 0). The pairs are found by
maximum matching, as two unknowns may act in the same constraints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.solvers.sparse.pattern import SymmetricPattern

__all__ = ["inertia_less_pairs"]

Integers = NDArray[np.int64]


def inertia_less_pairs(
    pattern: SymmetricPattern, late: NDArray[np.bool_], values: ArrayLike | None = None
) -> Integers:
    """Pairs (unknown, late row), an array of two columns, for the unknowns without a diagonal.

    With values, an unknown whose diagonal is zero counts too, and larger entries are preferred.
    Unknowns that no late row is left for stay alone, to be dropped and named.
    """
    n = pattern.size
    numbers = np.ones(len(pattern.rows)) if values is None else np.asarray(values, dtype=np.float64)
    diagonal = np.zeros(n)
    on = pattern.rows == pattern.columns
    np.add.at(diagonal, pattern.rows[on], np.abs(numbers[on]))
    without = (diagonal == 0.0) & ~late
    if not without.any():
        return np.zeros((0, 2), dtype=np.int64)
    i = np.where(late[pattern.rows], pattern.columns, pattern.rows)
    j = np.where(late[pattern.rows], pattern.rows, pattern.columns)
    useful = without[i] & late[j] & (numbers != 0.0)
    weight = np.abs(numbers[useful])
    i, j = i[useful], j[useful]
    choices: dict[int, list[int]] = {int(u): [] for u in np.flatnonzero(without)}
    for k in np.argsort(-weight, kind="stable").tolist():
        choices[int(i[k])].append(int(j[k]))
    # unknowns with few choices first; then augmenting paths
    owner: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for unknown in sorted(choices, key=lambda u: (len(choices[u]), u)):
        _match(unknown, choices, owner, row_of)
    return np.array(sorted(row_of.items()), dtype=np.int64).reshape(-1, 2)


def _match(
    unknown: int, choices: dict[int, list[int]], owner: dict[int, int], row_of: dict[int, int]
) -> None:
    """Find a row for one unknown, moving others to their other rows if need be; no recursion."""
    came: dict[int, int] = {}  # row → unknown it was reached from
    queue = [unknown]
    for u in queue:
        for row in choices[u]:
            if row in came:
                continue
            came[row] = u
            if row in owner:
                queue.append(owner[row])
                continue
            # the row is free: everyone on the way moves to the row it was reached by
            free: int | None = row
            while free is not None:
                taker = came[free]
                before = row_of.get(taker)
                owner[free], row_of[taker] = taker, free
                free = before
            return
