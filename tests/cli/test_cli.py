"""The command line as a user types it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import biela
from biela.cli.main import main


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == f"biela {biela.__version__}"


def test_the_demonstration_runs_and_exports(tmp_path, capsys):
    assert main(["demo", "--links", "2", "--output", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "cart acceleration" in text
    assert "native, from Python" in text
    assert (tmp_path / "out" / "pendulums.c").is_file()
    assert (tmp_path / "out" / "pendulums.jl").is_file()


def test_a_wrong_argument_is_answered_in_words(capsys):
    assert main(["demo", "--links", "0"]) == 1
    assert "at least one pendulum" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_answered_in_words(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main(["demo", "--output", str(tmp_path / "file")]) == 1
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


def test_importing_biela_loads_neither_llvm_nor_numba():
    script = "import sys, biela; print('llvmlite' in sys.modules, 'numba' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "False"]


def test_a_single_pendulum_on_a_cart_is_that_of_the_textbooks():
    import numpy as np

    from biela.cli.demo import cart_and_pendulums

    M, Q = cart_and_pendulums(1)([0.2, 0.6], [0.1, -0.7], 1.5, [2.0, 9.81, 0.5, 0.3])
    s, c = np.sin(0.6), np.cos(0.6)
    np.testing.assert_allclose(M, [[2.5, 0.15 * c], [0.15 * c, 0.5 * 0.09]], rtol=1e-14)
    np.testing.assert_allclose(Q, [1.5 + 0.15 * s * 0.49, -0.5 * 9.81 * 0.3 * s], rtol=1e-13)
