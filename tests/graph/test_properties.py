from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.csgraph import shortest_path as scipy_distances

from biela.errors import ShapeError
from biela.graph import (
    Adjacency,
    Digraph,
    adjacency,
    adjacency_matrix,
    adjacent,
    augmented_adjacency,
    connected_components,
    connectivity,
    degree,
    diameter,
    distance,
    eccentricity,
    graph_of,
    incidence_matrix,
    is_clique,
    is_separator,
    levels,
    peripheral,
    pseudo_peripheral,
    reach,
    renumbered,
    shortest_path,
    span,
    subgraph,
)

# a graph of eleven vertices with the facts of a textbook example whose drawing is lost
EDGES = "1-9 6-10 9-11 10-11 3-11 7-11 3-7 8-11 5-8 2-3 4-7"


def eleven() -> Adjacency:
    """Vertex 0 is there only so that the others keep their numbers."""
    ends = np.array([[int(v) for v in edge.split("-")] for edge in EDGES.split()])
    return adjacency(12, ends[:, 0], ends[:, 1])


def complete(n: int) -> Adjacency:
    return adjacency(n, *np.triu_indices(n, 1))


def random_graph(rng: np.random.Generator, n: int, edges: int) -> Adjacency:
    return adjacency(n, rng.integers(0, n, edges), rng.integers(0, n, edges))


def test_the_complete_graph_of_four_has_the_incidence_matrix_of_the_book() -> None:
    expected = [
        [1, 1, 1, 0, 0, 0],
        [-1, 0, 0, 1, 1, 0],
        [0, -1, 0, -1, 0, 1],
        [0, 0, -1, 0, -1, -1],
    ]
    K4 = complete(4)
    np.testing.assert_array_equal(incidence_matrix(K4), expected)
    np.testing.assert_array_equal(augmented_adjacency(K4), 4 * np.eye(4) - 1)
    np.testing.assert_array_equal(adjacency_matrix(K4), np.eye(4) - 1)


def test_the_example_of_eleven_vertices_has_its_facts() -> None:
    graph = eleven()
    assert adjacent(graph, [8]) == {11, 5}
    assert (degree(graph, 8), degree(graph, 11)) == (2, 5)
    assert adjacent(graph, [1, 6]) == {9, 10}
    assert is_clique(graph, [3, 7, 11]) and not is_clique(graph, [3, 8, 11])
    assert (distance(graph, 1, 3), distance(graph, 1, 5)) == (3, 4)
    assert (eccentricity(graph, 1), diameter(graph)) == (4, 4)
    assert peripheral(graph) == [1, 2, 4, 5, 6]
    assert is_separator(graph, [11]) and not is_separator(graph, [5])
    assert span(graph, [8]) == {5, 8, 11}
    assert reach(graph, 5, [8, 11]) == {3, 7, 9, 10}
    assert reach(graph, 5, []) == adjacent(graph, [5])
    assert levels(graph, 1) == [[1], [9], [11], [3, 7, 8, 10], [2, 4, 5, 6]]


def test_distances_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        graph = random_graph(rng, 15, 18)
        A = sparse.csr_array((np.ones(len(graph.neighbours)), graph.neighbours, graph.start))
        A.resize((15, 15))
        expected = scipy_distances(A, unweighted=True)
        for v in range(15):
            finite = expected[v][np.isfinite(expected[v])]
            assert eccentricity(graph, v) == finite.max()
            for w in range(15):
                path = shortest_path(graph, v, w)
                assert bool(path) == np.isfinite(expected[v, w])
                if path:
                    assert distance(graph, v, w) == expected[v, w]
                    assert all(b in graph.of(a) for a, b in pairwise(path))
        parts = connected_components(graph)
        assert sorted(v for part in parts for v in part) == list(range(15))
        assert all(np.isfinite(expected[part[0]])[part].all() for part in parts)
        assert all(np.isfinite(expected[part[0]]).sum() == len(part) for part in parts)


def test_a_pseudo_peripheral_vertex_is_as_far_from_another_as_that_one_reaches() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        graph = random_graph(rng, 20, 30)
        u, found = pseudo_peripheral(graph, 0)
        assert found == levels(graph, u)
        assert any(eccentricity(graph, v) == eccentricity(graph, u) for v in found[-1])


def test_reach_is_the_neighbourhood_after_elimination() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        graph = random_graph(rng, 12, 20)
        S = rng.permutation(12)[:4].tolist()
        joined = [set(graph.of(v).tolist()) for v in range(12)]
        for s in S:
            for v in joined[s]:
                joined[v] |= joined[s]
                joined[v] -= {v, s}
        for v in set(range(12)) - set(S):
            assert reach(graph, v, S) == joined[v]


def test_connectivity_is_the_size_of_a_smallest_separator() -> None:
    assert [connectivity(complete(n)) for n in (1, 2, 5)] == [0, 1, 4]
    ring = adjacency(6, range(6), [1, 2, 3, 4, 5, 0])
    assert connectivity(ring) == 2
    assert connectivity(eleven()) == 0  # vertex 0 stands apart
    rng = np.random.default_rng(4)
    for _ in range(15):
        graph = random_graph(rng, 8, 16)
        subsets = sorted(range(2**8), key=lambda bits: bits.bit_count())
        least = next(
            (
                bits.bit_count()
                for bits in subsets
                if len(connected_components(graph, [v for v in range(8) if not bits >> v & 1])) > 1
            ),
            7,
        )
        assert connectivity(graph) == least


def test_a_symmetric_permutation_gives_the_same_graph_with_other_labels() -> None:
    rng = np.random.default_rng(5)
    A = rng.random((9, 9)) < 0.3
    A |= A.T
    order = rng.permutation(9)
    graph, permuted = graph_of(A), graph_of(A[np.ix_(order, order)])
    assert isinstance(graph, Adjacency) and isinstance(permuted, Adjacency)
    again = renumbered(graph, order)
    np.testing.assert_array_equal(again.start, permuted.start)
    np.testing.assert_array_equal(again.neighbours, permuted.neighbours)


def test_the_graph_of_an_unsymmetric_matrix_is_directed() -> None:
    graph = graph_of([[1, 1, 0], [0, 1, 1], [0, 0, 0]])
    assert isinstance(graph, Digraph)
    assert [graph.of(i).tolist() for i in range(3)] == [[1], [2], []]
    with pytest.raises(ShapeError, match="square"):
        graph_of(np.ones((2, 3)))


def test_a_section_has_all_edges_between_its_vertices() -> None:
    part = subgraph(eleven(), [11, 3, 8, 2])
    assert [part.of(k).tolist() for k in range(4)] == [[1, 2], [0, 3], [0], [1]]
    with pytest.raises(ShapeError, match="twice"):
        subgraph(eleven(), [1, 1])


def test_wrong_vertices_are_named() -> None:
    with pytest.raises(ShapeError, match="vertex 12 is not one of the 12"):
        adjacent(eleven(), [12])
    with pytest.raises(ShapeError, match="no path leads from vertex 0 to vertex 1"):
        distance(eleven(), 0, 1)
