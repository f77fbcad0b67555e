"""Every group checked by rank: its rows must determine its bodies, and which of them are too many.

All groups of a kind are looked at together.  A group is regular if its rows on its own bodies have
full column rank at one position at least; a lower rank at some position is a dead point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from biela.equations.groups.determined import dependent
from biela.equations.groups.kinds import KindRows
from biela.equations.groups.units import RANK, Rows

__all__ = ["kind_matrices", "kind_rows", "redundant_rows", "singular_groups"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Determinants of unit rows above this are those of regular matrices beyond doubt.
_CLEAR = 1e-9
#: Groups looked at in one go.
_MANY = 20_000


def kind_rows(rows: Rows, kind: KindRows) -> Integers:
    """(groups, rows) the rows of each group: joints in canonical order, then drivers, then locks.

    What is redundant is a joint then, and no driver.
    """
    start, order = rows.by_element
    flags = rows.elements.is_driver[kind.elements[0]] if kind.elements.shape[1] else np.zeros(0)
    lock = kind.elements[0] >= rows.elements.proper
    ranked = np.argsort(flags.astype(int) + 2 * lock, kind="stable")
    columns = []
    for k in ranked.tolist():
        own = kind.elements[:, k]
        count = int(start[own[0] + 1] - start[own[0]])
        columns.append(order[start[own][:, None] + np.arange(count)])
    if not columns:
        return np.zeros((len(kind.groups), 0), dtype=np.int64)
    return np.concatenate(columns, axis=1)


def kind_matrices(rows: Rows, kind: KindRows, numbers: Integers, position: int) -> Floats:
    """(groups, rows, unknowns) the rows of some groups of a kind on their own bodies."""
    count, m = numbers.shape
    own = kind.bodies
    A = np.zeros((count, m, own.shape[1], rows.width))
    values, touched = rows.values[position][numbers], rows.touched[numbers]
    for slot in range(touched.shape[2]):
        for k in range(own.shape[1]):
            there = touched[:, :, slot] == own[:, k, None]
            A[:, :, k] += np.where(there[:, :, None], values[:, :, slot], 0.0)
    return A.reshape(count, m, -1)


def singular_groups(rows: Rows, kind: KindRows) -> Integers:
    """Numbers of the groups of a kind whose rows determine them at no position."""
    numbers = kind_rows(rows, kind)
    found = []
    for first in range(0, len(kind.groups), _MANY):
        part = slice(first, first + _MANY)
        some = KindRows(
            kind.label,
            kind.name,
            kind.space,
            kind.groups[part],
            kind.bodies[part],
            kind.elements[part],
            kind.known[part],
            kind.sides[part],
        )
        open_ = np.ones(len(some.groups), dtype=bool)
        for position in range(len(rows.values)):
            if open_.any():
                A = kind_matrices(rows, some, numbers[part], position)
                open_[open_] = ~_regular(A[open_])
        found.append(some.groups[open_])
    return np.concatenate(found)


@np.errstate(invalid="ignore")
def _regular(A: Floats) -> npt.NDArray[np.bool_]:
    count, m, n = A.shape
    if m < n:
        return np.zeros(count, dtype=bool)
    good = np.zeros(count, dtype=bool)
    if m == n:
        good = np.abs(np.linalg.det(A)) > _CLEAR
    elif count > 1:
        good = np.linalg.det(np.swapaxes(A, 1, 2) @ A) > _CLEAR
    rest = np.flatnonzero(~good & np.isfinite(A).all(axis=(1, 2)))
    if len(rest):
        s = np.linalg.svd(A[rest], compute_uv=False)
        good[rest] = s[:, -1] > RANK * s[:, 0]
    return good


def redundant_rows(rows: Rows, kind: KindRows) -> Integers:
    """(groups, redundant) rows that depend on the others, the same places in all groups.

    They are chosen at the position where the first group is farthest from singular.
    """
    numbers = kind_rows(rows, kind)
    n = kind.bodies.shape[1] * rows.width
    if numbers.shape[1] <= n:
        return np.zeros((len(kind.groups), 0), dtype=np.int64)
    first = KindRows(
        kind.label,
        kind.name,
        kind.space,
        kind.groups[:1],
        kind.bodies[:1],
        kind.elements[:1],
        kind.known[:1],
        kind.sides[:1],
    )
    matrices = [
        kind_matrices(rows, first, numbers[:1], position)[0] for position in range(len(rows.values))
    ]
    best = max(matrices, key=lambda A: float(np.linalg.svd(A, compute_uv=False)[-1]))
    return numbers[:, dependent(best)]
