"""The fan of spatial sliders in three models of natural coordinates, 24,001 instants.

    one point                C, on the rail by two equations: three unknowns a dyad
    one point and its place  NAT4 of the specification: C and s along the rail
    two points               NAT8: D as well, at a distance from C, and its place; eight unknowns,
                             as many as the source's own model has

The motion is the same in all; what differs is what the equations cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.agreement import WrongResultError
from benchmarks.groups.rounds import Run, least
from benchmarks.groups.slider import POINT, SOURCE
from benchmarks.report import Row
from biela.analysis.groups.coordinates import placed_group
from biela.analysis.groups.run_time_program import MixedProgram
from biela.analysis.groups.solver import GroupSolver
from biela.equations.groups.kernel import GroupEquations
from biela.equations.groups.natural import natural_group
from examples.groups.four_bar_chain import INSTANTS, instants
from examples.groups.spatial_slider import FAN_SPEEDS, fan

Floats = npt.NDArray[np.float64]
#: Settings of `natural_group`.
MODELS: Final[dict[str, dict[str, Any]]] = {
    "one point": {},
    "one point and its place (NAT4)": {"mixed": True},
    "two points (NAT8)": {"mixed": True, "slider": "two_points"},
}
#: Seconds by model, unknowns of a dyad, and speed.
Times = dict[tuple[str, int, str], float]


def run(quick: bool) -> Iterator[Row]:
    times = model_times(10 if quick else 100, 2401 if quick else INSTANTS, 4 if quick else 10)
    for (name, unknowns, speed), seconds in times.items():
        what = f"speed {speed}, {name}, {unknowns} unknowns a dyad"
        yield Row(what, f"{seconds:.3g} s; source, relative, 100 dyads {SOURCE[speed]:g} s")


def solver_of(base: GroupSolver, options: dict[str, Any]) -> GroupSolver:
    """The same solver with another model of the dyads."""
    found = copy(base)
    equations = []
    for cast in base.casts.casts:
        if cast.example.explicit:
            placed = placed_group(cast, "relative", base.poses)
        else:
            placed = natural_group(cast, base.poses, **options)
        equations.append(GroupEquations(placed, base.poses))
    asked = list(base.points.values())
    found.groups = MixedProgram(base.casts, equations, asked, closed_forms=False)
    return found


def _run(solver: GroupSolver, t: Floats) -> Run:
    return lambda: solver.run(t, store="points", progress=False).cpu_run


def model_times(dyads: int, steps: int, rounds: int) -> Times:
    """CPU seconds for 24,001 instants; all models and speeds take turns.

    Raises:
        WrongResultError: The models move differently.
    """
    base = GroupSolver(fan(dyads, 1.0), points=[POINT], bodies=False, closed_forms=False)
    made = {name: solver_of(base, options) for name, options in MODELS.items()}
    found: Times = {}
    for speed, rate in FAN_SPEEDS.items():
        t = rate * instants(steps)
        places = [s.run(t, store="points", progress=False).point(POINT) for s in made.values()]
        for other in places[1:]:
            for part in ("position", "velocity", "acceleration"):
                a, b = (getattr(p, part) for p in (places[0], other))
                if not np.abs(a - b).max() < 1e-6 * (1 + np.abs(a).max()):
                    raise WrongResultError(f"speed {speed}: the models of the slider differ")
        runs = {name: _run(s, t) for name, s in made.items()}
        for name, seconds in least(runs, rounds).items():
            unknowns = max(len(kernel.unknowns) for kernel in made[name].groups.kernels)
            found[name, unknowns, speed] = seconds * INSTANTS / steps
    return found
