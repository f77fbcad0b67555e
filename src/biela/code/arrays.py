"""The named arrays a function takes and gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biela.atoms import Atom
from biela.atoms.table import Table
from biela.budgets import about, check_memory
from biela.errors import ShapeError, WorkspaceError

Floats = npt.NDArray[np.float64]
#: An expression, a number, or a list (of lists) of them.
Entries = Atom | float | Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True)
class ExpressionArray:
    """A named scalar, vector or matrix of expressions, stored row by row."""

    name: str
    shape: tuple[int, ...]
    refs: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.refs)

    def ordered(self, order: str) -> tuple[int, ...]:
        """The entries in memory order: ``"row"`` by row, ``"column"`` by column."""
        if order == "row" or len(self.shape) < 2:
            return self.refs
        rows, columns = self.shape
        return tuple(self.refs[i * columns + j] for j in range(columns) for i in range(rows))

    def nested(self, items: Sequence[Any]) -> Any:
        """One item an entry, nested as the array is."""
        if not self.shape:
            return items[0]
        if len(self.shape) == 1:
            return list(items)
        columns = self.shape[1]
        return [list(items[i * columns : (i + 1) * columns]) for i in range(self.shape[0])]


def read_arrays(table: Table, entries: Mapping[str, Entries]) -> tuple[ExpressionArray, ...]:
    """Named arrays from what people write: atoms, numbers, lists of them, lists of lists."""
    return tuple(_read(table, name, entry) for name, entry in entries.items())


def _read(table: Table, name: str, entry: Entries) -> ExpressionArray:
    flat: list[Any]
    shape: tuple[int, ...]
    if isinstance(entry, np.ndarray):
        flat, shape = list(entry.ravel()), entry.shape
    elif not isinstance(entry, Sequence):
        flat, shape = [entry], ()
    elif len(entry) and _is_row(entry[0]):
        if not all(map(_is_row, entry)):
            raise ShapeError(f"{name} is a list of entries, or of rows of them, and not of both")
        rows = [list(row) for row in entry]
        lengths = sorted({len(row) for row in rows})
        if len(lengths) > 1:
            raise ShapeError(
                f"{name}: the rows of a matrix must be equally long, not {lengths} long"
            )
        flat, shape = [e for row in rows for e in row], (len(rows), lengths[0])
    else:
        flat, shape = list(entry), (len(entry),)
    if len(shape) > 2:
        raise ShapeError(f"{name} has {len(shape)} dimensions; at most a matrix is possible")
    return ExpressionArray(name, shape, tuple(table.workspace.atom(e).ref for e in flat))


def _is_row(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return isinstance(item, Sequence) and not isinstance(item, str | bytes)


def find_table(*groups: Mapping[str, Entries]) -> Table:
    """The table of the first atom in the arrays."""
    for group in groups:
        if not hasattr(group, "values"):
            raise ShapeError(
                f"inputs and outputs are given by name, as {{'q': [...]}}, not as {group!r}"
            )
        for entry in group.values():
            stack: list[Any] = [entry]
            while stack:
                item = stack.pop()
                if isinstance(item, Atom):
                    return item.table
                if _is_row(item):
                    stack.extend(list(item)[::-1])
    raise WorkspaceError("a function needs at least one symbol or expression")


def checked_array(owner: str, name: str, value: Any, shape: tuple[int, ...]) -> Floats:
    """``value`` as a contiguous array of doubles of that shape.

    Raises:
        ShapeError: That names the function and the argument, and what is wrong with it.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{owner}: argument {name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        hint = "; atoms go to Function.inline" if array.dtype.kind == "O" else ""
        raise ShapeError(
            f"{owner}: argument {name} has entries of type {array.dtype}, not real numbers{hint}"
        )
    if array.shape != shape:
        if math.prod(array.shape) == math.prod(shape) and not (shape and array.shape):
            array = array.reshape(shape)
        else:
            hint = ""
            if len(array.shape) == len(shape) + 1 and array.shape[1:] == shape:
                hint = "; for many states at once use map()"
            raise ShapeError(
                f"{owner}: argument {name} has shape {array.shape}, expected {shape}{hint}"
            )
    return np.ascontiguousarray(array, dtype=np.float64).reshape(shape)


def _in_rows(array: Floats, kind: ExpressionArray) -> bool:
    """Whether an array has a row of doubles in memory for each state."""
    rows = array.ndim == len(kind.shape) + 1
    return rows and array.dtype == np.float64 and array.flags.c_contiguous


def rows_of_states(
    name: str, kinds: Sequence[ExpressionArray], arguments: Sequence[Any]
) -> tuple[int, list[Floats]]:
    """How many states arguments of `Function.map` are for, and one row per state of each.

    Raises:
        ShapeError: They are too few or too many, or do not have the shapes that they should.
    """
    if len(arguments) != len(kinds):
        names = ", ".join(kind.name for kind in kinds)
        raise ShapeError(f"{name}.map takes {len(kinds)} arrays ({names}), not {len(arguments)}")
    try:
        arrays = [np.asarray(x) for x in arguments]
    except ValueError as error:
        raise ShapeError(f"{name}.map: an argument is not an array of numbers: {error}") from None
    pairs = list(zip(arrays, kinds, strict=True))
    counts = {a.shape[0] for a, kind in pairs if a.ndim == len(kind.shape) + 1}
    if len(counts) != 1:
        spelled = ", ".join(f"{kind.name} {a.shape}" for a, kind in pairs)
        raise ShapeError(
            f"{name}.map: the inputs have {sorted(counts)} rows ({spelled}); they must agree"
            if counts
            else f"{name}.map: at least one input must have a row for each state"
        )
    k = counts.pop()
    # views and single values are written out, a row for each state
    copied = sum(math.prod(kind.shape) for a, kind in pairs if not _in_rows(a, kind))
    check_memory(
        k * copied,
        f"{name}.map: arguments for {about(k)} states would take {{}}",
        "give fewer states at a time",
        ShapeError,
    )
    rows = []
    for array, kind in pairs:
        if array.ndim == len(kind.shape):
            one = checked_array(name, kind.name, array, kind.shape)
            rows.append(np.ascontiguousarray(np.broadcast_to(one, (k, *kind.shape))))
        else:
            rows.append(checked_array(f"{name}.map", kind.name, array, (k, *kind.shape)))
    return k, rows
