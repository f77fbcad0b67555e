"""Functions whose last step is the same for every column of matrices.

A solution X = f(S, B) with many right-hand sides B, written out entry by entry, is code of hundreds
of kilobytes that a processor reads once a call.  Here it is a *head*, a function that gives what
all columns share and the matrices B, and a *column*, a small function that runs over the columns in
vector lanes.

Written out, it is a `Function` like any other: that is what it is for everything but running.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biela.atoms import Atom
from biela.code.arrays import ExpressionArray
from biela.code.function import Function
from biela.code.llvm import columns as columns_module
from biela.code.llvm import host
from biela.code.llvm.columns import Calls, emit_columns
from biela.code.llvm.emit import ENTRY, Layout, Options
from biela.code.native import NativeFunction, code_key, object_code
from biela.code_cache import read_object, write_object
from biela.errors import ShapeError


class ColumnFunction(Function):
    """A head and a function of columns.

    Args:
        name: What it is called.
        head: Its outputs are the ``direct`` ones, what the columns share (the inputs of ``column``
            but the last, by the same names), and the matrices.
        column: Its last input is a column, its only output one as long.
        direct: Outputs of the head that are outputs of the whole.
        matrices: For each further output the matrix of the head it comes from, or "" for the unit
            matrix: output[:, c] = column(shared, matrix[:, c]).

    Raises:
        ShapeError: The arrays of both do not fit.
    """

    def __init__(
        self,
        name: str,
        head: Function,
        column: Function,
        direct: Sequence[str],
        matrices: Mapping[str, str],
    ) -> None:
        self.name, self.head, self.column = name, head, column
        self.direct, self.matrices = tuple(direct), dict(matrices)
        self.table, self.inputs = head.table, head.inputs
        given = {array.name: array for array in head.outputs}
        *self._shared, last = column.inputs
        n = last.size
        ordered = [*direct, *(a.name for a in self._shared)]
        ordered += [x for x in dict.fromkeys(matrices.values()) if x]
        if [a.name for a in head.outputs] != ordered:
            raise ShapeError(f"{name}: the outputs of its head must be {', '.join(ordered)}")
        if len(column.outputs) != 1 or column.outputs[0].shape != (n,) or last.shape != (n,):
            raise ShapeError(f"{name}: a column gives one column of the same length")
        for array in self._shared:
            if given[array.name].shape != array.shape:
                raise ShapeError(f"{name}: {array.name} has another shape in the column")
        for matrix in filter(None, matrices.values()):
            if given[matrix].shape != (n, n):
                raise ShapeError(f"{name}: {matrix} must have {n} rows and columns")

    def __reduce__(self) -> tuple[Any, ...]:
        """Stored by its parts."""
        return ColumnFunction, (self.name, self.head, self.column, self.direct, self.matrices)

    @property
    def operations(self) -> int:
        """How many operations are in its code: those of the head, and those of one column."""
        return len(self.head.schedule.operations) + len(self.column.schedule.operations)

    @cached_property
    def outputs(self) -> tuple[ExpressionArray, ...]:  # type: ignore[override]
        """The outputs written out, entry by entry."""
        given = {a.name: a for a in self.head.outputs}
        shared = [self.head.expressions(a.name) for a in self._shared]
        found = [given[name] for name in self.direct]
        n = self.column.outputs[0].size
        for name, matrix in self.matrices.items():
            unit: Any = [[self.workspace.atom(float(i == j)) for j in range(n)] for i in range(n)]
            rows = self.head.expressions(matrix) if matrix else unit
            columns = [self.column.inline(*shared, list(c)) for c in zip(*rows, strict=True)]
            flat = tuple(x.ref for row in zip(*columns, strict=True) for x in row)
            found.append(ExpressionArray(name, (n, n), flat))
        return tuple(found)

    def expressions(self, name: str | None = None) -> Any:
        """The expressions of an output; those of the head are known without the others."""
        if name in self.direct:
            return self.head.expressions(name)
        return super().expressions(name)

    def written_out(self) -> Function:
        """The same function with all its entries as expressions, and code without loops."""
        arrays = [
            {a.name: a.nested([Atom(self.table, r) for r in a.refs]) for a in group}
            for group in (self.inputs, self.outputs)
        ]
        return Function(self.name, *arrays)

    def compiled(self, reproducible: bool = False) -> NativeFunction:
        """Native code of its own; see `Function.compiled`."""
        return _NativeColumns(self, reproducible)

    def __repr__(self) -> str:
        n = self.column.outputs[0].size
        return (
            f"ColumnFunction {self.name}: {self.operations} atoms, of which "
            f"{len(self.column.schedule.operations)} for each of {n * len(self.matrices)} columns"
        )


class _NativeColumns(NativeFunction):
    """Native code of a function of columns."""

    _entries: Any

    def __init__(self, function: ColumnFunction, reproducible: bool) -> None:
        self._function = function
        self._head = function.head.compiled(reproducible)
        n = function.column.outputs[0].size
        self._unit = np.eye(n)
        given = {a.name: a for a in function.head.outputs}
        shapes = [(name, given[name].shape) for name in function.direct]
        shapes += [(name, (n, n)) for name in function.matrices]
        # only the sizes of the outputs matter: they are written through pointers
        outputs = [ExpressionArray(name, s, (0,) * int(np.prod(s))) for name, s in shapes]
        super().__init__(
            function.name, function.head.schedule, function.inputs, outputs, reproducible
        )
        self._externals = self._head._externals

    def _load(self, lanes: int) -> Any:
        if lanes > 1:
            return {ENTRY: self._entries["batch"]}
        function = self._function
        self._column = _column_code(function.column, self._reproducible)
        given = {a.name: a.size for a in function.head.outputs}
        shared = [a.size for a in function.column.inputs[:-1]]
        own = [x for x in dict.fromkeys(function.matrices.values()) if x]
        calls = Calls(
            [a.size for a in function.inputs],
            [given[name] for name in function.direct],
            shared,
            [own.index(x) if x else None for x in function.matrices.values()],
            self._unit.size,
            self._unit.ctypes.data,
        )
        ir = calls.text(self._head.address, self._column[ENTRY])
        code = object_code(self.name, ir)
        self._entries = host.load_object(code, [ENTRY, "batch"])
        return self._entries


def _column_code(column: Function, reproducible: bool) -> Any:
    """The code that runs over the columns, compiled now or found on disk."""
    lanes = host.host_lanes()
    n = column.outputs[0].size
    while lanes > n:
        lanes //= 2
    options = Options(lanes=lanes, fma=host.host_has_fma(), reproducible=reproducible)
    layout = Layout(
        {ref: (g, e) for g, array in enumerate(column.inputs) for e, ref in enumerate(array.refs)},
        tuple(array.size for array in column.inputs),
        tuple(array.refs for array in column.outputs),
    )
    key = code_key(column.schedule, layout, options)
    key = hashlib.blake2b(f"{key} columns {_generator()}".encode(), digest_size=20).hexdigest()
    code = read_object(key)
    if code is None:
        code = object_code(column.name, emit_columns(column.schedule, layout, options, n))
        write_object(key, code)
    return host.load_object(code, [ENTRY])


@functools.cache
def _generator() -> str:
    """A hash of the module that writes the code."""
    text = Path(str(columns_module.__file__)).read_bytes()
    return hashlib.blake2b(text, digest_size=16).hexdigest()
