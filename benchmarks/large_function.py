"""A function of 100,000 operations: compile time and peak memory, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.chains import Chain
from benchmarks.report import Row, below
from biela.code.counts import arithmetic
from examples.newton_euler import random_chain

JOINTS = 466


def run(quick: bool) -> Iterator[Row]:
    joints = JOINTS // 4 if quick else JOINTS
    command = [sys.executable, "-m", "benchmarks.large_function", str(joints)]
    environment = {**os.environ, "BIELA_CACHE": "off"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = json.loads(done.stdout)
    what = f"compile {found['operations']:,} operations"
    scale = 0.25 if quick else 1.0
    yield below(what, found["seconds"], 6 * scale, "s")
    if found["peak"] is None:
        yield Row(f"{what}, peak memory", "not measured: this system does not tell")
    else:
        note = f" ({found['before']:.2f} before)"
        yield below(f"{what}, peak memory", found["peak"], 2, "GB", note)


def measure(joints: int) -> dict[str, float | int | None]:
    """CPU seconds from atoms to loaded code, and the peak resident memory of this process."""
    chain = Chain.of(random_chain(joints))
    before = peak_memory()
    start = time.process_time()
    function = chain.function("chain")
    function.compiled()
    return {
        "seconds": time.process_time() - start,
        "operations": arithmetic(function.schedule),
        "before": before,
        "peak": peak_memory(),
    }


def peak_memory() -> float | None:
    """Gigabytes; None where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would on Linux report the peak of the parent, if that was larger
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e9
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
