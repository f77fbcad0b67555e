from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from biela.analysis import kinematics, simulate
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
    # sin t = 1/2; a straight line is off by h² |x''| / 8 |x'|
    off = 0.01**2 * 0.5 / (8 * math.cos(math.pi / 6))
    for event, when in zip(events, (math.pi / 6, 5 * math.pi / 6), strict=True):
        assert event.time == pytest.approx(when, abs=1.1 * off)


def test_a_fall_passes_the_lower_limit_after_the_time_of_galilei() -> None:
    result = simulate(carriage(limits=(-1.0, 1.0)), 0.6, step=1e-3)
    (event,) = result.events
    assert result.statistics.events == 1
    assert (event.name, event.direction) == ("limit of slide.displacement passed", -1)
    assert event.time == pytest.approx(math.sqrt(2 / 9.81), abs=1e-6)


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
