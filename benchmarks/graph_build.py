"""Time and memory to build a graph of 100,000 atoms in CPython.

Times are of the CPU: what neighbours on the machine take does not count.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator

from benchmarks.chains import casadi_function, symbols
from benchmarks.report import Row, below
from examples.newton_euler import Link, inverse_dynamics, random_chain


def run(quick: bool) -> Iterator[Row]:
    links = random_chain(100 if quick else 450)
    seconds, nodes = min(build(links) for _ in range(3 if quick else 5))
    yield below("build a graph, a node", seconds / nodes * 1e6, 2, "µs", f" ({nodes:,} atoms)")
    yield below("memory of a graph, a node", memory(links), 200, "bytes")
    yield against_casadi(random_chain(50))


def against_casadi(links: tuple[Link, ...]) -> Row:
    """The same graph by CasADi, the two in turns."""
    ours = theirs = float("inf")
    for _ in range(5):
        theirs = min(theirs, casadi_build(links) * 1e6)
        seconds, nodes = build(links)
        ours = min(ours, seconds / nodes * 1e6)
    measured = f"{ours:.2f} µs a node, CasADi SX {theirs:.1f} µs an instruction"
    return Row("build a graph of 50 joints", measured, ratio=ours / theirs)


def build(links: tuple[Link, ...]) -> tuple[float, int]:
    """CPU seconds for the inverse dynamics of a chain, and how many atoms it has."""
    q, v, a = symbols(len(links))
    gc.collect()
    start = time.process_time()
    inverse_dynamics(links, q, v, a)
    return time.process_time() - start, len(q[0].workspace)


def casadi_build(links: tuple[Link, ...]) -> float:
    """CPU seconds an instruction for the same with CasADi, the making of the function included."""
    gc.collect()
    start = time.process_time()
    function = casadi_function("chain", links)
    return (time.process_time() - start) / int(function.n_instructions())


def memory(links: tuple[Link, ...]) -> float:
    """Bytes an atom that are still allocated when the torques are built."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    q, v, a = symbols(len(links))
    torques = inverse_dynamics(links, q, v, a)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert torques
    return (after - before) / len(q[0].workspace)
