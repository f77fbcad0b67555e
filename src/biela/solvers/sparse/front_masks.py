"""Where the entries of the matrix stand in the fronts, and which fronts are alike.

Import it inside functions: numba takes a moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.jit import njit

Integers = NDArray[np.int64]
Masks = NDArray[np.uint64]

__all__ = ["entry_places", "front_masks"]

#: Fronts of more rows than the bits of a mask are dense.
MASKED = 62


@njit()
def entry_places(
    entry_rows: Integers,
    entry_columns: Integers,
    number: Integers,
    front_of: Integers,
    first: Integers,
    start: Integers,
    rows: Integers,
) -> tuple[Integers, Integers, Integers]:
    """The entries of the matrix by front: start, number of the entry, place in its front.

    Entry (i, j) of a front of m rows has the place j m + i; the entries of a front rise by it.
    """
    count = len(first) - 1
    entries = len(entry_rows)
    entry_start = np.zeros(count + 1, np.int64)
    for e in range(entries):
        column = min(number[entry_rows[e]], number[entry_columns[e]])
        entry_start[front_of[column] + 1] += 1
    for s in range(count):
        entry_start[s + 1] += entry_start[s]
    source = np.empty(entries, np.int64)
    place = np.empty(entries, np.int64)
    end = entry_start[:-1].copy()
    for e in range(entries):
        a, b = number[entry_rows[e]], number[entry_columns[e]]
        column, row = min(a, b), max(a, b)
        s = front_of[column]
        w, h = first[s + 1] - first[s], start[s + 1] - start[s]
        if row < first[s + 1]:
            i = row - first[s]
        else:
            i = w + np.searchsorted(rows[start[s] : start[s + 1]], row)
        source[end[s]] = e
        place[end[s]] = (column - first[s]) * (w + h) + i
        end[s] += 1
    for s in range(count):
        lo, hi = entry_start[s], entry_start[s + 1]
        # insertion: a front has few entries and they come nearly in order
        for k in range(lo + 1, hi):
            p, q = place[k], source[k]
            m = k - 1
            while m >= lo and place[m] > p:
                place[m + 1], source[m + 1] = place[m], source[m]
                m -= 1
            place[m + 1], source[m + 1] = p, q
    return entry_start, source, place


@njit()
def _mixed(value: Any, word: Any) -> Any:
    value = (value ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(29))


@njit()
def front_masks(
    first: Integers,
    start: Integers,
    rows: Integers,
    local: Integers,
    child_start: Integers,
    children: Integers,
    entry_start: Integers,
    place: Integers,
    roles: Integers,
) -> tuple[Integers, Masks, NDArray[np.uint64]]:
    """Which entries each front passes on, and which fronts are alike.

    Fronts are alike with the same shape, entries, roles of rows (see `block_plan`), and children
    that pass on the same entries to the same rows.

    Returns the start of the masks of each front, a mask of passed rows for each row below it (no
    masks where the front is too large for them), and two hashes, 0 for the large fronts.
    """
    count = len(first) - 1
    at = start.copy()
    masks = np.zeros(len(rows), np.uint64)
    hashes = np.zeros((count, 2), np.uint64)
    one = np.uint64(1)
    now = np.zeros(MASKED, np.uint64)
    for s in range(count):
        w, h = first[s + 1] - first[s], start[s + 1] - start[s]
        m = w + h
        if m > MASKED:
            for b in range(h):
                masks[at[s] + b] = ~np.uint64(0)
            continue
        p, q = np.uint64(14695981039346656037), np.uint64(7809847782465536322)
        for word in (w, h, child_start[s + 1] - child_start[s]):
            p, q = _mixed(p, np.uint64(word)), _mixed(q, np.uint64(word))
        now[:m] = np.uint64(0)
        for e in range(entry_start[s], entry_start[s + 1]):
            j, i = divmod(place[e], m)
            now[j] |= one << np.uint64(i)
            p, q = _mixed(p, np.uint64(place[e])), _mixed(q, np.uint64(place[e]))
        for i in range(m):
            role = roles[first[s] + i] if i < w else roles[rows[start[s] + i - w]]
            p, q = _mixed(p, np.uint64(role)), _mixed(q, np.uint64(role))
        for k in range(child_start[s], child_start[s + 1]):
            c = children[k]
            size = start[c + 1] - start[c]
            p, q = _mixed(p, np.uint64(size)), _mixed(q, np.uint64(size))
            for b in range(size):
                column = local[start[c] + b]
                mask = masks[at[c] + b]
                if size < 64:
                    mask &= (one << np.uint64(size)) - one
                p = _mixed(_mixed(p, np.uint64(column)), mask)
                q = _mixed(_mixed(q, np.uint64(column)), mask)
                for a in range(b, size):
                    if mask >> np.uint64(a) & one:
                        now[column] |= one << np.uint64(local[start[c] + a])
        hashes[s, 0], hashes[s, 1] = p | one, q
        # what the elimination joins
        j = 0
        while j < w:
            below = now[j] | (one << np.uint64(j))
            step = 1
            if roles[first[s] + j] & 2:
                below |= now[j + 1] | (one << np.uint64(j + 1))
                step = 2
            for i in range(j + step, m):
                if below >> np.uint64(i) & one:
                    now[i] |= below >> np.uint64(i) << np.uint64(i)
            j += step
        for b in range(h):
            masks[at[s] + b] = now[w + b] >> np.uint64(w)
    return at, masks, hashes
