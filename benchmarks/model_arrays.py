"""An array of 100,000 four-bars: build and check, by time and memory; write out a chain of 1,000.

Each is measured in a process of its own, so that the memory is its own.  Times are of the CPU.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import WrongResultError
from benchmarks.report import Row, below
from biela.analysis.checking import check
from biela.graph import bridges, components
from biela.model import Model


def run(quick: bool) -> Iterator[Row]:
    cells = 100_000
    for form in ("array", "chain"):
        found = measured(form, cells)
        yield below(f"build and check {cells:,} four-bars, {form}", found["seconds"], 2, "s")
        yield below(f"memory of that, {form}", found["megabytes"], 1000, "MB")
    yield below(
        "write out a chain of 1,000 four-bars", min(written_out() for _ in range(2)), 2, "s"
    )
    yield graph_row(20_000 if quick else cells)


def four_bar() -> Model:
    """Crank, coupler and rocker in the xy plane, driven."""
    m = Model("four-bar")
    r = m.parameter("r", 0.1)
    crank, coupler, rocker = (
        m.body(name, mass=1.0, inertia=0.01) for name in ("crank", "coupler", "rocker")
    )
    rocker.marker("tip", (0.4, 0, 0))
    m.joint("revolute", "A", m.ground, crank, start=1.0)
    m.joint("revolute", "B", (crank, (r, 0, 0)), coupler, start=-0.5)
    m.joint("revolute", "C", (coupler, (0.3, 0, 0)), (rocker, (0.2, 0, 0)))
    m.joint("revolute", "D", (m.ground, (0.3, 0, 0)), rocker, start=1.2)
    m.driver("rotary", "motor", coordinate="A.angle", law="2*pi*t + r")
    return m


def measured(form: str, cells: int) -> dict[str, float]:
    """CPU seconds and megabytes in a new process, imports left aside in the first."""
    command = [sys.executable, "-m", "benchmarks.model_arrays", form, str(cells)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(text)
    if found["freedoms"] != cells or found["loops"] != cells:
        raise WrongResultError(f"{cells} four-bars have {cells} freedoms and loops, not {found}")
    return found


def measure(form: str, cells: int) -> dict[str, float]:
    """The same in this process."""
    start = time.process_time()
    m = Model(form)
    radii = np.linspace(0.09, 0.11, cells)
    if form == "array":
        m.part("cell", four_bar(), cells, shift=(0, 0, 0.05), parameters={"r": radii})
    else:
        m.part("cell", four_bar(), cells, link="rocker.tip", parameters={"r": radii})
    report = check(m)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {
        "seconds": seconds,
        "megabytes": peak,
        "freedoms": float(report.freedoms or 0),
        "loops": float(report.topology.loops),
    }


def written_out() -> float:
    m = Model("chain")
    m.part("cell", four_bar(), 1000, link="rocker.tip")
    start = time.process_time()
    whole = m.flattened()
    seconds = time.process_time() - start
    if (len(whole.bodies), len(whole.joints)) != (3000, 4000):
        raise WrongResultError(f"a chain of 1,000 four-bars is not {whole}")
    return seconds


def graph_row(cells: int) -> Row:
    """Components and bridges of the cells with their bodies in no order."""
    k = np.arange(cells)
    crank, coupler, rocker = 1 + 3 * k, 2 + 3 * k, 3 + 3 * k
    ground = np.maximum(rocker - 3, 0)
    order = np.random.default_rng(0).permutation(3 * cells + 1)
    first = order[np.concatenate([ground, crank, coupler, rocker])]
    second = order[np.concatenate([crank, coupler, rocker, ground])]
    bridges(20_000, np.arange(19_999), np.arange(19_999) + 1)  # loads what is compiled
    start = time.process_time()
    pieces = components(3 * cells + 1, first, second)
    loose = bridges(3 * cells + 1, first, second)
    seconds = time.process_time() - start
    if pieces.any() or loose.any():
        raise WrongResultError("a chain of four-bars hangs together and has no bridges")
    what = f"components and bridges of {3 * cells:,} bodies, {4 * cells:,} joints"
    return below(what, seconds, 1, "s")


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
