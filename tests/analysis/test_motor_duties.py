"""What motors must give, also those of parts, whose coordinates are channels if asked for."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.joint_channels import channel_name, measured_system
from biela.analysis.motor_duties import duty_of, motor_coordinates
from biela.errors import ModelError


@pytest.fixture(scope="module")
def arms() -> bl.Model:
    """Two arms of 2 kg and 0.5 m that motors turn by π rad/s, from the horizontal."""
    arm = bl.Model("arm", plane="xz")
    arm.body("rod", mass=2.0, com=(0.5, 0, 0))
    arm.joint("revolute", "pivot", arm.ground, "rod", axis="-y")
    arm.driver("rotary", "motor", coordinate="pivot", law="pi*t")
    m = bl.Model("arms", plane="xz")
    m.part("arm", arm, 2, shift=(3, 0, 0))
    return m


def test_motors_of_parts_are_called_like_the_instances(arms: bl.Model) -> None:
    assert motor_coordinates(arms) == {
        "arm[0].motor": "arm[0].pivot.angle",
        "arm[1].motor": "arm[1].pivot.angle",
    }
    assert channel_name(arms, "arm[1].pivot") == "arm[1].pivot.angle"
    assert channel_name(arms, "arm[1].rod") == "arm[1].rod"


def test_a_motor_holds_the_weight_of_its_arm(arms: bl.Model) -> None:
    system = measured_system(arms, "reference", motor_coordinates(arms).values())
    assert "arm[1].pivot.angle" in {entry.name for entry in system.y}
    motion = bl.inverse_dynamics(system, bl.kinematics(system, 1.0, step=0.05))
    duty = duty_of(arms, motion, "arm[1].motor")
    # the torque is m g l cos πt
    assert duty.peak_torque == pytest.approx(2.0 * 9.81 * 0.5, rel=1e-9)
    assert duty.max_speed == pytest.approx(np.pi, rel=1e-9)
    with pytest.raises(ModelError, match="pivot is no motor of a joint"):
        duty_of(arms, motion, "pivot")
