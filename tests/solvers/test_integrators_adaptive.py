from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from biela.errors import ShapeError
from biela.solvers.integrators import (
    BOTH,
    EVENT,
    FALLING,
    FINISHED,
    NOT_FINITE,
    RISING,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    Problem,
    Tableau,
    VariableStep,
    adams,
    embedded_pair,
)
from biela.solvers.integrators.dormand_prince import DORMAND_PRINCE

P = numba.types.CPointer(numba.types.float64)
kernel = numba.cfunc(numba.types.void(P, P, P, P))
METHODS = ["dormand_prince", "adams", "radau"]


@kernel
def forced_oscillator(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -p[0] * x[0] + sin(t[0])


def forced_motion(t: np.ndarray) -> np.ndarray:
    # x'' = -4 x + sin t, x(0) = 1, x'(0) = 0
    x = np.cos(2 * t) - np.sin(2 * t) / 6 + np.sin(t) / 3
    v = -2 * np.sin(2 * t) - np.cos(2 * t) / 3 + np.cos(t) / 3
    return np.stack([x, v], axis=-1)


@kernel
def pendulum(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -sin(x[0])


@kernel
def on_circle(t, x, p, xdot):
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
def falling(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = -10.0


@kernel
def height(t, x, p, g):
    g[0] = x[0]


@kernel
def angle_and_rate(t, x, p, g):
    g[0] = x[0]
    g[1] = x[1]


@kernel
def blow_up(t, x, p, xdot):
    xdot[0] = x[0] * x[0]


@kernel
def root_of_negative(t, x, p, xdot):
    xdot[0] = -sqrt(1.0 - t[0])


@kernel
def driven(t, x, p, xdot):
    xdot[0] = p[0]


@kernel
def sampled(t, x, p, u):
    u[0] = t[0]


def oscillate(method: str, tolerance: float, times: np.ndarray, **options: object) -> VariableStep:
    problem = Problem(forced_oscillator, 2, 1)
    solver = VariableStep(problem, method, end=times[-1], rtol=tolerance, atol=tolerance, **options)
    solver.start(0.0, [1.0, 0.0], [4.0])
    return solver


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_error_follows_the_tolerance_also_between_steps(method: str, tolerance: float) -> None:
    times = np.linspace(0, 10, 137)
    run = oscillate(method, tolerance, times).advance(times)
    assert run.status == FINISHED
    error = np.abs(run.states - forced_motion(times)).max()
    assert error < 60 * tolerance
    assert run.t == 10.0


@pytest.mark.parametrize("method", METHODS)
def test_chunks_of_output_times_give_the_same_bits_as_one_call(method: str) -> None:
    times = np.linspace(0, 10, 61)
    one, many = (oscillate(method, 1e-7, times) for _ in range(2))
    whole = one.advance(times)
    parts = [many.advance(part).states for part in np.split(times, [1, 2, 17, 40])]
    np.testing.assert_array_equal(np.concatenate(parts), whole.states)
    assert one.statistics == many.statistics


def test_dormand_prince_is_of_order_five_and_its_dense_output_of_order_four() -> None:
    # one step of each length from the start, looked at inside and at the end
    inside, ends = [], []
    for h in (0.2, 0.1):
        solver = VariableStep(
            Problem(forced_oscillator, 2, 1), end=h, rtol=1.0, atol=1.0, first_step=h
        )
        solver.start(0, [1.0, 0.0], [4.0])
        times = h * np.array([0.2, 0.37, 0.6, 0.85, 1.0])
        run = solver.advance(times)
        error = np.abs(run.states - forced_motion(times)).max(axis=1)
        assert solver.statistics.steps == 1
        inside.append(error[:-1].max())
        ends.append(error[-1])
    assert np.log2(inside[0] / inside[1]) == pytest.approx(5, abs=0.35)
    assert np.log2(ends[0] / ends[1]) == pytest.approx(6, abs=0.35)


def test_dormand_prince_agrees_with_scipy_on_the_pendulum() -> None:
    times = np.linspace(0, 20, 50)
    solver = VariableStep(Problem(pendulum, 2), end=20, rtol=1e-10, atol=1e-12)
    solver.start(0, [2.0, 0.0])
    ours = solver.advance(times)
    theirs = solve_ivp(
        lambda t, x: [x[1], -np.sin(x[0])], (0, 20), [2.0, 0.0], "DOP853", times,
        rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(ours.states, theirs.y.T, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_pendulum_crosses_and_turns_at_the_quarters_of_its_period(method: str) -> None:
    quarter = ellipk(sin(0.5) ** 2)  # amplitude 1 rad
    problem = Problem(pendulum, 2, events=angle_and_rate, directions=[BOTH, BOTH])
    solver = VariableStep(problem, method, end=20, rtol=1e-13, atol=1e-14)
    solver.start(0, [1.0, 0.0])
    found, fired = [], []
    for _ in range(5):
        run = solver.advance([20.0])
        assert run.status == EVENT
        found.append(run.t)
        fired.append(run.fired.tolist())
        solver.restart()
    np.testing.assert_allclose(found, quarter * np.arange(1, 6), rtol=0, atol=5e-12)
    assert fired == [[-1, 0], [0, 1], [1, 0], [0, -1], [-1, 0]]


def test_output_before_an_event_follows_the_elliptic_functions() -> None:
    quarter = ellipk(sin(0.5) ** 2)
    problem = Problem(pendulum, 2, events=angle_and_rate, directions=[FALLING, BOTH])
    solver = VariableStep(problem, end=20, rtol=1e-10, atol=1e-12)
    solver.start(0, [1.0, 0.0])
    times = np.arange(0, 20, 0.01)
    run = solver.advance(times)
    assert run.times[-1] == times[times < quarter][-1]
    sn = ellipj(run.times + quarter, sin(0.5) ** 2)[0]
    np.testing.assert_allclose(run.states[:, 0], 2 * np.arcsin(sin(0.5) * sn), atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("direction", [FALLING, BOTH])
def test_ball_bounces_at_the_times_of_its_parabolas(method: str, direction: int) -> None:
    problem = Problem(falling, 2, events=height, directions=[direction])
    solver = VariableStep(problem, method, end=10, rtol=1e-9, atol=1e-9)
    solver.start(0, [1.0, 0.0])
    times = []
    for _ in range(4):
        run = solver.advance([10.0])
        assert run.status == EVENT and run.fired.tolist() == [-1]
        times.append(run.t)
        solver.restart([run.x[0], -0.5 * run.x[1]])
    np.testing.assert_allclose(times, sqrt(0.2) * np.array([1, 2, 2.5, 2.75]), rtol=0, atol=2e-12)


def test_event_in_the_other_direction_is_passed() -> None:
    solver = VariableStep(Problem(falling, 2, events=height, directions=[RISING]), end=2.0)
    solver.start(0, [1.0, 0.0])
    assert solver.advance([2.0]).status == FINISHED


@pytest.mark.parametrize("method", METHODS)
def test_an_event_that_is_zero_at_the_restart_does_not_fire(method: str) -> None:
    solver = VariableStep(
        Problem(falling, 2, events=height, directions=[BOTH]), method, end=1.5, rtol=1e-9, atol=1e-9
    )
    solver.start(0, [0.0, 5.0])
    run = solver.advance([1.5])
    assert run.status == EVENT and run.t == pytest.approx(1.0, abs=1e-11)
    solver.restart([0.0, run.x[1]])
    assert solver.advance([1.5]).status == FINISHED


@pytest.mark.parametrize("method", METHODS)
def test_projected_states_lie_on_the_constraint_also_between_steps(method: str) -> None:
    problem = Problem(on_circle, 4, project_q=onto_circle, q_iterations=3)
    solver = VariableStep(problem, method, end=5, rtol=1e-4, atol=1e-4)
    solver.start(0, [1.0, 0, 0, 0])
    run = solver.advance(np.linspace(0, 5, 333))
    assert run.status == FINISHED
    assert np.abs((run.states[:, :2] ** 2).sum(axis=1) - 1).max() < 1e-15
    assert solver.statistics.corrections > solver.statistics.steps


@pytest.mark.parametrize("method", METHODS)
def test_controller_is_sampled_on_time_and_held(method: str) -> None:
    problem = Problem(driven, 1, 1, control=sampled, nu=1)
    solver = VariableStep(problem, method, end=3, control_period=1.0)
    solver.start(0, [0.0], [99.0])
    run = solver.advance(np.arange(0, 3.25, 0.25))
    u = np.repeat([0.0, 1.0, 2.0], 4)
    np.testing.assert_allclose(run.states[:, 0], np.append(0, np.cumsum(u) * 0.25), atol=1e-14)


def test_blow_up_ends_with_a_step_too_small() -> None:
    # x = 1/(1 - t)
    solver = VariableStep(Problem(blow_up, 1), end=2.0)
    solver.start(0, [1.0])
    run = solver.advance([0.5, 2.0])
    assert run.status in (STEP_TOO_SMALL, NOT_FINITE)
    assert run.states[0, 0] == pytest.approx(2.0, rel=1e-5)
    assert run.t == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_nan_of_the_right_hand_side_stops_before_it(method: str) -> None:
    solver = VariableStep(Problem(root_of_negative, 1), method, end=2.0)
    solver.start(0, [1.0])
    run = solver.advance([2.0])
    assert run.status == NOT_FINITE
    assert 0.9 < run.t <= 1.0
    assert np.isfinite(run.x).all()


@pytest.mark.parametrize("method", METHODS)
def test_bound_on_the_steps_is_a_status_and_not_the_end(method: str) -> None:
    times = np.linspace(0, 10, 11)
    solver = oscillate(method, 1e-6, times, max_steps=9)
    run = solver.advance(times)
    assert run.status == TOO_MANY_STEPS
    rows = list(run.states)
    for _ in range(500):
        if run.status == FINISHED:
            break
        run = solver.advance(times[len(rows) :])
        rows += list(run.states)
    np.testing.assert_array_equal(rows, oscillate(method, 1e-6, times).advance(times).states)


def ode45(f: Any, end: float, y: np.ndarray, rtol: float) -> tuple[int, int, np.ndarray]:
    """Steps, failures and result of a plain loop with the step control of ode45."""
    A, E = DORMAND_PRINCE.A, np.array(DORMAND_PRINCE.e)
    t, threshold, k1 = 0.0, 1e-6 / rtol, f(0.0, y)
    rate = np.abs(k1 / np.maximum(np.abs(y), threshold)).max() / (0.8 * rtol**0.2)
    h = min(0.1 * end, 1 / rate)
    steps = failed = 0
    while t < end:
        h, first = min(h, 0.1 * end), True
        while True:
            if 1.1 * h >= end - t:
                h = end - t
            k = [k1]
            for row, c in zip(A[1:], DORMAND_PRINCE.c[1:], strict=True):
                new = y + h * sum(a * ki for a, ki in zip(row, k, strict=True))
                k.append(f(t + c * h, new))
            weight = np.maximum(np.maximum(np.abs(y), np.abs(new)), threshold)
            err = h * np.abs(np.tensordot(E, k, 1) / weight).max()
            if err <= rtol:
                break
            failed += 1
            h *= max(0.1, 0.8 * (rtol / err) ** 0.2) if first else 0.5
            first = False
        steps += 1
        t, y, k1 = t + h, new, k[-1]
        if first:
            h /= max(0.2, 1.25 * (err / rtol) ** 0.2)
    return steps, failed, y


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_matlab_convention_takes_the_steps_of_ode45(rtol: float) -> None:
    def rhs(t: float, x: np.ndarray) -> np.ndarray:
        return np.array([x[1], 5.0 * (1 - x[0] ** 2) * x[1] - x[0]])

    solver = VariableStep(Problem(van_der_pol, 2, 1), end=20, rtol=rtol, matlab=True)
    solver.start(0, [2.0, 0.0], [5.0])
    run = solver.advance([20.0])
    steps, failed, x = ode45(rhs, 20.0, np.array([2.0, 0.0]), rtol)
    s = solver.statistics
    assert failed > 0
    assert (s.steps, s.failed) == (steps, failed)
    assert s.evaluations == 1 + 6 * (steps + failed)
    np.testing.assert_allclose(run.x, x, rtol=1e-9)


def test_matlab_convention_of_adams_counts_two_evaluations_a_step() -> None:
    solver = VariableStep(Problem(van_der_pol, 2, 1), "adams", end=20, rtol=1e-6, matlab=True)
    solver.start(0, [2.0, 0.0], [5.0])
    solver.advance([20.0])
    s = solver.statistics
    assert s.failed > 0
    assert s.evaluations == 1 + 2 * s.steps + s.failed


def test_adams_has_the_coefficients_of_bashforth_for_equal_steps() -> None:
    # γ_m = 1 - Σ γ_j / (m + 1 - j): 1, 1/2, 5/12, 3/8, 251/720, …
    bashforth = [1.0]
    for m in range(1, 13):
        bashforth.append(1 - sum(g / (m + 1 - j) for j, g in enumerate(bashforth)))
    table = np.zeros(adams.SIZE)
    table[adams.PSI + 1 : adams.PSI + 13] = 0.1 * np.arange(1, 13)
    adams.coefficients(adams.SIZE, 12, 0.1, table)
    np.testing.assert_allclose(table[adams.G + 1 : adams.G + 14], bashforth, rtol=1e-13)
    np.testing.assert_allclose(table[adams.BETA + 1 : adams.BETA + 13], 1.0, rtol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 5, 8, 12])
def test_adams_predictor_is_exact_for_polynomials_whatever_the_steps(k: int) -> None:
    # slopes of degree k - 1 at k unequal times: φ_i are divided differences times ψ
    rng = np.random.default_rng(k)
    steps = rng.uniform(0.5, 1.5, k) / k  # over a second in all: no large powers, little rounding
    nodes = -np.concatenate([[0.0], np.cumsum(steps[:-1])])  # t_n, t_{n-1}, …
    slope = np.polynomial.Polynomial(rng.standard_normal(k))
    h, table = 0.8 / k, np.zeros(adams.SIZE)
    psi = -nodes[1:]
    table[adams.PSI + 1 : adams.PSI + k] = psi
    adams.coefficients(adams.SIZE, k, h, table)
    phi = []
    for i in range(k):
        divided = [slope(s) for s in nodes[: i + 1]]
        for level in range(1, i + 1):
            divided = [
                (divided[j] - divided[j + 1]) / (nodes[j] - nodes[j + level])
                for j in range(len(divided) - 1)
            ]
        phi.append(np.prod(psi[:i]) * divided[0])
    g, beta = (table[place + 1 : place + k + 1] for place in (adams.G, adams.BETA))
    exact = slope.integ()(h)
    assert h * (g * beta) @ phi == pytest.approx(exact, rel=1e-10, abs=1e-10)


def test_adams_needs_few_evaluations_for_many_digits() -> None:
    cost = {}
    for method in ("adams", "dormand_prince"):
        times = np.linspace(0, 20, 3)
        solver = oscillate(method, 1e-12, times)
        run = solver.advance(times)
        assert np.abs(run.states - forced_motion(times)).max() < 1e-10
        cost[method] = solver.statistics.evaluations
    assert cost["adams"] < cost["dormand_prince"] / 8


@kernel
def van_der_pol(t, x, p, xdot):
    xdot[0] = x[1]
    xdot[1] = p[0] * (1.0 - x[0] * x[0]) * x[1] - x[0]


@kernel
def van_der_pol_jacobian(t, x, p, J):
    J[0] = 0.0
    J[1] = 1.0
    J[2] = -2.0 * p[0] * x[0] * x[1] - 1.0
    J[3] = p[0] * (1.0 - x[0] * x[0])


@kernel
def robertson(t, x, p, xdot):
    xdot[0] = -0.04 * x[0] + 1e4 * x[1] * x[2]
    xdot[2] = 3e7 * x[1] * x[1]
    xdot[1] = -xdot[0] - xdot[2]


@pytest.mark.parametrize("jacobian", [None, van_der_pol_jacobian])
def test_radau_solves_the_stiff_van_der_pol_oscillator(jacobian: Any) -> None:
    # reference: Mazzia & Magherini 2008, Test Set for Initial Value Problem Solvers, μ = 1000
    problem = Problem(van_der_pol, 2, 1, jacobian=jacobian)
    solver = VariableStep(problem, "radau", end=2000, rtol=1e-8, atol=1e-8)
    solver.start(0, [2.0, 0.0], [1000.0])
    run = solver.advance([2000.0])
    np.testing.assert_allclose(run.x, [1.706167732170469, -0.8928097010248125e-3], rtol=1e-6)
    s = solver.statistics
    assert s.steps < 2500 and s.jacobians < s.factorisations < s.steps
    assert s.iterations > s.steps


def test_radau_solves_robertsons_reaction_to_1e11_seconds() -> None:
    # reference: Mazzia & Magherini 2008, Test Set for Initial Value Problem Solvers
    solver = VariableStep(
        Problem(robertson, 3), "radau", end=1e11, rtol=1e-9, atol=[1e-12, 1e-16, 1e-12]
    )
    solver.start(0, [1.0, 0.0, 0.0])
    run = solver.advance([1e11])
    reference = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(run.x, reference, rtol=1e-5)


def test_radau_is_of_order_five_and_its_dense_output_of_order_three() -> None:
    inside, ends = [], []
    for h in (0.2, 0.1):
        solver = VariableStep(
            Problem(forced_oscillator, 2, 1), "radau", end=h, rtol=1e-11, atol=1e6, first_step=h
        )
        solver.start(0, [1.0, 0.0], [4.0])
        times = h * np.array([0.3, 0.5, 0.8, 1.0])
        run = solver.advance(times)
        error = np.abs(run.states - forced_motion(times)).max(axis=1)
        assert solver.statistics.steps == 1
        inside.append(error[:-1].max())
        ends.append(error[-1])
    assert np.log2(inside[0] / inside[1]) == pytest.approx(4, abs=0.35)
    assert np.log2(ends[0] / ends[1]) == pytest.approx(6, abs=0.35)


def test_parameters_change_at_the_end() -> None:
    solver = VariableStep(Problem(driven, 1, 1), end=1.0)
    solver.start(0, [0.0], [2.0])
    solver.advance([1.0])
    solver.end = 2.0
    solver.restart(p=[-1.0])
    assert solver.advance([2.0]).states[0, 0] == pytest.approx(1.0, rel=1e-14)


def test_a_tableau_of_ones_own_is_a_method() -> None:
    # Bogacki & Shampine 3(2) with the cubic Hermite polynomial
    pair = Tableau(
        3, 2,
        [[], [1 / 2], [0, 3 / 4], [2 / 9, 1 / 3, 4 / 9]],
        [0, 1 / 2, 3 / 4, 1],
        [2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8],
        [[1, -4 / 3, 5 / 9], [0, 1, -2 / 3], [0, 4 / 3, -8 / 9], [0, -1, 1]],
    )  # fmt: skip
    times = np.linspace(0, 5, 23)
    solver = VariableStep(
        Problem(pendulum, 2), embedded_pair("bs32", pair), end=5, rtol=1e-7, atol=1e-7
    )
    solver.start(0, [1.0, 0.0])
    run = solver.advance(times)
    theirs = solve_ivp(
        lambda t, x: [x[1], -np.sin(x[0])], (0, 5), [1.0, 0.0], "DOP853", times,
        rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(run.states, theirs.y.T, atol=2e-6)


def test_inconsistent_tableau_is_refused() -> None:
    with pytest.raises(ShapeError, match="2 stages has rows"):
        Tableau(1, 1, [[], [1, 0]], [0, 1], [0, 0], [[1], [0]])
    with pytest.raises(ShapeError, match="not consistent"):
        Tableau(1, 1, [[], [1]], [0, 1], [0.5, 0], [[1], [0]])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ShapeError, match="no adaptive method"):
        VariableStep(Problem(pendulum, 2), "rk99", end=1)
    with pytest.raises(ShapeError, match="tolerances are positive"):
        VariableStep(Problem(pendulum, 2), end=1, rtol=0)
    solver = VariableStep(Problem(pendulum, 2), end=1)
    solver.start(0, [1.0, cos(0.0)])
    with pytest.raises(ShapeError, match="output times rise"):
        solver.advance([0.5, 0.2])
    with pytest.raises(ShapeError, match="beyond end"):
        solver.advance([1.5])
