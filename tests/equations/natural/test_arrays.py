"""Arrays of parts in natural coordinates: as if every instance had been written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import spsolve

import biela as bl
from biela.equations.natural.arrays import array_blocks
from biela.equations.natural.placed import NaturalDerivation
from biela.equations.natural.written_out import derived
from biela.errors import ModelError


def four_bar(plane: str | None) -> bl.Model:
    """Crank, coupler and rocker, driven; the tip of the rocker carries the next one."""
    m = bl.Model("four-bar", plane=plane)
    r = m.parameter("r", 0.1)
    inertia = (0.01, 0.012, 0.013)
    bodies = (
        m.body(name, mass=mass, com=(0.1, 0.02, 0), inertia=inertia)
        for name, mass in {"crank": 1.0, "coupler": "10*r", "rocker": 2.0}.items()
    )
    crank, coupler, rocker = bodies
    rocker.marker("tip", (0.4, 0, 0))
    # closed at t = 0 for r = 100 mm
    m.joint("revolute", "A", m.ground, crank)
    m.joint("revolute", "B", (crank, (r, 0, 0)), coupler, start=0.5734)
    m.joint("revolute", "C", (coupler, (0.3, 0, 0)), (rocker, (0.2, 0, 0)))
    m.joint("revolute", "D", (m.ground, (0.3, 0, 0)), rocker, start=1.3999)
    m.driver("rotary", "motor", coordinate="A.angle", law="2*pi*t + r")
    m.force("torsional", "spring", coordinate="D.angle", stiffness=3.0)
    return m


def chain(count: int, plane: str | None = "xy", **settings: object) -> bl.Model:
    m = bl.Model("chain", plane=plane)
    radii = np.linspace(0.09, 0.11, count)
    m.part("cell", four_bar(plane), count, link="rocker.tip", parameters={"r": radii}, **settings)
    return m


def shifted(count: int) -> bl.Model:
    """Four-bars beside each other on the ground, each with a crank of its own length."""
    m = bl.Model("array", plane="xy")
    radii = np.linspace(0.09, 0.11, count)
    m.part("cell", four_bar("xy"), count, shift=(1.0, 0.2, 0), parameters={"r": radii})
    return m


def joined(count: int) -> bl.Model:
    """Cranks on the ground with a rod from each to the next."""
    cell = bl.Model("cell", plane="xy")
    crank = cell.body("crank", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    coupler = cell.body("coupler", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    crank.marker("tip", (1, 0, 0))
    coupler.marker("end", (1, 0, 0))
    cell.joint("revolute", "A", cell.ground, crank, start="90 deg")
    cell.joint("revolute", "B", crank.markers["tip"], coupler, start="-90 deg")
    m = bl.Model("row", plane="xy")
    links = [("revolute", "coupler.end", "crank.tip")]
    m.part("cell", cell, count, shift=(1, 0, 0), between=links)
    return m


@pytest.mark.parametrize(
    "m",
    [chain(7), chain(10), chain(7, None), shifted(9), joined(9)],
    ids=["chain of 7", "chain of 10", "chain in space", "beside each other", "joined"],
)
def test_an_array_of_parts_has_the_equations_of_the_parts_written_out(m: bl.Model) -> None:
    blocks = array_blocks(m)
    derivation = derived(NaturalDerivation(m.flattened()))
    system = derivation.system.equations().system
    names = [derivation.names[e.name] for e in system.q]
    rows = [derivation.names[name] for name in system.multipliers]
    columns = [list(blocks.columns).index(name) for name in names]
    order = [list(blocks.rows).index(name) for name in rows]
    assert sorted(columns) == list(range(len(blocks.columns)))
    assert sorted(order) == list(range(len(blocks.rows)))
    random = np.random.default_rng(1)
    q, v, t = random.normal(size=len(names)), random.normal(size=len(names)), 0.2
    x, w = np.zeros_like(q), np.zeros_like(v)
    x[columns], w[columns] = q, v
    found = blocks.evaluate(q=x, v=w, t=t)

    def walked(name: str) -> np.ndarray:
        function = system[name]
        given = {"t": t, "q": q, "v": v, "u": [], "p": system.parameters}
        return np.asarray(function.interpret(*(given[a.name] for a in function.inputs)))

    close = {"rtol": 1e-10, "atol": 1e-10}
    for name in ("Phi", "beta", "gamma"):
        np.testing.assert_allclose(found[name][order], walked(name), **close)
    np.testing.assert_allclose(found["Q"][columns], walked("Q"), **close)
    J = np.zeros((len(rows), len(names)))
    J[tuple(blocks.indices)] = found["Phi_q"]
    assert len(np.unique(blocks.indices, axis=1).T) == blocks.indices.shape[1]
    np.testing.assert_allclose(J[np.ix_(order, columns)], walked("Phi_q"), **close)
    M = np.zeros((len(names), len(names)))
    np.add.at(M, (blocks.mass[0], blocks.mass[1]), blocks.mass[2])
    np.testing.assert_allclose(M[np.ix_(columns, columns)], walked("M"), **close)
    start = [
        1.3999 if name.endswith("D.angle") else e.value
        for name, e in zip(names, system.q, strict=True)
    ]
    np.testing.assert_allclose(blocks.start[columns], start, atol=1e-12)
    relative = {name for name in names if name.endswith("D.angle")}
    assert {blocks.columns[k] for k in blocks.relative} == relative


def test_a_planar_chain_has_four_points_and_eight_equations_an_instance() -> None:
    """Without the spring: two joints of the loop, and the two points that carry the next."""
    prototype = four_bar("xy")
    prototype.forces.clear()
    m = bl.Model("chain", plane="xy")
    m.part("cell", prototype, 5000, link="rocker.tip")
    blocks = array_blocks(m)
    assert len(blocks.columns) == 8 * 5000 - 4
    assert len(blocks.rows) == 8 * 5000 - 4
    assert not blocks.relative
    made = blocks.program("Phi", "Phi_q", "gamma")
    w = made.memory.array()
    made.memory.view(w, "q")[:] = blocks.start
    made.program.run(w)
    expected = blocks.evaluate("Phi", q=blocks.start)["Phi"]
    np.testing.assert_allclose(made.memory.view(w, "Phi"), expected, atol=1e-14)


def test_the_positions_of_a_chain_follow_its_motors() -> None:
    """Newton's method on the sparse blocks: every crank is at its own angle on its own rocker."""
    m = chain(60)
    blocks = array_blocks(m)
    q, t = blocks.start.copy(), 0.01
    for _ in range(30):
        found = blocks.evaluate("Phi", "Phi_q", q=q, t=t)
        J = csc_matrix((found["Phi_q"], tuple(blocks.indices)), shape=(len(q), len(q)))
        step = spsolve(J, found["Phi"])
        q -= step
        if np.abs(step).max() < 1e-13:
            break
    assert np.abs(blocks.evaluate("Phi", q=q, t=t)["Phi"]).max() < 1e-12
    names = list(blocks.columns)

    def at(name: str) -> np.ndarray:
        return q[[names.index(f"{name}.{axis}") for axis in "xy"]]

    for k in (5, 31, 58):
        rocker = at(f"cell[{k - 1}].coupler.C") - at(f"cell[{k - 2}].rocker.cell[{k - 1}]_D")
        crank = at(f"cell[{k}].crank.B") - at(f"cell[{k - 1}].rocker.cell[{k}]_A")
        r = np.linspace(0.09, 0.11, 60)[k]
        assert np.linalg.norm(crank) == pytest.approx(r)
        turned = np.arctan2(*crank[::-1]) - np.arctan2(*rocker[::-1])
        assert np.cos(turned) == pytest.approx(np.cos(2 * np.pi * t + r))
        assert np.sin(turned) == pytest.approx(np.sin(2 * np.pi * t + r))


def test_the_size_of_an_array_does_not_change_its_kernels() -> None:
    short, long = array_blocks(chain(8)), array_blocks(chain(200))
    assert len(short.blocks) == len(long.blocks)
    assert [b.kernel.count for b in short.blocks] == [b.kernel.count for b in long.blocks]


def test_what_does_not_repeat_is_refused() -> None:
    with pytest.raises(ModelError, match="instances are written out"):
        array_blocks(chain(5))
    more = chain(9)
    more.body("load", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="nothing else"):
        array_blocks(more)
