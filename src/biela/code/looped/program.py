"""A sequence of stages as one native call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np

from biela.code.arrays import Floats, checked_array
from biela.code.llvm.entry import Argument, make_entry
from biela.code.looped.dispatch import clear_address, copying_code, entry_code
from biela.code.looped.kernel import LoopKernel, access_of, lanes_of, loop_kernel
from biela.code.looped.memory import Memory
from biela.code.looped.stage import PARAMETERS, Clear, Segment, Stage
from biela.errors import ShapeError

__all__ = ["Program", "ProgramFunction"]


class Program:
    """Stages on a workspace, run by native code without Python between them.

    Args:
        stages: What is run, in order.
        size: How many doubles the workspace has.
        tape: The segments that are run, in place of each stage as a whole: for recursions in which
            instances of several kernels take turns.  Clearing is written as a segment, too (its
            first and count are then not used).
        name: For messages.

    Attributes:
        address: ``void run(double *w)``, for routines, numba and other native code; valid as long
            as the program lives.

    Raises:
        ShapeError: Places lie outside the workspace, or a segment outside its stage.
        CompileError: LLVM refuses a kernel.
    """

    def __init__(
        self,
        stages: Sequence[Stage | Clear],
        size: int,
        *,
        tape: Sequence[Segment] | None = None,
        name: str = "program",
    ) -> None:
        self.name, self.size = name, int(size)
        self.stages = tuple(stages)
        if self.size >= 2**31:
            raise ShapeError(f"{name}: a workspace has less than 2^31 places, not {size}")
        for stage in self.stages:
            stage.check_within(self.size)
        self._loops = [None if isinstance(stage, Clear) else _Loop(stage) for stage in self.stages]
        records = [
            record
            for segment in (self._whole() if tape is None else tape)
            for record in self._records(segment)
        ]
        self.guarded = [
            kernel for loop in self._loops if loop is not None for kernel in loop.guarded
        ]
        self._tape = np.array(records, dtype=np.int64).reshape(-1, 4)
        self._code = entry_code(self._tape.ctypes.data, len(self._tape))
        self.address: int = self._code["run"]
        #: The workspace is changed in place: a kernel without inputs.
        self.input_sizes: tuple[int, ...] = ()
        self.output_sizes: tuple[int, ...] = (self.size,)
        entry = make_entry(
            self.address, name, [], [Argument("w", (self.size,))], self._refuse, release_gil=True
        )
        self._call = entry.call

    def run(self, w: Floats) -> None:
        """Run all stages on a workspace.

        Raises:
            ShapeError: It is no array of doubles of the right size, in one piece and writeable.
        """
        self._call(w)
        for kernel in self.guarded:
            kernel.raise_failures()

    def set_parameters(self, stage: int, rows: Floats) -> None:
        """Replace the parameters of all instances of a stage, by its number.

        Raises:
            ShapeError: They have another shape, or there are none.
        """
        loop = self._loops[stage]
        if loop is None:
            raise ShapeError(f"{self.name}: stage {stage} clears, and has no parameters")
        loop.set_parameters(rows)

    def function(
        self, memory: Memory, inputs: Sequence[str], outputs: Sequence[str], name: str = ""
    ) -> ProgramFunction:
        """The program as a function of some vectors of its memory, with a workspace of its own."""
        return ProgramFunction(self, memory, inputs, outputs, name or self.name)

    def _whole(self) -> list[Segment]:
        return [
            Segment(k, 0, stage.count if isinstance(stage, Stage) else 0)
            for k, stage in enumerate(self.stages)
        ]

    def _records(self, segment: Segment) -> list[tuple[int, int, int, int]]:
        if not 0 <= segment.stage < len(self.stages):
            raise ShapeError(f"{self.name}: there is no stage {segment.stage}")
        stage, loop = self.stages[segment.stage], self._loops[segment.stage]
        if isinstance(stage, Clear):
            return [(clear_address(), 0, stage.first, stage.count)] if stage.count else []
        assert loop is not None
        last = segment.first + segment.count
        if segment.first < 0 or segment.count < 0 or last > stage.count:
            raise ShapeError(
                f"{self.name}: the instances {segment.first} to {last - 1} are not all in stage "
                f"{stage.name}, which has {stage.count}"
            )
        return loop.records(segment.first, last)

    def _refuse(self, *arguments: Any, **named: Any) -> None:
        """What the native entry falls back to: says what is wrong."""
        w = arguments[0] if arguments else None
        found = f"{w.dtype} of shape {w.shape}" if isinstance(w, np.ndarray) else type(w).__name__
        raise ShapeError(
            f"{self.name} runs on a writeable array of {self.size} doubles in one piece, "
            f"not on {found}"
        )

    def __repr__(self) -> str:
        return f"Program {self.name}: {len(self.stages)} stages on {self.size} doubles"


class _Loop:
    """A stage with its code, tables and parameters.

    Where instances run side by side, whole blocks of lanes have tables and parameters of their own
    layout; what is left of a segment before and after them runs one by one.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.lanes = lanes_of(stage)
        self._access = access_of(stage)
        self._kernels: dict[int, LoopKernel] = {}
        self._arguments: dict[int, Any] = {}
        self._kept: dict[int, list[Any]] = {}

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

    def _kernel(self, lanes: int) -> LoopKernel:
        if lanes not in self._kernels:
            self._kernels[lanes] = loop_kernel(self.stage.kernel, self._access, lanes)
        return self._kernels[lanes]

    def _pointers(self, lanes: int) -> int:
        """Address of the arguments of a form of the code."""
        if lanes not in self._arguments:
            stage, kept = self.stage, []
            for array in stage.kernel.inputs:
                if array.name == PARAMETERS:
                    rows = np.array(stage.parameters, dtype=float)
                else:
                    rows = np.array(stage.gather[array.name], dtype=np.int32)
                kept.append(_laid_out(rows, lanes))
            for array in stage.kernel.outputs:
                rows = np.array(stage.scatter[array.name].places, dtype=np.int32)
                kept.append(_laid_out(rows, lanes))
            self._kept[lanes] = kept
            self._arguments[lanes] = np.array([a.ctypes.data for a in kept], dtype=np.int64)
        return int(self._arguments[lanes].ctypes.data)

    def set_parameters(self, rows: Floats) -> None:
        """Replace the parameters of all instances."""
        names = [array.name for array in self.stage.kernel.inputs]
        if PARAMETERS not in names:
            raise ShapeError(f"stage {self.stage.name} has no parameters")
        k = names.index(PARAMETERS)
        shape = (self.stage.count, self.stage.kernel.inputs[k].size)
        given = checked_array(self.stage.name, PARAMETERS, rows, shape)
        for lanes, kept in self._kept.items():
            kept[k][...] = _laid_out(given, lanes)

    @property
    def guarded(self) -> list[LoopKernel]:
        """Code that calls functions written in Python."""
        return [kernel for kernel in self._kernels.values() if kernel.calls_python]


