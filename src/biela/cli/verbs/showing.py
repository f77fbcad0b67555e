"""Verbs that show: studio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biela.cli.app import MOVE, end
from biela.cli.options import ModelName


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command(rich_help_panel=MOVE)(studio)


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

    Nobody but this machine sees the page, unless --host says otherwise. Every window
    has a session of its own. It needs the package viser: pip install "biela\\[studio]".
    """
    from biela.cli.studio import studio as serve

    end(serve(file, model, trust=trust, host=host, port=port, browser=browser))
