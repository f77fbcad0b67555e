"""Verbs that move a model: kinematics, run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biela.cli.app import MOVE, end
from biela.cli.options import (
    CoordinatesOption,
    Csv,
    EngineOption,
    File,
    Film,
    Folder,
    Formulation,
    Inputs,
    KinematicFormulation,
    Method,
    ModelName,
    MotionCoordinatesOption,
    Parameters,
    Positions,
    Save,
    Time,
    Velocities,
    step_option,
)

Plots = Annotated[
    list[str] | None,
    typer.Option(
        "--plot",
        metavar="NAME",
        help="A channel to plot, such as slider.x or pivot.angle, a group or pattern; a:b plots b "
        "over a. Without any, the coordinates and outputs. May be repeated.",
    ),
]
Against = Annotated[str, typer.Option(metavar="NAME", help="The channel across, if not the time.")]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="NAME",
        help="A body, marker or sensor whose way is drawn, also in the animation.",
    ),
]
NoPlot = Annotated[bool, typer.Option("--no-plot", help="No plots at all.")]
Animation = Annotated[Film, typer.Option(help="Form of the animation.")]


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (kinematics, run):
        app.command(rich_help_panel=MOVE)(verb)


def kinematics(
    file: File,
    model: ModelName = None,
    time: Time = None,
    step: Annotated[
        float | None,
        step_option("Time between instants, s. \\[default: that of the file, else 0.01]"),
    ] = None,
    coordinates: CoordinatesOption = None,
    formulation: KinematicFormulation = None,
    method: Annotated[
        Method | None, typer.Option(help="How positions are found. \\[default: newton]")
    ] = None,
    drives: Annotated[
        list[str] | None,
        typer.Option(
            "--drive", metavar="NAME=LAW", help="A further coordinate's law of t: A='30 deg*t'."
        ),
    ] = None,
    parameters: Parameters = None,
    q: Positions = None,
    plot: Plots = None,
    against: Against = "t",
    path: Paths = None,
    no_plot: NoPlot = False,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Data to draw and compare with, by channel names."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Operations, time and precision of an instant.")
    ] = False,
    within: Annotated[
        list[str] | None,
        typer.Option("--within", metavar="NAME=VALUE", help="Tolerance of a parameter (--report)."),
    ] = None,
    animate: Animation = Film.HTML,
    csv: Csv = False,
    save: Save = True,
    out: Folder = None,
) -> None:
    """The motion that the drivers of a mechanism impose, without forces.

    Channels are those of bodies and markers in the ground (piston.x, piston.vx,
    piston.ax, rod.wz), coordinates of joints (pivot.angle, pivot.angle_rate) and sensors.
    Singular positions and changes of branch are reported with the joints at fault.

    \b
      biela kinematics slider_crank.toml --plot slider.x --plot piston.vx
      biela kinematics slider_crank.toml --plot pivot.angle:slider.x --path rod
      biela kinematics slider_crank.toml --time 2 --step 1e-3 --csv
      biela kinematics slider_crank.toml --plot slider.x --reference data.csv
      biela kinematics four_bar.toml --method damped --report
      biela kinematics theo-jansen --formulation "natural groups"
    """
    from biela.cli import kinematics as moving
    from biela.cli.picturing import Pictures
    from biela.cli.values import laws, quantities

    wanted = moving.Wanted(
        time=time,
        step=step,
        coordinates=coordinates,
        formulation=formulation,
        method=method,
        drives=laws("--drive", drives or []),
        parameters=quantities("--set", parameters or []),
        q=quantities("--q", q or []),
        pictures=Pictures(tuple(plot or ()), against, tuple(path or ()), not no_plot),
        reference=reference,
        report=report,
        within=quantities("--within", within or []),
        folder=out,
        animation=animate.suffix,
        csv=csv,
        save=save,
    )
    end(moving.kinematics(file, model, wanted))


def run(
    file: File,
    model: ModelName = None,
    time: Time = None,
    step: Annotated[
        float | None,
        step_option("Step of a fixed-step method, s. Without it the steps adapt."),
    ] = None,
    coordinates: MotionCoordinatesOption = None,
    engine: EngineOption = None,
    formulation: Formulation = None,
    integrator: Annotated[
        str,
        typer.Option(
            help="rk4, heun, explicit_euler, …; adaptive: dormand_prince, adams, radau (stiff).",
            metavar="NAME",
        ),
    ] = "",
    tolerance: Annotated[
        float | None,
        typer.Option(help="Relative tolerance if the steps adapt. \\[default: 1e-8]"),
    ] = None,
    parameters: Parameters = None,
    inputs: Inputs = None,
    q: Positions = None,
    v: Velocities = None,
    out: Folder = None,
    plot: Plots = None,
    against: Against = "t",
    path: Paths = None,
    no_plot: NoPlot = False,
    animate: Animation = Film.HTML,
    csv: Csv = False,
    save: Save = True,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="Loads of the joints over time, and load cases.")
    ] = False,
    motors: Annotated[
        bool, typer.Option("--motors", help="Torque, speed and power of drivers and actuators.")
    ] = False,
) -> None:
    """Simulate the model of a file; write plots, an animation and the results.

    The model is that of a file .toml, with the defaults of its table \\[run]; or a
    Model or SymbolicSystem at the level of a Python module, or what a function
    without required arguments returns that is called model, build or like the
    file. The start is taken from the model, changed by --q and --v, and assembled
    so that all constraints hold.

    \b
      biela run four_bar.toml --time 10
      biela run four_bar.toml --step 1e-3 --set crank_length=0.12 --q A.angle=pi/3
      biela run slider_crank.toml --reactions --motors
      biela run andrews.py --time 0.05 --integrator radau --tolerance 1e-10
      biela run four_bar.py --formulation index3 --animate gif --csv --out here

    Values are in SI units or have their own, 40deg or 12mm, and may be expressions,
    such as 2*pi/3. Ctrl-C ends a run and keeps what was computed.
    """
    from biela.cli import running
    from biela.cli.picturing import Pictures
    from biela.cli.values import assignments, quantities

    wanted = running.Wanted(
        time=time,
        step=step,
        formulation=formulation or "",
        integrator=integrator,
        tolerance=tolerance,
        parameters=quantities("--set", parameters or []),
        inputs=assignments("--input", inputs or []),
        q=quantities("--q", q or []),
        v=quantities("--v", v or []),
        coordinates=coordinates,
        engine=engine,
        folder=out,
        pictures=Pictures(tuple(plot or ()), against, tuple(path or ()), not no_plot),
        animation=animate.suffix,
        csv=csv,
        save=save,
        reactions=reactions,
        motors=motors,
    )
    end(running.run(file, model, wanted))
