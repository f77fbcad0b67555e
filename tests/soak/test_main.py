"""The long run itself: its table, its exit status, what it writes and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import biela as bl
from tests.soak import comparison
from tests.soak.__main__ import main
from tests.soak.mechanisms import drawn
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
