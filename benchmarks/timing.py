"""Times on a noisy machine: alternate the candidates in short bursts and keep the minima."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np

from biela.code.llvm import host

#: Carries something out a given number of times.
Burst = Callable[[int], Any]
Clock = Callable[[], float]


def fastest(
    candidates: Mapping[str, Burst],
    seconds: float = 1.0,
    burst: float = 1e-3,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """Seconds a repetition of each candidate: the least over bursts of about ``burst`` seconds.

    The candidates take turns for ``seconds`` in all, so that a busy moment of the machine hits
    every one of them.  For long bursts of one thread ``clock=time.thread_time`` leaves out what
    other programs take.
    """
    counts = {name: _calibrated(run, burst, clock) for name, run in candidates.items()}
    best = dict.fromkeys(candidates, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in candidates.items():
            best[name] = min(best[name], _elapsed(run, counts[name], clock) / counts[name])
    return best


def _calibrated(run: Burst, burst: float, clock: Clock) -> int:
    """How many repetitions take about ``burst`` seconds.

    The least of three: one that another program interrupts would end the search with bursts of a
    single call, whose code is in no cache.
    """
    run(1)
    count = 1
    while (elapsed := min(_elapsed(run, count, clock) for _ in range(3))) < burst / 2:
        count *= 2
    return max(1, int(count * burst / elapsed))


def _elapsed(run: Burst, count: int, clock: Clock = time.perf_counter) -> float:
    start = clock()
    run(count)
    return clock() - start


def python_burst(function: Callable[..., Any], *arguments: Any) -> Burst:
    """Calls of a Python callable."""

    def run(count: int) -> None:
        for _ in repeat(None, count):
            function(*arguments)

    return run


def native_burst(address: int, arrays: Sequence[np.ndarray], rows: int | None = None) -> Burst:
    """Calls of native code with pointers to ``arrays``, from a loop in native code.

    With ``rows`` the function is a batch entry, which takes their number first.
    """
    loop = _native_loop(len(arrays), rows is not None)
    pointers = [array.ctypes.data for array in arrays]
    first = [] if rows is None else [rows]

    def run(count: int, _alive: Iterable[np.ndarray] = arrays) -> None:
        loop(address, count, *first, *pointers)

    return run


@cache
def _native_loop(pointers: int, batch: bool) -> Callable[..., None]:
    """``void loop(f, n, [k,] p0, p1, …)`` that calls ``f([k,] p0, p1, …)`` n times."""
    types = ["i64"] * batch + ["ptr"] * pointers
    arguments = ", ".join(f"{kind} %x{i}" for i, kind in enumerate(types))
    ir = f"""\
define void @loop(ptr %f, i64 %n, {arguments}) {{
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
  call void %f({arguments})
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %again, label %done
done:
  ret void
}}
"""
    library = host.load_ir(ir, "loop")
    kinds = [ctypes.c_int64] * batch + [ctypes.c_void_p] * pointers
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *kinds)(library["loop"])

    def loop(*values: int, _alive: Any = library) -> None:
        entry(*values)

    return loop
