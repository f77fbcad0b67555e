"""Determined parts of equations: units on nodes with capacities, and labels of coloured graphs.

Everything is integers and texts; numba is loaded when something is first computed.
"""

from __future__ import annotations

from biela.graph.structure.canonical import Canonical, ColouredGraph, canonical
from biela.graph.structure.units import Assignment, Condensation, Units, assigned, condensed

__all__ = [
    "Assignment",
    "Canonical",
    "ColouredGraph",
    "Condensation",
    "Units",
    "assigned",
    "canonical",
    "condensed",
]
