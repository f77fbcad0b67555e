"""Numeric routines written once in a typed subset of Python, run by numba and printed as C99."""

from __future__ import annotations

from biela.code.routines.c99 import CStyle, c_prototype, c_text
from biela.code.routines.language import (
    Int,
    IntVector,
    Kernel,
    Matrix,
    Real,
    Routine,
    Vector,
    routine,
)

__all__ = [
    "CStyle",
    "Int",
    "IntVector",
    "Kernel",
    "Matrix",
    "Real",
    "Routine",
    "Vector",
    "c_prototype",
    "c_text",
    "routine",
]
