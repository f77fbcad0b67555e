"""Forces that depend on multipliers: friction by its closed form, and where it has no solution."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.errors import SimulationError


def brake(mu: float, slope: float) -> bl.SymbolicSystem:
    """A block on a level rail; its friction force leans into the rail by an angle.

    With N upwards on the block, m a = -μ N cos α and N = m g + μ N sin α.
    """
    s = bl.SymbolicSystem("brake")
    x, z = s.coordinates("x z")
    m, g = s.parameters(m=2.0, g=9.81)
    block = s.solid("block", at=s.origin.offset("P", s.base.vector(x, 0, z)), base=s.base, mass=m)
    s.gravity = s.base.vector(0, 0, -g)
    (rail,) = s.constrain(z, name="rail")
    normal = abs(rail.multiplier)
    s.wrench(block, (-mu * normal * math.cos(slope), 0, -mu * normal * math.sin(slope)))
    s.start(dx=5.0)
    return s


def expected(mu: float, slope: float) -> float:
    return -mu * math.cos(slope) * 9.81 / (1 - mu * math.sin(slope))


@pytest.mark.parametrize(
    "formulation", ["multipliers", "baumgarte", "penalty", "augmented", "index2", "index3"]
)
def test_every_formulation_finds_the_friction(formulation):
    r = bl.simulate(brake(0.3, 0.5), 0.1, step=1e-3, formulation=formulation)
    np.testing.assert_allclose(r["ddx"], expected(0.3, 0.5), rtol=1e-5)


def test_the_accelerations_of_the_system_are_the_same():
    system = brake(0.3, 0.5).equations().system
    a, lam = system.evaluate("accelerations", [0.0, 0.0], [5.0, 0.0])
    np.testing.assert_allclose(a, [expected(0.3, 0.5), 0], rtol=1e-8, atol=1e-8)
    assert abs(lam[0]) == pytest.approx(2 * 9.81 / (1 - 0.3 * math.sin(0.5)), rel=1e-8)


def test_rounds_that_converge_slowly_are_told_and_more_of_them_help():
    model = brake(1.2, 0.9)  # each round leaves 0.94 of the error
    with pytest.raises(SimulationError, match="rounds do not converge"):
        bl.simulate(model, 0.01, step=1e-3)
    options = bl.Options(friction_rounds=300)
    r = bl.simulate(model, 0.01, step=1e-3, options=options)
    np.testing.assert_allclose(r["ddx"], expected(1.2, 0.9), rtol=1e-4)


def test_a_brake_that_locks_has_no_solution_and_says_so():
    with pytest.raises(SimulationError, match="friction locks"):
        bl.simulate(brake(1.5, 0.9), 0.01, step=1e-3)
