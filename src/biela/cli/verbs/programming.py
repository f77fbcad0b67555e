"""Verbs about code and measurements: export, order, groups, bench, demo, cache."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import biela
from biela.cli.app import PROGRAM, end
from biela.cli.options import (
    CoordinatesOption,
    File,
    Formulation,
    Language,
    ModelName,
    names_option,
    picture_option,
)


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (export, order, groups, bench, demo, cache):
        app.command(rich_help_panel=PROGRAM)(verb)


def export(
    file: File,
    model: ModelName = None,
    coordinates: CoordinatesOption = None,
    language: Annotated[Language, typer.Option(help="Language of the equations.")] = Language.C,
    simulator: Annotated[
        bool, typer.Option("--simulator", help="A whole simulator for real time, in C.")
    ] = False,
    groups: Annotated[
        bool,
        typer.Option(
            "--groups", help="The motion of a driven mechanism for real time, group by group, in C."
        ),
    ] = False,
    point: Annotated[
        list[str] | None,
        names_option(
            "--point",
            "A marker whose motion the groups give, for each (default: all bodies).",
            "BODY.MARKER",
        ),
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="Step of the simulator, s (default 1e-3).")
    ] = None,
    integrator: Annotated[
        str, typer.Option(help="Fixed-step method of the simulator.", metavar="NAME")
    ] = "rk4",
    formulation: Formulation = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the files (below out/<model>).")
    ] = None,
) -> None:
    """Write the equations of a model, a simulator or its groups as source code.

    The equations are functions of t, q, v, u and p: mass matrix, forces,
    constraints and their Jacobians, one by one and together. A simulator is C99
    without dependencies or allocation, with a Makefile and a program that times
    it. With groups it is the kinematics of a mechanism whose drivers follow the
    laws of the model or a controller.

    \b
      biela export four_bar.toml --language matlab
      biela export four_bar.toml --simulator --step 5e-4
      make -C out/four_bar/simulator run
      biela export four_bar.toml --groups --point coupler.P
    """
    from biela.cli import exporting

    exporting.export(
        file,
        model,
        coordinates,
        language.value,
        simulator,
        step,
        integrator,
        formulation or "multipliers",
        out,
        groups,
        point or (),
    )


def order(
    file: File,
    model: ModelName = None,
    coordinates: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="natural (points and unit vectors), reference (a point and an orientation of "
            "every body) or joint. \\[default: natural]",
        ),
    ] = None,
    independent: Annotated[
        list[str] | None,
        names_option(
            "--independent",
            "A coordinate that is left out of the Jacobian; may be repeated. Without any, as many "
            "as it cannot determine.",
        ),
    ] = None,
    picture: Annotated[Path | None, picture_option("the matrix before and after")] = None,
) -> None:
    """Compare orders of the equations: blocks, border, fill and cost of each.

    The constraint Jacobian is ordered by its rows and dependent columns, into a
    band, into little fill, or into diagonal blocks that are solved one after the
    other; where loops close, columns are left over as a border and rows as a band.
    With a mass matrix, orders of elimination of unknowns and multipliers follow.
    The best of each is marked. Nothing is simulated: the pattern never changes.

    \b
      biela order bricard.toml
      biela order bricard.toml --picture orders.png
      biela order four_bar.toml --coordinates reference
      biela order layout.py --independent θ5

    In a Python file, a layout of natural coordinates called layout is ordered too.
    """
    from biela.cli import order as ordering

    ordering.order(file, model, coordinates, independent, picture)


def groups(
    file: File,
    model: ModelName = None,
    independent: Annotated[
        list[str] | None,
        names_option(
            "--independent", "A joint coordinate taken as known, for each; auto chooses them."
        ),
    ] = None,
    picture: Annotated[Path | None, picture_option("the group diagram")] = None,
) -> None:
    """Split a mechanism into groups of bodies that are solved one after another.

    Groups, their kinds and order, rows that are redundant, passive spins, and
    freedoms that no driver gives.

    \b
      biela groups my_linkage.toml
      biela groups stewart --picture groups.png
      biela groups bricard --independent P0.angle
      biela groups balanced-lamp --independent auto
    """
    from biela.cli import grouping

    grouping.groups(file, model, independent, picture)


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which; all if none is named.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short bursts, smaller models.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Say what there is and stop.")] = False,
) -> None:
    """Measure against peers, in a checkout of the repository.

    \b
      biela bench --list
      biela bench four_bars --quick
    """
    from biela.cli import benchmarking

    end(benchmarking.bench(names or [], quick, list_only))


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files.")] = Path(
        "out/demo"
    ),
) -> None:
    """Simulate a linkage: plots, a film, a page, and a simulator in C.

    \b
      biela demo
      biela demo --out somewhere
    """
    from biela.cli.demo import demo as show

    show(out)


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
) -> None:
    """Show where compiled code is kept on disk and how much there is of it."""
    if clear:
        typer.echo(f"removed {biela.code_cache.clear()} files")
    files, size = biela.code_cache.contents()
    typer.echo(f"{biela.code_cache.directory()}: {files} files, {size / 1e6:.1f} MB")
