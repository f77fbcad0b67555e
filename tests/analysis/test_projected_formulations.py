"""Formulations with a basis of the motions allowed, against multipliers and closed forms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from benchmarks.validation.problems import derived, partial_four_bars
from biela.errors import ModelError
from examples.mechanisms.bricard import bricard
from examples.mechanisms.point_pendulum import point_pendulum
from examples.mechanisms.rolling_disc import rolling_disc
from examples.mechanisms.slider_crank import slider_crank

PROJECTED = ("velocity_projection", "matrix_r", "null_space", "range_space")
BASED = ("velocity_projection", "matrix_r", "null_space")
PARTITIONS = ("pivoting", "qr", "svd")


@cache
def system(name: str) -> bl.System:
    made = {
        "slider–crank": slider_crank,
        "bricard": bricard,
        "disc": rolling_disc,
        "pendulum": point_pendulum,
    }
    if name in made:
        return made[name]().equations().system
    file, coordinates = name.split(", ")
    return bl.formulate(bl.load_model(f"examples/mechanisms/{file}.toml"), coordinates)


@cache
def by_multipliers(name: str) -> bl.Results:
    return bl.simulate(system(name), 0.2, tolerance=1e-11, output=0.02)


# ------------------------------------------------------------------------------ one motion


@pytest.mark.parametrize(
    "name",
    [
        "slider–crank",
        "bricard",
        "disc",
        "rssr, reference",
        "rssr, natural",
        "slider_crank, euler",
    ],
)
@pytest.mark.parametrize("formulation", PROJECTED)
def test_all_coordinates_move_alike(name, formulation):
    """Redundant, non-holonomic and driven ones, and q' ≠ v; reactions too."""
    expected = by_multipliers(name)
    r = bl.simulate(system(name), 0.2, tolerance=1e-10, output=0.02, formulation=formulation)
    np.testing.assert_allclose(r.q, expected.q, atol=1e-8)
    np.testing.assert_allclose(r.v, expected.v, atol=1e-7 * max(1.0, np.abs(expected.v).max()))
    for k in (0, 5, 10):
        rows = np.atleast_2d(system(name).evaluate("Phi_v", r.q[k], t=r.t[k]))
        force = rows.T @ expected.lam[k]
        np.testing.assert_allclose(
            rows.T @ r.lam[k], force, atol=1e-6 * max(1e-3, np.abs(force).max())
        )


@pytest.mark.parametrize("index", [2, 3])
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("name", ["slider–crank", "bricard"])
def test_the_way_to_choose_independent_velocities_does_not_change_the_motion(
    name, partition, index
):
    options = bl.Options(partition=partition, index=index)
    r = bl.simulate(
        system(name), 0.2, tolerance=1e-10, output=0.02,
        formulation="velocity_projection", options=options,
    )  # fmt: skip
    np.testing.assert_allclose(r.q, by_multipliers(name).q, atol=1e-8)
    if index == 3:
        assert r["constraint error"].max() < 1e-13


@pytest.mark.parametrize(
    ("formulation", "index"),
    [("velocity_projection", 2), ("velocity_projection", 3), ("null_space", 2), ("matrix_r", 2)],
)
@pytest.mark.parametrize("name", ["bricard", "rssr, natural", "slider_crank, euler"])
def test_blocks_in_a_good_order_solve_as_the_full_matrix_does(name, formulation, index):
    runs = [
        bl.simulate(
            system(name), 0.1, step=1e-3, formulation=formulation,
            options=bl.Options(linear_solver=solver, index=index),
        )
        for solver in ("dense", "reordered")
    ]  # fmt: skip
    for group in ("q", "v", "a", "lam"):
        dense, blocks = (getattr(r, group) for r in runs)
        np.testing.assert_allclose(blocks, dense, atol=1e-9 * max(1.0, np.abs(dense).max()))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_straight_line_code_takes_the_same_choices(partition):
    r = bl.simulate(
        system("slider–crank"), 0.2, tolerance=1e-10, output=0.02,
        formulation="index3", options=bl.Options(partition=partition),
    )  # fmt: skip
    np.testing.assert_allclose(r.q, by_multipliers("slider–crank").q, atol=1e-8)


