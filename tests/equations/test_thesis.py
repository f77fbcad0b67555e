"""The published route, term by term, against the published numbers and against ours."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.thesis import mass_and_forces_thesis
from tests.mechanisms import FOUR_BAR_INPUTS, FOUR_BAR_PARAMETERS, FOUR_BAR_STATE, four_bar


def as_function(system: bl.SymbolicSystem, M, Q) -> bl.Function:
    inputs = {
        "q": system.q,
        "v": system.v,
        "rest": [s for s in system.workspace if s not in (*system.q, *system.v)],
    }
    return bl.Function("thesis", inputs, {"M": M, "Q": Q})


def random_arm(seed: int) -> bl.SymbolicSystem:
    """Three bodies turned about different axes, with offsets, full inertias and wrenches."""
    random = np.random.default_rng(seed)
    s = bl.SymbolicSystem("arm")
    base, point = s.base, s.origin
    for i, q in enumerate(s.coordinates("q:3")):
        base = base.rotated(f"b{i}", random.choice(["x", "y", "z"]), q)
        half = random.normal(size=(3, 3))
        I = (half @ half.T + np.eye(3)).tolist()
        solid = s.solid(
            f"s{i}", point, base, 1.0 + i, random.normal(size=3).tolist(), base.tensor(I)
        )
        s.wrench(solid, force=random.normal(size=3).tolist(), moment=base.vector(0.3, -0.2, 0.1))
        point = point.offset(f"P{i}", base.vector(*random.normal(size=3).tolist()))
    s.gravity = (0.5, 0, -9.81)
    return s


def test_the_four_bar_has_the_published_numbers():
    s = four_bar()
    M, Q = mass_and_forces_thesis(s)
    own = s.equations().system
    q, v = FOUR_BAR_STATE["q"], FOUR_BAR_STATE["v"]
    f = s.function("thesis", {"M": M, "Q": Q})
    p = [FOUR_BAR_PARAMETERS[parameter.name] for parameter in own.p]
    found_M, found_Q = f(0.0, q, v, FOUR_BAR_INPUTS, p)
    # the opposites of M and delta of the source, which has the other sign
    assert found_M[0, 0] == pytest.approx(9.073119445125, abs=1e-11)
    np.testing.assert_allclose(
        found_Q, [47.368079887892, 10.812750879026, 4.086200652711], atol=1e-11
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_have_the_same_equations_by_both_routes(seed):
    s = random_arm(seed)
    eq = s.equations()
    f = as_function(s, *mass_and_forces_thesis(s))
    for q, v in np.random.default_rng(seed).normal(size=(4, 2, 3)):
        M, Q = f(q, v, np.zeros(f.inputs[2].size))
        np.testing.assert_allclose(M, eq.mass(q), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(Q, eq.forces(q, v), rtol=1e-10, atol=1e-10)


def test_its_mass_matrix_is_symmetric_atom_for_atom():
    M, _ = mass_and_forces_thesis(random_arm(1))
    assert all(M[i][j] == M[j][i] for i in range(3) for j in range(3))


def test_our_route_takes_fewer_operations():
    s = four_bar()
    theirs = s.function("thesis", dict(zip("MQ", mass_and_forces_thesis(s), strict=True)))
    assert s.equations().joint("M", "Q").count.thesis < 0.85 * theirs.count.thesis
