"""Feeds damaged inputs to every reader of biela and notes what is not answered as it should be.

A reader accepts an input or raises a `BielaError` that names the file.  Everything else is a
finding: another exception, a numpy warning, a hang, memory beyond a limit, a crash.

    python tools/fuzz.py --count 10000 --log fuzz.jsonl    # the first ones, or the next of this log
    python tools/fuzz.py --count 10000 --jobs 2            # with two workers
    python tools/fuzz.py --first 1234 --count 1 --show     # one case again
    python tools/fuzz.py --reader collada --count 2000
    python tools/fuzz.py --hostile                         # small files that ask for endless work

Case k is made by the seed and k alone: its reader is drawn by weight, so that the quick ones have
most of the cases.  Cases run in a worker process with a limit on its memory and an alarm for each;
a worker that dies or hangs is replaced, its case noted, and the next begins.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from types import FrameType
from typing import IO

_ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":  # run as a script: its neighbours are found from the root
    sys.path.insert(0, str(_ROOT))

from biela.errors import BielaError  # noqa: E402
from tools import fuzz_hostile as hostile  # noqa: E402
from tools.fuzz_hostile import hostile_files  # noqa: E402
from tools.fuzz_readers import READERS, Reader  # noqa: E402

#: Seconds of the processor after which a case hangs; the worker is ended if it waits for nothing.
HANG = 10.0
#: Bytes that a case may take beyond what the worker has at its start.
MEMORY = 2 * 2**30
#: One case in so many goes on to analyses of what was read.
DEEP = 25
#: Lines of progress in a log are so many cases apart.
_OFTEN = 500
#: Where files are made, if there is such a place: a disk would take longer than most readers.
_MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None


@dataclass(frozen=True)
class Case:
    """An input: its number, its reader, its bytes, whether to go deep, and files beside it."""

    number: int
    reader: Reader
    content: bytes
    deep: bool = False
    beside: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"case{self.number}{self.reader.suffix}"


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "read", "refused" or what is wrong; and where, in which words."""

    what: str
    where: str = ""
    message: str = ""

    @property
    def fine(self) -> bool:
        """Whether it is as it should be."""
        return self.what in ("read", "refused")


def drawn(seed: int, number: int, readers: Sequence[Reader] = READERS) -> tuple[Reader, Random]:
    """The reader of a case, and the generator that goes on to make it."""
    rng = Random(f"{seed}/{number}")
    return rng.choices(readers, [reader.weight for reader in readers])[0], rng


def case(seed: int, number: int, readers: Sequence[Reader] = READERS) -> Case:
    """The case of a number."""
    reader, rng = drawn(seed, number, readers)
    content = rng.choice(reader.inputs())
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(reader.mutations)(content, rng)
    return Case(number, reader, content, rng.randrange(DEEP) == 0)


def hostile_case(number: int) -> Case:
    """The case of a hostile file."""
    found = hostile_files()[number]
    reader = next(reader for reader in READERS if reader.name == found.reader)
    return Case(number, reader, found.content, beside=found.beside)


# --- one case -------------------------------------------------------------------------------------


class Hang(BaseException):
    """A case takes too long."""


