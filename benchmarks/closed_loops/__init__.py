"""Simulation of mechanisms with closed loops: the same ones for biela and for its peers.

`mechanism` describes a mechanism in plain numbers and judges a motion of it; `catalogue` holds the
three that are measured; `biela_run`, `mujoco_peer` and `pinocchio_peer` run them, and `comparison`
makes the rows of the table.  ``python -m benchmarks.closed_loops`` prints what the peers do alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row


def run(quick: bool) -> Iterator[Row]:
    from benchmarks.closed_loops import comparison  # which needs this package

    yield from comparison.rows(quick)
