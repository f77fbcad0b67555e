"""A truck suspension of one to five axles: equations assembled or generated, dense or sparse.

As in the data of Segado et al. that the source quotes, the speed-up is that over all equations at
once with a sparse solver.  The geometry is our own, so that ratios compare and times do not.
"Assembled" puts the equations of a group together from kernels of single joints at run time (TPA),
"generated" has a kernel of the whole kind (TPS); "dense" and "sparse" factorise with pivots at run
time, one instant after the other (LAP, MA27); "unrolled" is what is done if nothing is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.groups.rounds import least
from benchmarks.groups.source import table
from benchmarks.report import Row
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.whole import whole_structure
from examples.groups.truck_suspension import truck_suspension

INSTANTS = 400
GLOBAL = "global sparse"
#: Ways to solve groups, and what the source calls them.
WAYS = {
    "assembled, sparse": "TPA_MA27",
    "assembled, dense": "TPA_LAP",
    "generated, sparse": "TPS_MA27",
    "generated, dense": "TPS_LAP",
    "unrolled": "",
}


def run(quick: bool) -> Iterator[Row]:
    sizes = (1, 2) if quick else (1, 2, 3, 4, 5)
    times = truck_times(sizes, 3 if quick else 6)
    published = table("13.2")
    for k in sizes:
        yield Row(f"{k} axles, {GLOBAL}", f"{_micro(times[k, GLOBAL])} an instant")
        for way, name in WAYS.items():
            speed_up = times[k, GLOBAL] / times[k, way]
            source = f", source {published.column(f'{name} speed-up')[k - 1]:g}" if name else ""
            measured = f"{_micro(times[k, way])} an instant: {speed_up:.3g} times as fast{source}"
            yield Row(f"{k} axles, {way}", measured)
    for a, b in (
        ("generated, dense", "generated, sparse"),
        ("generated, dense", "assembled, dense"),
    ):
        holds = all(times[k, a] < times[k, b] for k in sizes)
        yield Row(
            f"{a} is faster than {b}", "at every size" if holds else "not so", "", None, holds
        )


def truck_times(sizes: Sequence[int], rounds: int) -> dict[tuple[int, str], float]:
    """Seconds an instant, by axles and way."""
    found = {}
    t = np.linspace(0.0, 1.0, INSTANTS)
    for k in sizes:
        model = truck_suspension(k)
        # written out, since one group of all bodies has the names of all of them
        plain = model.flattened()
        options = {"bodies": False, "closed_forms": False, "coordinates": "natural"}
        made = {GLOBAL: GroupSolver(plain, whole_structure(plain), solver="sparse", **options)}
        for way in WAYS:
            assembly, _, solver = way.partition(", ")
            chosen = {"assembly": assembly, "solver": solver} if solver else {}
            made[way] = GroupSolver(model, **chosen, **options)
        runs = {
            name: lambda s=s: s.run(t, store="all", progress=False).cpu_run
            for name, s in made.items()
        }
        for name, seconds in least(runs, rounds).items():
            found[k, name] = seconds / INSTANTS
    return found


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} µs"
