"""Functions of atoms, and numeric routines, as running or exported code."""

from biela.code.counts import Count, count_listing
from biela.code.function import Function, Prepared
from biela.code.native import NativeFunction
from biela.code.schedule import Changes, Schedule

__all__ = [
    "Changes",
    "Count",
    "Function",
    "NativeFunction",
    "Prepared",
    "Schedule",
    "count_listing",
]
