from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.dependent_jacobians import bordered, pendulum, tether
from biela.errors import BielaError, DomainError, ShapeError, SingularityError
from biela.solvers import BorderedBlocks


def random_form(
    rng: np.random.Generator, blocks: int, border: int, redundant: int, singular: int
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    """A matrix in bordered form with its rows and columns shuffled, its blocks, border and band.

    `redundant` rows are sums of others; in `singular` blocks the first row is zero.
    """
    orders = rng.integers(1, 4, blocks)
    bounds = np.concatenate([[0], np.cumsum(orders)])
    n = int(bounds[-1])
    A = np.zeros((n + border + redundant, n + border))
    for k in range(blocks):
        own = slice(bounds[k], bounds[k + 1])
        turned = 2 * np.eye(orders[k])[rng.permutation(orders[k])]
        A[own, own] = rng.standard_normal((orders[k], orders[k])) + turned
        for j in rng.integers(0, k, 2) if k else ():
            shape = (orders[k], orders[j])
            A[own, bounds[j] : bounds[j + 1]] = rng.standard_normal(shape)
    A[:n, n:] = rng.standard_normal((n, border)) * (rng.random((n, border)) < 0.3)
    shape = (border, n + border)
    A[n : n + border] = rng.standard_normal(shape) * (rng.random(shape) < 0.5)
    A[n : n + border] += np.eye(border, n + border, n)
    for _ in range(singular):
        k = rng.integers(blocks)
        A[bounds[k], bounds[k] : bounds[k + 1]] = 0.0
    for i in range(redundant):
        A[n + border + i] = A[rng.integers(n)] - 2 * A[rng.integers(n + border)]
    rows, columns = rng.permutation(len(A)), rng.permutation(n + border)
    row, column = np.argsort(rows), np.argsort(columns)
    form = [(row[a:b], column[a:b]) for a, b in pairwise(bounds)]
    return A[np.ix_(rows, columns)], form, column[n:], row[n:]


@pytest.mark.parametrize(("native", "first", "count"), [(False, 0, 1000), (True, 5000, 40)])
def test_random_forms_agree_with_dense_solutions(native: bool, first: int, count: int) -> None:
    solved = demoted = refused = 0
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        border = int(rng.integers(0, 4))
        redundant = int(rng.integers(0, 3))
        singular = int(rng.integers(0, 3)) if border else 0
        A, *form = random_form(rng, int(rng.integers(1, 10)), border, redundant, singular)
        rank, condition = np.linalg.matrix_rank(A, tol=1e-10), np.linalg.cond(A)
        i, j = np.nonzero(A)
        solver = BorderedBlocks(A.shape, i, j, *form, native=native)
        if rank < A.shape[1]:
            with pytest.raises(SingularityError):
                solver.factor(A[i, j])
            assert solver.rank is None
            refused += 1
            continue
        solver.factor(A[i, j])
        assert solver.rank == rank
        X = rng.standard_normal((A.shape[1], 2))
        found = solver.solve(A @ X)
        assert np.abs(found - X).max() < 1e-13 * condition, seed
        assert solver.backward_error < 1e-13
        assert solver.inconsistency < 1e-13 * condition * np.abs(A).max()
        c = rng.standard_normal(A.shape[1])
        y = solver.solve_transposed(c)
        assert np.abs(A.T @ y - c).max() < 1e-13 * condition, seed
        solved += 1
        demoted += len(solver.demoted) > 0
    assert solved > 0.6 * count
    assert demoted > 0.1 * count
    assert refused > 0.05 * count


@pytest.mark.parametrize("make", [pendulum, tether])
def test_mechanisms_of_the_thesis_are_triangular_in_blocks_of_three(make) -> None:
    matrix = make()
    entries = {pendulum: 198, tether: 633}[make]
    assert len(matrix.values) == entries
    A = np.zeros(matrix.shape)
    A[matrix.rows, matrix.columns] = matrix.values
    solver = BorderedBlocks(matrix.shape, matrix.rows, matrix.columns, matrix.blocks)
    assert len(solver.addresses) == 3
    solver.factor(matrix.values)
    b = np.random.default_rng(0).standard_normal(len(A))
    expected = np.linalg.solve(A, b)
    np.testing.assert_allclose(solver.solve(b), expected, atol=1e-11 * np.abs(expected).max())
    y = np.linalg.solve(A.T, b)
    np.testing.assert_allclose(solver.solve_transposed(b), y, atol=1e-11 * np.abs(y).max())


def test_a_wide_border_agrees_with_a_dense_solution() -> None:
    matrix = bordered(70, 14)
    A = np.zeros(matrix.shape)
    A[matrix.rows, matrix.columns] = matrix.values
    b = np.random.default_rng(0).standard_normal(len(A))
    expected = np.linalg.solve(A, b)
    for native in (True, False):
        solver = BorderedBlocks(
            *(matrix.shape, matrix.rows, matrix.columns, matrix.blocks),
            *(matrix.border, matrix.band),
            native=native,
        )
        assert len(solver.addresses) == (3 if native else 0)
        solver.factor(matrix.values)
        assert solver.demoted.tolist() == []
        np.testing.assert_allclose(solver.solve(b), expected, atol=1e-11 * np.abs(expected).max())


def test_a_singular_block_is_demoted_and_the_next_position_is_regular_again() -> None:
    rng = np.random.default_rng(7)
    A, blocks, border, band = random_form(rng, 6, 2, 0, 0)
    i, j = np.nonzero(A)
    rows, columns = blocks[2]
    singular = A.copy()
    singular[rows[0], columns] = 0.0
    solver = BorderedBlocks(A.shape, i, j, blocks, border, band)
    b = rng.standard_normal(len(A))
    for matrix, expected in ((A, []), (singular, 1), (A, [])):
        solver.factor(matrix[i, j])
        if expected:
            assert len(solver.demoted) == 1
            assert solver.demoted[0] in columns
        else:
            assert solver.demoted.tolist() == expected
        np.testing.assert_allclose(solver.solve(b), np.linalg.solve(matrix, b), rtol=1e-9)


def test_merging_cures_a_block_that_is_nearly_singular_and_no_other() -> None:
    # the first block is small beside its row in the border; its neighbour has the pivots
    A = np.array([[1e-6, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    i, j = np.nonzero(A)
    form: list[tuple[list[int], list[int]]] = [([0], [0]), ([1], [1])]
    solver = BorderedBlocks(A.shape, i, j, form, [2], [2])
    solver.factor(A[i, j])
    assert solver.demoted.tolist() == [0]
    merged = solver.merged()
    assert merged.blocks == [([0, 1], [0, 1])]
    merged.factor(A[i, j])
    b = np.array([1.0, 2.0, 3.0])
    for one in (solver, merged):
        np.testing.assert_allclose(one.solve(b), np.linalg.solve(A, b), rtol=1e-12)
    # an exactly singular block leaves a singular one
    A[0, 0] = 0.0
    merged.factor(np.where((i == 0) & (j == 0), 0.0, A[i, j]))
    assert len(merged.demoted) == 1
    np.testing.assert_allclose(merged.solve(b), np.linalg.solve(A, b), rtol=1e-12)


def test_redundant_rows_are_solved_exactly_and_contradictions_are_measured() -> None:
    matrix = bordered(34, 3, 2)
    A = np.zeros(matrix.shape)
    A[matrix.rows, matrix.columns] = matrix.values
    solver = BorderedBlocks(
        matrix.shape, matrix.rows, matrix.columns, matrix.blocks, matrix.border, matrix.band
    )
    solver.factor(matrix.values)
    x = np.random.default_rng(0).standard_normal(34)
    b = A @ x
    np.testing.assert_allclose(solver.solve(b), x, atol=1e-11)
    assert solver.inconsistency < 1e-12
    b[-1] += 1e-3
    found = solver.solve(b)
    assert 1e-4 < solver.inconsistency <= 1e-3
    # the rows of the blocks hold all the same: least squares are for the band
    assert np.abs(A @ found - b)[: 34 - 3].max() < 1e-12
    # a multiplier for each row: the transposed system has many solutions, this is one
    c = np.random.default_rng(1).standard_normal(34)
    assert np.abs(A.T @ solver.solve_transposed(c) - c).max() < 1e-11


def test_rows_beside_a_triangular_matrix_need_no_border() -> None:
    A = np.array([[2.0, 0.0], [1.0, 4.0], [3.0, 4.0]])
    i, j = np.nonzero(A)
    for native in (True, False):
        solver = BorderedBlocks((3, 2), i, j, [([0], [0]), ([1], [1])], [], [2], native=native)
        solver.factor(A[i, j])
        np.testing.assert_allclose(solver.solve([2.0, 9.0, 11.0]), [1.0, 2.0])
        assert solver.inconsistency == pytest.approx(0.0, abs=1e-15)
        solver.solve([2.0, 9.0, 11.5])
        assert solver.inconsistency == pytest.approx(0.5)


def test_one_block_of_any_order_is_a_dense_solution() -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((12, 12))
    i, j = np.nonzero(A)
    everything = list(range(12))
    solver = BorderedBlocks((12, 12), i, j, [(everything, everything)])
    assert len(solver.addresses) == 0
    solver.factor(A[i, j])
    b = rng.standard_normal(12)
    np.testing.assert_allclose(solver.solve(b), np.linalg.solve(A, b), rtol=1e-10)


def test_entries_at_one_place_are_added() -> None:
    for native in (True, False):
        solver = BorderedBlocks((1, 1), [0, 0], [0, 0], [([0], [0])], native=native)
        solver.factor([1.0, 3.0])
        np.testing.assert_allclose(solver.solve([2.0]), [0.5])


@pytest.mark.parametrize("native", [True, False])
def test_what_is_singular_or_not_finite_is_refused(native: bool) -> None:
    form: list[tuple[list[int], list[int]]] = [([0], [0]), ([1], [1])]
    solver = BorderedBlocks((2, 2), [0, 1, 1], [0, 0, 1], form, native=native)
    with pytest.raises(SingularityError, match="rank 1"):
        solver.factor([1.0, 1.0, 0.0])
    with pytest.raises(BielaError, match="call factor first"):
        solver.solve([1.0, 1.0])
    solver.factor([2.0, 1.0, 4.0])
    for bad in (np.nan, np.inf):
        with pytest.raises(DomainError, match=rf"BorderedBlocks: entry 1, at \(1, 0\), is {bad}"):
            solver.factor([1.0, bad, 1.0])
    # the last factors are still there
    np.testing.assert_allclose(solver.solve([2.0, 9.0]), [1.0, 2.0])


def test_more_singular_blocks_than_spare_columns_are_refused() -> None:
    n = 6
    A = np.eye(2 * n)[np.r_[n : 2 * n, :n]]
    i, j = np.nonzero(A + np.eye(2 * n))
    keep = i >= j
    i, j = i[keep], j[keep]
    form = [([k], [k]) for k in range(2 * n)]
    solver = BorderedBlocks(A.shape, i, j, form, spare=3)
    with pytest.raises(SingularityError, match="more than 3 columns"):
        solver.factor(np.where(i == j, 0.0, 1.0))


def test_mistakes_are_answered_in_words() -> None:
    form: list[tuple[list[int], list[int]]] = [([0], [0]), ([1], [1])]
    with pytest.raises(ShapeError, match="column 2 is missing"):
        BorderedBlocks((2, 3), [0], [0], form)
    with pytest.raises(ShapeError, match="a row is there twice"):
        BorderedBlocks((2, 2), [0], [0], form, [], [1])
    with pytest.raises(ShapeError, match="1 rows and 2 columns"):
        BorderedBlocks((2, 2), [0], [0], [([0], [0, 1])], [], [1])
    with pytest.raises(ShapeError, match=r"entry \(0, 1\) stands above"):
        BorderedBlocks((2, 2), [0, 0, 1], [0, 1, 1], form)
    with pytest.raises(ShapeError, match="row 5 is outside"):
        BorderedBlocks((2, 2), [5], [0], form)
    solver = BorderedBlocks((2, 2), [0, 1], [0, 1], form)
    with pytest.raises(ShapeError, match="'values' has shape"):
        solver.factor([1.0])
    solver.factor([1.0, 2.0])
    with pytest.raises(ShapeError, match="'b' has shape"):
        solver.solve([1.0, 2.0, 3.0])
