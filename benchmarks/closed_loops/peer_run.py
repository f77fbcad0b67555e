"""What a simulator did with a mechanism: its time, and how well it kept loops and energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.closed_loops.mechanism import Floats, Mechanism

#: Steps between two samples of a motion.
STRIDE = 10


@dataclass(frozen=True)
class PeerRun:
    """One simulation of a mechanism.

    ``seconds`` is CPU time of the steps alone, the least of the repeats.  ``drift`` is the greatest
    distance between two points that a closure holds together, ``energy`` the greatest change of
    total energy divided by the greatest kinetic energy (the zero of the potential is arbitrary).
    """

    package: str
    mechanism: str
    settings: str
    seconds: float
    steps: int
    drift: float
    energy: float
    end: tuple[float, float, float]
    q: Floats
    v: Floats

    @property
    def microseconds(self) -> float:
        """The time of a step."""
        return self.seconds / self.steps * 1e6


def judged(
    package: str,
    mechanism: Mechanism,
    settings: str,
    seconds: float,
    steps: int,
    q: Floats,
    v: Floats,
) -> PeerRun:
    """The result of a simulation from samples of its coordinates and velocities."""
    gaps, _ = mechanism.gaps(q, v)
    kinetic, potential = mechanism.energies(q, v)
    total = kinetic + potential
    x, y, z = mechanism.marked_point(q[-1]).tolist()
    return PeerRun(
        package,
        mechanism.name,
        settings,
        seconds,
        steps,
        float(np.linalg.norm(gaps, axis=-1).max()),
        float(np.abs(total - total[0]).max() / kinetic.max()),
        (x, y, z),
        q,
        v,
    )
