"""Chains of four-bars: order once, factor and solve often, against SuperLU.

SuperLU, as SciPy offers it, orders again at each factorisation; what it takes with the columns
already in its order is measured beside.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.four_bars import SaddlePoint, natural, reference_point
from benchmarks.peers import scipy_sparse
from benchmarks.report import Row, against
from benchmarks.timing import fastest, python_burst
from biela.solvers import SparseLDLT

ANGLE = np.pi / 4


def run(quick: bool) -> Iterator[Row]:
    for loops in (1000,) if quick else (1000, 10_000):
        for name, make in (("natural", natural), ("reference-point", reference_point)):
            yield from compare(f"{loops:,} four-bars, {name}", make(loops, ANGLE), quick)


def compare(what: str, system: SaddlePoint, quick: bool) -> Iterator[Row]:
    sparse = scipy_sparse()
    SparseLDLT(system.pattern, system.multipliers)  # compiles, if nothing has yet
    start = time.perf_counter()
    solver = SparseLDLT(system.pattern, system.multipliers)
    setup = (time.perf_counter() - start) * 1e3

    i, j, values = system.pattern.rows, system.pattern.columns, system.values
    off = i != j
    places = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    A = sparse.coo_array((np.concatenate([values, values[off]]), places)).tocsc()
    columns = np.argsort(sparse.linalg.splu(A).perm_c)
    ordered = A[:, columns]

    def ours() -> np.ndarray:
        solver.factor(values)
        return solver.solve(system.right)

    def theirs() -> np.ndarray:
        return sparse.linalg.splu(A).solve(system.right)

    def theirs_ordered() -> np.ndarray:
        x = np.empty(len(columns))
        x[columns] = sparse.linalg.splu(ordered, permc_spec="NATURAL").solve(system.right)
        return x

    n = system.unknowns
    for solution in (theirs(), theirs_ordered()):
        error = np.abs(ours()[:n] - solution[:n]).max() / np.abs(solution[:n]).max()
        if not error < 1e-9:
            raise WrongResultError(f"{what}: the accelerations differ by {error:.1e}")
    times = fastest(
        {
            "biela": python_burst(ours),
            "ordered": python_burst(theirs_ordered),
            "superlu": python_burst(theirs),
        },
        1.0 if quick else 4.0,
    )
    us, known, full = (times[key] * 1e3 for key in ("biela", "ordered", "superlu"))
    measured = f"{us:.3g} ms, SuperLU {full:.3g} ms, {known:.3g} ms with its order given"
    yield against(f"{what}: factor and solve", us, known, 0.5, measured)
    fill = (solver.fill + solver.size) / len(values)
    yield Row(f"{what}: order and schedule, once", f"{setup:.3g} ms, fill {fill:.2f}")
