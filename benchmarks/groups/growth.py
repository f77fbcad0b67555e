"""Chains of 100 to 100,000 four-bars by groups: the time of a dyad and instant, and a line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.groups.chain import WAYS, runs, solver
from benchmarks.groups.rounds import least
from benchmarks.report import Row, below
from biela.analysis.groups.coordinates import Coordinates

#: Instants of a run: enough that a block of them fills the lanes many times.
INSTANTS = 1200
#: Nanoseconds a dyad and instant of the longest chain over those of the shortest.
GROWTH = 2.0


def run(quick: bool) -> Iterator[Row]:
    sizes = (100, 1_000, 10_000) if quick else (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    for way in WAYS:
        times = seconds(way, sizes, 3 if quick else 5)
        for dyads, spent in times.items():
            each = spent / dyads / INSTANTS * 1e9
            yield Row(f"{way}, {dyads:,} dyads", f"{each:.3g} ns a dyad and instant")
        most, few = max(times), min(times)
        growth = times[most] / most / (times[few] / few)
        yield below(f"{way}, growth from {few:,} to {most:,}", growth, GROWTH, "times a dyad")
        yield Row(f"{way}, line through the times", *linear(times))


def seconds(way: Coordinates, sizes: tuple[int, ...], rounds: int) -> dict[int, float]:
    """Of chains of so many dyads, each alone in memory."""
    found = {}
    for dyads in sizes:
        made = solver(way, dyads=dyads)
        found[dyads] = least({"": runs(made, INSTANTS, False)}, rounds)[""]
    return found


def fit(times: dict[int, float]) -> float:
    """R² of the straight line through the times."""
    x, y = np.array(list(times)), np.array(list(times.values()))
    line = np.polyval(np.polyfit(x, y, 1), x)
    return float(1 - ((y - line) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def linear(times: dict[int, float]) -> tuple[str, str, None, bool]:
    """What a row says of the line."""
    r2 = fit(times)
    return f"R² = {r2:.5f}", "R² > 0.99", None, r2 > 0.99
