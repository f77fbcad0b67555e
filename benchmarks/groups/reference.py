"""Hand-written C of the structural groups, compiled by the system's compiler and run in process.

The programs of ``reference/`` are what a careful engineer writes for one mechanism: no allocation
in the loop, ``-O3 -march=native`` without ``-ffast-math``.  Each exists plain (one instant after
another, the guess is the last solution) and in lanes of eight doubles (the guess is a parabola
from the last solved instant): eight consecutive instants or, for the fan of sliders, whose dyads
do not depend on one another, also eight dyads.  The programs in lanes are lean: all lanes take the
steps of the slowest, and nothing looks at what was found.  Those of the four-bars are there
*guarded*, too, which is the algorithm of the generated kernels to the letter: lanes that are solved
stay, steps are counted, and a dyad that is not solved, or whose determinant changes its sign or
falls to nearly nothing, is told.

The sines in lanes are those of ``lanes.h``: on an AVX-512 machine they take 0.7 of the time of
glibc's vector library.  Shared libraries are kept for the life of the process.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers import PeerMissingError

Floats = npt.NDArray[np.float64]

SOURCES = Path(__file__).with_name("reference")
LANES = 8
STEPS, DT, TOLERANCE = 24001, 0.005, 1e-10
#: rad/s: the source's three speeds of the slider, the second also the four-bar's
SPEEDS = {"a": 0.3490658503988659e-3, "b": 0.3490658503988659, "c": 34.90658503988659}

FOUR_BARS = tuple(
    f"four_bar_{coordinates}_{way}"
    for coordinates in ("natural", "relative")
    for way in ("scalar", "lanes", "guarded", "scalar_stored", "lanes_stored", "guarded_stored")
)
SLIDERS = tuple(
    f"slider_{coordinates}_{way}"
    for coordinates in ("relative", "nat4", "nat8")
    for way in ("scalar", "scalar_sparse", "lanes", "lanes_of_dyads")
    if (coordinates, way) != ("relative", "scalar_sparse")  # its matrix is full
)


@dataclass(frozen=True)
class Outcome:
    """What a run of a reference program gives."""

    program: str
    n_d: int
    steps: int
    rate: float
    #: CPU time of the loop over the instants, the least of the repetitions
    seconds: float
    #: Newton updates a solved group (a block of lanes counts once)
    updates: float
    #: sum over the last computed values, so that nothing is optimised away
    check: float
    #: position, velocity, acceleration of the recorded point at the last instant
    end: Floats
    #: what was kept: (steps, 6 or 9) of one point, or (steps, n_d + 1, 6) of all
    kept: Floats

    @property
    def nanoseconds(self) -> float:
        """A group and instant."""
        return 1e9 * self.seconds / (self.n_d * self.steps)


class _Run(ctypes.Structure):
    _fields_ = (
        ("n_d", ctypes.c_int),
        ("steps", ctypes.c_int),
        ("rate", ctypes.c_double),
        ("dt", ctypes.c_double),
        ("tolerance", ctypes.c_double),
        ("recorded", ctypes.c_int),
        ("out", ctypes.c_void_p),
        ("end", ctypes.c_double * 9),
        ("check", ctypes.c_double),
        ("updates", ctypes.c_double),
        ("seconds", ctypes.c_double),
    )


def source_of(program: str) -> Path:
    """The file that holds a program."""
    for stem in ("four_bar_natural", "four_bar_relative", "slider_relative"):
        if program.startswith(stem):
            return SOURCES / f"{stem}.c"
    return SOURCES / "slider_natural.c"


@cache
def library(source: Path) -> Any:
    """Compile a file of programs and load it.

    Raises:
        PeerMissingError: there is no C compiler, or it does not know GCC's vectors.
    """
    cc = shutil.which("cc") or shutil.which("gcc")
    if cc is None:
        raise PeerMissingError(
            "no C compiler (cc or gcc) is installed: the hand-written programs cannot be measured"
        )
    path = Path(tempfile.mkdtemp(prefix="biela-groups-")) / f"{source.stem}.so"
    options = ["-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC"]
    done = subprocess.run(
        [cc, *options, "-o", str(path), str(source), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerMissingError(f"{cc} does not compile {source.name}: {done.stderr[:300]}")
    return ctypes.CDLL(str(path))


def run(
    program: str,
    n_d: int = 100,
    steps: int = STEPS,
    rate: float = SPEEDS["b"],
    dt: float = DT,
    tolerance: float = TOLERANCE,
    recorded: int = 0,
    repetitions: int = 1,
) -> Outcome:
    """Run a program of `FOUR_BARS` or `SLIDERS`; the array it fills is touched beforehand.

    Raises:
        PeerMissingError: there is no C compiler.
        ValueError: there is no such program, or no such dyad to record.
    """
    if program not in FOUR_BARS + SLIDERS:
        raise ValueError(f"no program {program!r}; there are {', '.join(FOUR_BARS + SLIDERS)}")
    if not 0 <= recorded < n_d:
        raise ValueError(f"dyad {recorded} cannot be recorded: there are {n_d}, counted from 0")
    call = getattr(library(source_of(program)), program)
    width = 9 if program in SLIDERS else 6
    points = n_d + 1 if program.endswith("_stored") else 1
    room = -(-steps // LANES) * LANES
    out = _aligned(room * points * width)
    best = float("inf")
    for _ in range(repetitions):
        state = _Run(n_d, steps, rate, dt, tolerance, recorded, out.ctypes.data)
        call(ctypes.byref(state))
        best = min(best, state.seconds)
    end = np.array(state.end[:width])
    kept = _in_order(program, out, points, width)[:steps]
    return Outcome(program, n_d, steps, rate, best, state.updates, state.check, end, kept)


def _aligned(count: int) -> Floats:
    """Zeros on a boundary of 64 bytes."""
    raw = np.zeros(count + LANES)
    raw[:] = 0.0  # pages are there before the clock runs
    start = (-raw.ctypes.data // 8) % LANES
    return raw[start : start + count]


def _in_order(program: str, out: Floats, points: int, width: int) -> Floats:
    if not program.endswith("_stored"):
        return out.reshape(-1, width)
    if "scalar" in program:
        return out.reshape(-1, points, width)
    blocks = out.reshape(-1, points, width, LANES)
    return np.ascontiguousarray(blocks.transpose(0, 3, 1, 2)).reshape(-1, points, width)


def table(n_d: int = 100, steps: int = STEPS, repetitions: int = 5) -> str:
    """Seconds of every program, as Markdown."""
    lines = [
        "| program | speed | s | ns a group and instant | Newton updates |",
        "|---|---|---|---|---|",
    ]
    for program in FOUR_BARS + SLIDERS:
        for name in "b" if program in FOUR_BARS else "abc":
            r = run(program, n_d, steps, SPEEDS[name], repetitions=repetitions)
            lines.append(
                f"| {program} | {name} | {r.seconds:.4f} | {r.nanoseconds:.2f} | {r.updates:.2f} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
