"""All formulations of kinematics on the chain and the fan, beside the times of the source.

Newton's method to 1e-10 in all, no closed forms, one point kept; times are for 24,001 instants.
The global ones run fewer and are scaled.  Groups are solved by elimination that is unrolled into
their kernels, in the lanes of the processor; global dense and global sparse by factorisations with
pivots at run time, one instant after the other; relative loops by size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from benchmarks.groups.rounds import least
from benchmarks.groups.source import chain_seconds, slider_seconds
from benchmarks.report import Row
from biela.analysis.groups.formulations import FORMULATIONS
from biela.analysis.groups.solver import GroupSolver
from biela.model import Model
from examples.groups.four_bar_chain import INSTANTS, instants, named_chain
from examples.groups.spatial_slider import FAN_SPEEDS, fan

#: Seconds by (dyads, formulation), or (dyads, formulation, speed).
ChainTimes = dict[tuple[int, str], float]
FanTimes = dict[tuple[int, str, str], float]
#: Unknowns of a global system above which the dense one is left out: it takes milliseconds.
DENSE = 220


def run(quick: bool) -> Iterator[Row]:
    sizes = (10, 30) if quick else (10, 50, 100)
    rounds = 3 if quick else 5
    chain = chain_times(sizes, rounds)
    for (dyads, name), ours in chain.items():
        yield _beside(f"chain, {dyads} dyads, {name}", ours, chain_seconds(name, dyads))
    largest = max(sizes)
    plane = ("natural groups", "natural groups, tensor", "relative groups", "global sparse")
    yield ordering("in the plane", plane, {n: chain[largest, n] for n in plane})
    sizes = (10,) if quick else (10, 50)
    times = fan_times(sizes, rounds)
    for (dyads, name, speed), ours in times.items():
        source = slider_seconds(name, dyads, speed)
        yield _beside(f"fan, {dyads} dyads, speed {speed}, {name}", ours, source)
    space = ("relative groups", "natural groups", "global sparse")
    for speed in FAN_SPEEDS:
        found = {n: times[max(sizes), n, speed] for n in space}
        yield ordering(f"in space, speed {speed}", space, found)


def prepared(model: Model, name: str, point: str) -> GroupSolver:
    """A formulation of a model, ready to run."""
    return GroupSolver(
        model, points=[point], bodies=False, closed_forms=False, **FORMULATIONS[name].options(model)
    )


def chain_times(
    sizes: Sequence[int], rounds: int, names: Sequence[str] = tuple(FORMULATIONS)
) -> ChainTimes:
    """Of the chain, by size and formulation."""
    found: ChainTimes = {}
    for dyads in sizes:
        model = named_chain(dyads)
        made = {
            name: prepared(model, name, "cell[0].rocker.C")
            for name in names
            if name != "global dense" or 2 * dyads <= DENSE
        }
        for name, seconds in _seconds(made, 1.0, rounds).items():
            found[dyads, name] = seconds
    return found


def fan_times(
    sizes: Sequence[int], rounds: int, names: Sequence[str] = tuple(FORMULATIONS)
) -> FanTimes:
    """Of the fan, by size, formulation and speed: the angles of the crank are those of the speed.

    One solver serves all speeds, since it is the times that are stretched.
    """
    found: FanTimes = {}
    for dyads in sizes:
        model = fan(dyads, 1.0)
        made = {
            name: prepared(model, name, "slider0.C")
            for name in names
            if name != "global dense" or 3 * dyads <= DENSE
        }
        for speed, rate in FAN_SPEEDS.items():
            for name, seconds in _seconds(made, rate, rounds).items():
                found[dyads, name, speed] = seconds
    return found


def _seconds(made: dict[str, GroupSolver], stretch: float, rounds: int) -> dict[str, float]:
    """For 24,001 instants."""
    counts = {name: 241 if FORMULATIONS[name].whole else INSTANTS for name in made}

    def measured(name: str) -> float:
        t = stretch * instants(counts[name])
        return made[name].run(t, store="points", progress=False).cpu_run * INSTANTS / counts[name]

    return least({name: partial(measured, name) for name in made}, rounds)


def ordering(where: str, names: Sequence[str], times: dict[str, float]) -> Row:
    """Whether the times stand in the order of the source, as a row."""
    holds = all(times[a] < times[b] for a, b in pairwise(names))
    measured = ", ".join(f"{n} {times[n]:.3g} s" for n in sorted(times, key=times.__getitem__))
    return Row(f"order {where}", measured, " < ".join(names), None, holds)


def _beside(what: str, ours: float, source: float | None) -> Row:
    if source is None:
        return Row(what, f"{ours:.3g} s")
    return Row(what, f"{ours:.3g} s, source {source:g} s: {source / ours:.3g} times", ratio=None)
