"""A program as a function of arrays, for one state or many."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from biela.code.arrays import Floats, checked_array
from biela.code.llvm.entry import Argument, make_entry
from biela.code.llvm.host import host_lanes
from biela.code.looped.dispatch import copying_code, states_code
from biela.code.looped.memory import Memory
from biela.errors import CompileError, ShapeError

if TYPE_CHECKING:
    from biela.code.looped.program import Program


class ProgramFunction:
    """A program as a function of arrays, like any native function.

    Calling it with the inputs gives fresh arrays; with inputs and outputs it writes into the
    latter.  It has one workspace, for which calls from several threads wait; native code that calls
    by address must not do so from several at a time.

    Attributes:
        w: Its workspace.
        address: ``void run(const double *in0, …, double *out0, …)``.

    Raises:
        ShapeError: The memory is not that of the program.
        UnknownNameError: It has no such vector.
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
        """Evaluate one state.

        Raises:
            ShapeError: The arrays do not fit.
        """
        with self._lock:  # calls of several threads wait for each other
            result = self._call(*arrays)
        self._raise_failures()
        return result

    def map(self, *arrays: Any, threads: int = 1) -> Any:
        """Evaluate many states: each input has one row a state, or one value for all of them.

        Each thread has a workspace of its own.

        Raises:
            ShapeError: The inputs do not fit, or none of them has rows; or there is no thread.
        """
        if getattr(threads, "__index__", int)() < 1:
            raise ShapeError(
                f"{self.name}.map: threads must be a whole number from 1, not {threads!r}"
            )
        given = [np.asarray(a, dtype=float) for a in arrays]
        counts = {len(a) for a in given if a.ndim == 2}
        if len(given) != len(self.inputs) or len(counts) != 1:
            raise ShapeError(
                f"{self.name}.map takes {', '.join(self.inputs)}, each with a row for each state"
            )
        k = counts.pop()
        rows = [
            checked_array(self.name, n, np.broadcast_to(a, (k, a.shape[-1])), (k, *self._shapes[n]))
            for n, a in zip(self.inputs, given, strict=True)
        ]
        found = [np.empty((k, *self._shapes[n])) for n in self.outputs]
        states = self._states
        if not states or k < states[0].lanes:
            for i in range(k):
                self(*(a[i] for a in rows), *(a[i] for a in found))
        else:
            with self._lock:
                self._run_states(k, [*rows, *found], min(threads, k // (2 * states[0].lanes)))
            self._raise_failures()
        return found[0] if len(found) == 1 else tuple(found)

    def _run_states(self, k: int, arrays: Sequence[Floats], threads: int) -> None:
        states = self._states
        while len(states) < threads:
            states.append(_States(self.program, self.memory, self.inputs, self.outputs))
        if threads < 2:
            states[0].run(k, self.w, arrays)
            return
        # whole vectors for all but the last, so that the digits do not depend on the threads
        lanes = states[0].lanes
        cuts = [k // lanes * n // threads * lanes for n in range(threads)] + [k]
        with ThreadPoolExecutor(threads) as pool:
            parts = [
                pool.submit(one.run, stop - start, self.w, [a[start:stop] for a in arrays])
                for one, (start, stop) in zip(states, pairwise(cuts), strict=False)
            ]
            for part in parts:
                part.result()

    @cached_property
    def _states(self) -> list[_States]:
        """What runs several states at a time; none if a kernel is too large for it."""
        try:
            return [_States(self.program, self.memory, self.inputs, self.outputs)]
        except CompileError:
            return []

    def _raise_failures(self) -> None:
        for kernel in self.program.guarded:
            kernel.raise_failures()

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


class _States:
    """A program on a workspace with as many states as the processor has lanes, side by side."""

    def __init__(
        self, program: Program, memory: Memory, inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        self.lanes = host_lanes()
        # vectors that cross cache lines would be slow
        raw = np.zeros((memory.size + 1) * self.lanes)
        start = (-raw.ctypes.data // 8) % self.lanes
        self._w = raw[start : start + memory.size * self.lanes].reshape(memory.size, self.lanes)
        given = program.written & ~program.carried
        for name in inputs:
            given[memory.places(name)] = True
        self._constant = np.flatnonzero(~given)
        self._code = states_code(
            program.states_address,
            self._w.ctypes.data,
            self.lanes,
            [(memory.first(n), memory.sizes[n]) for n in inputs],
            [(memory.first(n), memory.sizes[n]) for n in outputs],
        )
        kinds = [ctypes.c_void_p] * (len(inputs) + len(outputs))
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_int64, *kinds)(self._code["run"])

    def run(self, count: int, w: Floats, arrays: Sequence[Floats]) -> None:
        """Run all states; what nobody writes, or is carried on, starts as in ``w``, that of one."""
        self._w[self._constant] = w[self._constant, None]
        self._run(count, *(a.ctypes.data for a in arrays))
