"""The energy account of runs by groups: what it lets pass, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biela as bl
import biela.analysis.groups.simulation as running
from biela.errors import ModelError, SimulationError
from tests.analysis.test_group_forces_on_joints import four_bar
from tests.analysis.test_group_rotations import rssr as spinning
from tests.analysis.test_idle import rssr


def driven() -> bl.Model:
    """A pendulum on the rocker of a four-bar whose crank is turned."""
    m = four_bar(driven=True)
    bob = m.body("bob", mass=1.0, inertia=0.1, com=(0.2, 0, 0))
    m.joint("revolute", "P", "rocker.end", bob)
    return m


def damped() -> bl.Model:
    m = four_bar()
    m.force("torsional", "s", coordinate="C", stiffness=30.0, damping=0.5, rest=0.1)
    return m


def pendulums(driven: bool = False) -> bl.Model:
    """Seventy pendulums in a row: a large mechanism."""
    m = bl.Model("row", plane="xz", gravity=(0, 0, -9.81))
    for k in range(70):
        rod = m.body(f"rod{k}", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
        m.joint("revolute", f"J{k}", m.ground.at(0, 0, 0.1 * k), rod, axis="y", start=0.01 * k)
    if driven:
        m.driver("rotary", "motor", coordinate="J0", law="2*t")
    else:
        m.force("torsional", "s", coordinate="J0", damping=0.1)
    return m


MODELS: dict[str, Any] = {
    "free": four_bar,
    "damped": damped,
    "with a moving driver": driven,
    "in space": rssr,
    "with a rod that spins": lambda: spinning(0.01),
    "large": pendulums,
    "large, with a moving driver": lambda: pendulums(True),
}
#: Rates at the start of what gravity does not move.
STARTS = {"in space": {"A": 2.0}}


@pytest.fixture
def thrown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs whose velocities grow by a fifth halfway, as on another branch."""
    plain = running._run

    def run(simulator: Any, grid: Any, *more: Any) -> Any:
        rows = plain(simulator, grid, *more)
        if grid.samples >= 100:  # not what is run once more
            nq = simulator.start.coordinates.positions
            rows.x = [x.copy() for x in rows.x]
            for x in rows.x[len(rows.x) // 2 :]:
                x[nq:] *= 1.2
        return rows

    monkeypatch.setattr(running, "_run", run)


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.usefixtures("thrown")
def test_a_motion_that_is_thrown_is_refused(name: str) -> None:
    model = MODELS[name]()
    with pytest.raises(SimulationError, match=r"energy (jumps|is wrong)") as caught:
        bl.group_simulation(model, 0.4, step=2e-3, v=STARTS.get(name))
    assert 0.15 <= caught.value.results.t[-1] <= 0.2 + 1e-9


@pytest.mark.usefixtures("thrown")
def test_a_motion_that_is_thrown_is_told_as_an_event_if_that_is_asked_for() -> None:
    found = bl.group_simulation(four_bar(), 0.4, step=2e-3, watch="event")
    (event,) = found.events
    assert "energy" in event.name
    assert event.time == pytest.approx(0.198, abs=1e-6)
    assert found.t[-1] == pytest.approx(0.4)
    with pytest.raises(ModelError, match="watch is 'error' or 'event'"):
        bl.group_simulation(four_bar(), 0.1, watch="nothing")


@pytest.mark.parametrize("name", list(MODELS))
def test_a_good_motion_passes(name: str) -> None:
    found = bl.group_simulation(MODELS[name](), 0.4, step=2e-3, v=STARTS.get(name))
    assert not [event for event in found.events or () if "energy" in event.name]


def test_a_step_that_is_too_long_is_told_with_one_that_is_not() -> None:
    found = bl.group_simulation(four_bar(), 2.0, step=0.1)
    (event,) = found.events
    assert "the step is too long" in event.name
    shorter = float(event.name.rpartition("step=")[2])
    again = bl.group_simulation(four_bar(), 2.0, step=shorter)
    assert not again.events
    energy = np.asarray(again["energy"])
    scale = np.ptp(np.asarray(again["potential energy"]))
    assert np.ptp(energy) < 1e-3 * scale
