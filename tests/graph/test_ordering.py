from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.errors import ShapeError
from biela.graph import (
    Adjacency,
    adjacency,
    elimination_tree,
    factor_pattern,
    minimum_degree,
    postorder,
    renumbered,
)


def eliminated(graph: Adjacency, order: np.ndarray) -> list[set[int]]:
    """Play the elimination with sets: the later neighbours each vertex has when it goes."""
    joined = [set(graph.of(i).tolist()) for i in range(graph.size)]
    columns = []
    for v in order.tolist():
        columns.append(joined[v])
        for i in joined[v]:
            joined[i] |= joined[v]
            joined[i] -= {i, v}
    return columns


def fill(graph: Adjacency, order: np.ndarray) -> int:
    new = renumbered(graph, order)
    return factor_pattern(new, elimination_tree(new)).fill


def random_graph(rng: np.random.Generator, n: int, edges: int) -> Adjacency:
    return adjacency(n, rng.integers(0, n, edges), rng.integers(0, n, edges))


def grid(side: int) -> Adjacency:
    k = np.arange(side * side).reshape(side, side)
    first = np.concatenate([k[:, :-1].ravel(), k[:-1].ravel()])
    second = np.concatenate([k[:, 1:].ravel(), k[1:].ravel()])
    return adjacency(side * side, first, second)


def chain(pairs: int) -> tuple[Adjacency, np.ndarray]:
    """Bodies 0…pairs in a row, and a multiplier between each two."""
    multipliers = np.arange(pairs) + pairs + 1
    first = np.concatenate([multipliers, multipliers])
    second = np.concatenate([np.arange(pairs), np.arange(pairs) + 1])
    return adjacency(2 * pairs + 1, first, second), multipliers


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 30), st.integers(0, 90), st.integers(0, 2**32 - 1))
def test_order_is_a_permutation_and_late_vertices_follow_their_neighbours(
    n: int, edges: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, edges)
    late = np.flatnonzero(rng.random(n) < 0.4)
    order = minimum_degree(graph, late)
    assert sorted(order.tolist()) == list(range(n))
    place = np.argsort(order)
    for v in late:
        early = np.setdiff1d(graph.of(v), late)
        assert all(place[early] < place[v])


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 25), st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_pattern_and_tree_are_those_of_an_elimination_with_sets(
    n: int, edges: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, edges)
    order = rng.permutation(n)
    new = renumbered(graph, order)
    parent = elimination_tree(new)
    pattern = factor_pattern(new, parent)
    place = np.argsort(order)
    for j, rows in enumerate(eliminated(graph, order)):
        expected = sorted(place[list(rows)].tolist())
        assert pattern.rows[pattern.start[j] : pattern.start[j + 1]].tolist() == expected
        assert parent[j] == (expected[0] if expected else -1)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 25), st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_postorder_keeps_the_fill_and_puts_children_just_before_their_parent(
    n: int, edges: int, seed: int
) -> None:
    graph = random_graph(np.random.default_rng(seed), n, edges)
    parent = elimination_tree(graph)
    order = postorder(parent)
    assert sorted(order.tolist()) == list(range(n))
    assert fill(graph, order) == factor_pattern(graph, parent).fill
    new_parent = elimination_tree(renumbered(graph, order))
    has_parent = new_parent >= 0
    assert np.all(new_parent[has_parent] > np.flatnonzero(has_parent))
    # the subtree of each vertex is an unbroken run of numbers that ends with it
    first = np.arange(n)
    for j in np.flatnonzero(has_parent):
        first[new_parent[j]] = min(first[new_parent[j]], first[j])
    children = [np.flatnonzero(new_parent == j) for j in range(n)]
    sizes = np.ones(n, dtype=int)
    for j in range(n):
        sizes[j] += sizes[children[j]].sum()
        assert first[j] == j - sizes[j] + 1


def test_trees_have_no_fill() -> None:
    rng = np.random.default_rng(3)
    n = 400
    parents = [rng.integers(0, i) for i in range(1, n)]
    graph = adjacency(n, np.arange(1, n), np.array(parents))
    assert fill(graph, minimum_degree(graph)) == n - 1


def test_degrees_are_close_to_the_exact_ones() -> None:
    # exact minimum degree, played with sets: the approximate one must not fill much more
    for seed in range(5):
        graph = random_graph(np.random.default_rng(seed), 60, 120)
        joined = {i: set(graph.of(i).tolist()) for i in range(60)}
        exact = 0
        while joined:
            v = min(joined, key=lambda i: (len(joined[i]), i))
            row = joined.pop(v)
            exact += len(row)
            for i in row:
                joined[i] = (joined[i] | row) - {i, v}
        assert fill(graph, minimum_degree(graph)) <= 1.15 * exact


def test_grid_is_ordered_better_than_by_rows() -> None:
    graph = grid(40)
    by_rows = fill(graph, np.arange(1600))
    assert fill(graph, minimum_degree(graph)) < 0.45 * by_rows


@pytest.mark.parametrize("pairs", [1, 10, 20_000])
def test_constrained_order_of_a_chain_has_fill_in_proportion_to_its_length(pairs: int) -> None:
    graph, multipliers = chain(pairs)
    assert fill(graph, minimum_degree(graph, multipliers)) <= 3 * pairs


def test_a_vertex_that_touches_all_others_goes_last() -> None:
    # as the ground would: eliminated first it would join all the others
    n = 5_000
    hub = np.full(n - 1, n - 1)
    graph = adjacency(n, np.arange(n - 1), hub)
    assert minimum_degree(graph).tolist()[: n - 2] == list(range(n - 2))


def test_dense_graph_and_empty_graph_are_ordered() -> None:
    first, second = np.triu_indices(12, 1)
    assert sorted(minimum_degree(adjacency(12, first, second)).tolist()) == list(range(12))
    assert minimum_degree(adjacency(0, [], [])).tolist() == []
    assert minimum_degree(adjacency(3, [], []), [1]).tolist() == [0, 1, 2]


def test_order_depends_on_the_graph_only() -> None:
    graph = grid(12)
    again = adjacency(144, graph.neighbours, np.repeat(np.arange(144), np.diff(graph.start)))
    np.testing.assert_array_equal(minimum_degree(graph), minimum_degree(again))


def test_repeated_edges_and_diagonal_entries_do_not_count() -> None:
    graph = adjacency(3, [0, 1, 1, 2], [1, 0, 1, 1])
    assert [graph.of(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]


def test_wrong_vertices_are_named() -> None:
    with pytest.raises(ShapeError, match="vertex 3 is not one of the 3"):
        adjacency(3, [0, 3], [1, 1])
    with pytest.raises(ShapeError, match="2 first and 1 second"):
        adjacency(3, [0, 1], [1])
    with pytest.raises(ShapeError, match="late vertex -1"):
        minimum_degree(adjacency(3, [0], [1]), [-1])
    with pytest.raises(ShapeError, match="vector of integers"):
        adjacency(3, [0.5], [1])
