from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee as scipy_order

from biela.errors import ShapeError
from biela.graph import Adjacency, Pattern, adjacency, minimum_degree, renumbered, symbolic_fill
from biela.graph.cost import bandwidth, profile
from biela.graph.ordering import (
    cuthill_mckee,
    deferred,
    exact_minimum_degree,
    king,
    minimum_degree_after,
    minimum_degree_by_level,
    nested_dissection,
    reverse_cuthill_mckee,
    sloan,
)


def random_graph(rng: np.random.Generator, n: int, edges: int) -> Adjacency:
    return adjacency(n, rng.integers(0, n, edges), rng.integers(0, n, edges))


def grid(rows: int, columns: int) -> Adjacency:
    k = np.arange(rows * columns).reshape(rows, columns)
    first = np.concatenate([k[:, :-1].ravel(), k[:-1].ravel()])
    second = np.concatenate([k[:, 1:].ravel(), k[1:].ravel()])
    return adjacency(rows * columns, first, second)


def shuffled(graph: Adjacency, seed: int = 0) -> Adjacency:
    return renumbered(graph, np.random.default_rng(seed).permutation(graph.size))


def ordered(graph: Adjacency, order: np.ndarray) -> Pattern:
    new = renumbered(graph, np.asarray(order, dtype=np.int64))
    return Pattern(new.size, new.start, new.neighbours)


def test_every_order_is_a_permutation() -> None:
    rng = np.random.default_rng(0)
    orders = (cuthill_mckee, reverse_cuthill_mckee, king, sloan, nested_dissection)
    for _ in range(300):
        n = int(rng.integers(0, 40)) or 1
        graph = random_graph(rng, n, int(rng.integers(0, 2 * n)))
        for order in orders:
            assert sorted(order(graph).tolist()) == list(range(n))
        assert sorted(nested_dissection(graph, leaf=2).tolist()) == list(range(n))
        assert sorted(minimum_degree(graph).tolist()) == list(range(n))


def test_exact_minimum_degree_is_the_one_played_with_sets() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 30))
        graph = random_graph(rng, n, int(rng.integers(0, 3 * n)))
        joined = {v: set(graph.of(v).tolist()) for v in range(n)}
        order = []
        while joined:
            v = min(joined, key=lambda v: (len(joined[v]), v))
            order.append(v)
            for i in joined[v]:
                joined[i] = (joined[i] | joined[v]) - {i, v}
            del joined[v]
        assert exact_minimum_degree(graph).tolist() == order


def test_approximate_degrees_fill_hardly_more_than_exact_ones() -> None:
    rng = np.random.default_rng(2)
    approximate = exact = 0
    for _ in range(300):
        graph = random_graph(rng, 60, 100)
        approximate += symbolic_fill(graph, minimum_degree(graph)).storage
        exact += symbolic_fill(graph, exact_minimum_degree(graph)).storage
    assert approximate < 1.02 * exact
    net = shuffled(grid(50, 50))
    by_exact = symbolic_fill(net, exact_minimum_degree(net)).operations
    assert symbolic_fill(net, minimum_degree(net)).operations < 1.2 * by_exact


def test_vertices_with_the_same_neighbours_go_together() -> None:
    # blocks of six that are neighbours as a whole, as the unknowns of bodies are
    rng = np.random.default_rng(3)
    tree = [(k, int(rng.integers(0, k))) for k in range(1, 40)]
    first = [6 * a + i for a, b in tree for i in range(6) for j in range(6)]
    second = [6 * b + j for a, b in tree for i in range(6) for j in range(6)]
    i, j = np.triu_indices(6, 1)
    inside = np.arange(40)[:, None] * 6
    graph = adjacency(
        240,
        np.concatenate([first, (inside + i).ravel()]),
        np.concatenate([second, (inside + j).ravel()]),
    )
    assert symbolic_fill(graph, minimum_degree(graph)).fill == 0


