"""The first answer: time to import biela, and to see its demonstration with code from the cache."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from benchmarks.report import Row

SIMULATION = """\
import biela as bl
from examples.symbolic.four_bar import four_bar
bl.simulate(four_bar(), 1.0, step=1e-3, q={"theta1": 1.0, "theta2": -1.8, "theta3": 1.6})
"""


def run(quick: bool) -> Iterator[Row]:
    rounds = 2 if quick else 7
    nothing = fastest(["-c", "pass"], rounds)
    whole = fastest(["-c", "import biela"], rounds)
    measured = f"{1e3 * (whole - nothing):.0f} ms above the {1e3 * nothing:.0f} ms of Python itself"
    yield Row("import biela, in a new process", measured)
    first = elapsed(["-c", SIMULATION])
    warm = fastest(["-c", SIMULATION], rounds)
    measured = f"{warm:.2f} s with code from the cache, {first:.2f} s without"
    yield Row("four-bar, from its bodies to 1 s of motion, a new process", measured)
    with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
        command = ["-m", "biela", "demo", "--out", folder]
        first = elapsed(command)
        warm = fastest(command, min(rounds, 3))
    measured = f"{warm:.2f} s with code from the cache, {first:.2f} s without"
    yield Row("biela demo, with plots, film and exported simulator", measured)


def fastest(arguments: Sequence[str], rounds: int) -> float:
    """The least time of some runs of Python, s."""
    return min(elapsed(arguments) for _ in range(rounds))


def elapsed(arguments: Sequence[str]) -> float:
    """The time of a new process on the clock, s."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return time.perf_counter() - start
