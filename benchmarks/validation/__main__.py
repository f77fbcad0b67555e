"""Write how well simulated motions meet what is known of them to docs/validation.md.

python -m benchmarks.validation            # write the page; takes a few minutes
python -m benchmarks.validation --print    # to the terminal instead
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

import biela as bl
from benchmarks.validation.measurements import (
    FIXED_STEP,
    andrews_error,
    drift,
    fastest,
    observed_orders,
    row,
    work_precision,
)
from benchmarks.validation.problems import PROBLEMS, at_times, derived, solved
from biela.analysis import FORMULATIONS
from examples.mechanisms import governor

PAGE: Final = Path(__file__).parents[2] / "docs" / "validation.md"

ANDREWS, GOVERNOR = "Andrews' squeezer, 0.03 s", "Flyball governor (A05, stiff), 0.5 s"
ORDERS: Final = {
    "Slider–crank, 1 s": 0.1,
    "Bricard (A04, redundant), 1 s": 0.5,
    "Rolling disc (non-holonomic), 5 s": 0.1,
}  # and the part of the duration
MAIN: Final = (
    "problem", "integrator", "steps / failed", "evaluations", "ms", "drift of energy",
    "Φ / Φ'", "order, a tenth", "order, a half", "error", "digits", "against",
)  # fmt: skip
WORK: Final = ("formulation", "integrator", "accuracy", "error", "steps", "evaluations", "ms")
#: A published work–precision figure for Andrews' mechanism: error and time, s.
TARGET: Final = (4e-9, 3e-3)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def orders() -> str:
    rows = []
    for method, order in FIXED_STEP.items():
        seen = [
            f"{observed_orders(PROBLEMS[name], method, part)[-1]:.2f}"
            for name, part in ORDERS.items()
        ]
        rows.append([method, str(order), *seen])
    return table(["method", "order", *(name.rsplit(",", 1)[0] for name in ORDERS)], rows)


def formulations() -> str:
    rows = []
    for name in ("Four-bar, 2 s", "Slider–crank, 1 s", "Bricard (A04, redundant), 1 s"):
        problem = PROBLEMS[name]
        given = {k: v for k, v in problem.run.items() if k in ("q", "v", "output")}
        for formulation in FORMULATIONS:
            made = bl.Simulator(derived(problem.model), formulation)
            run = {**given, "step": problem.duration / 4000}
            r = made.run(problem.duration, **run)
            time = fastest(made, problem.duration, **run)
            rows.append(
                [name, formulation, f"{problem.error(r):.1e}", f"{drift(r, 'energy'):.1e}",
                 f"{r['constraint error'].max():.1e}", f"{1e3 * time:.2f}"]
            )  # fmt: skip
    return table(["problem", "formulation", "error", "drift of energy", "Φ", "ms"], rows)


def andrews_runs() -> list[list[str]]:
    tolerances = [{"tolerance": 10.0**-k} for k in range(6, 13)]
    runs = [(name, options) for name in ("dormand_prince", "adams") for options in tolerances]
    runs += [("radau", options) for options in tolerances[:5]]
    runs += [("rk4", {"step": 0.03 / n}) for n in (500, 1000, 2000, 4000, 8000)]
    return work_precision(PROBLEMS[ANDREWS], andrews_error, runs, ("multipliers", "index3"))


def governor_runs() -> list[list[str]]:
    runs: list[tuple[str, Mapping[str, float]]] = [
        (name, {"tolerance": 10.0**-k})
        for name in ("radau", "dormand_prince", "adams")
        for k in (6, 8, 10)
    ]
    runs += [("rk4", {"step": 0.5 / n}) for n in (2500, 10000, 40000)]
    problem = PROBLEMS[GOVERNOR]
    last = {0.5: governor.REFERENCE[0.5]}
    return work_precision(problem, partial(at_times, last), runs)


def verdict(rows: Sequence[Sequence[str]]) -> str:
    """The fastest run that is as accurate as the published one."""
    error, time = TARGET
    good = [cells for cells in rows if cells[3] != "diverges" and float(cells[3]) <= error]
    best = min(good, key=lambda cells: float(cells[-1]))
    met = "met" if float(best[-1]) <= 1e3 * time else "NOT met"
    return (
        f"\nAn error of {error:g} in at most {1e3 * time:g} ms is {met}: {best[0]} with\n"
        f"{best[1]}, {best[2]}, has an error of {best[3]} in {best[-1]} ms.\n"
    )


def page() -> str:
    squeezer = andrews_runs()
    host = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return TEXT.format(
        main=table(MAIN, [row(problem) for problem in PROBLEMS.values()]),
        orders=orders(),
        formulations=formulations(),
        andrews=verdict(squeezer) + "\n" + table(WORK, squeezer),
        governor=table(WORK, governor_runs()),
        host=host,
        passes=passes(),
    )


def passes() -> int:
    """How often 40 four-bars are in line."""
    height = np.sin(solved(PROBLEMS["40 four-bars (A02), 20 s"])["theta0"])
    return int((height[:-1] * height[1:] < 0).sum())


TEXT: Final = """\
# Validation of simulated motion

