"""Events of a simulation by groups against those that a simulation of all equations stops at."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.errors import ModelError


def pendulum_with_stops() -> bl.Model:
    """A bar that swings between two soft stops."""
    m = bl.Model("pendulum", plane="xy", gravity=(0, -9.81, 0))
    bar = m.body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    m.joint("revolute", "hinge", m.ground.at(), bar.at(), start="-20 deg")
    m.force("stop", "end", coordinate="hinge", stiffness=200.0, lower=-2.2, upper=0.1)
    return m


def test_events_are_those_of_the_general_simulation() -> None:
    model = pendulum_with_stops()
    ours = bl.group_simulation(model, 3.0, step=1e-3)
    others = bl.simulate(model, 3.0, tolerance=1e-10)
    assert len(others.events) > 3
    assert [(e.name, e.direction) for e in ours.events] == [
        (e.name, e.direction) for e in others.events
    ]
    times = [e.time for e in others.events]
    np.testing.assert_allclose([e.time for e in ours.events], times, rtol=0, atol=1e-5)
    # the stop begins to push where the angle is its limit
    first = ours.events[0]
    limit = -2.2 if first.name.endswith("lower") else 0.1
    assert np.interp(first.time, ours.t, ours["hinge.angle"]) == pytest.approx(limit, abs=1e-4)


def test_a_reaction_to_events_is_refused_with_the_way_to_have_it() -> None:
    with pytest.raises(ModelError, match=r"finds events and goes on; .* use simulate"):
        bl.group_simulation(pendulum_with_stops(), 1.0, on_event={"end.lower": "stop"})
