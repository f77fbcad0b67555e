"""Units on nodes: assignments, parts, order; compared with scipy and with brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from biela.errors import ShapeError
from biela.graph.structure import ColouredGraph, Units, assigned, canonical, condensed


def random_units(seed: int) -> Units:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 9))
    capacity = rng.integers(1, 5, nodes).tolist()
    count = int(rng.integers(0, sum(capacity) + 3))
    touched = [
        rng.choice(nodes, int(rng.integers(1, min(nodes, 4) + 1)), replace=False).tolist()
        for _ in range(count)
    ]
    return Units.of(capacity, touched)


def largest_assignment(units: Units, removed: int = -1, doubled: int = -1) -> int:
    """By scipy, with a copy of a node for each of its unknowns; one unit or one copy may change."""
    capacity = units.capacity.copy()
    if doubled >= 0:
        capacity[doubled] += 1
    copies = [
        np.flatnonzero(np.repeat(np.arange(units.nodes), capacity) == c) for c in range(units.nodes)
    ]
    rows, columns = [], []
    for u in range(units.count):
        if u != removed:
            for c in units.entries[units.start[u] : units.start[u + 1]]:
                rows += [u] * len(copies[c])
                columns += copies[c].tolist()
    shape = (max(units.count, 1), int(capacity.sum()))
    graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_as_many_units_are_assigned_as_scipy_can_match(seed: int) -> None:
    units = random_units(seed)
    found = assigned(units)
    given_to = found.head >= 0
    assert int(given_to.sum()) == largest_assignment(units)
    for u in np.flatnonzero(given_to):
        assert found.head[u] in units.entries[units.start[u] : units.start[u + 1]]
    load = np.bincount(found.head[given_to], minlength=units.nodes)
    assert (load <= units.capacity).all()


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_node_is_under_determined_if_one_unit_less_room_would_not_hurt(seed: int) -> None:
    """That is the definition by Dulmage and Mendelsohn: some largest assignment leaves room."""
    units = random_units(seed)
    found = assigned(units)
    most = largest_assignment(units)
    for c in range(units.nodes):
        smaller = Units(units.capacity.copy(), units.start, units.entries)
        smaller.capacity[c] -= 1
        assert found.under[c] == (largest_assignment(smaller) == most)
        # an over-determined node would take one unit more
        assert found.over[c] == (largest_assignment(units, doubled=c) > most)


def test_a_chain_of_four_bars_is_solved_from_its_crank_on() -> None:
    touched = [[0]] * 3
    for k in range(500):
        coupler, rocker, before = 2 * k + 1, 2 * k + 2, 2 * k
        touched += [[before, coupler]] * 2 + [[coupler, rocker]] * 2 + [[rocker]] * 2
    units = Units.of([3] * 1001, touched)
    found = assigned(units)
    assert found.missing == 0 and not len(found.spare)
    head = found.head[units.of_entries]
    arrows = head != units.entries
    order = condensed(1001, units.entries[arrows], head[arrows])
    assert order.part.tolist() == [0, *(1 + k // 2 for k in range(1000))]
    assert order.level.tolist() == list(range(501))


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_the_groups_do_not_depend_on_the_order_of_units(seed: int) -> None:
    """Well-determined units in two orders: heads may differ, strong components may not."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 8))
    touched = []
    for c in range(nodes):  # every node gets its units, with others beside it
        for _ in range(3):
            others = rng.choice(nodes, int(rng.integers(0, 3)), replace=False).tolist()
            touched.append([c, *others])
    parts = []
    for _ in range(2):
        units = Units.of([3] * nodes, touched)
        found = assigned(units)
        head = found.head[units.of_entries]
        arrows = head != units.entries
        order = condensed(nodes, units.entries[arrows], head[arrows])
        parts.append(order.part.tolist())
        rng.shuffle(touched)
    assert found.missing == 0
    assert parts[0] == parts[1]


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_strong_components_are_those_of_scipy_and_come_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 20)), int(rng.integers(0, 40))
    tails, heads = rng.integers(0, n, m), rng.integers(0, n, m)
    found = condensed(n, tails, heads)
    graph = csr_matrix((np.ones(m), (tails, heads)), shape=(n, n))
    count, label = connected_components(graph, directed=True, connection="strong")
    assert found.count == count
    assert len({(int(a), int(b)) for a, b in zip(label, found.part, strict=True)}) == count
    assert (found.part[tails] <= found.part[heads]).all()
    apart = found.part[tails] != found.part[heads]
    assert (found.level[found.part[tails[apart]]] < found.level[found.part[heads[apart]]]).all()