Simulated mechanisms against closed forms and published figures. Every mechanism is built from
solids and bases (`examples/mechanisms`, `examples/symbolic`), never from typed-in equations. The
problems A01 to A05 are those of the IFToMM library of computational benchmarks.

This page is written by

    python -m benchmarks.validation

and the same problems, with bounds on their errors, are tests
(`tests/analysis/test_validation.py`). Times are those of the integration, the least of several
runs, on {host}, which other
work shared; they are shown, not tested.

## Accuracy

*Drift of energy* is the range of the energy over that of the kinetic energy (of the governor, whose
dampers take energy away, the relative range of the angular momentum). *Φ / Φ'* are the largest
violations of the constraints, of positions and of velocities, at the stored instants. *Order* is
that of rk4, see below. *Error* is the largest absolute one over all that
is known (rad, m, and rad/s or m/s where velocities are published), *digits* its logarithm.

{main}
The mechanism of 40 four-bars passes the line position, where its mobility jumps from 1 to 41,
{passes} times in 20 s, and starts in it in the last row; it stays on the branch of the
parallelogram.

## Order of convergence

By one rule for all problems: over the first tenth of the duration, and over the first half, the
step is halved, from 5 steps on up to 10 times, and the order is the logarithm of the ratio of
successive changes of the last state. Steps with which a run diverges are passed over, and halving
ends when the change falls below 1e-11 of the state; the last two orders found are shown. Neither
interval suits all problems: in a tenth, Bricard and Stewart are at rounding at once; in a half,
fast mechanisms are still on the way to their final order. Besides:

* the Euler angles of the steady top are linear in time: any method is exact up to rounding;
* the governor is stiff: between steps that are unstable and changes that are rounding there is
  room for few halvings, which do not show an order;
* from a start exactly in line the order is 2: the constraints there do not fix the accelerations
  of the branch (from an angle of 0.001 rad it is 4).

Methods of fixed step on constrained mechanisms (the last order found; Bricard in a half, the others
in a tenth):

{orders}
## Formulations

The same motions by all formulations with 4000 steps and default options: rk4, or the method of
order two of the formulations of index three that have their own. Without projections (Baumgarte,
penalty) constraints are met as well as their stabilisation allows.

{formulations}
## Andrews' squeezing mechanism: work and precision

Largest relative error of the seven positions at 0.03 s, and the time of the run, fastest first.
{andrews}
## The stiff governor: implicit and explicit methods

Largest error at 0.5 s, fastest first.

{governor}"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/validation.md.")
    parser.add_argument("--print", action="store_true", help="print the page instead")
    text = page()
    if parser.parse_args().print:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
