"""Velocity Jacobians: 3 x n, one vector a column; a change of base acts from the left alone."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.space import angular_velocity, rotation_matrix, velocity
from tests.mechanisms import ALGEBRAS, ROUNDING, numbers, random_values, rate_of


@pytest.fixture(params=ALGEBRAS, ids=str)
def crane(request):
    """A tip that moves with four coordinates and with time."""
    s = bl.SymbolicSystem("crane")
    turn, luff, reach, twist = s.coordinates("turn luff reach twist")
    b1 = s.base.rotated("b1", "z", turn + 0.2 * s.time)
    b2 = b1.rotated("b2", "y", luff)
    b3 = b2.rotated("b3", "x", twist)
    head = s.origin.offset("H", b1.vector(0.3, 0, bl.sin(s.time)))
    s.tip = head.offset("T", b2.vector(reach, 0, 0.1)).offset("E", b3.vector(0, 0.4, -0.2))
    with s.space.using(request.param):
        yield s, [s.base, b1, b2, b3], random_values(s.workspace, 31)


def jacobian(columns, base, values) -> np.ndarray:
    """3 x n."""
    return np.array([numbers(column.components(base), values) for column in columns]).T


def test_a_jacobian_has_a_vector_for_each_velocity(crane):
    """v = v_q' q' + v_t, from the rate of the position."""
    s, _, values = crane
    v = velocity(s.space.inertial, s.tip)
    J = jacobian(v.diff_by_each(s.v), s.base, values)
    assert J.shape == (3, 4)
    rates = numbers(s.v, values)
    place = s.position(s.origin, s.tip).components(s.base)
    still = values | {x: 0.0 for q in s.q for x in (q.velocity, q.acceleration)}
    by_time = rate_of(place, still)
    np.testing.assert_allclose(J @ rates + by_time, rate_of(place, values), rtol=1e-7, atol=1e-7)


def test_a_change_of_base_multiplies_a_jacobian_from_the_left_alone(crane):
    """{v_q'}_2 = R {v_q'}_1, n columns unmixed (Plaza 2015, eqs 4.22 and 4.24)."""
    s, bases, values = crane
    v, omega = velocity(s.space.inertial, s.tip), angular_velocity(s.base, bases[-1])
    for u in (v, omega):
        columns = u.diff_by_each(s.v)
        for first in bases:
            for second in bases:
                R = numbers(rotation_matrix(second, first), values)
                np.testing.assert_allclose(
                    jacobian(columns, second, values),
                    R @ jacobian(columns, first, values),
                    **ROUNDING,
                )


def test_products_of_jacobians_need_no_common_base(crane):
    """The n x n matrix v_q'ᵀ v_q' is the same whatever base its columns are written in."""
    s, bases, values = crane
    columns = velocity(s.space.inertial, s.tip).diff_by_each(s.v)
    found = numbers([[a.dot(b) for b in columns] for a in columns], values)
    for base in bases:
        J = jacobian(columns, base, values)
        np.testing.assert_allclose(found, J.T @ J, **ROUNDING)
