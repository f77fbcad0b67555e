"""From a URDF file to the first answer, each in a process of its own.

Read the file, derive the inverse dynamics, compile it, call it: with nothing on disk, and again by
another process that finds the code there.  The imports, which come before, are told apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row, below
from benchmarks.robots.models import file_of

#: Robot, whether it floats, and the most seconds for the first process and for the next ones.
ROBOTS = (("Panda", False, 0.5, 0.2), ("TALOS", True, 5.0, None))
REPEATED = 3


def rows(quick: bool) -> Iterator[Row]:
    for name, floating, first_limit, next_limit in ROBOTS:
        first, after, imports = [], [], []
        for _ in range(1 if quick else REPEATED):
            with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
                for found in (first, after):
                    loading, seconds = measured(file_of(name), floating, folder)
                    found.append(seconds)
                    imports.append(loading)
        what = f"{name}: URDF file to the first inverse dynamics"
        note = f" (after {min(imports):.2g} s of imports)"
        yield below(what, min(first), first_limit, "s", note)
        if next_limit is None:
            yield Row(f"{what}, again", f"{min(after):.3g} s")
        else:
            yield below(f"{what}, again", min(after), next_limit, "s")


def measured(path: Path, floating: bool, folder: str) -> tuple[float, float]:
    """Seconds of the imports and of the rest, in a new process with its cache in a folder."""
    call = [sys.executable, "-m", "benchmarks.robots.first_call", str(path), str(int(floating))]
    environment = {**os.environ, "BIELA_CACHE_DIR": folder}
    environment.pop("BIELA_CACHE", None)
    done = subprocess.run(call, env=environment, check=True, capture_output=True, text=True)
    imports, seconds = json.loads(done.stdout)
    return imports, seconds
