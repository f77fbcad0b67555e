"""Verbs about models: new, joints, check, info, convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biela.cli.app import DESCRIBE, end
from biela.cli.options import CoordinatesOption, File, ModelName, picture_option


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (new, joints, check, info, convert):
        app.command(rich_help_panel=DESCRIBE)(verb)


def new(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which mechanism; - and _ are alike.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write (<name>.toml here).")
    ] = None,
    list_only: Annotated[bool, typer.Option("--list", help="Say what there is and stop.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file.")] = False,
) -> None:
    """Write a model file to begin with, out of a gallery of mechanisms.

    \b
      biela new --list
      biela new slider-crank
      biela new four-bar --out wiper.toml
    """
    from biela.cli import creating

    if list_only or name is None:
        creating.list_mechanisms()
    else:
        creating.create(name, out, force)


def joints(
    name: Annotated[
        str | None,
        typer.Argument(metavar="KIND", help="A joint, driver, force or sensor; all if none."),
    ] = None,
) -> None:
    """List the kinds of joints, drivers, forces and sensors, or explain one.

    An explanation has markers and axes, coordinates, equations, settings, and how
    to write it in a file and in Python.

    \b
      biela joints
      biela joints revolute
      biela joints gear
      biela joints spring_damper
    """
    from biela.cli import explaining

    if name is None:
        explaining.list_kinds()
    else:
        explaining.explain(name)


def check(
    file: File,
    model: ModelName = None,
    drawing: Annotated[
        Path | None,
        picture_option("bodies and joints as a graph", "--drawing"),
    ] = None,
) -> None:
    """Look a model over: loops, freedoms, redundant equations, the start position.

    Freedoms are counted and found by rank; redundant equations are named by their
    joints. The exit code is 1 if the model cannot be assembled or contradicts
    itself.

    \b
      biela check slider_crank.toml
      biela check slider_crank.toml --drawing graph.png
    """
    from biela.cli import checking

    end(checking.check(file, model, drawing))


def info(
    file: File,
    model: ModelName = None,
    coordinates: CoordinatesOption = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the bases and points, or the tree of bodies.")
    ] = False,
) -> None:
    """Show what a model consists of, the size of its equations and how it can move.

    Mobility and redundant constraints are those at the assembled start.

    \b
      biela info four_bar.toml
      biela info four_bar.toml --coordinates reference
      biela info four_bar.py --tree
    """
    from biela.cli import describing

    describing.info(file, model, coordinates, tree)


def convert(
    file: File,
    to: Annotated[
        Path,
        typer.Option(
            "--to",
            metavar="FILE",
            help="A file .toml, or a folder for the four text files of a thesis.",
        ),
    ],
    model: ModelName = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files.")] = False,
) -> None:
    """Write a model in another form: .toml, or the four text files of a thesis.

    From .toml to .toml it is written anew in one style, with every marker named.

    \b
      biela convert old_folder --to crank.toml
      biela convert crank.toml --to old_folder/
      biela convert model.py --to model.toml
    """
    from biela.cli import converting

    converting.convert(file, model, to, force)
