from __future__ import annotations

from math import cos, sin

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biela.solvers import (
    CONVERGED,
    NOT_CONVERGED,
    SINGULAR,
    lu_factor,
    lu_solve,
    newton,
    newton_fixed,
)
from tests.routines_in_c import same_bits

kernel = numba.cfunc("void(CPointer(float64), CPointer(float64), CPointer(float64))")


@kernel
def four_bar(x, p, r):
    """Loop closure of a four-bar: x = angles of coupler and rocker, p = crank angle and lengths."""
    crank, a, b, c, d = p[0], p[1], p[2], p[3], p[4]
    r[0] = a * cos(crank) + b * cos(x[0]) - c * cos(x[1]) - d
    r[1] = a * sin(crank) + b * sin(x[0]) - c * sin(x[1])


@kernel
def four_bar_jacobian(x, p, J):
    J[0], J[1] = -p[2] * sin(x[0]), p[3] * sin(x[1])
    J[2], J[3] = p[2] * cos(x[0]), -p[3] * cos(x[1])


@kernel
def parabola(x, p, r):
    r[0] = x[0] * x[0] - p[0]


@kernel
def parabola_jacobian(x, p, J):
    J[0] = 2.0 * x[0]


LENGTHS = [1.0, 3.0, 2.5, 3.5]


def solve_four_bar(crank, method=newton, tolerance=1e-12, iterations=20):
    x = np.array([0.3, 1.2])
    p = np.array([crank, *LENGTHS])
    work = np.zeros(2), np.zeros((2, 2)), np.zeros(2, dtype=np.int64)
    status = same_bits(
        method, 2, 5, x, p, four_bar, four_bar_jacobian, tolerance, iterations, *work
    )
    return status, x, work[0]


def square_root(start: float, square: float, iterations: int) -> tuple[int, float]:
    x = np.array([start])
    work = np.zeros(1), np.zeros((1, 1)), np.zeros(1, dtype=np.int64)
    p = np.array([square])
    args = (1, 1, x, p, parabola, parabola_jacobian, 1e-12, iterations, *work)
    return same_bits(newton, *args), x[0]


@pytest.mark.parametrize("method", [newton, newton_fixed])
@pytest.mark.parametrize("crank", [0.4, 0.9, 1.5, 3.0])
def test_four_bar_closes(method, crank: float) -> None:
    status, x, r = solve_four_bar(crank, method)
    assert status == CONVERGED
    a, b, c, d = LENGTHS
    pin = np.array([a * np.cos(crank) + b * np.cos(x[0]), a * np.sin(crank) + b * np.sin(x[0])])
    np.testing.assert_allclose(pin, [d + c * np.cos(x[1]), c * np.sin(x[1])], atol=1e-12)
    assert np.linalg.norm(r) <= 1e-12


def test_iterations_are_bounded_and_the_status_says_so() -> None:
    status, x = square_root(1.0, 2.0, 3)
    assert status == NOT_CONVERGED
    assert x == pytest.approx(577 / 408, rel=1e-15)  # 1, 3/2, 17/12, 577/408
    assert square_root(1.0, 2.0, 6) == (CONVERGED, pytest.approx(2**0.5, rel=1e-15))


def test_no_iteration_at_a_solution() -> None:
    assert square_root(2.0, 4.0, 0) == (CONVERGED, 2.0)


def test_singular_jacobian_leaves_the_iterate_and_is_reported() -> None:
    assert square_root(0.0, 2.0, 5) == (SINGULAR, 0.0)


def test_nan_does_not_count_as_converged() -> None:
    status, _ = square_root(float("nan"), 2.0, 5)
    assert status == SINGULAR


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_lu_solves_random_systems(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, x = rng.standard_normal((n, n)), rng.standard_normal(n)
    b = A @ x
    LU, pivots = A.copy(), np.zeros(n, dtype=np.int64)
    assert lu_factor(n, LU, pivots) == 0
    lu_solve(n, LU, pivots, b)
    np.testing.assert_allclose(b, x, atol=1e-13 * np.linalg.cond(A))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_lu_sees_a_dependent_column_in_any_unit(unit: float) -> None:
    A = np.array([[0.1, 0.2 * unit, 1.0], [0.3, 0.6 * unit, 2.0], [0.7, 1.4 * unit, -1.0]])
    assert lu_factor(3, A.copy(), np.zeros(3, dtype=np.int64)) == 1
    A[0, 1] += 0.1 * unit
    assert lu_factor(3, A.copy(), np.zeros(3, dtype=np.int64)) == 0


@pytest.mark.parametrize("n", [1, 2, 5, 12, 31])
def test_lu_same_bits_by_numba_python_and_c(n: int) -> None:
    rng = np.random.default_rng(n)
    A, x, pivots = rng.standard_normal((n, n)), rng.standard_normal(n), np.zeros(n, dtype=np.int64)
    same_bits(lu_factor, n, A, pivots)
    same_bits(lu_solve, n, A, pivots, x)
