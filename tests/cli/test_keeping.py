"""Commands that are stopped: what they had computed is kept, and what they wrote is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import biela as bl
from biela.analysis.progress import watched
from biela.cli.main import app, main
from biela.results import partial
from tests.cli.models_on_disk import BODIES
from tests.soak import killed_commands

DRIVEN = BODIES + 'm.driver("rotary", "motor", coordinate="pivot", law="20 deg + 3*t")\n'
#: Runs that would take hours, by a command that keeps what it has every so often.
CODE = """
import sys
import biela.results.partial
biela.results.partial.EVERY = 0.02
from biela.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
ENDLESS = {
    "run": ["run", "swing.py", "--time", "1e4", "--step", "1e-4", "--csv", "--out", "out"],
    "kinematics": ["kinematics", "driven.py", "--time", "1e5", "--step", "1e-3", "--out", "out"],
    "groups": ["kinematics", "driven.py", "--time", "2e4", "--step", "1e-3", "--out", "out",
               "--formulation", "natural groups"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("swing.py").write_text(BODIES, encoding="utf-8")
    Path("driven.py").write_text(DRIVEN, encoding="utf-8")
    Path("out").mkdir()


def kill(verb: str) -> None:
    """Kill a command that has begun to keep what it has."""
    kept = Path("out") / ("results.partial" if verb == "run" else "kinematics.partial")
    command = [sys.executable, "-c", CODE, *ENDLESS[verb]]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        patience = time.monotonic() + 120
        while not has_instants(kept):
            assert process.poll() is None and time.monotonic() < patience
            time.sleep(0.05)
        process.kill()


def has_instants(kept: Path) -> bool:
    """Whether the first piece is whole."""
    try:
        return len(bl.Results.load(kept)) > 2
    except bl.BielaError:
        return False


@pytest.mark.parametrize("verb", ENDLESS)
def test_what_a_killed_command_had_can_be_read(verb):
    name = "results" if verb == "run" else "kinematics"
    Path(f"out/{name}.npz").write_bytes(b"of an earlier run")
    kill(verb)
    found = bl.Results.load(f"out/{name}.partial")
    assert found.interrupted and len(found) > 2
    assert found["pivot.angle"][0] == pytest.approx(0.349, abs=1e-3)
    final = {path.name for path in Path("out").iterdir() if not path.name.startswith(".biela-")}
    assert final == {f"{name}.partial", f"{name}.npz"}
    assert Path(f"out/{name}.npz").read_bytes() == b"of an earlier run"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_saves_its_results(number):
    def asked(part: float) -> None:
        if part > 0.3:
            os.kill(os.getpid(), number)

    own = before = signal.getsignal(number)
    if own is signal.SIG_IGN:  # as in the background, where it stays so
        before = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    signal.signal(number, before)
    try:
        with watched(asked):
            assert (
                main(["run", "swing.py", "--time", "10", "--step", "1e-4", "--out", "out"]) == 130
            )
        assert signal.getsignal(number) is before
    finally:
        signal.signal(number, own)
    assert os.listdir("out") == ["results.npz"]
    found = bl.Results.load("out/results.npz")
    assert found.interrupted and 3 < found.t[-1] < 10


def called(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("more", [[], ["--formulation", "natural groups", "--step", "1e-4"]])
def test_an_interrupted_motion_is_kept_and_its_place_is_said(more):
    def interrupted(part: float) -> None:
        if 0.5 < part < 1.0:  # not in the step by which code is loaded
            raise KeyboardInterrupt

    with watched(interrupted):
        result = called("kinematics", "driven.py", "--time", "10", "--out", "out", *more)
    assert result.exit_code == 130
    assert "is in out/kinematics.partial" in result.output
    found = bl.Results.load("out/kinematics.partial")
    assert found.interrupted and 5 <= found.t[-1] < 10


def test_what_was_kept_goes_when_the_results_are_there():
    Path("out/kinematics.partial").write_bytes(partial.MARK + b"of a run that was killed")
    quiet = ("--no-plot", "--animate", "none", "--out", "out")
    result = called("kinematics", "driven.py", "--time", "0.1", *quiet)
    assert result.exit_code == 0, result.output
    assert os.listdir("out") == ["kinematics.npz"]


@pytest.mark.parametrize(("name", "value"), [("EVERY", 0.0), ("_LARGE", 0)])
def test_results_that_cannot_be_saved_are_kept(monkeypatch, name, value):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    # of a run that takes long, and of one whose results take long to save
    monkeypatch.setattr(partial, name, value)
    monkeypatch.setattr(os, "fsync", full)
    result = called("run", "swing.py", "--time", "2", "--out", "out")
    assert result.exit_code == 1
    assert "results.npz: cannot be written: no space is left on that disk" in result.output
    assert "What was computed until 2 s is in out/results.partial" in result.output
    assert os.listdir("out") == ["results.partial"]
    assert bl.Results.load("out/results.partial").t[-1] == 2.0


def test_an_export_that_is_killed_leaves_whole_files():
    command = [sys.executable, "-m", killed_commands.__name__, "export", "--kills", "2"]
    root = Path(killed_commands.__file__).parents[2]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert found.returncode == 0 and "faults 0" in found.stdout, found.stdout + found.stderr
