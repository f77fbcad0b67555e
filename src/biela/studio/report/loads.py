"""What a motion asks of joints and motors: reactions, and the sizing of drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.motor_duties import duty_of, motor_coordinates
from biela.errors import BielaError
from biela.results.motor_sizing import MotorDuty
from biela.studio.report.cases import asked_components, cases
from biela.studio.report.figures import curves_figure, figure_picture
from biela.studio.report.fragments import table, trouble, words
from biela.studio.report.motion import Course, uncommanded
from biela.studio.settings import Analysis

__all__ = ["duties", "motors", "reactions"]

Floats = npt.NDArray[np.float64]

#: Joints whose loads are drawn, and motors over speed; motors over time.
_DRAWN, _MOTORS = 6, 8
#: What is less than this part of the largest of its kind is the rounding of a zero.
_ROUNDING: Final = 1e-9
_FORCE, _MOMENT = slice(0, 3), slice(3, 6)
#: A speed that changes by less than this part of itself is steady: load over speed is no curve.
_STEADY: Final = 1e-3


def reactions(model: bl.Model, course: Course) -> str:
    """The largest forces and moments of the joints, and the instants at which they act together.

    Raises:
        BielaError: They cannot be found for this motion.
    """
    found = bl.joint_reactions(model, course.motion)
    asked = asked_components(model)
    rows = []
    wrenches = _without_rounding(found.wrenches)
    forces, moments = (np.linalg.norm(x, axis=2) for x in (wrenches[..., :3], wrenches[..., 3:]))
    for k, name in enumerate(found.joints):
        F, M = forces[:, k], moments[:, k]
        sure = "yes" if found.determinate[:, k][:, asked].all() else "in part"
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
    html = table(heads, rows) + words(_caption(model, rows, len(found.t)), "caption")
    carried = {joint: wrenches[:, k] for k, joint in enumerate(found.joints)}
    carried = {name: load for name, load in carried.items() if load.any()}
    if not carried:
        return html + words("All loads are zero: no masses and no forces act.")
    return html + _over_time(found.t, carried) + cases(model, found.t, carried)


def _caption(model: bl.Model, rows: Sequence[tuple[str | float, ...]], count: int) -> str:
    text = (
        f"Largest loads at the {count} instants of the motion, on the body after each joint at its "
        f"marker, and those of the drivers."
    )
    if any(row[-1] != "yes" for row in rows):
        text += (
            " Where a load is not determinate, because constraints are redundant, the smallest "
            "one is given."
        )
    if model.plane is not None:
        text += (
            f" Loads in the {model.plane} plane: a planar model says nothing of those across it, "
            f"which depend on how wide the bearings are."
        )
    return text


def _without_rounding(wrenches: Floats) -> Floats:
    """Wrenches (n, k, 6) in which what is nothing beside the largest of its kind is zero."""
    sizes = [float(np.abs(wrenches[..., part]).max(initial=0.0)) for part in (_FORCE, _MOMENT)]
    # where no moment acts at all, forces at arms of a metre tell what rounding is
    least = [_ROUNDING * sizes[0], max(_ROUNDING * sizes[1], 1e-12 * sizes[0])]
    return np.where(np.abs(wrenches) > np.repeat(least, 3), wrenches, 0.0)


def _over_time(t: Floats, carried: Mapping[str, Floats]) -> str:
    """Forces and moments over time, of the joints that carry most."""
    panels: dict[str, dict[str, Floats]] = {}
    left = 0
    for label, part in (("force [N]", _FORCE), ("moment [N·m]", _MOMENT)):
        sizes = {name: np.linalg.norm(load[:, part], axis=1) for name, load in carried.items()}
        most = sorted((n for n in sizes if sizes[n].any()), key=lambda n: -sizes[n].max())
        panels[label] = {name: sizes[name] for name in most[:_DRAWN]}
        left = max(left, len(most) - _DRAWN)
    panels = {label: curves for label, curves in panels.items() if curves}
    if len(t) < 2:
        return ""
    more = f", of the {_DRAWN} joints that carry most" if left > 0 else ""
    return (
        "<h4>Loads over time</h4>"
        + figure_picture(curves_figure(t, panels), "forces and moments of joints over time")
        + words(f"The size of the force and of the moment in each joint{more}.", "caption")
    )


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
            f"The peak power is what the load takes at most, the peak braking power what it gives "
            f"at most. Energy that comes back must be stored or burnt.",
            "caption",
        )
    idle = uncommanded(model)
    if idle:
        html += words(
            f"Nobody commands {', '.join(idle)}: with inputs of zero they give nothing here. Give "
            f"them laws, drivers to the joints, or inputs to a simulation, to see what is needed."
        )
    if any(duty.torque.any() for duty in found):
        html += _driven_over_time(found) + _over_speed(found)
    return html + "".join(trouble(text) for text in failures)


def _driven_over_time(found: Sequence[MotorDuty]) -> str:
    """Torques or forces of the motors over time, and their powers."""
    panels: dict[str, dict[str, Floats]] = {}
    for duty in found[:_MOTORS]:
        label = "force [N]" if duty.linear else "torque [N·m]"
        panels.setdefault(label, {})[duty.name] = duty.torque
    panels["power [W]"] = {duty.name: duty.power for duty in found[:_MOTORS]}
    more = f" of the first {_MOTORS}" if len(found) > _MOTORS else ""
    drawn = figure_picture(curves_figure(found[0].t, panels), f"motors over time{more}")
    return f"<h4>Motors over time{more}</h4>{drawn}"


def _over_speed(found: Sequence[MotorDuty]) -> str:
    """Load over speed, of the motors whose speed changes."""
    html = ""
    for duty in found[:_DRAWN]:
        if duty.torque.any() and np.ptp(duty.speed) > _STEADY * duty.max_speed:
            figure = duty.plot()
            figure.set_size_inches(5.0, 3.6)  # two stand side by side
            figure.axes[0].legend(loc="best", fontsize="small")
            html += figure_picture(figure, f"load over speed of {duty.name}", "small plot")
    return f"<h4>Load over speed</h4>{html}" if html else ""


def duties(model: bl.Model, course: Course) -> tuple[list[MotorDuty], list[str]]:
    """The duties of the motors, and why others have none.

    Raises:
        BielaError: The forces of the motion cannot be found.
    """
    motion = course.motion
    if course.analysis is Analysis.KINEMATICS:
        motion = bl.inverse_dynamics(course.system, motion)
    found, failures = [], []
    for name in motor_coordinates(model):
        try:
            found.append(duty_of(model, motion, name))
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
        "peak braking [W]",
        "mean power [W]",
        "energy back [J]",
    )


def _row(duty: MotorDuty) -> tuple[str | float, ...]:
    # the work of a cycle that gives back what it took is rounding only
    least = _ROUNDING * duty.peak_torque * duty.max_speed
    mean = duty.mean_power if abs(duty.mean_power) > least else 0.0
    back = duty.regenerated_energy
    return (
        duty.name,
        duty.peak_torque,
        duty.peak_time,
        duty.rms_torque,
        duty.continuous_torque,
        duty.max_speed,
        duty.peak_power if duty.peak_power > least else 0.0,
        duty.peak_braking_power if duty.peak_braking_power > least else 0.0,
        mean,
        back if back > least * float(duty.t[-1] - duty.t[0]) else 0.0,
    )
