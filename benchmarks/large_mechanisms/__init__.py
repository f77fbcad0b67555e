"""Four mechanisms in natural coordinates: solves to LAPACK and KLU, and runs to real time.

The five-bar pendulum, the tether, Bricard's mechanism and the vehicle of `examples/large`, run as
in a thesis on sparse reordering.  ``python -m benchmarks.large_mechanisms.tables`` writes the page
of all its tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row, below


def run(quick: bool) -> Iterator[Row]:
    """Factor and four solutions of Φ_q^d in the middle of a run, and the time of the run."""
    from benchmarks.large_mechanisms.cases import CASES
    from benchmarks.large_mechanisms.runs import integrate, prepare
    from benchmarks.large_mechanisms.solves import dependent_matrix, middle, square_rows
    from benchmarks.sparse_blocks import blocks

    for case in CASES:
        prepared = prepare(case)
        runs = [integrate(prepared) for _ in range(2 if quick else 4)]
        seconds = min(run.seconds for run in runs)
        note = f" for {case.duration:g} s, {runs[0].evaluations} evaluations"
        yield below(f"{case.name}: a run", seconds, case.duration, "s", note)
        system, q, limit = prepared.system, middle(runs[0]), 1 / case.published.solve_speed_up
        yield from blocks(case.name, dependent_matrix(case, system, q), limit, quick)
        rows = square_rows(case, system, q)
        if len(rows) < len(system.multipliers):
            # KLU takes no redundant rows
            matrix = dependent_matrix(case, system, q, rows=rows)
            yield from blocks(f"{case.name}, independent rows", matrix, limit, quick)
