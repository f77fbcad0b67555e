from __future__ import annotations

import numpy as np
import pytest

from biela.errors import BielaError, DomainError, ShapeError, SingularityError
from biela.solvers import BlockLU


def random_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """Sparse, with large entries on a shuffled diagonal."""
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 3 / n)
    A[rng.permutation(n), np.arange(n)] += np.where(rng.random(n) < 0.5, -4.0, 4.0)
    return A


def test_random_matrices_agree_with_dense_solutions() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        A = random_matrix(rng, n)
        i, j = np.nonzero(A)
        solver = BlockLU(n, i, j, A[i, j], kinds=0)
        # other values than those the pivots were chosen by
        values = A[i, j] * (1 + 0.1 * rng.standard_normal(len(i)))
        A[i, j] = values
        solver.factor(values)
        condition = np.linalg.cond(A)
        B = rng.standard_normal((n, 2))
        for found, matrix in ((solver.solve(B), A), (solver.solve_transposed(B), A.T)):
            expected = np.linalg.solve(matrix, B)
            assert np.abs(found - expected).max() < 1e-13 * condition * np.abs(expected).max(), seed
        assert solver.backward_error < 1e-13


def test_native_code_of_a_repeated_structure_agrees_with_a_dense_solution() -> None:
    # a transport line: each station with its own block and a coupling to the next
    n = 300
    A = np.zeros((n, n))
    rng = np.random.default_rng(0)
    for k in range(0, n, 3):
        A[k : k + 3, k : k + 3] = rng.standard_normal((3, 3)) + 4 * np.eye(3)
        if k:
            A[k : k + 3, k - 3 : k] = rng.standard_normal((3, 3))
            A[k - 1, k] = rng.standard_normal()
    i, j = np.nonzero(A)
    solver = BlockLU(n, i, j, A[i, j])
    assert solver.symmetric.analysis.fronts[1] > 0.9 * solver.symmetric.analysis.fronts[0]
    solver.factor(A[i, j])
    b = rng.standard_normal(n)
    np.testing.assert_allclose(solver.solve(b), np.linalg.solve(A, b), rtol=1e-9, atol=1e-12)


def test_a_singular_matrix_is_refused() -> None:
    with pytest.raises(SingularityError, match="no row is left for column"):
        BlockLU(2, [0, 0], [0, 1], [1.0, 1.0])
    solver = BlockLU(2, [0, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(SingularityError, match="pivots of this order are zero"):
        solver.factor([1.0, 2.0, 2.0, 4.0])
    with pytest.raises(BielaError, match="call factor first"):
        solver.solve([1.0, 1.0])


def test_values_that_need_other_pivots_are_solved_well_or_refused() -> None:
    rng = np.random.default_rng(0)
    solved = refused = 0
    for _ in range(7):
        D = (rng.random((6, 6)) < 0.5) | np.eye(6, dtype=bool)
        i, j = np.nonzero(D)
        solver = BlockLU(6, i, j, rng.standard_normal(len(i)), kinds=0)
        for _ in range(60):
            A = D * rng.choice([-1.0, 0.0, 1.0, 1e-9], (6, 6))
            b = A.sum(axis=1)
            try:
                solver.factor(A[i, j])
            except SingularityError:
                continue
            try:
                x = solver.solve(b)
            except SingularityError as error:
                assert "make another solver" in str(error)
                refused += 1
                continue
            solved += 1
            assert np.abs(A @ x - b).max() <= 1e-8 * (np.abs(x).max() + np.abs(b).max())
    assert solved > 50
    assert refused > 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    place = rf"BlockLU: entry 2, at \(1, 0\), is {bad}"
    with pytest.raises(DomainError, match=place):
        BlockLU(2, [0, 0, 1], [0, 1, 0], [2.0, 1.0, bad])
    solver = BlockLU(2, [0, 0, 1], [0, 1, 0], [2.0, 1.0, 4.0])
    with pytest.raises(DomainError, match=place):
        solver.factor([2.0, 1.0, bad])


def test_mistakes_are_answered_in_words() -> None:
    with pytest.raises(ShapeError, match="outside of a matrix of 2"):
        BlockLU(2, [2], [0], [1.0])
    solver = BlockLU(1, [0], [0], [2.0])
    with pytest.raises(ShapeError, match="'values' has shape"):
        solver.factor([1.0, 2.0])
    solver.factor([4.0])
    assert solver.solve([2.0]).tolist() == [0.5]
    with pytest.raises(ShapeError, match="'b' has shape"):
        solver.solve([1.0, 2.0])
