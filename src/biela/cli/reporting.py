"""``biela report``: all that is to be known of a model, in one file that opens anywhere."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import biela as bl
from biela.cli.gallery import meant_file
from biela.cli.models import model_in, output_name
from biela.cli.tables import console, duration, shown_path
from biela.cli.values import quantities


@dataclass(frozen=True)
class Wanted:
    """What is reported.

    Attributes:
        file: The file to write; None for one called like the model.
        time: Duration of the motion, s; None for that of the model.
        step: Between instants, s; likewise.
        parameters: Values other than those of the model, as "name=value".
        plots: Further channels to plot.
    """

    file: Path | None = None
    time: float | None = None
    step: float | None = None
    parameters: tuple[str, ...] = ()
    plots: tuple[str, ...] = ()

    def typed(self, file: Path, model_name: str | None) -> str:
        """The command that asks for this, as it can be typed.

        >>> Wanted(time=2.0, parameters=("r=45mm",)).typed(Path("my crank.toml"), None)
        "biela report 'my crank.toml' --time 2.0 --set r=45mm"
        """
        words = ["biela", "report", str(file)]
        for option, value in (
            ("--model", model_name),
            ("--output", self.file),
            ("--time", self.time),
            ("--step", self.step),
        ):
            words += [option, str(value)] if value is not None else []
        for option, texts in (("--set", self.parameters), ("--plot", self.plots)):
            words += [word for text in texts for word in (option, text)]
        return shlex.join(words)


def report(file: Path, model_name: str | None, wanted: Wanted) -> int:
    """Write the report; the exit code.

    Raises:
        BielaError: There is no model, or the file cannot be written.
    """
    source = meant_file(file)
    model = model_in(source, model_name)
    target = wanted.file or Path(f"{output_name(source, model_name)}_report.html")
    out, told = console(), console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    began = time.monotonic()
    if not bl.code_cache.contents()[0]:
        told.print("the first report compiles what it computes with: later ones take seconds")
    with Progress(*columns, console=told, transient=True, disable=not told.is_terminal) as bar:
        task = bar.add_task(f"reporting on {model.name}", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)
            if not told.is_terminal:
                told.print(f"{done + 1} of {total}: {what}", markup=False)

        path = bl.report(
            model,
            target,
            duration=wanted.time,
            step=wanted.step,
            parameters=quantities("--set", wanted.parameters),
            channels=wanted.plots,
            command=wanted.typed(file, model_name),
            progress=progress,
        )
    took = time.monotonic() - began
    size = path.stat().st_size
    out.print(f"[bold]{shown_path(path)}[/bold]: {size / 1e6:.2f} MB, made in {duration(took)}")
    out.print("It opens in any browser, without a network, and prints from there.")
    return 0
