"""Native programs over instants that stand in the lanes of the processor, block after block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from biela.analysis.groups.stored import aligned_zeros
from biela.code.llvm.host import host_lanes
from biela.code.looped import Memory, Program
from biela.errors import CompileError
from biela.solvers.block_sequence import run_blocks

__all__ = ["BlockRun", "Native"]

Floats = npt.NDArray[np.float64]

#: Doubles that are copied at a time: they stay in the cache.
_CHUNK: Final = 1 << 17


class Native:
    """Native code as a routine takes it."""

    def __init__(self, address: int) -> None:
        self.address = address


class BlockRun:
    """A program whose states do not depend on each other, run over many of them.

    Args:
        program: What is run.
        memory: Its workspace.
        given: Vectors of it that differ between states.
        kept: Vectors that are wanted; those that follow each other are best.
        constant: Values of further vectors.
    """

    def __init__(
        self,
        program: Program,
        memory: Memory,
        given: Sequence[str],
        kept: Sequence[str],
        constant: Mapping[str, Floats] | None = None,
    ) -> None:
        self.memory, self.given, self.kept = memory, tuple(given), tuple(kept)
        try:
            self.lanes, address = host_lanes(), program.states_address
        except CompileError:  # a kernel is too large to hold several states
            self.lanes, address = 1, program.address
        self._program, self._native = program, Native(address)
        W = self.lanes
        self._w = aligned_zeros(memory.size, W)
        for name, values in (constant or {}).items():
            first = memory.first(name)
            self._w[first * W : (first + memory.sizes[name]) * W] = np.repeat(values, W)
        places = [memory.places(name) for name in self.given]
        self._into = (np.concatenate(places)[:, None] * W + np.arange(W)).ravel()

    def run(self, count: int, *values: Floats) -> Floats:
        """What is kept at ``count`` states, (states, entries).

        Values of the given vectors are (states, entries), or (blocks, entries, lanes) as a run with
        as many lanes has stored them.
        """
        W = self.lanes
        blocks = -(-count // W)
        runs = [(self.memory.first(n), self.memory.sizes[n]) for n in self.kept]
        width = sum(size for _, size in runs)
        stored = np.empty((blocks, width * W))
        given = [self._blocked(v, blocks) for v in values]
        status = self.memory.first("status") * W
        step = max(1, _CHUNK // max(1, len(self._into)))
        first = np.array([a * W for a, _ in runs], dtype=np.int64)
        length = np.array([n * W for _, n in runs], dtype=np.int64)
        for a in range(0, blocks, step):
            b = min(a + step, blocks)
            parts = [v[a:b].reshape(b - a, -1) for v in given]
            rows = np.ascontiguousarray(np.concatenate(parts, axis=1))
            run_blocks(
                len(self._w), b - a, rows.shape[1], width * W, len(runs), W, status, self._native,
                self._w, rows, self._into, stored[a:b], first, length, np.zeros(1),
            )  # fmt: skip
        found = stored.reshape(blocks, width, W).transpose(0, 2, 1)
        return found.reshape(blocks * W, width)[:count]

    def _blocked(self, values: Floats, blocks: int) -> Floats:
        """(states, entries) as (blocks, entries, lanes); the last state fills the last block."""
        W = self.lanes
        if values.ndim == 3:
            if values.shape[2] == W:
                return values
            values = values.transpose(0, 2, 1).reshape(-1, values.shape[1])
        values = values[: blocks * W]
        missing = blocks * W - len(values)
        if missing:
            values = np.concatenate([values, np.repeat(values[-1:], missing, axis=0)])
        return values.reshape(blocks, W, -1).transpose(0, 2, 1)
