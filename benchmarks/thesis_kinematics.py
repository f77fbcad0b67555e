"""Kinematics of the three examples of Peinado's thesis: at hand, new, and on a fresh installation.

The thesis gives about 20 s for the 100 instants of its first two examples (MATLAB, 2016).  Here
the same four text files are read and moved

* in a process that has moved the model before;
* in a new process, with a model that was never seen: its lengths are changed, and with them its
  code;
* in a new process without any stored code at all, as after an installation.

Times of processes are those of the CPU, from their start to their end; the clock stands beside.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from math import pi
from pathlib import Path

import numpy as np

import biela as bl
from benchmarks.agreement import WrongResultError
from benchmarks.report import Row, below
from biela.model.files import load_thesis_folder
from biela.results import Results

FOLDER = Path(__file__).parents[1] / "examples" / "thesis"
PUBLISHED = "; the thesis: about 20 s"
#: Laws of the drivers; lengths in them are multiplied by f.
LAWS: dict[str, tuple[str, ...]] = {
    "slider_crank": ("pi/4 + 2*pi*t",),
    "robot_arm": ("{f}*1", "{f}*0.5*t", "{f}*4"),
    "spatial_slider_crank": ("2*pi*t",),
}


def run(quick: bool) -> Iterator[Row]:
    rounds = 1 if quick else 4
    for name in LAWS:
        spent = at_hand(name, 5 if quick else 30)
        yield below(f"{name}, 100 instants, after compilation", 1e3 * spent, 50, "ms", PUBLISHED)
    for name in LAWS:
        in_a_process(name)  # the solvers are stored from now on
        spent, clock = min(in_a_process(name) for _ in range(rounds))
        note = f" ({clock:.3g} s by the clock{PUBLISHED})"
        yield below(f"{name}, never seen, in a new process", spent, 3, "s", note)
    names = list(LAWS)[:1] if quick else list(LAWS)
    for name in names:
        with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
            spent, clock = in_a_process(name, {"BIELA_CACHE_DIR": folder})
        note = f" ({clock:.3g} s by the clock{PUBLISHED})"
        yield below(f"{name}, without any stored code", spent, 20, "s", note)


def at_hand(name: str, rounds: int) -> float:
    """The least time of `kinematics` with a system whose code is there, s."""
    system = bl.formulate(scaled(name, 1.0), "joint")
    verify(name, moved(system), 1.0)

    def elapsed() -> float:
        start = time.perf_counter()
        moved(system)
        return time.perf_counter() - start

    return min(elapsed() for _ in range(rounds))


def in_a_process(name: str, places: dict[str, str] | None = None) -> tuple[float, float]:
    """Seconds of the CPU and of the clock of a new process, which moves a model never seen."""
    factor = repr(random.SystemRandom().uniform(1.0, 1.1))
    command = [sys.executable, "-m", "benchmarks.thesis_kinematics", name, factor]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | (places or {})
    )
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


# --- the examples ---------------------------------------------------------------------------------


def scaled(name: str, factor: float) -> bl.Model:
    """An example whose lengths are multiplied by a factor."""
    with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
        place = Path(folder) / name
        place.mkdir()
        for file in (FOLDER / name).iterdir():
            edit = EDITS.get(file.stem, _kept)
            lines = (line.partition("#")[0] for line in file.read_text().splitlines())
            made = [edit(line, factor) for line in lines if line.split()]
            (place / file.name).write_text("\n".join(made))
        laws = [law.format(f=repr(factor)) for law in LAWS[name]]
        return load_thesis_folder(place, laws=laws)


def _joint(line: str, factor: float) -> str:
    """A row of a joint or driver: a code, two links, points, and a value that is left alone."""
    plain = line.partition("|")[0].split()
    points = [repr(factor * float(x)) for x in plain[3:21]]
    return " ".join([*plain[:3], *points, *plain[21:]])


def _link(line: str, factor: float) -> str:
    """A row of the initial position: perhaps the keyword, a place, four Euler parameters."""
    words = line.split()
    head = words[:1] if words[0] == "qo" else []
    numbers = [float(x) for x in words[len(head) :]]
    return " ".join([*head, *(repr(factor * x) for x in numbers[:3]), *map(repr, numbers[3:])])


def _kept(line: str, factor: float) -> str:
    del factor
    return line


EDITS = {"joints": _joint, "drivers": _joint, "initial": _link}


def moved(system: bl.System) -> Results:
    duration = 2.0 if system.name == "robot_arm" else 1.0
    return bl.kinematics(system, duration, step=duration / 100, end_point=False)


def verify(name: str, found: Results, factor: float) -> None:
    """Compare with the closed form.

    Raises:
        WrongResultError: It is another motion.
    """
    t = found.t
    expected: dict[str, Callable[[], np.ndarray]] = {
        "slider_crank": lambda: (
            2 * np.cos(pi / 4 + 2 * pi * t) + np.sqrt(12.25 - 4 * np.sin(pi / 4 + 2 * pi * t) ** 2)
        ),
        "robot_arm": lambda: 4 + np.sqrt(4 - (1 + 0.25 * t * t) / 4),
        "spatial_slider_crank": lambda: np.sqrt(
            0.09 - (0.1 - 0.08 * np.sin(2 * pi * t)) ** 2 - (0.12 + 0.08 * np.cos(2 * pi * t)) ** 2
        ),
    }
    if name == "robot_arm":  # the height of the elbow
        ours = found.frame("link3").point((2 * factor, 0, 0)).position[:, 2]
    else:
        ours = found["link4.x"]
    error = float(np.abs(ours - factor * expected[name]()).max())
    if not error < 1e-11:
        raise WrongResultError(f"{name}: {error:.2g} m from the closed form")


if __name__ == "__main__":
    which, by = sys.argv[1], float(sys.argv[2])
    verify(which, moved(bl.formulate(scaled(which, by), "joint")), by)
