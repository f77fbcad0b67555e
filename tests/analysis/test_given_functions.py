"""Functions that a run is given: which can be called, and what they may return."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.analysis.control import _set_by
from biela.analysis.event_answers import EventAnswers
from biela.errors import BielaError, ModelError, SimulationError

HUGE = 10**400
DATES = np.array(["2020-01-01"], dtype="datetime64[s]")


def bar() -> bl.Model:
    m = bl.Model("bar", plane="xy", gravity=(0, -9.81, 0))
    rod = m.body("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    m.joint("revolute", "hinge", m.ground.at(), rod.at(), start="-20 deg")
    m.force("stop", "end", coordinate="hinge", stiffness=200.0, lower=-0.4, upper=0.1)
    m.force("actuator", "motor", coordinate="hinge")
    return m


@pytest.fixture(scope="module")
def system() -> bl.System:
    return bl.formulate(bar(), "joint")


@pytest.fixture(scope="module")
def simulator(system: bl.System) -> bl.Simulator:
    return bl.Simulator(system)


# ------------------------------------------------------------------------------------- reactions


@pytest.mark.parametrize(
    "reaction", [lambda s: "stop", lambda: "stop", lambda t, q, *, v: None, np.sin]
)
def test_a_reaction_of_other_arguments_is_refused_at_the_start(reaction: Any) -> None:
    with pytest.raises(ModelError, match=r"bar: the reaction to event hit, .*with t, q and v"):
        EventAnswers("bar", ["hit"], {"hit": reaction})


@pytest.mark.parametrize("reaction", [lambda *a: "stop", lambda t, q, v, e=0.5: "stop"])
def test_a_reaction_may_have_more_arguments(reaction: Any, simulator: bl.Simulator) -> None:
    r = simulator.run(1.0, step=1e-2, on_event={"end.lower": reaction})
    assert [event.name for event in r.events] == ["end.lower"]


@pytest.mark.parametrize(
    ("reaction", "error", "said"),
    [
        (lambda t, q, v: ([HUGE], v), ModelError, "return None, 'stop', or the pair"),
        (lambda t, q, v: (DATES, v), ModelError, "return None, 'stop', or the pair"),
        (lambda t, q, v: ([DATES[0]], v), ModelError, "return None, 'stop', or the pair"),
        (lambda t, q, v: (q + 1j, v), ModelError, "return None, 'stop', or the pair"),
        (lambda t, q, v: 10**5000, ModelError, "return None, 'stop', or the pair"),
        (lambda t, q, v: (q * 1e300, v), SimulationError, "its largest coordinate is 4e"),
        (lambda t, q, v: (q, v * 1e300), SimulationError, "its largest velocity [0-9]"),
        (dict, ModelError, "cannot be called with t, q and v"),
    ],
)
def test_an_answer_that_is_no_state_names_the_event(
    reaction: Any, error: type[BielaError], said: str, simulator: bl.Simulator
) -> None:
    with pytest.raises(error, match=r"bar: the reaction to event end\.lower") as caught:
        simulator.run(1.0, step=1e-2, on_event={"end.lower": reaction})
    assert caught.match(said)


def test_groups_refuse_an_answer_that_is_too_large() -> None:
    reactions = {"end.lower": lambda t, q, v: (q * 1e300, v)}
    with pytest.raises(SimulationError, match=r"the reaction to event end\.lower at t = "):
        bl.group_simulation(bar(), 1.0, step=1e-2, on_event=reactions)


# ----------------------------------------------------------------------------------- controllers


@pytest.mark.parametrize(
    "law", [lambda: {}, lambda t, q: [0], lambda s, *, k: [0], int, float, dict, np.sin]
)
def test_a_controller_of_other_arguments_is_refused(law: Any, simulator: bl.Simulator) -> None:
    with pytest.raises(ModelError, match=r"the controller of bar, .*with t, q and v, nor with one"):
        simulator.run(0.1, step=1e-2, control=law)


def test_a_law_that_takes_three_arguments_gets_them(simulator: bl.Simulator) -> None:
    seen: list[tuple[Any, ...]] = []

    def optional(t: float, q: Any = None, v: Any = None) -> list[float]:
        seen.append((t, q, v))
        return [0.0]

    def state(now: Any, gain: float = 2.0) -> dict[str, float]:
        seen.append((now.t, now["hinge"], gain))
        return {"motor": 0.0}

    for law in (optional, state):
        seen.clear()
        simulator.run(0.02, step=1e-2, control=law)
        assert seen[0][0] == 0.0 and np.shape(seen[0][1]) == ((1,) if law is optional else ())


def test_what_goes_wrong_within_a_law_is_left_as_it_is(simulator: bl.Simulator) -> None:
    def wrong(t: float, q: Any, v: Any) -> Any:
        return [len(t)]  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        simulator.run(0.1, step=1e-2, control=wrong)


@pytest.mark.parametrize(
    "found",
    [
        {"motor": HUGE},
        {"motor": 10**5000},
        [Fraction(HUGE, 3)],
        np.array([1 + 2j]),
        DATES,
        np.array([HUGE], dtype=object),
    ],
    ids=range(6),
)
def test_what_a_law_returns_are_finite_numbers(found: Any, system: bl.System) -> None:
    with pytest.raises(ModelError, match=r"the controller of bar returned .* finite numbers"):
        _set_by(system, np.zeros(1), found, 0.0)
    assert _set_by(system, np.zeros(1), [Fraction(1, 4)], 0.0) == [0.25]


@pytest.mark.parametrize("time", [np.array(0.01, dtype=object), np.array([0.01, 0.02]), HUGE])
def test_a_sample_time_is_a_number(time: Any, simulator: bl.Simulator) -> None:
    with pytest.raises(ModelError, match="sample_time is a"):
        simulator.run(0.1, step=1e-2, control=lambda t, q, v: [0.0], sample_time=time)
