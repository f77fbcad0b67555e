"""The sine and cosine of our own: time for a pack of angles, and distance from the C library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.report import Row
from benchmarks.timing import fastest, native_burst
from biela.code.llvm import host, sincos

ANGLES = 1024
RANGE = 100.0


def run(quick: bool) -> Iterator[Row]:
    widths = [1, 2, 4, 8]
    codes = {lanes: array_code(pack_function(lanes)) for lanes in widths}
    library = array_code(LIBRARY)
    x = np.random.default_rng(0).uniform(-RANGE, RANGE, ANGLES)
    s, c = np.zeros(ANGLES), np.zeros(ANGLES)
    bursts = {f"{n}": native_burst(code["array"], [x, s, c]) for n, code in codes.items()}
    bursts["library"] = native_burst(library["array"], [x, s, c])
    times = {name: t / ANGLES for name, t in fastest(bursts, 0.3 if quick else 2.0).items()}
    many = np.random.default_rng(1).uniform(-RANGE, RANGE, ANGLES * (10 if quick else 100))
    for lanes in widths:
        error = distance(native_burst(codes[lanes]["array"], [x, s, c]), x, s, c, many)
        measured = (
            f"{times[f'{lanes}'] * lanes * 1e9:.1f} ns a pack, {times[f'{lanes}'] * 1e9:.2f} an "
            f"angle; libm {times['library'] * 1e9:.2f}; within {error:.2f} ulp of it"
        )
        ratio = times[f"{lanes}"] / times["library"]
        yield Row(f"sin and cos, packs of {lanes}", measured, ratio=ratio)


def distance(
    burst: Callable[[int], Any], x: np.ndarray, s: np.ndarray, c: np.ndarray, angles: np.ndarray
) -> float:
    """The largest difference from the library, in units of the last place."""
    worst = 0.0
    for start in range(0, len(angles), ANGLES):
        x[:] = angles[start : start + ANGLES]
        burst(1)
        for ours, exact in ((s, math.sin), (c, math.cos)):
            theirs = np.array([exact(angle) for angle in x])
            worst = max(worst, float((np.abs(ours - theirs) / np.spacing(np.abs(theirs))).max()))
    return worst


def pack_function(lanes: int) -> tuple[int, str]:
    """The number of lanes, and IR of ``@pack``: x to the pair of its sines and cosines."""
    fma = host.host_has_fma()
    parts = [
        sincos.declarations([lanes], fma),
        sincos.slow_function(lanes),
        sincos.sincos_function(lanes, fma).replace(f"@biela_sincos_{lanes}(", "@pack("),
    ]
    return lanes, "\n".join(parts)


LIBRARY = (
    1,
    """\
declare double @sin(double)
declare double @cos(double)
define internal { double, double } @pack(double %x) {
  %s = call double @sin(double %x)
  %c = call double @cos(double %x)
  %one = insertvalue { double, double } poison, double %s, 0
  %two = insertvalue { double, double } %one, double %c, 1
  ret { double, double } %two
}
""",
)


def array_code(pack: tuple[int, str]) -> Any:
    """Loaded ``void array(x, s, c)``, which goes over ANGLES angles a pack at a time."""
    lanes, definition = pack
    real = sincos.vector_type(lanes)
    loop = f"""
define void @array(ptr %x, ptr %s, ptr %c) {{
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
  %px = getelementptr double, ptr %x, i64 %i
  %ps = getelementptr double, ptr %s, i64 %i
  %pc = getelementptr double, ptr %c, i64 %i
  %angle = load {real}, ptr %px, align 8
  %pair = call {{ {real}, {real} }} @pack({real} %angle)
  %sine = extractvalue {{ {real}, {real} }} %pair, 0
  %cosine = extractvalue {{ {real}, {real} }} %pair, 1
  store {real} %sine, ptr %ps, align 8
  store {real} %cosine, ptr %pc, align 8
  %j = add i64 %i, {lanes}
  %more = icmp slt i64 %j, {ANGLES}
  br i1 %more, label %again, label %done
done:
  ret void
}}
"""
    return host.load_ir(definition + loop, "array")
