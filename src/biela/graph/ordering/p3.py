"""P3 and P4: preassigned pivots with spikes near the diagonal (Hellerman & Rarick 1971, 1972)."""

from __future__ import annotations

import numpy as np

from biela.graph.ordering.block_form import BlockForm
from biela.graph.ordering.p5 import ColumnSelection
from biela.graph.ordering.triangular import block_triangular
from biela.graph.pattern import Pattern

__all__ = ["p3", "p4"]


def p3(pattern: Pattern) -> BlockForm:
    """One block, lower triangular but for spikes.

    Columns are chosen as in `p5`.  Those that are left over are stacked; when later more rows are
    used up than columns were chosen, each of them takes as its pivot the column stacked last that
    has an entry in it, by the pattern or by fill.  Rows that find none are the band, columns that
    stay on the stack the border.
    """
    selection = ColumnSelection(pattern)
    stack: list[int] = []
    stacked: set[int] = set()
    rows: list[int] = []
    columns: list[int] = []
    band: list[int] = []
    row_of: dict[int, int] = {}
    spikes: dict[int, set[int]] = {}  # of each row placed: stacked columns with an entry in it
    lists = pattern.row_lists()

    def entries(i: int) -> set[int]:
        found: set[int] = set()
        for c in lists[i]:
            if c in row_of:
                found |= spikes[row_of[c]]
            elif c in stacked:
                found.add(c)
        return found & stacked

    def place(i: int, c: int) -> None:
        stacked.discard(c)
        spikes[i] = entries(i)
        rows.append(i)
        columns.append(c)
        row_of[c] = i

    while selection.left:
        used, chosen = selection.next()
        s = min(len(used), len(chosen))
        stack += chosen[: len(chosen) - s]
        stacked.update(chosen[: len(chosen) - s])
        for i, c in zip(used[:s], chosen[len(chosen) - s :], strict=True):
            place(i, c)
        for i in used[s:]:
            here = entries(i)
            c = next((c for c in reversed(stack) if c in here), -1)
            if c < 0:
                band.append(i)
            else:
                stack.remove(c)
                place(i, c)
    blocks = [(rows, columns)] if rows else []
    return BlockForm.of(blocks, stack + selection.unused(), band)


def p4(pattern: Pattern) -> BlockForm:
    """Block triangular form first, then `p3` inside each block of more than one row.

    The Precautionary P3: on a reducible matrix it finds the irreducible blocks, which P3 by itself
    need not.
    """
    form = block_triangular(pattern)
    blocks, border, band = [], list(form.border), list(form.band)
    for rows, columns in form.blocks:
        if len(rows) == 1:
            blocks.append((rows, columns))
            continue
        inner = p3(pattern.permuted(rows, columns))
        r, c = np.array(rows), np.array(columns)
        blocks += [(tuple(r[list(a)]), tuple(c[list(b)])) for a, b in inner.blocks]
        border += c[list(inner.border)].tolist()
        band += r[list(inner.band)].tolist()
    return BlockForm.of(blocks, border, band)
