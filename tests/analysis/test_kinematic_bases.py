"""R, S and B against their definitions, finite differences and the motion of a run."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError
from examples.mechanisms.bricard import bricard
from examples.mechanisms.slider_crank import slider_crank


def systems() -> dict[str, bl.System]:
    four_bar = bl.load_model("examples/mechanisms/four_bar.toml")
    return {
        "slider–crank": slider_crank().equations().system,
        "bricard": bricard().equations().system,
        "driven four-bar, bodies": bl.formulate(four_bar, "reference"),
        "driven four-bar, natural": bl.formulate(four_bar, "natural"),
    }


@pytest.fixture(scope="module")
def by_name() -> dict[str, bl.System]:
    return systems()


NAMES = ("slider–crank", "bricard", "driven four-bar, bodies", "driven four-bar, natural")


@pytest.mark.parametrize("partition", ["pivoting", "qr", "svd"])
@pytest.mark.parametrize("name", NAMES)
def test_the_rows_and_b_are_the_inverse_of_s_and_r(by_name, name, partition):
    found = bl.kinematic_bases(by_name[name], partition=partition)
    n, r = len(found.v), len(found.rows)
    whole = np.vstack([found.Phi_v, found.B]) @ np.hstack([found.S, found.R])
    np.testing.assert_allclose(whole, np.eye(n), atol=1e-12)
    assert found.R.shape == (n, n - r) and found.S.shape == (n, r)
    # constraints that are left out allow the same motions
    system = by_name[name]
    rows = np.atleast_2d(system.evaluate("Phi_v", found.q))
    assert np.abs(rows @ found.R).max(initial=0.0) < 1e-9
    assert found.freedoms == len(found.v) - np.linalg.matrix_rank(rows, tol=1e-9)


@pytest.mark.parametrize("partition", ["pivoting", "svd"])
@pytest.mark.parametrize("name", NAMES)
def test_a_motion_is_made_of_what_is_imposed_and_what_is_free(by_name, name, partition):
    """Any velocity and acceleration of a run: v = S b + R ż, v' = S c + R z̈."""
    r = bl.simulate(by_name[name], 0.05, step=1e-3)
    k = 40
    found = bl.kinematic_bases(
        by_name[name], r.q[k], r.v[k], t=r.t[k], partition=partition, assemble=False
    )
    v, a = found.velocity(found.B @ r.v[k]), found.acceleration(found.B @ r.a[k])
    np.testing.assert_allclose(v, r.v[k], atol=1e-9 * max(1.0, np.abs(r.v[k]).max()))
    np.testing.assert_allclose(a, r.a[k], atol=1e-8 * max(1.0, np.abs(r.a[k]).max()))


def test_r_is_the_slope_of_positions_along_the_independent_coordinate(by_name):
    system, h = by_name["slider–crank"], 1e-6
    middle = bl.assemble(system, {"theta": 1.0, "x": 0.3}).q
    ends = [bl.assemble(system, middle, hold={"theta": 1.0 + d}).q for d in (h, -h)]
    found = bl.kinematic_bases(system, middle, independent=["theta"])
    assert found.independent == ("dtheta",)
    np.testing.assert_allclose(found.R[:, 0], (ends[0] - ends[1]) / (2 * h), atol=1e-8)


def test_what_time_imposes_is_s_b(by_name):
    """A driven mechanism has no freedom: its velocity is S b."""
    found = bl.kinematic_bases(by_name["driven four-bar, bodies"])
    assert found.freedoms == 0
    np.testing.assert_allclose(found.Sb, found.v, atol=1e-10)
    assert np.abs(found.Sb).max() > 0.1


def test_the_condition_is_large_near_a_dead_point(by_name):
    """The slider as independent coordinate, with the crank nearly in line."""
    conditions = [
        bl.kinematic_bases(
            by_name["slider–crank"], {"theta": theta, "x": 0.3}, independent=["x"]
        ).condition
        for theta in (1.0, 0.1, 0.01)
    ]
    assert conditions[1] / conditions[0] > 5 and 5 < conditions[2] / conditions[1] < 20


def test_without_constraints_all_velocities_are_free():
    s = bl.SymbolicSystem("point")
    (x,) = s.coordinates("x")
    s.solid("bob", at=s.origin.offset("P", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    found = bl.kinematic_bases(s)
    np.testing.assert_array_equal(found.R, [[1.0]])
    assert found.condition == 1.0


def test_bad_requests_are_named(by_name):
    system = by_name["slider–crank"]
    with pytest.raises(ModelError, match="'pivoting', 'qr', 'svd'"):
        bl.kinematic_bases(system, partition="lu")
    with pytest.raises(ModelError, match="name none"):
        bl.kinematic_bases(system, partition="svd", independent=["x"])
    with pytest.raises(ModelError, match="1 independent velocities"):
        bl.kinematic_bases(system).velocity([1.0, 2.0])
