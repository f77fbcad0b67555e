"""One simulator for every engine: which one runs, what it refuses, what it keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import biela as bl
from biela.analysis.engine_choice import PATIENCE, time_to_unroll
from biela.analysis.looped.motion import LoopedMotion
from biela.errors import ModelError, ShapeError


def chain(count: int, *, plane: str | None = "xz") -> bl.Model:
    """Bars that hang one from another."""
    m = bl.Model("chain", plane=plane)
    before = m.ground
    for k in range(count):
        bar = m.body(f"bar{k}", mass=1.0, com=(0.25, 0, 0), inertia=0.02)
        at = before if k == 0 else before.at(0.5, 0, 0)
        m.joint("revolute", f"J{k}", at, bar, axis="y", start=0.1)
        before = bar
    return m


def comb(count: int) -> bl.Model:
    """As many bars, each on the ground."""
    m = bl.Model("comb")
    for k in range(count):
        bar = m.body(f"bar{k}", mass=1.0, com=(0.25, 0, 0), inertia=0.02)
        m.joint("revolute", f"J{k}", m.ground.at(k, 0, 0), bar, axis="y", start=0.1)
    return m


def in_parts(count: int) -> bl.Model:
    """The comb as an array of parts."""
    cell = bl.Model("cell")
    bar = cell.body("bar", mass=1.0, com=(0.25, 0, 0), inertia=0.02)
    cell.joint("revolute", "J", cell.ground, bar, axis="y", start=0.1)
    m = bl.Model("array")
    m.part("cell", cell, count, shift=(1, 0, 0))
    return m


def test_what_hangs_on_few_bodies_is_unrolled_and_what_hangs_on_many_is_looped() -> None:
    assert time_to_unroll(comb(100)) < PATIENCE / 10
    assert time_to_unroll(in_parts(100)) == time_to_unroll(comb(100))
    assert time_to_unroll(chain(20)) < PATIENCE / 2 < 2 * PATIENCE < time_to_unroll(chain(100))
    assert time_to_unroll(chain(30, plane=None)) > 2 * time_to_unroll(chain(30))
    assert time_to_unroll(in_parts(100_000)) > 1e6


def test_the_engine_is_chosen_by_what_it_costs_to_get_ready() -> None:
    assert bl.Simulator(comb(12)).engine == "unrolled"
    assert bl.Simulator(chain(100)).engine == "looped"
    assert bl.Simulator(in_parts(300)).engine == "looped"
    assert bl.Simulator(chain(3), engine="looped").engine == "looped"
    assert bl.Simulator(chain(3), coordinates="groups").engine == "groups"


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"coordinates": "reference"},
        {"coordinates": "natural"},
        {"coordinates": "groups"},
        {"engine": "looped"},
    ],
    ids=str,
)
def test_a_simulator_moves_as_simulate_does_whatever_the_engine(how: dict[str, str]) -> None:
    run = {"step": 1e-3, "q": {"J0": 0.3}, "parameters": None, "inputs": {}}
    made = bl.Simulator(chain(3), **how)
    once, again = made.run(0.05, **run), made.run(0.05, **run)
    other = bl.simulate(chain(3), 0.05, **how, **run)
    joint = bl.simulate(bl.formulate(chain(3)), 0.05, **run)
    for name in ("bar2.x", "bar2.z"):
        assert np.array_equal(once[name], other[name])
        assert np.array_equal(once[name], again[name])
        assert once[name] == pytest.approx(joint[name], abs=1e-9)


def test_a_looped_simulator_prepares_the_equations_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []
    init: Callable[..., None] = LoopedMotion.__init__
    monkeypatch.setattr(LoopedMotion, "__init__", lambda *args: prepared.append(1) or init(*args))
    made = bl.Simulator(chain(4), engine="looped")
    first = made.run(0.02, step=1e-3)
    assert np.array_equal(first.q, made.run(0.02, step=1e-3, output=1e-3).q)
    made.run(0.02, step=2e-3, watch="event")
    assert len(prepared) == 1
    moved = made.run(0.02, step=1e-3, q={"J0": 0.5})
    assert len(prepared) == 2 and abs(moved["J0.angle"][0] - 0.5) < 1e-12
    assert np.array_equal(first.q, made.run(0.02, step=1e-3).q)


def test_events_need_not_be_looked_for() -> None:
    m = chain(1)
    m.force("stop", "wall", coordinate="J0", upper=0.3, stiffness=1e4)
    for how in ({}, {"engine": "looped"}):
        with_events = bl.simulate(m, 0.3, step=1e-3, watch="event", **how)
        without = bl.simulate(m, 0.3, step=1e-3, events=False, watch="event", **how)
        assert any("wall" in event.name for event in with_events.events)
        assert not any("wall" in event.name for event in without.events)
        with pytest.raises(ModelError, match="events=False"):
            bl.simulate(m, 0.1, step=1e-3, events=False, on_event={"wall.upper": "stop"}, **how)


@pytest.mark.parametrize(
    ("made", "run", "said"),
    [
        ({"engine": "fast"}, {}, "engine 'fast' is not known; use unrolled or looped"),
        ({"coordinates": "polar"}, {}, "joint, reference, euler, natural, groups"),
        ({"engine": "looped", "coordinates": "joint"}, {}, "does not know coordinates='joint'"),
        ({"engine": "looped", "formulation": "penalty"}, {}, "formulation='penalty'"),
        ({"engine": "looped", "options": bl.Options()}, {}, "does not know options"),
        ({"coordinates": "groups", "formulation": "penalty"}, {}, "take no formulation"),
        ({"coordinates": "groups", "integrator": "radau"}, {}, "steps of fixed length"),
        ({"coordinates": "groups"}, {"timers": True}, "do not know timers"),
        ({"coordinates": "groups"}, {"tolerance": 1e-8}, "do not know tolerance"),
        ({"coordinates": "groups", "engine": "looped"}, {}, "no engine"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(
    made: dict[str, object], run: dict[str, object], said: str
) -> None:
    with pytest.raises((ModelError, ShapeError), match=said):
        bl.Simulator(chain(2), **made).run(0.01, step=1e-3, **run)


def test_symbols_have_their_own_coordinates() -> None:
    s = bl.SymbolicSystem("spring")
    (x,) = s.coordinates("x")
    s.solid("block", at=s.origin.offset("block", s.base.vector(x, 0, 0)), base=s.base, mass=1.0)
    with pytest.raises(ModelError, match="the looped engine takes a Model"):
        bl.Simulator(s, engine="looped")
    with pytest.raises(ModelError, match="coordinates='groups' are for a Model"):
        bl.Simulator(s, coordinates="groups")
    with pytest.raises(ModelError, match="has the coordinates of its author"):
        bl.Simulator(s, coordinates="reference")


def test_a_looped_simulator_has_no_equations_to_show() -> None:
    made = bl.Simulator(chain(3), engine="looped")
    with pytest.raises(ModelError, match=r"writes out no equations; ask formulate"):
        _ = made.system
    assert made.formulation == "multipliers"
