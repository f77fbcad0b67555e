"""Forces in the joints of a driven mechanism, group after group in the reverse order.

The motion comes from the groups in their order; what each body then needs, W = Q - M v', is handed
from the last group to the first: the joints of a group hold its bodies, and what they rest on has
that much more to carry.  So the forces of n groups cost n small systems, at every instant.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.block_runs import BlockRun
from biela.analysis.groups.laws import Laws
from biela.analysis.groups.self_stresses import SelfStresses
from biela.analysis.groups.solver import GroupMotion, GroupSolver
from biela.equations.blocks import reference_blocks
from biela.equations.blocks.block import Block
from biela.equations.groups.forces import ForceProgram
from biela.errors import ModelError, SimulationError
from biela.model.element import nearest

__all__ = ["GroupForces", "Multipliers"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Rounds for forces that depend on multipliers, such as friction.
_ROUNDS: Final = 30
#: Moments about passive spins that nothing gives, as a part of all loads.
_MISSING: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What joints and drivers carry.

    Attributes:
        t: Times (n,).
        names: The multipliers, "joint.row", in the order of reference-point coordinates.
        lam: (n, multipliers); minus those of a driver are the force or torque of the motor.
        determinate: (n, multipliers) whether each is determinate; of the others the smallest are
            taken, in the norm Σ λ².
        missing: (n,) the largest moment about a passive spin that nothing gives.
        time_run: Seconds of the run.
    """

    t: Floats
    names: tuple[str, ...]
    lam: Floats
    determinate: Flags
    missing: Floats
    time_run: float

    def __getitem__(self, name: str) -> Floats:
        """A multiplier over time.

        Raises:
            ModelError: There is none of that name.
        """
        if name not in self.names:
            raise ModelError(f"there is no multiplier {name!r}{nearest(name, self.names)}")
        return self.lam[:, self.names.index(name)]


@dataclass(frozen=True)
class _Table:
    """Laws as `Laws` takes them."""

    size: int
    made: tuple[Block, ...]

    def blocks(self) -> tuple[Block, ...]:
        """What evaluates them."""
        return self.made