def test_of_several_sets_that_may_come_next_the_one_with_the_lowest_node_does() -> None:
    found = condensed(5, np.array([3, 3]), np.array([0, 4]))
    assert found.part.tolist() == [3, 0, 1, 2, 4]
    assert found.before() == [[], [], [], [2], [2]]


def test_a_unit_on_a_node_that_is_not_there_is_refused() -> None:
    with pytest.raises(ShapeError, match="not one of the 2"):
        Units.of([1, 1], [[2]])
    with pytest.raises(ShapeError, match="there are 1 vertices"):
        ColouredGraph(("a",), ((0, 1, ""),))


# ------------------------------------------------------------------------- canonical labels


def random_graph(seed: int) -> ColouredGraph:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    colours = tuple(str(rng.choice(["a", "b"], p=[0.8, 0.2])) for _ in range(n))
    edges = tuple(
        (a, b, str(rng.choice(["", "x"], p=[0.8, 0.2])))
        for a in range(n)
        for b in range(a)
        if rng.random() < 0.45
    )
    return ColouredGraph(colours, edges)


def renumbered(graph: ColouredGraph, order: list[int]) -> ColouredGraph:
    """Vertex order[k] of the new graph is vertex k of the old one."""
    colours = [""] * len(order)
    for k, v in enumerate(order):
        colours[v] = graph.colours[k]
    edges = tuple((order[b], order[a], c) for a, b, c in reversed(graph.edges))
    return ColouredGraph(tuple(colours), edges)


def plain(graph: ColouredGraph, order: tuple[int, ...]) -> tuple[object, object]:
    place = {v: k for k, v in enumerate(order)}
    edges = sorted((*sorted((place[a], place[b])), c) for a, b, c in graph.edges)
    return [graph.colours[v] for v in order], edges


@given(st.integers(0, 10_000), st.integers(0, 10_000))
@settings(deadline=None)
def test_renumbering_a_graph_changes_neither_its_label_nor_its_canonical_form(
    seed: int, other: int
) -> None:
    graph = random_graph(seed)
    order = np.random.default_rng(other).permutation(len(graph.colours)).tolist()
    again = renumbered(graph, order)
    one, two = canonical(graph), canonical(again)
    assert one.label == two.label
    assert plain(graph, one.order) == plain(again, two.order)


@given(st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None)
def test_graphs_have_one_label_only_if_one_is_the_other_renumbered(seed: int, other: int) -> None:
    one, two = random_graph(seed), random_graph(other)
    n = len(one.colours)
    same = n == len(two.colours) and any(
        plain(one, tuple(range(n))) == plain(two, order) for order in permutations(range(n))
    )
    assert (canonical(one).label == canonical(two).label) == same


def test_six_equal_legs_need_no_720_tries() -> None:
    """A ground, a platform and six legs of two bodies: the label is there in a moment."""
    colours, edges = ["ground", "platform"], []
    for k in range(6):
        a = 2 + 2 * k
        colours += ["cylinder", "piston"]
        edges += [(0, a, ""), (a, a + 1, ""), (a + 1, 1, "")]
    graph = ColouredGraph(tuple(colours), tuple(edges))
    order = [0, 1, *np.random.default_rng(1).permutation(np.arange(2, 14)).tolist()]
    assert canonical(graph).label == canonical(renumbered(graph, order)).label


def test_regular_graphs_that_refinement_cannot_tell_apart_have_different_labels() -> None:
    """A hexagon and two triangles: all vertices look alike until one is singled out."""
    ring = tuple((k, (k + 1) % 6, "") for k in range(6))
    pair = tuple((3 * t + k, 3 * t + (k + 1) % 3, "") for t in range(2) for k in range(3))
    colours = ("",) * 6
    one, two = ColouredGraph(colours, ring), ColouredGraph(colours, pair)
    assert canonical(one).label != canonical(two).label
