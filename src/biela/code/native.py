"""A function of atoms as native code in this process.

Code is compiled on first use, or loaded from the cache on disk under a key made of everything the
code depends on: the graph, the arrays, the options, the generator, LLVM and the CPU.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from biela.atoms import opcodes as op
from biela.code import schedule as schedule_module
from biela.code.arrays import ExpressionArray, Floats, checked_array, rows_of_states
from biela.code.externals import ExternalCalls
from biela.code.llvm import body, host, piecewise_ir, rows, sincos
from biela.code.llvm import emit as emit_module
from biela.code.llvm.emit import ENTRY, EXTERNALS, Layout, Options, emit
from biela.code.llvm.entry import Argument, make_entry
from biela.code.schedule import Schedule
from biela.code_cache import read_object, write_object
from biela.errors import CompileError, ShapeError

#: A scalar call of a function larger than this releases the interpreter lock.
_LONG: Final = 5000


class NativeFunction:
    """Native code of a function; owns the code, so keep it while its address is in use.

    Calling it with the inputs gives fresh arrays; calling it with inputs and outputs writes into
    the outputs, which must not overlap the inputs.
    """

    def __init__(
        self,
        name: str,
        schedule: Schedule,
        inputs: Sequence[ExpressionArray],
        outputs: Sequence[ExpressionArray],
        reproducible: bool = False,
    ) -> None:
        self.name = name
        self._schedule = schedule
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._reproducible = reproducible
        self._layout = Layout(
            {ref: (g, e) for g, array in enumerate(inputs) for e, ref in enumerate(array.refs)},
            tuple(array.size for array in inputs),
            tuple(array.refs for array in outputs),
        )
        self._externals = ExternalCalls(name, schedule)
        self._code = self._load(lanes=1)
        #: Address of ``void kernel(const double *in0, …, double *out0, …)``.
        self.address: int = self._code[ENTRY]

    @property
    def input_sizes(self) -> tuple[int, ...]:
        """Number of doubles in each input array."""
        return self._layout.input_sizes

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Number of doubles in each output array."""
        return tuple(len(refs) for refs in self._layout.outputs)

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The fastest way in from Python: a built-in function around the kernel."""
        self._entry = make_entry(
            self.address,
            self.name,
            [Argument(a.name, a.shape) for a in self._inputs],
            [Argument(a.name, a.shape) for a in self._outputs],
            self._convert_and_call,
            release_gil=len(self._schedule.live) > _LONG,
        )
        if not self._externals.in_python:
            return self._entry.call

        def checked(*arguments: Any, **named: Any) -> Any:
            result = self._entry.call(*arguments, **named)
            self._externals.raise_failures()
            return result

        return checked

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Evaluate one state."""
        return self.call(*arguments, **named)

    def _convert_and_call(self, *arguments: Any, **named: Any) -> Any:
        """What the fast entry falls back to: converts arguments or says what is wrong."""
        given = self._bind(arguments, named)
        values = [checked_array(self.name, a.name, given[a.name], a.shape) for a in self._inputs]
        fresh = [np.empty(a.shape) for a in self._outputs]
        self._run(values, fresh)
        targets = [given.get(a.name) for a in self._outputs]
        if all(target is None for target in targets):
            results = [float(x) if x.shape == () else x for x in fresh]
            return results[0] if len(results) == 1 else tuple(results)
        for a, target, result in zip(self._outputs, targets, fresh, strict=True):
            if not isinstance(target, np.ndarray) or target.shape != a.shape:
                shape = target.shape if isinstance(target, np.ndarray) else type(target).__name__
                raise ShapeError(
                    f"{self.name}: output {a.name} must be an array of shape {a.shape} "
                    f"to write into, not {shape}"
                )
            if not np.can_cast(np.float64, target.dtype):
                raise ShapeError(
                    f"{self.name}: output {a.name} must hold doubles, not {target.dtype}"
                )
            if not target.flags.writeable:
                raise ShapeError(f"{self.name}: output {a.name} is read-only, not writeable")
            target[...] = result
        return None

    def _bind(self, arguments: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        names = [a.name for a in (*self._inputs, *self._outputs)]
        n_in = len(self._inputs)
        if len(arguments) not in range(n_in + 1) and len(arguments) != len(names):
            raise ShapeError(
                f"{self.name} takes {n_in} inputs ({', '.join(names[:n_in])}), or these and "
                f"{len(names) - n_in} outputs ({', '.join(names[n_in:])}), "
                f"not {len(arguments)} arguments"
            )
        given = dict(zip(names, arguments, strict=False))
        for key, value in named.items():
            if key not in names or key in given:
                problem = "twice" if key in given else "but has no such argument"
                raise ShapeError(f"{self.name} was given {key} {problem}: {', '.join(names)}")
            given[key] = value
        missing = [name for name in names[:n_in] if name not in given]
        if missing:
            raise ShapeError(f"{self.name}: no value for {', '.join(missing)}")
        return given

    def _run(self, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
        pointers = [a.ctypes.data for a in (*inputs, *outputs)]
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(self.address)(*pointers)

    # ------------------------------------------------------------------ batches

    @cached_property
    def lanes(self) -> int:
        """How many states the batch code evaluates at a time."""
        return host.host_lanes()

    @cached_property
    def _batch(self) -> Callable[..., None]:
        self._batch_code = self._load(self.lanes)
        count = len(self._inputs) + len(self._outputs)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * count)
        entry: Callable[..., None] = kind(self._batch_code[ENTRY])
        return entry

    def map(self, *arguments: Any, threads: int = 1) -> Any:
        """Evaluate many states: each input has one row a state, or one value for all of them.

        Returns the outputs with one row a state.
        """
        if getattr(threads, "__index__", int)() < 1:
            raise ShapeError(
                f"{self.name}.map: threads must be a whole number from 1, not {threads!r}"
            )
        k, rows = rows_of_states(self.name, self._inputs, arguments)
        results = [np.empty((k, *a.shape)) for a in self._outputs]
        if k and k < self.lanes:
            # fewer states than lanes: the last one is repeated
            padded = [np.concatenate([r, np.repeat(r[-1:], self.lanes - k, 0)]) for r in rows]
            wide = [np.empty((self.lanes, *a.shape)) for a in self._outputs]
            self._run_batch(self.lanes, padded, wide)
            for result, full in zip(results, wide, strict=True):
                result[...] = full[:k]
        elif threads == 1 or k < 2 * self.lanes * threads:
            if k:
                self._run_batch(k, rows, results)
        else:
            self._run_threads(threads, k, rows, results)
        return results[0] if len(results) == 1 else tuple(results)

    def block(self, k: int) -> Block:
        """The batch code for exactly k states, as a kernel of pointers only, for routines.

        Its address is that of ``void kernel(const double *in0, …, double *out0, …)`` with k rows in
        every array.

        Raises:
            ShapeError: There are fewer states than lanes.
        """
        if k < self.lanes:
            raise ShapeError(f"{self.name}: a block has {self.lanes} states or more, not {k}")
        self._batch  # noqa: B018 (compile)
        count = len(self._inputs) + len(self._outputs)
        names = [f"ptr %a{i}" for i in range(count)]
        ir = (
            f"define void @{ENTRY}({', '.join(names)}) {{\n"
            f"  %code = inttoptr i64 {self._batch_code[ENTRY]} to ptr\n"
            f"  call void %code({', '.join([f'i64 {k}', *names])})\n  ret void\n}}\n"
        )
        return Block(self, host.load_ir(ir, ENTRY))

    def _run_batch(self, k: int, inputs: Sequence[Floats], outputs: Sequence[Floats]) -> None:
        self._batch(k, *[a.ctypes.data for a in (*inputs, *outputs)])
        self._externals.raise_failures()

    def _run_threads(
        self, threads: int, k: int, inputs: Sequence[Floats], outputs: Sequence[Floats]
    ) -> None:
        cuts = [k * t // threads for t in range(threads + 1)]
        self._batch  # noqa: B018 (compile before the threads start)

        def part(start: int, stop: int) -> None:
            self._run_batch(
                stop - start, [a[start:stop] for a in inputs], [a[start:stop] for a in outputs]
            )

        with ThreadPoolExecutor(threads) as pool:
            for future in [pool.submit(part, a, b) for a, b in pairwise(cuts)]:
                future.result()

    # --------------------------------------------------------------------- code

    def _load(self, lanes: int) -> Any:
        options = Options(
            lanes=lanes,
            packed=min(4, host.host_lanes()),
            fma=host.host_has_fma(),
            reproducible=self._reproducible,
        )
        key = code_key(self._schedule, self._layout, options)
        code = read_object(key)
        if code is None:
            code = object_code(self.name, emit(self._schedule, self._layout, options))
            write_object(key, code)
        externals = self._schedule.table.externals
        library = host.load_object(code, [ENTRY, EXTERNALS] if externals else [ENTRY])
        if externals:
            self._externals.bind(library[EXTERNALS])
        return library


class Block:
    """Batch code of a function for a fixed number of states; keeps alive what it calls."""

    def __init__(self, function: NativeFunction, code: Any) -> None:
        self._function, self._code = function, code
        #: Address of ``void kernel(const double *in0, …, double *out0, …)``, k rows in each.
        self.address: int = code[ENTRY]


def object_code(name: str, ir: str) -> bytes:
    """The text of a module compiled for this machine.

    Raises:
        CompileError: LLVM refuses it.
    """
    try:
        return bytes(host.host_machine().emit_object(llvm.parse_assembly(ir)))
    except RuntimeError as error:
        raise CompileError(f"LLVM could not compile {name}: {error}") from error


def machine() -> tuple[object, ...]:
    """What machine code depends on besides its text."""
    features = sorted(host.host_features().items())
    return llvm.get_host_cpu_name(), features, llvmlite.__version__, llvm.llvm_version_info


@functools.cache
def _generator() -> str:
    """A hash of the modules that write the code: what they wrote before is not used after."""
    digest = hashlib.blake2b(digest_size=16)
    for module in (schedule_module, body, emit_module, piecewise_ir, rows, sincos):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def code_key(schedule: Schedule, layout: Layout, options: Options) -> str:
    """A hash of all that the code depends on, the same in every process."""
    table = schedule.table
    live = np.array(schedule.live, dtype=np.int64)
    # a copy: as long as the buffer itself is exported, no thread could add an atom
    codes = np.frombuffer(bytes(table.ops), dtype=np.uint8)[live]
    left = np.array([table.left[i] for i in schedule.live], dtype=np.int64)
    right = np.array([table.right[i] for i in schedule.live], dtype=np.int64)
    two = np.isin(codes, list(op.BINARY))
    one = np.isin(codes, [*op.UNARY, *op.UNARY_WITH_NUMBER, op.SELECT])
    left[two | one] = _local(live, left[two | one])
    right[two] = _local(live, right[two])
    right[codes == op.SELECT] = 0  # a place in a list; what stands there is hashed below
    digest = hashlib.blake2b(digest_size=20)
    for part in (codes, left, right):
        digest.update(part.tobytes())
    rare: list[object] = []
    for atom in live[codes == op.CONSTANT].tolist():
        rare.append(float(table.values[atom]).hex())
    for atom in live[codes == op.SYMBOL].tolist():
        rare.append(layout.inputs[atom])
    for atom in live[(codes == op.SELECT) | (codes == op.EXTERNAL)].tolist():
        refs = np.array(table.operand_lists[table.right[atom]], dtype=np.int64)
        rare.append(_local(live, refs).tolist())
    for index in sorted({table.right[i] for i in live[codes == op.PIECEWISE].tolist()}):
        rare.append((index, table.piecewise[index].key))
    outputs = [_local(live, np.array(refs, dtype=np.int64)).tolist() for refs in layout.outputs]
    rare += [layout.input_sizes, outputs, options, machine(), _generator(), len(table.externals)]
    digest.update(repr(rare).encode())
    return digest.hexdigest()


def _local(live: Any, refs: Any) -> Any:
    """References as signed positions in the list of live atoms, counted from 1."""
    return (np.searchsorted(live, np.abs(refs)) + 1) * np.where(refs < 0, -1, 1)
