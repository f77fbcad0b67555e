"""Where a motion begins: the newest value holds, and sliders show what really is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biela.errors import BielaError
from biela.studio.ranges import Range, around
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.source import FileSource

#: Of the slider-crank of the gallery, m.
CRANK, ROD = 2.0, 3.5
ARM = Path(__file__).parents[1] / "data" / "urdf" / "arm6.urdf"


@pytest.fixture
def falling() -> Session:
    session = Session(gallery().source("slider-crank"))
    session.choose(analysis=Analysis.DYNAMICS, driven=False, duration=0.1)
    return session


def value(ranges: list[Range], name: str) -> float:
    return next(each.value for each in ranges if each.name == name)


def piston(angle: float) -> float:
    return float(CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2))


def test_of_positions_that_depend_on_each_other_the_newest_holds(falling: Session) -> None:
    falling.set_start("pivot.angle", 2.64)
    assert falling.run(), falling.error
    assert value(falling.starts(), "pivot.angle") == pytest.approx(2.64)
    assert value(falling.starts(), "guide.displacement") == pytest.approx(piston(2.64))
    falling.set_start("guide.displacement", 3.0)
    assert falling.run(), falling.error
    assert falling.motion["guide.displacement"][0] == pytest.approx(3.0)
    angle = value(falling.starts(), "pivot.angle")
    assert piston(angle) == pytest.approx(3.0)
    assert 0 < angle < np.pi, "it stays on its side"


def test_of_velocities_that_depend_on_each_other_the_newest_holds(falling: Session) -> None:
    falling.set_start("pivot.angle", 1.0)
    falling.set_rate("pivot.angle_rate", 7.0)
    assert falling.run(), falling.error
    ratio = (piston(1.0 + 1e-6) - piston(1.0 - 1e-6)) / 2e-6
    assert value(falling.rates(), "guide.displacement_rate") == pytest.approx(7.0 * ratio)
    falling.set_rate("guide.displacement_rate", 3.0)
    assert falling.run(), falling.error
    assert value(falling.rates(), "guide.displacement_rate") == pytest.approx(3.0)
    assert value(falling.rates(), "pivot.angle_rate") == pytest.approx(3.0 / ratio)
    assert falling.motion["pivot.angle"][0] == pytest.approx(1.0), "the position is kept"


def test_a_position_that_cannot_be_is_said_and_shown_as_it_was_wanted(falling: Session) -> None:
    falling.set_start("guide.displacement", 30.0)
    assert not falling.run()
    assert "guide.displacement" in falling.error
    assert value(falling.starts(), "guide.displacement") == 30.0


def test_a_coordinate_is_put_somewhere_by_hand_and_the_joints_stay_closed(falling: Session) -> None:
    assert falling.run(), falling.error
    falling.jog("pivot.angle", 0.3)
    assert value(falling.jogs(), "pivot.angle") == pytest.approx(0.3)
    assert value(falling.jogs(), "guide.displacement") == pytest.approx(piston(0.3))
    with pytest.raises(BielaError):
        falling.jog("guide.displacement", 30.0)


@pytest.mark.parametrize("angle", [3.0, -2.0, 5.5])
def test_a_coordinate_that_is_put_far_away_takes_the_mechanism_along_on_its_branch(
    falling: Session, angle: float
) -> None:
    assert falling.run(), falling.error
    falling.jog("pivot.angle", angle)
    assert value(falling.jogs(), "guide.displacement") == pytest.approx(piston(angle))


def test_a_position_by_hand_has_what_sensors_of_places_read_and_no_velocities(
    falling: Session,
) -> None:
    assert falling.run(), falling.error
    falling.jog("pivot.angle", 0.3)
    told = falling.told()
    assert told["slider.x"] == pytest.approx(piston(0.3))
    assert np.sin(told["rod_angle"]) == pytest.approx(-CRANK * np.sin(0.3) / ROD)
    assert told["pivot.angle"] == pytest.approx(0.3)
    assert "slider.vx" not in told and "rod_angle_rate" not in told


def test_sliders_of_a_robot_end_at_the_limits_of_its_joints_and_motors() -> None:
    session = Session(FileSource(ARM))
    session.choose(duration=0.1)
    assert session.run(), session.error
    starts = {each.name: each for each in session.starts()}
    assert (starts["shoulder.angle"].low, starts["shoulder.angle"].high) == (-1.9, 1.3)
    assert starts["shoulder.angle"].label == "shoulder.angle, rad"
    motors = {each.name: each for each in session.inputs()}
    assert (motors["elbow_motor"].low, motors["elbow_motor"].high) == (-75.0, 75.0)
    session.jog("elbow.angle", 0.5)
    assert value(session.jogs(), "elbow.angle") == pytest.approx(0.5)


def test_the_input_of_a_motor_moves_its_joint() -> None:
    ends = []
    for torque in (0.0, 2.0):
        session = Session(FileSource(ARM))
        session.choose(duration=0.05, step=0.05)
        session.set_input("turn_motor", torque)
        assert session.run(), session.error
        ends.append(session.motion["turn.angle_rate"][-1])
    assert ends[1] - ends[0] > 0.1


def test_sliders_of_angles_and_speeds_reach_zero_and_the_other_way() -> None:
    session = Session(gallery().source("slider-crank"))
    ranges = {each.name: each for each in session.parameters()}
    assert ranges["first_angle"].low == pytest.approx(-np.pi, abs=2e-3)
    assert ranges["speed"].low == -ranges["speed"].high == pytest.approx(-4 * np.pi, abs=0.05)
    assert ranges["speed"].label == "speed, rad/s"
    assert ranges["crank_length"].low == 0.5, "a length has no other way"
    bare = Session(gallery().source("bennett"))  # whose omega is written without a unit, in a law
    omega = next(each for each in bare.parameters() if each.name == "omega")
    assert omega.low == -omega.high < 0


@pytest.mark.parametrize("number", [np.pi / 4, 2 * np.pi, -1 / 3, 7850.0, 1e-5 / 3])
def test_numbers_fit_into_their_boxes(number: float) -> None:
    shown = around("x", number, number).shown
    assert shown == pytest.approx(number, rel=5e-4)
    assert len(f"{abs(shown):g}") <= 9


def test_a_robot_that_happens_to_move_in_a_plane_is_not_flat_and_a_four_bar_is() -> None:
    bar = Session(gallery().source("four-bar"))
    assert bar.run() and bar.flat
    press = Session(gallery().source("slider-crank"))  # in space, but with parallel axes
    assert press.run() and press.flat
    arm = Session(FileSource(ARM))
    arm.choose(duration=0.1)
    assert arm.run() and not arm.flat
