from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from biela.errors import ShapeError
from biela.graph import (
    blocks,
    breadth_first,
    bridges,
    compiled_walks,
    components,
    loop_count,
    smallest_loops,
    walks,
)
from biela.graph.connections import incidences

Edges = tuple[np.ndarray, np.ndarray]
graphs = st.tuples(st.integers(1, 9), st.integers(0, 14), st.integers(0, 2**32 - 1))


def random_edges(n: int, count: int, seed: int) -> Edges:
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, count), rng.integers(0, n, count)


def pieces(n: int, a: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray]:
    return connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)


def four_bars(count: int, *, chained: bool = False) -> tuple[int, Edges]:
    """Four-bars on vertex 0; chained, the last bar of one is the ground of the next."""
    k = np.arange(count)
    crank, coupler, rocker = 1 + 3 * k, 2 + 3 * k, 3 + 3 * k
    ground = np.maximum(rocker - 3, 0) if chained else 0 * k
    return 3 * count + 1, (
        np.concatenate([ground, crank, coupler, rocker]),
        np.concatenate([crank, coupler, rocker, ground]),
    )


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 200), st.integers(0, 250), st.integers(0, 2**32 - 1))
def test_components_are_those_of_scipy_and_are_called_after_their_lowest_vertex(
    n: int, count: int, seed: int
) -> None:
    a, b = random_edges(n, count, seed)
    root = components(n, a, b)
    number, label = pieces(n, a, b)
    lowest = np.array([np.flatnonzero(label == label[v])[0] for v in range(n)])
    assert root.tolist() == lowest.tolist()
    assert loop_count(n, a, b) == count - n + number


@pytest.mark.parametrize("chained", [False, True])
def test_a_thousand_four_bars_have_a_thousand_loops_of_four(chained: bool) -> None:
    n, (a, b) = four_bars(1000, chained=chained)
    assert loop_count(n, a, b) == 1000
    assert not bridges(n, a, b).any()
    assert len(np.unique(blocks(n, a, b)[1])) == 1000
    loops = smallest_loops(n, a, b)
    assert [len(loop) for loop in loops] == [4] * 1000
    assert loops[7] == [7, 1007, 2007, 3007]


def test_a_long_shuffled_chain_is_one_component() -> None:
    n = 20_000
    names = np.random.default_rng(5).permutation(n)
    a, b = names[:-1], names[1:]
    assert not components(n, a, b).any()
    assert bridges(n, a, b).all()
    assert breadth_first(n, a, b).depth.max() == max(
        names.tolist().index(0), n - 1 - names.tolist().index(0)
    )


@settings(deadline=None, max_examples=100)
@given(graphs)
def test_breadth_first_depths_are_shortest_paths(graph: tuple[int, int, int]) -> None:
    n, count, seed = graph
    a, b = random_edges(n, count, seed)
    forest = breadth_first(n, a, b)
    ways = shortest_path(
        csr_array((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False, unweighted=True
    )
    root = components(n, a, b)
    assert forest.depth.tolist() == [int(ways[root[v], v]) for v in range(n)]
    assert sorted(forest.order.tolist()) == list(range(n))
    for v in range(n):
        if forest.parent[v] < 0:
            assert root[v] == v
        else:
            e = forest.edge[v]
            assert {int(a[e]), int(b[e])} == {v, int(forest.parent[v])}


@settings(deadline=None, max_examples=100)
@given(graphs)
def test_a_bridge_is_an_edge_without_which_there_is_one_component_more(
    graph: tuple[int, int, int],
) -> None:
    n, count, seed = graph
    a, b = random_edges(n, count, seed)
    whole, _ = pieces(n, a, b)
    without = [pieces(n, np.delete(a, e), np.delete(b, e))[0] > whole for e in range(count)]
    assert bridges(n, a, b).tolist() == without


def all_simple_loops(n: int, a: np.ndarray, b: np.ndarray) -> list[frozenset[int]]:
    """Every set of edges in which each vertex has degree 0 or 2 and which hangs together."""
    found = []
    for size in range(1, n + 1):
        for edges in combinations(range(len(a)), size):
            chosen = list(edges)
            degree = np.bincount(np.concatenate([a[chosen], b[chosen]]), minlength=n)
            touched = np.flatnonzero(degree)
            whole, _ = pieces(n, a[chosen], b[chosen])
            if set(degree[touched]) == {2} and whole == n - len(touched) + 1:
                found.append(frozenset(edges))
    return found


def shortest_basis_length(loops: list[frozenset[int]]) -> int:
    """Greedy over all simple loops by length, which is optimal for a matroid."""
    basis: list[int] = []
    total = 0
    for loop in sorted(loops, key=len):
        rest = sum(1 << e for e in loop)
        for pivot in basis:
            rest = min(rest, rest ^ pivot)
        if rest:
            basis.append(rest)
            total += len(loop)
    return total


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_no_basis_of_the_loops_of_a_small_graph_is_shorter(n: int, count: int, seed: int) -> None:
    a, b = random_edges(n, count, seed)
    every = all_simple_loops(n, a, b)
    loops = smallest_loops(n, a, b)
    assert len(loops) == loop_count(n, a, b)
    assert {frozenset(loop) for loop in loops} <= set(every)
    assert sum(len(loop) for loop in loops) == shortest_basis_length(every)


def test_a_loop_is_listed_in_the_order_of_a_walk() -> None:
    # a prism: two triangles and three sides of four
    a = [0, 1, 2, 3, 4, 5, 0, 1, 2]
    b = [1, 2, 0, 4, 5, 3, 3, 4, 5]
    loops = smallest_loops(6, a, b)
    assert sorted(len(loop) for loop in loops) == [3, 3, 4, 4]
    for loop in loops:
        for e, f in zip(loop, loop[1:] + loop[:1], strict=True):
            assert {a[e], b[e]} & {a[f], b[f]}


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 60), st.integers(0, 90), st.integers(0, 2**32 - 1))
def test_compiled_walks_go_the_same_way(n: int, count: int, seed: int) -> None:
    lists = incidences(n, *random_edges(n, count, seed))
    for plain, compiled in zip(
        walks.breadth_first_walk(*lists), compiled_walks.breadth_first_walk(*lists), strict=True
    ):
        assert plain.tolist() == compiled.tolist()
    plain, compiled = walks.block_walk(*lists, count), compiled_walks.block_walk(*lists, count)
    assert plain.tolist() == compiled.tolist()


def test_edges_to_nowhere_are_refused() -> None:
    with pytest.raises(ShapeError, match="vertex 3 is not one of the 3"):
        components(3, [0, 1], [1, 3])
    with pytest.raises(ShapeError, match="1 first and 2 second"):
        loop_count(3, [0], [1, 2])


def test_a_minimum_basis_of_a_large_tangle_is_refused_rather_than_waited_for() -> None:
    a, b = random_edges(800, 3000, 1)
    with pytest.raises(ShapeError, match="spanning tree"):
        smallest_loops(800, a, b)
