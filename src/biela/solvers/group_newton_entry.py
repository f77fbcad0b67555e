"""Routines as native code with tables of their own, as kernels and as a stage of a program."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.code.llvm import host
from biela.code.looped.dispatch import dispatch_address
from biela.code.routines import Routine
from biela.code.routines.bound import Bound, pointers
from biela.code.routines.in_process import digest, generated_module
from biela.code.routines.types import ArrayType, KernelType, ScalarType

__all__ = ["bound_kernel", "run_tape_address", "stage_entry", "table_of", "tapes_of"]

#: Two arrays that a kernel is called with, at the end of the arguments of its routine.
_GIVEN = 2


def table_of(routine: Routine[..., Any], values: Mapping[str, Any], given: int) -> Any:
    """The arguments of a routine as words: numbers, addresses of arrays and their shapes.

    The last ``given`` arguments are those that its kernel is called with.  Returns the table, and
    what it refers to.
    """
    words: list[int] = []
    kept: list[Any] = []
    parameters = routine.checked.parameters
    for parameter in parameters[: len(parameters) - given]:
        value = values[parameter.name]
        match parameter.type:
            case ScalarType.REAL:
                held = np.array([float(value)])
                kept.append(held)
                words.append(held.ctypes.data)
            case ScalarType() | KernelType():
                words.append(int(value))
            case ArrayType(shape=shape):
                assert value.flags.c_contiguous and value.ndim == len(shape)
                kept.append(value)
                words += [value.ctypes.data, *value.shape]
    return np.array(words, dtype=np.int64), kept


def bound_kernel(
    routine: Routine[..., Any], values: Mapping[str, Any], sizes: tuple[int, int]
) -> Bound:
    """A kernel of two arrays of given sizes, the last arguments of a routine; others are kept."""
    table, kept = table_of(routine, values, _GIVEN)
    table = np.concatenate([table, np.array(sizes, dtype=np.int64)])
    return Bound(_kernel_entry(routine).address, _GIVEN, table, kept)


def _unpacked(routine: Routine[..., Any], given: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Lines that read the table of a routine, its arguments, and the length of the table."""
    lines: list[str] = []
    names: list[str] = []
    at = 0
    parameters = routine.checked.parameters
    for parameter in parameters[: len(parameters) - len(given)]:
        name = f"a_{parameter.name}"
        names.append(name)
        match parameter.type:
            case ScalarType.REAL:
                lines.append(f"{name} = reals_at(table[{at}])[0]")
                at += 1
            case ScalarType() | KernelType():
                lines.append(f"{name} = table[{at}]")
                at += 1
            case ArrayType(element=element, shape=shape):
                kind = "reals_at" if element is ScalarType.REAL else "integers_at"
                sizes = ", ".join(f"table[{at + 1 + k}]" for k in range(len(shape)))
                lines.append(f"{name} = carray({kind}(table[{at}]), ({sizes},))")
                at += 1 + len(shape)
    return lines, [*names, *given], at


def _scope(routine: Routine[..., Any], signature: Any) -> dict[str, Any]:
    import numba

    from biela.jit import cfunc

    kinds: Any = numba  # numba carries no types
    integers_at, reals_at = pointers()
    return {
        "carray": kinds.carray,
        "integers_at": integers_at,
        "reals_at": reals_at,
        "compiled": cfunc(signature, error_model="numpy"),
        "routine": routine.compiled,
    }


def _made(routine: Routine[..., Any], text: str, signature: Any) -> Any:
    code = hashlib.sha256(f"{text}{digest(routine)}".encode()).hexdigest()[:16]
    scope = _scope(routine, signature)
    return generated_module(f"{routine.name}_entry_{code}", text, scope).entry


@cache
def _kernel_entry(routine: Routine[..., Any]) -> Any:
    """``void entry(given, found, table)`` around a routine, as a numba.cfunc."""
    from numba import types

    lines, names, words = _unpacked(routine, ["given", "found"])
    text = "\n    ".join(
        [
            "@compiled\ndef entry(at_given, at_found, address):",
            f"table = carray(integers_at(address), {words + _GIVEN})",
            *lines,
            f"given = carray(at_given, (table[{words}],))",
            f"found = carray(at_found, (table[{words + 1}],))",
            f"routine({', '.join(names)})\n",
        ]
    )
    kinds: Any = types
    doubles = kinds.CPointer(kinds.float64)
    return _made(routine, text, kinds.void(doubles, doubles, kinds.int64))


@cache
def stage_entry(routine: Routine[..., Any]) -> Any:
    """``void entry(w, first, count, tables)``: a routine for some of its instances, a numba.cfunc.

    The last argument of the routine is the workspace, and its first the size of that; there is a
    table for each instance.
    """
    from numba import types

    lines, names, words = _unpacked(routine, ["whole"])
    text = "\n    ".join(
        [
            "@compiled\ndef entry(w, first, count, addresses):",
            "tables = carray(integers_at(addresses), first + count)",
            "for i in range(first, first + count):",
            f"    table = carray(integers_at(tables[i]), {words})",
            "    whole = carray(w, (table[0],))",
            *(f"    {line}" for line in lines),
            f"    routine({', '.join(names)})\n",
        ]
    )
    kinds: Any = types
    doubles = kinds.CPointer(kinds.float64)
    return _made(routine, text, kinds.void(doubles, kinds.int64, kinds.int64, kinds.int64))


@cache
def _run_tape() -> Any:
    ir = (
        "define void @run_tape(ptr %tape, ptr %w) {\n"
        f"  %dispatch = inttoptr i64 {dispatch_address()} to ptr\n"
        "  %records = load i64, ptr %tape\n"
        "  %first = getelementptr i64, ptr %tape, i64 1\n"
        "  tail call void %dispatch(ptr %w, ptr %first, i64 %records)\n  ret void\n}\n"
    )
    return host.load_ir(ir, "run_tape", opt=0)


def run_tape_address() -> int:
    """Address of ``void run_tape(const double *tape, double *w)``, see `tapes_of`."""
    return int(_run_tape()["run_tape"])


def tapes_of(phases: Sequence[Sequence[tuple[int, int, int, int]]]) -> NDArray[np.float64]:
    """Records of some phases, a row each: their number, and four words a record (as doubles)."""
    words = 1 + 4 * max(map(len, phases))
    table = np.zeros((len(phases), words), dtype=np.int64)
    for row, records in zip(table, phases, strict=True):
        row[0] = len(records)
        row[1 : 1 + 4 * len(records)] = np.array(records, dtype=np.int64).ravel()
    return table.view(np.float64)
