"""Run the benchmarks and print one table: ``python -m benchmarks [--quick] [name ...]``."""

from __future__ import annotations

import argparse
import os
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
    with tempfile.TemporaryDirectory(prefix="biela-bench-") as folder:
        os.environ["BIELA_CACHE_DIR"] = folder  # nothing compiled on another day is used
        os.environ.pop("BIELA_CACHE", None)
        rows = [
            row for n, item in enumerate(chosen, 1) for row in run(item, n, len(chosen), options)
        ]
    print(f"\n{table(rows)}\n{summary(rows)}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.md").write_text(page(rows, options.quick), encoding="utf-8")
    return 0


def run(item: Benchmark, number: int, of: int, options: argparse.Namespace) -> list[Row]:
    print(f"[{number}/{of}] {item.name}: {item.summary}", end=" ", file=sys.stderr, flush=True)
    start = time.perf_counter()
    rows: list[Row] = []
    try:
        for row in item.run(options.quick):
            rows.append(row)
            print(".", end="", file=sys.stderr, flush=True)
    except PeerMissingError as missing:
        rows.append(Row(f"{item.name}, against a peer", f"not measured: {missing}"))
    except WrongResultError as wrong:
        rows.append(Row(f"{item.name}: WRONG RESULT", str(wrong), ok=False))
    print(f" {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