@contextmanager
def limited_memory(more: int) -> Iterator[None]:
    """Nothing inside may take so many bytes more than the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def outcome(given: Case, folder: Path, seconds: float = HANG) -> Outcome:
    """Lets a reader read a case, and says how it ended."""
    file = folder / given.file
    file.write_bytes(given.content)
    for name, content in given.beside.items():
        (folder / name).write_bytes(content)

    def late(_: int, __: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            given.reader.read(file, given.deep)
        return Outcome("read")
    except BielaError:
        return Outcome("refused")
    except (Hang, Exception) as error:
        # the alarm first: what follows may take its time
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if f"{os.sep}biela{os.sep}" in f.filename]
        last = own[-1] if own else frames[-1]
        where = f"{last.filename.rpartition('/src/')[2]}:{last.lineno}"
        return Outcome(type(error).__name__, where, str(error)[:500])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
        for name in (given.file, *given.beside):
            (folder / name).unlink(missing_ok=True)


# --- a worker and who watches it ------------------------------------------------------------------


def work(
    numbers: range, made: Callable[[int], Case], answers: IO[str], seconds: float, memory: int
) -> None:
    """Runs cases and writes a line of JSON for each."""
    with tempfile.TemporaryDirectory() as folder:
        # what is imported, compiled and cached once counts for no case
        for reader in READERS:
            for content in reader.inputs()[:2]:
                outcome(Case(0, reader, content, deep=True), Path(folder), 600.0)
        for number in numbers:
            started = time.process_time()
            given = made(number)
            with limited_memory(memory):
                found = outcome(given, Path(folder), seconds)
            line = [found.what, found.where, found.message, time.process_time() - started]
            answers.write(json.dumps(line) + "\n")
            answers.flush()


def _ends(numbers: range) -> str:
    return f"{numbers.start}:{numbers.stop}:{numbers.step}"


def shared(numbers: range, jobs: int, *options: str) -> Iterator[tuple[int, Outcome, float]]:
    """The outcomes of cases, in order, from so many workers that take them in turns."""
    workers = [watched(numbers[first::jobs], *options) for first in range(jobs)]
    for k in range(len(numbers)):
        yield next(workers[k % jobs])


def watched(numbers: range, *options: str) -> Iterator[tuple[int, Outcome, float]]:
    """The outcomes of cases, in order; a worker that hangs or dies is replaced by another.

    ``options`` are those of this command that say which cases they are.
    """
    left = numbers
    while left:
        command = [sys.executable, __file__, "--worker", _ends(left), *options]
        # a worker that is killed leaves its files, so the folder around them is ours
        folder = tempfile.TemporaryDirectory(dir=_MEMORY_DISK)
        place = {**os.environ, "TMPDIR": folder.name}
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place)
        assert worker.stdout is not None
        try:
            patience = 600.0  # for what it imports and prepares
            while left:
                ready, _, _ = select.select([worker.stdout], [], [], patience)
                line = worker.stdout.readline() if ready else ""
                if not line.endswith("\n"):
                    worker.kill()
                    code = worker.wait()
                    what = "crash" if ready else "hang in native code"
                    yield left[0], Outcome(what, f"exit {code}"), patience
                    left = left[1:]
                    break
                what, where, message, took = json.loads(line)
                yield left[0], Outcome(what, where, message), took
                left = left[1:]
                patience = 10 * HANG  # others may use the processor too
        finally:
            worker.kill()
            worker.wait()
            worker.stdout.close()
            folder.cleanup()


# --- the log --------------------------------------------------------------------------------------


class Log:
    """What was found so far, kept in a file of JSON lines; a log that is there is gone on with."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.next: int | None = None
        self.counts: Counter[tuple[str, str]] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self.findings: Counter[tuple[str, str, str]] = Counter()
        self.examples: dict[tuple[str, str, str], tuple[int, str]] = {}
        self._since: Counter[tuple[str, str]] = Counter()
        self._spent: dict[str, float] = defaultdict(float)
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, entry: dict[str, object]) -> None:
        if "next" in entry:
            self.next = int(str(entry["next"]))
            for reader, what, count in entry["counts"]:  # type: ignore[attr-defined]
                self.counts[reader, what] += count
            for reader, seconds in entry["seconds"]:  # type: ignore[attr-defined]
                self.seconds[reader] += seconds
            return
        key = str(entry["reader"]), str(entry["what"]), str(entry["where"])
        self.findings[key] += 1
        self.examples.setdefault(key, (int(str(entry["case"])), str(entry["message"])))

    def _write(self, entry: dict[str, object]) -> None:
        self._take(entry)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def count(self, reader: Reader, found: Outcome, took: float) -> None:
        """Count an outcome."""
        self._since[reader.name, found.what if found.fine else "finding"] += 1
        self._spent[reader.name] += took

    def note(self, given: Case, found: Outcome) -> None:
        """Note a finding and keep its input."""
        if self.path is not None:
            folder = self.path.with_suffix(".inputs")
            folder.mkdir(exist_ok=True)
            (folder / given.file).write_bytes(given.content)
        entry = {"case": given.number, "reader": given.reader.name, "what": found.what}
        self._write({**entry, "where": found.where, "message": found.message})

    def mark(self, following: int) -> None:
        """Note how far it has come."""
        counts = [[*key, count] for key, count in self._since.items()]
        self._write({"next": following, "counts": counts, "seconds": list(self._spent.items())})
        self._since.clear()
        self._spent.clear()

    def summary(self) -> str:
        """A table of the readers, and the findings, the most frequent first."""
        lines = [f"{'reader':<16}{'read':>9}{'refused':>9}{'findings':>9}{'per second':>12}"]
        names = list(dict.fromkeys(reader for reader, _ in self.counts))
        for name in (*names, "all"):
            counts = [
                sum(n for (r, w), n in self.counts.items() if w == what and name in (r, "all"))
                for what in ("read", "refused", "finding")
            ]
            spent = sum(s for r, s in self.seconds.items() if name in (r, "all"))
            cells = "".join(f"{count:>9}" for count in counts)
            lines.append(f"{name:<16}{cells}{sum(counts) / max(spent, 1e-9):>12.0f}")
        for key, count in self.findings.most_common():
            reader, what, where = key
            number, message = self.examples[key]
            lines.append(f"{count:>6} × {reader}: {what} at {where}, first in case {number}")
            lines.append(f"         {message.splitlines()[0][:140] if message else ''}")
        return "\n".join(lines)


