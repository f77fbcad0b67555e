"""Several threads in one workspace build one table; several workspaces do not meet."""

from __future__ import annotations

import pickle
import random
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from biela.atoms import (
    Atom,
    Workspace,
    atan2,
    cos,
    diff,
    evaluate,
    exp,
    gradient,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    substitute,
)
from biela.atoms import opcodes as op

THREADS = 8


@pytest.fixture(autouse=True)
def frequent_switches():
    """Threads change every few bytecodes, so that a race has its chance."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_parallel(work: Callable[[int], object], threads: int = THREADS) -> list[object]:
    """The results of ``work(0) … work(n - 1)``, all started at the same moment."""
    barrier = threading.Barrier(threads)
    results: list[object] = [None] * threads
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            barrier.wait()
            results[k] = work(k)
        except BaseException as failure:
            failures.append(failure)

    pool = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    if failures:
        raise failures[0]
    return results


def build(ws: Workspace, seed: int, count: int = 1500) -> list[Atom]:
    """The same pseudo-random expressions for the same seed, whatever the numbers of the atoms."""
    rng = random.Random(seed)
    pool = [*ws.symbols("a b c"), ws.atom(2), ws.atom(0.3)]
    f = ws.external("f", 2)
    g = ws.spline("g", [0, 1, 2, 3], [0, 1, -1, 2])
    binary = [
        lambda u, v: u + v,
        lambda u, v: u - v,
        lambda u, v: u * v,
        lambda u, v: u / (v * v + 1),
        lambda u, v: minimum(u, v),
        lambda u, v: maximum(u, v),
        lambda u, v: select(u < v, u, -v),
        lambda u, v: atan2(u, v),
        lambda u, v: sin(u) * cos(v),
        lambda u, v: sqrt(u * u + rng.randrange(1, 50)),
        lambda u, v: exp(-abs(u)) * rng.randrange(1, 50) / 7,
        lambda u, v: f(u, v),
        lambda u, v: g(u),
    ]
    for _ in range(count):
        pool.append(rng.choice(binary)(pool[-1 - rng.randrange(5)], rng.choice(pool[-60:])))
    return pool


def assert_sound(ws: Workspace) -> None:
    """Every atom is found again from its operands, which come before it; nothing is there twice."""
    table = ws.table
    assert len(table.ops) == len(table.left) == len(table.right)
    size = len(table)
    seen = set()
    for atom in range(size):
        code = table.ops[atom]
        if code == op.CONSTANT:
            key: tuple[object, ...] = (code, table.values[atom])
            assert table.constant(table.values[atom]) == atom
        elif code == op.SYMBOL:
            key = (code, table.symbols[atom].name)
            assert table.find_symbol(table.symbols[atom].name) == atom
        else:
            operands = table.operands(atom)
            assert all(abs(r) < atom for r in operands)
            key = (code, operands, table.payload(atom))
            assert table.rebuild(code, operands, table.payload(atom)) == atom
        assert key not in seen
        seen.add(key)
    assert len(table) == size


def test_threads_that_build_the_same_expressions_share_every_atom():
    ws = Workspace()
    results = in_parallel(lambda k: [a.ref for a in build(ws, seed=1)])
    assert all(refs == results[0] for refs in results)
    assert_sound(ws)
    alone = Workspace()
    again = build(alone, seed=1)
    assert len(alone) == len(ws)
    # the same expressions, under other numbers perhaps
    for w in (ws, alone):
        w.bind("f", lambda a, b: a - b / 2)
    at = {"a": 0.3, "b": -0.7, "c": 1.4}
    found = evaluate([Atom(ws.table, r) for r in results[0]], {ws[n]: v for n, v in at.items()})
    expected = evaluate(again, {alone[n]: v for n, v in at.items()})
    assert np.array_equal(np.array(found, float), np.array(expected, float), equal_nan=True)


def test_threads_that_build_different_expressions_keep_the_table_sound():
    ws = Workspace()
    results = in_parallel(lambda k: [a.ref for a in build(ws, seed=k % 4)])
    assert [results[k] for k in range(4)] == [results[k + 4] for k in range(4)]
    assert_sound(ws)


def test_threads_differentiate_and_substitute_together():
    ws = Workspace()
    pool = build(ws, seed=2, count=400)
    a, b, c = ws.symbols("a b c")

    def work(k: int) -> list[int]:
        found = [diff(e, s).ref for e in pool[-20:] for s in (a, b, c)]
        found += [g.ref for g in gradient(pool[-1], [a, b, c])]
        return found + [substitute(e, {a: b, b: a}).ref for e in pool[-20:]]

    results = in_parallel(work)
    assert all(refs == results[0] for refs in results)
    assert_sound(ws)


def test_threads_declare_the_same_symbols_once():
    for trial in range(20):
        ws = Workspace()
        results = in_parallel(lambda k, ws=ws: [q.ref for q in ws.coordinates("q:30")])
        assert all(refs == results[0] for refs in results), trial
        assert len(list(ws)) == 90
        assert all(ws[f"q{i}"].acceleration.name == f"ddq{i}" for i in range(1, 31))


def test_threads_declare_curves_and_external_functions():
    """Each index must lead to the function that was declared, and each function have one index."""
    for trial in range(10):
        ws = Workspace()

        def work(k: int, ws: Workspace = ws) -> None:
            x = ws.symbol("x")
            for i in range(30):
                shared = ws.lookup(f"s{i}", [0, 1], [i, i + 1])
                own = ws.lookup(f"own{k}_{i}", [0, 1], [k, i])
                assert shared.polynomial.name == f"s{i}"
                assert own.polynomial.name == f"own{k}_{i}"
                f = ws.external(f"f{i}", 1)
                h = ws.external(f"h{k}_{i}", 2)
                assert f.function.name == f"f{i}" and h.function.name == f"h{k}_{i}"
                assert repr(diff(f(x), x)) == f"f{i}_d1(x)"

        in_parallel(work)
        names = [curve.name for curve in ws.table.piecewise]
        assert len(names) == len(set(names)) == 30 + 30 * THREADS, trial
        functions = [f.name for f in ws.table.externals]
        assert len(functions) == len(set(functions)) == 60 + 30 * THREADS, trial
        assert_sound(ws)


def test_separate_workspaces_are_built_in_parallel_as_alone():
    expected = []
    for k in range(THREADS):
        ws = Workspace(f"w{k}")
        pool = build(ws, seed=k)
        diff(pool[-1], ws["a"])
        expected.append(pickle.dumps(ws))

    def work(k: int) -> bytes:
        ws = Workspace(f"w{k}")
        pool = build(ws, seed=k)
        diff(pool[-1], ws["a"])
        return pickle.dumps(ws)

    assert in_parallel(work) == expected
