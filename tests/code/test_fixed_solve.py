"""Kernels that solve equations, as functions for a fixed number of steps and as C."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.code.looped import Clear, Memory, Program, Solve, Write
from biela.code.looped.c99 import JUDGEMENT, solve_text
from biela.code.looped.fixed_solve import HELD, fixed_solve
from biela.code.looped.places_text import PlaceTable
from biela.code.targets import c99
from biela.errors import ExportError
from tests.routines_in_c import compile_c

M = np.array([1.0, 2.0, 0.5, -1.0])
E = np.array([0.1, 0.4, 0.0, 0.9])


def kepler() -> Function:
    """E - e sin E = M f(e), with a factor that does not depend on E."""
    ws = bl.Workspace("kepler")
    x, m, e = ws.symbol("E"), ws.symbol("M"), ws.parameter("e")
    mean = m * bl.exp(e)
    r = x - e * bl.sin(x) - mean
    slope = 1 - e * bl.cos(x)
    return Function(
        "kepler",
        {"x": [x], "m": [m], "p": [e]},
        {"guess": [mean], "residual": [r], "next": [x - r / slope], "positive": [slope - 0.2]}
        | {"angle": [x], "speed": [1 / slope]},
    )


def stage(places: list[int], steps: int) -> tuple[Memory, Solve]:
    memory = Memory({"status": 3, "M": 4, "E": 8})
    at = memory.first("E") + np.array(places)
    scatter = {"angle": Write(at), "speed": Write(at + 4)}
    found = Solve(
        kepler(),
        gather={"m": memory.first("M") + np.arange(4)},
        scatter=scatter,
        parameters=E[:, None],
        status=memory.first("status"),
        fixed=steps,
        tolerance=1e-9,
    )
    return memory, found


def test_guess_steps_and_results_are_those_of_the_kernel() -> None:
    solve = fixed_solve(kepler(), "kepler")
    assert (solve.unknowns, solve.held, solve.positive) == (1, 1, 1)
    assert solve.guess is not None
    assert solve.step is not None
    assert [a.name for a in solve.guess.outputs] == ["guess", HELD]
    # what does not depend on x stands in the guess only
    assert [a.name for a in solve.step.inputs] == ["x", "p", HELD]
    x, held = solve.guess.interpret([1.0], [0.5])
    for _ in range(6):
        x = solve.step.interpret(x, [0.5], held)
    names = [a.name for a in solve.results.outputs]
    results = dict(zip(names, solve.results.interpret(x, [0.5], held), strict=True))
    assert results["square"][0] < 1e-30
    assert x[0] - 0.5 * np.sin(x[0]) == pytest.approx(np.exp(0.5), rel=1e-14)
    assert results["speed"][0] == pytest.approx(1 / (1 - 0.5 * np.cos(x[0])), rel=1e-14)


@pytest.mark.gcc
@pytest.mark.parametrize("places", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_the_stage_in_c_does_what_it_does_in_process(places: list[int]) -> None:
    memory, solve = stage(places, 5)
    w = memory.array()
    memory.view(w, "M")[:] = M
    Program([Clear(0, 3), solve], memory.size).run(w)
    made = solve_text(solve, "kepler", ["one", "two", "three", "four"], ["orbits"])
    includes = "#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    text = [includes, c99.static_text(made.functions, work="fixed"), JUDGEMENT, made.text]
    text.append(
        "int run(double *w, int steps, double bound);\n"
        "int run(double *w, int steps, double bound) {\n"
        "  return solve_kepler(w, w, 0, 4, steps, bound, 0);\n}\n"
    )
    library = compile_c("\n".join(text))
    found = memory.array()
    memory.view(found, "M")[:] = M
    pointer = ctypes.c_void_p(found.ctypes.data)
    assert library.run(pointer, 5, ctypes.c_double(1e-18)) == 0
    assert memory.view(found, "E") == pytest.approx(memory.view(w, "E"), rel=1e-14)
    # too few steps: the first that is not solved; the third one is, as it is linear
    assert library.run(pointer, 0, ctypes.c_double(1e-18)) == 4 * 1 + 1
    memory.view(found, "M")[:] = [0.0, np.nan, 1.0, 0.0]
    assert library.run(pointer, 5, ctypes.c_double(1e-18)) == 4 * 2 + 2
    # 1 - e cos E is below 0.2 at E = 0 for e = 0.9
    memory.view(found, "M")[:] = 0.0
    assert library.run(pointer, 5, ctypes.c_double(1e-18)) == 4 * 4 + 3


def test_what_is_added_to_other_things_cannot_be_written() -> None:
    memory, solve = stage([0, 1, 2, 3], 5)
    adding = Solve(
        solve.kernel,
        gather=solve.gather,
        scatter={**solve.scatter, "angle": Write(memory.places("E")[:4], "add")},
        parameters=solve.parameters,
        status=0,
    )
    with pytest.raises(ExportError, match="angle is not written to places"):
        solve_text(adding, "kepler", [""] * 4, [])


def test_expressions_of_places_give_the_places() -> None:
    random = np.random.default_rng(3)
    some = random.integers(0, 1000, 6)
    cases = [np.full(6, 7), 5 + 3 * np.arange(6), np.arange(6), 9 - np.arange(6), some]
    cases += [some + 40, some - 2, random.integers(0, 9, 6)]
    table = PlaceTable(6)
    texts = [table.expression(case) for case in cases]
    assert len(table.columns) == 2
    for case, text in zip(cases, texts, strict=True):
        for k in range(6):
            at = [column[k] for column in table.columns]
            assert eval(text, {"k": k, "at": at}) == case[k], text
