"""What is refused of a rigid body, and what is not."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import BielaError, DomainError, ModelError
from tests.mechanisms import ROUNDING, numbers, turn


@pytest.fixture
def system() -> bl.SymbolicSystem:
    return bl.SymbolicSystem("bodies")


def solid(system: bl.SymbolicSystem, **given):
    return system.solid("a", **{"at": system.origin, "base": system.base, "mass": 1.0} | given)


@pytest.mark.parametrize("which", ("inertia", "central_inertia"))
@pytest.mark.parametrize("wrong", ("number", "parameter", "two parameters"))
def test_an_inertia_that_is_not_symmetric_is_refused(system, which, wrong):
    p, r = system.parameters("p r")
    xy, yx = {"number": (0.1, 0.2), "parameter": (p, 0), "two parameters": (p, r)}[wrong]
    I = system.base.tensor([[1, xy, 0], [yx, 1, 0], [0, 0, 1]])
    with pytest.raises(ModelError, match=r"solid a: its inertia is not symmetric, xy is .* yx is"):
        solid(system, **{which: I})
    assert not system.solids


def test_products_of_inertia_may_be_one_sum_in_two_orders(system):
    """R I Rᵀ of symbols is symmetric in value, though not atom by atom."""
    A, B, D, angle = system.parameters(A=1.0, B=2.0, D=0.1, angle=0.3)
    c, s, base = bl.cos(angle), bl.sin(angle), system.base
    R = base.tensor([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    I = R @ base.inertia(A, B, A + B, xy=D) @ R.transposed
    rows = I.components(base)
    assert rows[0][1] != rows[1][0]
    found = numbers(solid(system, inertia=I).inertia.components(base), system.parameter_values)
    T = turn([0, 0, 1], 0.3)
    expected = T @ np.array([[1.0, 0.1, 0], [0.1, 2.0, 0], [0, 0, 3.0]]) @ T.T
    np.testing.assert_allclose(found, expected, **ROUNDING)


def test_numbers_of_an_inertia_may_differ_by_rounding(system):
    I = system.base.tensor([[1, 0.1 + 0.2, 0], [0.3, 1, 0], [0, 0, 1]])
    assert solid(system, inertia=I).inertia.components(system.base)[1][0].value == 0.3


@pytest.mark.parametrize("which", ("inertia", "central_inertia"))
def test_a_negative_moment_of_inertia_is_refused(system, which):
    with pytest.raises(ModelError, match="solid a has a negative moment of inertia yy, -2"):
        solid(system, **{which: system.base.inertia(1, -2, 3)})


@pytest.mark.parametrize("given", (2.0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], (1, 1, 1)))
@pytest.mark.parametrize("which", ("inertia", "central_inertia"))
def test_an_inertia_that_is_no_tensor_is_refused(system, which, given):
    with pytest.raises(ModelError, match=r"solid a: .* is not an inertia.*base\.inertia\(xx"):
        solid(system, **{which: given})


def test_an_inertia_of_another_system_is_refused(system):
    other = bl.SymbolicSystem("other")
    with pytest.raises(ModelError, match="inertia belongs to another system, other"):
        solid(system, inertia=other.base.inertia(1, 1, 1))


def test_a_frame_is_a_point_and_a_base_of_the_system(system):
    with pytest.raises(ModelError, match=r"solid a: at is the point of its frame.*not None"):
        solid(system, at=None)
    with pytest.raises(ModelError, match=r"solid a: base is that of its frame.*not 'b'"):
        solid(system, base="b")
    with pytest.raises(ModelError, match="beam rod: at is the point"):
        system.beam("rod", None, system.base, 1.0, 1.0, {"y": 1.0})
    other = bl.SymbolicSystem("other")
    with pytest.raises(DomainError, match="belong to two systems"):
        solid(system, at=other.origin)
    with pytest.raises(ModelError, match="its point and its base belong to other"):
        solid(system, at=other.origin, base=other.base)


def test_a_centre_of_mass_and_a_first_moment_are_not_given_together(system):
    with pytest.raises(ModelError, match="a centre of mass and a first moment; give one"):
        solid(system, com=(0, 0, 0), first_moment=(1, 0, 0))


def test_a_first_moment_without_a_mass_needs_an_inertia(system):
    with pytest.raises(ModelError, match=r"first moment but no mass.*give its inertia too"):
        solid(system, mass=0, first_moment=(1, 0, 0))
    body = solid(system, mass=0, first_moment=(1, 0, 0), inertia=system.base.inertia(1, 1, 1))
    assert body.first_moment.components(system.base)[0].value == 1


@pytest.mark.parametrize("value", (float("nan"), float("inf")))
def test_a_mass_that_is_no_finite_number_is_refused(system, value):
    with pytest.raises(BielaError, match=str(value)):
        solid(system, mass=value)
