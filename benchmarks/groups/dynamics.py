"""Forward dynamics of chains of four-bars by groups against the best general formulation here.

The chain of `benchmarks.large_chain`, which the general formulation integrates in the coordinates
of all bodies with one solution of the saddle-point system a step and positions corrected.  Groups
integrate the one independent angle by Runge and Kutta's method, four evaluations a step, with all
positions solved to 1e-11 in each.  Steps of 1 ms in both.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.groups.growth import linear
from benchmarks.groups.rounds import Run, least
from benchmarks.large_chain.chain import model
from benchmarks.large_chain.comparison import STEP, Chain
from benchmarks.report import Row, against
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.simulation import GroupSimulator
from biela.solvers.integrators import FixedStep

#: Time over that of the best general formulation.
TARGET = 0.5


class ByGroups:
    """The chain by groups, ready to run."""

    def __init__(self, loops: int, coordinates: Coordinates) -> None:
        self.simulator = GroupSimulator(
            model(loops), independent=["cell[0].A.angle"], coordinates=coordinates
        )
        self._integrator = FixedStep(self.simulator.problem, "rk4")
        self.angle = 0.0

    def simulate(self, steps: int) -> float:
        """CPU seconds of so many steps from the start."""
        x = self.simulator.begin()
        start = time.process_time()
        run = self._integrator.run(0.0, x, np.zeros(0), STEP, 1, steps)
        spent = time.process_time() - start
        if self.simulator.failed():
            raise WrongResultError(self.simulator.what_failed())
        self.angle = float(run.x[0])
        return spent


def run(quick: bool) -> Iterator[Row]:
    sizes = (100, 300, 1_000) if quick else (100, 300, 1_000, 3_000, 10_000)
    per_step: dict[int, float] = {}
    for loops in sizes:
        steps = max(10, 100_000 // loops)
        times = step_times(loops, steps, 4 if quick else 8)
        per_step[loops] = min(times["natural"], times["relative"]) / steps
        for name in ("natural", "relative"):
            ns = {k: times[k] / steps / loops * 1e9 for k in (name, "general")}
            measured = f"{ns[name]:.3g} ns a loop and step, general {ns['general']:.3g} ns"
            what = f"chain of {loops:,} four-bars, {name} groups"
            yield against(what, times[name], times["general"], TARGET, measured)
    yield Row("a step by groups over the number of loops", *linear(per_step))


def step_times(loops: int, steps: int, rounds: int) -> dict[str, float]:
    """CPU seconds of so many steps, natural, relative and general.

    Raises:
        WrongResultError: They do not end in one place.
    """
    general = Chain(loops)
    made = {"natural": ByGroups(loops, "natural"), "relative": ByGroups(loops, "relative")}
    candidates: dict[str, Run] = {
        "natural": lambda: made["natural"].simulate(steps),
        "relative": lambda: made["relative"].simulate(steps),
        "general": lambda: general.simulate(steps)[0],
    }
    found = least(candidates, rounds)
    _agree(general, made, steps)
    return found


def _agree(general: Chain, made: dict[str, ByGroups], steps: int) -> None:
    """Compare the angle of the first crank; the general formulation is of second order."""
    _, place, _ = general.simulate(steps)
    angle = -(float(place[0, 2]) + np.pi / 2)
    for name, groups in made.items():
        apart = abs((groups.angle - angle + np.pi) % (2 * np.pi) - np.pi)
        if not apart < 1e-3:
            raise WrongResultError(f"{name} groups end {apart:.1e} rad from the general one")
