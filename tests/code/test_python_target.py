"""Exported Python: executed, for one state and for many."""

from __future__ import annotations

import keyword
from typing import Any

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.code.targets import python
from tests.exported_functions import (
    assert_same,
    block_pendulum,
    every_operation,
    mu,
    puma,
    states,
)

FUNCTIONS = [every_operation(), puma(), block_pendulum()]


def executed(function: Function) -> Any:
    names: dict[str, Any] = {}
    exec(compile(python.source(function), f"{function.name}.py", "exec"), names)
    return names[function.name]


def externals(function: Function) -> dict[str, Any]:
    return {"mu": mu} if function.name == "every" else {}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of roots of negative numbers
def test_results_are_those_of_the_interpreted_graph(function: Function) -> None:
    call = executed(function)
    for state in states(function):
        results = call(*state, **externals(function))
        several = results if isinstance(results, tuple) else (results,)
        for array, result in zip(function.outputs, several, strict=True):
            assert np.shape(result) == array.shape
        assert_same(function, state, results)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_further_axes_are_a_batch(function: Function) -> None:
    chosen = states(function, 7)
    # the last input that holds anything is the same for all
    shared = max(k for k, a in enumerate(function.inputs) if a.size)
    batch = [np.stack([s[k] for s in chosen], axis=-1) for k in range(len(function.inputs))]
    batch[shared] = chosen[0][shared]
    results = executed(function)(*batch, **externals(function))
    several = results if isinstance(results, tuple) else (results,)
    for k, state in enumerate(chosen):
        state[shared] = chosen[0][shared]
        for array, result in zip(function.outputs, several, strict=True):
            assert result.shape == (*array.shape, 7)
        assert_same(function, state, [result[..., k] for result in several])


def test_lists_and_integers_are_taken() -> None:
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    call = executed(Function("f", {"q": [x, y]}, {"r": x / y}))
    assert call([1, 2]) == 0.5
    assert isinstance(call([1, 2]), float)


def test_a_wrong_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"v has shape \(3,\), expected \(2,\)"):
        executed(block_pendulum())([0, 0], [1, 2, 3], np.ones(10))


def test_names_that_python_reserves_get_an_underscore() -> None:
    ws = bl.Workspace()
    names = [*keyword.kwlist, "np", "print", "batch", "q"]
    symbols = ws.symbols(names)
    function = Function("del", {"q": list(symbols)}, {"lambda": [sum(symbols[1:], symbols[0])]})
    defined: dict[str, Any] = {}
    exec(python.source(function), defined)
    assert defined["del_"](np.ones(len(names))) == [len(names)]


def test_a_case_not_taken_does_not_warn() -> None:
    ws = bl.Workspace()
    x = ws.symbol("x")
    call = executed(Function("f", {"x": x}, {"y": bl.select(x > 0, 1 / x, 0)}))
    assert call(0.0) == 0.0
    assert call(2.0) == 0.5


def test_external_functions_are_keyword_arguments() -> None:
    call = executed(every_operation())
    with pytest.raises(TypeError, match="mu"):
        call(*states(every_operation())[0])
