"""What is shown beside the bodies: forces, channels, plots, words, the clock and the worker."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

from biela.errors import BielaError
from biela.studio.arrows import applied, reactions
from biela.studio.channels import TIME, Curve, curve, frames_of, menu, usual
from biela.studio.clock import Clock
from biela.studio.session import Session
from biela.studio.shelf import gallery
from biela.studio.svg_plot import xy_plot
from biela.studio.view.status import status_text
from biela.studio.view.worker import Worker


@pytest.fixture(scope="module")
def press() -> Session:
    session = Session(gallery().source("screw-press"))
    session.open()
    return session


def test_reactions_of_the_guide_and_thread_carry_weight_and_workpiece(press: Session) -> None:
    found = reactions(press.model, press.motion)
    outside = applied(press.model, press.motion)
    assert found.names == ("thread", "bearing", "guide")
    assert outside.names == ("weight of screw", "weight of ram", "workpiece")
    # vertically nothing but the thread holds the two bodies, at rest at the first instant
    held = found.forces[0, found.names.index("thread"), 2]
    loads = outside.forces[0, :, 2].sum()
    assert held == pytest.approx(-loads, rel=2e-2)
    arrows = found.segments(0, 0.3)
    lengths = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1)
    sizes = np.linalg.norm(found.forces[0], axis=1)
    assert lengths == pytest.approx(0.3 * sizes / found.largest)


def test_every_channel_is_in_the_menu_of_its_owner(press: Session) -> None:
    motion = press.motion
    found = menu(motion)
    assert found["ram"]["z"] == "ram.z"
    names = {name for owner in found.values() for name in owner.values()}
    for name in names:
        assert motion[name].shape == motion.t.shape
    still = {n for n in motion.names if re.match(r"(poses|twists|frame_acc\w+)?\.?ground\.", n)}
    assert len(set(motion.names) - names - still) == 0
    assert "energy" in found["whole mechanism"]
    assert "ram" in frames_of(motion)
    assert not any(frame.startswith("ground") for frame in frames_of(motion))


def test_what_the_model_asks_for_is_plotted_first() -> None:
    session = Session(gallery().source("slider-crank"))
    session.open()
    assert usual(session.motion, session.model.run["plot"]) == ["slider.x", "rod_angle"]
    assert usual(session.motion, ["no such"])[0] in session.motion
    assert curve(session.motion, TIME).values == pytest.approx(session.motion.t)
    assert curve(session.motion, "slider.x").label == "slider.x [m]"


def test_a_plot_of_one_quantity_over_another_tells_its_values() -> None:
    t = np.linspace(0, 1, 60)
    circle = Curve("x<y", "m", np.cos(6 * t)), [Curve("z", "m", np.sin(6 * t))]
    text = xy_plot(t, *circle, place=10.0)
    assert "x&lt;y" in text and "x<y" not in text
    points = re.search(r'<polyline points="([^"]+)"', text).group(1).split()
    assert len(points) == 60
    x, y = np.array([p.split(",") for p in points], dtype=float).T
    dot = re.search(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4.5"', text)
    assert (float(dot.group(1)), float(dot.group(2))) == pytest.approx((x[10], y[10]), abs=0.11)
    # pixels are straight lines of the values; up is up
    slope = np.polyfit(np.cos(6 * t), x, 1)
    assert np.abs(np.polyval(slope, np.cos(6 * t)) - x).max() < 0.1
    assert np.polyfit(np.sin(6 * t), y, 1)[0] < 0
    assert f"z = {np.sin(0):.5g} m" in text


def test_what_a_model_says_cannot_write_the_page() -> None:
    text = status_text("<script>alert(1)</script>", "", 'no <img src="x">')
    assert "<script" not in text and "<img" not in text
    assert "&lt;script&gt;" in text


def test_the_clock_runs_round() -> None:
    clock = Clock(1.0, 3.0, time=2.5, speed=2.0)
    assert clock.advance(1.0) == 2.5, "it stands"
    clock.playing = True
    assert clock.advance(0.5) == pytest.approx(1.5)
    clock.between(0.0, 1.0)
    assert clock.time == 1.0
    clock.go_to(-4.0)
    assert clock.time == 0.0


def test_of_many_requests_of_a_kind_the_newest_is_done_and_errors_are_said() -> None:
    done: list[str] = []
    said: list[str] = []
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        assert go_on.wait(10)

    def fail() -> None:
        raise BielaError("the rod is too short")

    worker = Worker(lambda passed: False, said.append)
    worker.ask_later(lambda: done.append("chore"))
    worker.ask("first", first)
    assert begun.wait(10)
    for k in range(5):
        worker.ask("slider", lambda k=k: done.append(f"slider {k}"))
    worker.ask("wrong", fail)
    worker.ask("last", ended.set)
    go_on.set()
    assert ended.wait(10)
    finished = threading.Event()
    worker.ask_later(finished.set)
    assert finished.wait(10)
    worker.end()
    assert [name for name in done if name.startswith("slider")] == ["slider 4"]
    assert "chore" in done
    assert said == ["the rod is too short"]


def test_a_beat_that_fails_is_the_last_one_and_the_worker_goes_on() -> None:
    beats: list[float] = []
    said: list[str] = []
    failed = threading.Event()

    def beat(passed: float) -> bool:
        beats.append(passed)
        if len(beats) == 3:
            failed.set()
            raise BielaError("it broke")
        return True

    worker = Worker(beat, said.append)
    worker.start_beating()
    assert failed.wait(10)
    done = threading.Event()
    worker.ask("more", done.set)
    assert done.wait(10)
    worker.end()
    assert said == ["it broke"]
    assert len(beats) == 3


def test_only_two_of_many_visitors_beat_at_a_time_so_that_others_get_their_turn() -> None:
    """Both hold their beat here: all others wait, and what is asked for is done nevertheless."""
    beating: list[int] = []
    both, go_on = threading.Semaphore(0), threading.Event()

    def beat(passed: float) -> bool:
        beating.append(1)
        both.release()
        go_on.wait(10)
        return False

    players = [Worker(beat, print) for _ in range(8)]
    for player in players:
        player.start_beating()
    assert both.acquire(timeout=10) and both.acquire(timeout=10)
    done = threading.Event()
    opening = Worker(beat, print)
    opening.ask("open", done.set)
    assert done.wait(10)
    assert not both.acquire(timeout=0.2) and len(beating) == 2
    go_on.set()
    for _ in range(6):
        assert both.acquire(timeout=10)
    for worker in (*players, opening):
        worker.end()
