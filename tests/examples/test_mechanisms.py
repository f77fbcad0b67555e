"""The mechanisms of the validation problems: structure, energy, closed forms, published figures."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import biela as bl
from biela.equations import Equations
from examples.mechanisms import (
    andrews,
    bicycle,
    bricard,
    double_parallelogram,
    double_pendulum,
    four_bars,
    governor,
    point_pendulum,
    rolling_disc,
    simple_pendulum,
    slider_crank,
    top,
)

FOLDER = Path(__file__).parents[2] / "examples" / "mechanisms"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "description.py")


@dataclass(frozen=True)
class Case:
    """A mechanism, where it starts, and what is known of it beforehand."""

    model: Callable[[], bl.SymbolicSystem]
    start: Callable[[], tuple[list[float], list[float]]]
    sizes: tuple[int, int, int, int]  # coordinates, geometric and other constraints, solids
    mobility: int
    reference: dict[float, dict[str, float]] | None = None
    spread: float = 0.2  # of random positions about the start
    speed: float = 1.0  # of random velocities


CASES = {
    "point_pendulum": Case(
        point_pendulum.point_pendulum,
        point_pendulum.start,
        (2, 1, 0, 1),
        1,
        point_pendulum.REFERENCE,
    ),
    "point_pendulum_by_angle": Case(
        point_pendulum.point_pendulum_by_angle,
        point_pendulum.start_by_angle,
        (1, 0, 0, 1),
        1,
        point_pendulum.REFERENCE,
    ),
    "simple_pendulum": Case(
        simple_pendulum.simple_pendulum,
        simple_pendulum.start,
        (1, 0, 0, 1),
        1,
        simple_pendulum.REFERENCE,
    ),
    "double_pendulum": Case(
        double_pendulum.double_pendulum, double_pendulum.start, (2, 0, 0, 2), 2
    ),
    "slider_crank": Case(slider_crank.slider_crank, slider_crank.start, (3, 2, 0, 3), 1, speed=9.0),
    "four_bars": Case(four_bars.four_bars, four_bars.start, (5, 4, 0, 5), 1, four_bars.REFERENCE),
    "four_bars_5": Case(
        lambda: four_bars.four_bars(5), lambda: four_bars.start(5), (11, 10, 0, 11), 1
    ),
    "bricard": Case(bricard.bricard, bricard.start, (5, 5, 0, 5), 1, bricard.REFERENCE, speed=3.0),
    "andrews": Case(
        andrews.andrews,
        andrews.start,
        (7, 6, 0, 7),
        1,
        andrews.REFERENCE,
        spread=0.05,
        speed=300.0,
    ),
    # the springs are so stiff that a millimetre is much
    "governor": Case(
        governor.governor, governor.start, (4, 0, 0, 6), 4, governor.REFERENCE, spread=0.001
    ),
    "rolling_disc": Case(rolling_disc.rolling_disc, rolling_disc.start, (5, 0, 2, 1), 3, speed=5.0),
    "top": Case(top.top, top.start, (3, 0, 0, 1), 3, speed=9.0),
    "top_by_euler_parameters": Case(
        top.top_by_euler_parameters,
        top.start_by_euler_parameters,
        (4, 1, 0, 1),
        3,
        speed=9.0,
    ),
    "bicycle": Case(bicycle.bicycle, bicycle.start, (9, 2, 4, 4), 3, speed=5.0),
    "double_parallelogram": Case(
        double_parallelogram.double_parallelogram, double_parallelogram.start, (4, 4, 0, 4), 1
    ),
}
CONSTRAINED = [name for name, case in CASES.items() if case.sizes[1] + case.sizes[2]]
GEOMETRIC = [name for name, case in CASES.items() if case.sizes[1]]
REDUNDANT = ("bricard", "double_parallelogram")
FIXED_AT_THE_START = (
    "point_pendulum",
    "slider_crank",
    "four_bars",
    "four_bars_5",
    "bricard",
    "andrews",
    "double_parallelogram",
)


@cache
def derived(name: str) -> Equations:
    return CASES[name].model().equations()


@cache
def dynamics(name: str) -> bl.Function:
    """M and Q, and Φ_v and γ if there are constraints, in one function."""
    constrained = ("Phi_v", "gamma") if name in CONSTRAINED else ()
    return derived(name).joint("M", "Q", *constrained)


def start(name: str) -> tuple[np.ndarray, np.ndarray]:
    q, v = CASES[name].start()
    return np.array(q), np.array(v)


def value(name: str, what: str, q, v=None, u=None):
    return derived(name).system.evaluate(what, q, v, u=u)


def named(name: str, q, v, u=None) -> dict[str, float]:
    """Coordinates, velocities and outputs of a state by their names."""
    system = derived(name).system
    found = dict(zip([entry.name for entry in (*system.q, *system.v)], [*q, *v], strict=True))
    outputs = value(name, "outputs", q, v, u)
    return found | dict(zip([entry.name for entry in system.y], outputs, strict=True))


def accelerations(name: str, q, v, u=None) -> tuple[np.ndarray, np.ndarray]:
    """v' and λ of M v' + Φ_vᵀ λ = Q, Φ_v v' = γ, solved densely; least λ if it is redundant."""
    system = derived(name).system
    found = dynamics(name)(0.0, q, v, system.inputs if u is None else u, system.parameters)
    if name not in CONSTRAINED:
        return np.linalg.solve(*found), np.zeros(0)
    M, Q, J, gamma = found
    A = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    b = np.concatenate([Q, gamma])
    # a redundant row is one to the accuracy of the position, which is far from rounding
    x = np.linalg.lstsq(A, b, rcond=1e-10)[0] if name in REDUNDANT else np.linalg.solve(A, b)
    return x[: len(Q)], x[len(Q) :]


