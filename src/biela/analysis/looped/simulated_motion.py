"""What a run of a large mechanism has stored, and what follows from it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from biela.analysis.looped.motion import LoopedMotion
from biela.equations.blocks.block import read_multipliers

Floats = npt.NDArray[np.float64]


class SimulatedMotion:
    """The stored states of a run; what follows from them is found when somebody asks for it."""

    def __init__(self, motion: LoopedMotion, t: Floats, states: Floats, u: Floats) -> None:
        self.motion, self.blocks, self.t = motion, motion.blocks, t
        #: The inputs, for all instants or a row an instant.
        self.u = u
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
        rows = zip(self.t, self.q, self.v, self.held, strict=True)
        return [self.motion.accelerations(float(t), q, v, u) for t, q, v, u in rows]

    @property
    def held(self) -> Floats:
        """The inputs, a row an instant."""
        return np.broadcast_to(self.u, (len(self.t), np.shape(self.u)[-1]))

    def outputs(self) -> Floats:
        """What sensors read."""
        rows = zip(self.t, self.q, self.v, self.held, strict=True)
        needed = self.blocks.reads_multipliers
        lams = self.lam if needed else [None] * len(self.t)
        return np.array(
            [
                self.blocks.y(q, v, float(t), u, lam)
                for (t, q, v, u), lam in zip(rows, lams, strict=True)
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

    @cached_property
    def _energies(self) -> tuple[Floats, Floats]:
        blocks = self.blocks
        rows = zip(self.t, self.q, self.v, self.held, strict=True)
        stored = [blocks.stored_energy(q, v, float(t), u) for t, q, v, u in rows]
        return blocks.kinetic_energy(self.v), blocks.height_energy(self.q) + np.array(stored)

    def energies(self) -> tuple[Floats, Floats]:
        """Kinetic and potential energy."""
        return self._energies

    def monitored_energies(self) -> dict[str, Floats]:
        """Kinetic and potential energy, and their sum."""
        kinetic, potential = self._energies
        return {
            "energy": kinetic + potential,
            "kinetic energy": kinetic,
            "potential energy": potential,
        }

    @property
    def alone(self) -> bool:
        """Whether nothing does work: no forces but gravity, and no constraints that move."""
        return not len(self.blocks.forces) and not self.blocks.law_count

    def power(self) -> Floats:
        """What changes the energy: v · Q + V' of all forces, and -λᵀ Φ_v v of constraints."""
        if self.alone:
            return np.zeros(len(self.t))
        return np.array([self._power(k) for k in range(len(self.t))])

    def carried_power(self) -> None:
        """None: the coordinates of bodies contain no motion."""

    def _power(self, k: int) -> float:
        blocks, u = self.blocks, self.held[k]
        t, q, v = float(self.t[k]), self.q[k], self.v[k]
        lam = None
        if blocks.law_count or read_multipliers(blocks.forces):
            lam = self.motion.accelerations(t, q, v, u)[1]
        found = float(v @ blocks.Q(q, v, t, u, lam))
        rates, ahead = blocks.rates(q, v), 1e-5
        places = np.array([q + ahead * rates, q - ahead * rates])
        stored = [
            blocks.stored_energy(place, v, t + sign * ahead, u)
            for place, sign in zip(places, (1, -1), strict=True)
        ]
        V = blocks.height_energy(places) + np.array(stored)
        found += float(V[0] - V[1]) / (2 * ahead)
        if lam is not None and blocks.law_count:
            found -= float(lam @ blocks.beta(q, t))
        return found

    def size(self) -> float:
        """The size of the energies at the start, J, and of velocities of some 1e-5 m/s."""
        slow = 1e-9 * float(np.einsum("nii->", self.blocks.M()) + self.blocks.rotors.sum())
        return slow + self.blocks.height_size(self.q[0])

    def accelerations(self) -> Floats:
        """The accelerations; of a long run, at some instants."""
        some = np.unique(np.linspace(0, len(self.t) - 1, 40).astype(np.intp))
        return self.at(some).a

    def sensitivity(self, rows: npt.NDArray[np.intp]) -> Floats:
        """Σ |∂(T + V)/∂x_i| (|x_i| + 0.01) over the entries of q and v, at some instants."""
        blocks, found = self.blocks, []
        n, (wide, high) = blocks.world.count, blocks.widths
        for k in rows:
            q, v = self.q[k], self.v[k]
            moment = np.abs(blocks.momentum(v[None])[0])
            place = np.abs(q[: wide * n].reshape(n, wide)[:, :high])
            if wide != high:
                place[:, 3:] = 1.0
            force = np.abs(blocks.Q(q, v, float(self.t[k]), self.held[k])[: high * n]).reshape(
                n, high
            )
            sum_v = (moment * (np.abs(v) + 0.01)).sum()
            found.append(float(sum_v + np.nansum(force * (place + 0.01))))
        return np.array(found)

    def at(self, rows: npt.NDArray[np.intp]) -> SimulatedMotion:
        """The motion at some of its instants."""
        states = np.concatenate([self.q[rows], self.v[rows]], axis=1)
        return SimulatedMotion(self.motion, self.t[rows], states, self.held[rows])
