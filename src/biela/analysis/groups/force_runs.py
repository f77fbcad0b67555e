"""Runs the forces of groups through the instants of a motion that is known.

Where the solution of every kind is written out, and nothing is redundant, native code gives the
multipliers.  Else it gives rows and loads, and `SelfStresses` solves the groups in numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.block_runs import BlockRun
from biela.analysis.groups.laws import Laws
from biela.analysis.groups.self_stresses import SelfStresses
from biela.equations.blocks.block import Block
from biela.equations.groups.forces import ForceProgram
from biela.errors import SimulationError

__all__ = ["ForceRuns", "Solved"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

#: Rounds for forces that depend on multipliers, such as friction.
_ROUNDS: Final = 30


@dataclass(frozen=True, eq=False)
class Solved:
    """Some instants that were solved in numbers.

    Attributes:
        some: Which ones.
        lam: Multipliers, in the order of the program.
        null: Self-stresses, an orthonormal basis.
        J: Rows of each kind.
    """

    some: slice
    lam: Floats
    null: Floats
    J: list[Floats]


@dataclass(frozen=True)
class _Table:
    """The laws of forces, as `Laws` takes them."""

    size: int
    made: tuple[Block, ...]

    def blocks(self) -> tuple[Block, ...]:
        """What evaluates them."""
        return self.made


class ForceRuns:
    """The forces of a model at instants of a known motion.

    Args:
        program: Its groups.
        u: Inputs of forces.
        starts: Coordinates that count turns at the start, by name, over all turns.

    Attributes:
        native: Whether multipliers come from native code alone.
    """

    def __init__(self, program: ForceProgram, u: Floats, starts: Mapping[str, float]) -> None:
        self.program, self.u, self.starts = program, u, starts
        blocks = program.blocks
        self._laws = Laws(program.casts.laws)
        self._force_laws = Laws(_Table(blocks.law_count, blocks.laws))
        equations = program.equations
        self.native = all(e.unrolled and not e.redundant for e in equations)

    # ----------------------------------------------------------------------- programs

    @property
    def _given(self) -> tuple[str, ...]:
        found = ["y", "dy", "ddy", "t", "w", "x"]
        if self.program.applied:
            found += ["dx", "fw", "fdw", "fddw"]
        return (*found, *self.program.multipliers) if self.program.loaded else tuple(found)

    @cached_property
    def _multipliers(self) -> BlockRun:
        program = self.program
        kept = program.multipliers
        return BlockRun(program.program(), program.memory, self._given, kept, {"u": self.u})

    @cached_property
    def _rows(self) -> BlockRun:
        program = self.program
        kept = ["Qx", "W", *(f"J{c}" for c in range(len(program.equations)))]
        rows = program.program("rows")
        return BlockRun(rows, program.row_memory, self._given, kept, {"u": self.u})

    @cached_property
    def _readings(self) -> BlockRun:
        program = self.program
        turns = program.reading_program()
        return BlockRun(turns, program.memory, ["y", "dy", "ddy"], ["x", "dx"])

    # -------------------------------------------------------------------------- inputs

    def given(self, t: Floats, moved: Floats) -> list[Floats]:
        """What programs are given at every instant, but for multipliers.

        ``moved`` are y, dy and ddy, (instants, entries) or as they were stored.
        """
        x, dx = self._counted(len(t), moved)
        found = [moved, t[:, None], self._laws.at(t)[:, : self._laws.size], x]
        return [*found, dx, self._force_laws.at(t)] if self.program.applied else found

    def _counted(self, count: int, moved: Floats) -> tuple[Floats, Floats]:
        """Coordinates that count turns, over all turns from the start on, and their rates."""
        n = len(self.program.extra)
        if not n:
            return np.zeros((count, 0)), np.zeros((count, 0))
        found = self._readings.run(count, moved)
        x, dx = found[:, :n].copy(), found[:, n:]
        turns = {name for r in self.program.readings if r.turns for name in r.names}
        for name, k in self.program.extra.items():
            if name in turns:
                x[:, k] = np.unwrap(x[:, k])
                behind = self.starts.get(name, x[0, k]) - x[0, k]
                x[:, k] += 2 * np.pi * np.round(behind / (2 * np.pi))
        return x, dx

    # ------------------------------------------------------------------------- solution

    def settled(self, t: Floats, moved: Floats) -> tuple[Floats, Flags]:
        """Multipliers in the order of the program, and which are determinate.

        Raises:
            SimulationError: Forces that depend on reactions do not settle.
        """
        given = self.given(t, moved)
        if not self.program.loaded:
            return self._solved(len(t), given)
        lam = np.zeros((len(t), len(self.program.row_names)))
        for _ in range(_ROUNDS):
            before = lam
            lam, sure = self._solved(len(t), [*given, lam])
            if np.abs(lam - before).max() <= 1e-12 * np.abs(lam).max():
                return lam, sure
        raise SimulationError(
            f"{self.program.blocks.name}: forces that depend on reactions, such as friction, do "
            f"not settle in {_ROUNDS} rounds: friction may lock the mechanism"
        )

    def _solved(self, count: int, given: list[Floats]) -> tuple[Floats, Flags]:
        if self.native:
            lam = self._multipliers.run(count, *given)
            return lam, np.broadcast_to(np.True_, lam.shape)
        parts = list(self.in_numbers(count, given))
        sure = [SelfStresses.determinate(part.null) for part in parts]
        return np.concatenate([part.lam for part in parts]), np.concatenate(sure)

    def in_numbers(self, count: int, given: list[Floats]) -> Iterator[Solved]:
        """All instants with their self-stresses, some at a time."""
        stresses = SelfStresses(self.program)
        step = stresses.chunk
        for a in range(0, count, step):
            b = min(a + step, count)
            rows = self._rows.run(b - a, *(_part(values, a, b) for values in given))
            lam, null = stresses.solved(rows)
            yield Solved(slice(a, b), lam, null, stresses.rows_of(rows))


def _part(values: Floats, first: int, last: int) -> Floats:
    """Some instants, (instants, entries), also of what was stored by blocks of lanes."""
    if values.ndim == 2:
        return values[first:last]
    W = values.shape[2]
    blocks = values[first // W : (last - 1) // W + 1]
    flat = blocks.transpose(0, 2, 1).reshape(-1, values.shape[1])
    start = first % W
    return flat[start : start + last - first]
