"""The application that verbs are added to, and how it ends when something goes wrong."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

from biela.cli.wording import said
from biela.errors import BielaError

#: The groups of verbs in the help, in the order of work.
DESCRIBE: Final = "Describe a mechanism"
MOVE: Final = "Move it"
PROGRAM: Final = "Code, measurements, the rest"

#: Whether the model is in a Python file, in what is known of a command.
_PROGRAM: Final = "biela.program"


class Verbs(TyperGroup):
    """The verbs; what goes wrong in one is said in a message, not by a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command; a model in a Python file is answered in the words of Python."""
        ctx.meta[_PROGRAM] = any(text.endswith(".py") for text in args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; the exit code is 1 for what biela has to say, 130 for an interrupt."""
        try:
            return super().invoke(ctx)
        except BielaError as error:
            typer.echo(f"biela: {said(str(error), ctx.meta[_PROGRAM])}", err=True)
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
    cls=Verbs,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def end(code: int) -> None:
    """End with an exit code, if it is not 0."""
    if code:
        raise typer.Exit(code)
