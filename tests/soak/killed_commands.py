"""Commands that are killed: ``python -m tests.soak.killed_commands --kills 50``.

Each command is run once to its end.  Then it is killed at random moments, now in an empty folder
and now in one with its files; every file under its final name must be whole each time, and what a
run has kept so far must be readable.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import biela.results.partial
from biela.cli.gallery import mechanism
from biela.cli.main import main as command
from biela.errors import ResultsError
from biela.results import Results

COMMANDS = {
    "run": ["run", "four_bar.toml", "--time", "100", "--step", "1e-3", "--csv", "--out", "out"],
    "kinematics": ["kinematics", "four_bar.toml", "--time", "40", "--csv", "--out", "out"],
    "report": ["report", "four_bar.toml", "--time", "1", "--output", "out/report.html"],
    "export": ["export", "four_bar.toml", "--simulator", "--out", "out"],
}
#: Of two folders that export the same, all files are the same.
EXPORTED = (".c", ".h", ".md", ".txt", "")


def started(arguments: Sequence[str]) -> int:
    """Run a command in a process of its own, with biela loaded; returns its number."""
    number = os.fork()
    if number:
        return number
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    biela.results.partial.EVERY = 0.05  # type: ignore[misc]
    code = 1
    try:
        code = command(arguments)
    finally:
        os._exit(code)


def fault(path: Path, whole: Path) -> str:
    """What is wrong with a file, compared with the one that a whole run wrote, or nothing."""
    data = path.read_bytes()
    try:
        match path.suffix:
            case ".npz":
                Results.load(path)
            case ".csv":
                rows = list(csv.reader(data.decode().splitlines()))
                count = len(list(csv.reader(whole.read_text().splitlines())))
                if len(rows) != count or not data.endswith(b"\n"):
                    return f"{len(rows)} rows instead of {count}"
            case ".png":
                from PIL import Image

                Image.open(path).load()
            case ".html":
                if not data.rstrip().endswith(b"</html>"):
                    return "cut short"
            case ".partial":
                return kept_fault(path)
            case suffix if suffix in EXPORTED:
                if data != whole.read_bytes():
                    return "another text"
            case _:
                return "of a kind that nobody looks at"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def kept_fault(path: Path) -> str:
    """What is wrong with what a run has kept so far."""
    try:
        kept = Results.load(path)
    except ResultsError as error:
        return "" if "before the first piece" in str(error) else str(error)
    return "" if kept.interrupted and len(kept) else "does not say that it is a part"


def killed(name: str, kills: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Kill a command so many times; returns what files were there, and what is wrong with them."""
    os.chdir(folder)
    shutil.copy(mechanism("four-bar"), "four_bar.toml")
    out, whole = Path("out"), Path("whole")
    chance, seen, faults = random.Random(f"{name} {seed}"), Counter[str](), []
    for _ in range(2):  # the second has nothing to compile
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        began = time.monotonic()
        _, status = os.waitpid(started(COMMANDS[name]), 0)
        took = time.monotonic() - began
        if status:
            raise SystemExit(f"{name} ends with {os.waitstatus_to_exitcode(status)}")
    shutil.copytree(out, whole)
    for k in range(kills):
        if k % 2 == 0:
            shutil.rmtree(out)
            out.mkdir()
        number = started(COMMANDS[name])
        moment = chance.uniform(0.0, took)
        time.sleep(moment)
        os.kill(number, signal.SIGKILL)
        _, status = os.waitpid(number, 0)
        seen["killed" if os.WIFSIGNALED(status) else "ended before"] += 1
        for path in sorted(out.rglob("*")):
            if path.name.startswith(".biela-"):
                seen["left over"] += 1
            elif path.is_file():
                seen[path.suffix or path.name] += 1
                wrong = fault(path, whole / path.relative_to(out))
                if wrong:
                    faults.append(f"{name} killed after {moment:.3f} s: {path}: {wrong}")
    return seen, faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill commands; the exit code is 1 if a file was not whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    wrong = 0
    for name in given.commands:
        with tempfile.TemporaryDirectory() as folder:
            seen, faults = killed(name, given.kills, given.seed, Path(folder))
            os.chdir("/")
        counts = ", ".join(f"{what} {count}" for what, count in sorted(seen.items()))
        print(f"{name}: {counts}; faults {len(faults)}", *faults, sep="\n  ", flush=True)
        wrong += len(faults)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
