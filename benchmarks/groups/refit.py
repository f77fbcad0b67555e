"""Which formulation is fastest on which mechanism, and the rule of "auto" fitted to it.

    python -m benchmarks.groups.refit            measure, fit, write the rule, judge it
    python -m benchmarks.groups.refit --judge    measure, and judge the rule as it stands

All formulations run on the mechanisms of the gallery that have drivers and on the examples of
groups, over 2,001 instants of what their file runs, as `group_kinematics` does it: with closed
forms, one step more than needed, and the motion of all bodies.  Times are those of the run itself,
CPU seconds an instant, the least of rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.groups.rounds import least
from biela.analysis.groups.finding import structural_groups
from biela.analysis.groups.formulations import FORMULATIONS
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.whole import whole_structure
from biela.cli.run_table import number_in_run
from biela.equations.groups.lowering import Iteration
from biela.equations.groups.structure import Structure
from biela.errors import BielaError
from biela.model import Model
from biela.model.files import load
from examples.groups import four_bar, four_bar_chain, spatial_slider, stewart_actuators
from examples.groups import truck_suspension as truck

GALLERY = Path(__file__).parents[2] / "examples" / "mechanisms"
INSTANTS = 2001


@dataclass(frozen=True)
class Measured:
    """A mechanism, and microseconds an instant by formulation; what failed is left out."""

    name: str
    planar: bool
    gallery: bool
    #: Of every kind: how many groups, bodies of one, drivers of one.
    kinds: list[tuple[int, int, int]]
    times: dict[str, float]
    failed: dict[str, str]


def mechanisms() -> Iterator[tuple[str, Model, float, bool]]:
    """Name, model, duration, and whether it is of the gallery."""
    for path in sorted(GALLERY.glob("*.toml")):
        model = load(path)
        if model.drivers:
            yield path.stem, model, number_in_run(model, "duration") or 1.0, True
    yield "groups: four_bar", four_bar.four_bar(), 1.0, False
    yield "groups: chain of 100", four_bar_chain.four_bar_chain(100), 18.0, False
    yield "groups: slider", spatial_slider.spatial_slider(), 0.26, False
    yield "groups: fan of 20", spatial_slider.fan(20), 18.0, False
    yield "groups: Stewart, led", stewart_actuators.led(), 2.0, False
    yield "groups: Stewart, lengths", stewart_actuators.by_lengths(), 2.0, False
    yield "groups: truck", truck.truck_suspension(2), 1.0, False


def measure(name: str, model: Model, duration: float, gallery: bool, rounds: int) -> Measured:
    """All formulations of a mechanism."""
    structure = structural_groups(model)
    made: dict[str, GroupSolver] = {}
    failed: dict[str, str] = {}
    t = np.linspace(0.0, duration, INSTANTS)
    for formulation in FORMULATIONS:
        try:
            solver = _prepared(model, structure, formulation)
            solver.run(t[:41], progress=False)
            made[formulation] = solver
        except BielaError as error:
            failed[formulation] = str(error)
    counts = {k: 201 if FORMULATIONS[k].whole else INSTANTS for k in made}

    def seconds(formulation: str) -> float:
        count = counts[formulation]
        run = made[formulation].run(t[:count], progress=False)
        return run.cpu_run / count

    runs: dict[str, Any] = {}
    for formulation in list(made):
        try:
            seconds(formulation)
        except BielaError as error:
            failed[formulation] = str(error)
            continue
        runs[formulation] = lambda f=formulation: seconds(f)
    times = {k: v * 1e6 for k, v in least(runs, rounds).items()}
    kinds = [
        (len(table.groups), table.bodies.shape[1], len(table.example.drivers))
        for table in structure.tables.values()
    ]
    return Measured(name, model.plane is not None, gallery, kinds, times, failed)


def _prepared(model: Model, structure: Structure, name: str) -> GroupSolver:
    chosen = FORMULATIONS[name]
    return GroupSolver(
        model,
        whole_structure(model, structure) if chosen.whole else structure,
        coordinates=chosen.coordinates,  # type: ignore[arg-type]
        convective=chosen.convective,  # type: ignore[arg-type]
        solver=chosen.solver,  # type: ignore[arg-type]
        iteration=Iteration(tolerance=1e-10, polish=1),
    )


def table(found: list[Measured]) -> str:
    """Microseconds an instant, as Markdown."""
    names = list(FORMULATIONS)
    lines = ["| mechanism | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for m in found:
        best = min(m.times.values())
        cells = [
            "–"
            if n not in m.times
            else f"**{m.times[n]:.3g}**"
            if m.times[n] == best
            else f"{m.times[n]:.3g}"
            for n in names
        ]
        lines.append(f"| {m.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="leave the rule as it stands")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="*", default=[], help="some mechanisms, by name")
    parser.add_argument("--save", type=Path, help="write what was measured to a file of JSON")
    options = parser.parse_args()
    found = []
    for name, model, duration, gallery in mechanisms():
        if options.only and name not in options.only:
            continue
        try:
            found.append(measure(name, model, duration, gallery, options.rounds))
        except BielaError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        times = ", ".join(f"{k} {v:.3g}" for k, v in found[-1].times.items())
        print(f"{name}: {times}", file=sys.stderr, flush=True)
        if options.save:
            options.save.write_text(json.dumps([asdict(m) for m in found], indent=1))
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
