from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from biela.solvers import RANK_TOLERANCE, orthogonal_factor, orthogonal_solve
from tests.routines_in_c import same_bits


def decompose(J: np.ndarray, tolerance: float = RANK_TOLERANCE):
    r, n = J.shape
    Q, S = J.copy(), np.zeros((r, n))
    rows = np.zeros(r, dtype=np.int64)
    tau, sigma, scratch = np.zeros(r), np.zeros(r), np.zeros(r)
    rank = same_bits(orthogonal_factor, r, n, Q, tolerance, rows, tau, S, sigma, scratch)
    return rank, rows, (Q, rows, tau, S, sigma)


def solve(J: np.ndarray, b: np.ndarray) -> np.ndarray:
    r, n = J.shape
    x = np.zeros(n)
    same_bits(orthogonal_solve, r, n, *decompose(J)[2], b, x, np.zeros(r))
    return x


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_any_shape_and_rank_agrees_with_the_pseudo_inverse_by_svd(
    r: int, n: int, k: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    k = min(r, n, k)
    J = rng.standard_normal((r, k)) @ rng.standard_normal((k, n))
    b = rng.standard_normal(r)
    values = np.linalg.svd(J, compute_uv=False)
    # the rank of other products is in the eye of the beholder
    assume(k == 0 or values[k - 1] > 1e-4 * values[0])
    rank, rows, _ = decompose(J)
    assert rank == k
    expected = np.linalg.pinv(J, rcond=1e-9) @ b
    scale = np.linalg.norm(b) / (values[k - 1] if k else 1.0)
    np.testing.assert_allclose(solve(J, b), expected, atol=1e-11 * scale + 1e-300)
    assert np.linalg.matrix_rank(J[rows[:k]], tol=1e-9 * max(values.max(initial=0), 1)) == k


def test_dependent_rows_are_named() -> None:
    rng = np.random.default_rng(0)
    J = rng.standard_normal((5, 7))
    J[1] = 2 * J[4]
    J[3] = 0
    rank, rows, _ = decompose(J)
    assert rank == 3
    assert 3 in rows[3:] and (1 in rows[3:]) != (4 in rows[3:])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rank_does_not_depend_on_the_units_of_a_row(unit: float) -> None:
    J = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0 + 1e-6]])
    J[2] *= unit
    assert decompose(J)[0] == 3
    J[2] = unit * (J[0] + J[1])
    assert decompose(J)[0] == 2


def test_independent_rows_need_no_least_squares() -> None:
    J = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(solve(J, np.array([5.0])), [0.6, 0.8], rtol=1e-15)


def test_inconsistent_rows_meet_in_the_middle() -> None:
    J = np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(solve(J, np.array([1.0, 3.0])), [2.0, 0.0], atol=1e-15)


def test_nan_is_not_mistaken_for_a_dependent_row() -> None:
    J = np.array([[np.nan, 1.0], [1.0, 0.0]])
    assert decompose(J)[0] == 2
