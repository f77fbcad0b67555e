"""Random mechanisms by the thousand: ``python -m tests.soak --count 10000``.

A count is one state of one mechanism, at every door that it goes through.  Each mechanism follows
from its seed alone; one that disagrees is written to a folder, as a model file and what was found.
With ``--resume`` seeds that a run in that folder has finished are not tried again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import biela as bl
from tests.soak import doors, pinocchio_trees
from tests.soak import refusals as reasons
from tests.soak.comparison import Finding, compared
from tests.soak.mechanisms import KINDS, drawn

OUTCOMES = ("agrees", "unclear", "refused", "disagrees")
#: One mechanism in so many has its expressions compiled; those of the others are walked through.
COMPILED_ONE_IN = 4
#: Seconds between lines of progress that no terminal shows.
EVERY = 30.0


def tried(seed: int, states: int, names: list[str], slow: bool, kind: str) -> dict[str, Any]:
    """One mechanism through its doors, as plain data."""
    began = time.perf_counter()
    case = drawn(seed, kind or None)
    found = doors.chosen(case, slow=slow)
    if names:
        found = [door for door in found if any(door.startswith(name) for name in names)]
    with nullcontext() if seed % COMPILED_ONE_IN == 0 else doors.walked():
        report = compared(case, found, states)
        if not names or "pinocchio" in names:
            report.findings += pinocchio_trees.compared(case, states)
    doors.posed_in.cache_clear()
    return {
        "seed": seed,
        "kind": case.kind,
        "seconds": time.perf_counter() - began,
        "findings": [[f.door, f.outcome, f.error, f.text] for f in report.findings],
    }


def _tried(given: tuple[int, int, list[str], bool, str]) -> dict[str, Any]:
    try:
        return tried(*given)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        fault = ["drawing or oracle", "disagrees", float("inf"), text]
        return {"seed": given[0], "kind": "?", "seconds": 0.0, "findings": [fault]}


def written(folder: Path, result: dict[str, Any], kind: str) -> None:
    """A mechanism that disagrees, to be looked at."""
    folder.mkdir(parents=True, exist_ok=True)
    name = folder / f"seed_{result['seed']}"
    lines = [f"seed {result['seed']}: {result['kind']}"]
    try:
        case = drawn(result["seed"], kind or None)
        lines += [f"t = {case.t!r}, parameters {case.parameters}, rotors {case.model.rotors}"]
        bl.save_model(case.model, name.with_suffix(".toml"))
    except Exception as error:
        lines += [f"the model cannot be written: {error}"]
    lines += [f"{f[0]}: {f[3]}" for f in result["findings"] if f[1] == "disagrees"]
    name.with_suffix(".txt").write_text("\n".join(lines) + "\n")


def results(arguments: argparse.Namespace, seeds: list[int]) -> Iterator[dict[str, Any]]:
    """As they come in, from as many processes as were asked for."""
    names = [name.strip() for name in arguments.doors.split(";") if name.strip()]
    given = [(seed, arguments.states, names, arguments.slow, arguments.kind) for seed in seeds]
    if arguments.jobs == 1:
        yield from map(_tried, given)
        return
    # compilers keep memory: a process is replaced after some mechanisms
    context = multiprocessing.get_context("spawn")
    with context.Pool(arguments.jobs, maxtasksperchild=50) as pool:
        yield from pool.imap_unordered(_tried, given)


def arguments_of(given: list[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="states of mechanisms")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--states", type=int, default=4, help="states of each mechanism")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--doors", default="", help='beginnings of names: "instant; robot"')
    parser.add_argument("--kind", default="", choices=["", *KINDS], help="one kind only")
    parser.add_argument("--slow", action="store_true", help="compile a simulation of each, too")
    parser.add_argument("--folder", type=Path, default=Path("out/soak"), help="for failures")
    parser.add_argument("--resume", action="store_true", help="leave out what is done")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Run, print a table; 1 if anything disagreed, or a door passed too much without an answer."""
    arguments = arguments_of(given)
    first, states = arguments.seed, arguments.states
    seeds = list(range(first, first + -(-arguments.count // states)))
    log = arguments.folder / "done.jsonl"
    old = log.read_text().splitlines() if arguments.resume and log.exists() else []
    finished = [result for result in map(json.loads, old) if result["seed"] in set(seeds)]
    done = {result["seed"] for result in finished}
    seeds = [seed for seed in seeds if seed not in done]
    table: Counter[tuple[str, str]] = Counter()
    worst: dict[str, float] = defaultdict(float)
    refusals: Counter[str] = Counter()
    failures: list[tuple[int, str, Finding]] = []
    visits: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    why: Counter[str] = Counter()

    def counted(result: dict[str, Any]) -> None:
        visits.update({door for door, *_ in result["findings"]})
        for door, outcome, error, text in result["findings"]:
            table[door, outcome] += 1
            if outcome == "agrees":
                worst[door] = max(worst[door], error)
            if outcome == "refused":
                plain = text.replace(f"random_{result['seed']}", "…").split("\n")[0]
                refusals[f"{door}: {plain[:160]}"] += 1
                refused[door] += 1
                why[reasons.reason(door, text) or "?"] += 1
            if outcome == "disagrees":
                found = Finding(door, outcome, error, text)
                failures.append((result["seed"], result["kind"], found))

    for result in finished:
        counted(result)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    began = told = time.perf_counter()
    with log.open("a" if arguments.resume else "w") as file:
        for k, result in enumerate(results(arguments, seeds), 1):
            counted(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            if any(f[1] == "disagrees" for f in result["findings"]):
                written(arguments.folder, result, arguments.kind)
            rate = k / (time.perf_counter() - began)
            left = (len(seeds) - k) / rate
            line = (
                f"{k} of {len(seeds)} mechanisms, {rate * states:.2f} states a second, "
                f"{left / 60:.0f} min left, {len(failures)} disagreements "
            )
            # on a terminal one line that changes, in a log a line now and then
            if sys.stderr.isatty():
                print(f"\r{line}", end="", file=sys.stderr, flush=True)
            elif k == len(seeds) or time.perf_counter() - told > EVERY:
                print(line, file=sys.stderr, flush=True)
                told = time.perf_counter()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(_table(table, worst))
    judged = sum(visits.values())
    print(f"\n{sum(refused.values())} of {judged} visits of a mechanism to a door were refused")
    excessive = list(reasons.excessive(visits, refused, table))
    if refusals:
        for name, count in why.most_common():
            print(f"{count:6}  {name}")
        print("\nrefused:")
        for text, count in refusals.most_common(40):
            print(f"{count:6}  {text}")
    if failures:
        print(f"\ndisagreements, written to {arguments.folder}:")
        for seed, kind, finding in failures:
            print(f"  seed {seed} ({kind}), {finding.door}: {finding.text}")
    for line in excessive:
        print(f"too many: {line}")
    return 1 if failures or excessive else 0


def _table(table: Counter[tuple[str, str]], worst: dict[str, float]) -> str:
    names = sorted({door for door, _ in table})
    wide = max((len(name) for name in names), default=4)
    lines = [f"{'door':{wide}}" + "".join(f"{o:>11}" for o in OUTCOMES) + "  largest error"]
    for name in names:
        counts = "".join(f"{table[name, o]:11}" for o in OUTCOMES)
        lines.append(f"{name:{wide}}{counts}  {worst[name]:13.2g}")
    return "\n".join(lines)


if __name__ == "__main__":
    # the code of these models is of no use later
    with TemporaryDirectory(prefix="biela-soak-") as folder:
        os.environ.setdefault("BIELA_CACHE_DIR", folder)
        sys.exit(main())
