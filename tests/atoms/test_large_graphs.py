"""Very deep expressions: everything works in order of evaluation, nothing recurses.

A million atoms are made, listed and evaluated. What else is done with them needs no more depth than
would break any recursion, in Python or in C.
"""

from __future__ import annotations

import math
import pickle
import sys
import tracemalloc

import pytest

from biela.atoms import (
    Atom,
    Workspace,
    cos,
    diff,
    evaluate,
    expanded_size,
    expanded_text,
    gradient,
    jacobian,
    maximum,
    minimum,
    select,
    sin,
    sparsity,
    sqrt,
    substitute,
    time_derivative,
)
from biela.errors import ExpressionTooLargeError

DEPTH = 200_000


def chain(x: Atom, y: Atom, depth: int) -> Atom:
    """x <- sin(x), x <- x + y in turn."""
    for _ in range(depth // 2):
        x = sin(x) + y
    return x


def chain_of_numbers(x: float, y: float, depth: int) -> tuple[float, float, float]:
    """The value of the chain and its derivatives by x and by y."""
    by_x, by_y = 1.0, 0.0
    for _ in range(depth // 2):
        slope = math.cos(x)
        by_x, by_y = slope * by_x, slope * by_y + 1.0
        x = math.sin(x) + y
    return x, by_x, by_y


@pytest.fixture(scope="module")
def deep() -> tuple[Workspace, Atom, Atom, Atom]:
    assert sys.getrecursionlimit() < DEPTH / 100
    ws = Workspace("deep")
    x, y = ws.symbols("x y")
    e = chain(x, y, DEPTH)
    assert len(ws) == DEPTH + 4
    return ws, x, y, e


def test_a_million_deep_is_evaluated_and_listed():
    depth = 1_000_000
    ws = Workspace("deep")
    x, y = ws.symbols("x y")
    e = chain(x, y, depth)
    assert len(ws) == depth + 4
    live = ws.table.live([e.ref])
    assert len(live) == depth + 2 and live == sorted(live)
    value, _, _ = chain_of_numbers(0.3, 1.1, depth)
    # the map contracts towards its fixed point, so roundings do not add up
    assert float(evaluate(e, {x: 0.3, y: 1.1})) == pytest.approx(value, rel=1e-14, abs=0)


def test_a_deep_chain_is_differentiated_forward(deep):
    ws, x, y, e = deep
    before = len(ws)
    d = diff(e, y)
    assert len(ws) - before <= 3 * DEPTH // 2
    _, _, by_y = chain_of_numbers(0.3, 1.1, DEPTH)
    assert float(evaluate(d, {x: 0.3, y: 1.1})) == pytest.approx(by_y, rel=1e-13, abs=0)


def test_a_deep_chain_is_differentiated_backward():
    ws = Workspace()
    x, y = ws.symbols("x y")
    e = chain(x, y, 100_000)
    by_x, by_y = gradient(e, [x, y])
    value = chain_of_numbers(0.3, 1.1, 100_000)
    found = evaluate([e, by_x, by_y], {x: 0.3, y: 1.1})
    assert [float(v) for v in found] == pytest.approx(value, rel=1e-12, abs=0)
    assert sparsity([e], [x, y]) == [(0, 0), (0, 1)]
    assert jacobian([e, x], [x, y]).pattern == [(0, 0), (0, 1), (1, 0)]


def test_a_deep_chain_is_substituted(deep):
    ws, x, _, e = deep
    z = ws.symbol("z")
    before = len(ws)
    result = substitute(e, {x: z})
    assert len(ws) - before == DEPTH
    assert substitute(result, {z: x}) == e
    assert len(ws) - before == DEPTH


def test_the_text_of_a_deep_chain_is_refused(deep):
    _, _, _, e = deep
    with pytest.raises(ExpressionTooLargeError, match="300001"):
        expanded_text(e)
    assert expanded_size(e) == 300_001
    assert len(repr(e)) < 200 and len(repr(-e)) < 200


def test_a_deep_chain_is_pickled(deep):
    _, x, y, e = deep
    again = pickle.loads(pickle.dumps(e))
    assert again.ref == e.ref and again.table is not e.table
    u, v = again.workspace["x"], again.workspace["y"]
    before = len(again.workspace)
    assert chain(u, v, 1000).ref == chain(x, y, 1000).ref
    assert len(again.workspace) == before


def test_the_text_of_two_to_many_thousand_leaves_is_refused_at_once():
    ws = Workspace()
    e = ws.symbol("x")
    for _ in range(DEPTH // 4):
        e = e + sin(e)
    with pytest.raises(ExpressionTooLargeError):
        expanded_text(e)
    with pytest.raises(ExpressionTooLargeError):
        expanded_text(-e, limit=10**6)
    assert expanded_size(e) >= 10**18


def test_the_text_of_a_deep_expression_takes_memory_in_proportion():
    ws = Workspace()
    e = ws.symbol("x")
    for _ in range(8000):
        e = sin(e)
    tracemalloc.start()
    try:
        text = expanded_text(e)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert text == "sin(" * 8000 + "x" + ")" * 8000
    assert peak < 20e6


def test_every_operation_can_be_deep():
    """A chain of mixed operations, differentiated, against the same chain of numbers."""
    ws = Workspace()
    x, y = ws.symbols("x y")
    f = ws.lookup("f", [-10, 10], [-5, 5], outside="linear")
    n = 8_000

    def mixed(a, b, functions):
        s, c, low, high, root, choose, curve = functions
        for _ in range(n):
            a = s(a * b) / (2 + c(a))
            a = low(a, b) + high(a, 0.1)
            a = choose(a < b, root(1 + a * a), -a) ** 2 - 1
            a = curve(a)
        return a

    e = mixed(x, y, (sin, cos, minimum, maximum, sqrt, select, f))
    plain = (math.sin, math.cos, min, max, math.sqrt, lambda c, a, b: a if c else b)
    value = mixed(0.4, 0.9, (*plain, lambda v: v / 2))
    assert float(evaluate(e, {x: 0.4, y: 0.9})) == pytest.approx(value, rel=1e-10, abs=0)
    before = len(ws)
    d = diff(e, y)
    assert len(ws) - before < 40 * n
    step = evaluate(e, {x: 0.4, y: 0.9 + 1e-40j}).imag / 1e-40
    assert float(evaluate(d, {x: 0.4, y: 0.9})) == pytest.approx(step, rel=1e-10, abs=0)


def test_a_long_sum_and_a_long_product_are_built_and_differentiated():
    ws = Workspace()
    q = ws.coordinate("q")
    names = ws.parameters("p:20000")
    total = ws.atom(0)
    for p in names:
        total = total + p * q
    assert evaluate(diff(total, q), {p: 1.0 for p in names} | {q: 2.0}) == 20_000.0
    rate = time_derivative(total)
    assert evaluate(rate, {p: 1.0 for p in names} | {q: 2.0, q.velocity: 3.0}) == 60_000.0
    J = jacobian([total], names)
    assert J.mode == "reverse" and set(J.rows[0]) == {q}
