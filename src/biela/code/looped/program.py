"""A sequence of stages as one native call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.code.arrays import Floats
from biela.code.llvm.entry import Argument, make_entry
from biela.code.llvm.host import host_lanes
from biela.code.looped.dispatch import clear_address, entry_code
from biela.code.looped.function import ProgramFunction
from biela.code.looped.kernel import LoopKernel
from biela.code.looped.loop import StageLoop
from biela.code.looped.memory import Memory
from biela.code.looped.stage import Call, Clear, Segment, Stage
from biela.errors import CompileError, ShapeError


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
        stages: Sequence[Stage | Clear | Call],
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
        self._loops = [
            StageLoop(stage) if isinstance(stage, Stage) else None for stage in self.stages
        ]
        self._segments = self._whole() if tape is None else list(tape)
        self._tape = Tape([r for segment in self._segments for r in self._records(segment)])
        self.address: int = self._tape.address
        self.guarded = self._calling_python()
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
            raise ShapeError(f"{self.name}: stage {stage} is no kernel, and has no parameters")
        loop.set_parameters(rows)

    def function(
        self, memory: Memory, inputs: Sequence[str], outputs: Sequence[str], name: str = ""
    ) -> ProgramFunction:
        """The program as a function of some vectors of its memory, with a workspace of its own."""
        return ProgramFunction(self, memory, inputs, outputs, name or self.name)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """What is run, in order."""
        return tuple(self._segments)

    @cached_property
    def states_address(self) -> int:
        """Address of the same for several states at a time.

        Places then hold as many doubles as the processor has lanes (`host_lanes`), a state each.

        Raises:
            CompileError: A kernel is too large for that.
        """
        self._states_tape = Tape([self._record_of_states(segment) for segment in self._segments])
        self.guarded = self._calling_python()
        return self._states_tape.address

    def states_part(self, segments: Sequence[Segment]) -> Tape:
        """Some segments for several states at a time, by an address of their own.

        The code and the tables are those of the program, which has to stay alive.

        Raises:
            CompileError: A kernel is too large for that.
        """
        return Tape([self._record_of_states(segment) for segment in segments])

    @cached_property
    def written(self) -> npt.NDArray[np.bool_]:
        """Which places of the workspace its stages write."""
        found = np.zeros(self.size, dtype=bool)
        for stage in self.stages:
            if isinstance(stage, Clear):
                found[stage.first : stage.first + stage.count] = True
                continue
            if isinstance(stage, Call):
                for first, count in stage.written:
                    found[first : first + count] = True
                continue
            for first, count in stage.written_besides():
                found[first : first + count] = True
            for array in stage.outputs:
                places = np.asarray(stage.scatter[array.name].places)
                if places.ndim == 1:
                    places = places[:, None] + np.arange(array.size)
                found[places] = True
        return found

    @cached_property
    def carried(self) -> npt.NDArray[np.bool_]:
        """Which places of the workspace its stages read as they were left by the run before."""
        found = np.zeros(self.size, dtype=bool)
        for stage in self.stages:
            if isinstance(stage, Stage):
                found[stage.carried_places()] = True
        return found

    def _calling_python(self) -> list[LoopKernel]:
        """Code after which functions written in Python may have raised something."""
        return [kernel for loop in self._loops if loop is not None for kernel in loop.guarded]

    def _whole(self) -> list[Segment]:
        return [
            Segment(k, 0, 0 if isinstance(stage, Clear) else stage.count)
            for k, stage in enumerate(self.stages)
        ]

    def _records(self, segment: Segment) -> list[tuple[int, int, int, int]]:
        if not 0 <= segment.stage < len(self.stages):
            raise ShapeError(f"{self.name}: there is no stage {segment.stage}")
        stage, loop = self.stages[segment.stage], self._loops[segment.stage]
        if isinstance(stage, Clear):
            return [(clear_address(), 0, stage.first, stage.count)] if stage.count else []
        if isinstance(stage, Call):
            return [(stage.address, stage.arguments, segment.first, segment.count)]
        assert loop is not None
        last = segment.first + segment.count
        if segment.first < 0 or segment.count < 0 or last > stage.count:
            raise ShapeError(
                f"{self.name}: the instances {segment.first} to {last - 1} are not all in stage "
                f"{stage.name}, which has {stage.count}"
            )
        return loop.records(segment.first, last)

    def _record_of_states(self, segment: Segment) -> tuple[int, int, int, int]:
        stage, loop = self.stages[segment.stage], self._loops[segment.stage]
        if isinstance(stage, Clear):
            lanes = host_lanes()
            return clear_address(), 0, lanes * stage.first, lanes * stage.count
        if isinstance(stage, Call):
            raise CompileError(f"{self.name} calls native code, which runs one state at a time")
        assert loop is not None
        return loop.record_of_states(segment.first, segment.first + segment.count)

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


class Tape:
    """Records in memory, and the entry that runs them."""

    def __init__(self, records: Sequence[tuple[int, int, int, int]]) -> None:
        self.records = np.array(records, dtype=np.int64).reshape(-1, 4)
        self._code = entry_code(self.records.ctypes.data, len(self.records))
        self.address: int = self._code["run"]
