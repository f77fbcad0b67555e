"""The System: what an analysis may ask, and what it is told."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations import CAPABILITIES, Quantity, System
from biela.errors import ModelError, ShapeError


@pytest.fixture
def oscillator() -> System:
    """A mass on a spring pushed by a force, with a multiplier that does nothing but show up."""
    ws = bl.Workspace("oscillator")
    x = ws.coordinate("x")
    m, k = ws.parameters("m k")
    (F,) = ws.inputs("F")
    (lam,) = ws.unknowns("lam1")
    inputs = {"t": ws.time, "q": [x], "v": [x.velocity], "u": [F], "p": [m, k]}
    force = F - k * x + bl.sin(ws.time)
    return System(
        name="oscillator",
        q=(Quantity("x", "m"),),
        v=(Quantity("dx", "m/s"),),
        u=(Quantity("F", "N", 3.0),),
        p=(Quantity("m", "kg", 2.0), Quantity("k", "N/m", 10.0)),
        multipliers=("stop",),
        geometric=1,
        functions={
            "M": bl.Function("M", inputs, {"M": [[m]]}),
            "Q": bl.Function("Q", {**inputs, "lam": [lam]}, {"Q": [force - lam]}),
        },
    )


def test_what_is_not_given_takes_its_default(oscillator):
    assert oscillator.evaluate("M", [0.5]) == [[2.0]]
    assert oscillator.evaluate("Q", [0.5]) == [3.0 - 5.0]
    np.testing.assert_array_equal(oscillator.parameters, [2.0, 10.0])
    np.testing.assert_array_equal(oscillator.inputs, [3.0])


def test_parameters_may_be_given_by_name_or_in_order(oscillator):
    by_name = oscillator.evaluate("Q", [0.5], p={"k": 4.0}, u=[0.0])
    in_order = oscillator.evaluate("Q", [0.5], p=[2.0, 4.0], u=[0.0])
    assert by_name == in_order == [-2.0]


def test_time_and_multipliers_reach_the_functions_that_take_them(oscillator):
    value = oscillator.evaluate("Q", [0.0], u=[0.0], t=np.pi / 2, lam=[0.25])
    np.testing.assert_allclose(value, [0.75])
    assert oscillator.evaluate("M", [0.0], lam=[9.0]) == [[2.0]]


def test_a_missing_capability_is_named_with_what_there_is(oscillator):
    message = r"oscillator does not give gamma \(Φ_v v' = γ\); it gives M, Q"
    with pytest.raises(ModelError, match=message):
        oscillator["gamma"]
    assert "M" in oscillator
    assert "gamma" not in oscillator


def test_a_word_that_is_no_capability_is_refused(oscillator):
    with pytest.raises(ModelError, match=r"'mass' is not a capability of systems; these are: .*M"):
        oscillator["mass"]


def test_an_unknown_parameter_is_refused_by_name(oscillator):
    with pytest.raises(ModelError, match="no parameter stiffness; it has m, k"):
        oscillator.evaluate("Q", [0.5], p={"stiffness": 4.0})


def test_a_state_of_the_wrong_length_is_refused(oscillator):
    with pytest.raises(ShapeError, match="q has shape"):
        oscillator.evaluate("M", [0.5, 0.1])


def test_every_function_is_a_known_capability_of_every_formulation(oscillator):
    assert set(oscillator.functions) <= set(CAPABILITIES)
    assert repr(oscillator) == "System oscillator: 1 coordinates, 1 constraints, gives M, Q"