def test_velocities_cannot_drift_with_index_two_and_positions_neither_with_index_three():
    errors = {}
    for index in (2, 3):
        r = bl.simulate(
            system("slider–crank"), 1.0, step=5e-3,
            formulation="velocity_projection", options=bl.Options(index=index),
        )  # fmt: skip
        errors[index] = r["constraint error"].max(), r["velocity error"].max()
    assert errors[2][0] > 1e-12 and errors[2][1] < 1e-12
    assert max(errors[3]) < 1e-12


@pytest.mark.parametrize("formulation", ["matrix_r", "null_space", "range_space"])
def test_without_projections_a_violation_of_velocity_grows_linearly(formulation):
    """Accelerations fulfil Φ'' = 0 only: Φ = c₁ t + c₂."""
    crank = system("slider–crank")
    start = bl.simulate(crank, 1e-3, step=1e-3)
    v = np.add(start.v[0], [0.0, 0.0, 1e-3])
    r = bl.simulate(
        crank, 0.5, step=1e-4, output=0.05, q=start.q[0], v=v, assemble=False,
        formulation=formulation, options=bl.Options(projections="never"),
    )  # fmt: skip
    rate = crank.evaluate("Phi_v", start.q[0]) @ v
    found = np.array([crank.evaluate("Phi", q) for q in r.q])
    np.testing.assert_allclose(found, np.outer(r.t, rate), rtol=0, atol=1e-10)


# ----------------------------------------------------------------------- dead points


