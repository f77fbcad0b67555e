"""Driven motion of arrays of four-bars: time an instant and a four-bar, and how it grows.

The cells differ by the length of their cranks; they stand side by side, or each on the rocker of
the one before.  Times are those of positions, velocities and accelerations from the start on.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np

import biela as bl
from benchmarks.report import Row, below
from biela.analysis.looped.kinematics import looped_kinematics
from biela.equations.blocks import reference_blocks

STEPS = 20


def run(quick: bool) -> Iterator[Row]:
    times = {}
    sizes = (10, 100, 1_000) if quick else (10, 100, 1_000, 10_000)
    for plane in ("xy", None):
        where = "planar" if plane else "spatial"
        for count in sizes:
            times[where, count] = microseconds(array(count, plane), count)
            measured = f"{times[where, count]:.3g} µs an instant and a four-bar"
            yield Row(f"{count:,} {where} four-bars", measured)
        large, middle = sizes[-1], sizes[-2]
        growth = times[where, large] / times[where, middle]
        yield below(f"growth from {middle:,} to {large:,}, {where}", growth, 2, "times a four-bar")
    chained = microseconds(array(1_000, "xy", link="rocker.tip"), 1_000)
    yield Row("1,000 planar four-bars in a chain", f"{chained:.3g} µs an instant and a four-bar")
    count = 10_000 if quick else 100_000
    start = time.perf_counter()
    reference_blocks(array(count, "xy"))
    spent = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield below(f"blocks of {count:,} four-bars", spent, 10, "s", f", {memory:.2g} GB at most")


def four_bar(plane: str | None) -> bl.Model:
    """A crank of 0.1 m driven at 3 rad/s."""
    m = bl.Model("four-bar", plane=plane)
    m.parameter("a", 0.1)
    crank = m.body("crank", mass=0.2, com=("a/2", 0, 0), inertia=0.01)
    coupler = m.body("coupler", mass=0.4, com=(0.15, 0, 0), inertia=0.01)
    rocker = m.body("rocker", mass=0.5, com=(0.12, 0, 0), inertia=0.01)
    m.joint("revolute", "A", m.ground, crank, axis="z")
    m.joint("revolute", "B", crank.at("a"), coupler, axis="z", start=0.36)
    m.joint("revolute", "C", coupler.at(0.3), rocker.at(0.25), axis="z", start=0.97)
    m.joint("revolute", "D", m.ground.at(0.35), rocker, axis="z")
    rocker.marker("tip", (0.25, 0.02, 0))
    m.driver("rotary", "motor", coordinate="A", law="0.4 + 3*t")
    return m


def array(count: int, plane: str | None, link: str | None = None) -> bl.Model:
    """So many of them, side by side or in a chain."""
    m = bl.Model("array", plane=plane)
    lengths = {"a": np.linspace(0.09, 0.11, count)}
    if link is None:
        m.part("cell", four_bar(plane), count, shift=(0, 0.5, 0), parameters=lengths)
    else:
        m.part("cell", four_bar(plane), count, link=link, parameters=lengths)
    return m


def microseconds(model: bl.Model, count: int) -> float:
    """Of an instant, for each of the cells."""
    run = looped_kinematics(model, 0.01 * STEPS, step=0.01, output=0.01 * STEPS)
    assert run.statistics is not None and run.statistics.time_integration is not None
    return run.statistics.time_integration / STEPS / count * 1e6
