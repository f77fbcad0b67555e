from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.errors import ShapeError
from biela.solvers import choose_independent, full_pivoting
from tests.routines_in_c import same_bits


def four_bar_jacobian(crank: float) -> np.ndarray:
    """Loop closure in the angles of crank, coupler and rocker of a parallelogram 1 by 2."""
    a, b, c = crank, 0.0, crank
    return np.array(
        [
            [-np.sin(a), -2 * np.sin(b), np.sin(c)],
            [np.cos(a), 2 * np.cos(b), -np.cos(c)],
        ]
    )


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 8), st.integers(1, 10), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_dependent_coordinates_follow_from_the_independent_ones(
    r: int, n: int, k: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    k = min(r, n, k)
    # small integers: the rank is exact
    J = (rng.integers(-3, 4, (r, k)) @ rng.integers(-3, 4, (k, n))).astype(float)
    found = choose_independent(J)
    assert found.rank == np.linalg.matrix_rank(J)
    assert sorted(found.dependent + found.independent) == list(range(n))
    assert sorted(found.independent_rows + found.dependent_rows) == list(range(r))
    assert np.linalg.matrix_rank(J[list(found.independent_rows)]) == found.rank
    dq = np.zeros(n)
    dq[list(found.independent)] = rng.standard_normal(n - found.rank)
    dq[list(found.dependent)] = found.transfer @ dq[list(found.independent)]
    np.testing.assert_allclose(J @ dq, 0, atol=1e-9 * (1 + np.abs(J).max() * np.abs(dq).max()))


@pytest.mark.parametrize("motor", [0, 2])
def test_the_motor_stays_independent_at_a_regular_position(motor: int) -> None:
    found = choose_independent(four_bar_jacobian(0.8), prefer_independent=[motor])
    assert found.independent == (motor,)


def test_a_preferred_coordinate_is_given_up_where_it_determines_nothing() -> None:
    # a slider-crank at its dead point: the slider cannot be the input there
    J = np.array([[-1e-9, 0.0, -1.0], [1.0, 2.0, 0.0]])
    assert choose_independent(J, prefer_independent=[2]).independent != (2,)
    J[0, 0] = -0.5
    assert choose_independent(J, prefer_independent=[2]).independent == (2,)


def test_at_the_singular_position_one_more_coordinate_is_free() -> None:
    found = choose_independent(four_bar_jacobian(0.0))
    assert found.rank == 1
    assert len(found.independent) == 2
    assert found.dependent_rows == (0,)


def test_rank_does_not_depend_on_the_units_of_rows() -> None:
    J = np.array([[1e-12, 2e-12, 0.0], [0.0, 1e6, 1e6]])
    assert choose_independent(J).rank == 2


def test_no_constraints_leave_all_free() -> None:
    assert choose_independent(np.zeros((0, 3))).independent == (0, 1, 2)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_same_bits_by_numba_python_and_c(shape: tuple[int, int]) -> None:
    r, n = shape
    rng = np.random.default_rng(r)
    A = rng.standard_normal((r, 2)) @ rng.standard_normal((2, n))
    preferred = np.zeros(n, dtype=np.int64)
    preferred[1] = 1
    order = np.zeros(r, dtype=np.int64), np.zeros(n, dtype=np.int64)
    assert same_bits(full_pivoting, r, n, A, 1e-10, 1e-3, preferred, *order) == 2


def test_mistakes_are_answered_in_words() -> None:
    with pytest.raises(ShapeError, match="preferred coordinate 3"):
        choose_independent(np.eye(2), prefer_independent=[3])
    with pytest.raises(ShapeError, match="inf or nan"):
        choose_independent([[np.nan, 1.0]])
    with pytest.raises(ShapeError, match="matrix of finite numbers"):
        choose_independent([1.0, 2.0])
