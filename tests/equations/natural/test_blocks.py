"""Layouts as blocks: looped, native and unrolled they are the same equations."""

from __future__ import annotations

import numpy as np
import pytest

from biela.equations.natural import Layout
from biela.equations.natural.natural_blocks import NaturalBlocks
from biela.equations.system import System
from biela.errors import ModelError
from tests.equations.natural.laid import bricard, four_bar, spatial_chain, tether


def loaded_four_bar() -> Layout:
    lay = four_bar("switched")
    alpha, p, q = (lay.entities[name] for name in ("alpha", "p", "q"))
    lay.spring(alpha, 3.0, 0.2, 0.1)
    lay.force(p, (1.0, -2.0))
    lay.strut(lay.entities["A"], q, 5.0, 1.0, 0.3)
    lay.drive(alpha, lambda t, p: p[0] + p[1] * t * t, (0.5, 2.0))
    return lay


def compare(blocks: NaturalBlocks, system: System, native: bool = True) -> None:
    """All that blocks write at a random state, row by row by its name."""
    random = np.random.default_rng(7)
    n = len(system.q)
    q, v = random.normal(size=n), random.normal(size=n)
    t = 0.3
    assert list(blocks.columns) == [e.name for e in system.q]
    order = [list(blocks.rows).index(name) for name in system.multipliers]
    assert sorted(order) == list(range(len(blocks.rows)))
    found = blocks.evaluate(q=q, v=v, t=t)
    if native:
        made = blocks.program()
        w = made.memory.array()
        for name, value in {"q": q, "v": v, "t": [t]}.items():
            made.memory.view(w, name)[:] = value
        made.program.run(w)
        for name, value in found.items():
            constant = blocks.weight if name == "Q" else 0.0
            np.testing.assert_allclose(
                made.memory.view(w, name) + constant, value, rtol=1e-12, atol=1e-12
            )
    scale = {"rtol": 1e-11, "atol": 1e-11}
    for name in ("Phi", "beta", "gamma"):
        expected = np.asarray(system.evaluate(name, q, v, t=t))
        np.testing.assert_allclose(found[name][order], expected, **scale)
    J = np.zeros((len(blocks.rows), n))
    J[tuple(blocks.indices)] = found["Phi_q"]
    np.testing.assert_allclose(J[order], system.evaluate("Phi_q", q, t=t), **scale)
    np.testing.assert_allclose(found["Q"], system.evaluate("Q", q, v, t=t), **scale)
    M = np.zeros((n, n))
    M[blocks.mass[0], blocks.mass[1]] = blocks.mass[2]
    np.testing.assert_allclose(M, system.evaluate("M", q), **scale)
    np.testing.assert_allclose(blocks.start, [e.value for e in system.q])


@pytest.mark.parametrize(
    "make",
    [
        lambda: spatial_chain(4)[0],
        lambda: bricard(1),
        lambda: bricard(2),
        lambda: tether(4),
        loaded_four_bar,
    ],
)
def test_blocks_and_system_of_a_layout_agree(make: object) -> None:
    lay = make()
    compare(lay.blocks(), lay.system())


def test_the_entries_of_the_blocks_are_those_of_the_pattern() -> None:
    lay = bricard(1)
    blocks, pattern = lay.blocks(), lay.jacobian_pattern()
    names, rows = list(blocks.rows), [set[int]() for _ in blocks.rows]
    for row, column in blocks.indices.T:
        rows[row].add(int(column))
    assert {n: frozenset(r) for n, r in zip(names, rows, strict=True)} == dict(
        zip(pattern.row_names, pattern.rows, strict=True)
    )
    assert blocks.indices.shape[1] == pattern.entries == 209
    assert {names[k] for k in blocks.closure} == {pattern.row_names[k] for k in pattern.closure}
    assert blocks.relative == pattern.relative


def test_longer_chains_have_the_same_kernels() -> None:
    short, long = spatial_chain(3)[0].blocks(), spatial_chain(9)[0].blocks()
    assert {b.kernel for b in short.blocks} == {b.kernel for b in long.blocks}


def test_forces_that_are_expressions_of_their_own_have_blocks_too() -> None:
    lay = loaded_four_bar()
    alpha, p = lay.entities["alpha"], lay.entities["p"]
    lay.motor(alpha, 2.0 * lay.source.time)
    q = alpha.components[0]
    (k,) = lay.source.parameters(k=3.0)
    lay.source.push(q.velocity + p.components[0] * p.components[1].velocity, k * q * q.velocity)
    compare(lay.blocks(), lay.system())


def test_what_has_no_kernel_is_refused() -> None:
    lay = four_bar()
    (u,) = lay.source.inputs("u")
    lay.motor(lay.entities["alpha"], u)
    with pytest.raises(ModelError, match="depends on the input u"):
        lay.blocks()
    other = four_bar()
    other.source.wrench(other.solids["coupler"], moment=(0, 0, 1))
    with pytest.raises(ModelError, match="wrenches on solids have no blocks"):
        other.blocks()
    with pytest.raises(ModelError, match="blocks write Phi"):
        four_bar().blocks().evaluate("K", q=np.zeros(5))
