from __future__ import annotations

from math import cos, sin, sqrt

import numba
import numpy as np
import pytest

import biela as bl
from biela.code.routines import Int, Kernel, Matrix, Real, Vector, routine
from biela.errors import ShapeError
from biela.solvers.integrators import (
    BOTH,
    EVENT,
    FALLING,
    FINISHED,
    NOT_FINITE,
    RISING,
    FixedStep,
    Problem,
    heun_step,
    march,
    marching,
)
from biela.solvers.integrators.explicit_euler import explicit_euler_step
from biela.solvers.integrators.nystrom import nystrom_step
from biela.solvers.integrators.roots import sign
from biela.solvers.integrators.second_order_euler import second_order_euler_step
from biela.solvers.integrators.semi_implicit_euler import semi_implicit_euler_step
from biela.solvers.integrators.status import WITHOUT
from tests.routines_in_c import same_bits

P = numba.types.CPointer(numba.types.float64)
kernel = numba.cfunc(numba.types.void(P, P, P, P))


@kernel
def forced_oscillator(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -p[0] * x[0] + sin(t[0])


def forced_motion(t: float) -> np.ndarray:
    # x'' = -4 x + sin t, x(0) = 1, x'(0) = 0
    return np.array(
        [cos(2 * t) - sin(2 * t) / 6 + sin(t) / 3, -2 * sin(2 * t) - cos(2 * t) / 3 + cos(t) / 3]
    )


@kernel
def pendulum(t, x, p, xdot):
    # point on a circle of radius 1: x = (x, y, vx, vy), with the multiplier eliminated
    tension = x[2] * x[2] + x[3] * x[3] - 9.81 * x[1]
    xdot[0] = x[2]
    xdot[1] = x[3]
    xdot[2] = -tension * x[0]
    xdot[3] = -9.81 - tension * x[1]


@kernel
def onto_circle(t, x, p, out):
    phi = x[0] * x[0] + x[1] * x[1] - 1.0
    scale = phi / (2.0 * (x[0] * x[0] + x[1] * x[1]))
    out[0] = x[0] - scale * x[0]
    out[1] = x[1] - scale * x[1]
    out[2] = x[2]
    out[3] = x[3]
    out[4] = abs(phi)


@kernel
def along_circle(t, x, p, out):
    rate = x[0] * x[2] + x[1] * x[3]
    r2 = x[0] * x[0] + x[1] * x[1]
    out[0] = x[0]
    out[1] = x[1]
    out[2] = x[2] - rate / r2 * x[0]
    out[3] = x[3] - rate / r2 * x[1]
    out[4] = abs(rate)


@kernel
def oscillator(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -x[0]


@kernel
def falling(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -p[0]


@kernel
def height(t, x, p, g):
    g[0] = x[0]


@kernel
def height_and_clock(t, x, p, g):
    g[0] = x[0]
    g[1] = t[0] - 0.3


@kernel
def blow_up(t, x, p, xdot):
    xdot[0] = x[0] * x[0] * x[0]


ORDERS = {
    "explicit_euler": 1,
    "semi_implicit_euler": 1,
    "second_order_euler": 1,
    "heun": 2,
    "rk4": 4,
    "nystrom": 4,
    "trapezoidal": 2,
}


@pytest.mark.parametrize("method", ORDERS)
def test_error_falls_with_the_order_of_the_method(method: str) -> None:
    problem = Problem(forced_oscillator, 2, 1)
    errors = []
    for steps in (400, 800):
        run = FixedStep(problem, method).run(0.0, [1.0, 0.0], [4.0], 1.5 / steps, steps)
        errors.append(np.abs(run.x - forced_motion(1.5)).max())
        assert run.t == pytest.approx(1.5, rel=1e-15)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[method], abs=0.1)


def test_nystrom_damps_an_oscillation_much_less_than_rk4() -> None:
    # energy of x'' = -x over a step, from the stability polynomials with z = h: rk4 loses h⁶/72,
    # Nyström's method h⁶/288
    def lost(method: str) -> float:
        run = FixedStep(Problem(oscillator, 2), method).run(0.0, [1.0, 0.0], [], 0.05, 2000)
        return 1.0 - float(run.x @ run.x)

    assert lost("rk4") == pytest.approx(2000 * 0.05**6 / 72, rel=0.02)
    assert 0 < lost("nystrom") < 0.3 * lost("rk4")


def test_second_order_euler_is_exact_in_free_fall() -> None:
    run = FixedStep(Problem(falling, 2, 1), "second_order_euler").run(
        0, [1.0, 2.0], [10.0], 0.25, 4
    )
    np.testing.assert_array_equal(run.x, [1.0 + 2.0 - 5.0, 2.0 - 10.0])


def test_semi_implicit_euler_keeps_the_energy_bounded_and_explicit_euler_does_not() -> None:
    energy = {}
    for method in ("semi_implicit_euler", "explicit_euler"):
        run = FixedStep(Problem(falling_spring, 2), method).run(0, [1.0, 0.0], [], 0.05, 4000)
        energy[method] = np.abs((run.states**2).sum(axis=1) - 1).max()
    assert energy["semi_implicit_euler"] < 0.06
    assert energy["explicit_euler"] > 100


@kernel
def geared(t, x, p, xdot):
    xdot[0] = x[2]
    xdot[1] = 2.0 * x[2]
    xdot[2] = -x[0]


def test_semi_implicit_euler_takes_more_positions_than_velocities() -> None:
    run = FixedStep(Problem(geared, 3, nq=2), "semi_implicit_euler").run(0, [1, 5, 3], [], 0.5, 1)
    # v = 3 - 0.5, then both positions with it
    np.testing.assert_array_equal(run.x, [1 + 0.5 * 2.5, 5 + 0.5 * 5.0, 2.5])


@kernel
def falling_spring(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -x[0]


@kernel
def falling_spring_jacobian(t, x, p, J):
    J[0] = 0.0
    J[1] = 1.0
    J[2] = -1.0
    J[3] = 0.0


def test_trapezoidal_rule_keeps_the_energy_of_a_linear_oscillator() -> None:
    problem = Problem(falling_spring, 2, jacobian=falling_spring_jacobian)
    run = FixedStep(problem, "trapezoidal", newton_iterations=2).run(0, [1.0, 0.0], [], 0.5, 500)
    np.testing.assert_allclose((run.states**2).sum(axis=1), 1.0, rtol=1e-12)
    assert run.evaluations == 500 * 3


def test_projections_keep_the_pendulum_on_its_circle() -> None:
    problem = Problem(
        pendulum,
        4,
        0,
        project_q=onto_circle,
        project_v=along_circle,
        q_iterations=2,
        v_iterations=1,
    )
    run = FixedStep(problem, "rk4").run(0, [1.0, 0, 0, 0], [], 0.01, 200, 5)
    x, y, vx, vy = run.states.T
    assert np.abs(x * x + y * y - 1).max() < 4e-16
    assert np.abs(x * vx + y * vy).max() < 4e-15
    free = FixedStep(Problem(pendulum, 4), "rk4").run(0, [1.0, 0, 0, 0], [], 0.01, 200, 5)
    assert np.abs((free.states[:, :2] ** 2).sum(axis=1) - 1).max() > 1e-9
    assert run.steps == 1000 and run.evaluations == 4000
    # the last residual is often exactly zero, and then no correction is taken
    assert 1000 < run.corrections <= 3000


def test_no_correction_is_taken_below_the_threshold() -> None:
    problem = Problem(pendulum, 4, project_q=onto_circle, q_iterations=3, threshold=1e-3)
    run = FixedStep(problem, "rk4").run(0, [1.0, 0, 0, 0], [], 0.01, 50)
    assert run.corrections == 0


@kernel
def sampled(t, x, p, u):
    u[0] = t[0]


@kernel
def driven(t, x, p, xdot):
    xdot[0] = p[1]


def test_controller_is_sampled_and_held() -> None:
    problem = Problem(driven, 1, 2, control=sampled, nu=1, u_first=1)
    run = FixedStep(problem, "explicit_euler", control_every=4).run(
        0, [0.0], [7.0, 0.0], 0.25, 3, 4
    )
    # u is 0, 1, 2 over one second each
    np.testing.assert_array_equal(run.states[:, 0], [0, 0, 1, 3])
    np.testing.assert_array_equal(run.times, [0, 1, 2, 3])


def test_nan_stops_the_run_and_tells_the_last_good_sample() -> None:
    run = FixedStep(Problem(blow_up, 1), "rk4").run(0, [1.0], [], 0.05, 100, 2)
    assert run.status == NOT_FINITE
    assert np.isfinite(run.states).all() and np.isfinite(run.x).all()
    assert len(run.states) == run.steps // 2 + 1 < 101
    assert run.t == pytest.approx(run.steps * 0.05, rel=1e-15)


@pytest.mark.parametrize("method", ["rk4", "second_order_euler"])
def test_ball_meets_the_floor_at_the_time_of_the_parabola(method: str) -> None:
    problem = Problem(falling, 2, 1, events=height, directions=[FALLING])
    run = FixedStep(problem, method).run(0, [1.0, 0.5], [9.81], 0.07, 100)
    t = (0.5 + sqrt(0.25 + 2 * 9.81)) / 9.81
    assert run.status == EVENT
    np.testing.assert_array_equal(run.fired, [-1])
    assert abs(run.t - t) < 1e-12
    assert abs(run.x[0]) < 1e-11 and run.x[0] <= 0
    assert run.x[1] == pytest.approx(0.5 - 9.81 * t, rel=1e-12)
    assert len(run.states) == int(t / 0.07) + 1


@pytest.mark.parametrize("direction", [FALLING, BOTH])
def test_ball_bounces_on_from_the_event(direction: int) -> None:
    problem = Problem(falling, 2, 1, events=height, directions=[direction])
    ball = FixedStep(problem, "rk4")
    t, x, times = 0.0, np.array([1.0, 0.0]), []
    for _ in range(4):
        run = ball.run(t, x, [10.0], 0.01, 1000)
        assert run.status == EVENT
        times.append(run.t)
        t, x = run.t, np.array([run.x[0], -0.5 * run.x[1]])
    first = sqrt(0.2)
    expected = first * np.array([1, 2, 2.5, 2.75])
    np.testing.assert_allclose(times, expected, rtol=0, atol=4e-12)


def test_earliest_of_two_events_in_one_step_stops_the_run_and_a_filtered_one_does_not() -> None:
    problem = Problem(falling, 2, 1, events=height_and_clock, directions=[FALLING, RISING])
    runner = FixedStep(problem, "rk4")
    run = runner.run(0, [1.0, 0.0], [10.0], 1.0, 2)
    assert run.t == pytest.approx(0.3, abs=1e-12)
    np.testing.assert_array_equal(run.fired, [0, 1])
    run = runner.run(run.t, run.x, [10.0], 1.0, 2)
    assert run.t == pytest.approx(sqrt(0.2), abs=1e-12)
    np.testing.assert_array_equal(run.fired, [-1, 0])
    other = Problem(falling, 2, 1, events=height_and_clock, directions=[RISING, FALLING])
    assert FixedStep(other, "rk4").run(0, [1.0, 0.0], [10.0], 1.0, 2).status == FINISHED


@routine(t="1", x="n", p="m", f="1, n, m -> n", work="2, n")
def midpoint_step(
    n: Int, m: Int, h: Real, t: Vector, x: Vector, p: Vector, f: Kernel, work: Matrix
) -> None:
    """The explicit midpoint rule."""
    f(t, x, p, work[0])
    for i in range(n):
        work[1, i] = x[i] + h / 2.0 * work[0, i]
    t[0] += h / 2.0
    f(t, work[1], p, work[0])
    for i in range(n):
        x[i] += h * work[0, i]
    t[0] += h / 2.0


def test_a_step_of_ones_own_runs_in_the_same_driver() -> None:
    errors = []
    for steps in (200, 400):
        own = FixedStep(Problem(forced_oscillator, 2, 1), midpoint_step, evaluations=2)
        run = own.run(0.0, [1.0, 0.0], [4.0], 1.5 / steps, steps)
        errors.append(np.abs(run.x - forced_motion(1.5)).max())
        assert run.evaluations == 2 * steps
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)
    assert "midpoint_step" in marching(midpoint_step).c()


@numba.njit
def rotated(angle, a, b):
    return cos(angle) * a + sin(angle) * b, cos(angle) * b - sin(angle) * a


@kernel
def exact_rotation(t, x, p, out):
    out[0], out[1] = rotated(p[0], x[0], x[1])


def test_a_jitted_map_is_a_method() -> None:
    run = FixedStep(Problem(exact_rotation, 2, 1), "one_step_map").run(0, [1, 0], [0.1], 0.1, 50)
    np.testing.assert_allclose(run.x, [cos(5), -sin(5)], rtol=1e-13)


def test_functions_of_atoms_are_kernels_of_any_method() -> None:
    ws = bl.Workspace("spring")
    t, q, v, k, u = ws.symbols("t q v k u")
    inputs = {"t": [t], "x": [q, v], "p": [k, u]}
    f = bl.Function("f", inputs, {"xdot": [v, u - k * q]})
    J = bl.Function("J", inputs, {"J": [[0, 1], [-k, 0]]})
    damper = bl.Function("damper", inputs, {"u": [-0.5 * v]})
    problem = Problem(f.native, 2, 2, jacobian=J.native, control=damper.native, nu=1, u_first=1)
    ends = []
    for method in ("rk4", "trapezoidal"):
        solver = FixedStep(problem, method)
        damped = solver.run(0, [1.0, 0.0], [4.0, 0.0], 0.001, 1000)
        ends.append(damped.x)
        free = solver.run(0, [1.0, 0.0], [4.0, 0.0], 0.001, 1000, control=False)
        # the trapezoidal rule is late by (ωh)²/12 of the time
        np.testing.assert_allclose(free.x, [cos(2), -2 * sin(2)], atol=2e-6)
    # the controller acts as a damper, half a step late
    w = sqrt(4 - 0.0625)
    x = np.exp(-0.25) * (cos(w) + 0.25 / w * sin(w))
    np.testing.assert_allclose(np.array(ends)[:, 0], x, atol=3e-4)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)


def test_unsuitable_methods_and_problems_are_refused() -> None:
    with pytest.raises(ShapeError, match="no method is called 'rk5'"):
        FixedStep(Problem(falling, 2, 1), "rk5")
    with pytest.raises(ShapeError, match="is not a step"):
        marching(sign)
    with pytest.raises(ShapeError, match="as many positions as velocities"):
        FixedStep(Problem(blow_up, 1), "second_order_euler").run(0, [1.0], [], 0.1, 1)
    with pytest.raises(ShapeError, match="project_q"):
        Problem(falling, 2, 1, q_iterations=1)
    with pytest.raises(ShapeError, match="x has 3 numbers"):
        FixedStep(Problem(falling, 2, 1)).run(0, [1.0, 2, 3], [1.0], 0.1, 1)
    with pytest.raises(ShapeError, match="controller"):
        Problem(falling, 2, 1, control=sampled, nu=1, u_first=1)


@pytest.mark.parametrize("seed", range(2))
def test_same_bits_by_numba_python_and_c(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, p, t, work = rng.standard_normal(2), rng.random(1), rng.random(1), np.zeros((5, 2))
    steps = (explicit_euler_step, semi_implicit_euler_step, second_order_euler_step, heun_step)
    for step in (*steps, nystrom_step):
        same_bits(step, 2, 1, 0.1, t, x, p, forced_oscillator, work)


@pytest.mark.parametrize("method", range(8))
def test_driver_has_the_same_bits_by_numba_python_and_c(method: int) -> None:
    rng = np.random.default_rng(method)
    x, ns = np.array([0.6, -0.8, 2.4, 1.8]), 4 if method == 5 else 0
    integers = (method, 2, 4, 3, 1, 1, ns, 6, 2, 3, 0)
    ne = (np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros((2, 1)))
    counts, trajectory = np.zeros(4, np.int64), np.zeros((7, 4))
    status = same_bits(
        march, *integers, 0.03, rng.random(1), x, rng.random(3), pendulum, WITHOUT,
        onto_circle, 2, along_circle, 1, 1e-14, sampled, 3, 2, lowest, *ne, np.zeros(4),
        np.zeros(5), np.zeros(7), np.zeros((5, 4)), np.zeros((ns, ns)), np.zeros(ns, np.int64),
        np.zeros(ns), trajectory, np.zeros((7, 1)), counts,
    )  # fmt: skip
    # the search for an event is part of what is compared
    assert status == EVENT or method == 6
    assert counts[1] > 0


@kernel
def lowest(t, x, p, g):
    g[0] = x[0] - 0.7
