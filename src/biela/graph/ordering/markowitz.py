"""Pivots of an unsymmetric matrix by Markowitz 1957: each with as little fill as it can cause."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from biela.errors import ShapeError
from biela.graph.ordering.block_form import BlockForm
from biela.graph.pattern import Pattern

__all__ = ["markowitz"]


def markowitz(
    pattern: Pattern, values: ArrayLike | None = None, threshold: float = 0.1
) -> BlockForm:
    """One block, its rows and columns in the order of the pivots.

    With rᵢ entries in row i and cⱼ in column j of what is left, the next pivot is an entry with the
    least (rᵢ - 1)(cⱼ - 1), which bounds the fill it causes.  With ``values``, a number an entry of
    the pattern, it must be at least ``threshold`` of the greatest in its row, and of equal ones the
    greatest is taken; then the first.  What is left without entries is band and border.

    Raises:
        ShapeError: not one number an entry.
    """
    numbers = np.ones(pattern.nnz) if values is None else np.asarray(values, dtype=np.float64)
    if numbers.shape != (pattern.nnz,):
        raise ShapeError(f"{numbers.shape} numbers for the {pattern.nnz} entries of a pattern")
    rows = [
        dict(zip(pattern.row(i).tolist(), numbers[pattern.start[i] :].tolist(), strict=False))
        for i in range(pattern.rows)
    ]
    columns = [set(c) for c in pattern.transposed.row_lists()]
    numeric = values is not None
    version = [0] * len(rows)
    heap: list[tuple[int, float, int, int, int]] = []

    def offer(i: int) -> None:
        row = rows[i]
        version[i] += 1
        if not row:
            return
        if not numeric:
            fewest, j = min((len(columns[c]), c) for c in row)
            heapq.heappush(heap, ((len(row) - 1) * (fewest - 1), 0.0, i, j, version[i]))
            return
        greatest = max(abs(x) for x in row.values())
        if greatest == 0.0:
            return
        fewest, size, j = min(
            (len(columns[c]), -abs(x), c) for c, x in row.items() if abs(x) >= threshold * greatest
        )
        cost = (len(row) - 1) * (fewest - 1)
        heapq.heappush(heap, (cost, size, i, j, version[i]))

    for i in range(len(rows)):
        offer(i)
    order_rows: list[int] = []
    order_columns: list[int] = []
    while heap:
        _, _, p, q, when = heapq.heappop(heap)
        if when != version[p]:
            continue
        pivot_row = rows[p]
        order_rows.append(p)
        order_columns.append(q)
        version[p] += 1
        touched = set()
        for c in pivot_row:
            columns[c].discard(p)
            touched |= columns[c]
        pivot = pivot_row.pop(q)
        for i in columns[q]:
            row = rows[i]
            below = row.pop(q)
            factor = below / pivot if numeric else 0.0
            for c, x in pivot_row.items():
                row[c] = row.get(c, 0.0) - factor * x
                columns[c].add(i)
        for c in pivot_row:
            touched |= columns[c]
        columns[q] = set()
        for i in touched:
            offer(i)
    done_rows, done_columns = set(order_rows), set(order_columns)
    blocks = [(order_rows, order_columns)] if order_rows else []
    return BlockForm.of(
        blocks,
        (c for c in range(pattern.columns) if c not in done_columns),
        (i for i in range(pattern.rows) if i not in done_rows),
    )
