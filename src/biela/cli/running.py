"""``biela run``: simulate the model of a file, show how it went, write what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.markup import escape

import biela as bl
from biela.analysis import FORMULATIONS, joint_channels
from biela.analysis.engine_choice import PATIENCE, chosen_engine, time_to_unroll
from biela.analysis.motor_duties import motor_coordinates
from biela.analysis.preparation import with_values
from biela.cli.keeping import kept
from biela.cli.leaving import Left
from biela.cli.loads import bodies_of, write_motors, write_reactions
from biela.cli.measuring import full_name
from biela.cli.models import Described, model_in, output_name, system_of
from biela.cli.picturing import Pictures, animate
from biela.cli.run_table import first, number_in_run, paths_in_run, text_in_run
from biela.cli.tables import console, duration, listed, pairs, shown_path
from biela.errors import ResultsError
from biela.model.parts.flattening import body_count
from biela.model.quantities.values import Value
from biela.results import Results
from biela.whole_files import make_folder


@dataclass(frozen=True)
class Wanted:
    """What a run should do and leave behind.

    Attributes:
        time: Duration, s; None for that of the file.
        step: Step of a fixed-step method, s; None for that of the file, else an adaptive one.
        formulation: Name of the formulation; likewise.
        integrator: Name of the integrator; "" for that of the file, else the simulator chooses.
        tolerance: Relative tolerance of adaptive methods; None for that of the file.
        parameters: Values other than those of the model.
        inputs: Constant values of the inputs.
        q: Start positions.
        v: Start velocities.
        coordinates: In which the motion is found; None for those of the file.
        engine: What runs it; None for the one that is ready sooner.
        folder: Where files go; None for out/ and the name of the model.
        pictures: Plots and paths.
        animation: Suffix of the animation, "" for none.
        csv: Whether to write the channels as text.
        save: Whether to write the results.
        reactions: Whether to write the loads of the joints.
        motors: Whether to write what motors must give.
    """

    time: float | None = None
    step: float | None = None
    formulation: str = ""
    integrator: str = ""
    tolerance: float | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    inputs: Mapping[str, float] = field(default_factory=dict)
    q: Mapping[str, float | str] = field(default_factory=dict)
    v: Mapping[str, float | str] = field(default_factory=dict)
    coordinates: str | None = None
    engine: str | None = None
    folder: Path | None = None
    pictures: Pictures = field(default_factory=Pictures)
    animation: str = "html"
    csv: bool = False
    save: bool = True
    reactions: bool = False
    motors: bool = False

    def completed(self, model: Described) -> Wanted:
        """The same with what the file of the model says of its runs, and the usual for the rest.

        Raises:
            BielaError: The file says something that is no time or number.
        """
        return replace(
            self,
            time=first(self.time, number_in_run(model, "duration"), default=5.0),
            step=number_in_run(model, "step") if self.step is None else self.step,
            formulation=self.formulation or text_in_run(model, "formulation") or "",
            integrator=self.integrator or text_in_run(model, "integrator") or "",
            tolerance=self._tolerance(model),
            pictures=replace(
                self.pictures.named(lambda name: full_name(model, name)),
                traced=paths_in_run(model),
            ),
        )

    def _tolerance(self, model: Described) -> float | None:
        """That given, or that of the file for steps which are not fixed."""
        fixed = self.step is not None or number_in_run(model, "step") is not None
        own = None if fixed else number_in_run(model, "tolerance", "none")
        return own if self.tolerance is None else self.tolerance


def run(file: Path, model_name: str | None, wanted: Wanted) -> int:
    """Simulate, print a summary and write the files; the exit code.

    Raises:
        BielaError: Something cannot be done as asked.
    """
    out = console()
    model, parameters = with_values(model_in(file, model_name), wanted.parameters)
    wanted = replace(wanted, parameters=parameters or {}).completed(model)
    names = [*wanted.pictures.channels]
    if wanted.motors:
        names += motor_coordinates(bodies_of(model, "--motors")).values()
    if wanted.reactions:
        bodies_of(model, "--reactions")
    with out.status(f"preparing {model.name}") as status:
        simulator = _simulator(model, wanted, names, status.update)
        moment = _load(simulator, wanted)
    if moment is not None:
        wanted.pictures.check(moment)
    folder = wanted.folder or Path("out") / output_name(file, model_name)
    make_folder(folder, ResultsError)
    left = Left()
    with kept(folder / "results.npz") as record:
        results = _simulated(simulator, wanted, first(wanted.time, default=5.0))
        if wanted.save or results.interrupted:
            record.hold(results)
            left.paths.append(results.save(folder / "results.npz"))
    out.print(
        f"\n[bold]{escape(model.name)}[/bold] simulated for {results.t[-1] - results.t[0]:g} s"
    )
    out.print(pairs(_summary(model, simulator, results, wanted)))
    if results.interrupted:
        where = shown_path(left.paths[0])
        text = f"\nInterrupted at {results.t[-1]:.4g} s: what was computed is in {where}"
        out.print(text, markup=False, soft_wrap=True)
        return 130
    if wanted.reactions:
        loaded = bodies_of(model, "--reactions")
        left.make("--reactions", lambda: write_reactions(loaded, results, folder))
    if wanted.motors:
        driven = bodies_of(model, "--motors")
        left.make("--motors", lambda: write_motors(driven, results, folder))
    try:
        _pictures(left, results, wanted, folder)
    except KeyboardInterrupt:
        there = [f"the results are in {shown_path(path)}" for path in left.paths[:1]]
        where = there[0] if there else "nothing was kept"
        out.print(f"\nInterrupted while drawing: {where}", markup=False, soft_wrap=True)
        return 130
    if wanted.animation and results.scene is None:
        out.print("\nNothing to animate: the model has no points but its origin.")
    left.tell()
    return 0


def _simulator(
    model: Described, wanted: Wanted, names: Iterable[str], say: Callable[[str], object]
) -> bl.Simulator:
    """The prepared model, by the engine and in the coordinates that are wanted.

    Joint coordinates among the names are channels, whichever coordinates the equations have.
    """
    formulation, method = wanted.formulation or None, wanted.integrator or None
    if not isinstance(model, bl.Model):
        system = system_of(model, wanted.coordinates)
        return bl.Simulator(system, formulation, method, engine=wanted.engine)
    own = model.run.get("coordinates")
    coordinates = wanted.coordinates or (None if own is None else str(own))
    unusual = {f"--formulation {formulation}": formulation not in (None, "multipliers")}
    if (
        coordinates == "groups"
        or chosen_engine(wanted.engine, model, coordinates, unusual) == "looped"
    ):
        return bl.Simulator(
            model, formulation, method, coordinates=coordinates, engine=wanted.engine
        )
    seconds = time_to_unroll(model)
    long = f", which takes about {duration(seconds)}" if seconds > PATIENCE else ""
    say(f"deriving and compiling {escape(model.name)}{long}")
    system = joint_channels.measured_system(model, coordinates or "joint", names)
    return bl.Simulator(system, formulation, method)


def _simulated(simulator: bl.Simulator, wanted: Wanted, time: float) -> Results:
    return simulator.run(
        time,
        q=wanted.q,
        v=wanted.v,
        step=wanted.step,
        tolerance=wanted.tolerance,
        parameters=wanted.parameters,
        inputs=wanted.inputs,
    )


def _load(simulator: bl.Simulator, wanted: Wanted) -> Results | None:
    """Simulate a moment: the loading of native code is not measured, and channels are known."""
    if simulator.engine == "groups":
        return None  # which prepares every run anew
    with suppress(bl.BielaError):  # the run itself will say it, with what was asked for
        return _simulated(simulator, wanted, wanted.step or 1e-6 * first(wanted.time, default=5.0))
    return None


def _summary(
    model: Described, simulator: bl.Simulator, results: Results, wanted: Wanted
) -> list[tuple[str, str]]:
    used = simulator.formulation
    if simulator.engine != "unrolled":
        rows = [("engine", simulator.engine), ("bodies", f"{body_count(bodies_of(model, '')):,}")]
        rows.append(("formulation", used))
        return rows + _statistics_rows(results)
    system = simulator.system
    rows = [("coordinates", listed([c.name for c in system.q]))]
    rows.append(("constraints", listed(list(system.multipliers))))
    if system.multipliers:
        found = bl.redundancy(
            system,
            results.q[0],
            parameters=wanted.parameters,
            inputs=wanted.inputs,
            assemble=False,
        )
        rows += mobility_rows(found)
    else:
        rows.append(("mobility", str(len(system.v))))
    rows.append(("formulation", f"{used}: {FORMULATIONS[used]}"))
    return rows + _statistics_rows(results)


def _statistics_rows(results: Results) -> list[tuple[str, str]]:
    """What a run has cost, how exact it is, and its events."""
    rows: list[tuple[str, str]] = []
    statistics = results.statistics
    if statistics is None:
        return rows
    skipped = {"method", "time simulated", "time in all", "faster than real time"}
    rows += [
        (label, text)
        for label, text in statistics.rows()
        if label not in skipped and label not in statistics.more and text != "0"
    ]
    rows += speed_rows(results)
    if results.events:
        events = [f"{event.name} at {event.time:.4g} s" for event in results.events]
        rows.append(("located", listed(events, 4)))
    return rows


def mobility_rows(found: Any) -> list[tuple[str, str]]:
    """Mobility and redundant constraints, of a `Redundancy`."""
    place = "at the start" + (", a singular position" if found.singular else "")
    rows = [("mobility", f"{found.mobility} {place}"), ("redundant", listed(found.dependent))]
    for name, others in zip(found.dependent[:4], found.relations[:4], strict=True):
        rows.append(("", f"{name} depends on {', '.join(others) or 'nothing: its row is zero'}"))
    return rows


def speed_rows(results: Results) -> list[tuple[str, str]]:
    """How fast the integration ran."""
    statistics = results.statistics
    if statistics is None or not statistics.time_integration or not statistics.steps:
        return []
    factor = (statistics.time_simulated or 0.0) / statistics.time_integration
    times = f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"
    text = f"{times} × real time"
    if statistics.steps + 1 >= len(results):  # else it is the storing in between that takes time
        text += f", {duration(statistics.time_integration / statistics.steps)} a step"
    return [("speed", text)]


def _pictures(left: Left, results: Results, wanted: Wanted, folder: Path) -> None:
    """Write what was asked for besides the results."""
    if wanted.csv:
        path, columns = folder / "results.csv", wanted.pictures.columns
        left.make("--csv", lambda: [results.to_csv(path, *columns(results))])
    if wanted.pictures.wanted:
        wanted.pictures.draw(left, results, folder)
        if results.monitors:
            left.make("monitors.png", lambda: [_monitors(results, folder / "monitors.png")])
    if wanted.animation and results.scene is not None:
        film = folder / f"animation.{wanted.animation}"
        left.make(film.name, lambda: [animate(results, film, wanted.pictures.trace)])


def _monitors(results: Results, path: Path) -> Path:
    results.plot_monitors(save=path)
    return path
