"""The equations of the symbolic examples, as shipped, against every other way to derive them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import biela as bl
from biela.equations import Equations, SymbolicSystem
from biela.equations.lagrange import mass_and_forces_lagrange
from biela.equations.newton_euler import virtual_powers, wrench_sums
from biela.equations.textbook import mass_and_forces_textbook, split
from examples.symbolic.block_pendulum import block_pendulum
from examples.symbolic.crank_rod_disc import crank_rod_disc
from examples.symbolic.flexible_pendulum import flexible_pendulum
from examples.symbolic.four_bar import four_bar
from examples.symbolic.locomotive import locomotive
from examples.symbolic.stewart import stewart
from examples.symbolic.ten_link_pendulum import ten_link_pendulum

RIGID = {
    model.__name__: model
    for model in (block_pendulum, four_bar, crank_rod_disc, stewart, ten_link_pendulum, locomotive)
}
MODELS = RIGID | {"flexible_pendulum": flexible_pendulum}


def newton_euler(system: SymbolicSystem):
    return split(system, virtual_powers(system, wrench_sums(system)))


ORACLES = {
    "lagrange": mass_and_forces_lagrange,
    "textbook": mass_and_forces_textbook,
    "newton-euler": newton_euler,
}
# the other two know rigid bodies only
CASES = [(model, oracle) for model in RIGID for oracle in ORACLES]
CASES.append(("flexible_pendulum", "lagrange"))


@cache
def shipped(name: str) -> Equations:
    """The equations by the route that biela chooses for the model."""
    return MODELS[name]().equations()


def arguments(function: bl.Function, name: str, seed: int) -> list:
    """A random state; that of the locomotive is one in which its wheels are near the rails."""
    rng = np.random.default_rng(seed)
    system = shipped(name).system
    near = 0.01 if name == "locomotive" else 0.5
    q = rng.normal(scale=near, size=len(system.q))
    if name == "locomotive":
        q[2] += 1.2
    given = {
        "t": 0.3,
        "q": q,
        "v": rng.normal(size=len(system.v)),
        "u": rng.normal(size=len(system.u)),
        "p": system.parameters,
        "lam": 1e3 * rng.normal(size=len(system.multipliers)),
    }
    return [given[array.name] for array in function.inputs]


@pytest.mark.parametrize(("name", "oracle"), CASES)
def test_mass_and_forces_as_shipped_are_those_of_the_oracle(name, oracle):
    eq = shipped(name)
    ours = eq.joint("M", "Q")
    M, Q = ORACLES[oracle](eq.source)
    theirs = eq.source.function("oracle", {"M": M, "Q": Q})
    assert [a.name for a in theirs.inputs] == [a.name for a in ours.inputs]
    for seed in (1, 2):
        given = arguments(ours, name, seed)
        found = ours.interpret(*given)
        expected = theirs.interpret(*given)
        for what, x, y in zip("MQ", found, expected, strict=True):
            # entries are sums that may cancel: what is left is judged by the largest of its row
            scale = np.abs(y).max(axis=-1, keepdims=True)
            scale[scale == 0] = 1.0
            np.testing.assert_allclose(x / scale, y / scale, rtol=0, atol=1e-10, err_msg=what)
