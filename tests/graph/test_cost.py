from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ShapeError
from biela.graph import (
    Pattern,
    adjacency,
    dense_cost,
    eliminate,
    sparse_cost,
    sparse_lu_cost,
    symbolic_fill,
    symbolic_lu,
)
from biela.graph.cost import bandwidth, profile


def counted(n: int, symmetric: bool) -> tuple[int, int]:
    """Multiplications and additions of Gaussian elimination, one by one."""
    multiplications = additions = 0
    for k in range(n):
        rest = n - k - 1
        multiplications += rest  # the multipliers
        updates = rest * (rest + 1) // 2 if symmetric else rest * rest
        multiplications += updates
        additions += updates
    return multiplications, additions


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_formulas_for_full_matrices_count_the_operations(n: int, symmetric: bool) -> None:
    cost = dense_cost(n, symmetric=symmetric)
    assert (cost.multiplications, cost.additions) == counted(n, symmetric)
    assert cost.storage == (n * (n + 1) // 2 if symmetric else n * n)


@pytest.mark.parametrize("n", range(1, 9))
def test_a_full_matrix_costs_as_much_by_the_sparse_formulas(n: int) -> None:
    falling = np.arange(n)[::-1]
    symmetric, unsymmetric = sparse_cost(falling), sparse_lu_cost(falling, falling)
    for sparse, dense in (
        (symmetric, dense_cost(n, symmetric=True)),
        (unsymmetric, dense_cost(n)),
    ):
        assert (sparse.multiplications, sparse.additions) == (
            dense.multiplications,
            dense.additions,
        )
        assert sparse.storage == dense.storage


def test_an_arrow_fills_completely_or_not_at_all() -> None:
    n = 9
    rows = [set(range(n)), *({0, i} for i in range(1, n))]
    arrow = Pattern.of_rows(rows, n)
    full = symbolic_fill(arrow)
    assert full.storage == n * (n + 1) // 2
    assert full.fill == (n - 1) * (n - 2) // 2
    reversed_ = symbolic_fill(arrow, np.arange(n)[::-1])
    assert (reversed_.fill, reversed_.storage) == (0, 2 * n - 1)


def test_symbolic_fill_plays_the_elimination_of_graphs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(2, 14))
        graph = adjacency(n, rng.integers(0, n, 2 * n), rng.integers(0, n, 2 * n))
        order = rng.permutation(n)
        left, fill, degrees = graph, 0, []
        for v in order.tolist():
            degrees.append(len(left.of(v)))
            left, added = eliminate(left, v)
            fill += len(added)
        assert symbolic_fill(graph, order) == sparse_cost(degrees, len(graph.neighbours) // 2)
        assert symbolic_fill(graph, order).fill == fill


def test_symbolic_lu_has_the_pattern_of_elimination_by_rows_also_with_more_rows() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 14))
        A = rng.random((n + int(rng.integers(0, 4)), n)) < 0.3
        pattern = Pattern.of_matrix(A)
        full = A.copy()
        full[np.arange(n), np.arange(n)] = True
        above, below = [], []
        for k in range(n):
            right = np.flatnonzero(full[k, k + 1 :]) + k + 1
            down = np.flatnonzero(full[k + 1 :, k]) + k + 1
            full[np.ix_(down, right)] = True
            above.append(len(right))
            below.append(len(down))
        outside = pattern.nnz - int(np.trace(A[:n]))
        assert symbolic_lu(pattern) == sparse_lu_cost(above, below, outside)


def test_an_enormous_factor_is_given_up() -> None:
    with pytest.raises(ShapeError, match="more than 10 entries"):
        symbolic_lu(Pattern.of_matrix(np.ones((6, 6))), largest=10)
    with pytest.raises(ShapeError, match="no pivots"):
        symbolic_lu(Pattern.of_matrix(np.ones((2, 3))))


def test_band_and_profile_are_counted_from_the_diagonal() -> None:
    pattern = Pattern.of_rows([{0}, {1, 4}, {0, 2}, set(), {1, 4}], 5)
    assert bandwidth(pattern) == 3
    assert profile(pattern) == 2 + 3
    assert bandwidth(Pattern.of_rows([], 0)) == 0


def test_wrong_orders_are_refused() -> None:
    with pytest.raises(ShapeError, match="each of them once"):
        symbolic_fill(adjacency(3, [0], [1]), [0, 0, 1])
    with pytest.raises(ShapeError, match="vertex 7"):
        eliminate(adjacency(3, [0], [1]), 7)


def test_patterns_are_permuted_transposed_and_joined_by_columns() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        m, n = rng.integers(1, 9, 2)
        A = rng.random((m, n)) < 0.4
        pattern = Pattern.of_matrix(A)
        rows, columns = rng.permutation(m)[: max(m - 1, 1)], rng.permutation(n)[: max(n - 2, 1)]
        new = pattern.permuted(rows, columns)
        i, j = np.nonzero(A[np.ix_(rows, columns)])
        np.testing.assert_array_equal(new.entry_rows, i)
        np.testing.assert_array_equal(new.entries, j)
        assert pattern.transposed.row_lists() == Pattern.of_matrix(A.T).row_lists()
        meet = (A.T.astype(int) @ A.astype(int)) > 0
        graph = pattern.column_graph()
        for c in range(n):
            assert set(graph.of(c).tolist()) == set(np.flatnonzero(meet[c])) - {c}


def test_patterns_name_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match="column 3 is not one of the 3"):
        Pattern.of_rows([{0, 3}], 3)
    with pytest.raises(ShapeError, match="row 2 is not one of the 1"):
        Pattern.of_rows([{0}], 3).permuted([2], [0])
    with pytest.raises(ShapeError, match="not in the pattern"):
        Pattern.of_rows([{0}], 3).without_columns([5])
    with pytest.raises(ShapeError, match="that of a matrix"):
        Pattern.of_matrix([1, 2])
