"""A chain of 100 four-bars by groups, 24,001 instants, beside hand-written C.

Newton's method to 1e-10 in both: the C of `reference` is plain (one instant after the other) and in
lanes, with the guards of the kernels that are generated, and without any.  "One point" keeps the
motion of one joint; "stored" that of all of them, in memory that was there before.  In the C a dyad
stores one joint; the groups store every item that other groups read, which here is as much.  Both
tell the caches to fetch what the next block writes; the C gains a hundredth by that, as it keeps in
registers what the next dyad reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.groups import reference
from benchmarks.groups.rounds import Run, least
from benchmarks.report import Row, against, below
from biela.analysis.groups.coordinates import Coordinates
from biela.analysis.groups.solver import GroupSolver
from examples.groups.four_bar_chain import INSTANTS, four_bar_chain, instants

DYADS = 100
POINT, NUMBER = "cell[1].rocker.C", 1
#: Seconds of one point, and of everything stored; and of a plain C program of another day.
TARGETS = {"natural": (0.05, 0.15), "relative": (0.12, 0.25)}
SOURCE = {"natural": 0.317, "relative": 1.061}
#: Time over that of hand-written C of the same algorithm.
AGAINST_C = 1.1
WAYS: tuple[Coordinates, ...] = ("natural", "relative")


def run(quick: bool) -> Iterator[Row]:
    steps = 4801 if quick else INSTANTS
    rounds = 5 if quick else 15
    share = INSTANTS / steps
    for way in WAYS:
        for k, stored in enumerate((False, True)):
            yield from _rows(way, stored, TARGETS[way][k], steps, rounds, share)


def solver(way: Coordinates, closed_forms: bool = False, dyads: int = DYADS) -> GroupSolver:
    """The chain, ready to run."""
    return GroupSolver(
        four_bar_chain(dyads),
        coordinates=way,
        points=[POINT],
        bodies=False,
        closed_forms=closed_forms,
    )


def runs(made: GroupSolver, steps: int, stored: bool) -> Run:
    """Its run: seconds of the processor."""
    t = instants(steps)
    store: Literal["all", "points"] = "all" if stored else "points"
    room = made.room(steps, store)

    def measured() -> float:
        return made.run(t, store=store, room=room, progress=False).cpu_run

    return measured


def natives(made: GroupSolver, steps: int, stored: bool) -> Run:
    """The generated code of its run alone: seconds of the processor."""
    t = instants(steps)
    store: Literal["all", "points"] = "all" if stored else "points"
    room = made.room(steps, store)
    return lambda: made.run(t, store=store, room=room, progress=False).cpu_native


def check(made: GroupSolver, outcome: reference.Outcome, steps: int) -> None:
    """Compare the joint at the last instant with that of the C.

    Raises:
        WrongResultError: They differ.
    """
    point = made.run(instants(steps), store="points", progress=False).point(POINT)
    ours = [rows[-1, :2] for rows in (point.position, point.velocity, point.acceleration)]
    kept = outcome.kept[-1] if outcome.kept.ndim == 2 else outcome.kept[-1, NUMBER + 1]
    apart = float(np.abs(np.concatenate(ours) - kept).max())
    if not apart < 1e-8:
        raise WrongResultError(f"{outcome.program} and the groups are {apart:.1e} apart")


def _rows(
    way: Coordinates, stored: bool, target: float, steps: int, rounds: int, share: float
) -> Iterator[Row]:
    what = f"chain of {DYADS} dyads, {way}, " + ("all stored" if stored else "one point")
    newton, closed = solver(way), solver(way, closed_forms=True)
    end = "_stored" if stored else ""
    programs = {name: f"four_bar_{way}_{name}{end}" for name in ("scalar", "lanes", "guarded")}

    def in_c(program: str) -> float:
        return reference.run(program, DYADS, steps, recorded=NUMBER).seconds

    for program in programs.values():
        check(newton, reference.run(program, DYADS, steps, recorded=NUMBER), steps)
    times = least(
        {
            "groups": runs(newton, steps, stored),
            "native": natives(newton, steps, stored),
            "guarded": lambda: in_c(programs["guarded"]),
            "lanes": lambda: in_c(programs["lanes"]),
            "closed": runs(closed, steps, stored),
            "scalar": lambda: in_c(programs["scalar"]),
        },
        rounds,
    )
    times = {name: seconds * share for name, seconds in times.items()}
    each = times["groups"] / DYADS / INSTANTS * 1e9
    note = f", {each:.3g} ns a dyad and instant; source {SOURCE[way]:g} s"
    yield below(what, times["groups"], target, "s", note)
    yield against(
        f"{what}, its generated code over C in lanes", times["native"], times["guarded"], AGAINST_C,
        f"{times['native']:.3g} s, C {times['guarded']:.3g} s",
    )  # fmt: skip
    whole = times["groups"] / times["guarded"]
    yield Row(f"{what}, with Python and laws over C in lanes", "", ratio=whole)
    lean = times["groups"] / times["lanes"]
    yield Row(f"{what}, over C that tests nothing", f"C {times['lanes']:.3g} s", ratio=lean)
    plain = times["groups"] / times["scalar"]
    yield Row(f"{what}, over plain C", f"C {times['scalar']:.3g} s", ratio=plain)
    yield Row(f"{what}, closed form", f"{times['closed']:.3g} s")
