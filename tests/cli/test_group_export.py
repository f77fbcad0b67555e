"""``biela export --groups``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from biela.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples" / "mechanisms"


def called(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_groups_are_exported_with_the_points_asked_for(tmp_path: Path) -> None:
    file, folder = str(EXAMPLES / "four_bar.toml"), tmp_path / "solver"
    code, output = called("export", file, "--groups", "--point", "coupler.P", "--out", str(folder))
    assert code == 0, output
    assert "motion of coupler.P" in output
    header = (folder / "four_bar.h").read_text(encoding="utf-8")
    assert "points[0] coupler.P" in header
    assert "bodies[0]" not in header


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--groups", "--simulator"], "--simulator"),
        (["--groups", "--coordinates", "joint"], "--coordinates"),
        (["--point", "coupler.P"], "--groups"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], word: str) -> None:
    code, output = called("export", str(EXAMPLES / "four_bar.toml"), *options)
    assert code == 1
    assert word in output
