from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from biela import Robot, group_simulation
from biela.analysis import kinematics, simulate
from biela.equations import formulate
from biela.errors import ModelError
from biela.model import Model
from biela.model.topology.topology import Topology
from tests.model.four_bars import four_bar


def carriage(**settings: object) -> Model:
    m = Model("carriage", gravity=(0, 0, -9.81))
    m.body("block", mass=2.0, inertia=0.1)
    m.joint("prismatic", "slide", m.ground, "block", axis="z", **settings)
    return m


def test_a_driven_slide_tells_where_it_leaves_its_limits_and_comes_back() -> None:
    m = carriage(limits=(-0.5, "50 mm"))
    m.driver("translational", "motor", coordinate="slide", law="0.1*sin(t)")
    events = kinematics(m, 3.0, step=0.01).events
    assert [event.name for event in events] == [
        "limit of slide.displacement passed",
        "slide.displacement within its limits again",
    ]
    assert [event.direction for event in events] == [1, -1]
    for event, when in zip(events, (math.pi / 6, 5 * math.pi / 6), strict=True):
        assert event.time == pytest.approx(when, abs=1e-11)  # sin t = 1/2


PASSED = "limit of slide.displacement passed"
ENGINES = {
    "joint": simulate,
    "reference": lambda m, *a, **k: simulate(formulate(m, "reference"), *a, **k),
    "natural": lambda m, *a, **k: simulate(formulate(m, "natural"), *a, **k),
    "projected": lambda m, *a, **k: simulate(
        formulate(m, "reference"), *a, formulation="velocity_projection", **k
    ),
    "looped": lambda m, *a, **k: simulate(m, *a, engine="looped", **k),
    "groups": group_simulation,
    "robot": lambda m, *a, **k: Robot(m).simulate(*a, **k),
}
FALL = math.sqrt(2 / 9.81)


@pytest.mark.parametrize("engine", list(ENGINES))
def test_a_fall_passes_the_lower_limit_after_the_time_of_galilei(engine: str) -> None:
    run = ENGINES[engine]
    for more in ({}, {"output": 0.1}, {"on_event": {PASSED: lambda t, q, v: None}}):
        result = run(carriage(limits=(-1.0, 1.0)), 0.6, step=1e-3, **more)
        (event,) = result.events
        assert result.statistics.events == 1
        assert (event.name, event.direction) == (PASSED, -1)
        assert event.time == pytest.approx(FALL, abs=2e-12)
        assert (event.time in result.t) == ("on_event" in more)


@pytest.mark.parametrize("engine", list(ENGINES))
def test_a_fall_stops_at_the_limit_if_that_is_asked_for(engine: str) -> None:
    result = ENGINES[engine](
        carriage(limits=(-1.0, 1.0)), 0.6, step=1e-3, on_event={PASSED: "stop"}
    )
    assert result.t[-1] == pytest.approx(FALL, abs=2e-12)
    assert result["slide.displacement"][-1] == pytest.approx(-1.0, abs=1e-11)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "projected"])
