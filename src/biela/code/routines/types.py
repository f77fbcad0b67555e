"""Types of the routine language: three scalars, arrays of them with a shape, and kernels."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from biela.code.routines.sizes import Size

__all__ = ["ArrayType", "KernelType", "Parameter", "ScalarType", "Type"]


class ScalarType(Enum):
    """A number. The value is the name used in annotations and messages."""

    INT = "Int"
    REAL = "Real"
    BOOL = "Bool"  # only for conditions: never an argument or a result


@dataclass(frozen=True)
class ArrayType:
    """A contiguous row-major array of one or two dimensions."""

    element: ScalarType
    shape: tuple[Size, ...]

    @property
    def count(self) -> Size:
        """Number of elements."""
        total = Size.constant(1)
        for size in self.shape:
            total = total * size
        return total

    def __str__(self) -> str:
        kind = {1: "vector", 2: "matrix"}[len(self.shape)]
        return f"{self.element.value} {kind} of shape ({', '.join(map(str, self.shape))})"


@dataclass(frozen=True)
class KernelType:
    """A compiled function `void f(const double *in0, ..., double *out0, ...)`.

    Each size is the number of doubles behind one pointer.
    """

    inputs: tuple[Size, ...]
    outputs: tuple[Size, ...]

    def __str__(self) -> str:
        left, right = (", ".join(map(str, sizes)) for sizes in (self.inputs, self.outputs))
        return f"kernel ({left} -> {right})"


Type = ScalarType | ArrayType | KernelType


@dataclass(frozen=True)
class Parameter:
    """An argument of a routine."""

    name: str
    type: Type
