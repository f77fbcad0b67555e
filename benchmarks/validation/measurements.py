"""What is measured of a run: order of convergence, drift, error, cost and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

import biela as bl
from benchmarks.validation.problems import Problem, derived, simulator, solved
from biela.errors import SimulationError
from examples.mechanisms import andrews

#: Methods of fixed step, and their orders.
FIXED_STEP: Final = {
    "explicit_euler": 1,
    "semi_implicit_euler": 1,
    "second_order_euler": 1,
    "heun": 2,
    "trapezoidal": 2,
    "rk4": 4,
}


#: One rule for all problems: first number of steps, halvings, and the change over the state
#: below which rounding decides.
FIRST_STEPS, HALVINGS, FLOOR = 5, 10, 1e-11


def observed_orders(problem: Problem, method: str = "rk4", part: float = 0.1) -> list[float]:
    """The orders seen while the step is halved, until the changes come near rounding.

    The interval is the first ``part`` of the duration; steps with which the run diverges are passed
    over. Nothing is chosen by problem.
    """
    duration = problem.duration * part
    made = simulator(problem, method)
    given = {k: v for k, v in problem.run.items() if k in ("q", "v", "parameters")}
    ends: list[Any] = []
    for k in range(HALVINGS + 1):
        try:
            r = made.run(duration, step=duration / (FIRST_STEPS * 2**k), **given)
        except SimulationError:
            ends.clear()
            continue
        end = np.concatenate([r.q[-1], r.v[-1]])
        if np.abs(end).max() > 1e6:  # on its way to infinity
            ends.clear()
            continue
        ends.append(end)
    if not ends:
        return []
    floor = FLOOR * float(np.linalg.norm(ends[-1]))
    changes = [float(np.linalg.norm(b - a)) for a, b in pairwise(ends)]
    above = changes[: next((i for i, c in enumerate(changes) if c < floor), None)]
    return [math.log2(a / b) for a, b in pairwise(above)]


def drift(r: bl.Results, conserved: str) -> float:
    """The change of what should stay, over the range of the kinetic energy or over itself."""
    values = r[conserved]
    scale = np.ptp(r["kinetic energy"]) if conserved == "energy" else abs(values[0])
    scale = scale if scale > 1e-6 * np.abs(values).max() else np.abs(values).max()
    return float(np.ptp(values) / scale)


def fastest(made: bl.Simulator, duration: float, repeats: int = 5, **run: Any) -> float:
    """The least time of a run in the integrator, s."""
    times = [made.run(duration, **run).statistics for _ in range(repeats)]
    return min(s.time_integration or 0.0 for s in times if s is not None)


def row(problem: Problem) -> list[str]:
    r = solved(problem)
    s = r.statistics
    assert s is not None
    error = problem.error(r)
    order = [
        ", ".join(f"{x:.2f}" for x in observed_orders(problem, part=part)[-2:]) or "–"
        for part in (0.1, 0.5)
    ]
    time = fastest(simulator(problem), problem.duration, 3, **problem.run)
    constraints = [r[name].max() for name in ("constraint error", "velocity error") if name in r]
    return [
        problem.name, s.integrator, f"{s.steps} / {s.failed_steps}", str(s.evaluations),
        f"{1e3 * time:.2f}", f"{drift(r, problem.conserved):.1e}",
        " / ".join(f"{x:.0e}" for x in constraints) or "–", *order, f"{error:.1e}",
        f"{-math.log10(max(error, 1e-16)):.1f}", problem.reference,
    ]  # fmt: skip


def andrews_error(r: bl.Results) -> float:
    """The largest relative error of the positions at 0.03 s."""
    exact = andrews.REFERENCE[0.03]
    names = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
    return float(max(abs(r[name][-1] / exact[name] - 1) for name in names))


def work_precision(
    problem: Problem,
    error: Callable[[bl.Results], float],
    runs: Sequence[tuple[str, Mapping[str, float]]],
    formulations: Sequence[str] = ("multipliers",),
) -> list[list[str]]:
    """Error, cost and time of several integrators and accuracies, fastest first."""
    found: list[tuple[float, list[str]]] = []
    for formulation in formulations:
        for integrator, options in runs:
            made = bl.Simulator(derived(problem.model), formulation, integrator)
            run: dict[str, Any] = {"output": problem.duration, **options}
            try:
                r = made.run(problem.duration, **run)
            except bl.BielaError:
                found.append(
                    (math.inf, [formulation, integrator, _shown(options)] + 4 * ["diverges"])
                )
                continue
            s = r.statistics
            assert s is not None
            time = fastest(made, problem.duration, **run)
            cells = [formulation, integrator, _shown(options), f"{error(r):.1e}", str(s.steps)]
            found.append((time, [*cells, str(s.evaluations), f"{1e3 * time:.2f}"]))
    return [cells for _, cells in sorted(found, key=lambda pair: pair[0])]


def _shown(options: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in options.items())
