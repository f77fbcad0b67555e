"""Exported simulators against the clock: latency of a step, and its instructions in three states.

Each is compiled with -O2 and takes a million steps of 1 ms, by classical Runge-Kutta with one
projection of positions and one of velocities.  On a machine that does other things too, the run
with the least p99 of several counts; and the least times of each step, over rounds of the same
motion, tell the spread of the step from that of the machine.  So do loops of arithmetic in
registers and in memory that take as long as a step, timed as often in the same run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers import PeerMissingError
from benchmarks.report import Row
from biela.analysis.realtime import export_simulator
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.mechanisms.rolling_disc import rolling_disc
from examples.symbolic.four_bar import four_bar
from examples.symbolic.stewart import stewart

ROUNDS = 3
SPREAD = 1.5  # p99 of a step over its median
MODELS: Mapping[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "four_bar": (four_bar, {"q": {"theta1": 1.0, "theta2": -1.8, "theta3": 1.6}}),
    "stewart": (stewart, {}),
    "rolling_disc": (rolling_disc, {}),
    "double_parallelogram": (double_parallelogram, {}),
}

STATES = """\
#include "{name}.h"
static {name}_t s;
static void away(double turn, double speed) {{
  double q[{NAME}_Q], v[{NAME}_V];
  for (int i = 0; i < {NAME}_Q; i++) q[i] = turn*(i + 1);
  for (int i = 0; i < {NAME}_V; i++) v[i] = speed*(i + 1);
  {name}_set_state(&s, 0.0, q, v);
}}
int main(void) {{
  {name}_init(&s);
  {name}_step(&s, {NAME}_STEP, 0);
  away(0.7, 1.0);
  {name}_step(&s, {NAME}_STEP, 0);
  away(1e3, -20.0);
  {name}_step(&s, {NAME}_STEP, 0);
  return 0;
}}
"""


def run(quick: bool) -> Iterator[Row]:
    for tool in ("make", "gcc"):
        if shutil.which(tool) is None:
            raise PeerMissingError(f"{tool} is not installed")
    steps = 100_000 if quick else 1_000_000
    for name, (make, choices) in MODELS.items():
        with tempfile.TemporaryDirectory(prefix="biela-bench-") as place:
            folder = Path(place)
            export_simulator(make(), folder, **choices)
            shell(["make"], folder)
            reports = [shell([f"./run_{name}", str(steps)], folder) for _ in range(ROUNDS)]
            best = min((latencies(report) for report in reports), key=lambda found: found["p99"])
            spread = best["p99"] / best["median"]
            yield Row(
                f"{name}: a step in real time",
                f"median {best['median']:.0f} ns, p99 {spread:.2f} of it, worst "
                f"{best['worst case'] / 1000:.0f} us, {best['page faults']:.0f} page faults; "
                f"p99 of arithmetic as long {best['registers']:.2f} medians in registers, "
                f"{best['memory']:.2f} in memory",
                f"p99 ≤ {SPREAD:g} medians",
                ok=spread <= SPREAD and best["page faults"] == 0,
            )
            rounds = [f"./run_{name}", str(steps // 10), "--rounds", "10"]
            alone = latencies(shell(rounds, folder))
            spread = alone["p99"] / alone["median"]
            yield Row(
                f"{name}: the same, least of 10 rounds",
                f"median {alone['median']:.0f} ns, p99 {spread:.2f} of it, worst "
                f"{alone['best']:.0f} ns",
                f"p99 ≤ {SPREAD:g} medians",
                ok=spread <= SPREAD,
            )
            if shutil.which("valgrind") is not None:
                counts = instructions(name, folder)
                yield Row(
                    f"{name}: instructions of a step",
                    f"{', '.join(map(str, counts))} in {len(counts)} states",
                    "the same in all",
                    ok=len(set(counts)) == 1,
                )


def latencies(report: str) -> dict[str, float]:
    """The figures of a report, in ns."""
    lines = ("median", "p99", "worst case", "page faults")
    patterns = {line: rf"^{line} +(\d+)" for line in lines}
    patterns["best"] = r"(\d+) ns in the best of"
    for place in ("registers", "memory"):
        patterns[place] = rf"^machine +p99 ([\d.]+) .* in {place}$"
    found = {name: re.search(pattern, report, re.M) for name, pattern in patterns.items()}
    return {name: float(match[1]) for name, match in found.items() if match}


def instructions(name: str, folder: Path) -> list[int]:
    """How many instructions a step takes in three states, the start first."""
    text = STATES.format(name=name, NAME=name.upper())
    (folder / "states.c").write_text(text, encoding="utf-8")
    shell(["gcc", "-std=c99", "-o", "states", "states.c", f"{name}.o", "-lm"], folder)
    watch = [f"--toggle-collect={name}_step", f"--dump-after={name}_step"]
    tool = ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=calls"]
    shell([*tool, *watch, "./states"], folder)
    dumps = sorted(folder.glob("calls.*"))[1:4]  # after the one of init
    texts = [path.read_text(encoding="utf-8") for path in dumps]
    return [int(n) for text in texts for n in re.findall(r"^summary: (\d+)", text, re.M)]


def shell(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
