"""The order of evaluation, the packs of angles, and the split with its slots."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.atoms import opcodes as op
from biela.code.schedule import Pack, Schedule, split


def arm(joints: int) -> Schedule:
    """A planar arm: sums of angles, their sines and cosines, and products of these."""
    ws = bl.Workspace()
    q = ws.coordinates(f"q:{joints}")
    x, y, angle = ws.atom(0), ws.atom(0), ws.atom(0)
    for i, a in enumerate(q):
        angle = angle + a
        x = x + (i + 2) * bl.cos(angle) * bl.sin(a)
        y = y + (i + 3) * bl.sin(angle) * x
    return Schedule(ws.table, (x.ref, y.ref))


def test_dead_atoms_are_left_out():
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    kept = x * y
    bl.sin(x * y + 3)
    assert Schedule(ws.table, (kept.ref,)).operations == [kept.ref]


def test_every_operand_comes_before_its_use():
    schedule = arm(12)
    table = schedule.table
    done = {a for a in schedule.live if table.ops[a] <= op.SYMBOL}
    for step in schedule.steps(4):
        needed = step.angles if isinstance(step, Pack) else table.operands(step)
        assert all(abs(r) in done for r in needed)
        made = step.results if isinstance(step, Pack) else [step]
        assert not done.intersection(made)
        done.update(made)
    assert done == set(schedule.live)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_each_angle_is_in_one_pack(width):
    schedule = arm(10)
    packs = schedule.packs(width)
    angles = [a for pack in packs for a in pack.angles]
    # ten joint angles and nine sums of two or more
    assert len(angles) == len(set(angles)) == 19
    assert max(len(pack.angles) for pack in packs) == width
    assert len(packs) == -(-19 // width)


def test_an_angle_that_needs_a_sine_is_in_a_later_pack():
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    inner = bl.sin(x)
    outer = bl.cos(inner + y) * bl.sin(y)
    packs = Schedule(ws.table, (outer.ref,)).packs(4)
    assert [len(pack.angles) for pack in packs] == [2, 1]
    assert packs[1].angles == ((inner + y).ref,)


def test_uses_are_counted():
    ws = bl.Workspace()
    x, y = ws.symbols("x y")
    product = x * y
    total = product + bl.sin(product)
    schedule = Schedule(ws.table, (total.ref, -total.ref, product.ref))
    assert schedule.uses[product.ref] == 3
    assert schedule.uses[total.ref] == 2


@pytest.mark.parametrize("size", [5, 17, 60])
def test_every_value_a_chunk_reads_is_made_there_or_loaded(size):
    schedule = arm(60)
    table = schedule.table
    steps = schedule.steps(4)
    parts = split(schedule, steps, size)
    assert [s for chunk in parts.chunks for s in chunk.steps] == steps
    assert len(parts.chunks) > 2
    slots: dict[int, int] = {}  # what each slot holds, as the code runs
    for chunk in parts.chunks:
        here: set[int] = set()
        for atom, slot in chunk.loads.items():
            assert slots[slot] == atom
        for step in chunk.steps:
            reads = step.angles if isinstance(step, Pack) else table.operands(step)
            for atom in map(abs, reads):
                assert table.ops[atom] <= op.SYMBOL or atom in here or atom in chunk.loads
            here.update(step.results if isinstance(step, Pack) else [step])
        for atom, slot in chunk.stores.items():
            assert atom in here
            assert slot not in chunk.loads.values()  # all loads of a chunk may come last
            slots[slot] = atom
    assert parts.slots == len({s for c in parts.chunks for s in c.stores.values()})


def test_slots_are_used_again():
    schedule = arm(300)
    parts = split(schedule, schedule.steps(4), 20)
    stored = sum(len(chunk.stores) for chunk in parts.chunks)
    assert parts.slots < stored / 3


def test_a_short_schedule_is_not_split():
    schedule = arm(3)
    parts = split(schedule, schedule.steps(4), 2000)
    assert len(parts.chunks) == 1
    assert parts.slots == 0


def test_the_planar_arm_reaches_where_trigonometry_says():
    schedule = arm(5)
    q = np.random.default_rng(0).normal(size=5)
    ws = schedule.table.workspace
    atoms = [bl.Atom(schedule.table, r) for r in schedule.outputs]
    f = bl.Function("arm", {"q": [ws[f"q{i + 1}"] for i in range(5)]}, {"p": atoms})
    x = y = angle = 0.0
    for i in range(5):
        angle += q[i]
        x += (i + 2) * np.cos(angle) * np.sin(q[i])
        y += (i + 3) * np.sin(angle) * x
    np.testing.assert_allclose(f(q), [x, y], rtol=1e-14)
