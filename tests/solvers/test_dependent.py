"""One factorisation of the dependent columns serves many systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biela.solvers.dependent import (
    DEPENDENT_SOLVERS,
    dependent_factor,
    dependent_solve,
    dependent_solve_transposed,
    pivot_ratio,
)
from biela.solvers.dependent_blocks import BlockKernels


class Solver:
    """A square part of a sparse matrix, as the routines take it."""

    def __init__(self, name: str, J: np.ndarray, rows: list[int], columns: list[int]) -> None:
        self.kind, self.n = DEPENDENT_SOLVERS[name], len(rows)
        self.i, self.j = np.nonzero(J)
        at_row = [rows.index(i) if i in rows else -1 for i in self.i]
        at_column = [columns.index(j) if j in columns else -1 for j in self.j]
        blocks = BlockKernels(at_row, at_column, self.n, J[self.i, self.j])
        self.kernels = blocks.factor, blocks.solve, blocks.transposed
        self.rows, self.columns = rows, columns
        self.pivots = np.zeros(self.n, dtype=np.int64)

    def factor(self, J: np.ndarray) -> int:
        self.LU = J[np.ix_(self.rows, self.columns)].copy()
        entries = J[self.i, self.j]
        return dependent_factor(
            self.kind, self.n, self.LU, self.pivots, len(entries), entries, self.kernels[0],
            np.zeros(1),
        )  # fmt: skip

    def solve(self, b: np.ndarray, routine: Any = dependent_solve) -> np.ndarray:
        x, kernel = b.copy(), self.kernels[1 if routine is dependent_solve else 2]
        routine(self.kind, self.n, self.LU, self.pivots, kernel, np.zeros(self.n), x)
        return x


def sparse(random: np.random.Generator, pattern: np.ndarray) -> np.ndarray:
    return np.where(pattern, random.normal(size=pattern.shape), 0.0)


@pytest.mark.parametrize("name", DEPENDENT_SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_systems_and_transposed_systems_are_those_of_numpy_in_every_position(name, seed):
    """Rows and columns are left out, and the order is that of the first position."""
    random = np.random.default_rng(seed)
    m, n, r = 9, 14, 8
    pattern = random.random((m, n)) < 0.3
    rows, columns = sorted(random.choice(m, r, replace=False).tolist()), []
    columns = random.choice(n, r, replace=False).tolist()
    pattern[rows, columns] = True
    solver = Solver(name, sparse(random, pattern), rows, columns)
    for _ in range(5):
        J, b = sparse(random, pattern), random.normal(size=r)
        A = J[np.ix_(rows, columns)]
        assert solver.factor(J) == 0
        for matrix, routine in ((A, dependent_solve), (A.T, dependent_solve_transposed)):
            x = solver.solve(b, routine)
            scale = np.abs(A).max() * np.abs(x).max() * np.linalg.cond(A)
            assert np.abs(matrix @ x - b).max() < 1e-14 * scale


@pytest.mark.parametrize("name", DEPENDENT_SOLVERS)
def test_a_pivot_that_vanishes_is_not_needed(name):
    """No entry in its place at all: the order of elimination has to change."""
    pattern = np.array([[1, 1], [1, 1]], dtype=bool)
    solver = Solver(name, np.array([[1.0, 0.5], [0.5, 2.0]]), [0, 1], [0, 1])
    assert pattern.all() and solver.factor(np.array([[0.0, 2.0], [4.0, 0.0]])) == 0
    np.testing.assert_allclose(solver.solve(np.array([2.0, 8.0])), [2.0, 1.0])


@pytest.mark.parametrize("name", DEPENDENT_SOLVERS)
def test_a_singular_matrix_is_reported(name):
    solver = Solver(name, np.array([[1.0, 0.5], [0.5, 2.0]]), [0, 1], [0, 1])
    assert solver.factor(np.array([[1.0, 2.0], [2.0, 4.0]])) != 0


def test_the_ratio_of_pivots_does_not_depend_on_units_and_falls_to_a_dead_point():
    for size in (1.0, 1e-3):
        for y in (1.0, 0.1, 1e-6):
            J = size * np.array([[1.0, y]])
            assert pivot_ratio(1, J[:, 1:].copy(), 2, J) == pytest.approx(y)
