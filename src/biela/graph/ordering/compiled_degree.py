"""Approximate minimum degree on quotient graphs, compiled.  Import it inside functions."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = ["approximate_degree_order"]

# --- buckets: vertices by degree, doubly linked ---------------------------------------------------


@njit("void(int64, int64, int64[::1], int64[::1], int64[::1])")
def _put(i: int, degree: int, head: Integers, after: Integers, before: Integers) -> None:
    first = head[degree]
    after[i] = first
    before[i] = -1
    if first >= 0:
        before[first] = i
    head[degree] = i


@njit("void(int64, int64, int64[::1], int64[::1], int64[::1])")
def _take(i: int, degree: int, head: Integers, after: Integers, before: Integers) -> None:
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


# --- approximate minimum degree -------------------------------------------------------------------


@njit("int64[::1](int64[::1], int64[::1], int64[::1], int64[::1])")
def approximate_degree_order(
    start: Integers, neighbours: Integers, release_start: Integers, release: Integers
) -> Integers:
    """See `biela.graph.minimum_degree`; when vertex i is gone, its `release` wait for one less.

    The list of a vertex, `lists[at[i] : at[i] + length[i]]`, holds first the `elements[i]` elements
    it belongs to, then the vertices it is joined to by edges of its own. The list of an element
    holds its vertices. A swallowed element has length 0. A vertex that became part of another one,
    and one that is gone, has weight 0.
    """
    n = len(start) - 1
    at = start[:-1].copy()
    length = np.empty(n, np.int64)
    elements = np.zeros(n, np.int64)
    degree = np.empty(n, np.int64)
    weight = np.ones(n, np.int64)  # vertices that are one
    size = np.zeros(n, np.int64)  # of an element: weight of its vertices
    blocked = np.zeros(n, np.int64)  # vertices a late one still waits for
    queued = np.zeros(n, np.bool_)
    lists = np.empty(2 * len(neighbours) + n + 1, np.int64)
    lists[: len(neighbours)] = neighbours
    free = len(neighbours)
    head = np.full(n + 1, -1, np.int64)
    after = np.full(n, -1, np.int64)
    before = np.full(n, -1, np.int64)
    member = np.full(n, -1, np.int64)  # the next vertex that is one with this
    last = np.arange(n)
    mark = np.full(n, -1, np.int64)  # step at which a vertex was seen
    outside = np.zeros(n, np.int64)  # of an element: weight that is not in the new one
    seen = np.full(n, -1, np.int64)  # step at which `outside` was set
    tag = np.full(n, -1, np.int64)
    tags = 0
    hashed = np.full(n, -1, np.int64)
    alike = np.full(n, -1, np.int64)
    key = np.zeros(n, np.int64)
    going = np.empty(n, np.int64)
    order = np.empty(n, np.int64)

    for k in range(len(release)):
        blocked[release[k]] += 1
    for i in range(n):
        length[i] = degree[i] = start[i + 1] - start[i]
    for i in range(n - 1, -1, -1):  # so that the lowest number comes first among equals
        if blocked[i] == 0:
            _put(i, degree[i], head, after, before)
            queued[i] = True

    least = 0
    done = 0
    step = -1
    while done < n:
        step += 1
        while head[least] < 0:
            least += 1
        p = head[least]
        _take(p, least, head, after, before)
        queued[p] = False
        own_weight = weight[p]
        weight[p] = 0

        # room for the new element: move what is alive to a larger array
        need = length[p]
        for k in range(at[p], at[p] + elements[p]):
            need += length[lists[k]]
        if free + need > len(lists):
            alive = need
            for i in range(n):
                alive += length[i]
            moved = np.empty(2 * alive + n + 1, np.int64)
            free = 0
            for i in range(n):
                for k in range(length[i]):
                    moved[free + k] = lists[at[i] + k]
                at[i] = free
                free += length[i]
            lists = moved

        # the new element: all vertices joined to p; it swallows the elements of p
        first = free
        total = 0
        for k in range(at[p] + elements[p], at[p] + length[p]):
            i = lists[k]
            if weight[i] > 0 and mark[i] != step:
                mark[i] = step
                total += weight[i]
                lists[free] = i
                free += 1
        for k in range(at[p], at[p] + elements[p]):
            e = lists[k]
            for m in range(at[e], at[e] + length[e]):
                i = lists[m]
                if weight[i] > 0 and mark[i] != step:
                    mark[i] = step
                    total += weight[i]
                    lists[free] = i
                    free += 1
            length[e] = 0
        at[p] = first
        length[p] = free - first
        elements[p] = 0
        left = n - done - own_weight

        # how much of each element that meets the new one lies outside of it
        for k in range(first, free):
            i = lists[k]
            for m in range(at[i], at[i] + elements[i]):
                e = lists[m]
                if length[e] == 0:
                    continue
                if seen[e] != step:
                    seen[e] = step
                    outside[e] = size[e]
                outside[e] -= weight[i]
                if outside[e] == 0:
                    length[e] = 0  # it lies within the new one, which swallows it

        # p is gone, with all that is one with it; late vertices that waited for it are let go
        count = 1
        going[0] = p
        while count > 0:
            count -= 1
            i = going[count]
            while i >= 0:
                order[done] = i
                done += 1
                for m in range(release_start[i], release_start[i + 1]):
                    j = release[m]
                    blocked[j] -= 1
                    if blocked[j] == 0 and weight[j] > 0 and mark[j] != step:
                        _put(j, degree[j], head, after, before)
                        queued[j] = True
                        least = min(least, degree[j])
                i = member[i]

        # lists and degrees of the vertices of the new element
        for k in range(first, free):
            i = lists[k]
            if queued[i]:
                _take(i, degree[i], head, after, before)
                queued[i] = False
            here = at[i]
            bound = total - weight[i]
            kept = here
            end = here + length[i]
            own = here + elements[i]
            code = p
            # at least one entry goes, p or an element p swallowed, and so p finds room
            for m in range(here, own):
                e = lists[m]
                if length[e] > 0:
                    bound += outside[e]
                    code += e
                    lists[kept] = e
                    kept += 1
            tail = kept
            for m in range(own, end):
                j = lists[m]
                if weight[j] > 0 and mark[j] != step:
                    bound += weight[j]
                    code += j
                    lists[tail] = j
                    tail += 1
            # p itself goes between: the first edge moves to the end
            lists[tail] = lists[kept]
            lists[kept] = p
            elements[i] = kept + 1 - here
            length[i] = tail + 1 - here
            degree[i] = min(min(bound, degree[i] + total - weight[i]), left - weight[i])
            key[i] = code % n

        # what has no neighbours but those of the new element goes at once: it adds nothing
        joined = total
        again = True
        while again:
            again = False
            for k in range(first, free):
                i = lists[k]
                if weight[i] > 0 and blocked[i] == 0 and length[i] == 1:
                    total -= weight[i]
                    left -= weight[i]
                    weight[i] = 0
                    length[i] = 0
                    j = i
                    while j >= 0:
                        order[done] = j
                        done += 1
                        for m in range(release_start[j], release_start[j + 1]):
                            r = release[m]
                            blocked[r] -= 1
                            if blocked[r] == 0:
                                if mark[r] == step:
                                    again = True
                                elif weight[r] > 0:
                                    _put(r, degree[r], head, after, before)
                                    queued[r] = True
                                    least = min(least, degree[r])
                        j = member[j]

        # vertices with the same lists are one from now on
        for k in range(first, free):
            i = lists[k]
            if weight[i] > 0 and blocked[i] == 0:
                alike[i] = hashed[key[i]]
                hashed[key[i]] = i
        for k in range(first, free):
            i = lists[k]
            if weight[i] == 0 or blocked[i] > 0 or hashed[key[i]] < 0:
                continue
            i = hashed[key[i]]
            hashed[key[i]] = -1
            while i >= 0:
                if weight[i] > 0 and alike[i] >= 0:
                    tags += 1
                    for m in range(at[i], at[i] + length[i]):
                        tag[lists[m]] = tags
                    j = alike[i]
                    while j >= 0:
                        if weight[j] > 0 and length[j] == length[i] and elements[j] == elements[i]:
                            same = True
                            for m in range(at[j], at[j] + length[j]):
                                if tag[lists[m]] != tags:
                                    same = False
                                    break
                            if same:
                                weight[i] += weight[j]
                                degree[i] -= weight[j]
                                weight[j] = 0
                                length[j] = 0
                                member[last[i]] = j
                                last[i] = last[j]
                        j = alike[j]
                i = alike[i]

        # what is left of the new element
        kept = first
        for k in range(first, free):
            i = lists[k]
            if weight[i] > 0:
                lists[kept] = i
                kept += 1
                degree[i] = max(min(degree[i] - (joined - total), left - weight[i]), 0)
                if blocked[i] == 0:
                    _put(i, degree[i], head, after, before)
                    queued[i] = True
                    least = min(least, degree[i])
        free = kept
        length[p] = free - first
        size[p] = total
    return order
