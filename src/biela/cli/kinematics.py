"""``biela kinematics``: the motion that drivers impose, its plots and its alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.markup import escape

import biela as bl
from biela.analysis.cost import cost
from biela.analysis.position_method import PositionMethod
from biela.analysis.precision import precision
from biela.analysis.preparation import with_values
from biela.cli.keeping import kept
from biela.cli.leaving import Left
from biela.cli.loads import bodies_of
from biela.cli.measuring import full_name, measured_system
from biela.cli.models import Described, model_in, output_name
from biela.cli.picturing import LISTED, Pictures, animate, known_outputs
from biela.cli.run_table import first, number_in_run, paths_in_run, text_in_run
from biela.cli.tables import console, duration, pairs
from biela.errors import ModelError, ResultsError
from biela.model.quantities.values import Value
from biela.results import Results, deviations
from biela.results.reference import read_csv
from biela.whole_files import make_folder

#: Alarms beyond these are counted only.
_ALARMS = 12
#: Not the name that a run under forces has for its results in the same folder.
_SAVED = "kinematics.npz"


@dataclass(frozen=True)
class Wanted:
    """What is computed and left behind.

    Attributes:
        time: Duration, s; None for that of the file.
        step: Time between instants, s; likewise.
        coordinates: Of the equations; likewise.
        formulation: By structural groups or whole, as for `bl.kinematics`; None for neither.
        method: How positions are found; likewise.
        drives: Laws of further coordinates, by name.
        parameters: Values other than those of the model.
        q: First guess of coordinates at the start.
        pictures: Plots and paths.
        reference: File with data to compare with.
        report: Whether to report cost and precision.
        within: Tolerances of parameters, for the report.
        folder: Where files go; None for out/ and the name of the model.
        animation: Suffix of the animation, "" for none.
        csv: Whether to write the channels as text.
        save: Whether to write the results.
    """

    time: float | None = None
    step: float | None = None
    coordinates: str | None = None
    formulation: str | None = None
    method: str | None = None
    drives: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    q: Mapping[str, float | str] = field(default_factory=dict)
    pictures: Pictures = field(default_factory=Pictures)
    reference: Path | None = None
    report: bool = False
    within: Mapping[str, Value] = field(default_factory=dict)
    folder: Path | None = None
    animation: str = "html"
    csv: bool = False
    save: bool = True


@dataclass(frozen=True)
class _Task:
    """A motion to compute: the equations, or the model whose groups are solved, and numbers."""

    subject: bl.System | bl.Model
    time: float
    step: float
    start: float
    method: PositionMethod | str
    wanted: Wanted

    def load(self) -> Results | None:
        """Move for a step: the loading of native code is not measured, and channels are known."""
        with suppress(bl.BielaError):  # the motion itself will say it
            return replace(self, time=self.step).motion()
        return None

    def motion(self, end_point: bool = True) -> Results:
        return bl.kinematics(
            self.subject,
            self.time,
            step=self.step,
            method=self.method,
            formulation=self.wanted.formulation,
            end_point=end_point,
            **self.given(),
        )

    def given(self) -> dict[str, Any]:
        """What every analysis of this motion takes."""
        wanted = self.wanted
        return {
            "t": self.start,
            "drives": wanted.drives,
            "parameters": wanted.parameters,
            "q": wanted.q,
        }


def kinematics(file: Path, model_name: str | None, wanted: Wanted) -> int:
    """Compute the motion, print what is to be known of it and write the files; the exit code.

    Raises:
        BielaError: Something cannot be done as asked.
    """
    out = console()
    model, parameters = with_values(model_in(file, model_name), wanted.parameters)
    wanted = replace(wanted, parameters=parameters or {})
    reference = read_csv(wanted.reference) if wanted.reference is not None else None
    pictures = wanted.pictures.named(lambda name: full_name(model, name))
    pictures = replace(pictures, traced=paths_in_run(model))
    drives = {full_name(model, name): law for name, law in wanted.drives.items()}
    wanted = replace(wanted, drives=drives)
    with out.status(f"deriving {model.name}"):
        data = reference.names if reference is not None else ()
        task = _task(model, wanted, [*pictures.channels, *data, *drives])
    folder = wanted.folder or Path("out") / output_name(file, model_name)
    run = model.run if isinstance(model, bl.Model) else {}
    left = Left()
    try:
        with out.status(f"moving {model.name}"):
            step = task.load()
            if step is not None:
                pictures.check(step)
            with kept(folder / _SAVED) as record:
                results = task.motion(bool(run.get("end_point", True)))
                make_folder(folder, ResultsError)
                if wanted.save:
                    record.hold(results)
                    left.paths.append(results.save(folder / _SAVED))
    except ModelError as error:
        said, undriven, _ = str(error).partition(" Add a drive for each")
        if not undriven:
            raise
        hint = "Add drivers to the model, or --drive NAME=LAW; biela run moves it by its forces"
        raise ModelError(f"{said} {hint}") from error
    out.print(f"[bold]{escape(model.name)}[/bold] moved for {results.t[-1] - results.t[0]:g} s")
    out.print(pairs(_summary(results, task)))
    if wanted.formulation is None:
        _print_alarms(results)
    else:
        out.print("\nNo dead point: every group stays on its branch.")
    shown = pictures.shown(results)
    if shown:
        table = replace(results.describe(*shown[:LISTED]), title="")
        out.print(f"\n{table}", markup=False, soft_wrap=True)
    if len(shown) > LISTED:
        out.print(f"… {len(shown) - LISTED} more: choose with --plot NAME, all are in --csv")
    outputs = results.select("y") if "y" in results.groups else []
    unknown = [name for name in outputs if name not in known_outputs(results)]
    if unknown:
        out.print(f"\nNot known without forces: {', '.join(unknown)}; see biela run", markup=False)
    if reference is not None:
        left.make("--reference", lambda: _print_deviations(results, reference))
    if wanted.report:
        left.make("--report", lambda: _print_report(task))
    if wanted.csv:
        names = pictures.columns(results)
        left.make("--csv", lambda: [results.to_csv(folder / "kinematics.csv", *names)])
    pictures.draw(left, results, folder, reference)
    if wanted.animation and results.scene is not None:
        film = folder / f"animation.{wanted.animation}"
        left.make(film.name, lambda: [animate(results, film, pictures.trace)])
    left.tell()
    return 0


def _task(model: Described, wanted: Wanted, names: Sequence[str]) -> _Task:
    if wanted.formulation is not None:
        return _numbers(_groups(model, wanted), model, "newton", wanted)
    iterations = number_in_run(model, "max_iterations", "none")
    method = PositionMethod(
        wanted.method or text_in_run(model, "method") or "newton",
        iterations=None if iterations is None else int(iterations),
    )
    system = measured_system(model, wanted.coordinates, names)
    return _numbers(system, model, method, wanted)


def _groups(model: Described, wanted: Wanted) -> bl.Model:
    """The model, for a motion by groups.

    Raises:
        ModelError: It has no bodies, or something is asked for that is of other formulations.
    """
    for option, given in (
        ("--coordinates", wanted.coordinates),
        ("--method", wanted.method),
        ("--report", wanted.report),
    ):
        if given:
            raise ModelError(
                f"{option} is for equations of the whole mechanism: leave it out, or --formulation"
            )
    return bodies_of(model, "--formulation")


def _numbers(
    subject: bl.System | bl.Model, model: Described, method: PositionMethod | str, wanted: Wanted
) -> _Task:
    """The task, with what the file says where nothing is asked for."""
    return _Task(
        subject,
        first(wanted.time, number_in_run(model, "duration"), default=5.0),
        first(wanted.step, number_in_run(model, "step"), default=1e-2),
        first(number_in_run(model, "t"), default=0.0),
        method,
        wanted,
    )


def _summary(results: Results, task: _Task) -> list[tuple[str, str]]:
    statistics = results.statistics
    rows = [("instants", f"{len(results)}, {duration(task.step)} apart")]
    if isinstance(task.subject, bl.System):
        sizes = len(task.subject.q), len(task.subject.multipliers)
        rows.append(("coordinates", f"{sizes[0]}, constraints {sizes[1]}"))
    if statistics is None:
        return rows
    rows.append(("method", statistics.method))
    rows += [(label, str(value)) for label, value in statistics.more.items()]
    if statistics.iterations and statistics.steps and not statistics.more:
        rows.append(("iterations", f"{statistics.iterations / statistics.steps:.2f} an instant"))
    if statistics.max_constraint_error is not None:
        rows.append(("largest error", f"{statistics.max_constraint_error:.1e} (m, rad)"))
    if "condition" in results.monitors:
        worst = results["condition"].argmax()
        rows.append(
            ("condition", f"at most {results['condition'][worst]:.3g}, at {results.t[worst]:.4g} s")
        )
    if statistics.time_integration and statistics.steps:
        each = duration(statistics.time_integration / statistics.steps)
        rows.append(("time", f"{each} an instant, {duration(statistics.time_total or 0.0)} in all"))
    return rows


def _print_alarms(results: Results) -> None:
    out = console()
    if not results.events:
        out.print("\nNo alarms: no singular position, no change of branch.")
        return
    out.print("\n[bold yellow]alarms[/bold yellow]")
    out.print(pairs((f"{e.time:.6g} s", _told(e.name)) for e in results.events[:_ALARMS]))
    if len(results.events) > _ALARMS:
        out.print(f"  … {len(results.events) - _ALARMS} more")


def _told(name: str) -> str:
    if name == "determinant changes sign":
        return (
            "the determinant changes sign: a singular position is passed, maybe to another branch"
        )
    return name


def _print_deviations(results: Results, reference: Results) -> list[Path]:
    """Print how far the motion is from data; nothing is written."""
    common = [name for name in reference.names if name in results]
    found = deviations(results, reference, common or None)
    console().print(f"\n{found}", markup=False, soft_wrap=True)
    return []


def _print_report(task: _Task) -> list[Path]:
    """Print cost and precision; nothing is written."""
    out = console()
    assert isinstance(task.subject, bl.System), "groups have no report"
    with out.status("measuring cost and precision"):
        spent = cost(task.subject, task.time, step=task.step, method=task.method, **task.given())
        exact = precision(task.subject, tolerances=task.wanted.within, **task.given())
    out.print(f"\n{spent}\n\n{exact}", markup=False, soft_wrap=True)
    return []
