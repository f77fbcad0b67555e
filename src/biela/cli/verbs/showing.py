"""Verbs that show: studio, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biela.cli.app import MOVE, end
from biela.cli.options import File, ModelName, Parameters, Time, step_option


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command(rich_help_panel=MOVE)(studio)
    app.command(rich_help_panel=MOVE)(report)


def studio(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="A model file, or a name of the gallery; none opens the gallery."
        ),
    ] = None,
    model: ModelName = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Run FILE, a Python program, to get its model."),
    ] = False,
    host: Annotated[
        str,
        typer.Option(help="Address to listen at; 0.0.0.0 lets other machines see the page."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port, or the first free one after it.")] = 8080,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
) -> None:
    """A mechanism in the browser: see it move, change it, drag it, plot it.

    The page shows the mechanism in space. Beside it: play and scrub the motion;
    sliders for parameters, laws of drivers and initial values, which run the analysis
    anew; kinematics, dynamics, equilibrium or inverse kinematics; plots of anything
    against anything; the gallery. Drag a body with the left button, and the mechanism
    follows with its joints closed.

    \b
      biela studio                       the gallery
      biela studio stewart               a mechanism of the gallery
      biela studio my_robot.toml         a file; others of its folder can be opened too
      biela studio linkage.py --trust    a model that a program makes
      biela studio --no-browser --port 9000

    Nobody but this machine sees the page, unless --host says otherwise, and nobody
    without the link that is printed. Every window has a session of its own. It
    needs the package viser: pip install "biela\\[studio]".
    """
    from biela.cli.studio import studio as serve

    end(serve(file, model, trust=trust, host=host, port=port, browser=browser))


def report(
    file: File,
    model: ModelName = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write. \\[default: NAME_report.html]"
        ),
    ] = None,
    time: Time = None,
    step: Annotated[
        float | None, step_option("Time between instants. \\[default: that of the file]")
    ] = None,
    parameters: Parameters = None,
    plot: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further channel, group or pattern to plot."),
    ] = None,
) -> None:
    """Everything about a model in one HTML file: opens offline, prints well.

    It has the model in tables; its motion, to be played and turned in space; plots and
    extreme values; reactions of the joints and sizing of the motors; freedoms, loops,
    redundant constraints, structural groups; the sparsity pattern before and after
    ordering; the equations of small models as formulas; timings, and this command.

    \b
      biela report slider_crank.toml                 slider_crank_report.html
      biela report stewart -o stewart.html           a mechanism of the gallery
      biela report crank.toml --time 2s --set r=45mm
      biela report arm.toml --plot "tip.*"           further channels

    The motion is the one that the drivers impose, for the time that the file says; what
    is not driven moves by its forces. What cannot be computed is told in words in its
    place: a model that cannot be assembled has a report too.
    """
    from biela.cli.reporting import Wanted
    from biela.cli.reporting import report as write

    wanted = Wanted(output, time, step, tuple(parameters or ()), tuple(plot or ()))
    end(write(file, model, wanted))
