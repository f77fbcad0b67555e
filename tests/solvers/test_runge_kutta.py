from __future__ import annotations

from math import sin

import numba
import numpy as np
import pytest

from biela.solvers import (
    rk4,
    rk4_in_time,
    rk4_step,
    rk4_step_in_time,
    rk4_trajectory,
    rk4_trajectory_in_time,
)
from tests.routines_in_c import same_bits

P = numba.types.CPointer(numba.types.float64)


@numba.cfunc(numba.types.void(P, P, P))
def oscillator(x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -p[0] * x[0]


@numba.cfunc(numba.types.void(P, P, P, P))
def forced_pendulum(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -p[0] * sin(x[0]) + p[1] * sin(t[0])


@numba.cfunc(numba.types.void(P, P, P, P))
def power_of_time(t, x, p, xdot):
    xdot[0] = 4.0 * t[0] * t[0] * t[0]


def oscillate(steps: int) -> np.ndarray:
    x = np.array([1.0, 0.0])
    rk4(2, 1, steps, 2.0 / steps, x, np.array([9.0]), oscillator, np.zeros((5, 2)))
    return x


def test_oscillator_follows_the_cosine() -> None:
    np.testing.assert_allclose(oscillate(2000), [np.cos(6.0), -3 * np.sin(6.0)], rtol=1e-10)


def test_error_falls_with_the_fourth_power_of_the_step() -> None:
    coarse, fine = (abs(oscillate(steps)[0] - np.cos(6.0)) for steps in (100, 200))
    assert np.log2(coarse / fine) == pytest.approx(4.0, abs=0.15)


def test_one_step_is_the_taylor_polynomial_of_a_linear_system() -> None:
    x, h = np.array([1.0, 0.0]), 0.1
    rk4_step(2, 1, h, x, np.array([1.0]), oscillator, np.zeros((5, 2)))
    np.testing.assert_allclose(x, [1 - h**2 / 2 + h**4 / 24, -h + h**3 / 6], rtol=1e-15)


def test_cubic_in_time_is_integrated_exactly() -> None:
    t, x = np.array([0.0]), np.array([0.0])
    rk4_in_time(1, 1, 8, 0.25, t, x, np.zeros(1), power_of_time, np.zeros((5, 1)))
    assert t[0] == 2.0
    assert x[0] == pytest.approx(16.0, rel=1e-15)


def test_trajectory_holds_the_states_that_single_runs_reach() -> None:
    p, work, trajectory = np.array([4.0]), np.zeros((5, 2)), np.zeros((6, 2))
    x = np.array([1.0, 0.5])
    rk4_trajectory(2, 1, 5, 3, 0.01, x, p, oscillator, work, trajectory)
    np.testing.assert_array_equal(trajectory[-1], x)
    for k in range(6):
        y = np.array([1.0, 0.5])
        rk4(2, 1, 3 * k, 0.01, y, p, oscillator, work)
        np.testing.assert_array_equal(trajectory[k], y)


@pytest.mark.parametrize("seed", range(3))
def test_same_bits_by_numba_python_and_c(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, work = rng.standard_normal(2), np.zeros((5, 2))
    p1, p2 = rng.random(1), rng.random(2)
    t = rng.random(1)
    same_bits(rk4_step, 2, 1, 0.1, x, p1, oscillator, work)
    same_bits(rk4, 2, 1, 50, 0.03, x, p1, oscillator, work)
    same_bits(rk4_trajectory, 2, 1, 7, 3, 0.01, x, p1, oscillator, work, np.zeros((8, 2)))
    same_bits(rk4_step_in_time, 2, 2, 0.1, t, x, p2, forced_pendulum, work)
    same_bits(rk4_in_time, 2, 2, 50, 0.03, t, x, p2, forced_pendulum, work)
    args = (2, 2, 7, 3, 0.01, t, x, p2, forced_pendulum, work, np.zeros((8, 2)))
    same_bits(rk4_trajectory_in_time, *args)
