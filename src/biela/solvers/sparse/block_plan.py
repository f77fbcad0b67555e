"""The plan of a block LDLᵀ: everything about a pattern that its numbers do not change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biela.errors import ShapeError
from biela.graph import adjacency, elimination_tree, factor_pattern, postorder, renumbered
from biela.graph.adjacency import integer_array
from biela.solvers.sparse.front_code import compile_kinds
from biela.solvers.sparse.front_kind import COUNTED, PAIR, Child, FrontKind
from biela.solvers.sparse.pattern import SymmetricPattern

__all__ = ["BlockPlan", "block_plan"]

Integers = NDArray[np.int64]

#: Rows that a front may reach by merging that computes with zeros.
LARGEST = 24
#: Fronts of more multiplications get no code of their own.
OPERATIONS = 3000
#: Code for so many multiplications in all is made without asking; it takes half a second.
AT_ONCE = 2000
#: What is longer must repeat so often; compilation is then worth some ten thousand factorisations.
REPEATED = 20
#: A kind worth compiling for takes at least this part of all work.
PART = 0.002
#: First numbers of the work array, which no front uses.
ORIGIN = 8


@dataclass(frozen=True, eq=False)
class BlockPlan:
    """Order, fronts, places and native code for one pattern.

    Attributes:
        plan: 32-bit integers for the routines of `block_routines`.
        addresses: of native code, four a kind of front.
        room: length of the work array.
        order: unknown `order[k]` is the k-th to be eliminated.
        pairs: unknowns without inertia and the constraint each is eliminated with.
        fronts: how many there are, and how many go through native code of their kind.
        kinds: number of kinds with code of their own.
        fill: numbers kept in the factors.
    """

    plan: NDArray[np.int32]
    addresses: Integers
    room: int
    order: Integers
    pairs: Integers
    fronts: tuple[int, int]
    kinds: int
    fill: int
    code: Any


def block_plan(
    pattern: SymmetricPattern,
    late: ArrayLike = (),
    blocks: ArrayLike | None = None,
    values: ArrayLike | None = None,
    most_kinds: int = 24,
) -> BlockPlan:
    """Analyse a pattern; see `BlockLDLT` for the arguments.

    Raises:
        ShapeError: blocks that do not add up to the unknowns or mix late rows with others, or a
            matrix whose factors have more than 2³¹ numbers.
    """
    from biela.graph.compiled import minimum_degree_order
    from biela.solvers.sparse import front_masks, fronts
    from biela.solvers.sparse.pairing import inertia_less_pairs

    n = pattern.size
    is_late = np.zeros(n, dtype=np.bool_)
    late = integer_array("late", late)
    if len(late) and not (late.min() >= 0 and late.max() < n):
        raise ShapeError(f"a late row is not one of the {n} of the matrix")
    is_late[late] = True
    block = _blocks(n, blocks, is_late)
    pairs = inertia_less_pairs(pattern, is_late, values)
    vertex, members, start, level, starts_pair = _vertices(block, is_late, pairs)

    count = len(start) - 1
    graph = adjacency(count, vertex[pattern.rows], vertex[pattern.columns])
    order: Integers = minimum_degree_order(graph.start, graph.neighbours, level)
    order = order[postorder(elimination_tree(renumbered(graph, order)))]
    new = renumbered(graph, order)
    parent = elimination_tree(new)
    L = factor_pattern(new, parent)

    # the unknowns of the vertices in their new order
    sizes = np.diff(start)[order]
    member_start = np.concatenate([[0], np.cumsum(sizes)])
    shift = np.repeat(start[:-1][order] - member_start[:-1], sizes)
    members = members[np.arange(n) + shift]
    starts_pair = starts_pair[np.arange(n) + shift]
    below = np.concatenate([[0], np.cumsum(sizes[L.rows])])
    height = np.diff(below[L.start])

    merged = fronts.merge(parent, sizes, height, LARGEST)
    front, top, above, vertices = fronts.front_order(parent, merged)
    numbers = np.arange(n)
    order, first, row_start, rows = fronts.front_rows(
        vertices, numbers, member_start, top, front, L.start, L.rows
    )
    starts_pair, order = starts_pair[order], members[order]
    number = np.empty(n, dtype=np.int64)
    number[order] = numbers
    w, h = np.diff(first), np.diff(row_start)
    front_of = np.repeat(np.arange(len(w)), w)
    entry_start, source, place = front_masks.entry_places(
        pattern.rows, pattern.columns, number, front_of, first, row_start, rows
    )
    local = fronts.local_rows(first, above, row_start, rows)
    child_start, children = fronts.children_of(above)

    # unknowns with inertia of their own need no sums of magnitudes
    roles = np.full(n, COUNTED, dtype=np.int64)
    inertia = pattern.rows[pattern.rows == pattern.columns]
    roles[number[inertia[~is_late[inertia]]]] = 0
    roles[number[pairs.ravel()]] = COUNTED
    roles |= starts_pair * PAIR

    alike = _Alike(
        w, h, first, row_start, rows, entry_start, place, roles, child_start, children, local
    )
    kind, kinds = alike.kinds(most_kinds)
    code, addresses = compile_kinds(kinds)
    room = 2 * w + w * (w + h)
    if kinds:
        own = np.array([k.room for k in kinds])
        room = np.where(kind >= 0, own[kind], room)
    panel = ORIGIN + np.concatenate([[0], np.cumsum(room)])
    rest, end = fronts.remainders(above, h, child_start, children, int(panel[-1]))
    if end >= 2**31:
        raise ShapeError(
            f"the factors take {end:.1e} numbers and may take 2e9; give another order or blocks"
        )
    parts = [kind, first, row_start, rows, local, entry_start, place, child_start, children, roles]
    lists, data = _lists(
        (panel[:-1], rest),
        (w, order),
        (h, order[rows]),
        (np.diff(entry_start), source),
        (np.diff(child_start), rest[children]),
    )
    return BlockPlan(
        _joined([n, len(w), len(pattern.rows)], lists, parts, data),
        np.array(addresses, dtype=np.int64),
        end,
        order,
        pairs,
        (len(w), int(np.count_nonzero(kind >= 0))),
        len(kinds),
        int(np.sum(w * (w + 1) // 2 + w * h)),
        code,
    )


def _blocks(n: int, blocks: ArrayLike | None, is_late: NDArray[np.bool_]) -> Integers:
    """Number of the block of each unknown."""
    if blocks is None:
        return np.arange(n)
    sizes = integer_array("blocks", blocks)
    if np.any(sizes < 1) or sizes.sum() != n:
        raise ShapeError(
            f"blocks have at least one unknown each and {n} in all; these have {sizes.sum()}"
        )
    block = np.repeat(np.arange(len(sizes)), sizes)
    some = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(some, block, is_late)
    mixed = np.flatnonzero((some > 0) & (some < sizes))
    if len(mixed):
        raise ShapeError(
            f"block {mixed[0]} has late rows and others; give multipliers blocks of their own"
        )
    return block


def _vertices(
    block: Integers, is_late: NDArray[np.bool_], pairs: Integers
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Vertices of the graph: blocks less the unknowns in pairs, and the pairs.

    Returns the vertex of each unknown; the unknowns by vertex and where each vertex starts; the
    level of each vertex (unknowns, pairs and multipliers wait for those before); and for each of
    the unknowns by vertex whether a pair starts with it.
    """
    n = len(block)
    vertex = block.copy()
    blocks = int(block.max()) + 1 if n else 0
    rank = np.zeros(n, dtype=np.int64)
    for side in (0, 1):
        vertex[pairs[:, side]] = blocks + np.arange(len(pairs))
        rank[pairs[:, side]] = side
    _, vertex = np.unique(vertex, return_inverse=True)
    count = int(vertex.max()) + 1 if n else 0
    members = np.lexsort((rank, vertex)) if len(pairs) else np.argsort(vertex, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(vertex, minlength=count))])
    level = np.zeros(count, dtype=np.int64)
    level[vertex[is_late]] = 2
    level[vertex[pairs.ravel()]] = 1
    in_pair = np.zeros(n, dtype=np.int64)
    in_pair[pairs[:, 0]] = 1
    return vertex, members, start.astype(np.int64), level, in_pair[members]


