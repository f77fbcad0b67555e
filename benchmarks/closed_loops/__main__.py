"""The peers alone: ``python -m benchmarks.closed_loops [--seconds 10] [--repeats 5] [--all]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from benchmarks.closed_loops import mujoco_peer, pinocchio_peer
from benchmarks.closed_loops.catalogue import entries
from benchmarks.closed_loops.mechanism import Mechanism
from benchmarks.closed_loops.mujoco_peer import run_mujoco
from benchmarks.closed_loops.peer_run import PeerRun
from benchmarks.closed_loops.pinocchio_peer import Settings, Way, run_pinocchio
from benchmarks.peers import PeerMissingError

STEP = 1e-3


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.closed_loops", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of simulated time")
    parser.add_argument("--repeats", type=int, default=5, help="of which the least time counts")
    parser.add_argument("--all", action="store_true", help="other settings of the peers too")
    options = parser.parse_args(arguments)
    missing: set[str] = set()
    print(f"{'mechanism':13}{'CPU s':>8}{'µs/step':>9}{'drift m':>10}{'energy':>10}  settings")
    for entry in entries().values():
        runs = peer_runs(entry.mechanism, options.seconds, options.repeats, options.all, missing)
        for run in runs:
            print(line(run), flush=True)
    for text in sorted(missing):
        print(f"not measured: {text}", file=sys.stderr)
    return 0


def peer_runs(
    mechanism: Mechanism, seconds: float, repeats: int, more: bool, missing: set[str]
) -> Iterator[PeerRun]:
    """The runs of the peers that are installed."""
    softness = [mujoco_peer.HARD] + [mujoco_peer.DEFAULT] * more
    settings = [pinocchio_peer.FASTEST, pinocchio_peer.PROXIMAL]
    if more:
        settings += [Settings(way, baumgarte=0.0) for way in Way]
    try:
        for choice in softness:
            yield run_mujoco(mechanism, seconds, STEP, choice, repeats)
    except PeerMissingError as error:
        missing.add(str(error))
    try:
        for chosen in settings:
            yield run_pinocchio(mechanism, seconds, STEP, chosen, repeats)
    except PeerMissingError as error:
        missing.add(str(error))


def line(run: PeerRun) -> str:
    """A run as a row of the table, with the point that trajectories are compared by."""
    x, y, z = run.end
    figures = f"{run.seconds:8.4f}{run.microseconds:9.2f}{run.drift:10.1e}{run.energy:10.1e}"
    return f"{run.mechanism:13}{figures}  {run.settings}; end ({x:.6f}, {y:.6f}, {z:.6f})"


if __name__ == "__main__":
    sys.exit(main())
