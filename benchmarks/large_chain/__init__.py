"""Chains of 100 to 100,000 four-bars in motion, beside MuJoCo and Exudyn.

`chain` describes the mechanism, in plain numbers and as a model; `judging` finds drift and energy
from the places of its bodies; `exudyn_peer` and `comparison` run it.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row


def run(quick: bool) -> Iterator[Row]:
    from benchmarks.large_chain import comparison  # which needs this package

    yield from comparison.rows(quick)
