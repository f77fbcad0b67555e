"""The table of results and the way it is filled."""

from __future__ import annotations

import time

import numpy as np
import pytest

from benchmarks.agreement import WrongResultError, check_equal
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Row, against, below, summary, table
from benchmarks.timing import fastest, native_burst, python_burst
from biela import Function, Workspace


def test_a_ratio_is_ours_divided_by_the_peers() -> None:
    row = against("speed", 30.0, 60.0, 0.7, "30 ns, peer 60 ns")
    assert row.ratio == 0.5
    assert row.ok
    assert not against("speed", 60.0, 60.0, 0.7, "").ok


def test_the_table_shows_every_row_and_counts_only_those_with_a_target() -> None:
    rows = [below("size", 3.0, 2.0, "bytes"), Row("note", "informative"), below("t", 1, 2, "s")]
    text = table(rows)
    assert [line.count("|") for line in text.splitlines()] == [6] * 5
    assert "NO" in text
    assert summary(rows) == "1 of 2 targets met"


def test_every_benchmark_says_what_it_measures() -> None:
    for item in BENCHMARKS.values():
        assert item.summary


def test_results_that_differ_stop_a_benchmark() -> None:
    check_equal("same", [1.0, 2.0], [1.0, 2.0 + 1e-14])
    check_equal("nothing", [], [])
    with pytest.raises(WrongResultError, match="other: the results differ"):
        check_equal("other", [1.0, 2.0], [1.0, 2.1])
    with pytest.raises(WrongResultError):
        check_equal("not a number", [float("nan")], [1.0])


def test_bursts_run_python_and_native_code() -> None:
    x = Workspace().symbol("x")
    function = Function("double", {"x": [x]}, {"y": [2 * x]})
    given, result = np.array([3.0]), np.zeros(1)
    native_burst(function.native.address, [given, result])(5)
    assert result == 6.0
    calls: list[int] = []
    python_burst(calls.append, 1)(7)
    assert len(calls) == 7


def test_the_time_of_a_candidate_is_that_of_one_repetition() -> None:
    naps = fastest({"nap": lambda n: time.sleep(n * 1e-3)}, seconds=0.05, burst=5e-3)
    assert naps["nap"] >= 1e-3
