"""What the kinematics of a mechanism costs, as its structure, its driver and its solver change.

    python -m benchmarks.groups.cost_simulator          print the table, and draw it

`cost_study` makes random mechanisms and changes one thing at a time: the number of groups, the
bodies of a group, the share of joints that rest on moving bodies, the speed of the driver, the
solver of a group and the formulation.  Times are CPU seconds an instant, the least of some runs
that take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.groups.random_chains import random_mechanism
from benchmarks.groups.rounds import least
from biela.analysis.groups.formulations import FORMULATIONS
from biela.analysis.groups.solver import GroupSolver
from biela.atoms import jacobian
from biela.errors import BielaError
from biela.results.style import COLORS, finish, new_figure, plain_axes, styled

#: Between instants, s.
STEP = 1e-3
#: Random mechanisms that are tried before one that runs is given up.
TRIES = 40


@dataclass(frozen=True)
class Case:
    """A mechanism, and how it is solved."""

    groups: int = 16
    size: int = 2
    density: float = 0.0
    speed: float = 10.0
    solver: str = "auto"
    formulation: str = "natural groups"


@dataclass(frozen=True)
class Cost:
    """What a case took.

    Attributes:
        varied: Which of its settings was changed.
        seconds: Of an instant.
        unknowns: Of the largest group.
        filled: Share of the entries of its Jacobian that are not zero.
        iterations: Steps of Newton's method a group and instant.
    """

    case: Case
    varied: str
    seconds: float
    unknowns: int
    filled: float
    iterations: float


def cost_study(
    *,
    groups: Sequence[int] = (2, 8, 32, 128),
    sizes: Sequence[int] = (2, 4, 6, 8),
    densities: Sequence[float] = (0.0, 0.5, 1.0),
    speeds: Sequence[float] = (0.1, 1.0, 10.0, 100.0, 1000.0),
    solvers: Sequence[str] = ("unrolled", "dense", "sparse"),
    formulations: Sequence[str] = ("natural groups", "relative groups", "reference groups"),
    base: Case | None = None,
    instants: int = 4000,
    rounds: int = 8,
    seed: int = 0,
) -> list[Cost]:
    """Times of random mechanisms, one setting changed at a time from ``base``.

    Args:
        groups: Numbers of groups; in all formulations.
        sizes: Bodies of a group: 2 is a dyad, 4 a triad; in all formulations.
        densities: Shares of outer joints that rest on moving bodies; in all formulations.
        speeds: Of the driver, rad/s; the angle it makes in a step grows with it.
        solvers: Of the linear equations of a group, for all sizes.
        formulations: Names of `FORMULATIONS`.
        base: What is not changed.
        instants: Of a run, 1 ms apart.
        rounds: Runs of which the least counts.
        seed: Of the random numbers.

    Raises:
        RuntimeError: No random mechanism of some settings runs.
    """
    start = base or Case()
    changed = [
        *(("groups", replace(start, groups=n)) for n in groups),
        *(("size", replace(start, size=n)) for n in sizes),
        *(("density", replace(start, density=part)) for part in densities),
        *(("speed", replace(start, speed=rate)) for rate in speeds),
    ]
    wanted = [
        (what, [replace(case, formulation=f) for f in formulations]) for what, case in changed
    ]
    wanted += [("solver", [replace(start, size=n, solver=s) for s in solvers]) for n in sizes]
    return [
        cost
        for varied, cases in wanted
        for cost in _together(varied, cases, instants, rounds, seed)
    ]


def _together(varied: str, cases: list[Case], instants: int, rounds: int, seed: int) -> list[Cost]:
    """Cases of one mechanism, which take turns."""
    t = STEP * np.arange(instants)
    last: BielaError | None = None
    for attempt in range(TRIES):
        one = cases[0]
        model = random_mechanism(one.groups, one.size, one.density, one.speed, seed + attempt)
        try:
            made = [_solver(model, case) for case in cases]
            runs = [solver.run(t, progress=False) for solver in made]
        except BielaError as error:  # a random mechanism may be at a dead point
            last = error
            continue

        def timed(solver: GroupSolver) -> Any:
            return lambda: solver.run(t, progress=False).cpu_run

        times = least({str(k): timed(solver) for k, solver in enumerate(made)}, rounds)
        return [
            Cost(case, varied, times[str(k)] / instants, *_system(made[k]), runs[k].iterations)
            for k, case in enumerate(cases)
        ]
    raise RuntimeError(f"no random mechanism like {cases[0]} runs: {last}")


def _solver(model: Any, case: Case) -> GroupSolver:
    options = {**FORMULATIONS[case.formulation].options(model), "solver": case.solver}
    return GroupSolver(model, bodies=False, closed_forms=False, **options)


def _system(solver: GroupSolver) -> tuple[int, float]:
    """Unknowns of the largest group, and how full its Jacobian is."""
    largest = max(solver.groups.equations, key=lambda e: len(e.x))
    n = len(largest.x)
    nothing = largest.derivation.workspace.atom(0).ref
    J = jacobian(largest.Phi, largest.x).rows
    entries = sum(entry.ref != nothing for row in J for entry in row)
    return n, entries / (n * len(J)) if n else 0.0


def table(costs: Sequence[Cost]) -> str:
    """All cases, as Markdown."""
    lines = [
        "| varied | groups | bodies | on moving bodies | speed | solver | formulation | unknowns | "
        "filled | steps | µs an instant | ns a group |",
        "|---" * 12 + "|",
    ]
    for cost in costs:
        c = cost.case
        lines.append(
            f"| {cost.varied} | {c.groups} | {c.size} | {c.density:g} | {c.speed:g} | {c.solver} | "
            f"{c.formulation} | {cost.unknowns} | {cost.filled:.2f} | {cost.iterations:.2f} | "
            f"{cost.seconds * 1e6:.3g} | {cost.seconds / c.groups * 1e9:.3g} |"
        )
    return "\n".join(lines)


def draw(costs: Sequence[Cost], path: Path) -> None:
    """Time an instant against each setting."""
    panels = (
        ("groups", "groups", "groups", "formulation"),
        ("size", "size", "bodies of a group", "formulation"),
        ("density", "density", "joints on moving bodies", "formulation"),
        ("speed", "speed", "speed of the driver, rad/s", "formulation"),
        ("solver", "size", "bodies of a group", "solver"),
    )
    with styled():
        figure = new_figure(11.0, 6.0)
        for number, (varied, across, label, lines) in enumerate(panels, 1):
            axes = figure.add_subplot(2, 3, number)
            some = [cost for cost in costs if cost.varied == varied]
            for k, name in enumerate(dict.fromkeys(getattr(c.case, lines) for c in some)):
                line = [c for c in some if getattr(c.case, lines) == name]
                x = [getattr(c.case, across) for c in line]
                y = [c.seconds * 1e6 for c in line]
                axes.plot(x, y, "o-", color=COLORS[k], label=name)
            if varied in ("groups", "speed"):
                axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(label)
            if number in (1, 4):
                axes.set_ylabel("µs an instant")
            if number in (1, 5):
                axes.legend(frameon=False, fontsize=8)
            # few decades: plain numbers read better than powers
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}" if _span(some) < 10 else "")
            axes.margins(0.05)
            plain_axes(axes)
        axes = figure.add_subplot(2, 3, 6)
        some = [cost for cost in costs if cost.varied == "size"]
        for k, name in enumerate(dict.fromkeys(c.case.formulation for c in some)):
            line = [c for c in some if c.case.formulation == name]
            axes.plot([c.unknowns for c in line], [c.filled for c in line], "o-", color=COLORS[k])
        axes.set_xlabel("unknowns of a group")
        axes.set_ylabel("share of entries of its Jacobian")
        plain_axes(axes)
        finish(figure, path)


def _span(costs: Sequence[Cost]) -> float:
    """The longest time over the shortest."""
    times = [cost.seconds for cost in costs]
    return max(times) / min(times)


def main() -> None:
    costs = cost_study()
    print(table(costs))
    draw(costs, Path("groups-cost.png"))


if __name__ == "__main__":
    main()
