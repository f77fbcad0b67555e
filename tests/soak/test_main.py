"""The long run itself: its table, its exit status, what it writes and how it goes on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import biela as bl
from biela.errors import ModelError
from tests.soak import comparison
from tests.soak.__main__ import main
from tests.soak.mechanisms import drawn
from tests.soak.refusals import excessive, reason
from tests.soak.shrinking import shrunk

SMALL = ["--count", "2", "--states", "1", "--jobs", "1", "--kind", "tree", "--seed", "201"]


def arguments(folder: Path, *more: str) -> list[str]:
    return [*SMALL, "--doors", "eliminated, joint", "--folder", str(folder), *more]


def test_a_run_without_disagreement_ends_with_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path)) == 0
    table, progress = capsys.readouterr()
    assert table.splitlines()[0].split()[:5] == [
        "door",
        "agrees",
        "unclear",
        "refused",
        "disagrees",
    ]
    assert table.splitlines()[1].split()[-5:-1] == ["2", "0", "0", "0"]
    assert "2 of 2 mechanisms" in progress and "left" in progress


def test_a_disagreement_ends_with_one_and_leaves_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "TOLERANCE", -1.0)
    assert main(arguments(tmp_path)) == 1
    model = bl.load_model(tmp_path / "seed_201.toml")
    again = drawn(201, "tree").model
    assert list(model.bodies) == list(again.bodies) and list(model.joints) == list(again.joints)
    assert "accelerations of" in (tmp_path / "seed_201.txt").read_text()


def test_a_run_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(arguments(tmp_path))
    log = tmp_path / "done.jsonl"
    first = log.read_text().splitlines()
    log.write_text(first[0] + "\n")
    capsys.readouterr()
    assert main(arguments(tmp_path, "--resume")) == 0
    assert "1 of 1 mechanisms" in capsys.readouterr().err
    assert [json.loads(line)["seed"] for line in log.read_text().splitlines()] == [201, 202]


def test_a_mechanism_is_reduced_to_what_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a tree in which every state is called wrong, one body is left."""
    monkeypatch.setattr(comparison, "TOLERANCE", -1.0)
    case = shrunk(drawn(202, "tree"), "instant, joint")
    assert len(case.model.bodies) == 1 and not case.model.forces and not case.model.drivers


def test_a_refusal_needs_a_reason_that_is_known() -> None:
    text = (
        "ModelError: random_1: joint j2 (helical) closes a loop with a law over any number of turns"
    )
    assert reason("robot", text) == "closes a loop by a law of turns"
    # a reason of robots is none for others
    assert reason("instant, joint", text) is None
    assert reason("looped", "ModelError: random_1: j0 is too difficult") is None


def test_an_unknown_refusal_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ModelError("random_201: b0 is too difficult")

    monkeypatch.setattr(comparison, "samples", fail)
    (found,) = comparison.compared(drawn(201, "tree"), ["instant, joint"], 1).findings
    assert found.outcome == "disagrees" and "not known" in found.text


def test_what_one_door_assembles_no_other_may_refuse_to() -> None:
    refused = comparison.Finding(
        "looped", "refused", text="AssemblyError: random_1 cannot be assembled at t = 0 s"
    )
    agreed = comparison.Finding("instant, joint", "agrees")
    assert comparison._assembled([refused]) == [refused]
    assert comparison._assembled([agreed, refused])[1].outcome == "disagrees"


def test_doors_that_refuse_too_often_end_a_run_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states: Counter[tuple[str, str]] = Counter(
        {("looped", "agrees"): 90, ("looped", "unclear"): 10}
    )
    assert list(excessive({"looped": 100}, {"looped": 3}, Counter())) == []
    assert "refused 20 of 100" in next(iter(excessive({"looped": 100}, {"looped": 20}, Counter())))
    assert "10 of 100 states unclear" in next(iter(excessive({"looped": 1}, {}, states)))
    monkeypatch.setattr("tests.soak.refusals.most", lambda share, visits: -1)
    assert main(arguments(tmp_path)) == 1
    assert "too many: eliminated, joint refused 0 of 2" in capsys.readouterr().out
