"""Matching and strong components, compiled.  Import it inside functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biela.graph.adjacency import Integers
from biela.graph.ordering.compiled_degree import _put, _take
from biela.jit import njit

__all__ = ["augmenting_paths", "first_matching", "reachable_rows", "strong_components"]


@njit("int64[::1](int64[::1], int64[::1], int64[::1], int64[::1])")
def first_matching(
    start: Integers, entries: Integers, column_start: Integers, column_rows: Integers
) -> Integers:
    """A matching that is nearly a maximum one: the row of each column, or -1.

    Again and again the row with fewest free columns takes the one of them that fewest rows need
    (after Karp & Sipser 1981).
    """
    rows = len(start) - 1
    columns = len(column_start) - 1
    row_of = np.full(columns, -1, np.int64)
    degree = np.diff(start)
    needed = np.diff(column_start)
    head = np.full(columns + 1, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    before = np.full(rows, -1, np.int64)
    placed = np.zeros(rows, np.bool_)
    for i in range(rows - 1, -1, -1):
        _put(i, degree[i], head, after, before)
    least = 1
    while least <= columns:
        i = head[least]
        if i < 0:
            least += 1
            continue
        _take(i, least, head, after, before)
        placed[i] = True
        best = -1
        for k in range(start[i], start[i + 1]):
            c = entries[k]
            if row_of[c] < 0:
                needed[c] -= 1
                if best < 0 or needed[c] < needed[best]:
                    best = c
        row_of[best] = i
        for k in range(column_start[best], column_start[best + 1]):
            j = column_rows[k]
            if not placed[j]:
                _take(j, degree[j], head, after, before)
                degree[j] -= 1
                _put(j, degree[j], head, after, before)
                if degree[j] > 0:
                    least = min(least, degree[j])
    return row_of


@njit("int64[::1](int64[::1], int64[::1], int64[::1])")
def augmenting_paths(start: Integers, entries: Integers, given: Integers) -> Integers:
    """See `biela.graph.ordering.transversal`; begins with the row of each column, or -1.

    What a search that failed has seen stays marked: no later path can go through it, so that all
    failures together cost no more than one look at every entry.
    """
    row_of = given.copy()
    columns = len(row_of)
    has = np.zeros(len(start), np.bool_)
    for c in range(columns):
        if row_of[c] >= 0:
            has[row_of[c]] = True
    rows = len(start) - 1
    ahead = start[:-1].copy()  # entries before it are no free columns any more
    mark = np.full(columns, -1, np.int64)
    path = np.empty(rows + 1, np.int64)
    via = np.empty(rows + 1, np.int64)
    at = np.empty(rows + 1, np.int64)
    for first in range(rows):
        if has[first]:
            continue
        depth = 0
        path[0] = first
        at[0] = start[first]
        found = -1
        while depth >= 0:
            i = path[depth]
            while ahead[i] < start[i + 1]:
                c = entries[ahead[i]]
                ahead[i] += 1
                if row_of[c] < 0:
                    found = c
                    break
            if found >= 0:
                break
            step = False
            while at[depth] < start[i + 1]:
                c = entries[at[depth]]
                at[depth] += 1
                if mark[c] == -1 or (mark[c] >= 0 and mark[c] != first):
                    mark[c] = first
                    via[depth] = c
                    depth += 1
                    path[depth] = row_of[c]
                    at[depth] = start[row_of[c]]
                    step = True
                    break
            if not step:
                depth -= 1
        if found >= 0:
            row_of[found] = path[depth]
            for k in range(depth - 1, -1, -1):
                row_of[via[k]] = path[k]
        else:
            # the tree of a failed search: every column in it is out of the question from now on
            for k in range(start[first], start[first + 1]):
                if mark[entries[k]] == first:
                    mark[entries[k]] = -2
                    path[0] = row_of[entries[k]]
                    depth = 1
                    while depth > 0:
                        depth -= 1
                        i = path[depth]
                        for m in range(start[i], start[i + 1]):
                            c = entries[m]
                            if mark[c] == first:
                                mark[c] = -2
                                path[depth] = row_of[c]
                                depth += 1
    return row_of


@njit("Tuple((int64[::1], int64))(int64[::1], int64[::1], int64[::1], boolean[::1])")
def strong_components(
    start: Integers, entries: Integers, row_of: Integers, inside: NDArray[np.bool_]
) -> tuple[Integers, int]:
    """The strong component of each column c that is inside, numbered as they are found.

    Column c leads to the columns of its row `row_of[c]` (Tarjan 1972); where every column is its
    own row, `start` and `entries` are the successors in a digraph.  Components that are found
    earlier are led to by later ones: the numbers are those of a block lower triangular form.
    """
    n = len(row_of)
    index = np.full(n, -1, np.int64)
    low = np.zeros(n, np.int64)
    component = np.full(n, -1, np.int64)
    held = np.empty(n + 1, np.int64)
    path = np.empty(n + 1, np.int64)
    at = np.zeros(n, np.int64)
    holding = 0
    time = 0
    found = 0
    for s in range(n):
        if index[s] >= 0 or not inside[s]:
            continue
        depth = 0
        path[0] = s
        index[s] = low[s] = time
        time += 1
        held[holding] = s
        holding += 1
        at[s] = start[row_of[s]]
        while depth >= 0:
            v = path[depth]
            if at[v] < start[row_of[v] + 1]:
                d = entries[at[v]]
                at[v] += 1
                if not inside[d]:
                    continue
                if index[d] < 0:
                    index[d] = low[d] = time
                    time += 1
                    held[holding] = d
                    holding += 1
                    at[d] = start[row_of[d]]
                    depth += 1
                    path[depth] = d
                elif component[d] < 0:
                    low[v] = min(low[v], index[d])
                continue
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[v])
            if low[v] == index[v]:
                while True:
                    holding -= 1
                    component[held[holding]] = found
                    if held[holding] == v:
                        break
                found += 1
    return component, found


@njit("boolean[::1](int64[::1], int64[::1], int64[::1], boolean[::1])")
def reachable_rows(
    start: Integers, entries: Integers, row_of: Integers, roots: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The rows that are reached from roots by paths row - entry - matched row."""
    seen = roots.copy()
    rows = len(start) - 1
    stack = np.empty(rows + 1, np.int64)
    depth = 0
    for i in range(rows):
        if roots[i]:
            stack[depth] = i
            depth += 1
    while depth > 0:
        depth -= 1
        i = stack[depth]
        for k in range(start[i], start[i + 1]):
            j = row_of[entries[k]]
            if j >= 0 and not seen[j]:
                seen[j] = True
                stack[depth] = j
                depth += 1
    return seen
