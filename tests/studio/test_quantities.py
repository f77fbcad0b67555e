"""What can be plotted: channels, and loads that are found when they are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import biela as bl
from biela.errors import BielaError
from biela.studio.quantities import Quantities
from biela.studio.session import Session
from biela.studio.settings import Analysis
from biela.studio.shelf import gallery
from biela.studio.source import FileSource, ModelSource

G = 9.81
ARM = Path(__file__).parents[1] / "data" / "urdf" / "arm6.urdf"


def quantities(session: Session) -> Quantities:
    assert session.quantities is not None
    return session.quantities


def opened(name: str) -> Session:
    session = Session(gallery().source(name))
    session.open()
    assert session.error == ""
    return session


def turned_arm() -> bl.Model:
    """A point mass of 2 kg, half a metre out on an arm that turns about y from 30° on."""
    model = bl.Model("arm")
    arm = model.body("arm", mass=2.0, com=(0.5, 0, 0), inertia=(0.0, 0.0, 0.0))
    model.joint("revolute", "pivot", model.ground, arm, axis="y")
    model.driver("rotary", "motor", coordinate="pivot.angle", law="30 deg + 3*t + 2*t**2")
    return model


def test_the_torque_of_a_motor_is_that_of_a_pendulum_and_its_power_is_torque_times_speed() -> None:
    session = Session(ModelSource(turned_arm()))
    session.choose(duration=1.0, step=0.05)
    assert session.run(), session.error
    found = quantities(session)
    assert not found.known("motor.torque")
    torque, power = found.curve("motor.torque"), found.curve("motor.power")
    assert found.known("motor.power")
    assert (torque.unit, power.unit) == ("N·m", "W")
    t = session.motion.t
    angle, rate = np.radians(30) + 3 * t + 2 * t**2, 3 + 4 * t
    # about y the arm goes down: z = -l sin θ, so that  M = m l² θ'' - m g l cos θ
    expected = 2.0 * 0.25 * 4.0 - 2.0 * G * 0.5 * np.cos(angle)
    assert torque.values == pytest.approx(expected, abs=1e-3)
    assert power.values == pytest.approx(expected * rate, abs=1e-2)


def test_the_reaction_of_a_joint_is_what_moves_its_body_and_has_components() -> None:
    session = Session(ModelSource(turned_arm()))
    session.choose(duration=1.0, step=0.05)
    assert session.run(), session.error
    found, t = quantities(session), session.motion.t
    angle, rate = np.radians(30) + 3 * t + 2 * t**2, 3 + 4 * t
    out = np.stack([np.cos(angle), -np.sin(angle)], axis=1)
    along = np.stack([-np.sin(angle), -np.cos(angle)], axis=1)
    a = 0.5 * (4.0 * along - rate[:, None] ** 2 * out)
    force = 2.0 * (a + np.array([0.0, G]))
    assert found.curve("pivot.reaction force x").values == pytest.approx(force[:, 0], abs=1e-3)
    assert found.curve("pivot.reaction force z").values == pytest.approx(force[:, 1], abs=1e-3)
    whole = found.curve("pivot.reaction force")
    assert whole.values == pytest.approx(np.linalg.norm(force, axis=1), abs=1e-3)
    assert whole.unit == "N"


def test_the_power_of_the_motor_is_what_the_energy_gains_in_kinematics_and_in_dynamics() -> None:
    crank = opened("slider-crank")
    imposed = quantities(crank).curve("motor.power").values
    t, energy = crank.motion.t, crank.motion["energy"]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (imposed[1:] + imposed[:-1]) * np.diff(t))])
    assert work == pytest.approx(energy - energy[0], abs=5e-3 * np.ptp(energy))
    crank.choose(analysis=Analysis.DYNAMICS)
    assert crank.run(), crank.error
    moved = quantities(crank).curve("motor.power").values
    assert moved == pytest.approx(imposed, abs=1e-3 * np.abs(imposed).max())


def test_all_of_it_is_in_the_menu_and_motors_come_early() -> None:
    menu = quantities(opened("four-bar")).menu
    assert list(menu)[:2] == ["sensors", "motor"]
    assert list(menu["motor"]) == ["torque", "power"]
    # the plane is xz: no forces along y, and one moment
    assert [n for n in menu["B"] if "reaction" in n] == [
        "reaction force",
        "reaction moment",
        "reaction force x",
        "reaction force z",
    ]
    found = quantities(opened("excavator"))
    assert list(found.menu["lift"]) == ["force", "power"]


def test_the_angle_of_a_body_in_a_plane_goes_on_over_whole_turns() -> None:
    bar = opened("four-bar")
    angle = quantities(bar).curve("crank.angle")
    assert angle.unit == "rad"
    # in xz from x to z, as the joint A turns
    assert np.diff(angle.values) == pytest.approx(np.diff(bar.motion["A.angle"]), abs=1e-9)


def test_motors_of_a_robot_give_what_their_inputs_say_within_their_limits() -> None:
    session = Session(FileSource(ARM))
    session.choose(duration=0.1, step=0.02)
    session.set_input("elbow_motor", -12.0)
    assert session.run(), session.error
    found = quantities(session)
    assert found.curve("elbow_motor.torque").values == pytest.approx(-12.0)
    assert found.curve("swivel_motor.torque").values == pytest.approx(0.0)


def test_what_is_not_there_is_said() -> None:
    found = quantities(opened("four-bar"))
    assert "nobody.torque" not in found
    with pytest.raises(BielaError, match="nobody"):
        found.curve("nobody.torque")


@pytest.mark.parametrize(
    ("name", "effort"),
    [("slider-crank", "motor.torque"), ("excavator", "lift.force"), ("four-bar", "motor.power")],
)
def test_without_masses_in_the_equations_efforts_are_those_of_wrenches(
    name: str, effort: str
) -> None:
    session = opened(name)
    known = quantities(session)
    bare = Quantities(session.model, session.poser.system, session.motion, True, weighed=False)
    expected = known.curve(effort).values
    assert bare.curve(effort).values == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())
    assert bare.curve(effort).unit == known.curve(effort).unit
