"""What a motion asks of joints and motors: reactions, and the sizing of drives."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.errors import BielaError, ModelError
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.model.quantities.units import evaluate
from biela.results import Results
from biela.results.load_cases import load_cases
from biela.results.motor_sizing import MotorDuty, motor_duty
from biela.studio.report.figures import figure_picture
from biela.studio.report.fragments import table, trouble, words
from biela.studio.report.motion import Course, motor_coordinates, thinned, written_out
from biela.studio.settings import Analysis

__all__ = ["duties", "motors", "reactions"]

Floats = npt.NDArray[np.float64]

#: Instants at which reactions are found, at most.
_INSTANTS: Final = 101
#: Load cases that are listed, and motors that are drawn.
_CASES, _DRAWN = 12, 6
_ROUNDING: Final = 1e-12


def reactions(model: bl.Model, course: Course) -> str:
    """The largest forces and moments of the joints, and the instants at which they act together.

    Raises:
        BielaError: They cannot be found for this motion.
    """
    motion = thinned(course.motion, _INSTANTS)
    found = bl.joint_reactions(model, motion)
    rows = []
    forces, moments = (np.linalg.norm(x, axis=2) for x in (found.force, found.moment))
    # what is nothing beside the largest load is the rounding of a zero
    least = _ROUNDING * max(forces.max(initial=0.0), moments.max(initial=0.0))
    for k, name in enumerate(found.joints):
        F, M = (np.where(load[:, k] > least, load[:, k], 0.0) for load in (forces, moments))
        sure = "yes" if found.determinate[:, k].all() else "in part"
        rows.append(
            (
                name,
                float(F.max()),
                float(found.t[F.argmax()]),
                float(M.max()),
                float(found.t[M.argmax()]),
                sure,
            )
        )
    heads = ("joint", "force [N]", "at [s]", "moment [N·m]", "at [s]", "determinate")
    html = table(heads, rows) + words(
        f"Largest loads at {len(found.t)} of {len(course.motion)} instants, on the body after each "
        f"joint at its marker, and those of the drivers. Where a load is not determinate, because "
        f"constraints are redundant, the smallest one is given.",
        "caption",
    )
    carried = {joint: found.wrenches[:, k] for k, joint in enumerate(found.joints)}
    carried = {name: load for name, load in carried.items() if load.any()}
    if not carried:
        return html + words("All loads are zero: no masses and no forces act.")
    cases = load_cases(found.t, carried).cases
    html += "<h4>Load cases</h4>" + table(
        ("case", "time [s]", "extreme then"),
        [(case.number, case.time, "; ".join(case.reasons)) for case in cases[:_CASES]],
    )
    if len(cases) > _CASES:
        html += words(f"… {len(cases) - _CASES} more: biela run --reactions writes them all")
    return html


# --------------------------------------------------------------------------------- motors


def motors(model: bl.Model, course: Course) -> str:
    """What each motor must give, and torque over speed.

    Raises:
        BielaError: The forces of the motion cannot be found.
    """
    if not motor_coordinates(model):
        led = ", ".join(model.drivers)
        others = f"; the loads of {led} are among the reactions" if led else ""
        return words(f"No motors at joints and no actuators to be sized{others}.")
    found, failures = duties(model, course)
    html = ""
    for linear, kind in ((False, "rotary"), (True, "linear")):
        rows = [_row(duty) for duty in found if duty.linear is linear]
        if rows:
            html += f"<h4>Motors, {kind}</h4>" + table(_heads(linear), rows)
    if found:
        html += words(
            f"The continuous load is the effective one times a safety of {found[0].safety:g}. "
            f"Energy that comes back must be stored or burnt.",
            "caption",
        )
    for duty in found[:_DRAWN]:
        told = f"load over speed of {duty.name}"
        html += f"<h4>{escape(duty.name)}</h4>"
        html += figure_picture(duty.plot(), told, "small plot")
    return html + "".join(trouble(text) for text in failures)


def duties(model: bl.Model, course: Course) -> tuple[list[MotorDuty], list[str]]:
    """The duties of the motors, and why others have none.

    Raises:
        BielaError: The forces of the motion cannot be found.
    """
    motion = course.motion
    if course.analysis is Analysis.KINEMATICS:
        motion = bl.inverse_dynamics(course.system, motion)
    found, failures = [], []
    whole = written_out(model)
    for name, coordinate in motor_coordinates(model).items():
        try:
            found.append(_duty(whole, motion, name, coordinate))
        except BielaError as error:
            failures.append(str(error))
    return found, failures


def _heads(linear: bool) -> Sequence[str]:
    effort, speed = ("N", "m/s") if linear else ("N·m", "rad/s")
    what = "force" if linear else "torque"
    return (
        "motor",
        f"peak {what} [{effort}]",
        "at [s]",
        f"effective [{effort}]",
        f"continuous [{effort}]",
        f"largest speed [{speed}]",
        "peak power [W]",
        "mean power [W]",
        "energy back [J]",
    )


def _row(duty: MotorDuty) -> tuple[str | float, ...]:
    return (
        duty.name,
        duty.peak_torque,
        duty.peak_time,
        duty.rms_torque,
        duty.continuous_torque,
        duty.max_speed,
        duty.peak_power,
        duty.mean_power,
        duty.regenerated_energy,
    )


def _duty(model: bl.Model, motion: Results, name: str, coordinate: str) -> MotorDuty:
    motor = model.forces.get(name) or model.drivers[name]
    joint = model.joints[coordinate.rpartition(".")[0]]
    if not isinstance(joint, Joint):
        raise ModelError(f"{name}: {coordinate} is no coordinate of a joint")
    unit = next(c.unit for c in joint.coordinates if c.name == coordinate.rpartition(".")[2])
    if isinstance(motor, Actuator):
        effort = _actuated(model, motion, motor)
    else:
        # the row is coordinate - law, with slope 1: its multiplier is the effort, reversed
        rows = motion.groups["lam"].names if "lam" in motion.groups else ()
        own = [row for row in rows if row.startswith(f"λ({name}.")]
        if not own:
            raise ModelError(f"{name}: the motion has no multiplier of this driver")
        effort = -motion[own[0]]
    speed = motion[f"{coordinate}_rate"]
    return motor_duty(motion.t, effort, speed, name=name, linear=unit == "m")


def _actuated(model: bl.Model, motion: Results, motor: Actuator) -> Floats:
    if motor.law is not None:
        u = np.broadcast_to(motor.law.value(motion.t, model.parameters), motion.t.shape)
    else:
        u = motion[f"u.{motor.name}"]
    if motor.limit is not None:
        limit = evaluate(motor.limit, model.parameters)
        u = np.clip(u, -limit, limit)
    effort: Floats = evaluate(motor.gear, model.parameters) * u
    return effort
