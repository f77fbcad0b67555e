"""Products that share factors, and rows that lose a factor of two: the same values, less work."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import biela as bl
from biela.atoms import Atom, evaluate
from biela.atoms import opcodes as op
from biela.equations.groups import products
from biela.equations.groups.elimination import halved_rows, halves
from biela.equations.groups.elimination.halves import half
from biela.equations.groups.products import with_shared_products


def multiplications(atoms: list[Atom]) -> int:
    """How many there are, a power of n counted as n - 1."""
    table = atoms[0].table
    live = table.live([a.ref for a in atoms])
    powers = sum(table.right[a] - 1 for a in live if table.ops[a] == op.POWER_INT)
    return powers + sum(table.ops[a] == op.MUL for a in live)


def values(atoms: list[Atom], seed: int = 3) -> npt.NDArray[np.float64]:
    """At some random place."""
    table = atoms[0].table
    random = np.random.default_rng(seed)
    symbols = [a for a in table.live([a.ref for a in atoms]) if table.ops[a] == op.SYMBOL]
    given = {Atom(table, a): random.uniform(0.5, 2.0) for a in symbols}
    return np.array(evaluate(atoms, given), dtype=float)


def centripetal() -> list[Atom]:
    """What the loop of two bars is made of: entries of its Jacobian, and its velocity terms."""
    ws = bl.Workspace("loop")
    L, M, p, q, u, v = ws.symbols("L M p q u v")
    rows = [L * bl.cos(p), L * bl.sin(p), M * bl.cos(q), M * bl.sin(q)]
    rates = [L * (u * (bl.cos(p) * u)) - M * (v * (bl.cos(q) * v))]
    rates += [L * (u * (bl.sin(p) * u)) - M * (v * (bl.sin(q) * v)), M * (bl.cos(q) * v)]
    return [*rows, *rates]


def test_velocity_terms_find_the_entries_of_the_jacobian() -> None:
    plain = centripetal()
    shared = with_shared_products({"all": plain})["all"]
    np.testing.assert_allclose(values(shared), values(plain), rtol=1e-14)
    assert multiplications(plain) == 4 + 3 * 4 + 1
    assert multiplications(shared) == 12, "entries, squares of rates, and one or two a term"


def test_a_square_of_what_is_needed_anyway_is_not_taken_apart() -> None:
    a, b, c, d = bl.Workspace("squares").symbols("a b c d")
    speed, other = a * b * c, a * d * c
    plain = [speed, other, speed * speed + other * other]
    assert multiplications(with_shared_products({"y": plain})["y"]) <= multiplications(plain)


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions_keep_their_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    ws = bl.Workspace("random")
    known = list(ws.symbols("a b c d e"))
    for _ in range(60):
        i, j = random.integers(0, len(known), 2)
        x, y = known[i], known[j]
        kind = random.integers(0, 8)
        known.append((x * y, x * y, x * y, x - y, -x * y, bl.sin(x), x**2, x / (2 + y * y))[kind])
    parts = {"first": known[-4:], "second": known[-9:-4]}
    shared = with_shared_products(parts)
    for name, part in parts.items():
        np.testing.assert_allclose(values(shared[name]), values(part), rtol=1e-11)
    assert multiplications([a for part in shared.values() for a in part]) <= multiplications(
        [a for part in parts.values() for a in part]
    )


def test_kernels_with_very_many_products_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "MOST", 3)
    plain = centripetal()
    assert [a.ref for a in with_shared_products({"y": plain})["y"]] == [a.ref for a in plain]
    assert with_shared_products({}) == {}


def test_half_of_an_expression_is_taken_where_all_its_terms_are_even() -> None:
    x, y, z = bl.Workspace("halves").symbols("x y z")
    assert half(2 * x - 4 * y * z) == x - 2 * y * z
    assert half(-(2 * x)) == -x
    assert half(2 * x - y) is None
    assert half(3 * x) is None
    assert half(bl.sin(2 * x)) is None


def test_rows_of_squared_lengths_lose_their_factor() -> None:
    x, y, z = bl.Workspace("rows").symbols("x y z")
    nothing = x * 0
    J = [[2 * (x - y), 2 * z, nothing], [x, 2 * y, 2 * z], [4 * x, nothing, 2 * y]]
    rows, which = halved_rows(J)
    assert which == [True, False, True]
    assert rows == [[x - y, z, nothing], [x, 2 * y, 2 * z], [2 * x, nothing, y]]
    assert halves([2 * x, 2 * y, z], which) == [x, 2 * y, 0.5 * z]


def test_more_rows_than_columns_keep_their_weights() -> None:
    x, y = bl.Workspace("rows").symbols("x y")
    J = [[2 * x], [y]]
    assert halved_rows(J) == (J, [False, False])
