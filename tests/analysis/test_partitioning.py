"""Independent coordinates: what comes out does not depend on which of them, nor on the outputs."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.partitioning import PartitionWatch, independent_basis
from biela.analysis.plan import Plan
from biela.analysis.unrolled_simulator import UnrolledSimulator
from biela.errors import ModelError
from biela.solvers.coordinate_basis import choose_basis
from examples.mechanisms.point_pendulum import point_pendulum
from examples.mechanisms.slider_crank import slider_crank
from tests.overconstrained import linkage


@pytest.fixture(scope="module")
def pendulum() -> bl.System:
    return point_pendulum().equations().system


@pytest.mark.parametrize("formulation", ["index2", "index3"])
@pytest.mark.parametrize("run", [{"step": 1e-3}, {"tolerance": 1e-10}], ids=["fixed", "adaptive"])
def test_a_pendulum_swings_through_its_dead_points_with_any_outputs(pendulum, formulation, run):
    # x is a bad choice where the rod is level, y where it hangs
    for output in (0.01, 5.0):
        r = bl.simulate(pendulum, 5.0, formulation=formulation, output=output, **run)
        exact = [-0.94230543504375734, -0.33475433841400058]  # A01 at 5 s
        np.testing.assert_allclose(r.q[-1], exact, atol=2e-7)


def test_a_preferred_coordinate_is_given_up_where_it_fails():
    system = slider_crank().equations().system
    options = bl.Options(independent=("x",))
    expected = bl.simulate(system, 2.0, step=1e-3, output=2.0)
    r = bl.simulate(system, 2.0, step=1e-3, output=2.0, formulation="index2", options=options)
    np.testing.assert_allclose(r.q[-1], expected.q[-1], atol=1e-6)


def test_a_choice_is_kept_until_it_is_half_as_good_and_another_twice_as_good(pendulum):
    p, u = pendulum.parameters, pendulum.inputs
    watch = PartitionWatch(pendulum, u, p, (), "pivoting")

    def at(angle: float) -> np.ndarray:
        return np.array([np.cos(angle), np.sin(angle)])

    level = independent_basis(pendulum, 0.0, at(np.pi), u, p)
    assert level.independent == (1,)
    assert independent_basis(pendulum, 0.0, at(-np.pi / 2), u, p).independent == (0,)
    watch.begin(0.0, at(np.pi), level)
    # y is as steady as |x|, which another choice beats from 63 degrees on
    assert watch.another(0.0, at(np.pi), level) is None
    assert watch.another(0.0, at(np.pi + np.radians(55)), level) is None
    found = watch.another(0.0, at(np.pi + np.radians(70)), level)
    assert found is not None and found.independent == (0,)


def test_a_choice_is_not_looked_at_as_long_as_its_pivots_are_as_they_were(pendulum):
    p, u = pendulum.parameters, pendulum.inputs
    watch = PartitionWatch(pendulum, u, p, (), "pivoting")
    level = independent_basis(pendulum, 0.0, np.array([-1.0, 0.0]), u, p)
    hanging = np.array([0.0, -1.0])
    watch.begin(0.0, np.array([-1.0, 0.0]), level)
    assert watch.another(0.0, np.array([-1.0, 0.0]), level, (0.9, 1.0)) is None
    assert watch.another(0.0, hanging, level, (0.8, 1.0)) is None
    assert watch.pace > 0
    assert watch.another(0.0, hanging, level, (0.3, 1.0)) is not None


def test_nothing_is_evaluated_where_the_rows_kept_become_dependent():
    """Combinations of velocities may be good where the rows kept are not, of more than needed.

    The run then stops, for another choice.  How good they are is told by singular values.
    """
    system = bl.formulate(linkage("four_bar", 3), "euler")
    run = bl.simulate(bl.formulate(linkage("four_bar", 3), "reference"), 6.0, output=0.02)
    places = np.stack([run[entry.name] for entry in system.q], axis=1)
    p, u, rest = system.parameters, system.inputs, np.zeros(len(system.v))
    simulator = UnrolledSimulator(
        system, "velocity_projection", options=bl.Options(partition="svd")
    )
    plan = Plan.make("rk4", 1.0, 0.0, 1e-3, None, None, False)
    rows = [np.atleast_2d(system.evaluate("Phi_v", q, p=p)) for q in places]
    rank = int(np.linalg.matrix_rank(rows[0], 1e-9))
    assert rank < len(rows[0])

    def least(J, kept):
        unit = J / np.linalg.norm(J, axis=1)[:, None]
        return np.linalg.svd(unit[list(kept)], compute_uv=False)[-1]

    def stops(made, q, limit):
        made.projected.stop_below(0.0, limit)
        return not np.isfinite(made.f([0.0], made.state(0.0, q, rest, p), p)).all()

    seen = 0
    for k in range(0, len(places), 10):
        basis = choose_basis(rows[k], "svd", (), rank)
        ratios = np.array([least(J, basis.rows) for J in rows]) / least(rows[k], basis.rows)
        if not (ratios < 0.02).any():
            continue
        made = simulator._compiled(0.0, places[k], u, p, plan, basis=basis).formulation
        assert not stops(made, places[k], 0.0)
        limit = 0.2 * made.projected.least_pivots()[1]
        for weak in places[ratios < 0.02]:
            assert stops(made, weak, limit)
            assert not stops(made, weak, 0.0)
        assert not any(stops(made, q, limit) for q in places[ratios > 0.8])
        seen += 1
    assert seen


def test_angles_are_preferred_to_lengths(pendulum):
    system = slider_crank().equations().system
    p, u = system.parameters, system.inputs
    q = bl.simulate(system, 0.01, step=0.01).q[0]
    (chosen,) = independent_basis(system, 0.0, q, u, p).independent
    assert system.q[chosen].unit == "rad"
    (named,) = independent_basis(system, 0.0, q, u, p, ("x",)).independent
    assert system.q[named].name == "x"


def test_unknown_preferences_are_named(pendulum):
    with pytest.raises(ModelError, match="has no coordinate z"):
        bl.simulate(pendulum, 1.0, formulation="index2", options=bl.Options(independent=("z",)))


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "second_order_euler"])
def test_methods_that_split_the_state_are_refused(pendulum, integrator):
    with pytest.raises(ModelError, match="treats positions and velocities apart"):
        bl.Simulator(pendulum, "index2", integrator)
