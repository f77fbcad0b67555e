"""Small linear systems on atoms, solved by straight-line code that runs in SIMD lanes."""

from __future__ import annotations

from biela.equations.groups.elimination.building import Block, Names, Strategy
from biela.equations.groups.elimination.cost import Operations
from biela.equations.groups.elimination.elimination import (
    Elimination,
    eliminate,
    worth_unrolling,
)
from biela.equations.groups.elimination.halves import halved_rows, halves

__all__ = [
    "Block",
    "Elimination",
    "Names",
    "Operations",
    "Strategy",
    "eliminate",
    "halved_rows",
    "halves",
    "worth_unrolling",
]
