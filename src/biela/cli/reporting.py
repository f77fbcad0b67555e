"""``biela report``: all that is to be known of a model, in one file that opens anywhere."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import biela as bl
from biela.cli.gallery import mechanisms
from biela.cli.models import folder_name, model_in
from biela.cli.tables import console, duration, shown_path
from biela.cli.values import assignments


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
    known = mechanisms()
    plain = file.name.lower().replace("_", "-")
    source = known[plain] if not file.exists() and plain in known else file
    model = model_in(source, model_name)
    target = wanted.file or Path(f"{folder_name(model)}_report.html")
    # of a model file shapes and masses follow the parameters too
    subject = source if isinstance(model, bl.Model) and source.suffix == ".toml" else model
    out = console()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task(f"reporting on {model.name}", total=None)
        path = bl.report(
            subject,
            target,
            duration=wanted.time,
            step=wanted.step,
            parameters=assignments("--set", wanted.parameters),
            channels=wanted.plots,
            command=wanted.typed(file, model_name),
            progress=lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            ),
        )
        took = bar.tasks[0].elapsed or 0.0
    size = path.stat().st_size
    out.print(f"[bold]{shown_path(path)}[/bold]: {size / 1e6:.2f} MB, made in {duration(took)}")
    out.print("It opens in any browser, without a network, and prints from there.")
    return 0
