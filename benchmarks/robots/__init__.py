"""Dynamics of robots: native code against Pinocchio's in C++ and CasADi's generated C.

`models` has the robots, as URDF that biela and Pinocchio both read; `pinocchio_peer` and
`casadi_peer` are the peers, `comparison` makes the rows, and `start_up` those of the time from a
file to the first answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row


def run(quick: bool) -> Iterator[Row]:
    from benchmarks.robots import comparison, start_up  # which need this package

    yield from comparison.rows(quick)
    yield from start_up.rows(quick)
