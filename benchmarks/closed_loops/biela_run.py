"""A mechanism in biela: its symbolic system, a fused step with projections."""

from __future__ import annotations

import time

import biela as bl
from benchmarks.closed_loops.catalogue import Entry
from benchmarks.closed_loops.peer_run import STRIDE, PeerRun, judged


class Simulation:
    """A mechanism derived and compiled, with the start that the peers have."""

    def __init__(self, entry: Entry, integrator: str = "rk4") -> None:
        self.mechanism, self.integrator = entry.mechanism, integrator
        options = bl.Options(fused=True)
        self._simulator = bl.Simulator(entry.system(), "multipliers", integrator, options)

    def simulate(self, seconds: float, step: float) -> bl.Results:
        """A motion with every tenth step stored."""
        return self._simulator.run(
            seconds,
            q=self.mechanism.q,
            v=self.mechanism.v,
            step=step,
            output=STRIDE * step,
            progress=False,
        )


def run_biela(
    simulation: Simulation, seconds: float = 10.0, step: float = 1e-3, repeats: int = 3
) -> PeerRun:
    """Simulate; native code is called for about 0.1 s of steps at a time.

    Two measures are bounds of what is told of the peers, the processor's time of the steps alone:
    the time of the steps on the clock, which other programs lengthen, and the processor's time of
    the whole run with its preparation and results.  The lesser counts.  Both include storing the
    motion, which the times of the peers do not.
    """
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        results = simulation.simulate(seconds, step)
        whole = time.process_time() - start
        assert results.statistics is not None, "every run has them"
        best = min(best, whole, results.statistics.time_integration or whole)
    steps = round(seconds / step)
    method = simulation.integrator
    settings = f"biela {bl.__version__}, {method}, multipliers, projections after every step"
    return judged("biela", simulation.mechanism, settings, best, steps, results.q, results.v)
