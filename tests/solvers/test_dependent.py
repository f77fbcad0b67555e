"""One factorisation of the dependent columns serves many systems."""

from __future__ import annotations

import numpy as np
import pytest

from biela.solvers.dependent import (
    DEPENDENT_SOLVERS,
    dependent_factor,
    dependent_solve,
    dependent_solve_transposed,
    pivot_ratio,
)

NONE = np.zeros(0, dtype=np.int64)


@pytest.mark.parametrize("solver", DEPENDENT_SOLVERS)
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_systems_and_transposed_systems_are_those_of_numpy(solver, n):
    random, kind = np.random.default_rng(n), DEPENDENT_SOLVERS[solver]
    A, b = random.normal(size=(n, n)), random.normal(size=n)
    A[0, 0] = 0.0 if n > 1 else 2.0  # no pivot in its place
    LU, pivots = A.copy(), np.zeros(n, dtype=np.int64)
    assert dependent_factor(kind, n, LU, pivots, 0, NONE) == 0
    x, y = b.copy(), b.copy()
    dependent_solve(kind, n, LU, pivots, 0, NONE, x)
    dependent_solve_transposed(kind, n, LU, pivots, 0, NONE, y)
    scale = np.linalg.cond(A)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-14 * scale * np.abs(x).max())
    np.testing.assert_allclose(y, np.linalg.solve(A.T, b), atol=1e-14 * scale * np.abs(y).max())


def test_a_singular_matrix_is_reported():
    A, pivots = np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros(2, dtype=np.int64)
    assert dependent_factor(0, 2, A, pivots, 0, NONE) == 1


def test_the_ratio_of_pivots_does_not_depend_on_units_and_falls_to_a_dead_point():
    for size in (1.0, 1e-3):
        for y in (1.0, 0.1, 1e-6):
            J = size * np.array([[1.0, y]])
            assert pivot_ratio(1, J[:, 1:].copy(), 2, J) == pytest.approx(y)
