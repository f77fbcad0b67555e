"""Minimum degree with true degrees, compiled.  Import it inside functions."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers
from biela.graph.ordering.compiled_degree import _put, _take
from biela.jit import njit

__all__ = ["exact_degree_order"]


@njit("int64[::1](int64[::1], int64[::1])")
def exact_degree_order(start: Integers, neighbours: Integers) -> Integers:
    """See `biela.graph.exact_minimum_degree`."""
    n = len(start) - 1
    alive = np.ones(n, np.bool_)
    mark = np.full(n, -1, np.int64)
    stamp = 0
    begin = start[:-1].copy()  # own edges of a vertex that no element covers
    own = np.diff(start)
    lists = neighbours.copy()
    element = np.full(n, -1, np.int64)  # first of the chain of elements of a vertex
    chain_of = np.empty(2 * len(neighbours) + n + 1, np.int64)
    chain_next = np.empty(2 * len(neighbours) + n + 1, np.int64)
    chains = 0
    parts_at = np.zeros(n, np.int64)
    parts = np.zeros(n, np.int64)
    store = np.empty(len(neighbours) + n + 1, np.int64)
    used = 0
    gone = np.zeros(n, np.bool_)  # elements that were swallowed
    degree = np.diff(start)
    head = np.full(n + 1, -1, np.int64)
    after = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    for i in range(n):
        _put(i, degree[i], head, after, before)
    order = np.empty(n, np.int64)
    least = 0
    for step in range(n):
        while head[least] < 0:
            least += 1
        # the lowest number of those of least degree
        p = head[least]
        i = after[p]
        while i >= 0:
            p = min(p, i)
            i = after[i]
        _take(p, least, head, after, before)
        alive[p] = False
        order[step] = p
        # what p reaches becomes an element, which swallows those of p
        if used + degree[p] > len(store):
            more = np.empty(2 * (used + degree[p]), np.int64)
            more[:used] = store[:used]
            store = more
        stamp += 1
        mark[p] = stamp
        parts_at[p] = used
        for k in range(begin[p], begin[p] + own[p]):
            i = lists[k]
            if alive[i] and mark[i] != stamp:
                mark[i] = stamp
                store[used] = i
                used += 1
        c = element[p]
        while c >= 0:
            e = chain_of[c]
            if not gone[e]:
                for k in range(parts_at[e], parts_at[e] + parts[e]):
                    i = store[k]
                    if alive[i] and mark[i] != stamp:
                        mark[i] = stamp
                        store[used] = i
                        used += 1
                gone[e] = True
            c = chain_next[c]
        parts[p] = used - parts_at[p]
        inside = stamp
        for k in range(parts_at[p], used):
            i = store[k]
            # own edges within the element, or to what is gone, are covered
            kept = begin[i]
            for m in range(begin[i], begin[i] + own[i]):
                j = lists[m]
                if alive[j] and mark[j] != inside:
                    lists[kept] = j
                    kept += 1
            own[i] = kept - begin[i]
            # elements that were swallowed leave the chain, p joins it
            c = element[i]
            previous = -1
            while c >= 0:
                if gone[chain_of[c]]:
                    if previous < 0:
                        element[i] = chain_next[c]
                    else:
                        chain_next[previous] = chain_next[c]
                else:
                    previous = c
                c = chain_next[c]
            if chains == len(chain_of):
                wider = np.empty(2 * chains, np.int64)
                wider[:chains] = chain_of
                chain_of = wider
                longer = np.empty(2 * chains, np.int64)
                longer[:chains] = chain_next
                chain_next = longer
            chain_of[chains] = p
            chain_next[chains] = element[i]
            element[i] = chains
            chains += 1
        for k in range(parts_at[p], used):
            i = store[k]
            stamp += 1
            mark[i] = stamp
            found = 0
            for m in range(begin[i], begin[i] + own[i]):
                if mark[lists[m]] != stamp:
                    mark[lists[m]] = stamp
                    found += 1
            c = element[i]
            while c >= 0:
                e = chain_of[c]
                for m in range(parts_at[e], parts_at[e] + parts[e]):
                    j = store[m]
                    if alive[j] and mark[j] != stamp:
                        mark[j] = stamp
                        found += 1
                c = chain_next[c]
            _take(i, degree[i], head, after, before)
            degree[i] = found
            _put(i, found, head, after, before)
            least = min(least, found)
    return order
