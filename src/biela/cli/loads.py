"""What joints carry in a run, and what its motors must give."""

from __future__ import annotations

from pathlib import Path

import biela as bl
from biela.analysis.joint_reactions import joint_reactions
from biela.analysis.motor_duties import duty_of, motor_coordinates
from biela.cli.models import Described
from biela.cli.tables import console
from biela.errors import ModelError
from biela.results import Channels, Results
from biela.results.load_cases import COMPONENTS, load_cases


def bodies_of(model: Described, option: str) -> bl.Model:
    """The model, if it has bodies and joints.

    Raises:
        ModelError: It is written in symbols.
    """
    if not isinstance(model, bl.Model):
        raise ModelError(f"{model.name} is written in symbols: {option} is for bodies and joints")
    return model


# --- reactions ------------------------------------------------------------------------------------


def write_reactions(model: bl.Model, results: Results, folder: Path) -> list[Path]:
    """Print the largest loads of the joints; write all of them and the load cases.

    Raises:
        ModelError: Forces act that are not in the model.
    """
    out = console()
    with out.status(f"reactions at {len(results)} instants"):
        found = joint_reactions(model, results)
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


def write_motors(model: bl.Model, results: Results, folder: Path) -> list[Path]:
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
    for name in motors:
        duty = duty_of(model, results, name)
        out.print(f"\n{duty}", markup=False, soft_wrap=True)
        written.append(duty.table().save(folder / f"motor_{name}.csv"))
        written.append(folder / f"motor_{name}.png")
        duty.plot(save=written[-1])
    return written
