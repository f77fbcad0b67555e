"""The page of the large mechanisms: ``python -m benchmarks.large_mechanisms.tables``.

Writes ``docs/large-tables.md`` and its pictures in ``docs/images``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

import biela as bl
from benchmarks.large_mechanisms.cases import CASES, Case
from benchmarks.large_mechanisms.runs import Outcome, Prepared, integrate, prepare
from benchmarks.large_mechanisms.solves import dependent_matrix, middle, square_rows
from benchmarks.large_mechanisms.structure import (
    automatic,
    counts,
    families,
    orders,
    section,
)
from benchmarks.sparse_blocks import block_times
from biela.analysis.orderings import draw_ordering_study, study_orderings
from biela.errors import SingularityError
from biela.results.style import COLORS, finish, new_figure, plain_axes, styled
from examples.large import five_bars, vehicle

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "large-tables.md"
IMAGES = DOCS / "images"
#: Instants of a run that are kept.
INSTANTS = 240

INTRODUCTION = """\
# Large mechanisms

Four mechanisms in natural and relative coordinates, laid by hand in `examples/large`: a pendulum of
five bars, a tether of ten bodies with springs, Bricard's mechanism in two models, and a car. They
are those of a thesis on the reordering of sparse matrices for the dynamics of multibody systems,
whose figures stand beside ours. Written by `python -m benchmarks.large_mechanisms.tables`.
"""

Runs = dict[str, tuple[Prepared, dict[str, Outcome]]]


def all_runs(cases: Iterable[Case], repeats: int = 3) -> Runs:
    """Each case with the reordered and with the full matrix, the fastest of some runs."""
    found: Runs = {}
    for case in cases:
        ready = prepare(case)
        full = prepare(case, "dense", system=ready.system)
        outcomes: dict[str, list[Outcome]] = {"reordered": [], "full": []}
        for _ in range(repeats):
            # taking turns, since other work shares the machine
            outcomes["reordered"].append(integrate(ready, INSTANTS))
            outcomes["full"].append(integrate(full, INSTANTS))
        best = {k: min(some, key=lambda run: run.seconds) for k, some in outcomes.items()}
        found[case.name] = ready, best
        print(f"ran {case.name}")
    return found


def runs(found: Runs) -> str:
    """Steps, violations, energies and times of the runs."""
    rows = []
    for case in CASES:
        _, best = found[case.name]
        run, full, printed = best["reordered"], best["full"], case.published
        change = f"{run.energy_change:.1e}" if case.name != "vehicle" else "damped"
        rows.append(
            (
                case.name,
                f"{'ode45' if case.method == 'dormand_prince' else 'ode113'}, {case.tolerance:g}, "
                f"{case.duration:g} s",
                f"{run.steps} / {run.failed} / {run.evaluations}",
                f"{printed.steps} / {printed.evaluations}",
                f"{run.violation.max():.0e}",
                change,
                f"{full.seconds:.3g} s, {run.seconds:.3g} s",
                f"{run.seconds / run.evaluations * 1e6:.3g} µs",
                f"{run.seconds / case.duration:.2g}",
                f"{printed.real_time:g}",
            )
        )
    heads = ("model", "run", "steps / failed / evaluations", "printed: steps / evaluations", "Φ")
    heads += ("change of energy", "integration: full, reordered", "an evaluation")
    heads += ("of real time", "printed")
    return section(
        "Runs",
        heads,
        rows,
        "Velocity projection: relative coordinates are independent, in the car the struts and the "
        "chassis; accelerations come from RᵀMR z̈ = Rᵀ(Q - M S c), and Newton's method corrects "
        "the dependent positions in every evaluation. Error norm and step control are those of "
        "ode45 and ode113. *Φ* is the largest violation of a constraint, *of real time* the time "
        "of the integration on one core, reordered, over the time simulated; below 1 is faster "
        "than real time. *Full* is a dense LU with partial pivoting. Where the source gives no "
        "numbers (tether, vehicle) ours are another problem with the same equations, and their "
        "steps do not compare. In the car the dampers take energy away.",
        "![Energies and violations of the constraints over time](images/large-histories.png)",
    )


def uncorrected() -> str:
    """Index 2 without Newton's correction: what drifts."""
    rows = []
    for case in CASES:
        if case.driver != "index 2":
            continue
        system = case.layout().system()
        for index in (3, 2):
            run = integrate(prepare(case, index=index, system=system))
            rows.append(
                (
                    case.name,
                    "corrected" if index == 3 else "not corrected",
                    f"{run.steps} / {run.failed} / {run.evaluations}",
                    f"{run.violation.max():.1e}",
                    f"{run.energy_change:.1e}",
                )
            )
    heads = ("model", "positions", "steps / failed / evaluations", "Φ", "change of energy")
    return section("With and without the correction of positions", heads, rows)


def in_joint_coordinates(repeats: int = 5) -> str:
    """The bars as bodies and joints, in the default coordinates and formulation."""
    rows = []
    for case, model in (
        (CASES[0], five_bars.pendulum_bodies()),
        (CASES[2], five_bars.bricard_bodies()),
    ):
        simulator = bl.Simulator(model)
        runs = [
            simulator.run(case.duration, tolerance=case.tolerance, output=0.1).statistics
            for _ in range(repeats)
        ]
        best = min(run.time_integration or np.inf for run in runs)
        counted = f"{runs[0].steps} / {runs[0].failed_steps} / {runs[0].evaluations}"
        share = f"{best / case.duration:.2g}"
        rows.append((case.name, counted, f"{best * 1e3:.3g} ms", share))
    return section(
        "The same bars in joint coordinates",
        ("model", "steps / failed / evaluations", "integration", "of real time"),
        rows,
        "Bodies and joints, Lagrange multipliers with projections: what `bl.simulate` does if "
        "nothing else is asked for.",
    )


