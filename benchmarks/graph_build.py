"""Time and memory to build a graph of 100,000 atoms in CPython."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator

from benchmarks.chains import casadi_function, symbols
from benchmarks.peers import PeerMissing
from benchmarks.report import Row, below
from examples.newton_euler import Link, inverse_dynamics, random_chain


def run(quick: bool) -> Iterator[Row]:
    links = random_chain(100 if quick else 450)
    times, nodes = [], 0
    peer: list[float] = []
    for _ in range(3 if quick else 5):
        seconds, nodes = build(links)
        times.append(seconds / nodes)
        try:
            peer.append(casadi_build(links))
        except PeerMissing:
            peer.append(float("nan"))
    ours, theirs = min(times) * 1e6, min(peer) * 1e6
    note = f" ({nodes:,} atoms; CasADi SX {theirs:.2f})"
    yield below("build a graph, a node", ours, 2, "µs", note, ratio=ours / theirs)
    yield below("memory of a graph, a node", memory(links), 200, "bytes")


def build(links: tuple[Link, ...]) -> tuple[float, int]:
    """Seconds for the inverse dynamics of a chain, and how many atoms it has."""
    q, v, a = symbols(len(links))
    gc.collect()
    start = time.perf_counter()
    inverse_dynamics(links, q, v, a)
    return time.perf_counter() - start, len(q[0].workspace)


def casadi_build(links: tuple[Link, ...]) -> float:
    """Seconds an instruction for the same with CasADi, the making of the function included."""
    gc.collect()
    start = time.perf_counter()
    function = casadi_function("chain", links)
    return (time.perf_counter() - start) / function.n_instructions()


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
