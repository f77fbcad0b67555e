"""The command ``biela``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any

import typer

import biela
from biela.budgets import memory_limit
from biela.cli.app import app
from biela.cli.keeping import ended_by_signals
from biela.cli.verbs import describing, moving, programming, showing

__all__ = ["app", "main"]

# in this order in the help
describing.add(app)
moving.add(app)
showing.add(app)
programming.add(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if it worked, 1 if biela had something to say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without our letters shows others
            stream.reconfigure(errors="replace")
    try:
        with ended_by_signals():
            _command()(args=None if arguments is None else list(arguments), prog_name="biela")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@cache
def _command() -> Any:
    """The command with all its verbs: what typer makes of the signatures takes its time."""
    return typer.main.get_command(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"biela {biela.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _biela(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    """Mechanisms and robots: from bodies and joints to motions, forces and native code.

    A model is a file .toml with bodies and joints, or a Python file that makes a
    Model or a SymbolicSystem.

    \b
      biela new slider-crank                      a model file to begin with
      biela check slider_crank.toml               is it sound, how can it move
      biela kinematics slider_crank.toml --plot slider.x
      biela run slider_crank.toml --time 10       simulate, plot, animate
      biela studio slider_crank.toml              see it and touch it in the browser
      biela export slider_crank.toml --simulator  for real time, in C
      biela demo                                  see it at work

    biela COMMAND --help has the options and more examples.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        return
    memory_limit()  # now, and not after all the work
