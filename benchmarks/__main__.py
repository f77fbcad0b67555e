"""Run the benchmarks and print one table: ``python -m benchmarks [--quick] [name ...]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.agreement import WrongResultError
from benchmarks.peers import PeerMissingError
from benchmarks.registry import BENCHMARKS, Benchmark
from benchmarks.report import Row, page, summary, table

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="run these only")
    parser.add_argument("--quick", action="store_true", help="short bursts and smaller models")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    chosen = [BENCHMARKS[name] for name in options.names or BENCHMARKS]
    if options.list:
        for item in chosen:
            print(f"{item.name:20} {item.summary}")
        return 0
    rows: list[Row] = []
    failures = 0
    with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
        os.environ["BIELA_CACHE_DIR"] = folder  # nothing compiled on another day is used
        os.environ.pop("BIELA_CACHE", None)
        for number, item in enumerate(chosen, 1):
            print(f"[{number}/{len(chosen)}] ", end="", file=sys.stderr)
            failures += not run(item, options.quick, rows)
    print(f"\n{table(rows)}\n{summary(rows)}")
    if not options.names:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "latest.md").write_text(page(rows, options.quick), encoding="utf-8")
    return 1 if failures else 0


def run(item: Benchmark, quick: bool, rows: list[Row]) -> bool:
    """Add the rows of a benchmark; False if a result was wrong or something broke.

    A missing peer or a missed target is no failure.
    """
    print(f"{item.name}: {item.summary}", end=" ", file=sys.stderr, flush=True)
    start = time.perf_counter()
    sound = True
    try:
        for row in item.run(quick):
            rows.append(row)
            print(".", end="", file=sys.stderr, flush=True)
    except PeerMissingError as missing:
        rows.append(Row(f"{item.name}, against a peer", f"not measured: {missing}"))
    except WrongResultError as wrong:
        rows.append(Row(f"{item.name}: WRONG RESULT", str(wrong), ok=False))
        sound = False
    except subprocess.CalledProcessError as broken:
        last = (broken.stderr or str(broken)).strip().splitlines()[-1]
        rows.append(Row(f"{item.name}: FAILED", str(last), ok=False))
        sound = False
    print(f" {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return sound


if __name__ == "__main__":
    sys.exit(main())
