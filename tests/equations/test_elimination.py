"""Symbolic factorisation against numpy, with its zeros and in awkward positions."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.equations.elimination import DROP_TOLERANCE, constrained_matrix, factorise
from biela.errors import SingularityError


def symbolic(pattern: np.ndarray) -> tuple[bl.Workspace, list[list[bl.Atom]]]:
    ws = bl.Workspace()
    n = len(pattern)
    A = [[ws.atom(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            if pattern[i, j]:
                A[i][j] = A[j][i] = ws.symbol(f"a{i}_{j}")
    return ws, A


@pytest.mark.parametrize("seed", range(6))
def test_solutions_are_those_of_numpy_for_any_pattern(seed):
    random = np.random.default_rng(seed)
    n = 6
    mask = random.random((n, n)) < 0.35
    mask = mask | mask.T | np.eye(n, dtype=bool)
    values = np.where(mask, random.normal(size=(n, n)), 0.0)
    values = (values + values.T) / 2 + 4 * np.eye(n)
    ws, A = symbolic(mask)
    b = list(ws.symbols(f"b:{n}"))
    entries = [s for s in ws if s.name.startswith("a")]
    f = bl.Function("solve", {"A": entries, "b": b}, {"x": factorise(A).solve(b)})
    numbers = [values[tuple(int(k) for k in s.name[1:].split("_"))] for s in entries]
    right = random.normal(size=n)
    np.testing.assert_allclose(f(numbers, right), np.linalg.solve(values, right), rtol=1e-11)


def test_an_arrow_matrix_fills_nothing():
    n = 8
    mask = np.eye(n, dtype=bool)
    mask[0, :] = mask[:, 0] = True
    _, A = symbolic(mask)
    factors = factorise(A)
    assert factors.order[-1] == 0 or factors.order[-2] == 0
    assert factors.fill == n - 1


def test_multipliers_wait_for_their_coordinates():
    ws = bl.Workspace()
    m1, m2, m3, c = ws.symbols("m1 m2 m3 c")
    zero = ws.atom(0)
    M = [[m1, zero, zero], [zero, m2, zero], [zero, zero, m3]]
    A = constrained_matrix(M, [[c, ws.atom(1), zero]])
    order = factorise(A, late=[3]).order
    assert order.index(3) > max(order.index(0), order.index(1))


def test_a_row_without_a_pivot_is_named():
    ws = bl.Workspace()
    zero = ws.atom(0)
    with pytest.raises(SingularityError, match="row 1"):
        factorise([[ws.symbol("m"), zero], [zero, zero]])


def four_bar() -> bl.SymbolicSystem:
    s = bl.SymbolicSystem("square")
    base, point = s.base, s.origin
    for i, q in enumerate(s.coordinates("q:3")):
        base = base.rotated(f"b{i}", "y", q)
        s.solid(f"bar{i}", point, base, 1.0, (0.5, 0, 0), base.inertia(yy=0.5))
        point = point.offset(f"P{i}", base.vector(1, 0, 0))
    s.gravity = (0, 0, -9.81)
    s.close(s.origin.offset("G", s.base.vector(1, 0, 0)), point, "xz")
    return s


@pytest.mark.parametrize("angle", [0.3, np.pi / 2, 1.2, 2.0])
def test_accelerations_of_a_four_bar_are_right_where_a_cosine_vanishes(angle):
    """A parallelogram: at a right angle the bars are along the axes and entries of Φ_v vanish."""
    eq = four_bar().equations()
    q = np.array([-angle, angle, np.pi - angle])
    assert np.abs(eq.system.evaluate("Phi", q)).max() < 1e-12
    J = eq.system.evaluate("Phi_v", q)
    v = np.linalg.svd(J)[2][-1]
    a, lam = eq.accelerations()(0.0, q, v, [], [])
    K = np.block([[eq.mass(q), J.T], [J, np.zeros((2, 2))]])
    right = np.concatenate([eq.forces(q, v), eq.system.evaluate("gamma", q, v)])
    expected = np.linalg.solve(K, right)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(np.concatenate([a, lam]), expected, rtol=1e-11, atol=1e-12 * scale)


def test_accelerations_of_a_free_system_solve_the_mass_matrix():
    s = bl.SymbolicSystem("pendulum")
    q = s.coordinates("q:2")
    base, point = s.base, s.origin
    for i in range(2):
        base = base.rotated(f"b{i}", "y", q[i])
        point = point.offset(f"P{i}", base.vector(0, 0, -1))
        s.solid(f"bob{i}", point, base, 1.0)
    s.gravity = (0, 0, -9.81)
    eq = s.equations()
    state = ([0.4, -0.3], [0.2, 0.7])
    a = eq.accelerations()(0.0, *state, [], [])
    np.testing.assert_allclose(eq.mass(state[0]) @ a, eq.forces(*state), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_depend_on_others_up_to_rounding_are_dropped(seed):
    """Of five rows two are combinations of the others: v' is that of all, and λ pulls as all do."""
    random = np.random.default_rng(seed)
    n, independent = 6, 3
    root = random.normal(size=(n, n))
    mass = root @ root.T + n * np.eye(n)
    rows = random.normal(size=(independent, n))
    rows = np.concatenate([rows, random.normal(size=(2, independent)) @ rows])
    a = random.normal(size=n)
    right, force = rows @ a, random.normal(size=n)
    ws = bl.Workspace()
    M, J, b = (
        [list(ws.symbols(f"m{i}_:{n}")) for i in range(n)],
        [list(ws.symbols(f"j{k}_:{n}")) for k in range(len(rows))],
        list(ws.symbols(f"b:{n + len(rows)}")),
    )
    for i in range(n):
        for j in range(i):
            M[i][j] = M[j][i]
    factors = factorise(constrained_matrix(M, J), late=range(n, n + len(rows)), drop=DROP_TOLERANCE)
    f = bl.Function(
        "solve",
        {
            "M": [M[i][j] for i in range(n) for j in range(i, n)],
            "J": [e for row in J for e in row],
            "b": b,
        },
        {"x": factors.solve(b)},
    )
    entries = [mass[i, j] for i in range(n) for j in range(i, n)]
    found = f(entries, rows.ravel(), np.concatenate([force, right]))
    K = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    expected = np.linalg.lstsq(K, np.concatenate([force, right]), rcond=1e-10)[0]
    np.testing.assert_allclose(found[:n], expected[:n], atol=1e-9)
    np.testing.assert_allclose(rows.T @ found[n:], rows.T @ expected[n:], atol=1e-8)
    assert (found[n:] == 0).sum() == 2
