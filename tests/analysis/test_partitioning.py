"""Independent coordinates: what comes out does not depend on which of them, nor on the outputs."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.partitioning import PartitionWatch, independent_basis
from biela.errors import ModelError
from examples.mechanisms.point_pendulum import point_pendulum
from examples.mechanisms.slider_crank import slider_crank


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
    assert watch.another(0.0, np.array([-1.0, 0.0]), level, pivots=0.9) is None
    assert watch.another(0.0, hanging, level, pivots=0.8) is None
    assert watch.pace > 0
    assert watch.another(0.0, hanging, level, pivots=0.3) is not None


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
