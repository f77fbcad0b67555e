"""The command ``biela``: its verbs and their options."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import biela
from biela.errors import BielaError


class _Verbs(TyperGroup):
    """The verbs; what goes wrong in one is said in a message, not by a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BielaError as error:
            typer.echo(f"biela: {error}", err=True)
            raise typer.Exit(1) from error
        except BrokenPipeError:  # the reader of our output went away
            raise
        except OSError as error:
            typer.echo(f"biela: {error.strerror or error}: {error.filename or ''}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt:
            typer.echo("biela: interrupted", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Verbs,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Language(StrEnum):
    """Languages of exported equations."""

    C = "c"
    MATLAB = "matlab"
    PYTHON = "python"
    JULIA = "julia"


class Film(StrEnum):
    """Forms of an animation."""

    HTML = "html"
    GIF = "gif"
    MP4 = "mp4"
    NONE = "none"


File = Annotated[Path, typer.Argument(metavar="FILE.py", help="Python file with the model.")]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Which model, if the file has several."),
]
Formulation = Annotated[
    str,
    typer.Option(
        help="multipliers, baumgarte, penalty, augmented, index2, index3; with a step of their "
        "own: augmented3, generalised_alpha.",
        metavar="NAME",
    ),
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if it worked, 1 if biela had something to say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without our letters shows others
            stream.reconfigure(errors="replace")
    try:
        app(args=None if arguments is None else list(arguments), prog_name="biela")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


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
    """Mechanisms and robots: from symbolic models to simulations and native code.

    A model is a Python file that makes a SymbolicSystem.

    \b
      biela demo                            see it at work, in a few seconds
      biela run pendulum.py --time 10       simulate, plot, animate
      biela info pendulum.py                what it consists of, how it can move
      biela export pendulum.py --simulator  a simulator for real time, in C

    biela COMMAND --help has the options and more examples.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def run(
    file: File,
    model: ModelName = None,
    time: Annotated[float, typer.Option("--time", "-t", help="Duration, s.")] = 5.0,
    step: Annotated[
        float | None,
        typer.Option(help="Step of a fixed-step method, s. Without it the steps adapt."),
    ] = None,
    formulation: Formulation = "multipliers",
    integrator: Annotated[
        str,
        typer.Option(
            help="rk4, heun, explicit_euler, …; adaptive: dormand_prince, adams, radau (stiff).",
            metavar="NAME",
        ),
    ] = "",
    tolerance: Annotated[float, typer.Option(help="Relative tolerance if the steps adapt.")] = 1e-8,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=VALUE", help="A constant input; may be repeated."),
    ] = None,
    q: Annotated[
        list[str] | None,
        typer.Option("--q", metavar="NAME=VALUE", help="A start position; may be repeated."),
    ] = None,
    v: Annotated[
        list[str] | None,
        typer.Option("--v", metavar="NAME=VALUE", help="A start velocity; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the files (out/<model>).")
    ] = None,
    plot: Annotated[bool, typer.Option(help="Plots of coordinates, outputs and monitors.")] = True,
    animate: Annotated[Film, typer.Option(help="Form of the animation.")] = Film.HTML,
    csv: Annotated[
        bool, typer.Option("--csv", help="All channels as comma separated text.")
    ] = False,
    save: Annotated[
        bool, typer.Option(help="The results as results.npz, for Results.load.")
    ] = True,
) -> None:
    """Simulate the model of a file; write plots, an animation and the results.

    The model is a SymbolicSystem at module level, or what a function without
    required arguments returns that is called model, build or like the file.
    The start is taken from the model, changed by --q and --v, and assembled so
    that all constraints hold.

    \b
      biela run four_bar.py --time 10
      biela run four_bar.py --step 1e-3 --set l2=0.45 --q theta1=pi/3
      biela run andrews.py --time 0.05 --integrator radau --tolerance 1e-10
      biela run four_bar.py --formulation index3 --animate gif --csv --out here

    Values are in SI units and may be expressions, such as 2*pi/3, or 40deg for an
    angle. Ctrl-C ends a run and keeps what was computed.
    """
    from biela.cli import running
    from biela.cli.values import assignments

    wanted = running.Wanted(
        time,
        step,
        formulation,
        integrator,
        tolerance,
        assignments("--set", parameters or []),
        assignments("--input", inputs or []),
        assignments("--q", q or []),
        assignments("--v", v or []),
        out,
        plot,
        "" if animate is Film.NONE else animate.value,
        csv,
        save,
    )
    _end(running.run(file, model, wanted))


@app.command()
def info(
    file: File,
    model: ModelName = None,
    tree: Annotated[bool, typer.Option("--tree", help="Show the bases and points.")] = False,
) -> None:
    """Show what a model consists of, the size of its equations and how it can move.

    Mobility and redundant constraints are those at the assembled start.

    \b
      biela info four_bar.py
      biela info four_bar.py --tree
    """
    from biela.cli import describing

    describing.info(file, model, tree)


@app.command()
def export(
    file: File,
    model: ModelName = None,
    language: Annotated[Language, typer.Option(help="Language of the equations.")] = Language.C,
    simulator: Annotated[
        bool, typer.Option("--simulator", help="A whole simulator for real time, in C.")
    ] = False,
    step: Annotated[
        float | None, typer.Option(help="Step of the simulator, s (default 1e-3).")
    ] = None,
    integrator: Annotated[
        str, typer.Option(help="Fixed-step method of the simulator.", metavar="NAME")
    ] = "rk4",
    formulation: Formulation = "multipliers",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the files (below out/<model>).")
    ] = None,
) -> None:
    """Write the equations of a model, or a simulator of it, as source code.

    The equations are functions of t, q, v, u and p: mass matrix, forces,
    constraints and their Jacobians, one by one and together. A simulator is C99
    without dependencies or allocation, with a Makefile and a program that times
    it.

    \b
      biela export four_bar.py --language matlab
      biela export four_bar.py --simulator --step 5e-4
      make -C out/four_bar/simulator run
    """
    from biela.cli import exporting

    exporting.export(file, model, language.value, simulator, step, integrator, formulation, out)


@app.command()
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

    _end(benchmarking.bench(names or [], quick, list_only))


@app.command()
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


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
) -> None:
    """Show where compiled code is kept on disk and how much there is of it."""
    if clear:
        typer.echo(f"removed {biela.code_cache.clear()} files")
    files, size = biela.code_cache.contents()
    typer.echo(f"{biela.code_cache.directory()}: {files} files, {size / 1e6:.1f} MB")


def _end(code: int) -> None:
    if code:
        raise typer.Exit(code)
