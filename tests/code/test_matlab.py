"""Exported MATLAB code, run by GNU Octave."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.code.targets import matlab
from tests.exported_functions import (
    EXTERNAL_MATLAB,
    assert_same,
    block_pendulum,
    every_operation,
    puma,
    states,
)


def long_names() -> Function:
    """Names that MATLAB cannot spell, or that mean something else there."""
    ws = bl.Workspace("names")
    names = ["_x", "__1", "end", "pi", "i", "f", "n" * 70, "n" * 71, "zeros"]
    symbols = ws.symbols(names)
    weighted = [(k + 1) * x for k, x in enumerate(symbols)]
    return Function("f", {"end": list(symbols)}, {"zeros": [[sum(weighted[1:], weighted[0]), 0]]})


FUNCTIONS = [every_operation(), puma(), block_pendulum(), long_names()]


def spelled(value: Any) -> str:
    """An argument as Octave reads it; a vector is a column."""
    array = np.asarray(value)
    if array.ndim < 2:
        return "[" + "; ".join(map(repr, array.ravel().tolist())) + "]"
    return "[" + "; ".join(", ".join(map(repr, row)) for row in array.tolist()) + "]"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Any]]]:
    """For each function and state its outputs; one run of Octave for all of them."""
    if shutil.which("octave") is None:
        pytest.skip("needs octave")
    folder: Path = tmp_path_factory.mktemp("octave")
    (folder / "mu.m").write_text(EXTERNAL_MATLAB)
    script = ["1;", "show = @(x) printf('%.17g ', size(x), real(x(:)), any(imag(x(:))));"]
    for function in FUNCTIONS:
        (folder / f"{matlab.file_name(function)}.m").write_text(matlab.source(function))
        outputs = [f"out{k}" for k in range(len(function.outputs))]
        for state in states(function):
            call = f"{matlab.file_name(function)}({', '.join(map(spelled, state))})"
            script.append(f"[{', '.join(outputs)}] = {call};")
            script += [f"show({name}); printf('\\n');" for name in outputs]
    (folder / "script.m").write_text("\n".join(script))
    command = ["octave", "--no-gui", "--norc", "--quiet", "script.m"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "DISPLAY": ""}
    )
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    results: dict[str, list[list[Any]]] = {}
    for function in FUNCTIONS:
        for _ in states(function):
            results.setdefault(function.name, []).append(
                [read(next(lines)) for _ in function.outputs]
            )
    return results


def read(line: str) -> Any:
    """A real matrix as Octave printed it: size, entries by column, whether it is complex."""
    rows, columns, *values, is_complex = (float(word) for word in line.split())
    assert not is_complex
    return np.reshape(values, (int(rows), int(columns)), order="F")


@pytest.mark.octave
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_results_are_those_of_the_interpreted_graph(function: Function, answers: Any) -> None:
    for state, given in zip(states(function), answers[function.name], strict=True):
        shaped = []
        for array, value in zip(function.outputs, given, strict=True):
            assert value.shape == (*array.shape, 1, 1)[:2]  # vectors are columns
            shaped.append(value.reshape(array.shape))
        assert_same(function, state, shaped)


def test_the_file_is_named_as_its_function() -> None:
    ws = bl.Workspace()
    x = ws.symbol("x")
    function = Function("end", {"x": x}, {"y": x + 1})
    assert matlab.file_name(function) == "end_"
    assert matlab.source(function).startswith(
        "function [y] = end_(x)\n    % end_: model workspace\n"
    )


def test_no_name_is_longer_than_matlab_reads() -> None:
    text = matlab.source(long_names())
    code = [line.partition("%")[0] for line in text.splitlines()]
    assert max(len(word) for line in code for word in line.split()) <= 63