@pytest.mark.parametrize(
    ("partition", "solver"),
    [("pivoting", "dense"), ("pivoting", "reordered"), ("qr", "dense"), ("svd", "dense")],
)
@pytest.mark.parametrize("run", [{"step": 1e-3}, {"tolerance": 1e-10}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("formulation", BASED)
def test_a_pendulum_swings_through_its_dead_points(formulation, run, partition, solver):
    """By x and y one of which fails where the rod is level, the other where it hangs."""
    index = {"index": 3} if formulation == "velocity_projection" else {}
    options = bl.Options(partition=partition, linear_solver=solver, **index)
    r = bl.simulate(
        system("pendulum"), 5.0, formulation=formulation, output=0.5, options=options, **run
    )
    exact = [-0.94230543504375734, -0.33475433841400058]  # A01 at 5 s
    np.testing.assert_allclose(r.q[-1], exact, atol=2e-7)
    # four swings of a quarter turn to each side: at least one change for each
    assert r.statistics.more["changes of independent coordinates"] >= 4
    assert 0 < r.statistics.more["the last of them at, s"] < 5.0
    assert r["partition condition"].max() < 12


@pytest.mark.parametrize("solver", ["dense", "reordered"])
def test_long_steps_do_not_pass_a_dead_point_unseen(solver):
    """Rows kept for a driven crank fail in one position, which is an instant of the output."""
    driven = system("slider_crank, euler")
    r = bl.simulate(
        driven, 0.5, tolerance=1e-8, formulation="velocity_projection",
        options=bl.Options(index=3, linear_solver=solver),
    )  # fmt: skip
    assert r.statistics.more["changes of independent coordinates"] > 0
    assert np.isfinite(r.lam).all()
    assert r.statistics.max_constraint_error < 1e-12


@pytest.mark.parametrize("run", [{"step": 1e-3}, {"tolerance": 1e-9}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize("formulation", ["matrix_r", "null_space", "range_space"])
def test_a_start_in_a_singular_position_has_all_constraints_soon(formulation, run):
    """Parallelograms in line, where each closure has one equation too few."""
    model = derived(partial_four_bars(2))
    q, v = [0.0] + 2 * [0.0, 0.0], [6.0] + 2 * [6.0, 0.0]
    expected = bl.simulate(model, 0.5, q=q, v=v, step=1e-4, output=0.5)
    r = bl.simulate(model, 0.5, q=q, v=v, formulation=formulation, output=0.5, **run)
    np.testing.assert_allclose(r.q[-1], expected.q[-1], atol=1e-6)
    np.testing.assert_array_equal(r.q[0], q)
    np.testing.assert_allclose(r.v[0], v, atol=1e-12)
    # the bars swing as if each hung by itself, and coupled ones alike: as a moment later
    soon = bl.simulate(model, 1e-3, q=q, v=v, step=1e-4, output=1e-3)
    np.testing.assert_allclose(r.a[0], soon.a[-1], atol=1e-2)


def test_a_preferred_coordinate_is_taken_and_given_up_where_it_fails():
    expected = bl.simulate(system("slider–crank"), 1.0, tolerance=1e-10, output=1.0)
    r = bl.simulate(
        system("slider–crank"), 1.0, tolerance=1e-10, output=1.0,
        formulation="velocity_projection", options=bl.Options(independent=("x",)),
    )  # fmt: skip
    np.testing.assert_allclose(r.q[-1], expected.q[-1], atol=1e-6)
    assert r.statistics.more["changes of independent coordinates"] > 0


# ------------------------------------------------------------------- redundant constraints


def twice_held(error: float) -> bl.System:
    """A pendulum whose rod is there twice, the second one longer by an error."""
    s = bl.SymbolicSystem("twice_held")
    x, y = s.coordinates("x y")
    P = s.origin.offset("P", s.base.vector(x, y, 0))
    s.solid("mass", at=P, base=s.base, mass=2.0)
    s.gravity = s.base.vector(0, -9.81, 0)
    s.constrain(x**2 + y**2 - 1, name="rod")
    s.constrain(x**2 + y**2 - 1 - error, name="again")
    return s.equations().system


@pytest.mark.parametrize("formulation", ["multipliers", "index2", "index3", *PROJECTED])
def test_the_same_constraint_twice_and_not_quite_does_not_make_multipliers_grow(formulation):
    runs = [
        bl.simulate(
            twice_held(error), 1.0, step=1e-3, q=[0.6, -0.8], v=[0.0, 0.0], assemble=False,
            formulation=formulation,
        )
        for error in (0.0, 1e-7)
    ]  # fmt: skip
    for r in runs:
        # the force along the rod is shared, and that is all
        np.testing.assert_allclose(r.lam[:, 0], r.lam[:, 1], atol=1e-6)
    np.testing.assert_allclose(runs[1].lam, runs[0].lam, atol=1e-5)
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-6)


# ------------------------------------------------------------------ events and controllers


@pytest.mark.parametrize("formulation", PROJECTED)
def test_events_and_controllers_see_positions_and_velocities(formulation):
    found = [
        bl.simulate(pushed(), 2.0, tolerance=1e-10, formulation=name, on_event={"below": "stop"})
        for name in ("multipliers", formulation)
    ]
    assert 0.1 < found[0].t[-1] < 1.0
    assert found[1].t[-1] == pytest.approx(found[0].t[-1], abs=1e-9)
    assert found[1]["x"][-1] == pytest.approx(0.0, abs=1e-9)

    def law(t, q, v):
        return {"tau": -0.2 * v[0]}

    runs = [
        bl.simulate(pushed(), 0.5, step=1e-3, formulation=name, control=law, sample_time=0.01)
        for name in ("multipliers", formulation)
    ]
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], atol=1e-7)
    np.testing.assert_allclose(runs[1]["tau"], runs[0]["tau"], atol=1e-7)


@cache
def pushed() -> bl.System:
    s = bl.SymbolicSystem("pushed")
    x, y = s.coordinates("x y")
    (tau,) = s.inputs("tau")
    P = s.origin.offset("P", s.base.vector(x, y, 0))
    bob = s.solid("mass", at=P, base=s.base, mass=2.0)
    s.wrench(bob, s.base.vector(tau, 0, 0), name="push")
    s.gravity = s.base.vector(0, -9.81, 0)
    s.constrain(x**2 + y**2 - 1, name="rod")
    s.event("below", x)
    s.start(x=0.6, y=-0.8)
    return s.equations().system


# -------------------------------------------------------------------------- figures of a run


@pytest.mark.parametrize("index", [2, 3])
def test_one_factorisation_of_the_dependent_columns_serves_all_systems(index):
    """R by f of them, S b, S c, and each correction of the position with one of its own."""
    r = bl.simulate(
        system("slider–crank"), 0.1, step=1e-3, formulation="velocity_projection",
        options=bl.Options(index=index),
    )  # fmt: skip
    s = r.statistics
    freedoms, solved = 1, s.more["systems with the Jacobian solved"]
    assert s.evaluations == 400
    assert s.factorisations == s.evaluations + s.iterations
    assert solved == s.evaluations * (freedoms + 2) + s.iterations
    assert (s.iterations == 0) if index == 2 else (s.iterations >= s.evaluations)
    assert index == 2 or solved >= 4 * s.evaluations


def test_the_time_in_linear_solves_is_measured_or_not_told():
    crank = system("slider–crank")
    assert bl.simulate(crank, 0.1, step=1e-3).statistics.time_solves is None
    for formulation, told in (("null_space", {}), ("multipliers", {"timers": True})):
        s = bl.simulate(crank, 0.1, step=1e-3, formulation=formulation, **told).statistics
        assert 0 <= s.time_solves <= s.time_integration <= s.time_total


def test_the_drift_of_the_energy_is_told_where_nothing_does_work():
    r = bl.simulate(system("slider–crank"), 0.5, step=2e-3)
    total = r["energy"]
    scale = r["kinetic energy"].max() + np.ptp(r["potential energy"])
    assert r.statistics.energy_drift == pytest.approx(np.abs(total - total[0]).max() / scale)
    assert 0 < r.statistics.energy_drift < 1e-5
    assert bl.simulate(system("rssr, reference"), 0.01, step=1e-3).statistics.energy_drift is None
    pulled = bl.simulate(pushed(), 0.1, step=1e-3, inputs={"tau": 3.0})
    assert pulled.statistics.energy_drift is None


def test_a_simulator_counts_each_run_by_itself():
    simulator = bl.Simulator(system("slider–crank"), "null_space")
    first, second = (simulator.run(0.1, step=1e-3).statistics for _ in range(2))
    assert first.factorisations == second.factorisations == first.evaluations


# ---------------------------------------------------------------------------------- refusals


def test_bad_choices_are_named():
    with pytest.raises(ModelError, match="'pivoting', 'qr', 'svd'"):
        bl.Options(partition="lu")
    with pytest.raises(ModelError, match="index = 1"):
        bl.Options(index=1)
    with pytest.raises(ModelError, match="'dense', 'reordered'"):
        bl.Options(linear_solver="magic")
    with pytest.raises(ModelError, match="which partition 'svd' fills"):
        bl.simulate(
            system("pendulum"), 1.0, formulation="null_space",
            options=bl.Options(linear_solver="reordered", partition="svd"),
        )  # fmt: skip
    with pytest.raises(ModelError, match="leave independent out"):
        bl.Options(partition="svd", independent=("x",))
    with pytest.raises(ModelError, match="treats positions and velocities apart"):
        bl.Simulator(system("pendulum"), "velocity_projection", "semi_implicit_euler")
    with pytest.raises(ModelError, match="cannot be exported"):
        bl.export_simulator(slider_crank(), "unused", step=1e-3, formulation="null_space")