class GroupForces:
    """The forces of a model by groups, ready to run.

    Args:
        solver: Its kinematics, with the motion of all bodies.
        inputs: Values of the inputs of forces, by name.

    Raises:
        ModelError: The solver has no bodies, or an input is unknown.
    """

    def __init__(self, solver: GroupSolver, inputs: Mapping[str, float] | None = None) -> None:
        if not solver._bodies:
            raise ModelError("forces need the motion of all bodies: GroupSolver(…, bodies=True)")
        self.solver = solver
        self.blocks = reference_blocks(solver.model, parameters=solver.parameters, t=solver.t)
        if list(self.blocks.bodies) != list(solver.world.names):
            raise ModelError(
                f"{solver.model.name}: some of its parts have to be written out; "
                f"give the model flattened: model.flattened()"
            )
        first = len(solver._points)
        requests = solver.groups.request_places[first:]
        size = solver.groups.memory.sizes["y"]
        places = np.concatenate(requests, axis=1)
        self.program = ForceProgram(solver.casts, self.blocks, places, size)
        self.u = self._inputs(inputs or {})
        self._laws = Laws(solver.casts.laws)
        self._force_laws = Laws(_Table(self.blocks.law_count, self.blocks.laws))  # type: ignore[arg-type]
        #: Whether the solution of every kind is written out.
        self.unrolled = all(e.unrolled for e in self.program.equations)
        self.redundant = any(e.redundant for e in self.program.equations)

    def _inputs(self, given: Mapping[str, float]) -> Floats:
        found = np.array(self.blocks.input_values, dtype=float)
        names = list(self.blocks.inputs)
        for name, value in given.items():
            if name not in names:
                raise ModelError(
                    f"{self.solver.model.name} has no input {name!r}{nearest(name, names)}"
                )
            found[names.index(name)] = value
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The multipliers, in the order of reference-point coordinates."""
        return tuple(self.blocks.rows)

    # --------------------------------------------------------------------------- runs

    @property
    def _given(self) -> tuple[str, ...]:
        found = ["y", "dy", "ddy", "t", "w", "x"]
        if self.program.applied:
            found += ["dx", "fw", "fdw", "fddw"]
        return (*found, *self._lam) if self.program.loaded else tuple(found)

    @property
    def _lam(self) -> tuple[str, ...]:
        return tuple(f"lam{c}" for c in range(len(self.program.equations)))

    @cached_property
    def _multipliers(self) -> BlockRun:
        program = self.program
        constant = {"u": self.u}
        return BlockRun(program.program(), program.memory, self._given, self._lam, constant)

    @cached_property
    def _rows(self) -> BlockRun:
        program = self.program
        kept = ["Qx", "W", *(f"J{c}" for c in range(len(program.equations)))]
        constant = {"u": self.u}
        return BlockRun(program.program("rows"), program.row_memory, self._given, kept, constant)

    @cached_property
    def _readings(self) -> BlockRun:
        program = self.program
        kept = ["x", "dx"]
        return BlockRun(program.reading_program(), program.memory, ["y", "dy", "ddy"], kept)

    def run(self, motion: GroupMotion) -> Multipliers:
        """The multipliers of a motion that the solver has found.

        Raises:
            ModelError: The motion has no bodies, or a passive spin would need a moment.
            SimulationError: Forces that depend on reactions do not settle.
        """
        began = time.perf_counter()
        moved = self._moved(motion)
        lam, sure = self._settled(motion.t, moved)
        missing = self._missing(motion.t, lam)
        order = self.program.rows_of_blocks
        return Multipliers(
            motion.t, self.names, lam[:, order], sure[:, order], missing,
            time.perf_counter() - began,
        )  # fmt: skip

    def _moved(self, motion: GroupMotion) -> Floats:
        """The motion of bodies, as it was stored where that can be."""
        stored = motion._stored
        if motion._place:
            raise ModelError('forces need the motion of all bodies: run with store="all"')
        if motion._instants is None:
            return stored.rows
        return stored.columns(np.arange(stored.rows.shape[1]))[motion._instants]

    def _settled(self, t: Floats, moved: Floats) -> tuple[Floats, Flags]:
        """Multipliers in the order of the program, and which are determinate."""
        program = self.program
        laws = self._laws.at(t)[:, : self._laws.size]
        given = [moved, t[:, None], laws]
        x = self._counted(len(t), moved)
        given.append(x[0])
        if program.applied:
            given += [x[1], self._force_laws.at(t)]
        if not program.loaded:
            return self._solved(len(t), given)
        lam = np.zeros((len(t), len(program.row_names)))
        for _ in range(_ROUNDS):
            before = lam
            lam, sure = self._solved(len(t), [*given, lam])
            if np.abs(lam - before).max() <= 1e-12 * np.abs(lam).max():
                return lam, sure
        raise SimulationError(
            f"{self.solver.model.name}: forces that depend on reactions, such as friction, do not "
            f"settle in {_ROUNDS} rounds: friction may lock the mechanism"
        )

    def _solved(self, count: int, given: list[Floats]) -> tuple[Floats, Flags]:
        if self.unrolled and not self.redundant:
            lam = self._multipliers.run(count, *given)
            return lam, np.ones(lam.shape, dtype=bool)
        stresses = SelfStresses(self.program)
        parts = []
        step = stresses.chunk
        for a in range(0, count, step):
            some = np.arange(a, min(a + step, count))
            rows = self._rows.run(len(some), *(self._part(v, some) for v in given))
            parts.append(stresses.solved(rows))
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    @staticmethod
    def _part(values: Floats, some: npt.NDArray[np.int64]) -> Floats:
        if values.ndim == 2:
            return values[some]
        W = values.shape[2]
        blocks = values[some[0] // W : some[-1] // W + 1]
        flat = blocks.transpose(0, 2, 1).reshape(-1, values.shape[1])
        first = some[0] - some[0] // W * W
        return flat[first : first + len(some)]

    def _counted(self, count: int, moved: Floats) -> tuple[Floats, Floats]:
        """Coordinates that count turns, over all turns from the start on, and their rates."""
        n = len(self.blocks.extra)
        if not n:
            return np.zeros((count, 0)), np.zeros((count, 0))
        self.program.readings  # noqa: B018  refuses before anything is run
        found = self._readings.run(count, moved)
        x, dx = found[:, :n].copy(), found[:, n:]
        turns = {name for r in self.program.readings if r.turns for name in r.names}
        starts = self.solver.poses.coordinates
        for k, name in enumerate(self.blocks.extra):
            if name not in turns:
                continue
            x[:, k] = np.unwrap(x[:, k])
            behind = starts.get(name, x[0, k]) - x[0, k]
            x[:, k] += 2 * np.pi * np.round(behind / (2 * np.pi))
        return x, dx

    def _missing(self, t: Floats, lam: Floats) -> Floats:
        """What a passive spin would need.

        Raises:
            ModelError: That is more than rounding.
        """
        names = self.program.row_names
        spins = [k for k, name in enumerate(names) if name.endswith(".spin")]
        if not spins:
            return np.zeros(len(t))
        found: Floats = np.abs(lam[:, spins]).max(axis=1)
        scale = np.abs(lam).max(axis=1)
        over = found > _MISSING * np.maximum(scale, 1e-9)
        if over.any():
            k = int(np.argmax(over))
            name = names[spins[int(np.argmax(np.abs(lam[k, spins])))]]
            raise ModelError(
                f"{self.solver.model.name}: at t = {t[k]:.6g} s a moment of {found[k]:.3g} N m "
                f"about the passive spin of {name.removesuffix('.spin')} is missing: the body "
                f"would not keep from turning about that axis; make it symmetric about it, or "
                f"hold its turn by a joint (universal in place of spherical)"
            )
        return found
