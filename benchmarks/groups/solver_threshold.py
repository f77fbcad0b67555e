"""Groups of growing size with unrolled, dense and sparse solvers: where each is best.

Two families.  *Dyads*: a chain of dyads put into one group, in natural and in reference-point
coordinates; all of a kinematic instant is measured.  Its matrix is block triangular, which sparse
factors and unrolled code make use of, and dense ones in part: the most favourable case.  *Nets*:
factors and solutions alone, of bars between random points, which fill in much more: three
factorisations and four solutions, about what an instant takes.  `SPARSE_FROM` of
`biela.equations.groups.entries` is where sparse factors win in both.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.report import Row
from benchmarks.timing import Burst, fastest
from biela.analysis.groups.solver import GroupSolver
from biela.analysis.groups.whole import whole_structure
from biela.equations.groups.entries import SPARSE_FROM
from biela.solvers.group_newton_stage import GroupNewton, NewtonOptions
from examples.groups.four_bar_chain import named_chain

INSTANTS: list[float] = [0.005 * k for k in range(1000)]
#: A chain of so many unknowns is still worth being written out, if only to see what it costs.
UNROLLED_UP_TO = 24


def run(quick: bool) -> Iterator[Row]:
    for coordinates in ("natural", "reference"):
        for dyads in (1, 2, 5, 10) if quick else (1, 2, 3, 5, 8, 12, 16, 24):
            yield from chain(dyads, coordinates, quick)
    for points in (5, 20, 40) if quick else (5, 10, 15, 20, 30, 40, 60, 100):
        yield from net(points, quick)


def chain(dyads: int, coordinates: Any, quick: bool) -> Iterator[Row]:
    """Instants of a chain as one group."""
    model = named_chain(dyads)
    whole = whole_structure(model)
    ways: dict[str, GroupSolver] = {}
    first = GroupSolver(model, whole, coordinates=coordinates, solver="dense")
    ways["dense"] = first
    m = len(first.groups.kernels[0].unknowns)
    for solver in ("unrolled", "sparse") if m <= UNROLLED_UP_TO else ("sparse",):
        ways[solver] = GroupSolver(
            model, whole, coordinates=coordinates, solver=solver,
            lanes="groups", poses=first.poses,
        )  # fmt: skip
    _check(f"{dyads} dyads, {coordinates}", ways)
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(5 if quick else 20):
        for name, way in ways.items():
            best[name] = min(best[name], way.run(INSTANTS, progress=False).cpu_run)
    yield _row(f"chain of {dyads} dyads, {coordinates}", m, best, len(INSTANTS))


def _check(what: str, ways: dict[str, GroupSolver]) -> None:
    """See that all solvers find the motion that the dense one finds."""
    found = {name: way.run(INSTANTS, progress=False).body_rows for name, way in ways.items()}
    for name, rows in found.items():
        for one, other in zip(rows, found["dense"], strict=True):
            for a, b in zip(one, other, strict=True):
                if not np.abs(a - b).max() < 1e-8 * (1 + np.abs(b).max()):
                    raise WrongResultError(f"{what}: {name} and dense solvers differ")


def net(points: int, quick: bool) -> Iterator[Row]:
    """Distances between random points of the plane, as many as coordinates, in a regular net."""
    random = np.random.default_rng(points)
    m = 2 * points
    while True:
        place = random.normal(size=(points + 2, 2))
        pairs = [(a, b) for a in range(points + 2) for b in range(a) if b < points]
        bars = [pairs[k] for k in random.choice(len(pairs), m, replace=False)]
        A = np.zeros((m, m))
        for bar, (a, b) in enumerate(bars):
            for end, other in ((a, b), (b, a)):
                if end < points:
                    A[bar, 2 * end : 2 * end + 2] = 2 * (place[end] - place[other])
        if np.linalg.cond(A) < 1e5:
            break
    i, j = np.nonzero(A)
    V = A[i, j]
    x = random.normal(size=m)
    works: dict[str, Burst] = {}
    alive: list[object] = []
    for linear in ("dense", "sparse"):
        newton = GroupNewton((m, m), i, j, linear, NewtonOptions())
        factor, solve = newton.linear_kernels()
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        given, sign, b = np.concatenate([V, [0.0, 1.0]]), np.zeros(1), A @ x
        found = np.zeros(m)
        work = _instant(entry(factor.address), entry(solve.address), given, sign, b, found)
        work(1)
        if not np.abs(found - x).max() < 1e-9 * np.linalg.cond(A):
            raise WrongResultError(f"net of {points} points, {linear}: the solution is wrong")
        works[linear] = work
        alive.append((newton, factor, solve))
    yield _row(f"net of {points} points", m, fastest(works, 0.2 if quick else 0.5), 1)


def _instant(
    factor: Callable[..., None], solve: Callable[..., None], given: Any, sign: Any, b: Any, x: Any
) -> Burst:
    arrays = (given, sign, b, x)
    pointers = [array.ctypes.data for array in arrays]

    def burst(count: int, _alive: Any = arrays) -> None:
        for _ in range(count):
            for _ in range(3):
                factor(pointers[0], pointers[1])
            for _ in range(4):
                solve(pointers[2], pointers[3])

    return burst


def _row(what: str, m: int, times: dict[str, float], instants: int) -> Row:
    """Times of an instant; the rule holds where its choice is not far from the best."""
    micro = {name: 1e6 * seconds / instants for name, seconds in times.items()}
    text = ", ".join(f"{name} {value:.2f} µs" for name, value in micro.items())
    chosen = "dense" if m < SPARSE_FROM else "sparse"
    other = "sparse" if chosen == "dense" else "dense"
    ratio = micro[chosen] / micro[other]
    return Row(f"{what}, {m} unknowns", text, f"{chosen} ≤ 1.5 {other}", ratio, ratio <= 1.5)
