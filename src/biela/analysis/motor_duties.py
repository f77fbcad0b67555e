"""What the motors of a model must give in a motion: drivers of joints, and actuators.

A driver is the constraint  coordinate - law = 0,  with slope 1 in its coordinate: its multiplier is
the effort of the motor, reversed.  An actuator gives its gear times its input, within its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from biela.analysis.joint_channels import channel_name
from biela.analysis.preparation import with_values
from biela.errors import ModelError
from biela.model import Model
from biela.model.drivers import Rotary, Translational
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.model.quantities.units import evaluate
from biela.results import Results
from biela.results.motor_sizing import MotorDuty, motor_duty

__all__ = ["duty_of", "motor_coordinates"]

Floats = npt.NDArray[np.float64]


def motor_coordinates(model: Model) -> Mapping[str, str]:
    """The coordinate of each motor, "joint.coordinate": drivers of joints, and actuators.

    Those of parts are called like the instances: "leg[0].motor".
    """
    whole = _written_out(model)
    return {
        name: channel_name(whole, element.coordinate)
        for name, element in (*whole.drivers.items(), *whole.forces.items())
        if isinstance(element, Rotary | Translational | Actuator)
    }


def duty_of(
    model: Model,
    motion: Results,
    name: str,
    parameters: Mapping[str, float] | None = None,
) -> MotorDuty:
    """What a motor must give in a motion.

    Args:
        model: The one that moved.
        motion: With the rate of the coordinate of the motor, and with multipliers or inputs.
        name: One of `motor_coordinates`.
        parameters: Values other than those of the model.

    Raises:
        ModelError: There is no such motor, or the motion does not tell its effort.
        UnknownNameError: The motion does not have the rate of its coordinate.
    """
    model, parameters = with_values(model, parameters)
    whole = _written_out(model)
    coordinate = motor_coordinates(model).get(name, "")
    owner, _, quantity = coordinate.rpartition(".")
    joint = whole.joints.get(owner)
    if not isinstance(joint, Joint):
        raise ModelError(f"{model.name}: {name} is no motor of a joint")
    motor = whole.forces.get(name) or whole.drivers[name]
    if isinstance(motor, Actuator):
        effort = _actuated(motion, motor, name, whole.parameters)
    else:
        rows = motion.groups["lam"].names if "lam" in motion.groups else ()
        own = [row for row in rows if row.startswith(f"λ({name}.")]
        if not own:
            raise ModelError(
                f"{name}: the motion has no multiplier of this driver; take a formulation with "
                f"multipliers"
            )
        effort = -motion[own[0]]
    unit = next(c.unit for c in joint.coordinates if c.name == quantity)
    speed = motion[f"{coordinate}_rate"]
    return motor_duty(motion.t, effort, speed, name=name, linear=unit == "m")


def _actuated(
    motion: Results, motor: Actuator, name: str, parameters: Mapping[str, float]
) -> Floats:
    if motor.law is not None:
        u = np.broadcast_to(motor.law.value(motion.t, parameters), motion.t.shape)
    else:
        u = motion[f"u.{name}"]
    if motor.limit is not None:
        limit = evaluate(motor.limit, parameters)
        u = np.clip(u, -limit, limit)
    effort: Floats = evaluate(motor.gear, parameters) * u
    return effort


def _written_out(model: Model) -> Model:
    """The model with its parts written out, unless they are very many."""
    if model.parts:
        with suppress(ModelError):  # too many to be named one by one
            return model.flattened()
    return model
