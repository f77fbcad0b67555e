"""Which formulation is fastest on which mechanism, and the rule of "auto" fitted to it.

    python -m benchmarks.groups.refit            measure, fit, write the rule, judge it
    python -m benchmarks.groups.refit --judge    measure, and judge the rule as it stands

All formulations run on the mechanisms of the gallery that have drivers and on the examples of
groups, over 2,001 instants of what their file runs, as `group_kinematics` does it: with closed
forms, one step more than needed, and the motion of all bodies.  Times are those of the run itself,
CPU seconds an instant, the least of rounds in which all take turns.

What was found so far: natural coordinates are within 1.1 of the best throughout.  Where relative
coordinates are faster (arms, delta: bodies that driven joints place) it is by less than a tenth;
where they are slower (rods between balls, the truck) it is by half.  The operations of the kernels
say the same.  A rule that takes relative coordinates for large groups gained 7 % on the delta robot
and lost 60 % on the truck, whose largest group has four bodies as well.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.groups.rounds import least
from biela.analysis.groups import choice
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
#: Time of what is chosen over the best, on every mechanism of the gallery.
LIMIT = 1.3
#: Ratios of times that differ by less are alike.
NOISE = 0.1


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
    yield "groups: chain of 20", four_bar_chain.four_bar_chain(20), 18.0, False
    yield "groups: slider", spatial_slider.spatial_slider(), 0.26, False
    yield "groups: fan of 10", spatial_slider.fan(10), 18.0, False
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


# --- the rule -------------------------------------------------------------------------------------

#: Those that a rule may choose: the others solve all bodies at once, which is slower throughout.
GROUPS = tuple(name for name, f in FORMULATIONS.items() if not f.whole)
RULE = Path(choice.__file__)


def largest(m: Measured) -> int:
    """Bodies of the largest group."""
    return max(bodies for _, bodies, _ in m.kinds)


def worst(found: list[Measured], formulation: str) -> tuple[float, float]:
    """Time over the best of a mechanism: the largest, and the mean."""
    ratios = [m.times.get(formulation, np.inf) / min(m.times.values()) for m in found]
    return (max(ratios), float(np.mean(ratios))) if ratios else (1.0, 1.0)


def best(found: list[Measured]) -> str:
    """The formulation whose largest ratio is least, and of those alike the first.

    Ratios that differ by less than `NOISE` are alike: the kernels are often the same ones.
    """
    least_worst = min(worst(found, name)[0] for name in GROUPS)
    return next(name for name in GROUPS if worst(found, name)[0] <= least_worst + NOISE)


def fitted(found: list[Measured]) -> dict[str, str | int]:
    """The constants of `biela.analysis.groups.choice`.

    Of the rules whose worst ratio is alike it is the one with the fewest formulations: what sizes
    seem to tell of a few mechanisms may be wrong of the next.
    """
    plane = [m for m in found if m.planar]
    space = [m for m in found if not m.planar]
    sizes = sorted({largest(m) for m in space})
    tried = []
    for few in (0, *sizes):
        for many in (size for size in (*sizes, sizes[-1] + 1) if size > few):
            parts = [
                [m for m in space if largest(m) <= few],
                [m for m in space if few < largest(m) < many],
                [m for m in space if largest(m) >= many],
            ]
            names = [best(part) if part else best(space) for part in parts]
            scores = [worst(part, name) for part, name in zip(parts, names, strict=True)]
            total = sum(s[1] * len(part) for s, part in zip(scores, parts, strict=True))
            tried.append((max(s[0] for s in scores), total, few, many, names))
    limit = min(tried)[0] + NOISE
    alike = [rule for rule in tried if rule[0] <= limit]
    _, _, few, many, names = min(alike, key=lambda rule: (len(set(rule[4])), *rule[:4]))
    return {
        "PLANE": best(plane),
        "SPACE": names[1],
        "FEW_BODIES": names[0],
        "MANY_BODIES": names[2],
        "FEW": few,
        "MANY": many,
    }


def write(rule: dict[str, str | int]) -> None:
    """Put the constants into the module of the rule."""
    text = RULE.read_text(encoding="utf-8")
    lines = [
        f'{key}: Final = "{value}"' if isinstance(value, str) else f"{key}: Final = {value}"
        for key, value in rule.items()
    ]
    first, last = "# --- written by benchmarks.groups.refit\n", "# --- end\n"
    start, end = text.index(first) + len(first), text.index(last)
    RULE.write_text(text[:start] + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")


def judged(found: list[Measured]) -> str:
    """What the rule takes on every mechanism, and its time over the best, as Markdown."""
    importlib.reload(choice)
    lines = ["| mechanism | auto takes | best | auto over best | ≤ 1.3 |", "|---" * 5 + "|"]
    for m in found:
        taken = choice.formulation_by_size(m.planar, largest(m))
        first = min(m.times, key=m.times.__getitem__)
        ratio = m.times.get(taken, np.inf) / m.times[first]
        verdict = ("yes" if ratio <= LIMIT else "NO") if m.gallery else ""
        lines.append(f"| {m.name} | {taken} | {first} | {ratio:.2f} | {verdict} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", action="store_true", help="leave the rule as it stands")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="*", default=[], help="some mechanisms, by name")
    parser.add_argument("--save", type=Path, help="write what was measured to a file of JSON")
    parser.add_argument("--measured", type=Path, help="such a file, in place of measuring")
    options = parser.parse_args()
    if options.measured:
        rows = json.loads(options.measured.read_text(encoding="utf-8"))
        found = [Measured(**row) for row in rows]
    else:
        found = list(_all(options.only, options.rounds, options.save))
    if not options.judge:
        write(fitted(found))
    print(table(found), judged(found), sep="\n\n")
    return 0


def _all(only: list[str], rounds: int, save: Path | None) -> Iterator[Measured]:
    found = []
    for name, model, duration, gallery in mechanisms():
        if only and name not in only:
            continue
        try:
            found.append(measure(name, model, duration, gallery, rounds))
        except BielaError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        times = ", ".join(f"{k} {v:.3g}" for k, v in found[-1].times.items())
        print(f"{name}: {times}", file=sys.stderr, flush=True)
        if save:
            save.write_text(json.dumps([asdict(m) for m in found], indent=1), encoding="utf-8")
        yield found[-1]


if __name__ == "__main__":
    sys.exit(main())