def _laid_out(rows: Any, lanes: int) -> Any:
    """Rows one after the other; or, for several lanes, in blocks with the lanes side by side."""
    if lanes == 1 or rows.ndim == 1:
        return np.ascontiguousarray(rows)
    whole = len(rows) // lanes * lanes
    blocks = rows[:whole].reshape(-1, lanes, rows.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))


class ProgramFunction:
    """A program as a function of arrays, like any native function.

    Calling it with the inputs gives fresh arrays; with inputs and outputs it writes into the
    latter.  It has one workspace, for which calls from several threads wait; native code that calls
    by address must not do so from several at a time.

    Attributes:
        w: Its workspace.
        address: ``void run(const double *in0, …, double *out0, …)``.
    """

    def __init__(
        self,
        program: Program,
        memory: Memory,
        inputs: Sequence[str],
        outputs: Sequence[str],
        name: str,
    ) -> None:
        if memory.size != program.size:
            raise ShapeError(
                f"{name}: the program runs on {program.size} doubles, the memory has {memory.size}"
            )
        self.name, self.program, self.memory = name, program, memory
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.w = memory.array()
        self._lock = RLock()
        sizes: Mapping[str, int] = memory.sizes
        self._code = copying_code(
            program.address,
            self.w.ctypes.data,
            [(memory.first(n), sizes[n]) for n in inputs],
            [(memory.first(n), sizes[n]) for n in outputs],
        )
        self.address: int = self._code["run"]
        self.input_sizes = tuple(sizes[n] for n in inputs)
        self.output_sizes = tuple(sizes[n] for n in outputs)
        self._shapes = {n: (sizes[n],) for n in (*inputs, *outputs)}
        self._call = make_entry(
            self.address,
            name,
            [Argument(n, self._shapes[n]) for n in inputs],
            [Argument(n, self._shapes[n]) for n in outputs],
            self._converted,
            release_gil=True,
        ).call

    def __call__(self, *arrays: Any) -> Any:
        """Evaluate one state."""
        with self._lock:  # calls of several threads wait for each other
            result = self._call(*arrays)
        for kernel in self.program.guarded:
            kernel.raise_failures()
        return result

    def map(self, *arrays: Any) -> Any:
        """Evaluate many states: each input has one row a state, or one value for all of them."""
        given = [np.asarray(a, dtype=float) for a in arrays]
        counts = {len(a) for a in given if a.ndim == 2}
        if len(given) != len(self.inputs) or len(counts) != 1:
            raise ShapeError(
                f"{self.name}.map takes {', '.join(self.inputs)}, each with a row for each state"
            )
        k = counts.pop()
        rows = [np.ascontiguousarray(np.broadcast_to(a, (k, a.shape[-1]))) for a in given]
        found = [np.empty((k, self.memory.sizes[n])) for n in self.outputs]
        for i in range(k):
            self(*(a[i] for a in rows), *(a[i] for a in found))
        return found[0] if len(found) == 1 else tuple(found)

    def _converted(self, *arrays: Any, **named: Any) -> Any:
        if named or len(arrays) != len(self.inputs):
            raise ShapeError(
                f"{self.name} takes {', '.join(self.inputs)}, and arrays for the results "
                f"{', '.join(self.outputs)} or none"
            )
        given = [
            checked_array(self.name, n, a, self._shapes[n])
            for n, a in zip(self.inputs, arrays, strict=True)
        ]
        return self._call(*given)
