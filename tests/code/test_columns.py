"""Functions whose last step runs over the columns of matrices."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import biela as bl
from biela.code.columns import ColumnFunction
from biela.errors import CompileError, ShapeError

random = np.random.default_rng(4)


def solution(n: int) -> ColumnFunction:
    """Columns solved one entry after the other, of a product s xᵀ sin(t) and of the unit matrix."""
    ws = bl.Workspace("solution")
    s, x = (
        list(ws.inputs([f"s{k}" for k in range(n)])),
        list(ws.inputs([f"x{k}" for k in range(n)])),
    )
    t = ws.input("t")
    B = [[a * b * bl.sin(t + i) for b in x] for i, a in enumerate(s)]
    outputs = {"total": sum(s), "d": [2 + a * a for a in s], "B": B}
    head = bl.Function("head", {"s": s, "x": x, "t": t}, outputs)
    other = bl.Workspace("column")
    d, b = (
        list(other.inputs([f"d{k}" for k in range(n)])),
        list(other.inputs([f"b{k}" for k in range(n)])),
    )
    y: list[bl.Atom] = []
    for k in range(n):
        y.append((b[k] - sum(y, other.atom(0))) / d[k] + bl.sqrt(d[k]))
    column = bl.Function("column", {"d": d, "b": b}, {"y": y})
    return ColumnFunction("whole", head, column, ["total"], {"X": "B", "E": ""})


def expected(s: np.ndarray, x: np.ndarray, t: float) -> tuple[float, np.ndarray, np.ndarray]:
    n, d = len(s), 2 + s * s
    found = []
    for B in (np.outer(s * np.sin(t + np.arange(n)), x), np.eye(n)):
        y = np.zeros((n, n))
        for k in range(n):
            y[k] = (B[k] - y[:k].sum(axis=0)) / d[k] + np.sqrt(d[k])
        found.append(y)
    return s.sum(), found[0], found[1]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 20])
def test_every_column_is_that_of_the_small_function(n: int) -> None:
    f = solution(n)
    s, x = random.normal(size=(2, n))
    for mine, other in zip(f(s, x, 0.7), expected(s, x, 0.7), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)


def test_many_states_come_row_by_row_with_any_number_of_threads() -> None:
    f, n = solution(6), 6
    s, x = random.normal(size=(2, 50, n))
    for threads in (1, 2):
        totals, X, E = f.map(s, x, 0.3, threads=threads)
        assert X.shape == (50, n, n)
        for k in (0, 17, 49):
            one = expected(s[k], x[k], 0.3)
            for mine, other in zip((totals[k], X[k], E[k]), one, strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-13)
    assert f.map(s[:1], x[:1], 0.3)[1].shape == (1, n, n)


def test_it_writes_into_arrays_that_are_given() -> None:
    f = solution(5)
    s, x = random.normal(size=(2, 5))
    total, X, E = np.zeros(()), np.zeros((5, 5)), np.zeros((5, 5))
    assert f(s, x, 0.2, total, X, E) is None
    np.testing.assert_allclose(X, expected(s, x, 0.2)[1], rtol=1e-13, atol=1e-13)


def test_written_out_it_is_an_ordinary_function() -> None:
    f = solution(5)
    s, x = random.normal(size=(2, 5))
    plain = f.written_out()
    assert type(plain) is bl.Function
    for one, two, three in zip(f(s, x, 0.1), plain(s, x, 0.1), f.interpret(s, x, 0.1), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(two, three, rtol=1e-14, atol=1e-14)
    # only what is written out can be differentiated and exported
    assert f.jacobian("X", "t")(s, x, 0.1).shape == (25, 1)
    assert "whole" in f.c()
    assert f.operations < len(plain.schedule.operations)


def test_it_can_be_stored() -> None:
    f = pickle.loads(pickle.dumps(solution(4)))
    s, x = random.normal(size=(2, 4))
    np.testing.assert_allclose(f(s, x, 0.4)[1], expected(s, x, 0.4)[1], rtol=1e-13, atol=1e-13)


def test_reproducible_code_differs_by_rounding_only() -> None:
    f = solution(9)
    s, x = random.normal(size=(2, 9))
    same = f.compiled(reproducible=True)
    np.testing.assert_allclose(same(s, x, 0.4)[1], f(s, x, 0.4)[1], rtol=1e-13, atol=1e-13)


def test_parts_that_do_not_fit_are_refused() -> None:
    f = solution(3)
    with pytest.raises(ShapeError, match="outputs of its head must be total, d"):
        ColumnFunction("f", f.head, f.column, ["total"], {"E": ""})
    with pytest.raises(ShapeError, match="another shape"):
        ColumnFunction("f", f.head, solution(4).column, ["total"], {"X": "B"})
    with pytest.raises(ShapeError, match="3 inputs"):
        f(np.zeros(3), np.zeros(3), 0.0, 0.0)


def test_a_column_with_more_than_arithmetic_is_refused() -> None:
    ws = bl.Workspace("column")
    b = list(ws.inputs(["b0", "b1"]))
    column = bl.Function(
        "column", {"d": list(ws.inputs(["d0", "d1"])), "b": b}, {"y": [bl.sin(x) for x in b]}
    )
    f = solution(2)
    with pytest.raises(CompileError, match="sums, products"):
        ColumnFunction("f", f.head, column, ["total"], {"X": "B", "E": ""})(
            np.zeros(2), np.zeros(2), 0.0
        )
