"""Exported Julia: read by a grammar of the language and run on its syntax tree."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.code.targets import julia
from tests.exported_functions import (
    assert_same,
    every_operation,
    mu,
    newton_euler,
    puma,
    states,
)
from tests.julia_walker import Julia


def plain(state):
    return [float(x) if np.ndim(x) == 0 else x for x in state]


@pytest.mark.parametrize("function", [every_operation(), puma()], ids=lambda f: f.name)
def test_results_are_those_of_the_interpreted_graph(function) -> None:
    call = Julia(julia.source(function), mu=mu)[function.name]
    for state in states(function):
        assert_same(function, state, call(*plain(state)))


def test_given_arrays_are_filled_with_zeros_too() -> None:
    function = every_operation()
    outputs = [np.full(a.shape, 7.0) for a in function.outputs]
    state = states(function)[0]
    Julia(julia.source(function), mu=mu)["every!"](*outputs, *plain(state))
    assert_same(function, state, outputs)


def test_a_long_function_is_cut_into_parts() -> None:
    example = newton_euler()
    function = example.torque_function("chain", example.random_chain(45))
    text = julia.source(function)
    assert text.count("function chain_part") > 2
    call = Julia(text)["chain"]
    for state in states(function, 2):
        assert_same(function, state, call(*state))


def test_names_that_julia_reserves_get_an_underscore() -> None:
    ws = bl.Workspace("names")
    end, sin, T = ws.symbols(["end", "sin", "T"])
    function = Function("begin", {"let": [end, sin, T]}, {"y": [bl.sin(end) + sin * T]})
    text = julia.source(function)
    assert "function begin_(let_)" in text
    assert Julia(text)["begin_"](np.array([0.5, 2.0, 3.0]))[0] == np.sin(0.5) + 6.0
