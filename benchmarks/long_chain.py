"""A chain of 100 joints: compile time, time to reload from disk, and speed.

The first two are times of the CPU: what neighbours on the machine take does not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.agreement import check_equal
from benchmarks.chains import Chain, casadi_function, states
from benchmarks.peers import CompiledC
from benchmarks.report import Row, against, below
from benchmarks.timing import fastest, native_burst
from biela.code.counts import arithmetic
from examples.newton_euler import random_chain

JOINTS = 100


def run(quick: bool) -> Iterator[Row]:
    chain = Chain.of(random_chain(JOINTS))
    size = f" ({arithmetic(chain.function('f').schedule):,} operations)"
    with cache("off"):
        compiling = min(compile_time(chain) for _ in range(2 if quick else 4))
    yield below(f"compile {JOINTS} joints", compiling, 1, "s", size)
    with cache("on"):
        chain.function("chain").compiled()
        loading = min(load_time(chain) for _ in range(20))
        fresh = min(load_time_in_new_process() for _ in range(1 if quick else 3))
    yield below(f"reload {JOINTS} joints from disk", loading, 20, "ms")
    yield Row(f"reload {JOINTS} joints in a new process", f"{fresh:.3g} ms, LLVM's start included")
    yield speed(30 if quick else JOINTS, 0.3 if quick else 2.0)


def compile_time(chain: Chain) -> float:
    """CPU seconds from atoms to loaded code."""
    start = time.process_time()
    chain.function("chain").compiled()
    return time.process_time() - start


def load_time(chain: Chain) -> float:
    """CPU milliseconds from atoms to code that is already on disk."""
    start = time.process_time()
    chain.function("chain").compiled()
    return (time.process_time() - start) * 1e3


def load_time_in_new_process() -> float:
    command = [sys.executable, "-m", "benchmarks.long_chain"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def speed(joints: int, seconds: float) -> Row:
    """The torques against CasADi's C."""
    links = random_chain(joints)
    function = Chain.of(links).function("chain")
    ours, theirs = states(joints), states(joints)
    with tempfile.TemporaryDirectory() as folder:
        peer = CompiledC(casadi_function("chain", links), Path(folder))
        times = fastest(
            {
                "biela": native_burst(function.native.address, ours),
                "casadi": native_burst(peer.address, theirs),
            },
            seconds,
        )
    check_equal(f"{joints} joints", ours[-1], theirs[-1])
    us, them = (times[key] * 1e6 for key in ("biela", "casadi"))
    measured = f"{us:.2f} µs, CasADi C by gcc -O3 {them:.2f} µs"
    return against(f"{joints} joints inverse dynamics", us, them, 1.0, measured)


@contextmanager
def cache(state: str) -> Iterator[None]:
    """The cache on disk switched on or off."""
    before = os.environ.get("BIELA_CACHE")
    os.environ["BIELA_CACHE"] = state
    try:
        yield
    finally:
        if before is None:
            del os.environ["BIELA_CACHE"]
        else:
            os.environ["BIELA_CACHE"] = before


if __name__ == "__main__":
    print(load_time(Chain.of(random_chain(JOINTS))))
