"""Kernels with memory of their own: machine code that calls a common entry with its table.

A kernel takes pointers to its arrays and nothing else (decision 3).  Where it needs more, such as
patterns and room for matrices, the addresses of these stand in a table, and the kernel is a few
instructions that call an entry ``void entry(pointers…, int64 table)`` with the address of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biela.code.llvm import host

__all__ = ["Bound", "addresses_of", "pointers"]


class Bound:
    """A kernel of so many pointers; keeps alive what it works on.

    Args:
        entry: address of the common entry.
        count: number of pointers.
        table: what the entry reads.
        kept: owners of what stands in the table.
    """

    def __init__(
        self, entry: int, count: int, table: NDArray[np.int64], kept: Sequence[object]
    ) -> None:
        self._kept = (table, *kept)
        names = ", ".join(f"ptr %a{k}" for k in range(count))
        ir = (
            f"define void @bound({names}) {{\n"
            f"  %entry = inttoptr i64 {entry} to ptr\n"
            f"  call void %entry({names}, i64 {table.ctypes.data})\n"
            "  ret void\n}\n"
        )
        self._code = host.load_ir(ir, "bound")
        self.address: int = self._code["bound"]


def addresses_of(arrays: Sequence[Any]) -> list[int]:
    """Address and length of each array, one after the other."""
    return [number for array in arrays for number in (array.ctypes.data, array.size)]


@cache
def pointers() -> tuple[Any, Any]:
    """Two functions for numba: the integers, and the reals, at an address."""
    import numba
    from llvmlite import ir
    from numba.extending import intrinsic

    kinds: Any = numba  # numba carries no types

    def pointer_to(kind: Any, element: Any) -> Any:
        @intrinsic
        def at(typingctx: Any, address: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                return builder.inttoptr(values[0], ir.PointerType(element))

            return kinds.types.CPointer(kind)(kinds.types.int64), generate

        return at

    types = kinds.types
    return pointer_to(types.int64, ir.IntType(64)), pointer_to(types.float64, ir.DoubleType())
