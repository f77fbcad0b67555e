"""Angles known up to whole turns come out of results without jumps."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ResultsError
from biela.results import Channels, Results


def spinning(step=1.0, lazy=False, unit="rad", rates=("speed", "")):
    """A shaft at 1.5 turns a second, speeding up; its angle by atan2, its speed and a length."""
    t = np.arange(0, 10 + step / 2, step)
    turn = 360.0 if unit == "deg" else 2 * np.pi
    angle = turn * (1.5 * t + 0.02 * t**2)
    speed = turn * (1.5 + 0.04 * t)
    raw = (angle + turn / 2) % turn - turn / 2
    table = np.stack([raw, speed], axis=1)
    channels = Channels(
        ["shaft", "speed"],
        (lambda: table) if lazy else table,
        [unit, f"{unit}/s"],
        rates,
        [True, False],
    )
    return Results("shaft", t, {"y": channels}), angle


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("unit", ["rad", "deg"])
def test_an_angle_with_a_rate_counts_turns_between_distant_instants(lazy, unit):
    r, angle = spinning(lazy=lazy, unit=unit)
    assert r["shaft"] == pytest.approx(angle, rel=0, abs=1e-10)
    assert np.array_equal(r.y[:, 0], r["shaft"])
    assert np.array_equal(r["speed"], r.groups["y"].values[:, 1])


def test_without_a_rate_the_nearest_turn_is_taken():
    fine, angle = spinning(0.1, rates=("", ""))
    assert fine["shaft"] == pytest.approx(angle, rel=0, abs=1e-11)
    coarse, angle = spinning(1.0, rates=("", ""))
    assert coarse["shaft"][-1] != pytest.approx(angle[-1], rel=0.1)


def test_coordinates_take_their_velocities_for_rates():
    t = np.arange(0.0, 5.0)
    angle = 7.0 * t
    q = Channels(["a"], np.arctan2(np.sin(angle), np.cos(angle))[:, None], ["rad"], angles=[True])
    r = Results("r", t, {"q": q, "v": Channels(["w"], np.full((5, 1), 7.0), ["rad/s"])})
    assert r["a"] == pytest.approx(angle, rel=0, abs=1e-13)


def test_values_between_instants_follow_the_continuous_angle():
    r, _ = spinning()
    t = 4.3
    # a parabola is met by the cubics
    assert r.at(t)["shaft"] == pytest.approx(2 * np.pi * (1.5 * t + 0.02 * t**2), rel=1e-12)


def test_a_part_keeps_the_turns_that_were_counted_before_it():
    r, angle = spinning()
    part = r.between(4.0, 9.0)
    assert part["shaft"] == pytest.approx(angle[4:10], rel=0, abs=1e-10)


def test_a_file_keeps_that_it_is_an_angle(tmp_path):
    r, angle = spinning(lazy=True)
    again = Results.load(r.save(tmp_path / "shaft.npz"))
    assert again.groups["y"].angles == (True, False)
    assert again["shaft"] == pytest.approx(angle, rel=0, abs=1e-10)


def test_nothing_is_computed_before_it_is_asked_for():
    calls = []
    t = np.array([0.0, 1.0])
    speed = Channels(["w"], lambda: calls.append(1) or np.ones((2, 1)), ["rad/s"])
    y = Channels(["a"], [[0.0], [1.0]], ["rad"], ["w"], [True])
    r = Results("r", t, {"y": y, "z": speed})
    r.between(0.0, 1.0)
    assert calls == [] and r["a"].tolist() == [0.0, 1.0] and calls == [1]


def test_there_is_one_word_on_each_column():
    with pytest.raises(ResultsError, match="1 angles for 2 channels"):
        Channels(["a", "b"], [[0.0, 0.0]], angles=[True])
