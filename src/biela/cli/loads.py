"""What joints carry in a run, and what its motors must give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import biela as bl
from biela.analysis.joint_reactions import joint_reactions
from biela.cli.measuring import full_name
from biela.cli.models import Described
from biela.cli.tables import console
from biela.errors import BielaError, ModelError
from biela.model.drivers import Rotary, Translational
from biela.model.forces import Actuator
from biela.model.joints import Joint
from biela.model.quantities.units import evaluate
from biela.results import Channels, Results
from biela.results.load_cases import COMPONENTS, load_cases
from biela.results.motor_sizing import MotorDuty, motor_duty

Floats = npt.NDArray[np.float64]


def bodies_of(model: Described, option: str) -> bl.Model:
    """The model, if it has bodies and joints.

    Raises:
        ModelError: It is written in symbols.
    """
    if not isinstance(model, bl.Model):
        raise ModelError(f"{model.name} is written in symbols: {option} is for bodies and joints")
    return model


# --- reactions ------------------------------------------------------------------------------------


def write_reactions(
    model: bl.Model, results: Results, parameters: Mapping[str, float], folder: Path
) -> list[Path]:
    """Print the largest loads of the joints; write all of them and the load cases.

    Raises:
        ModelError: Forces act that are not in the model.
    """
    out = console()
    with out.status(f"reactions at {len(results)} instants"):
        found = joint_reactions(model, results, parameters=parameters)
    out.print(
        f"\n[bold]largest loads[/bold], on the body after each joint\n{found}", soft_wrap=True
    )
    names = [f"{joint}.{part}" for joint in found.joints for part in COMPONENTS]
    units = ["N"] * 3 + ["N·m"] * 3
    table = Channels(names, found.wrenches.reshape(len(found.t), -1), units * len(found.joints))
    loads = Results(f"{results.name}: joint loads", found.t, {"loads": table})
    written = [loads.to_csv(folder / "reactions.csv", "loads")]
    carried = {joint: found.wrenches[:, k] for k, joint in enumerate(found.joints)}
    cases = load_cases(found.t, {name: load for name, load in carried.items() if load.any()})
    out.print(f"{len(cases)} load cases, each an instant at which a load is extreme")
    return [*written, cases.save(folder / "load_cases.csv")]


# --- motors ---------------------------------------------------------------------------------------


def motor_coordinates(model: bl.Model) -> dict[str, str]:
    """The coordinate of each motor: drivers of joints, and actuators."""
    found = {}
    for element in (*model.drivers.values(), *model.forces.values()):
        if isinstance(element, Rotary | Translational | Actuator):
            found[element.name] = full_name(model, element.coordinate)
    return found


def write_motors(
    model: bl.Model, results: Results, parameters: Mapping[str, float], folder: Path
) -> list[Path]:
    """Print what each motor must give; write the figures and plots of torque over speed.

    Raises:
        BielaError: The run has no multipliers, or no such speed.
    """
    out = console()
    written = []
    motors = motor_coordinates(model)
    if not motors:
        out.print(
            f"\n{model.name} has no motors: --motors is for rotary and translational drivers and "
            f"for actuators (biela joints rotary)",
            markup=False,
            soft_wrap=True,
        )
    for name, coordinate in motors.items():
        duty = _duty(model, results, name, coordinate, {**model.parameters, **parameters})
        out.print(f"\n{duty}", markup=False, soft_wrap=True)
        written.append(duty.table().save(folder / f"motor_{name}.csv"))
        written.append(folder / f"motor_{name}.png")
        duty.plot(save=written[-1])
    return written


def _duty(
    model: bl.Model,
    results: Results,
    name: str,
    coordinate: str,
    parameters: Mapping[str, float],
) -> MotorDuty:
    motor = model.forces.get(name) or model.drivers[name]
    if isinstance(motor, Actuator):
        effort = _actuated(results, motor, parameters)
    else:
        # the row is coordinate - law, with slope 1: its multiplier is the effort, reversed
        rows = [n for n in _names(results, "lam") if n.startswith(f"λ({name}.")]
        if not rows:
            raise BielaError(f"{name}: this formulation gives no multipliers; use multipliers")
        effort = -results[rows[0]]
    joint = model.joints[coordinate.rpartition(".")[0]]
    assert isinstance(joint, Joint)
    unit = next(c.unit for c in joint.coordinates if c.name == coordinate.rpartition(".")[2])
    speed = results[f"{coordinate}_rate"]
    return motor_duty(results.t, effort, speed, name=name, linear=unit == "m")


def _actuated(results: Results, motor: Actuator, parameters: Mapping[str, float]) -> Floats:
    if motor.law is not None:
        u = np.broadcast_to(motor.law.value(results.t, parameters), results.t.shape)
    else:
        u = results[f"u.{motor.name}"]
    if motor.limit is not None:
        limit = evaluate(motor.limit, parameters)
        u = np.clip(u, -limit, limit)
    effort: Floats = evaluate(motor.gear, parameters) * u
    return effort


def _names(results: Results, group: str) -> Sequence[str]:
    return results.groups[group].names if group in results.groups else ()
