"""The command line as a user types it: help, mistakes, the small verbs."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import biela
from biela.cli.app import DESCRIBE, MOVE, PROGRAM
from biela.cli.benchmarking import checkout
from biela.cli.main import app, main
from biela.cli.values import assignments
from biela.errors import ModelError

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "simulation.md"
VERBS = (
    "new",
    "joints",
    "check",
    "info",
    "convert",
    "kinematics",
    "run",
    "export",
    "bench",
    "demo",
    "cache",
)


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(f" {verb} " in text for verb in VERBS)
    groups = [text.index(title) for title in (DESCRIBE, MOVE, PROGRAM)]
    assert groups == sorted(groups)
    assert groups[0] < text.index(" check  ") < groups[1] < text.index(" run  ") < groups[2]


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"biela {biela.__version__}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help(verb):
    result = CliRunner().invoke(app, [verb, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.output
    if verb != "cache":
        assert result.output.count(f" biela {verb}") > 1  # besides the usage, an example


@pytest.mark.parametrize("place", ["help", "guide"])
def test_every_formulation_is_named(place, monkeypatch):
    from biela.analysis import FORMULATIONS

    monkeypatch.setenv("COLUMNS", "200")
    text = CliRunner().invoke(app, ["run", "--help"]).output
    if place == "guide":
        text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in FORMULATIONS if name not in text] == []


@pytest.mark.parametrize("arguments", [["walk"], ["run"], ["run", "x.py", "--colour", "red"]])
def test_a_command_that_cannot_be_read_ends_with_2(arguments, capsys):
    assert main(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_option_that_needs_a_number_is_named(capsys):
    assert main(["run", "x.py", "--time", "long"]) == 2
    assert "--time" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_answered_in_words(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 1
    assert "file" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "in the way"


def test_the_cache_is_shown_and_cleared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BIELA_CACHE_DIR", str(tmp_path))
    ws = biela.Workspace()
    x = ws.symbol("x")
    biela.Function("f", {"x": x}, {"y": x + 1})(1.0)
    assert main(["cache"]) == 0
    assert "1 files" in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert "removed 1 files" in capsys.readouterr().out


def test_values_may_be_expressions_of_numbers():
    found = assignments("--q", ["a=pi/2", "b = -2.5e-3"])
    assert found == {"a": pytest.approx(1.5707963267948966), "b": -2.5e-3}


@pytest.mark.parametrize(
    ("text", "radians"),
    [
        ("40*deg", 0.6981317007977318),
        ("40deg", 0.6981317007977318),
        ("-40 deg", -0.6981317007977318),
        ("1e2deg + .5deg", 1.7540558982543014),
        ("pi/2 - 90.0deg", 0.0),
        ("sin(30deg)", 0.5),
        ("deg", 0.017453292519943295),
    ],
)
def test_angles_may_be_given_in_degrees(text, radians):
    assert assignments("--q", [f"theta={text}"])["theta"] == pytest.approx(radians, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a=40degree", "not a number"),
        ("a=x2deg", "not a number"),
        ("theta", "name=value"),
        ("=3", "name=value"),
        ("a=", "name=value"),
        ("a=x", "not a number"),
    ],
)
def test_a_value_that_cannot_be_read_is_shown(text, said):
    with pytest.raises(ModelError, match=said):
        assignments("--q", [text])


@pytest.mark.parametrize(
    ("text", "value"), [("45mm", 0.045), ("2*3 cm", 0.06), ("1 kN/m", 1e3), ("60 rpm", 2 * math.pi)]
)
def test_values_may_have_units(text, value):
    assert assignments("--set", [f"r={text}"])["r"] == pytest.approx(value, rel=1e-15)


def test_a_time_of_another_dimension_is_refused(capsys):
    assert main(["run", "x.py", "--time", "3 mm"]) == 2
    assert "is no time" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "kinematics"])
def test_brackets_in_a_help_are_shown(verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = CliRunner().invoke(app, [verb, "--help"]).output
    assert "[default: that of the file, else 5]" in text
    assert verb != "run" or "its table [run]; or" in text


def test_a_value_given_twice_is_refused():
    with pytest.raises(ModelError, match="twice"):
        assignments("--set", ["m=1", "m=2"])


def test_outside_a_checkout_the_benchmarks_say_where_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench"]) == 1
    assert "make bench" in capsys.readouterr().err


def test_a_checkout_is_found_from_inside_it(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "registry.py").touch()
    (tmp_path / "src" / "biela").mkdir(parents=True)
    assert checkout(tmp_path / "src" / "biela") == tmp_path
    assert checkout(tmp_path.parent) is None


def test_importing_biela_loads_nothing_heavy():
    heavy = ["llvmlite", "numba", "matplotlib", "typer", "rich"]
    script = f"import sys, biela; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("columns", ["0", "00", "", "60"])
def test_a_width_that_is_not_known_is_that_of_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    result = CliRunner().invoke(app, ["check", "examples/mechanisms/four_bar.toml"])
    assert result.exit_code == 0
    assert "four" in result.output
