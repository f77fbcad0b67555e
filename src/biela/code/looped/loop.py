"""A stage with its code and its tables, as records of a tape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from biela.code.arrays import Floats, checked_array
from biela.code.llvm.host import host_lanes
from biela.code.looped.kernel import (
    LoopKernel,
    access_of,
    lanes_of,
    loop_kernel,
    runs_states,
)
from biela.code.looped.stage import PARAMETERS, Stage
from biela.errors import CompileError, ShapeError


class StageLoop:
    """A stage with its code, tables and parameters.

    Where instances run side by side, whole blocks of lanes have tables and parameters of their own
    layout; what is left of a segment before and after them runs one by one.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.lanes = lanes_of(stage)
        self._access = access_of(stage)
        self._parameters = None if stage.parameters is None else np.array(stage.parameters)
        self._kernels: dict[int, LoopKernel] = {}
        self.of_states: LoopKernel | None = None
        self._arguments: dict[tuple[int, int], Any] = {}
        self._kept: dict[tuple[int, int], list[Any]] = {}

    def records(self, first: int, last: int) -> list[tuple[int, int, int, int]]:
        """The records that run instances ``first`` to ``last - 1``."""
        W = self.lanes
        low, high = -(-first // W) * W, last // W * W
        if low >= high:
            runs = [(1, first, last)]
        else:
            runs = [(1, first, low), (W, low, high), (1, high, last)]
        return [
            (self._kernel(lanes).address, self._pointers(lanes), start, stop - start)
            for lanes, start, stop in runs
            if stop > start
        ]

    def record_of_states(self, first: int, last: int) -> tuple[int, int, int, int]:
        """The record that runs them for as many states as the processor has lanes.

        Raises:
            CompileError: The kernel is too large for that.
        """
        if not runs_states(self.stage):
            raise CompileError(f"stage {self.stage.name} is too large to run for several states")
        access = replace(self._access, states=True)
        self.of_states = loop_kernel(self.stage.kernel, access, host_lanes())
        return self.of_states.address, self._pointers(1, host_lanes()), first, last - first

    def _kernel(self, lanes: int) -> LoopKernel:
        if lanes not in self._kernels:
            self._kernels[lanes] = loop_kernel(self.stage.kernel, self._access, lanes)
        return self._kernels[lanes]

    def _pointers(self, lanes: int, states: int = 1) -> int:
        """Address of the arguments of a form of the code; tables count doubles of the states."""
        form = lanes, states
        if form not in self._arguments:
            stage, kept = self.stage, []
            for array in stage.inputs:
                if array.name == PARAMETERS:
                    kept.append(_laid_out(np.asarray(self._parameters, dtype=float), lanes))
                else:
                    kept.append(self._table(stage.gather[array.name], *form))
            for array in stage.outputs:
                kept.append(self._table(stage.scatter[array.name].places, *form))
            kept += stage.extras()
            self._kept[form] = kept
            self._arguments[form] = np.array([a.ctypes.data for a in kept], dtype=np.int64)
        return int(self._arguments[form].ctypes.data)

    def _table(self, places: Any, lanes: int, states: int) -> Any:
        table = np.asarray(places, dtype=np.int64) * states
        if table.size and table.max() >= 2**31:
            raise CompileError(
                f"stage {self.stage.name}: the workspace is too large for several states at a time"
            )
        return _laid_out(table.astype(np.int32), lanes)

    def set_parameters(self, rows: Floats) -> None:
        """Replace the parameters of all instances."""
        names = [array.name for array in self.stage.inputs]
        if PARAMETERS not in names:
            raise ShapeError(f"stage {self.stage.name} has no parameters")
        k = names.index(PARAMETERS)
        shape = (self.stage.count, self.stage.inputs[k].size)
        given = checked_array(self.stage.name, PARAMETERS, rows, shape)
        self._parameters = given.copy()
        for (lanes, _), kept in self._kept.items():
            kept[k][...] = _laid_out(given, lanes)

    @property
    def guarded(self) -> list[LoopKernel]:
        """Code that calls functions written in Python."""
        kernels = [*self._kernels.values(), *([self.of_states] if self.of_states else [])]
        return [kernel for kernel in kernels if kernel.calls_python]


def _laid_out(rows: Any, lanes: int) -> Any:
    """Rows one after the other; or, for several lanes, in blocks with the lanes side by side."""
    if lanes == 1 or rows.ndim == 1:
        return np.ascontiguousarray(rows)
    whole = len(rows) // lanes * lanes
    blocks = rows[:whole].reshape(-1, lanes, rows.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))
