"""Routines are compiled before the tests: each after those that it calls."""

from __future__ import annotations

import biela.solvers.ldlt
from biela.code.routines import Int, Real, Vector, routine
from tools.compile_ahead import levels


@routine(x="n")
def total(n: Int, x: Vector) -> Real:
    found = 0.0
    for i in range(n):
        found += x[i]
    return found


@routine(x="n")
def mean(n: Int, x: Vector) -> Real:
    return total(n, x) / n


@routine(x="n")
def excess(n: Int, x: Vector) -> Real:
    return total(n, x) - mean(n, x)


def test_a_routine_comes_after_all_that_it_calls():
    assert levels([excess, mean, total]) == [[total], [mean], [excess]]


def test_a_routine_is_found_again_by_the_module_and_name_it_has():
    factors = biela.solvers.ldlt
    found = [value for value in vars(factors).values() if hasattr(value, "is_routine")]
    assert found
    for each in found:
        assert getattr(__import__(each.__module__, fromlist=["_"]), each.name) is each
