"""What is refused where a system is written down."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import DomainError, ModelError


@pytest.fixture
def point() -> bl.SymbolicSystem:
    """A point in the plane."""
    s = bl.SymbolicSystem("point")
    x, y = s.coordinates("x y")
    s.solid("body", at=s.origin.offset("P", s.base.vector(x, y, 0)), base=s.base, mass=2.0)
    return s


@pytest.mark.parametrize("value", (float("nan"), float("inf"), -float("inf")))
def test_values_that_are_not_finite_are_refused(point, value):
    with pytest.raises(ModelError, match=f"value of parameter k must be finite, not {value}"):
        point.parameters(k=value)
    with pytest.raises(ModelError, match=f"value of input u must be finite, not {value}"):
        point.inputs(u=value)
    with pytest.raises(ModelError, match=f"value of x at the start must be finite, not {value}"):
        point.start(x=value)


def test_a_start_is_a_number_of_a_coordinate(point):
    with pytest.raises(ModelError, match="value of x at the start must be a number, not 'a'"):
        point.start(x="a")
    with pytest.raises(ModelError, match="3 is no coordinate or velocity of x, y, dx, dy"):
        point.start({3: 1.0})
    point.start({point.q[0]: 1.5, "dy": 2.5})
    system = point.equations().system
    assert [q.value for q in (*system.q, *system.v)] == [1.5, 0.0, 0.0, 2.5]


def test_two_outputs_of_one_name_are_refused(point):
    point.output("place", point.q[0])
    with pytest.raises(ModelError, match="two outputs are called place"):
        point.output("place", point.q[1])
    np.testing.assert_array_equal(point.equations().system.evaluate("outputs", [3, 4]), [3])


def test_an_output_may_be_a_number(point):
    point.output("one", 1.0)
    np.testing.assert_array_equal(point.equations().system.evaluate("outputs", [3, 4]), [1])


def test_gravity_of_another_system_is_refused(point):
    with pytest.raises(DomainError, match="belongs to another system, other"):
        point.gravity = bl.SymbolicSystem("other").base.vector(0, 0, -9.81)