# --- the command ----------------------------------------------------------------------------------


def chosen(name: str) -> tuple[Reader, ...]:
    """The readers of a name; all without one."""
    found = tuple(reader for reader in READERS if name in ("", reader.name))
    if not found:
        raise SystemExit(f"there is no reader {name!r}: {', '.join(r.name for r in READERS)}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases; the exit code is 1 if there were findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--first", type=int, help="number of the first case (0, or as the log says)"
    )
    parser.add_argument("--count", type=int, default=1000, help="how many cases")
    parser.add_argument("--jobs", type=int, default=1, help="how many workers")
    parser.add_argument("--reader", default="", help="this reader alone")
    parser.add_argument("--log", type=Path, help="file that keeps what was found")
    parser.add_argument("--show", action="store_true", help="run one case here, with its traceback")
    parser.add_argument("--hostile", action="store_true", help="run the hostile files")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    readers = chosen(given.reader)
    made = hostile_case if given.hostile else partial(case, given.seed, readers=readers)
    if given.worker:
        numbers = range(*map(int, given.worker.split(":")))
        # what the readers print must not get among the answers
        answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        limits = (hostile.SECONDS, hostile.MEMORY) if given.hostile else (HANG, MEMORY)
        work(numbers, made, answers, *limits)
        return 0
    if given.show:
        one = made(given.first or 0)
        print(one.reader.name, "deep" if one.deep else "", repr(one.content[-2000:]))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / one.file
            for name, content in {one.file: one.content, **one.beside}.items():
                (Path(folder) / name).write_bytes(content)
            one.reader.read(file, one.deep)
        return 0
    log = Log(given.log)
    first = given.first if given.first is not None else log.next or 0
    stop = len(hostile_files()) if given.hostile else sys.maxsize
    numbers = range(first, min(first + given.count, stop))
    options = ["--hostile"] if given.hostile else ["--seed", str(given.seed)]
    options += ["--reader", given.reader] if given.reader else []
    for number, found, took in shared(numbers, given.jobs, *options):
        reader = made(number).reader if given.hostile else drawn(given.seed, number, readers)[0]
        log.count(reader, found, took)
        if not found.fine:
            log.note(made(number), found)
        if number % _OFTEN == _OFTEN - 1 or number == numbers.stop - 1:
            log.mark(number + 1)
    print(log.summary())
    return 1 if log.findings else 0


if __name__ == "__main__":
    sys.exit(main())
