from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from biela.solvers import DROP_TOLERANCE, ldlt_factor, ldlt_solve
from tests.routines_in_c import in_c, same_bits


def factor_and_solve(A: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    LD, x = A.copy(), b.copy()
    rank = ldlt_factor(len(b), LD, DROP_TOLERANCE)
    ldlt_solve(len(b), LD, x)
    return rank, LD, x


def random_spd(rng: np.random.Generator, n: int) -> np.ndarray:
    G = rng.standard_normal((n, n))
    return G @ G.T + n * np.eye(n)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_definite_matrix_has_full_rank_and_is_solved(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, b = random_spd(rng, n), rng.standard_normal(n)
    rank, LD, x = factor_and_solve(A, b)
    assert rank == n
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-11, atol=1e-13)
    L = np.tril(LD, -1) + np.eye(n)
    np.testing.assert_allclose(L @ np.diag(1 / np.diag(LD)) @ L.T, A, atol=1e-12 * n)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 16), st.integers(0, 16), st.integers(0, 2**32 - 1))
def test_semidefinite_matrix_shows_its_rank_and_consistent_systems_are_solved(
    n: int, wanted: int, seed: int
) -> None:
    # integer factors: the rank of G Gᵀ is exact, as with a constraint counted twice
    rng = np.random.default_rng(seed)
    G = rng.integers(-3, 4, (n, min(wanted, n))).astype(float)
    A = G @ G.T
    b = A @ rng.standard_normal(n)
    exact = int(np.linalg.matrix_rank(G))
    # without pivots, rounding of the pivot of a dependent row grows with the condition of those
    # before it; the rank is sure where that stays below the tolerance
    leading = np.linalg.cond(A[:exact, :exact]) if exact else 1.0
    assume(n * np.finfo(float).eps * leading <= DROP_TOLERANCE)
    rank, LD, x = factor_and_solve(A, b)
    assert rank == exact
    assert np.count_nonzero(np.diag(LD)) == rank
    np.testing.assert_allclose(A @ x, b, atol=1e-9 * (1 + np.abs(A).max()))


def test_redundant_constraint_of_a_saddle_point_matrix_is_dropped() -> None:
    # a point on a line: two proportional constraints, multipliers after the body
    M = np.diag([2.0, 3.0])
    Phi = np.array([[0.6, 0.8], [1.8, 2.4]])
    A = np.block([[M, Phi.T], [Phi, np.zeros((2, 2))]])
    b = np.array([1.0, -9.81, 0.0, 0.0])
    rank, LD, x = factor_and_solve(A, b)
    assert rank == 3
    assert LD[3, 3] == 0 and x[3] == 0
    np.testing.assert_allclose(A @ x, b, atol=1e-14)


def test_only_the_lower_triangle_is_read() -> None:
    rng = np.random.default_rng(1)
    A, b = random_spd(rng, 6), rng.standard_normal(6)
    spoiled = np.tril(A) + np.triu(np.full((6, 6), np.nan), 1)
    np.testing.assert_array_equal(factor_and_solve(A, b)[2], factor_and_solve(spoiled, b)[2])


def test_nan_is_not_mistaken_for_a_redundant_row() -> None:
    assert factor_and_solve(np.array([[np.nan]]), np.array([1.0]))[0] == 1


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 33])
@pytest.mark.parametrize("redundant", [False, True])
def test_same_bits_by_numba_python_and_c(n: int, redundant: bool) -> None:
    rng = np.random.default_rng(n)
    G = rng.standard_normal((n, n // 2 + 1 if redundant else n))
    A, x = G @ G.T, rng.standard_normal(n)
    same_bits(ldlt_factor, n, A, DROP_TOLERANCE)
    same_bits(ldlt_solve, n, A, x)


@pytest.mark.gcc
def test_same_bits_with_vectorised_c() -> None:
    rng = np.random.default_rng(0)
    A = random_spd(rng, 64)
    by_c, by_numba = A.copy(), A.copy()
    flags = "-std=c99 -O3 -march=native -ffp-contract=off -shared -fPIC"
    assert in_c(ldlt_factor, flags)(64, by_c, 1e-12) == ldlt_factor(64, by_numba, 1e-12)
    assert by_c.tobytes() == by_numba.tobytes()
