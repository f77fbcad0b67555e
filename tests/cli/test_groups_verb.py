"""``biela groups``: the report and the picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from biela.analysis.groups.diagram import draw_groups
from biela.analysis.groups.finding import structural_groups
from biela.cli.main import main
from biela.errors import ResultsError
from biela.model.files import load_model
from biela.results.layered_drawing import Box, draw_layers

PEAUCELLIER = "examples/mechanisms/peaucellier.toml"


def test_the_report_has_groups_kinds_levels_and_the_picture_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "groups.svg"
    assert main(["groups", PEAUCELLIER, "--picture", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "7 bodies in the xz plane, 4 groups of 3 kinds in 3 levels" in said
    assert "1  RRR: upper_arm, inner_upper after crank by" in said
    assert "levels: 0 | 1 2 | 3" in said
    drawn = picture.read_text()
    assert drawn.startswith("<?xml") and len(drawn) > 5000


def test_what_nothing_drives_is_said_and_coordinates_can_be_chosen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lamp = "examples/mechanisms/balanced_lamp.toml"
    assert main(["groups", lamp]) == 0
    assert "not driven: " in capsys.readouterr().out
    assert main(["groups", lamp, "--independent", "auto"]) == 0
    assert "taken as known: " in capsys.readouterr().out


def test_a_file_without_bodies_and_joints_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "examples/mechanisms/simple_pendulum.py"]) == 1
    assert "holds no Model of bodies and joints" in capsys.readouterr().err


def test_a_diagram_of_nothing_and_arrows_from_the_right_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="0 boxes cannot be drawn"):
        draw_layers([], tmp_path / "x.png")
    with pytest.raises(ResultsError, match="from no box to its left"):
        draw_layers([Box("a", (), 0, (1,)), Box("b", (), 1)], tmp_path / "x.png")
    lamp = structural_groups(load_model("examples/mechanisms/balanced_lamp.toml"))
    with pytest.raises(ResultsError):
        draw_groups(lamp, tmp_path / "x.png")


def test_a_mechanism_of_the_gallery_goes_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["groups", PEAUCELLIER]) == 0
    of_file = capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert main(["groups", "Peaucellier"]) == 0
    assert capsys.readouterr().out == of_file
    assert main(["groups", "peaucelier"]) == 1
    assert "or peaucellier, which is in the gallery" in capsys.readouterr().err
