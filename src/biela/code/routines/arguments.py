"""Arguments of a routine called from Python: checked, and turned into what machine code takes."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final

import numpy as np

from biela.code.routines.check import CheckedRoutine
from biela.code.routines.types import ArrayType, KernelType, ScalarType
from biela.errors import ShapeError

__all__ = ["Binding", "callable_kernels"]

_DTYPES: Final = {ScalarType.INT: np.dtype(np.int64), ScalarType.REAL: np.dtype(np.float64)}
_REMEMBERED: Final = 64
_FUNCTION_POINTER: Final = ctypes.CFUNCTYPE(None).__mro__[
    1
]  # what all ctypes functions derive from


class Binding:
    """Checks the arguments of one routine."""

    def __init__(self, checked: CheckedRoutine) -> None:
        self.checked = checked
        self.name = checked.tree.name
        self.names = [p.name for p in checked.parameters]
        kinds = list(enumerate(p.type for p in checked.parameters))
        self.integers = [k for k, kind in kinds if kind is ScalarType.INT]
        self.others = [(k, kind) for k, kind in kinds if kind is not ScalarType.INT]
        self.shapes: dict[tuple[int, ...], dict[int, tuple[int, ...]]] = {}

    def native(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Return the arguments in order, as compiled code takes them.

        Raises `ShapeError` for an array of another shape, type or layout, `TypeError` for
        anything else that does not fit.
        """
        if kwargs:
            missing = [n for n in self.names[len(args) :] if n not in kwargs]
            if missing or len(args) + len(kwargs) != len(self.names):
                raise TypeError(f"{self.name}() takes ({', '.join(self.names)})")
            args = [*args, *(kwargs[n] for n in self.names[len(args) :])]
        if len(args) != len(self.names):
            raise TypeError(
                f"{self.name}() takes {len(self.names)} arguments "
                f"({', '.join(self.names)}), not {len(args)}"
            )
        values = list(args)
        integers = tuple(self._integer(k, values[k]) for k in self.integers)
        shapes = self.shapes.get(integers) or self._evaluate(integers)
        for k, number in zip(self.integers, integers, strict=True):
            values[k] = number
        for k, kind in self.others:
            value = values[k]
            if isinstance(kind, ArrayType):
                values[k] = self._array(self.names[k], kind, value, shapes[k])
            elif isinstance(kind, KernelType):
                values[k] = self._kernel(self.names[k], kind, value, shapes[k])
            else:
                values[k] = self._real(k, value)
        return values

    def _evaluate(self, integers: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """Sizes of each array and kernel, as numbers; kept, as most calls repeat them."""
        sizes = {self.names[k]: number for k, number in zip(self.integers, integers, strict=True)}
        found: dict[int, tuple[int, ...]] = {}
        for k, kind in self.others:
            if isinstance(kind, ArrayType):
                found[k] = tuple(size.value(sizes) for size in kind.shape)
            elif isinstance(kind, KernelType):
                found[k] = tuple(size.value(sizes) for size in (*kind.inputs, *kind.outputs))
        if len(self.shapes) >= _REMEMBERED:
            self.shapes.clear()
        self.shapes[integers] = found
        return found

    def _integer(self, k: int, value: Any) -> int:
        try:
            return operator.index(value)
        except TypeError:
            message = f"{self.name}(): '{self.names[k]}' is an integer, not {value!r}"
            raise TypeError(message) from None

    def _real(self, k: int, value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            message = f"{self.name}(): '{self.names[k]}' is a real, not {value!r}"
            raise TypeError(message) from None

    def _array(self, name: str, kind: ArrayType, value: Any, wanted: tuple[int, ...]) -> Any:
        dtype = _DTYPES[kind.element]
        if not isinstance(value, np.ndarray):
            raise ShapeError(
                f"{self.name}(): '{name}' is an array of {dtype} of shape {wanted}, "
                f"not a {type(value).__name__}; use numpy.array"
            )
        if value.shape != wanted:
            shape = ", ".join(map(str, kind.shape))
            raise ShapeError(
                f"{self.name}(): '{name}' has shape {value.shape} where ({shape}) = {wanted} "
                "is needed"
            )
        if value.dtype != dtype:
            raise ShapeError(f"{self.name}(): '{name}' is of {value.dtype}; make it {dtype}")
        flags = value.flags
        if not (flags.c_contiguous and flags.aligned):
            raise ShapeError(
                f"{self.name}(): '{name}' is not contiguous by rows; use numpy.ascontiguousarray"
            )
        if not flags.writeable:
            if name in self.checked.written:
                raise ShapeError(f"{self.name}(): '{name}' is written to, and it is read-only")
            return value.copy()  # numba has another type for read-only arrays
        return value

    def _kernel(self, name: str, kind: KernelType, value: Any, sizes: tuple[int, ...]) -> int:
        address = _address(value)
        if address is None:
            raise TypeError(
                f"{self.name}(): kernel '{name}' is a compiled function with an `address`, or a "
                f"ctypes function, not {value!r}; a bare number does not keep its code alive"
            )
        # a compiled function of atoms knows its sizes; a ctypes function does not
        split = len(kind.inputs)
        for attribute, numbers in (("input_sizes", sizes[:split]), ("output_sizes", sizes[split:])):
            found = getattr(value, attribute, None)
            if found is not None and tuple(found) != numbers:
                raise ShapeError(
                    f"{self.name}(): kernel '{name}' has {attribute} {tuple(found)} where "
                    f"{numbers} is needed"
                )
        return address


def callable_kernels(checked: CheckedRoutine, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a plain Python routine take compiled kernels as well as Python functions."""
    kernels = [k for k, p in enumerate(checked.parameters) if isinstance(p.type, KernelType)]
    if not kernels:
        return function

    @wraps(function)
    def call(*args: Any) -> Any:
        converted = list(args)
        for k in kernels:
            address = _address(args[k])
            if address is not None:
                converted[k] = _by_pointers(address)
        return function(*converted)

    return call


def _address(value: Any) -> int | None:
    pointer: Any = value
    if isinstance(value, _FUNCTION_POINTER):
        return ctypes.cast(pointer, ctypes.c_void_p).value
    address = getattr(value, "address", None)
    return address if isinstance(address, int) else None


def _by_pointers(address: int) -> Callable[..., None]:
    def call(*arrays: Any) -> None:
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
        prototype(address)(*(array.ctypes.data for array in arrays))

    return call