def free_motions(J: np.ndarray) -> np.ndarray:
    """The null space of a Jacobian, by columns."""
    return np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :].T


@cache
def random_state(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position and velocity near the start that satisfy the constraints, and inputs."""
    case, rng = CASES[name], np.random.default_rng(seed)
    q, _ = start(name)
    q += case.spread * rng.normal(size=len(q))
    v = case.speed * rng.normal(size=len(q))
    u = rng.normal(size=len(derived(name).system.u))
    if name in GEOMETRIC:
        # steps along the free motions of the start are kept: with them a redundant constraint,
        # independent of the others off the mechanism's positions, does no harm
        free = free_motions(value(name, "Phi_q", start(name)[0])).T
        kept = free @ q
        for _ in range(20):
            A = np.vstack([value(name, "Phi_q", q), free])
            b = np.concatenate([value(name, "Phi", q), free @ q - kept])
            q -= np.linalg.lstsq(A, b, rcond=None)[0]
        assert np.abs(value(name, "Phi", q)).max() < 1e-14
    if name in CONSTRAINED:
        J = value(name, "Phi_v", q)
        v -= np.linalg.lstsq(J, J @ v - value(name, "beta", q, v), rcond=1e-10)[0]
    return q, v, u


def rate(f: Callable[[np.ndarray, np.ndarray], np.ndarray], q, v, a) -> np.ndarray:
    """The time derivative of f(q, v) with acceleration a, by differences of fourth order."""
    h = 1e-3 / max(np.abs(v).max(), np.sqrt(np.abs(a).max()))

    def at(t: float) -> np.ndarray:
        return np.asarray(f(q + t * v + t**2 / 2 * a, v + t * a))

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def simulated(name: str, times: list[float]) -> list[tuple[np.ndarray, np.ndarray]]:
    """States at given times from the start, without any care for drift."""
    q, v = start(name)
    n = len(q)
    solution = solve_ivp(
        lambda t, y: np.concatenate([y[n:], accelerations(name, y[:n], y[n:])[0]]),
        (0.0, times[-1]),
        np.concatenate([q, v]),
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        t_eval=times,
    )
    assert solution.success
    return [(y[:n], y[n:]) for y in solution.y.T]


# --------------------------------------------------------------------------------------- structure


@pytest.mark.parametrize("name", CASES)
def test_the_mechanisms_have_their_sizes_and_mobility(name):
    eq, case = derived(name), CASES[name]
    system = eq.system
    others = len(system.multipliers) - system.geometric
    assert (len(system.q), system.geometric, others, len(eq.source.solids)) == case.sizes
    for q, v in (start(name), random_state(name, 0)[:2]):
        rank = np.linalg.matrix_rank(value(name, "Phi_v", q, v)) if system.multipliers else 0
        assert len(q) - rank == case.mobility


@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_mechanisms_have_one_constraint_too_many(name):
    J = value(name, "Phi_v", random_state(name, 1)[0])
    assert len(J) - np.linalg.matrix_rank(J) == 1


@pytest.mark.parametrize("name", CASES)
def test_the_systems_know_where_they_start(name):
    q, v = CASES[name].start()
    system = derived(name).system
    assert [entry.value for entry in (*system.q, *system.v)] == [*q, *v]


@pytest.mark.parametrize("name", CONSTRAINED)
def test_the_start_satisfies_the_constraints(name):
    q, v = start(name)
    if name in GEOMETRIC:
        np.testing.assert_allclose(value(name, "Phi", q), 0, atol=1e-15)
    residual = value(name, "Phi_v", q, v) @ v - value(name, "beta", q, v)
    np.testing.assert_allclose(residual, 0, atol=1e-14 * max(1, np.abs(v).max()))


@pytest.mark.parametrize("name", FIXED_AT_THE_START)
def test_the_initial_conditions_hold_at_the_start_and_fix_it(name):
    q, v = start(name)
    np.testing.assert_allclose(value(name, "Init", q), 0, atol=1e-15)
    # the constraints, and the one initial velocity, which comes last
    rows = [*range(derived(name).system.geometric), -1]
    J, beta = value(name, "Init_v", q)[rows], value(name, "Init_beta", q)[rows]
    np.testing.assert_allclose(J @ v, beta, atol=1e-14)
    assert np.linalg.matrix_rank(J) == len(q)
    assert np.linalg.matrix_rank(value(name, "Init_q", q)) == len(q)


@pytest.mark.parametrize("name", CASES)
def test_the_mass_matrix_is_symmetric_and_positive_on_admissible_motions(name):
    q, _, _ = random_state(name, 2)
    M = value(name, "M", q)
    np.testing.assert_array_equal(M, M.T)
    motions = free_motions(value(name, "Phi_v", q)) if name in CONSTRAINED else np.eye(len(q))
    eigenvalues = np.linalg.eigvalsh(motions.T @ M @ motions)
    assert eigenvalues.min() > 1e-5 * eigenvalues.max()


@pytest.mark.parametrize("name", CONSTRAINED)
def test_the_velocity_equations_are_the_rate_of_the_constraints(name):
    q, v, _ = random_state(name, 3)
    v = v + np.random.default_rng(3).normal(size=len(v))  # any motion, not only allowed ones
    dPhi, J = value(name, "dPhi", q, v), value(name, "Phi_v", q, v)
    np.testing.assert_allclose(J @ v - value(name, "beta", q, v), dPhi, rtol=1e-10, atol=1e-12)
    if name in GEOMETRIC:
        found = rate(lambda q, v: value(name, "Phi", q), q, v, np.zeros_like(v))
        scale = np.abs(J).max() * np.abs(v).max()
        np.testing.assert_allclose(dPhi[: len(found)], found, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_gamma_is_what_the_velocity_equations_leave_to_accelerations(name):
    """Along any motion, the rate of Φ' is Φ_v v' - γ."""
    q, v, _ = random_state(name, 4)
    a = np.random.default_rng(4).normal(size=len(v)) * np.abs(v).max() ** 2
    gamma = value(name, "gamma", q, v)
    expected = value(name, "Phi_v", q, v) @ a - gamma
    found = rate(lambda q, v: value(name, "dPhi", q, v), q, v, a)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


# ------------------------------------------------------------------------------------------ energy


def power(name: str, q, v, u) -> float:
    """Of what has no potential: the inputs, and the dampers of the governor."""
    if name == "slider_crank":
        return float(u[0] * v[0] + u[1] * v[2])
    if name == "governor":
        # from foot (0.05, s) to middle (0.05 + cos α / 2, 1 - sin α / 2)
        lost = 0.0
        for angle, turning in zip(q[2:], v[2:], strict=True):
            gap = np.array([np.cos(angle) / 2, 1 - np.sin(angle) / 2 - q[1]])
            opening = np.array([-np.sin(angle) / 2, -np.cos(angle) / 2]) * turning - [0, v[1]]
            lost += 4e4 * (gap @ opening) ** 2 / (gap @ gap)
        return -lost
    return 0.0


@pytest.mark.parametrize("name", CASES)
def test_the_kinetic_energy_is_that_of_the_mass_matrix(name):
    q, v, u = random_state(name, 5)
    found = named(name, q, v, u)
    assert found["kinetic energy"] == pytest.approx(v @ value(name, "M", q) @ v / 2, rel=1e-11)
    total = found["kinetic energy"] + found["potential energy"]
    assert found["energy"] == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("seed", [6, 7])
@pytest.mark.parametrize("name", CASES)
def test_the_energy_changes_by_the_power_of_what_has_no_potential(name, seed):
    q, v, u = random_state(name, seed)
    a, _ = accelerations(name, q, v, u)
    y = [entry.name for entry in derived(name).system.y]
    rates = rate(lambda q, v: value(name, "outputs", q, v, u), q, v, a)
    kinetic, potential = (rates[y.index(f"{kind} energy")] for kind in ("kinetic", "potential"))
    expected = power(name, q, v, u)
    scale = abs(kinetic) + abs(potential)
    assert kinetic + potential == pytest.approx(expected, rel=0, abs=1e-8 * scale)


# ------------------------------------------------------------------------------- published figures


#: How long each mechanism is followed, and how closely it meets its figures: the tolerance of the
#: integration, times what an error grows by; for Andrews' mechanism relative to each figure.
FOLLOWED = {
    "point_pendulum": (5.0, 1e-10),
    "point_pendulum_by_angle": (5.0, 1e-11),
    "simple_pendulum": (2.0, 1e-11),
    "four_bars": (1.0, 1e-11),  # later it passes positions where two motions meet
    "bricard": (1.0, 1e-11),
    "governor": (0.1, 1e-10),
    "andrews": (0.03, 1e-10),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_motion_meets_the_reference_figures(name):
    until, tolerance = FOLLOWED[name]
    reference = {t: figures for t, figures in CASES[name].reference.items() if t <= until}
    for figures, (q, v) in zip(reference.values(), simulated(name, list(reference)), strict=True):
        found = named(name, q, v)
        for what, expected in figures.items():
            relative = tolerance if name == "andrews" else 0.0
            bound = 0.0 if name == "andrews" else tolerance
            assert found[what] == pytest.approx(expected, rel=relative, abs=bound), what


def test_andrews_mechanism_has_the_published_accelerations_and_multipliers():
    q, v = start("andrews")
    a, lam = accelerations("andrews", q, v)
    names = [entry.name for entry in derived("andrews").system.q]
    found = dict(zip(names, a, strict=True))
    for what, expected in andrews.START_ACCELERATIONS.items():
        assert found[what] == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(lam, andrews.START_MULTIPLIERS, rtol=1e-13, atol=1e-12)


def test_andrews_mechanism_agrees_with_the_published_figures_to_their_own_accuracy():
    """Of the test set for IVP solvers: ten digits in position, eight in velocity."""
    published = {
        "beta": 15.81077119629904,
        "Theta": -15.75637105984298,
        "gamma": 0.04082224013073101,
        "Phi": -0.5347301163226948,
        "delta": 0.5244099658805304,
        "epsilon": 1.048080741042263,
        "dbeta": 1139.920302151208,
        "dTheta": -1424.379294994111,
        "dgamma": 11.03291221937134,
    }
    ((q, v),) = simulated("andrews", [0.03])
    found = named("andrews", q, v)
    velocities = [entry.name for entry in derived("andrews").system.v]
    for what, expected in published.items():
        assert found[what] == pytest.approx(expected, rel=1e-7 if what in velocities else 1e-9), (
            what
        )


def test_the_governor_keeps_its_angular_momentum():
    for q, v in (start("governor"), *simulated("governor", [0.1])):
        found = named("governor", q, v)["angular momentum"]
        assert found == pytest.approx(governor.ANGULAR_MOMENTUM, rel=1e-11)


def test_the_point_pendulum_has_the_period_of_its_elliptic_integral():
    """T = 4 √(l/g) K(sin²(θ₀/2)), from the horizontal."""
    period = point_pendulum.PERIOD
    assert period == pytest.approx(4 * math.sqrt(1 / 9.81) * ellipk(0.5), rel=1e-15)
    ((q, v),) = simulated("point_pendulum_by_angle", [period])
    np.testing.assert_allclose([*q, *v], [-math.pi / 2, 0.0], atol=1e-10)


# ------------------------------------------------------------------------------------ closed forms


def turn(axis: int, angle: float) -> np.ndarray:
    """The matrix of a turn about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = math.cos(angle)
    R[j, i] = math.sin(angle)
    R[i, j] = -R[j, i]
    return R


def test_the_closure_of_bricards_linkage_is_that_of_its_last_joint():
    """In any position, closed or not, by multiplying the turns about the axes."""
    q = np.random.default_rng(10).normal(size=5)
    R, end = np.eye(3), np.zeros(3)
    for angle, (axis, direction) in zip(q, bricard.RODS, strict=True):
        R = R @ turn("xyz".index(axis), angle)
        end = end + R @ direction
    expected = [*(end - [0, 0, 1]), R[1, 0], R[2, 0]]
    np.testing.assert_allclose(value("bricard", "Phi", q), expected, atol=1e-14)


def test_the_double_pendulum_has_the_frequencies_of_small_oscillations():
    h, rest = 1e-4, np.zeros(2)
    K = np.transpose(
        [
            (value("double_pendulum", "Q", -e, rest) - value("double_pendulum", "Q", e, rest))
            / 2
            / h
            for e in h * np.eye(2)
        ]
    )
    squares = np.linalg.eigvals(np.linalg.solve(value("double_pendulum", "M", rest), K))
    found = np.sort(np.sqrt(squares))
    np.testing.assert_allclose(found, double_pendulum.FREQUENCIES, rtol=1e-7)


def test_the_slider_crank_moves_as_its_single_equation_says():
    """½ J(θ) θ'² + V(θ): J θ'' = τ - V' - ½ J' θ'², all from the closed form of the positions."""
    r, l, g = slider_crank.RADIUS, slider_crank.ROD, 9.81
    m_crank, m_rod, m_piston = 1.2, 0.6, 0.5

    def inertia(theta: float) -> float:
        (_, phi, _), (_, dphi, dx) = slider_crank.closed_form(theta, 1.0)
        middle = np.array([-r * math.sin(theta), r * math.cos(theta)])
        middle += l / 2 * dphi * np.array([-math.sin(phi), math.cos(phi)])
        rod = m_rod * (middle @ middle + l**2 / 12 * dphi**2)
        return m_crank * r**2 / 3 + rod + m_piston * dx**2

    def potential(theta: float) -> float:
        # the middle of the rod is half as high as its upper end
        return (m_crank + m_rod) * g * r / 2 * math.sin(theta)

    h, tau = 1e-5, 0.7
    for theta, omega in ((0.4, 12.0), (2.0, -7.0), (4.4, 20.0)):
        dJ, dV = ((f(theta + h) - f(theta - h)) / (2 * h) for f in (inertia, potential))
        expected = (tau - dV - dJ * omega**2 / 2) / inertia(theta)
        q, v = slider_crank.closed_form(theta, omega)
        a, _ = accelerations("slider_crank", np.array(q), np.array(v), u=np.array([tau, 0.0]))
        assert a[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ["four_bars", "four_bars_5"])
def test_parallel_four_bars_move_as_one_pendulum(name):
    n = CASES[name].sizes[0] // 2
    a, b = (n + 1) / 3 + n, (n + 1) / 2 + n
    theta, omega = 0.8, 1.7
    q, v = np.array([theta] + n * [theta, 0.0]), np.array([omega] + n * [omega, 0.0])
    np.testing.assert_allclose(value(name, "Phi", q), 0, atol=1e-14)
    expected = -b * 9.81 * math.cos(theta) / a
    found, _ = accelerations(name, q, v)
    np.testing.assert_allclose(found, [expected] + n * [expected, 0.0], rtol=1e-10, atol=1e-10)


def test_four_bars_on_a_line_may_fold_one_by_one():
    q = np.zeros(11)
    assert np.abs(value("four_bars_5", "Phi", q)).max() == 0
    assert len(q) - np.linalg.matrix_rank(value("four_bars_5", "Phi_v", q)) == 5 + 1


def test_the_equations_of_four_bars_grow_in_proportion_to_their_number():
    small, large = dynamics("four_bars").count, dynamics("four_bars_5").count
    each = (large.arithmetic - small.arithmetic) / 3
    assert large.arithmetic == pytest.approx(5 * each, rel=0.1)


def test_the_double_parallelogram_moves_its_coupler_in_parallel():
    m, M, l, g = 1.0, 3.0, 0.4, 9.81
    q, v = start("double_parallelogram")
    a, lam = accelerations("double_parallelogram", q, v)
    expected = -(3 * m / 2 + M) * g * math.cos(q[0]) / ((m + M) * l)
    np.testing.assert_allclose(a, [expected, expected, expected, 0], rtol=1e-11, atol=1e-11)
    # the multipliers are not determined, but what they do to the coordinates is
    residual = value("double_parallelogram", "M", q) @ a - value("double_parallelogram", "Q", q, v)
    J = value("double_parallelogram", "Phi_v", q)
    np.testing.assert_allclose(residual, -J.T @ lam, atol=1e-11)


# ------------------------------------------------------------------------------- rolling and tops


def test_the_point_of_the_disc_that_touches_the_plane_is_at_rest():
    r = rolling_disc.RADIUS

    def disc(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its centre and its orientation."""
        x, y, psi, theta, phi = q
        lean = turn(2, psi) @ turn(0, theta)
        return np.array([x, y, 0]) + lean @ [0, 0, r], lean @ turn(1, phi)

    q, v, _ = random_state("rolling_disc", 8)
    centre, R = disc(q)
    material = R.T @ (np.array([q[0], q[1], 0]) - centre)
    touching = rate(lambda q, v: disc(q)[0] + disc(q)[1] @ material, q, v, np.zeros(5))
    np.testing.assert_allclose(touching, 0, atol=1e-9 * np.abs(v).max())


def test_a_disc_in_steady_motion_keeps_its_lean_and_runs_in_a_circle():
    q, v = start("rolling_disc")
    radius = rolling_disc.RADIUS * v[4] / v[2]
    centre = np.array([0, radius])  # a turn to the left about a centre beside the heading
    for t, (q_t, v_t) in zip((0.7, 2.0), simulated("rolling_disc", [0.7, 2.0]), strict=True):
        assert q_t[3] == pytest.approx(q[3], abs=1e-10)
        np.testing.assert_allclose(v_t[2:], v[2:], atol=1e-9)
        psi = v[2] * t
        place = centre + radius * np.array([math.sin(psi), -math.cos(psi)])
        np.testing.assert_allclose(q_t[:2], place, atol=1e-9)


def bicycle_rates(z: np.ndarray, speed: float) -> np.ndarray:
    """Rates of z = (lean, steer, lean rate, steer rate) in a ride at a forward speed."""
    q, v = np.zeros(9), np.zeros(9)
    q[[3, 5]], v[[3, 5, 6]] = z[:2], [*z[2:], -speed / 0.3]
    pitch_and_contact, others = [4, 8], [0, 1, 2, 4, 7, 8]
    for _ in range(8):
        J = value("bicycle", "Phi_q", q)[:, pitch_and_contact]
        q[pitch_and_contact] -= np.linalg.solve(J, value("bicycle", "Phi", q))
    J = value("bicycle", "Phi_v", q)
    v[others] = np.linalg.solve(J[:, others], -J @ v)
    a, _ = accelerations("bicycle", q, v)
    return np.array([*z[2:], a[3], a[5]])


def test_the_bicycle_is_stable_between_the_published_speeds():
    """At the lower speed a pair of eigenvalues crosses to the left, at the upper one a real one."""

    def eigenvalues(speed: float) -> np.ndarray:
        still = np.zeros(4)
        columns = [rate(lambda z, _: bicycle_rates(z, speed), still, e, still) for e in np.eye(4)]
        found = np.linalg.eigvals(np.transpose(columns))
        return found[np.argsort(-found.real)]

    weave, capsize = bicycle.STABLE_SPEEDS
    lower, upper = eigenvalues(weave), eigenvalues(capsize)
    assert np.abs(lower[:2].real).max() < 1e-9 and np.abs(lower[:2].imag).min() > 1
    assert abs(upper[0]) < 1e-9
    assert lower[2].real < 0 and upper[1].real < 0
    assert eigenvalues(weave - 0.1)[0].real > 0
    assert eigenvalues((weave + capsize) / 2)[0].real < 0
    assert eigenvalues(capsize + 0.1)[0].real > 0


@pytest.mark.parametrize("name", ["top", "top_by_euler_parameters"])
def test_a_top_in_steady_precession_keeps_its_nutation(name):
    theta, rate_of_precession = top.NUTATION, top.PRECESSION
    ((q, v),) = simulated(name, [1.0])
    found = named(name, q, v)
    psi = rate_of_precession * 1.0
    # the axis of a base turned by zxz is (sin ψ sin θ, -cos ψ sin θ, cos θ)
    axis = (math.sin(psi) * math.sin(theta), -math.cos(psi) * math.sin(theta), math.cos(theta))
    assert [found[k] for k in "xyz"] == pytest.approx(axis, rel=0, abs=1e-9)


def test_both_descriptions_of_the_top_give_the_same_motion():
    """Any motion: the rates of the Euler parameters from angles, with those a moment later."""
    q, v, _ = random_state("top", 9)
    a, _ = accelerations("top", q, v)
    e, de = (np.array(x) for x in top.as_euler_parameters(list(q), list(v)))
    assert e @ e == pytest.approx(1, rel=1e-15)
    mapped = rate(lambda q, v: top.as_euler_parameters(list(q), list(v)), q, v, a)
    np.testing.assert_allclose(mapped[0], de, atol=1e-9 * np.abs(de).max())
    found, _ = accelerations("top_by_euler_parameters", e, de)
    np.testing.assert_allclose(found, mapped[1], atol=1e-9 * np.abs(found).max())


# ------------------------------------------------------------------------------------ the scripts


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_describe_their_mechanism(script, monkeypatch, capsys):
    monkeypatch.syspath_prepend(FOLDER)  # as when the script is run
    monkeypatch.setattr("sys.argv", [script])
    runpy.run_path(str(FOLDER / script), run_name="__main__")
    printed = capsys.readouterr().out
    for word in ("coordinates", "constraints", "mobility", "operations"):
        assert word in printed
