"""Events of large mechanisms, against closed forms and the unrolled equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, ClassVar

import numpy as np
import pytest

import biela as bl
from biela.analysis.looped import simulation
from biela.errors import ModelError, SimulationError
from biela.model.derivation import Derivation
from biela.model.element import KINDS, quantity
from biela.model.forces import Force
from biela.model.laws.law import Law, law_from

#: Simulates by the looped engine.
looped = partial(bl.simulate, engine="looped")

G = 9.81


def weights(heights: list[float], floor: bool = True) -> bl.Model:
    """Weights on rails, which fall from heights onto soft floors."""
    cell = bl.Model("cell", plane="xz", gravity=(0, 0, -G))
    cell.parameter("height", 1.0)
    weight = cell.body("weight", mass=2.0, inertia=0.1)
    cell.joint("prismatic", "rail", cell.ground.at(axis="z"), weight.at(axis="z"), start="height")
    stiffness = 1e4 if floor else 1e-9
    cell.force("stop", "floor", coordinate="rail", lower=0.0, stiffness=stiffness)
    m = bl.Model("weights", plane="xz", gravity=(0, 0, -G))
    m.part("cell", cell, len(heights), shift=(1, 0, 0), parameters={"height": heights})
    return m


def four_bars_with_cables(count: int) -> bl.Model:
    """Closed loops side by side; a cable in each is slack on a part of the way."""
    cell = bl.Model("cell", plane="xy", gravity=(0, -G, 0))
    crank = cell.body("crank", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
    coupler = cell.body("coupler", mass=1.0, com=(0.55, 0, 0), inertia=0.12)
    crank.marker("tip", (1, 0, 0))
    coupler.marker("end", (1.1, 0, 0))
    cell.joint("revolute", "A", cell.ground, crank, start=-0.6)
    cell.joint("revolute", "B", crank.markers["tip"], coupler, start=0.6)
    cell.force(
        "spring_damper",
        "cable",
        i=cell.ground.at(-0.3, -0.9, 0),
        j=crank.markers["tip"],
        stiffness=1e3,
        damping=1.0,
        length=0.8,
        only="tension",
    )
    m = bl.Model("four-bars", plane="xy", gravity=(0, -G, 0))
    m.part("cell", cell, count, shift=(1, 0, 0), between=[("revolute", "coupler.end", "crank.tip")])
    last = m.body("last", mass=1.0, com=(0.5, 0, 0), inertia=1 / 12)
    m.joint("revolute", "A", m.ground.at(count, 0, 0), last.at(), start=-0.6)
    m.joint("revolute", "pin", f"cell[{count - 1}].coupler.end", last.at(1, 0, 0))
    return m


def occurrences(results: Any) -> list[tuple[str, int]]:
    return [(event.name, event.direction) for event in results.events]


@pytest.mark.parametrize("how", [{"step": 1e-3}, {"tolerance": 1e-9}])
def test_weights_meet_their_floors_when_they_have_fallen_so_far(how: dict[str, float]) -> None:
    heights = [0.2, 0.5, 0.35, 0.5]
    r = looped(weights(heights, floor=False), 0.4, **how)
    times = {event.name: event.time for event in r.events}
    assert len(r.events) == 4
    for k, height in enumerate(heights):
        assert times[f"cell[{k}].floor.lower"] == pytest.approx(sqrt(2 * height / G), abs=1e-12)
    assert [event.time for event in r.events] == sorted(times.values())
    # the instant is stored, and the weight is at the floor there
    at = int(np.flatnonzero(r.t == times["cell[2].floor.lower"])[0])
    assert r["cell[2].weight.rz"][at] == pytest.approx(0.0, abs=1e-12)
    # an event of one weight does not shift the time of the others
    falling = r.t <= times["cell[1].floor.lower"]
    height = heights[1] - G * r.t[falling] ** 2 / 2
    assert r["cell[1].weight.rz"][falling] == pytest.approx(height, abs=5e-14)
    assert r.statistics is not None
    assert r.statistics.events == 4


@pytest.mark.parametrize("how", [{"step": 2e-3}, {"step": 1e-3}, {"tolerance": 1e-12}])
def test_cables_of_closed_loops_become_taut_as_with_unrolled_equations(
    how: dict[str, float],
) -> None:
    m = four_bars_with_cables(2)
    r = bl.simulate(m, 1.5, engine="looped", **how)
    other = bl.simulate(bl.formulate(m.flattened(), "reference"), 1.5, **how)
    assert len(r.events) >= 4
    assert sorted(occurrences(r)) == sorted(occurrences(other))
    found, expected = ([event.time for event in run.events] for run in (r, other))
    assert found == pytest.approx(expected, abs=1e-9)
    assert r.t == pytest.approx(other.t, abs=1e-9)
    assert r.q[-1] == pytest.approx(other.q[-1][: r.q.shape[1]], abs=1e-9)


def test_a_bounce_turns_one_weight_and_leaves_the_others() -> None:
    heights, e = [0.3, 0.4], 0.5
    m = weights(heights, floor=False)

    def bounce(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        v[1] *= -e  # velocities are x, z and the angle of the first weight, then the second
        return q, v

    reactions = {"cell[0].floor.lower": bounce}
    r = bl.simulate(m, 0.52, engine="looped", step=1e-3, on_event=reactions)
    first, speed = sqrt(2 * 0.3 / G), sqrt(2 * 0.3 * G)
    times = [first, sqrt(2 * 0.4 / G), first + 2 * e * speed / G]
    assert [event.time for event in r.events] == pytest.approx(times, abs=1e-11)
    before, after = np.flatnonzero(r.t == r.events[0].time)
    assert r["cell[0].weight.rz_rate"][before] == pytest.approx(-speed, rel=1e-10)
    assert r["cell[0].weight.rz_rate"][after] == pytest.approx(e * speed, rel=1e-10)
    end = float(r.t[-1])
    assert r["cell[1].weight.rz"][-1] == pytest.approx(0.4 - G / 2 * end**2, abs=1e-10)


def pendulum() -> bl.Model:
    m = bl.Model("pendulum", plane="xz", gravity=(0, 0, -G))
    rod = m.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=0.3)
    m.joint("revolute", "pin", m.ground.at(axis="y"), rod.at(axis="y"), start=0.5)
    m.force("stop", "wall", coordinate="pin.angle", lower=0.0, stiffness=1e-9)
    return m


def test_a_velocity_that_breaks_a_joint_is_mended_by_its_impulse() -> None:
    # spin w' given, centre stopped: m l² w + I w = I w' about the pin
    def spin(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return q, [0.0, 0.0, 3.0, 3.0]  # of the rod, and of the angle that counts turns

    r = looped(pendulum(), 0.8, step=1e-3, on_event={"wall.lower": spin})
    after = int(np.flatnonzero(r.t == r.events[0].time)[1])
    w = 0.3 * 3.0 / (2.0 * 0.5**2 + 0.3)
    assert r["rod.angle_rate"][after] == pytest.approx(w, rel=1e-9)
    assert r["velocity error"][after] < 1e-12


def test_a_run_stops_where_it_is_asked_to() -> None:
    m = weights([0.2, 0.5], floor=False)
    for reaction in ("stop", lambda t, q, v: "stop"):
        r = looped(m, 1.0, step=1e-3, on_event={"cell[1].floor.lower": reaction})
        assert r.t[-1] == r.events[-1].time == pytest.approx(sqrt(2 * 0.5 / G), abs=1e-12)
        assert not r.interrupted


def test_a_reaction_that_resolves_nothing_is_told() -> None:
    # so little comes back that the next bounce is within rounding of the first
    def stick(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        v[1] *= -1e-12
        return q, v

    with pytest.raises(SimulationError, match=r"goes on beyond it") as caught:
        looped(weights([0.2], floor=False), 0.4, step=1e-3, on_event={"cell[0].floor.lower": stick})
    assert caught.value.results is not None
    assert caught.value.results.t[-1] == pytest.approx(sqrt(2 * 0.2 / G), abs=1e-6)


@pytest.mark.parametrize("how", [{"step": 1e-3}, {"tolerance": 1e-9}])
def test_a_weight_that_is_left_on_an_event_does_not_fall_through_it_unsaid(
    how: dict[str, float],
) -> None:
    def rest(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return q, [*v[:4], 0.0, v[5]]  # the second weight

    with pytest.raises(SimulationError, match=r"cell\[1\]\.floor\.lower .*at rest there") as caught:
        looped(weights([0.5, 0.2], floor=False), 0.4, on_event={"cell[1].floor.lower": rest}, **how)
    assert caught.value.results is not None
    assert caught.value.results.t[-1] == pytest.approx(sqrt(2 * 0.2 / G), abs=1e-6)
    assert caught.value.results["cell[1].weight.rz"].min() > -1e-9


def test_what_is_wrong_with_reactions_is_said() -> None:
    m = weights([0.2, 0.3])
    cases: list[tuple[Any, type[Exception], str]] = [
        ({"cell[0].flor.lower": "stop"}, ModelError, r"no event cell\[0\]\.flor\.lower.*floor"),
        (["cell[0].floor.lower"], ModelError, "by its name, such as"),
        ({"cell[0].floor.lower": "halt"}, ModelError, "'halt' is not a reaction"),
        ({"cell[0].floor.lower": lambda t, q, v: (q, v[:2])}, ModelError, "6 velocities"),
        (
            {"cell[0].floor.lower": lambda t, q, v: (np.nan * q, v)},
            ModelError,
            r"floor\.lower at t = 0\.2.* returned q\[0\] = nan \(cell\[0\]\.weight\.rx\)",
        ),
        ({"cell[0].floor.lower": lambda t, q, v: (q, v)}, ModelError, "that it was given"),
    ]
    for reactions, kind, said in cases:
        with pytest.raises(kind, match=said):
            looped(m, 0.3, step=1e-3, on_event=reactions)
    with pytest.raises(ModelError, match="events=False"):
        looped(m, 0.3, step=1e-3, events=False, on_event={"cell[0].floor.lower": "stop"})


def test_events_can_be_left_out() -> None:
    m = weights([0.2, 0.5], floor=False)
    r = looped(m, 0.4, step=1e-3, events=False)
    assert not r.events
    assert r["cell[0].weight.rz"][-1] == pytest.approx(0.2 - G / 2 * 0.4**2, abs=1e-10)


def test_events_that_would_fill_the_memory_are_told_without_their_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulation, "_AT_EVENTS", 1)
    r = looped(weights([0.2, 0.3, 0.4], floor=False), 0.4, step=1e-3)
    assert len(r.events) == 3
    assert len(r.t) == 401 + 1


@dataclass(frozen=True, kw_only=True)
class Gate(Force):
    """Nothing but an event: where a coordinate meets a law of time."""

    coordinate: str = quantity("coordinate", "what is watched")
    level: Law = quantity("law", "where it is met")

    kind: ClassVar[str] = "gate"

    def act(self, derivation: Derivation) -> None:
        level = derivation.law(self.level, "length")
        derivation.watch(f"{self.name}.met", derivation.coordinate(self.coordinate) - level)


KINDS[Gate.category].pop(Gate.kind)  # only of this file: others go through those of biela


def test_an_event_of_an_element_of_ones_own_may_depend_on_time() -> None:
    m = weights([1.0, 2.0], floor=False)
    cell = m.parts["cell"].model
    cell.forces["gate"] = Gate(name="gate", coordinate="rail", level=law_from("0.5 + 2*t"))
    r = looped(m, 0.3, step=1e-3)
    # h - g t²/2 = 0.5 + 2 t
    t = (-2 + sqrt(4 + 2 * G * 0.5)) / G
    assert occurrences(r) == [("cell[0].gate.met", -1)]
    assert r.events[0].time == pytest.approx(t, abs=1e-12)
