"""Blocks as one native call against the same blocks by NumPy, and against a recursion by hand."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.code import Function
from biela.equations.blocks import Block, looped, program, reference_blocks
from biela.errors import ModelError


def swinging(count: int) -> bl.Model:
    """A chain of rods on hinges, driven at its root."""
    m = bl.Model("rods")
    before = m.ground.at()
    for k in range(count):
        rod = m.body(f"rod{k}", mass=0.2 + 0.1 * k, com=(0, 0, -0.5), inertia=(0.02, 0.03, 0.01))
        m.joint("revolute", f"hinge{k}", before, rod.at(), axis="y")
        before = rod.at(0, 0, -1.0)
    m.driver("rotary", "D", coordinate="hinge0", law="0.3 + 2*t")
    a, b = m.bodies["rod1"], m.bodies["rod4"]
    m.force("spring_damper", "S", i=a.at(0.1, 0, 0), j=b.at(), stiffness=10.0, length=0.1)
    return m


def test_a_native_program_gives_what_the_blocks_give_by_arrays() -> None:
    blocks = reference_blocks(swinging(11))
    rng = np.random.default_rng(1)
    q = blocks.moved(blocks.start, rng.uniform(-0.5, 0.5, blocks.nv))
    v = rng.uniform(-1, 1, blocks.nv)
    vectors = blocks.vectors(q, v, 0.3)
    sizes = {"Phi": len(blocks.rows), "Phi_v": blocks.indices.shape[1], "gamma": len(blocks.rows)}
    sizes["Q"] = blocks.nv  # to which bodies and the spring both add
    used = (*blocks.positions, *blocks.accelerations, blocks.masses, *blocks.forces)
    made = program(used, {name: len(x) for name, x in vectors.items()}, sizes)
    w = made.memory.array()
    for name, x in vectors.items():
        made.memory.view(w, name)[:] = x
    for _ in range(2):  # what is added to is cleared each time
        made.program.run(w)
    expected = looped(used, vectors, sizes)
    for name in sizes:
        scale = np.abs(expected[name]).max()
        assert scale > 0
        np.testing.assert_allclose(
            made.memory.view(w, name), expected[name], rtol=0, atol=1e-14 * max(scale, 1.0)
        )


def test_a_later_stage_reads_what_an_earlier_wrote_and_unwanted_outputs_are_left_out() -> None:
    ws = bl.Workspace("square")
    x = ws.symbol("x")
    kernel = Function("square", {"x": [x]}, {"y": [x * x], "rest": [x + 1]})
    n = 10
    places = np.arange(n)
    none = np.zeros((n, 0))
    first = Block(
        "first", kernel, none, {"x": ("a", places)}, {"y": ("b", places), "rest": ("lost", places)}
    )
    second = Block(
        "second", kernel, none, {"x": ("b", places)}, {"y": ("c", places), "rest": ("b2", places)},
        stage=1,
    )  # fmt: skip
    made = program([second, first], {"a": n}, {"b": n, "c": n})
    w = made.memory.array()
    made.memory.view(w, "a")[:] = np.arange(n)
    made.program.run(w)
    assert made.memory.view(w, "c").tolist() == [k**4 for k in range(n)]
    with pytest.raises(ModelError, match="block second: x is read from b, which is not there"):
        program([second], {"a": n}, {"c": n})