def test_vertices_wait_for_those_they_are_told_to() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        n = int(rng.integers(2, 30))
        graph = random_graph(rng, n, 2 * n)
        hidden = rng.permutation(n)
        a, b = rng.integers(0, n, (2, n))
        later, earlier = np.maximum(a, b)[a != b], np.minimum(a, b)[a != b]
        order = minimum_degree_after(graph, hidden[later], hidden[earlier])
        assert sorted(order.tolist()) == list(range(n))
        place = np.argsort(order)
        assert np.all(place[hidden[later]] > place[hidden[earlier]])
        level = rng.integers(0, 3, n)
        place = np.argsort(minimum_degree_by_level(graph, level))
        for v in range(n):
            lower = [w for w in graph.of(v) if level[w] < level[v]]
            assert np.all(place[lower] < place[v])


def test_vertices_that_wait_for_each_other_are_refused() -> None:
    graph = adjacency(3, [0, 1], [1, 2])
    with pytest.raises(ShapeError, match="waits for itself by way of others"):
        minimum_degree_after(graph, [0, 1, 2], [1, 2, 0])
    with pytest.raises(ShapeError, match="awaited vertex 9"):
        minimum_degree_after(graph, [0], [9])
    with pytest.raises(ShapeError, match="2 vertices wait and 1"):
        minimum_degree_after(graph, [0, 1], [2])


def test_the_band_of_cuthill_mckee_is_as_narrow_as_that_of_scipy() -> None:
    rng = np.random.default_rng(5)
    ours = theirs = 0
    for k in range(200):
        graph = random_graph(rng, 40, 45)
        A = sparse.csr_matrix(
            (np.ones(len(graph.neighbours)), graph.neighbours, graph.start), shape=(40, 40)
        )
        ours += bandwidth(ordered(graph, reverse_cuthill_mckee(graph)))
        theirs += bandwidth(ordered(graph, scipy_order(A, symmetric_mode=True)))
        del k
    assert ours <= 1.01 * theirs
    path = shuffled(grid(1, 500))
    assert bandwidth(ordered(path, cuthill_mckee(path))) == 1
    net = shuffled(grid(12, 60))
    assert bandwidth(ordered(net, cuthill_mckee(net))) <= 13


def test_the_reversed_order_has_the_same_band_and_no_larger_profile() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        graph = random_graph(rng, 40, 60)
        forward = ordered(graph, cuthill_mckee(graph))
        backward = ordered(graph, reverse_cuthill_mckee(graph))
        assert bandwidth(forward) == bandwidth(backward)
        assert profile(backward) <= profile(forward)


def test_king_and_sloan_have_smaller_profiles_than_cuthill_mckee() -> None:
    rng = np.random.default_rng(7)
    sums = np.zeros(3)
    for _ in range(60):
        graph = random_graph(rng, 80, 110)
        for k, order in enumerate((reverse_cuthill_mckee, king, sloan)):
            sums[k] += profile(ordered(graph, order(graph)))
    assert sums[1] < sums[0] and sums[2] < sums[0]


def test_dissection_numbers_separators_last_and_fills_less_than_a_band() -> None:
    path = adjacency(7, range(6), range(1, 7))
    assert nested_dissection(path, leaf=3).tolist()[-1] == 3
    net = shuffled(grid(60, 60))
    dissected = symbolic_fill(net, nested_dissection(net)).operations
    assert dissected < 0.3 * symbolic_fill(net, reverse_cuthill_mckee(net)).operations


@pytest.mark.parametrize(
    ("order", "length"),
    [
        (minimum_degree, 10_000),
        (cuthill_mckee, 10_000),
        (nested_dissection, 10_000),
        (king, 1_000),
        (sloan, 1_000),
    ],
)
def test_large_graphs_are_ordered(order, length: int) -> None:
    net = shuffled(grid(20, length))
    assert np.array_equal(np.sort(order(net)), np.arange(20 * length))


def test_late_vertices_can_be_moved_back_in_any_order() -> None:
    rng = np.random.default_rng(8)
    for _ in range(100):
        graph = random_graph(rng, 25, 50)
        late = np.flatnonzero(rng.random(25) < 0.4)
        order = deferred(graph, rng.permutation(25), late)
        place = np.argsort(order)
        assert sorted(order.tolist()) == list(range(25))
        for v in late:
            assert np.all(place[np.setdiff1d(graph.of(v), late)] < place[v])
