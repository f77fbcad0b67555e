"""A fan of 100 spatial sliders by groups at three speeds, 24,001 instants, beside hand-written C.

The crank turns by 0.0001, 0.1 and 10 degrees between instants, for which Newton's method to 1e-10
takes one, two and three steps from the last position.  The natural coordinates of a rod and a
slider are the point C and its place on the rail; NAT4 and NAT8 are the models of that name in C,
NAT8 with a second point on the slider, as many equations as the source has.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.groups import reference
from benchmarks.groups.rounds import Run, least
from benchmarks.report import Row, against, below
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.workspace import Lanes
from examples.groups.four_bar_chain import INSTANTS, instants
from examples.groups.spatial_slider import FAN_SPEEDS, fan

DYADS = 100
POINT = "slider0.C"
TARGETS = {"a": 0.4, "b": 0.5, "c": 0.6}
SOURCE = {"a": 2.995, "b": 4.384, "c": 5.616}
AGAINST_C = 1.1


def run(quick: bool) -> Iterator[Row]:
    steps = 2401 if quick else INSTANTS
    rounds = 4 if quick else 10
    for speed in FAN_SPEEDS:
        yield from _rows(speed, steps, rounds)


def solver(
    way: Coordinates,
    speed: str,
    lanes: Lanes | None = None,
    closed_forms: bool = False,
    dyads: int = DYADS,
) -> GroupSolver:
    """The fan, ready to run."""
    return GroupSolver(
        fan(dyads, FAN_SPEEDS[speed]),
        coordinates=way,
        points=[POINT],
        bodies=False,
        lanes=lanes,
        closed_forms=closed_forms,
    )


def runs(made: GroupSolver, steps: int) -> Run:
    """Its run: seconds of the processor."""
    t = instants(steps)
    room = made.room(steps, "points")
    return lambda: made.run(t, store="points", room=room, progress=False).cpu_run


def _rows(speed: str, steps: int, rounds: int) -> Iterator[Row]:
    rate = FAN_SPEEDS[speed]
    chosen = solver("relative", speed)
    made = {
        "instants": solver("relative", speed, "instants"),
        "groups": solver("relative", speed, "groups"),
        "natural": solver("natural", speed),
        "closed form": solver("relative", speed, closed_forms=True),
    }
    programs = [f"slider_{name}_lanes" for name in ("relative", "nat4", "nat8")]
    programs += ["slider_relative_lanes_of_dyads", "slider_relative_scalar"]
    programs += ["slider_nat4_scalar_sparse", "slider_nat8_scalar_sparse"]
    _check(chosen, steps, rate)

    def in_c(program: str) -> Run:
        return lambda: reference.run(program, DYADS, steps, rate).seconds

    candidates = {name: runs(s, steps) for name, s in made.items()}
    candidates |= {program: in_c(program) for program in programs}
    times = {k: v * INSTANTS / steps for k, v in least(candidates, rounds).items()}
    what = f"fan of {DYADS} sliders, speed {speed}"
    note = f", {chosen.lanes} in the lanes by itself; source {SOURCE[speed]:g} s"
    yield below(f"{what}, relative", times[chosen.lanes], TARGETS[speed], "s", note)
    for lanes, program in (
        ("instants", "slider_relative_lanes"),
        ("groups", "slider_relative_lanes_of_dyads"),
    ):
        ours, peer = times[lanes], times[program]
        measured = f"{ours:.3g} s, C {peer:.3g} s"
        yield against(f"{what}, {lanes} in the lanes, over C", ours, peer, AGAINST_C, measured)
    plain = times["slider_relative_scalar"]
    ratio = times[chosen.lanes] / plain
    yield Row(f"{what}, relative, over plain C", f"C {plain:.3g} s", ratio=ratio)
    yield Row(f"{what}, closed form", f"{times['closed form']:.3g} s")
    unknowns = max(len(k.unknowns) for k in made["natural"].groups.kernels)
    yield Row(
        f"{what}, natural ({unknowns} unknowns a dyad)",
        f"{times['natural']:.3g} s; C in lanes NAT4 {times['slider_nat4_lanes']:.3g} s, NAT8 "
        f"{times['slider_nat8_lanes']:.3g} s; plain, zeros left out, NAT4 "
        f"{times['slider_nat4_scalar_sparse']:.3g} s, NAT8 "
        f"{times['slider_nat8_scalar_sparse']:.3g} s",
    )


def _check(made: GroupSolver, steps: int, rate: float) -> None:
    """Compare the slider at the last instant with that of the C.

    Raises:
        WrongResultError: They differ.
    """
    point = made.run(instants(steps), store="points", progress=False).point(POINT)
    ours = np.concatenate([x[-1] for x in (point.position, point.velocity, point.acceleration)])
    outcome = reference.run("slider_relative_lanes", DYADS, steps, rate)
    apart = float((np.abs(ours - outcome.kept[-1]) / (1 + np.abs(ours))).max())
    if not apart < 1e-7:
        raise WrongResultError(f"the C and the groups of the fan are {apart:.1e} apart")
