"""What a run of a large mechanism has stored, and what follows from it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.motion import LoopedMotion

Floats = npt.NDArray[np.float64]


class SimulatedMotion:
    """The stored states of a run; what follows from them is found when somebody asks for it."""

    def __init__(self, motion: LoopedMotion, t: Floats, states: Floats, u: Floats) -> None:
        self.motion, self.blocks, self.t, self.u = motion, motion.blocks, t, u
        self.q, self.v = states[:, : self.blocks.nq], states[:, self.blocks.nq :]

    @cached_property
    def a(self) -> Floats:
        """Accelerations."""
        return np.array([a for a, _ in self._instants()])

    @cached_property
    def lam(self) -> Floats:
        """Multipliers."""
        return np.array([lam for _, lam in self._instants()])

    def _instants(self) -> list[tuple[Floats, Floats]]:
        rows = zip(self.t, self.q, self.v, strict=True)
        return [self.motion.accelerations(float(t), q, v, self.u) for t, q, v in rows]

    def outputs(self) -> Floats:
        """What sensors read."""
        rows = zip(self.t, self.q, self.v, strict=True)
        needed = self.blocks.reads_multipliers
        lams = self.lam if needed else [None] * len(self.t)
        return np.array(
            [
                self.blocks.y(q, v, float(t), self.u, lam)
                for (t, q, v), lam in zip(rows, lams, strict=True)
            ]
        )

    def constraint_errors(self) -> Floats:
        """The largest violation at each instant."""
        return np.array(
            [
                np.abs(self.blocks.Phi(q, float(t))).max(initial=0.0)
                for t, q in zip(self.t, self.q, strict=True)
            ]
        )

    def velocity_errors(self) -> Floats:
        """The largest |Φ_v v - β|."""
        rows = zip(self.t, self.q, self.v, strict=True)
        return np.array(
            [np.abs(self.blocks.dPhi(q, v, float(t))).max(initial=0.0) for t, q, v in rows]
        )

    def energies(self) -> dict[str, Floats]:
        """Kinetic and potential energy, and their sum."""
        blocks = self.blocks
        kinetic = blocks.kinetic_energy(self.v)
        rows = zip(self.t, self.q, self.v, strict=True)
        stored = [blocks.stored_energy(q, v, float(t), self.u) for t, q, v in rows]
        potential = blocks.height_energy(self.q) + np.array(stored)
        return {
            "energy": kinetic + potential,
            "kinetic energy": kinetic,
            "potential energy": potential,
        }