def check_values() -> str:
    """Positions and angles against figures that were found by another program."""
    rows = []
    for case, duration, known in (
        (CASES[0], 2.0, {t: (*tip, *angles) for t, (tip, angles) in five_bars.PENDULUM.items()}),
        (
            CASES[2],
            5.0,
            {t: (*p3, a, b, a, b, a) for t, (p3, a, b, _) in five_bars.BRICARD.items()},
        ),
    ):
        ready = prepare(replace(case, duration=duration, tolerance=1e-10))
        run = integrate(ready, round(duration / 0.25))
        names = [entry.name for entry in ready.system.q]
        point = "p5" if case.name != "Bricard" else "p3"
        wanted = [f"{point}.{axis}" for axis in "xyz"] + list(five_bars.angles())
        for t, values in known.items():
            k = int(np.argmin(np.abs(run.t - t)))
            off = np.abs([run.q[k, names.index(n)] for n in wanted] - np.array(values)).max()
            rows.append((case.name, f"{t:g} s", f"{off:.1e}"))
    return section(
        "Check values",
        ("model", "at", "largest difference, m or rad"),
        rows,
        "Against six digits of a program of its own: place of the tip (of p3) and all angles.",
    )


def solves(found: Runs, quick: bool = False) -> str:
    """Factor and four solutions by all who can."""
    rows = []
    for case in CASES:
        ready, best = found[case.name]
        q = middle(best["reordered"])
        rank = square_rows(case, ready.system, q)
        kinds = [(case.name, None)]
        if len(rank) < len(ready.system.multipliers):
            kinds.append((f"{case.name}, independent rows", rank))
        for name, kept in kinds:
            matrix = dependent_matrix(case, ready.system, q, "RB3", kept)
            times = block_times(name, matrix, quick)
            klu = [t for k, t in times.items() if k.startswith("KLU")]
            other = dependent_matrix(case, ready.system, q, "P5", kept)
            try:
                with_p5 = f"{block_times(name, other, quick)['biela']:.3g} µs"
            except SingularityError:
                with_p5 = "singular blocks"
            rows.append(
                (
                    name,
                    f"{matrix.shape[0]} × {matrix.shape[1]}, {len(matrix.rows)}",
                    f"{times['biela']:.3g} µs",
                    with_p5,
                    f"{times['LAPACK']:.3g} µs",
                    f"{min(klu):.3g} µs" if klu else "–",
                    f"{times['LAPACK'] / times['biela']:.1f}",
                    f"{case.published.solve_speed_up:g}",
                    f"{min(klu) / times['biela']:.1f}" if klu else "–",
                )
            )
            print(f"solved {name}")
    heads = ("model", "Φ_q^d, entries", "RB3 and blocks", "P5 and blocks", "LAPACK", "KLU")
    heads += ("over LAPACK", "printed: over full", "over KLU")
    return section(
        "Solves",
        heads,
        rows,
        "One factorisation and four solutions in a position in the middle of the run, all from "
        "native loops on the same values; LAPACK takes the full matrix (QR where rows are "
        "redundant), KLU refactors with a symbolic analysis that is kept (the better of AMD and "
        "COLAMD). Orders are found before the run: RB3 looks ahead, and at the values at the "
        "start. With P5 some blocks of closed chains are singular; their columns are moved to the "
        "border while they are.",
    )


def histories(found: Runs, path: Path) -> None:
    """Energies and violations over time, a panel each."""
    with styled():
        figure = new_figure(10.0, 5.2)
        for k, case in enumerate(CASES):
            run = found[case.name][1]["reordered"]
            energy, error = figure.add_subplot(2, 4, k + 1), figure.add_subplot(2, 4, k + 5)
            stored = run.energy[1] + run.outputs.sum(axis=1)
            lines = {"kinetic": run.energy[0], "potential": stored, "total": run.energy[0] + stored}
            for color, (name, values) in zip(COLORS, lines.items(), strict=False):
                energy.plot(run.t, values, color=color, label=name)
            energy.set_title(case.name)
            error.semilogy(run.t, np.maximum(run.violation, 1e-18), color=COLORS[0])
            error.set_xlabel("t, s")
            error.set_ylim(1e-18, 1e-10)
            for axes in (energy, error):
                plain_axes(axes)
            if not k:
                energy.set_ylabel("energy, J")
                error.set_ylabel("largest |Φ|")
        figure.legend(
            *energy.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
        )
        finish(figure, path)


def pictures(found: Runs) -> str:
    """Spy plots before and after, and histories."""
    IMAGES.mkdir(exist_ok=True)
    histories(found, IMAGES / "large-histories.png")
    shown = {
        "pendulum": (five_bars.pendulum, CASES[0].independent),
        "tether": (CASES[1].layout, CASES[1].independent),
        "bricard": (five_bars.bricard_closed, ("theta5",)),
        "vehicle": (vehicle.vehicle, vehicle.INDEPENDENT),
        "vehicle-opened": (vehicle.opened, (*vehicle.INDEPENDENT, *vehicle.OPENED)),
    }
    lines = ["## The Jacobians, before and after", ""]
    for name, (make, independent) in shown.items():
        study = study_orderings(make(), independent=independent)
        draw_ordering_study(study, IMAGES / f"large-{name}.png")
        lines += [f"![Orders of {study.name}](images/large-{name}.png)", ""]
    return "\n".join(lines)


def main() -> None:
    found = all_runs(CASES)
    parts = [INTRODUCTION, counts(), automatic(), orders(), families(), check_values()]
    parts += [runs(found), uncorrected(), in_joint_coordinates(), solves(found), pictures(found)]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
