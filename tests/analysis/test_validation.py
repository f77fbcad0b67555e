"""Simulated motions against closed forms and published figures, and against each other.

The problems and their bounds are those of the validation page (`benchmarks.validation`).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import biela as bl
from benchmarks.validation.measurements import (
    FIXED_STEP,
    andrews_error,
    drift,
    observed_orders,
)
from benchmarks.validation.problems import (
    PROBLEMS,
    derived,
    in_parallel,
    partial_four_bars,
    solved,
)
from benchmarks.validation.references import (
    crank_rod_disc_pose,
    double_pendulum_rates,
    four_bar_pose,
    integrated,
    passage,
)
from biela.errors import SimulationError
from examples.mechanisms import (
    andrews,
    bricard,
    double_parallelogram,
    double_pendulum,
    governor,
    point_pendulum,
    rolling_disc,
    simple_pendulum,
    slider_crank,
    top,
)
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.four_bar import four_bar

#: Formulations that any integrator of explicit equations runs.
EXPLICIT = (
    "multipliers",
    "baumgarte",
    "penalty",
    "augmented",
    "index2",
    "index3",
    "velocity_projection",
    "matrix_r",
    "null_space",
    "range_space",
)


# ---------------------------------------------------------------- the references themselves


def test_quadrature_of_the_energy_gives_the_period_of_a_pendulum():
    system = derived(simple_pendulum.simple_pendulum).system
    p = np.array([entry.value for entry in system.p])
    # from the lowest point, passed with the speed of the fall, on to one radian
    speed = math.sqrt(3 * 9.81)
    t, fast = passage(system, lambda angle: np.array([angle]), 0.0, speed, 1.0, p)
    assert fast == pytest.approx(math.sqrt(3 * 9.81 * math.cos(1.0)), rel=1e-12)
    quarter = simple_pendulum.PERIOD / 4
    r = bl.simulate(simple_pendulum.simple_pendulum(), quarter + t, tolerance=1e-12)
    assert r["theta"][-1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("model", "pose"), [(four_bar, four_bar_pose), (crank_rod_disc, crank_rod_disc_pose)]
)
def test_poses_in_closed_form_fulfil_the_constraints(model, pose):
    system = derived(model).system
    for angle in np.linspace(-7, 7, 29):
        np.testing.assert_allclose(system.evaluate("Phi", pose(angle)), 0, atol=1e-13)


def test_the_order_of_the_reference_of_the_double_pendulum_is_four():
    x = np.array([math.pi / 2, math.pi / 2, 0.0, 0.0])
    ends = [integrated(double_pendulum_rates, x, 1.0, n) for n in (800, 1600, 3200)]
    order = math.log2(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[2] - ends[1]))
    assert order == pytest.approx(4.0, abs=0.1)


# -------------------------------------------------------------------------------- the problems


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_solved_to_its_digits(name):
    problem = PROBLEMS[name]
    r = solved(problem)
    assert r.t[-1] == pytest.approx(problem.duration, rel=1e-12)
    assert problem.error(r) <= problem.bound
    # what stays, stays at least as well as the motion is known
    assert drift(r, problem.conserved) <= 1e-8
    if "constraint error" in r:
        assert r["constraint error"].max() <= 1e-12
    if "velocity error" in r:
        assert r["velocity error"].max() <= 1e-11


def test_andrews_positions_hold_ten_digits_and_its_start_is_that_published():
    r = solved(PROBLEMS["Andrews' squeezer, 0.03 s"])
    assert andrews_error(r) <= 1e-10
    for name, value in andrews.START_ACCELERATIONS.items():
        assert r[f"dd{name}"][0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(r.lam[0], andrews.START_MULTIPLIERS, atol=1e-9)


@pytest.mark.parametrize(
    "run",
    [{"integrator": "adams", "tolerance": 1e-9}, {"integrator": "rk4", "step": 0.03 / 1000}],
    ids=["adams", "rk4"],
)
def test_andrews_mechanism_needs_little_for_an_error_of_4e_9(run):
    """The runs behind the time on the page: what they cost in evaluations does not depend on it."""
    integrator = run["integrator"]
    made = bl.Simulator(derived(andrews.andrews), integrator=integrator)
    r = made.run(0.03, output=0.03, **{k: v for k, v in run.items() if k != "integrator"})
    assert andrews_error(r) <= 4e-9
    assert r.statistics.evaluations <= 4000


def test_a_stiff_method_takes_far_fewer_steps_for_the_governor():
    model = derived(governor.governor)
    steps = {}
    for integrator in ("radau", "dormand_prince"):
        r = bl.simulate(model, 0.5, integrator=integrator, tolerance=1e-6, output=0.1)
        steps[integrator] = r.statistics.steps
        for name, value in governor.REFERENCE[0.5].items():
            assert r[name][-1] == pytest.approx(value, abs=1e-7)
    assert steps["radau"] < steps["dormand_prince"] / 5
    with pytest.raises(bl.BielaError, match="stiff force; try integrator='radau'"):
        bl.simulate(model, 0.5, step=1e-3)


@pytest.mark.parametrize(
    "options", [{"tolerance": 1e-8}, {"step": 1e-2}], ids=["adaptive", "fixed"]
)
def test_forty_four_bars_pass_their_singular_position_for_20_s(options):
    problem = PROBLEMS["40 four-bars (A02), 20 s"]
    r = bl.simulate(derived(partial_four_bars(40)), 20.0, output=0.1, **options)
    assert problem.error(r) <= 1e-4
    height = np.sin(r["theta0"])
    assert (height[:-1] * height[1:] < 0).sum() >= 10


@pytest.mark.parametrize(
    "stepping", [{"step": 1e-3}, {"tolerance": 1e-8}], ids=["fixed", "adaptive"]
)
@pytest.mark.parametrize("n", [1, 2, 10])
def test_four_bars_that_start_in_line_stay_parallelograms(n, stepping):
    """All N + 1 motions are possible there; the one that the velocities begin goes on."""
    r = bl.simulate(
        derived(partial_four_bars(n)),
        2.0,
        q=(2 * n + 1) * [0.0],
        v=[6.0] + n * [6.0, 0.0],
        output=0.05,
        **stepping,
    )
    assert r.v[0].tolist() == pytest.approx([6.0] + n * [6.0, 0.0], abs=1e-12)
    assert in_parallel(n, r) <= 1e-4


@pytest.mark.parametrize("tolerance", [1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize("integrator", ["dormand_prince", "adams"])
def test_a_tight_tolerance_at_a_singular_position_gives_the_motion_or_an_error(
    integrator, tolerance
):
    """Near the line position rounding leaves few digits; a run may give up, but not go astray."""
    try:
        r = bl.simulate(
            derived(double_parallelogram.double_parallelogram),
            3.0,
            integrator=integrator,
            tolerance=tolerance,
        )
    except SimulationError as stopped:
        assert "singular" in str(stopped)
        assert tolerance < 1e-9
        r = stopped.results
    assert drift(r, "energy") <= 1e-4
    for name in ("theta1", "theta2"):
        np.testing.assert_allclose(r[name], r["theta0"], atol=1e-6)
    np.testing.assert_allclose(r["phi"], 0.0, atol=1e-6)


def test_small_oscillations_of_the_double_pendulum_have_its_frequencies():
    """A start along a mode, so small that the motion is linear to the digits compared."""
    for omega in double_pendulum.FREQUENCIES:
        # (K - ω² M) a = 0 in absolute angles: (3/2 g - 4/3 ω²) a1 = ω²/2 a2
        second = (1.5 * 9.81 - 4 / 3 * omega**2) / (omega**2 / 2)
        q = 1e-6 * np.array([1.0, second - 1.0])
        r = bl.simulate(derived(double_pendulum.double_pendulum), 2.0, q=q, v=[0, 0], step=1e-3)
        expected = q * np.cos(omega * r.t)[:, None]
        np.testing.assert_allclose(r.q, expected, rtol=0, atol=1e-9 * np.abs(q).max())


# ------------------------------------------------------------------------------------- orders


@pytest.mark.parametrize("method", FIXED_STEP)
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Slider–crank, 1 s", 0.1),
        ("Bricard (A04, redundant), 1 s", 0.5),  # in a tenth rk4 is at rounding at once
        ("Rolling disc (non-holonomic), 5 s", 0.1),
    ],
)
def test_a_method_has_its_order_on_a_constrained_mechanism(name, part, method):
    orders = observed_orders(PROBLEMS[name], method, part)
    assert orders[-1] == pytest.approx(FIXED_STEP[method], abs=0.1)


def test_a_start_exactly_in_line_costs_two_orders():
    """There the constraints do not fix the accelerations of the branch; nearby they do."""
    model, seen = bl.Simulator(derived(partial_four_bars(2)), integrator="rk4"), {}
    for angle in (0.0, 1e-3):
        ends = []
        for steps in (50, 100, 200):
            q, v = [angle] + 2 * [angle, 0.0], [6.0] + 2 * [6.0, 0.0]
            ends.append(model.run(0.2, q=q, v=v, step=0.2 / steps).q[-1])
        changes = np.linalg.norm(np.diff(ends, axis=0), axis=1)
        seen[angle] = math.log2(changes[0] / changes[1])
    assert seen[0.0] > 1.9
    assert seen[1e-3] == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize(
    "formulation", ["baumgarte", "index2", "index3", "velocity_projection", "matrix_r"]
)
def test_formulations_keep_the_order_of_the_method(formulation):
    model = bl.Simulator(derived(bricard.bricard), formulation, "rk4")
    ends = []
    for steps in (50, 100, 200):
        r = model.run(0.5, step=0.5 / steps)
        ends.append(np.concatenate([r.q[-1], r.v[-1]]))
    order = math.log2(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[2] - ends[1]))
    assert order == pytest.approx(4.0, abs=0.15)


# -------------------------------------------------------------------- formulations agree

AGREEING = {
    "four_bar": (four_bar, 2.0, {"q": four_bar_pose(0.7), "v": {"dtheta1": 1.0}}),
    "slider_crank": (slider_crank.slider_crank, 0.3, {}),
    "double_parallelogram": (double_parallelogram.double_parallelogram, 0.25, {}),
    "bricard": (bricard.bricard, 0.5, {}),
}
#: Penalties allow violations of about 1/α of the forces; rounding takes its share with 1e7.
AGREEMENT = dict.fromkeys(EXPLICIT, 1e-8) | {"penalty": 2e-5, "augmented": 2e-5}


@cache
def by_multipliers(name: str) -> bl.Results:
    model, duration, given = AGREEING[name]
    return bl.simulate(derived(model), duration, step=duration / 1000, **given)


@pytest.mark.parametrize("name", AGREEING)
@pytest.mark.parametrize("formulation", EXPLICIT[1:])
def test_formulations_agree(name, formulation):
    model, duration, given = AGREEING[name]
    expected = by_multipliers(name)
    r = bl.simulate(
        derived(model), duration, formulation=formulation, step=duration / 1000, **given
    )
    bound = AGREEMENT[formulation]
    np.testing.assert_allclose(r.q, expected.q, atol=bound)
    np.testing.assert_allclose(r.v, expected.v, atol=bound * np.abs(expected.v).max())
    # forces of constraints: their sum Φ_vᵀ λ is unique even where single multipliers are not
    system = derived(model).system
    for k in (0, 500, 1000):
        rows = system.evaluate("Phi_v", expected.q[k], expected.v[k])
        force = rows.T @ expected.lam[k]
        np.testing.assert_allclose(
            system.evaluate("Phi_v", r.q[k], r.v[k]).T @ r.lam[k],
            force,
            atol=10 * bound * np.abs(force).max(),
        )


def test_redundant_cranks_move_as_one_pendulum():
    """(m + M) l θ'' = -(3 m/2 + M) g cos θ, until just before the line position."""
    system = derived(double_parallelogram.double_parallelogram).system
    p = np.array([entry.value for entry in system.p])

    def pose(theta: float):
        return np.array([theta, theta, theta, 0.0])

    r = by_multipliers("double_parallelogram")
    # the cranks rise first: from their highest point on they fall
    top_of_swing = int(np.argmax(r["theta0"]))
    assert 0 < top_of_swing < 1000
    t, _ = passage(system, pose, 0.5, 2.0, float(r["theta0"][top_of_swing // 2]), p)
    assert t == pytest.approx(r.t[top_of_swing // 2], abs=1e-11)


# ------------------------------------------------------------------------------ dense output


@pytest.mark.parametrize("integrator", ["dormand_prince", "adams", "radau"])
def test_between_steps_the_constraints_hold(integrator):
    """Two hundred outputs a step or so: most of them are interpolated."""
    for model, duration in ((slider_crank.slider_crank, 0.5), (bricard.bricard, 0.5)):
        r = bl.simulate(
            derived(model), duration, integrator=integrator, tolerance=1e-8, output=duration / 5000
        )
        assert r.statistics.steps < 1500
        assert r["constraint error"].max() <= 1e-8
        assert r["velocity error"].max() <= 1e-8
        assert drift(r, "energy") <= 1e-5


def test_between_steps_the_motion_is_as_accurate_as_at_them():
    r = bl.simulate(
        derived(point_pendulum.point_pendulum), 2.0, integrator="adams", tolerance=1e-9, output=1e-3
    )
    fine = bl.simulate(derived(point_pendulum.point_pendulum_by_angle), 2.0, step=1e-3)
    np.testing.assert_allclose(r["x"], fine["x"], atol=1e-6)
    np.testing.assert_allclose(r["y"], fine["y"], atol=1e-6)


# ----------------------------------------------------------------------- projections and metrics


def test_without_projections_the_constraints_drift_and_more_so_with_time():
    errors = {}
    for projections in ("always", "never", 1e-6):
        r = bl.simulate(
            derived(slider_crank.slider_crank),
            2.0,
            step=2e-3,
            options=bl.Options(projections=projections),
        )
        errors[projections] = r["constraint error"]
    assert errors["always"].max() <= 1e-14
    never = errors["never"]
    assert never[-1] > 3 * never[len(never) // 4] > 1e-9
    # a threshold allows a violation up to itself, and no more
    assert 1e-9 < errors[1e-6].max() <= 1.1e-6 < never[-1]


def test_the_metrics_of_projections_lead_to_the_same_motion_as_the_step_shrinks():
    model = derived(slider_crank.slider_crank)
    gaps = []
    for steps in (200, 400):
        by_mass, by_identity = (
            bl.simulate(model, 0.2, step=0.2 / steps, options=bl.Options(metric=metric))
            for metric in ("M", "identity")
        )
        for r in (by_mass, by_identity):
            assert r["constraint error"].max() <= 1e-13
            assert r["velocity error"].max() <= 1e-12
        gaps.append(np.abs(by_mass.q[-1] - by_identity.q[-1]).max())
    # they differ by what the method leaves to correct, of the order of its error
    assert 0 < gaps[1] < gaps[0] / 8


def test_a_projection_of_velocities_in_the_metric_of_mass_takes_kinetic_energy_only():
    """From velocities that break the constraints, the mass metric gives the most kinetic energy.

    It projects orthogonally in the norm of the kinetic energy: what it removes is the least.
    """
    system = derived(slider_crank.slider_crank).system
    q, _ = slider_crank.start()
    wrong = [20.0, 5.0, -1.0]
    kinetic = {}
    for metric in ("M", "identity"):
        r = bl.simulate(
            derived(slider_crank.slider_crank),
            1e-7,
            q=q,
            v=wrong,
            step=1e-7,
            assemble=False,
            options=bl.Options(metric=metric),
        )
        kinetic[metric] = r["kinetic energy"][-1]
    M = system.evaluate("M", q)
    tangent = np.linalg.svd(system.evaluate("Phi_v", q))[2][2]
    most = (tangent @ M @ wrong) ** 2 / (tangent @ M @ tangent) / 2
    assert kinetic["M"] == pytest.approx(most, rel=1e-4)
    assert kinetic["M"] < np.array(wrong) @ M @ wrong / 2
    assert kinetic["identity"] == pytest.approx(
        (tangent @ wrong) ** 2 * (tangent @ M @ tangent) / 2, rel=1e-4
    )


# -------------------------------------------------------------------------------------- energies


@pytest.mark.parametrize(
    ("model", "duration"),
    [
        (point_pendulum.point_pendulum, 2.0),
        (slider_crank.slider_crank, 0.2),
        (bricard.bricard, 0.5),
        (rolling_disc.rolling_disc, 1.0),
        (top.top_by_euler_parameters, 0.3),
    ],
)
def test_the_energy_error_of_rk4_falls_with_the_step(model, duration):
    """By about 2⁴ or more a halving, until rounding."""
    energies = [
        bl.simulate(derived(model), duration, step=duration / n)["energy"] for n in (100, 200)
    ]
    coarse, fine = (np.ptp(energy) for energy in energies)
    assert fine <= max(coarse / 12, 1e-14 * max(np.abs(energies[0]).max(), 1.0))


def test_a_force_changes_the_energy_by_its_work():
    """A gas force on the piston and a torque on the crank: T + V - ∫ (τ ω + F x') dt stays."""
    r = bl.simulate(
        derived(slider_crank.slider_crank), 0.2, step=1e-4, inputs={"tau": 0.7, "F": -15.0}
    )
    work = 0.7 * (r["theta"] - r["theta"][0]) - 15.0 * (r["x"] - r["x"][0])
    np.testing.assert_allclose(r["energy"] - r["energy"][0], work, atol=1e-8)
    assert np.ptp(work) > 1.0
