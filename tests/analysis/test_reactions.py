"""Reactions against statics by hand, and constraints that depend on each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.reactions import reactions, redundancy
from biela.errors import ModelError, UnknownNameError
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.four_bars import four_bars

WEIGHT = 9.81


def table() -> bl.SymbolicSystem:
    """A plate of 6 kg on three legs in a row, in its plane: one leg too many."""
    s = bl.SymbolicSystem("table")
    x, z, tilt = s.coordinates("x z tilt")
    plate = s.base.rotated("plate", "y", tilt)
    centre = s.origin.offset("centre", s.base.vector(x, 0, z))
    s.solid("plate", at=centre, base=plate, mass=6.0, inertia=plate.inertia(yy=1.0))
    s.gravity = s.base.vector(0, 0, -WEIGHT)
    for name, place in (("left", -1.0), ("middle", 0.0), ("right", 1.0)):
        foot = centre.offset(name, plate.vector(place, 0, 0))
        s.constrain(s.position(s.origin, foot).z, name=name)
    s.constrain(x, name="wall")
    return s


def test_legs_share_the_load_in_the_smallest_way_and_say_so() -> None:
    found = reactions(table())
    assert found.constraints == ("left_1", "middle_1", "right_1", "wall_1")
    assert found.determinate == (False, False, False, True)
    # λ = -N: the smallest three forces with sum m g and no moment are equal
    assert found.lam == pytest.approx([-2 * WEIGHT, -2 * WEIGHT, -2 * WEIGHT, 0])
    assert found["wall_1"] == pytest.approx(0, abs=1e-12)
    assert found.a == pytest.approx([0, 0, 0], abs=1e-12)
    report = found.redundancy
    assert (report.rank, report.mobility) == (3, 0)
    assert report.dependent == ("right_1",) and report.relations == (("left_1", "middle_1"),)
    assert "right_1 depends on left_1, middle_1" in str(report)
    assert "indeterminate" in str(found) and len(str(found).splitlines()) == 4


def test_weights_choose_another_distribution_with_the_same_sum() -> None:
    found = reactions(table(), weights={"middle_1": 3.0})
    # outer legs n each, the middle one m: 2 n + m = 6 g with 2 n² + 3 m² least
    assert found.lam[:3] / WEIGHT == pytest.approx([-18 / 7, -6 / 7, -18 / 7])
    with pytest.raises(ModelError, match="no constraint leg"):
        reactions(table(), weights={"leg": 2.0})
    with pytest.raises(ModelError, match="must be positive"):
        reactions(table(), weights={"wall_1": 0.0})
    with pytest.raises(UnknownNameError, match="no constraint leg"):
        found["leg"]


def test_a_swinging_rod_pulls_at_its_pivot_with_weight_and_centripetal_force() -> None:
    s = bl.SymbolicSystem("rod")
    x, z, theta = s.coordinates("x z theta")
    base = s.base.rotated("rod", "y", theta)
    centre = s.origin.offset("C", s.base.vector(x, 0, z))
    s.solid("rod", at=centre, base=base, mass=3.0, inertia=base.inertia(yy=3.0 * 0.8**2 / 12))
    s.gravity = s.base.vector(0, 0, -WEIGHT)
    s.close(s.origin, centre.offset("pivot", base.vector(0, 0, 0.4)), axes="xz", name="pivot")
    omega = 2.5
    found = reactions(s, {"theta": 0.0, "x": 0.0, "z": -0.4}, {"dtheta": omega})
    assert all(found.determinate) and found.redundancy.mobility == 1
    # the pivot pushes the rod with -Φ_vᵀ λ: up with m (g + ω² l/2)
    assert -found.lam == pytest.approx([0, 3.0 * (WEIGHT + omega**2 * 0.4)], abs=1e-10)


def test_redundancy_that_stays_is_told_from_a_singular_position() -> None:
    always = redundancy(double_parallelogram())
    assert len(always.dependent) == 1 and always.structural == 1 and not always.singular
    assert always.mobility == 1
    # a parallelogram with all its bars on one line could also fold
    flat = redundancy(four_bars(1), [math.pi, math.pi, 0.0])
    assert flat.mobility == 2 and flat.singular and flat.structural == 0
    upright = redundancy(four_bars(1), [math.pi / 2, math.pi / 2, 0.0])
    assert upright.mobility == 1 and not upright.dependent and not upright.singular


def test_forces_do_not_depend_on_how_indeterminate_reactions_are_chosen() -> None:
    model = double_parallelogram().equations()
    plain = reactions(model)
    other = reactions(model, weights={name: 10.0**k for k, name in enumerate(plain.constraints)})
    assert not np.allclose(plain.lam, other.lam)
    q = [0.5, 0.5, 0.5, 0.0]
    rows = model.system.evaluate("Phi_v", q)
    assert np.allclose(rows.T @ plain.lam, rows.T @ other.lam, rtol=0, atol=1e-9)
    assert np.allclose(plain.a, other.a, rtol=0, atol=1e-10)


def test_redundant_multipliers_are_the_same_in_a_run_by_any_formulation():
    from examples.mechanisms.bricard import bricard

    model = bricard().equations()
    r = bl.simulate(model, 0.3, step=1e-3, output=0.1)
    other = bl.simulate(model, 0.3, step=1e-3, output=0.1, formulation="index2")
    np.testing.assert_allclose(other.lam, r.lam, atol=1e-6)
    alone = bl.reactions(model, r.q[-1], r.v[-1], assemble=False)
    assert not all(alone.determinate)
    np.testing.assert_allclose(r.lam[-1], alone.lam, atol=1e-7)
