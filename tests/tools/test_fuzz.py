"""The fuzzer: its cases are reproducible, its guards hold, and some hundreds of cases are clean."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from biela.errors import BielaError

pytest.importorskip("resource", reason="limits of memory are those of Unix")

from tools import fuzz
from tools.fuzz import Case, Log, Outcome, case, hostile_case, limited_memory, outcome
from tools.fuzz_hostile import MEMORY, SECONDS, hostile_files
from tools.fuzz_readers import READERS, Reader

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the size of a process is read from /proc"
)
QUICK = tuple(reader for reader in READERS if reader.weight >= 20)


LEAK = Outcome("TypeError", "x.py:1", "oh")


def reading(read) -> Reader:
    return Reader("toy", ".txt", lambda: [b"12 34"], read)


# --- the fuzzer itself ----------------------------------------------------------------------------


def test_a_case_is_made_by_the_seed_and_its_number_alone() -> None:
    assert case(7, 40).content == case(7, 40).content
    assert any(case(7, k).content != case(8, k).content for k in range(20))


def test_valid_inputs_are_read(tmp_path: Path) -> None:
    """Damage to an input that is refused as it is would show nothing."""
    for reader in QUICK:
        for content in reader.inputs()[::6]:
            found = outcome(Case(0, reader, content), tmp_path, 60.0)
            assert found == Outcome("read"), (reader.name, content[-200:])


def test_what_a_reader_does_is_told_apart(tmp_path: Path) -> None:
    def refuse(file: Path, deep: bool) -> None:
        raise BielaError("no")

    def leak(file: Path, deep: bool) -> None:
        raise LookupError("raw")

    def hang(file: Path, deep: bool) -> None:
        until = time.process_time() + 30.0
        while time.process_time() < until:
            pass

    def fill(file: Path, deep: bool) -> None:
        bytearray(4 * 2**30)

    found = {}
    for read in (refuse, leak, hang, fill):
        with limited_memory(2**30):
            found[read.__name__] = outcome(Case(0, reading(read), b""), tmp_path, 0.2)
    assert found["refuse"] == Outcome("refused")
    assert found["leak"].what == "LookupError"
    assert found["leak"].message == "raw"
    assert found["hang"].what == "Hang"
    assert found["fill"].what == "MemoryError"


def test_a_log_is_gone_on_with_and_keeps_failing_inputs(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path)
    bad = Case(3, reading(None), b"bad")
    for given, found in ((Case(2, reading(None), b""), Outcome("read")), (bad, LEAK)):
        log.count(given.reader, found, 0.1)
    log.note(bad, LEAK)
    log.mark(4)
    again = Log(path)
    assert again.next == 4
    assert again.counts == {("toy", "read"): 1, ("toy", "finding"): 1}
    assert again.findings == {("toy", "TypeError", "x.py:1"): 1}
    assert "TypeError at x.py:1, first in case 3" in again.summary()
    assert (tmp_path / "log.inputs" / bad.file).read_bytes() == b"bad"


def test_a_worker_that_dies_is_replaced(tmp_path: Path, monkeypatch) -> None:
    """One that dies at its second case: the case is noted, and the next begins."""
    script = tmp_path / "worker.py"
    script.write_text(
        "import os, sys\n"
        "for number in range(*map(int, sys.argv[2].split(':'))):\n"
        "    if number == 1:\n"
        "        os._exit(3)\n"
        '    print(\'["read", "", "", 0.0]\', flush=True)\n'
    )
    monkeypatch.setattr(fuzz, "__file__", str(script))
    for jobs in (1, 2):
        found = [(number, one.what) for number, one, _ in fuzz.shared(range(4), jobs)]
        assert found == [(0, "read"), (1, "crash"), (2, "read"), (3, "read")]


# --- a little of it -------------------------------------------------------------------------------


@needs_proc
def test_some_hundreds_of_damaged_inputs_are_read_or_refused(tmp_path: Path) -> None:
    for number in range(400):
        given = replace(case(17, number, QUICK), deep=False)
        with limited_memory(fuzz.MEMORY):
            found = outcome(given, tmp_path)
        assert found.fine, f"{found}: python tools/fuzz.py --seed 17 --first {number} --show"


NAMED = (
    "nodes 2^40",
    "parts 8^12",
    "key of 100000 dots",
    "count 1000000000000000000",
    "t of shape (1000000000,)",
    "kinematics --time 1e300",
    "run --time 1 --step 1e-300",
    "run --time 1 --step 1e-9",
    "300 tables of 95 dots in each other",
    "many lists of polygons",
    "faces of 3000 corners",
    "a plate of 9000 corners",
    "wrong bodies",
    "wrong long names",
    "many attributes of 7000 geoms",
    "a long name space for <p:a/>",
    "a JSON text of many [[]]",
    "10000000 zeros, packed by method 14",
)


def hostile_numbers() -> list[int]:
    """Those that are named, and some of each part of the list."""
    kinds = [one.kind for one in hostile_files()]
    return sorted({*map(kinds.index, NAMED), *range(0, len(kinds), 17)})


@needs_proc
@pytest.mark.parametrize("number", hostile_numbers())
def test_a_small_file_that_asks_for_endless_work_is_answered_soon(
    number: int, tmp_path: Path
) -> None:
    given = hostile_case(number)
    with limited_memory(MEMORY):
        # what is compiled for the first time takes its time, and is no fault of the file
        found = outcome(given, tmp_path, 10 * SECONDS)
    assert found.fine, f"{hostile_files()[number].kind}: {json.dumps(found.__dict__)}"
    if hostile_files()[number].kind in NAMED:
        assert found.what == "refused"