def test_what_is_thrown_back_at_the_limit_comes_again_after_the_time_of_its_flight(
    engine: str,
) -> None:
    def bounce(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return q, -0.5 * v

    result = ENGINES[engine](
        carriage(limits=(-1.0, 1.0)), 1.0, step=1e-3, on_event={PASSED: bounce}
    )
    times = [event.time for event in result.events]
    # with half the speed g T it flies for T
    assert times == pytest.approx([FALL, 2 * FALL], abs=1e-10)
    assert [event.name for event in result.events] == [PASSED, PASSED]
    again = np.flatnonzero(np.diff(result.t) == 0.0)
    assert len(again) == 2
    speed = result["slide.displacement_rate"]
    assert speed[again + 1] == pytest.approx(-0.5 * speed[again])


def test_an_adaptive_run_locates_an_unanswered_limit_between_far_instants() -> None:
    result = simulate(carriage(limits=(-1.0, 1.0)), 0.6, output=0.3)
    assert [event.time for event in result.events] == pytest.approx([FALL], abs=1e-10)


def test_a_pendulum_passes_its_limit_after_the_time_of_the_elliptic_integral() -> None:
    m = Model("pendulum", plane="xz", gravity=(0, 0, -9.81))
    bar = m.body("bar", mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    top, low = 1.2, 0.3
    m.joint("revolute", "A", m.ground, bar, axis="y", start=top, limits=(low, 2.0))
    # θ'² = 2 m g l (cos θ - cos θ₀) / I;  sin(θ/2) = k sin φ makes the integral regular
    k = math.sin(top / 2)
    omega = math.sqrt(9.81 * 0.5 / (0.1 + 0.25))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    end = math.asin(math.sin(low / 2) / k)
    phi = 0.5 * (math.pi / 2 - end) * nodes + 0.5 * (math.pi / 2 + end)
    time = float(np.sum(weights / np.sqrt(1 - (k * np.sin(phi)) ** 2)))
    time *= 0.5 * (math.pi / 2 - end) / omega
    name = "limit of A.angle passed"
    for run in (
        {"step": 2.5e-4},
        {"step": 2.5e-4, "output": 0.1},
        {"step": 2.5e-4, "on_event": {name: "stop"}},
    ):
        for coordinates in ("joint", "reference", "natural"):
            result = simulate(formulate(m, coordinates), 1.0, **run)
            assert result.events[0].name == name
            assert result.events[0].time == pytest.approx(time, abs=1e-9)
        assert group_simulation(m, 1.0, **run).events[0].time == pytest.approx(time, abs=1e-9)
        looped = simulate(m, 1.0, engine="looped", **run)
        assert looped.events[0].time == pytest.approx(time, abs=1e-9)


def test_a_limit_that_is_passed_and_left_between_two_stored_instants_has_both_events() -> None:
    m = carriage(limits=(-1.0, 0.45))
    result = simulate(m, 0.7, step=1e-2, output=0.35, v={"slide": 3.0})
    # 3 t - g t²/2 = 0.45
    root = math.sqrt(9.0 - 2 * 9.81 * 0.45)
    times = [(3.0 - root) / 9.81, (3.0 + root) / 9.81]
    assert [event.time for event in result.events] == pytest.approx(times, abs=1e-11)
    assert [event.direction for event in result.events] == [1, -1]


@pytest.mark.parametrize("engine", list(ENGINES))
def test_limits_follow_the_parameters_of_the_run(engine: str) -> None:
    m = Model("carriage", gravity=(0, 0, -9.81))
    m.parameter("far", 0.4)
    m.body("block", mass=2.0, inertia=0.1)
    m.joint("prismatic", "slide", m.ground, "block", axis="z", limits=("-2*far", "far"))
    result = ENGINES[engine](m, 0.6, step=1e-3, parameters={"far": 0.5})
    assert [event.time for event in result.events] == pytest.approx([FALL], abs=2e-12)


def test_a_controlled_motion_tells_where_it_passes_its_limits() -> None:
    m = carriage(limits=(-1.0, 1.0))
    m.force("actuator", "push", coordinate="slide")
    runs = {n: ENGINES[n] for n in ("joint", "reference", "looped", "groups")}
    for run in runs.values():
        law = {"control": lambda t, q, v: [2.0 * 9.81 * 0.5], "sample_time": 0.05}
        result = run(m, 1.0, step=1e-3, output=0.25, **law)
        assert [e.time for e in result.events] == pytest.approx([2**0.5 * FALL], abs=1e-11)
        assert len(result.t) == 5


def test_a_motion_that_rests_at_its_limit_passes_none() -> None:
    m = carriage(limits=(0.0, 1.0))
    m.force("actuator", "hold", coordinate="slide", value=2.0 * 9.81)
    for answers in (None, {PASSED: "stop"}):
        assert not simulate(m, 1.0, step=1e-3, on_event=answers).events


def test_an_event_that_is_not_there_is_refused_with_the_limits_that_are() -> None:
    with pytest.raises(
        ModelError, match=r"no event hit; it has limit of slide.displacement passed"
    ):
        simulate(carriage(limits=(-1.0, 1.0)), 0.6, step=1e-3, on_event={"hit": "stop"})


def test_a_motion_within_its_limits_and_at_them_has_no_events() -> None:
    m = carriage(limits=(-0.1, 0.1))
    m.driver("translational", "motor", coordinate="slide", law="0.1*sin(pi*t)")
    assert not kinematics(m, 2.0, step=0.05).events


def test_a_motion_that_starts_outside_its_limits_says_so_at_the_start() -> None:
    m = carriage(limits=(0.1, 0.2))
    m.driver("translational", "motor", coordinate="slide", law="0.3*t")
    events = kinematics(m, 1.0, step=0.1).events
    assert [event.time for event in events] == pytest.approx([0.0, 1 / 3, 2 / 3])
    assert [event.direction for event in events] == [0, 1, 1]


def test_limits_of_a_joint_that_closes_a_loop_are_watched_too() -> None:
    m = four_bar(driven=True)
    assert Topology.of(m).cut == ("C",)
    free = kinematics(m, 1.0, step=0.01)["C.angle"]
    middle = float(free.min() + free.max()) / 2
    m.joints["C"] = replace(m.joints["C"], limits={"angle": (-10.0, middle)})
    motion = kinematics(m, 1.0, step=0.01)
    turns = np.flatnonzero(np.diff(free > middle))
    events = [event for event in motion.events if event.time > 0]
    assert len(events) == len(turns) > 0
    for event, k in zip(events, turns, strict=True):
        assert motion.t[k] <= event.time <= motion.t[k + 1]
        assert event.direction == (1 if free[k + 1] > free[k] else -1)