@dataclass(frozen=True, eq=False)
class _Alike:
    """Which fronts are alike; the arrays are those of `fronts`."""

    w: Integers
    h: Integers
    first: Integers
    row_start: Integers
    rows: Integers
    entry_start: Integers
    place: Integers
    roles: Integers
    child_start: Integers
    children: Integers
    local: Integers

    def kinds(self, most: int) -> tuple[Integers, tuple[FrontKind, ...]]:
        """The kind of each front, -1 if it is not worth code of its own, and those kinds."""
        from biela.solvers.sparse.front_masks import front_masks
        from biela.solvers.sparse.fronts import work

        at, masks, hashes = front_masks(
            *(self.first, self.row_start, self.rows, self.local, self.child_start, self.children),
            *(self.entry_start, self.place, self.roles),
        )
        kind = np.full(len(self.w), -1, dtype=np.int64)
        # two hashes of 64 bits: fronts that agree in both are alike
        words = np.ascontiguousarray(hashes).view([("p", np.uint64), ("q", np.uint64)]).ravel()
        found, example, group, counts = np.unique(
            words, return_index=True, return_inverse=True, return_counts=True
        )
        cost = np.array([work(self.w[s], self.h[s]) for s in example.tolist()]) * counts
        cost[found["p"] == 0] = 0.0
        chosen: list[FrontKind] = []
        written = 0
        for g in np.argsort(-cost, kind="stable")[: 4 * most].tolist():
            if len(chosen) == most or cost[g] < PART * cost.sum() or cost[g] == 0.0:
                break
            candidate = self.kind(int(example[g]), at, masks)
            length = candidate.operations
            wanted = written + length <= AT_ONCE or counts[g] >= REPEATED
            if length <= OPERATIONS and wanted:
                written += length
                kind[group == g] = len(chosen)
                chosen.append(candidate)
        return kind, tuple(chosen)

    def kind(self, s: int, at: Integers, masks: NDArray[np.uint64]) -> FrontKind:
        """The kind of one front."""
        w, h = int(self.w[s]), int(self.h[s])
        below = self.rows[self.row_start[s] : self.row_start[s + 1]]
        numbers = np.concatenate([np.arange(self.first[s], self.first[s + 1]), below])
        places = self.place[self.entry_start[s] : self.entry_start[s + 1]].tolist()
        children = []
        for c in self.children[self.child_start[s] : self.child_start[s + 1]].tolist():
            size = int(self.h[c])
            bits = [b & ((1 << size) - 1) for b in masks[at[c] : at[c] + size].tolist()]
            local = self.local[self.row_start[c] : self.row_start[c + 1]].tolist()
            children.append(Child(tuple(local), tuple(bits)))
        return FrontKind(
            w,
            h,
            tuple((p % (w + h), p // (w + h)) for p in places),
            tuple(self.roles[numbers].tolist()),
            tuple(children),
        )


def _lists(
    heads: tuple[Integers, Integers], *parts: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """One list a front, side by side: two numbers, then of each part as many as it has.

    Returns where each list starts, and the numbers.
    """
    sizes = np.full(len(heads[0]), 2, dtype=np.int64)
    for counts, _ in parts:
        sizes += counts
    start = np.cumsum(sizes) - sizes
    data = np.empty(sizes.sum(), dtype=np.int64)
    data[start], data[start + 1] = heads
    at = start + 2
    for counts, values in parts:
        before = np.cumsum(counts) - counts
        data[np.repeat(at - before, counts) + np.arange(len(values))] = values
        at = at + counts
    return start, data


def _joined(
    counts: list[int], list_start: Integers, parts: list[Integers], lists: Integers
) -> NDArray[np.int32]:
    """One array: header, parts and lists; the start of each list is a place in the whole."""
    from biela.solvers.sparse.front_loops import HEADER

    sizes = [len(HEADER), len(list_start), *(len(p) for p in parts)]
    starts = np.cumsum(sizes)
    header = [*counts, *starts.tolist()]
    assert len(header) == len(HEADER)
    return np.concatenate([header, list_start + starts[-1], *parts, lists]).astype(np.int32)
