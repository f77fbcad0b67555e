"""Dense and sparse factors of group Jacobians: solutions, signs, pivots that vanish, rank."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from biela.solvers.group_newton_stage import GroupNewton, NewtonOptions

LINEAR = ("dense", "sparse")


class Linear:
    """The factors of one instance, called as the iteration calls them."""

    def __init__(self, mask: np.ndarray, linear: str) -> None:
        self.shape = mask.shape
        self.rows, self.columns = np.nonzero(mask)
        self.newton = GroupNewton(mask.shape, self.rows, self.columns, linear, NewtonOptions())
        self._factor, self._solve = self.newton.linear_kernels()

    def factor(self, A: np.ndarray, before: float = 1.0) -> float:
        """The sign of the determinant, 0 for a singular matrix."""
        given = np.concatenate([A[self.rows, self.columns], [1.0, before]])
        sign = np.full(1, np.nan)
        _call(self._factor, given, sign)
        return float(sign[0])

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = np.full(self.shape[1], np.nan)
        _call(self._solve, np.array(b, dtype=float), x)
        return x


def _call(kernel, given: np.ndarray, found: np.ndarray) -> None:
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
    entry(given.ctypes.data, found.ctypes.data)


def random_mask(random: np.random.Generator, n: int, density: float) -> np.ndarray:
    """A pattern with a transversal, so that most numbers make it regular."""
    mask = random.random((n, n)) < density
    mask[np.arange(n), random.permutation(n)] = True
    return mask


@pytest.mark.parametrize("linear", LINEAR)
@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_square_systems_are_solved_again_and_again_and_the_sign_is_that_of_the_determinant(
    linear, n
):
    random = np.random.default_rng(n)
    for density in (0.05, 0.3, 0.9):
        mask = random_mask(random, n, density)
        factors = Linear(mask, linear)
        for _ in range(4):
            A = np.where(mask, random.normal(size=(n, n)), 0.0)
            singular = np.linalg.svd(A, compute_uv=False)
            if singular[-1] < 1e-6 * singular[0]:
                continue
            assert factors.factor(A) == np.linalg.slogdet(A)[0]
            x = random.normal(size=n)
            found = factors.solve(A @ x)
            np.testing.assert_allclose(
                found, x, rtol=0, atol=1e-13 * n * singular[0] / singular[-1]
            )


@pytest.mark.parametrize("linear", LINEAR)
def test_a_pivot_that_vanishes_later_is_replaced(linear):
    mask = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    factors = Linear(mask, linear)
    A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    x = np.array([1.0, -2.0, 3.0])
    for angle in np.linspace(0.0, np.pi, 37):
        A[0, 0], A[1, 0] = 2.0 * np.cos(angle), 2.0 * np.sin(angle)
        if abs(np.linalg.det(A)) < 1e-3:
            continue
        assert factors.factor(A) == np.sign(np.linalg.det(A))
        np.testing.assert_allclose(factors.solve(A @ x), x, atol=1e-12)
    if linear == "sparse":
        assert 2 <= factors.newton.analyses <= 5


@pytest.mark.parametrize("linear", LINEAR)
def test_a_singular_matrix_has_no_sign(linear):
    factors = Linear(np.ones((3, 3), dtype=bool), linear)
    A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
    assert factors.factor(A) == 0.0
    A[2, 2] += 1.0
    assert factors.factor(A) == np.sign(np.linalg.det(A))
    A[0, 0] = np.nan
    assert factors.factor(A) == 0.0


@pytest.mark.parametrize("linear", LINEAR)
def test_of_redundant_rows_those_that_are_independent_are_used(linear):
    """A vector of fixed length by its length and both components: one row is always superfluous."""
    angle, length = 0.3, 2.0
    factors = Linear(np.array([[1, 1], [1, 0], [0, 1]], dtype=bool), linear)
    for angle in np.linspace(0.3, 0.3 + 2 * np.pi, 41):
        x, y = length * np.cos(angle), length * np.sin(angle)
        A = np.array([[2 * x, 2 * y], [1.0, 0.0], [0.0, 1.0]])
        assert factors.factor(A) == 1.0, "the sign of the start is carried over to other rows"
        velocity = np.array([-y, x])
        np.testing.assert_allclose(factors.solve(A @ velocity), velocity, atol=1e-12)


@pytest.mark.parametrize("linear", LINEAR)
def test_rows_that_are_too_few_in_rank_are_told(linear):
    factors = Linear(np.ones((4, 2), dtype=bool), linear)
    assert factors.factor(np.outer([1.0, 2.0, -1.0, 3.0], [1.0, 2.0])) == 0.0


@pytest.mark.parametrize("linear", LINEAR)
def test_a_change_of_sign_is_seen_with_redundant_rows_too(linear):
    factors = Linear(np.array([[1, 1], [1, 1], [1, 1]], dtype=bool), linear)

    def matrix(s: float) -> np.ndarray:
        """Singular at s = 0: the rows are then all along (1, 1)."""
        return np.array([[1.0, 1.0 + s], [2.0, 2.0 - s], [3.0, 3.0]])

    signs = [factors.factor(matrix(s)) for s in (0.5, 0.4, 0.3, -0.3, -0.4)]
    assert signs == [1.0, 1.0, 1.0, -1.0, -1.0]
