"""Mechanisms put together from known groups: the finder gets them back, and they move."""

from __future__ import annotations

import numpy as np
import pytest

from tests.groups_oracle.bodies import KINDS, Marker, State
from tests.groups_oracle.dynamics import inverse_dynamics
from tests.groups_oracle.motion import solved
from tests.groups_oracle.random_mechanisms import FREEDOMS, counted, drawn
from tests.groups_oracle.structure import find_structure


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_known_groups_are_found_again(planar, seed):
    built = drawn(np.random.default_rng(seed), planar, inputs=1 + seed % 3, dyads=6)
    found = find_structure(3 if planar else 6, 0, counted(built.mechanism))
    assert not found.redundant
    assert not found.loose
    assert {frozenset(group) for group in found.groups} == {frozenset(g) for g in built.groups}


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_they_move_as_their_differences_say_and_their_reactions_are_determined(planar, seed):
    rng = np.random.default_rng(100 + seed)
    built = drawn(rng, planar, inputs=2, dyads=3)
    rates, accelerations = 0.2 * rng.normal(size=(2, 2))
    mechanism, e = built.mechanism, 1e-3
    now = solved(mechanism, built.state, built.laws(0.0, rates, accelerations))
    assert now.updates == 0
    assert now.determined.all()
    near = {
        k: solved(mechanism, now.state, built.laws(k * e, rates, accelerations)).state
        for k in (-2, -1, 1, 2)
    }
    for value, rate in (("r", "v"), ("v", "a"), ("w", "dw")):
        x = {k: getattr(state, value) for k, state in near.items()}
        difference = (8 * (x[1] - x[-1]) - (x[2] - x[-2])) / (12 * e)
        exact = getattr(now.state, rate)
        np.testing.assert_allclose(
            difference, exact, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(exact).max())
        )
    forces = inverse_dynamics(
        mechanism, now.state, built.laws(0.0, rates, accelerations), built.masses, (0, -9.81, 0)
    )
    np.testing.assert_allclose(forces.unbalanced, 0, atol=1e-8)
    assert forces.drivers_determined.all()
    if not planar:
        assert now.redundant == 0
        assert all(reaction.determined.all() for reaction in forces.reactions)


def test_freedoms_are_what_the_rows_leave():
    from tests.groups_oracle.bodies import Joint, at_rest, joint_rows

    s: State = at_rest([(0.3, 0.1, 0.2)])
    for kind in KINDS:
        joint = Joint(kind, Marker(0, np.zeros(3)), Marker(1, np.zeros(3)), 0.5)
        assert 6 - len(joint_rows(joint, s)) == FREEDOMS[kind], kind
