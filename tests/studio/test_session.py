"""One visitor's work without a page: settings, answers, errors in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import FileError, ModelError
from biela.studio.laws import LawChange
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.source import FileSource, ModelSource, source_of

#: Of the slider-crank of the gallery, m.
CRANK, ROD = 2.0, 3.5


def opened(name: str) -> Session:
    session = Session(gallery().source(name))
    session.open()
    assert session.error == ""
    return session


@pytest.fixture
def crank() -> Session:
    return opened("slider-crank")


def pendulum() -> bl.Model:
    model = bl.Model("pendulum")
    model.parameter("l", 0.5)
    rod = model.body("rod", mass=2.0, com=(0, 0, "-l"), inertia=(0.0, 0.0, 0.0))
    model.joint("revolute", "pivot", model.ground, rod, axis="y", start=0.3)
    return model


def test_a_driven_mechanism_opens_with_its_kinematics_and_a_free_one_with_its_dynamics() -> None:
    assert opened("four-bar").settings.analysis is Analysis.KINEMATICS
    lamp = opened("balanced-lamp")
    assert lamp.settings.analysis is Analysis.DYNAMICS
    assert lamp.motion is not None and len(lamp.motion) > 50


def test_a_parameter_changes_the_motion_and_the_shapes_with_it(crank: Session) -> None:
    assert crank.motion is not None
    assert crank.motion["slider.x"].max() == pytest.approx(CRANK + ROD, abs=1e-2)
    crank.set_parameter("crank_length", 1.25)
    assert crank.run(), crank.error
    assert np.ptp(crank.motion["slider.x"]) == pytest.approx(2.5, abs=1e-2)
    drawn = next(s for s in crank.scene.shapes if s.name == "crank")
    reach = np.linalg.norm(drawn.corners()[0], axis=1).max()
    assert reach == pytest.approx(np.hypot(1.25, 0.06), abs=1e-3), "a rod of 60 mm radius"


def test_a_law_is_stretched_shifted_and_written_anew(crank: Session) -> None:
    def angle(change: LawChange) -> float:
        crank.set_law("motor", change)
        assert crank.run(), crank.error
        return float(crank.motion["pivot.angle"][-1])

    (law,) = crank.laws()
    assert (law.name, law.text, law.unit) == ("motor", "first_angle + speed*t", "rad")
    whole = np.pi / 4 + 2 * np.pi
    assert angle(LawChange()) == pytest.approx(whole)
    assert angle(LawChange(factor=0.5, shift=0.2)) == pytest.approx(0.5 * whole + 0.2)
    assert angle(LawChange(text="first_angle + 90 deg*t")) == pytest.approx(3 * np.pi / 4)


def test_what_goes_wrong_is_words_and_the_last_motion_stays(crank: Session) -> None:
    before = crank.motion
    crank.set_law("motor", LawChange(text="sin(2*t"))
    assert not crank.run()
    assert "driver motor" in crank.error
    assert crank.motion is before
    crank.set_law("motor", LawChange())
    crank.set_parameter("no_such", 1.0)
    assert not crank.run()
    assert "no_such" in crank.error
    crank.reset()
    assert crank.run()
    assert crank.error == ""


def test_a_motion_that_cannot_go_on_is_shown_as_far_as_it_went_with_the_reason(
    crank: Session,
) -> None:
    crank.set_parameter("crank_length", 4.0)  # longer than the rod: it cannot turn
    assert not crank.run()
    assert "t = " in crank.error and "motor" in crank.error
    assert crank.motion is not None
    assert 0 < crank.motion.t[-1] < 1.0


def test_kinematics_of_what_nobody_drives_says_what_to_choose_instead() -> None:
    lamp = opened("balanced-lamp")
    lamp.choose(analysis=Analysis.KINEMATICS)
    assert not lamp.run()
    assert "not driven" in lamp.error and "choose dynamics" in lamp.error


def test_times_that_make_no_sense_are_refused(crank: Session) -> None:
    crank.choose(duration=-1.0)
    assert not crank.run() and "above zero" in crank.error
    crank.choose(duration=1e4)
    assert not crank.run() and "instants" in crank.error


def test_without_its_driver_the_crank_falls_and_keeps_its_energy(crank: Session) -> None:
    crank.choose(analysis=Analysis.DYNAMICS, driven=False)
    assert crank.run(), crank.error
    energy = crank.motion["energy"]
    assert np.ptp(crank.motion["kinetic energy"]) > 100
    assert np.ptp(energy) < 1e-3 * np.ptp(crank.motion["kinetic energy"])


def test_initial_values_are_where_a_motion_begins() -> None:
    session = Session(ModelSource(pendulum()))
    session.open()
    assert session.motion["pivot.angle"][0] == pytest.approx(0.3)
    session.set_start("pivot.angle", -0.8)
    session.set_rate("pivot.angle_rate", 1.5)
    session.choose(duration=2.0)
    assert session.run(), session.error
    assert session.motion["pivot.angle"][0] == pytest.approx(-0.8)
    assert session.motion["pivot.angle_rate"][0] == pytest.approx(1.5)
    # energy of a point mass on a string: v²/2 - g l cos θ
    q, v = session.motion["pivot.angle"], session.motion["pivot.angle_rate"]
    energy = 0.5 * (0.5 * v) ** 2 - 9.81 * 0.5 * np.cos(q)
    assert np.ptp(energy) < 1e-4 * abs(energy[0])


def test_the_equilibrium_of_a_pendulum_hangs_down() -> None:
    session = Session(ModelSource(pendulum()))
    session.choose(analysis=Analysis.EQUILIBRIUM)
    assert session.run(), session.error
    assert session.pose == pytest.approx([0.0], abs=1e-9)
    assert session.note.startswith("stable equilibrium")
    frequency = np.sqrt(9.81 / 0.5) / (2 * np.pi)
    assert f"{frequency:.3g} Hz" in session.note
    place, _ = session.poser.frame("rod", session.pose)
    assert place == pytest.approx([0, 0, 0])


def test_time_runs_between_instants(crank: Session) -> None:
    crank.go_to(0.255)
    assert crank.place == pytest.approx(25.5)
    crank.go_to(9.0)
    assert crank.place == len(crank.motion) - 1


def test_a_position_by_hand_is_where_the_next_motion_begins(crank: Session) -> None:
    with pytest.raises(ModelError, match="drag"):
        crank.start_here()
    place, _ = crank.poser.frame("crank.crank_pin", crank.position())
    crank.grip("crank", place)
    crank.pull([1.0, -1.5, 0.0])
    pose = crank.pose.copy()
    crank.start_here()
    assert crank.run(), crank.error
    assert crank.settings.driven is False
    assert crank.motion.q[0] == pytest.approx(pose, abs=1e-6)


def test_parameters_of_a_model_in_memory_change_what_is_written_in_texts() -> None:
    given = pendulum()
    session = Session(ModelSource(given))
    session.choose(duration=1.0)
    session.set_parameter("l", 1.0)
    assert session.run(), session.error
    assert session.model.number(session.model.bodies["rod"].inertia.com[2]) == -1.0
    assert given.parameters["l"] == 0.5, "the model of the program is its own"
    # small swings from 0.3: a quarter of the period 2π√(l/g) (1 + θ²/16) later it hangs down
    quarter = 0.5 * np.pi * np.sqrt(1.0 / 9.81) * (1 + 0.3**2 / 16)
    assert session.motion.at(quarter)["pivot.angle"] == pytest.approx(0.0, abs=1e-3)


def test_only_models_are_taken(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="bodies and joints"):
        source_of(bl.formulate(pendulum()))
    broken = tmp_path / "broken.toml"
    broken.write_text('name = "x"\n[bodies.a]\nmass = "1 kilo"\n')
    with pytest.raises(FileError, match=r"broken\.toml:3"):
        Session(FileSource(broken))


def test_sliders_hold_the_values_they_begin_with() -> None:
    session = opened("balanced-lamp")
    session.set_parameter("g", 40.0)  # beyond the usual range
    for each in [*session.parameters(), *session.starts(), *session.rates()]:
        assert each.low <= each.value <= each.high, each
        assert 0 < each.step <= (each.high - each.low) / 50, each


def test_a_run_that_is_told_to_end_leaves_the_motion_until_then() -> None:
    session = Session(gallery().source("slider-crank"))
    session.open()
    session.choose(analysis=Analysis.DYNAMICS)
    session.set_law("motor", LawChange("exp(1000*t)"))
    told: list[float] = []

    def watch(done: float) -> None:
        told.append(done)
        if len(told) > 5:
            raise KeyboardInterrupt

    session.run(watch)
    assert session.error.startswith("stopped ")
    assert len(told) == 6 and 0 < told[-1] < 1


def test_a_lamp_in_balance_is_in_neutral_equilibrium_and_has_no_frequency() -> None:
    session = Session(gallery().source("balanced-lamp"))
    session.open()
    session.choose(analysis=Analysis.EQUILIBRIUM)
    assert session.run()
    assert session.note.startswith("neutral equilibrium")
    assert "Hz" not in session.note
