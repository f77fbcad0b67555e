"""Level structures and what rests on them, compiled.  Import it inside functions."""

from __future__ import annotations

import numpy as np

from biela.graph.adjacency import Integers
from biela.jit import njit

__all__ = ["cuthill_mckee_order", "dissection", "far_end"]


@njit(
    "Tuple((int64, int64))(int64[::1], int64[::1], int64, int64[::1], int64, int64[::1], "
    "int64[::1])",
)
def _levels(
    start: Integers,
    neighbours: Integers,
    root: int,
    part: Integers,
    inside: int,
    level: Integers,
    queue: Integers,
) -> tuple[int, int]:
    """Breadth first from a root within one part; returns how many were reached, and levels.

    `level` of the vertices of the part must be -1; `queue` holds them in the order of levels.
    """
    queue[0] = root
    level[root] = 0
    count = 1
    at = 0
    while at < count:
        v = queue[at]
        at += 1
        for k in range(start[v], start[v + 1]):
            w = neighbours[k]
            if part[w] == inside and level[w] < 0:
                level[w] = level[v] + 1
                queue[count] = w
                count += 1
    return count, level[queue[count - 1]] + 1


@njit(
    "Tuple((int64, int64, int64))(int64[::1], int64[::1], int64, int64[::1], int64, int64[::1], "
    "int64[::1])",
)
def far_end(
    start: Integers,
    neighbours: Integers,
    root: int,
    part: Integers,
    inside: int,
    level: Integers,
    queue: Integers,
) -> tuple[int, int, int]:
    """A pseudo-peripheral vertex of the part of a root; its levels are left in `level`, `queue`.

    Returns the vertex, how many vertices it reaches, and the number of levels.
    """
    count, depth = _levels(start, neighbours, root, part, inside, level, queue)
    while True:
        x = -1
        for k in range(count - 1, -1, -1):
            v = queue[k]
            if level[v] < depth - 1:
                break
            if x < 0:
                x = v
                continue
            d, e = start[v + 1] - start[v], start[x + 1] - start[x]
            if d < e or (d == e and v < x):
                x = v
        for k in range(count):
            level[queue[k]] = -1
        count, further = _levels(start, neighbours, x, part, inside, level, queue)
        if further <= depth:
            return x, count, further
        depth = further


@njit("int64[::1](int64[::1], int64[::1], int64[::1])")
def cuthill_mckee_order(start: Integers, neighbours: Integers, by_degree: Integers) -> Integers:
    """See `biela.graph.cuthill_mckee`; `by_degree` are all vertices, the least ones first."""
    n = len(start) - 1
    part = np.zeros(n, np.int64)
    level = np.full(n, -1, np.int64)
    queue = np.empty(n + 1, np.int64)
    order = np.empty(n, np.int64)
    found = np.empty(n + 1, np.int64)
    done = 0
    for s in by_degree:
        if part[s] != 0:
            continue
        root, _, _ = far_end(start, neighbours, s, part, 0, level, queue)
        order[done] = root
        part[root] = 1
        at = done
        done += 1
        while at < done:
            v = order[at]
            at += 1
            count = 0
            for k in range(start[v], start[v + 1]):
                w = neighbours[k]
                if part[w] == 0:
                    part[w] = 1
                    # insertion by degree, then by number: neighbours come in increasing order
                    d = start[w + 1] - start[w]
                    m = count
                    while m > 0 and start[found[m - 1] + 1] - start[found[m - 1]] > d:
                        found[m] = found[m - 1]
                        m -= 1
                    found[m] = w
                    count += 1
            for m in range(count):
                order[done] = found[m]
                done += 1
    return order


@njit("int64[::1](int64[::1], int64[::1], int64)")
def dissection(start: Integers, neighbours: Integers, leaf: int) -> Integers:
    """See `biela.graph.nested_dissection`: a number for the leaf or separator of each vertex.

    Separators have higher numbers than what they separate.
    """
    n = len(start) - 1
    part = np.zeros(n, np.int64)  # -1 once the number of a vertex is known
    turn = np.full(n, -1, np.int64)  # round in which a vertex was looked at last
    level = np.full(n, -1, np.int64)
    queue = np.empty(n + 1, np.int64)
    width = np.zeros(n + 2, np.int64)
    number = np.empty(n, np.int64)
    following = n
    parts = 1
    left = n
    now = 0
    while left > 0:
        for s in range(n):
            if part[s] < 0 or turn[s] == now:
                continue
            _, count, deep = far_end(start, neighbours, s, part, part[s], level, queue)
            following -= 1
            if count <= leaf or deep < 3:
                for k in range(count):
                    v = queue[k]
                    number[v] = following
                    part[v] = -1
                    level[v] = -1
                left -= count
                continue
            # the narrowest of the levels that leave at least a third on either side
            for k in range(count):
                width[level[queue[k]]] += 1
            cut = -1
            middle = 1
            below = width[0]
            for k in range(1, deep - 1):
                if 2 * below < count:
                    middle = k
                balanced = 3 * below >= count and 3 * (below + width[k]) <= 2 * count
                if balanced and (cut < 0 or width[k] < width[cut]):
                    cut = k
                below += width[k]
            if cut < 0:
                cut = middle
            for k in range(deep):
                width[k] = 0
            for k in range(count):
                v = queue[k]
                turn[v] = now
                if level[v] > cut:
                    part[v] = parts + 1
                elif level[v] < cut:
                    part[v] = parts
            # of that level only what touches the next one separates
            for k in range(count):
                v = queue[k]
                if level[v] == cut:
                    part[v] = parts
                    for m in range(start[v], start[v + 1]):
                        if part[neighbours[m]] == parts + 1:
                            part[v] = -1
                            number[v] = following
                            left -= 1
                            break
            for k in range(count):
                level[queue[k]] = -1
            parts += 2
        now += 1
    return number
