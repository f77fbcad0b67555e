"""What straight-line elimination promises: solutions, gauge, structure, costs and errors."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.atoms import cos, sin
from biela.equations.groups.elimination import Elimination, eliminate, worth_unrolling
from biela.errors import ShapeError, SingularityError


def matrix_of_symbols(mask: np.ndarray) -> tuple[bl.Workspace, list[list[bl.Atom]]]:
    ws = bl.Workspace()
    zero = ws.atom(0)
    rows, columns = mask.shape
    return ws, [
        [ws.symbol(f"a{i}_{j}") if mask[i, j] else zero for j in range(columns)]
        for i in range(rows)
    ]


def places(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.nonzero(mask)


def evaluated(elimination: Elimination, values: np.ndarray, b: np.ndarray, f: np.ndarray):
    """Solution, transposed solution and gauge for numbers in place of the entries."""
    ws = elimination.gauge.workspace
    entries = [a for a in ws if a.name.startswith("a")]
    rows = list(ws.symbols([f"b{i}" for i in range(len(b))]))
    columns = list(ws.symbols([f"f{i}" for i in range(len(f))]))
    function = bl.Function(
        "solve",
        {"a": entries, "b": rows, "f": columns},
        {
            "x": elimination.solve(rows),
            "y": elimination.solve_transposed(columns),
            "gauge": elimination.gauge,
        },
    )
    return function(values, b, f)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 9])
@pytest.mark.parametrize("density", [0.35, 0.7, 1.0])
def test_the_gauge_of_a_square_matrix_is_its_determinant(n, density):
    random = np.random.default_rng(n)
    mask = random.random((n, n)) < density
    mask[np.arange(n), random.permutation(n)] = True
    _, J = matrix_of_symbols(mask)
    elimination = eliminate(J)
    signs = set()
    for _ in range(5):
        A = np.where(mask, random.normal(size=(n, n)), 0.0)
        b = random.normal(size=n)
        x, y, gauge = evaluated(elimination, A[places(mask)], b, b)
        assert gauge == pytest.approx(np.linalg.det(A), rel=1e-10)
        np.testing.assert_allclose(A @ x, b, rtol=0, atol=1e-11 * np.abs(x).max())
        np.testing.assert_allclose(A.T @ y, b, rtol=0, atol=1e-11 * np.abs(y).max())
        signs.add(np.sign(gauge))
    assert len(signs) == 2 or n == 1 or density < 1


@pytest.mark.parametrize("density", [0.5, 1.0])
def test_more_rows_than_columns_give_least_squares_and_the_shortest_transposed(density):
    random = np.random.default_rng(5)
    mask = random.random((9, 5)) < density
    mask[np.arange(5), np.arange(5)] = True
    _, J = matrix_of_symbols(mask)
    A = np.where(mask, random.normal(size=mask.shape), 0.0)
    b, f = random.normal(size=9), random.normal(size=5)
    x, y, _ = evaluated(eliminate(J), A[places(mask)], b, f)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-12)
    np.testing.assert_allclose(y, np.linalg.pinv(A.T) @ f, rtol=1e-11, atol=1e-13)


def test_the_gauge_of_more_rows_than_columns_is_the_volume_of_the_columns():
    _, J = matrix_of_symbols(np.ones((6, 3), dtype=bool))
    elimination = eliminate(J)
    random = np.random.default_rng(8)
    for _ in range(5):
        A = random.normal(size=(6, 3))
        *_, gauge = evaluated(elimination, A.ravel(), np.ones(6), np.ones(3))
        assert gauge == pytest.approx(np.sqrt(np.linalg.det(A.T @ A)), rel=1e-11)


def test_least_squares_of_a_part_are_those_of_the_whole():
    # the first unknown has three rows, the second one row that holds both
    mask = np.array([[1, 0], [1, 0], [1, 0], [1, 1]], dtype=bool)
    _, J = matrix_of_symbols(mask)
    A = np.where(mask, np.random.default_rng(1).normal(size=mask.shape), 0.0)
    b, f = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.3, -0.7])
    x, y, _ = evaluated(eliminate(J), A[places(mask)], b, f)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-12)
    # a row that its unknown needs is met exactly, so the shortest solution keeps it as well
    np.testing.assert_allclose(A.T @ y, f, rtol=1e-12)
    np.testing.assert_allclose(y, np.linalg.pinv(A.T) @ f, rtol=1e-12)


def test_a_row_without_unknowns_bears_no_force():
    _, J = matrix_of_symbols(np.array([[1, 1], [0, 0], [1, 1]], dtype=bool))
    A = np.array([[2.0, 1.0], [0.0, 0.0], [1.0, 3.0]])
    x, y, gauge = evaluated(eliminate(J), A[[0, 0, 2, 2], [0, 1, 0, 1]], [1, 7, 2], [1, 2])
    np.testing.assert_allclose(A[[0, 2]] @ x, [1, 2])
    assert y[1] == 0
    assert abs(gauge) == pytest.approx(5)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7])
def test_the_gauge_is_zero_and_a_number_where_the_matrix_is_singular(n):
    mask = np.ones((n, n), dtype=bool)
    _, J = matrix_of_symbols(mask)
    elimination = eliminate(J)
    random = np.random.default_rng(n)
    for k in range(n):
        A = random.normal(size=(n, n))
        A[:, k] = 0.0 if k % 2 else A[:, k - 1]
        with np.errstate(all="ignore"):
            *_, gauge = evaluated(elimination, A.ravel(), np.ones(n), np.ones(n))
        assert abs(gauge) < 1e-13


def test_the_scaled_gauge_does_not_feel_the_lengths_of_rows():
    mask = np.ones((4, 4), dtype=bool)
    ws, J = matrix_of_symbols(mask)
    function = bl.Function("g", {"a": list(ws)}, {"g": eliminate(J).scaled_gauge})
    A = np.random.default_rng(3).normal(size=(4, 4))
    lengths = np.array([1e-3, 50.0, 2.0, 7.0])
    first, second = function(A.ravel()), function((lengths[:, None] * A).ravel())
    assert first == pytest.approx(second, rel=1e-12)
    assert abs(first) < 1
    Q = np.linalg.qr(A)[0]
    assert abs(function((lengths[:, None] * Q).ravel())) == pytest.approx(1, rel=1e-12)


def test_a_bar_that_is_upright_does_no_harm_at_any_place():
    # every matrix of order four with one entry in a row and a column: no entry is a safe pivot
    _, J = matrix_of_symbols(np.ones((4, 4), dtype=bool))
    elimination = eliminate(J)
    random = np.random.default_rng(0)
    for _ in range(20):
        A = np.eye(4)[random.permutation(4)] * random.uniform(0.5, 2, 4)
        b = random.normal(size=4)
        x, y, _ = evaluated(elimination, A.ravel(), b, b)
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(y, np.linalg.solve(A.T, b), rtol=1e-14, atol=1e-15)


# -------------------------------------------------------------------------- structure


def test_bodies_of_a_planar_dyad_leave_two_unknowns_and_one_division():
    ws = bl.Workspace()
    zero, one = ws.atom(0), ws.atom(1)
    f, g = ws.symbols("f g")
    p, q, r, s = (
        (L * cos(angle), L * sin(angle))
        for L, angle in zip(ws.symbols("k l m n"), (f, f, g, g), strict=True)
    )
    J = [
        [one, zero, p[0], zero, zero, zero],
        [zero, one, p[1], zero, zero, zero],
        [one, zero, q[0], -one, zero, -r[0]],
        [zero, one, q[1], zero, -one, -r[1]],
        [zero, zero, zero, one, zero, s[0]],
        [zero, zero, zero, zero, one, s[1]],
    ]
    columns = ["x1", "y1", "f", "x2", "y2", "g"]
    elimination = eliminate(J, ([f"joint {i}" for i in range(6)], columns))
    assert [block.method for block in elimination.blocks] == ["number as pivot"] * 4 + ["Cramer"]
    assert set(elimination.blocks[-1].columns) == {"f", "g"}
    assert (elimination.operations.quotients, elimination.operations.roots) == (1, 0)
    assert "Cramer" in elimination.report()


def test_parts_are_solved_in_order():
    mask = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0]], dtype=bool)
    _, J = matrix_of_symbols(mask)
    elimination = eliminate(J, ("abcd", "xyzw"))
    order = [block.columns for block in elimination.blocks]
    assert set(order[:2]) == {("z",), ("y",)}
    assert order[2:] == [("x",), ("w",)]
    assert [block.rows for block in elimination.blocks][2:] == [("c",), ("a",)]
    assert len(elimination.determinants) == 4


def test_a_number_that_is_small_beside_its_neighbours_is_no_pivot():
    ws = bl.Workspace()
    a = ws.symbols("a:16")
    J = [list(a[4 * i : 4 * i + 4]) for i in range(4)]
    J[0][0] = ws.atom(1)
    assert all(block.method != "number as pivot" for block in eliminate(J).blocks)
    # beside sines it is one, as a factor of 0.5 or more; a smaller number is not
    for number, safe in ((0.5, True), (0.1, False)):
        for row in J:
            row[0] = sin(row[1])
        J[0][0] = ws.atom(number)
        methods = [block.method for block in eliminate(J).blocks]
        assert ("number as pivot" in methods) is safe


def test_right_hand_sides_share_their_factors():
    _, J = matrix_of_symbols(np.ones((5, 5), dtype=bool))
    elimination = eliminate(J)
    once, each = elimination.operations, elimination.solve_operations
    assert each.quotients == each.roots == 0
    assert once.quotients == once.roots + 1 == 3
    assert each.total < once.total / 2
    b, c = (list(J[0][0].workspace.symbols([f"{k}{i}" for i in range(5)])) for k in "bc")
    x = [*elimination.solve(b), *elimination.solve(c), elimination.gauge]
    function = bl.Function("x", {"a": [a for row in J for a in row], "b": b, "c": c}, {"x": x})
    assert len(function.schedule.operations) == once.total + 2 * each.total


def test_one_vanishing_singular_value_allows_the_cheaper_adjugate():
    _, J = matrix_of_symbols(np.ones((3, 3), dtype=bool))
    careful, cheap = eliminate(J), eliminate(J, vanishing="one")
    assert [block.method for block in cheap.blocks] == ["adjugate"]
    assert [block.method for block in careful.blocks] == ["perpendicular vectors"]
    assert cheap.operations.cost < careful.operations.cost
    A, b = np.random.default_rng(2).normal(size=(3, 3)), np.array([1.0, -2.0, 0.5])
    x, y, gauge = evaluated(cheap, A.ravel(), b, b)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-12)
    np.testing.assert_allclose(y, np.linalg.solve(A.T, b), rtol=1e-12)
    assert gauge == pytest.approx(np.linalg.det(A), rel=1e-12)


def test_numbers_alone_are_solved_when_the_code_is_made():
    ws = bl.Workspace()
    J = [[ws.atom(v) for v in row] for row in ([0, 2, 1], [1, 0, 3], [1, 1, 0])]
    x = eliminate(J).solve([ws.atom(3), ws.atom(4), ws.atom(2)])
    assert [float(entry.value) for entry in x] == pytest.approx([1, 1, 1])


# ------------------------------------------------------------------------------- size


def test_what_is_small_or_falls_apart_is_worth_unrolling():
    assert worth_unrolling(matrix_of_symbols(np.ones((9, 9), dtype=bool))[1])
    pairs = np.kron(np.eye(20), np.ones((2, 2))).astype(bool)
    assert worth_unrolling(matrix_of_symbols(pairs)[1])
    assert not worth_unrolling(matrix_of_symbols(np.ones((24, 24), dtype=bool))[1])
    assert not worth_unrolling(matrix_of_symbols(np.ones((60, 60), dtype=bool))[1])


def test_the_limit_of_unrolling_counts_one_solution():
    _, J = matrix_of_symbols(np.ones((6, 6), dtype=bool))
    elimination = eliminate(J)
    total = elimination.operations.total + elimination.solve_operations.total
    assert worth_unrolling(J, limit=total)
    assert not worth_unrolling(J, limit=total // 2)


# ----------------------------------------------------------------------------- errors


def test_an_unknown_without_equations_is_named():
    mask = np.array([[1, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=bool)
    _, J = matrix_of_symbols(mask)
    with pytest.raises(SingularityError, match=r"phi2, phi3 \(2 unknowns\) stand in 1 rows only"):
        eliminate(J, (["a", "b", "c"], ["phi1", "phi2", "phi3"]))
    assert not worth_unrolling(J)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_rows_that_repeat_each_other_are_named(n, sign):
    ws = bl.Workspace()
    row = list(ws.symbols(f"a:{n}"))
    J = [row, *[list(ws.symbols([f"c{i}{j}" for j in range(n)])) for i in range(n - 2)]]
    J.append([sign * entry for entry in row])
    names = [f"row {i}" for i in range(n - 1)] + ["twin"]
    with pytest.raises(SingularityError, match=r"row 0, twin are the same .* row 0"):
        eliminate(J, (names, [f"x{j}" for j in range(n)]))


def test_rows_that_cancel_are_named():
    ws = bl.Workspace()
    a, b = ws.symbols("a b")
    J = [[a, a], [b, b]]
    with pytest.raises(SingularityError, match="row 0, row 1 depend on each other"):
        eliminate(J)


def test_shapes_are_checked():
    ws = bl.Workspace()
    a, b = ws.symbols("a b")
    with pytest.raises(ShapeError, match="1 rows do not determine 2 unknowns"):
        eliminate([[a, b]])
    with pytest.raises(ShapeError, match="one length"):
        eliminate([[a, b], [a]])
    with pytest.raises(ShapeError, match="a row and a column at least"):
        eliminate([])
    with pytest.raises(ShapeError, match="names were given for 1 rows"):
        eliminate([[a]], (["x", "y"], ["z"]))
    with pytest.raises(ShapeError, match="2 entries, but the matrix 1 rows"):
        eliminate([[a]]).solve([a, b])
    with pytest.raises(ShapeError, match="not scaled"):
        _ = eliminate([[a], [b]]).scaled_gauge
