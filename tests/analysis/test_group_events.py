"""Events of a simulation by groups against those that a simulation of all equations stops at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.errors import ModelError

Floats = npt.NDArray[np.float64]


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
    np.testing.assert_allclose([e.time for e in ours.events], times, rtol=0, atol=1e-6)
    # the stop begins to push where the angle is its limit
    first = ours.events[0]
    limit = -2.2 if first.name.endswith("lower") else 0.1
    assert np.interp(first.time, ours.t, ours["hinge.angle"]) == pytest.approx(limit, abs=1e-4)


def test_a_stop_ends_a_run_where_its_event_is() -> None:
    model, when = pendulum_with_stops(), {"end.lower": "stop"}
    ours = bl.group_simulation(model, 3.0, step=1e-3, on_event=when)
    theirs = bl.simulate(model, 3.0, step=1e-3, on_event=when)
    assert ours.t[-1] == ours.events[-1].time == pytest.approx(theirs.t[-1], abs=1e-10)
    assert ours["hinge.angle"][-1] == pytest.approx(-2.2, abs=1e-10)


def test_a_reaction_throws_bodies_back_as_in_the_general_simulation() -> None:
    model = pendulum_with_stops()

    def back(t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        return q, -0.5 * v

    run = {"step": 1e-3, "output": 1e-2, "on_event": {"end.lower": back}}
    ours = bl.group_simulation(model, 3.0, **run)  # type: ignore[arg-type]
    theirs = bl.simulate(bl.formulate(model, "reference"), 3.0, **run)
    assert [e.name for e in ours.events] == [e.name for e in theirs.events]
    assert len(ours.events) == 2
    np.testing.assert_allclose(ours.t, theirs.t, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours["hinge.angle"], theirs["hinge.angle"], rtol=0, atol=1e-7)


def test_a_controller_and_inputs_move_groups_as_they_move_all_bodies() -> None:
    model = pendulum_with_stops()
    model.force("actuator", "motor", coordinate="hinge", value=0.2)
    asked: list[float] = []

    def held(t: float, q: Floats, v: Floats) -> list[float]:
        asked.append(t)
        return [-3.0 * float(v[2])]

    run = {"step": 1e-3, "control": held, "sample_time": 0.02}
    ours = bl.group_simulation(model, 0.5, **run)  # type: ignore[arg-type]
    samples, asked[:] = list(asked), []
    theirs = bl.simulate(bl.formulate(model, "reference"), 0.5, **run)
    np.testing.assert_allclose(samples, asked, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours["hinge.angle"], theirs["hinge.angle"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours["motor"], theirs["motor"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours["dhinge.angle_rate"], theirs["dhinge.angle_rate"], atol=1e-7)
    pushed = bl.group_simulation(model, 0.2, inputs={"motor": 1.5})
    other = bl.simulate(model, 0.2, step=1e-3, inputs={"motor": 1.5})
    np.testing.assert_allclose(pushed["hinge.angle"], other["hinge.angle"], rtol=0, atol=1e-9)


def test_large_models_have_no_answers_in_groups() -> None:
    model = bl.Model("row", plane="xz")
    for k in range(70):
        rod = model.body(f"rod{k}", mass=1.0, com=(0.5, 0, 0), inertia=0.1)
        model.joint("revolute", f"J{k}", model.ground.at(0, 0, 0.1 * k), rod, axis="y")
    with pytest.raises(ModelError, match=r"inputs is for models of up to .* simulate\(model"):
        bl.group_simulation(model, 0.1, inputs={})
