"""What is constant over a run is computed once before it, and nothing else changes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations import Options, formulate
from biela.analysis.fused import fused_step
from biela.analysis.hoisting import Hoisted, hoisted
from biela.analysis.unrolled import Unrolled
from biela.code import Function
from biela.equations.elimination import Stiffening
from examples.mechanisms import rolling_disc, simple_pendulum, slider_crank


def kernels(model: bl.SymbolicSystem) -> dict[str, Function]:
    """Right-hand side, projections and a whole step of a system."""
    made = formulate(Unrolled(model.equations().system), "multipliers", Options(), Stiffening())
    found = {"f": made.f, "step": fused_step(made, 1)}
    if made.project_q is not None:
        found["project_q"] = made.project_q
    assert made.project_v is not None
    return found | {"project_v": made.project_v}


def given(function: Function, random: np.random.Generator) -> list[np.ndarray]:
    """Arguments near a usual state, parameters and inputs."""
    return [random.uniform(0.2, 0.9, a.shape) for a in function.inputs]


@pytest.mark.parametrize("model", [slider_crank.slider_crank, rolling_disc.rolling_disc])
def test_kernels_that_read_constants_have_the_values_of_those_that_compute_them(model) -> None:
    # the step has one parameter more, its length: it is hoisted for itself
    parts = kernels(model())
    step = parts.pop("step")
    random = np.random.default_rng(3)
    for group in (parts, {"step": step}):
        found = hoisted(group)
        for name, function in group.items():
            for _ in range(5):
                t, x, p = given(function, random)
                wanted = np.asarray(function.interpret(t, x, p))
                value = np.asarray(found.kernels[name](t, x, found.complete(p)))
                np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-13)


def test_constants_of_several_kernels_lie_one_behind_the_other() -> None:
    parts = kernels(slider_crank.slider_crank())
    del parts["step"]
    found = hoisted(parts)
    p = np.linspace(0.3, 0.9, found.given)
    complete = found.complete(p)
    assert len(complete) == found.size > found.given
    np.testing.assert_array_equal(complete[: found.given], p)
    # every kernel takes the same array, and reads no constant of another
    t, x = np.zeros(1), np.linspace(0.2, 0.7, 6)
    assert {f.inputs[2].size for f in found.kernels.values()} == {found.size}
    first = found.prepare[0].outputs[0].size
    spoilt = complete.copy()
    spoilt[found.given : found.given + first] = math.nan
    assert not np.isfinite(np.asarray(found.kernels["f"](t, x, spoilt))).all()
    for name in ("project_q", "project_v"):
        np.testing.assert_array_equal(
            found.kernels[name](t, x, spoilt), found.kernels[name](t, x, complete)
        )


@pytest.mark.parametrize("name", ["f", "project_q", "project_v", "step"])
def test_an_evaluation_takes_fewer_operations(name) -> None:
    function = kernels(slider_crank.slider_crank())[name]
    found = hoisted({name: function})
    (prepare,) = found.prepare
    run = found.kernels[name]
    assert run.count.arithmetic < function.count.arithmetic
    # what is taken out is done once: together they do no more than before
    assert run.count.arithmetic + prepare.count.arithmetic <= function.count.arithmetic


def test_what_has_no_constants_stays_as_it_is() -> None:
    ws = bl.Workspace()
    t, x, p = ws.time, ws.symbol("x"), ws.parameter("a")
    found = hoisted({"f": Function("f", {"t": [t], "x": [x], "p": [p]}, {"dx": [p * x + t]})})
    assert isinstance(found, Hoisted)
    assert found.prepare == () and found.size == 1
    assert found.kernels["f"]([2.0], [3.0], found.complete(np.array([5.0]))) == 17.0


@pytest.mark.parametrize("integrator", ["rk4", "heun", "dormand_prince", "radau"])
def test_constants_are_those_of_the_parameters_of_each_run(integrator) -> None:
    """Pendulums of two lengths from one simulator: their periods go with √l."""
    simulator = bl.Simulator(simple_pendulum.simple_pendulum(), integrator=integrator)
    adaptive = integrator in ("dormand_prince", "radau")
    for length in (1.0, 4.0, 1.0):
        half = simple_pendulum.PERIOD / 2 * math.sqrt(length)
        accuracy = {"tolerance": 1e-10} if adaptive else {"step": half / 2000}
        r = simulator.run(half, parameters={"l": length}, **accuracy)
        # at rest on the other side
        assert r["theta"][-1] == pytest.approx(math.pi / 2, abs=1e-5)
        assert r["dtheta"][-1] == pytest.approx(0.0, abs=1e-5)
