"""Newton's method of minimum norm, damped or not, on linkages and curves."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.optimize

from biela.errors import ShapeError
from biela.solvers import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_FINITE,
    STALLED,
    Steps,
    newton_damped,
    newton_minimum_norm,
    newton_minimum_norm_fixed,
    solve_equations,
)
from tests.routines_in_c import same_bits

P = numba.types.CPointer(numba.types.float64)
kernel = numba.cfunc(numba.types.void(P, P, P, P))


@kernel
def linkage(t, x, p, f):
    """A four-bar of points: lengths crank, coupler, rocker, base, and the coupler once more."""
    f[0] = x[0] * x[0] + x[1] * x[1] - p[0] * p[0]
    f[1] = (x[2] - x[0]) ** 2 + (x[3] - x[1]) ** 2 - p[1] * p[1]
    f[2] = (x[2] - p[3]) ** 2 + x[3] * x[3] - p[2] * p[2]
    f[3] = 2 * ((x[2] - x[0]) ** 2 + (x[3] - x[1]) ** 2 - p[4] * p[4])


@kernel
def linkage_jacobian(t, x, p, J):
    for i in range(16):
        J[i] = 0.0
    J[0], J[1] = 2 * x[0], 2 * x[1]
    J[4], J[5] = -2 * (x[2] - x[0]), -2 * (x[3] - x[1])
    J[6], J[7] = -J[4], -J[5]
    J[10], J[11] = 2 * (x[2] - p[3]), 2 * x[3]
    for i in range(4):
        J[12 + i] = 2 * J[4 + i]


@kernel
def circle(t, x, p, f):
    """A circle that grows with time."""
    f[0] = x[0] * x[0] + x[1] * x[1] - (p[0] + t[0]) ** 2


@kernel
def circle_jacobian(t, x, p, J):
    J[0], J[1] = 2 * x[0], 2 * x[1]


@kernel
def logarithm(t, x, p, f):
    f[0] = np.log(x[0]) - p[0]


@kernel
def logarithm_jacobian(t, x, p, J):
    J[0] = 1.0 / x[0]


@kernel
def rosenbrock(t, x, p, f):
    f[0] = 10.0 * (x[1] - x[0] * x[0])
    f[1] = 1.0 - x[0]


@kernel
def rosenbrock_jacobian(t, x, p, J):
    J[0], J[1], J[2], J[3] = -20.0 * x[0], 10.0, -1.0, 0.0


LENGTHS = [1.0, 3.0, 2.5, 3.5, 3.0]
GUESS = [0.5, 0.5, 3.0, 1.0]


def residual(x: np.ndarray, p: list[float]) -> np.ndarray:
    B, C = x[:2], x[2:]
    lengths = B @ B, (C - B) @ (C - B), (C - [p[3], 0]) @ (C - [p[3], 0]), (C - B) @ (C - B)
    wanted = np.array([p[0], p[1], p[2], p[4]]) ** 2
    return np.array([1, 1, 1, 2]) * (np.array(lengths) - wanted)


def close_linkage(guess, p=LENGTHS, **options):
    return solve_equations(linkage, linkage_jacobian, 4, guess, p=p, **options)


# --- solutions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", list(Steps))
def test_redundant_linkage_closes_and_its_rank_is_told(steps: Steps) -> None:
    found = close_linkage(GUESS, steps=steps, tolerance=1e-12)
    assert found.converged
    np.testing.assert_allclose(residual(found.x, LENGTHS), 0, atol=1e-12)
    assert found.rank == 3
    assert found.dependent in ((1,), (3,))
    assert found.consistent is True
    assert found.open == ()


@pytest.mark.parametrize("seed", range(20))
def test_damped_steps_close_the_linkage_from_far_away(seed: int) -> None:
    guess = np.random.default_rng(seed).uniform(-1000, 1000, 4)
    found = close_linkage(guess, tolerance=1e-11)
    assert found.converged, found.summary
    np.testing.assert_allclose(residual(found.x, LENGTHS), 0, atol=1e-11)


def test_steps_of_minimum_norm_go_straight_to_the_circle() -> None:
    # each step is along the radius: the direction of the guess stays
    found = solve_equations(
        *(circle, circle_jacobian, 1, [3.0, 4.0]),
        p=[1.5],
        t=0.5,
        steps=Steps.MINIMUM_NORM,
        tolerance=1e-14,
    )
    np.testing.assert_allclose(found.x, [1.2, 1.6], rtol=1e-14)
    assert found.rank == 1 and found.dependent == () and found.consistent is None


def test_heavy_unknowns_move_less() -> None:
    guess = np.array([3.0, 4.0])
    free = solve_equations(circle, circle_jacobian, 1, guess, p=[4.9])
    held = solve_equations(circle, circle_jacobian, 1, guess, p=[4.9], weight=[1e6, 1.0])
    assert free.converged and held.converged
    assert abs(held.x[0] - 3.0) < 1e-5 < abs(free.x[0] - 3.0)


def test_weighted_step_agrees_with_its_closed_form() -> None:
    # δ = W⁻¹ Jᵀ (J W⁻¹ Jᵀ)⁻¹ f
    x, w = np.array(GUESS), np.array([1.0, 4.0, 0.5, 2.0])
    p = np.array(LENGTHS)
    start = x.copy()
    work = np.zeros(4), *np.zeros((2, 4, 4)), np.zeros(4, dtype=np.int64), np.zeros(16), np.zeros(4)
    info = np.zeros(2, dtype=np.int64)
    kernels = linkage, linkage_jacobian
    args = (4, 4, 5, np.zeros(1), x, p, *kernels, w, 1e-12, 1e-10, 1, *work, info)
    assert same_bits(newton_minimum_norm, *args) == NOT_CONVERGED
    assert info.tolist() == [1, 3]
    B, C = start[:2], start[2:]
    J = 2 * np.array([[*B, 0, 0], [*(B - C), *(C - B)], [0, 0, *(C - [p[3], 0])]])
    f = residual(start, LENGTHS)[:3]
    step = J.T / w[:, None] @ np.linalg.solve(J / w @ J.T, f)
    np.testing.assert_allclose(x, start - step, atol=1e-13)


def test_damped_steps_pass_the_valley_of_rosenbrock() -> None:
    found = solve_equations(rosenbrock, rosenbrock_jacobian, 2, [-1.2, 1.0], radius=0.5)
    assert found.converged
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-9)


def test_damped_steps_do_not_leave_the_domain() -> None:
    # the first full step from 10 lands at a negative number
    full = solve_equations(
        logarithm, logarithm_jacobian, 1, [10.0], p=[0.0], steps=Steps.MINIMUM_NORM
    )
    assert full.status == NOT_FINITE and full.rank is None
    damped = solve_equations(logarithm, logarithm_jacobian, 1, [10.0], p=[0.0])
    assert damped.converged
    assert damped.x[0] == pytest.approx(1.0, abs=1e-10)


# --- what cannot be solved ------------------------------------------------------------------------


def test_contradicting_rows_are_told_from_redundant_ones() -> None:
    wrong = [*LENGTHS[:4], 3.1]  # the second coupler is longer
    found = close_linkage(GUESS, wrong)
    assert found.status == STALLED
    assert found.consistent is False
    assert found.open[:2] in ((1, 3), (3, 1))
    assert "inconsistent" in found.summary


def test_linkage_too_short_to_close_ends_at_the_least_residual() -> None:
    p = [1.0, 3.0, 2.5, 9.0, 3.0]
    found = close_linkage(GUESS, p, iterations=500)
    assert found.status == STALLED
    best = scipy.optimize.least_squares(residual, GUESS, args=(p,), xtol=1e-15, gtol=1e-12)
    assert np.linalg.norm(found.residual) == pytest.approx(np.sqrt(2 * best.cost), rel=1e-6)
    assert set(found.open) == {0, 1, 2, 3}


def test_guess_on_a_ridge_stalls_and_a_restart_leaves_it() -> None:
    # all points on the base line: no small move up or down is better than the other
    flat = [1.0, 0.0, 2.0, 0.0]
    assert close_linkage(flat).status == STALLED
    found = close_linkage(flat, restarts=3)
    assert found.converged
    np.testing.assert_array_equal(found.x, close_linkage(flat, restarts=3).x)


def test_start_that_is_not_finite_is_told() -> None:
    found = close_linkage([np.nan, 0.0, 1.0, 1.0])
    assert found.status == NOT_FINITE
    assert found.rank is None


def test_iterations_are_bounded() -> None:
    found = close_linkage([900.0, 10.0, -300.0, 4.0], iterations=3)
    assert found.status == NOT_CONVERGED
    assert found.iterations == 3


def test_mistakes_are_answered_in_words() -> None:
    with pytest.raises(ShapeError, match="positive numbers"):
        close_linkage(GUESS, weight=[1.0, 1.0, 0.0, 1.0])
    with pytest.raises(ShapeError, match="positive numbers"):
        close_linkage(GUESS, weight=[1.0])


# --- routines -------------------------------------------------------------------------------------


def scratch(r: int, n: int) -> tuple[np.ndarray, ...]:
    rows = np.zeros(r, dtype=np.int64)
    info = np.zeros(2, dtype=np.int64)
    return np.zeros(r), *np.zeros((2, r, n)), rows, np.zeros(4 * r), np.zeros(n), info


@pytest.mark.parametrize("method", [newton_minimum_norm, newton_minimum_norm_fixed])
def test_same_bits_by_numba_python_and_c(method) -> None:
    x, p, w = np.array(GUESS), np.array(LENGTHS), np.array([1.0, 2.0, 1.0, 0.5])
    kernels = linkage, linkage_jacobian
    args = (4, 4, 5, np.zeros(1), x, p, *kernels, w, 1e-11, 1e-10, 8, *scratch(4, 4))
    assert same_bits(method, *args) == CONVERGED


@pytest.mark.parametrize("guess", [GUESS, [100.0, 30.0, -50.0, 4.0], [1.0, 0.0, 2.0, 0.0]])
def test_damped_same_bits_by_numba_python_and_c(guess: list[float]) -> None:
    x, p, w = np.array(guess), np.array(LENGTHS), np.ones(4)
    rows, info = np.zeros(4, dtype=np.int64), np.zeros(2, dtype=np.int64)
    work = np.zeros(4), *np.zeros((3, 4, 4)), rows, np.zeros(28), *np.zeros((3, 4)), info
    kernels = linkage, linkage_jacobian
    args = (4, 4, 5, np.zeros(1), x, p, *kernels, w, 1e-11, 1e-10, 60, 2.0, *work)
    assert same_bits(newton_damped, *args) == (STALLED if guess[1] == 0.0 else CONVERGED)


def test_fixed_count_takes_all_its_steps() -> None:
    x, p, w = np.array(GUESS), np.array(LENGTHS), np.ones(4)
    work = scratch(4, 4)
    kernels = linkage, linkage_jacobian
    args = (4, 4, 5, np.zeros(1), x, p, *kernels, w, 1e-11, 1e-10)
    assert newton_minimum_norm_fixed(*args, 2, *work) == NOT_CONVERGED
    assert newton_minimum_norm_fixed(*args, 7, *work) == CONVERGED
    assert work[-1].tolist() == [7, 3]
