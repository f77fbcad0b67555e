from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

import biela as bl
from biela.solvers.bounded_least_squares import bounded_least_squares
from biela.solvers.bounded_step import bounded_step
from biela.solvers.damped import STALLED
from biela.solvers.multistart import search_all
from biela.solvers.newton import CONVERGED
from biela.solvers.objective_descent import descend_all


def step(A, f, hard=0, damping=0.0, low=-1e300, high=1e300, run=bounded_step):
    r, n = A.shape
    found, held = np.zeros(n), np.zeros(n, dtype=np.int64)
    bounds = [np.broadcast_to(np.asarray(x, dtype=float), (n,)).copy() for x in (low, high)]
    scratch = np.zeros((r, r)), np.zeros((r, r)), np.zeros(r), np.zeros(r)
    count = run(r, n, hard, damping, A, f, *bounds, held, *scratch, found)
    assert count == held.sum()
    return found, held


@pytest.mark.parametrize("shape", [(3, 7), (6, 6), (8, 4)])
def test_a_damped_step_minimises_the_sum_of_both_squares(shape):
    rng = np.random.default_rng(1)
    A, f = rng.normal(size=shape), rng.normal(size=shape[0])
    found, held = step(A, f, damping=0.3)
    n = shape[1]
    stacked = np.vstack([A, np.sqrt(0.3) * np.eye(n)])
    expected = np.linalg.lstsq(stacked, -np.append(f, np.zeros(n)), rcond=None)[0]
    assert found == pytest.approx(expected, abs=1e-12)
    assert not held.any()


def test_equations_are_met_exactly_and_again_if_they_are_repeated():
    rng = np.random.default_rng(2)
    Phi, J = rng.normal(size=(2, 5)), rng.normal(size=(4, 5))
    phi, f = rng.normal(size=2), rng.normal(size=4)
    damping = 0.2
    # the conditions of the minimum with multipliers, solved as one system
    K = np.block([[damping * np.eye(5) + J.T @ J, Phi.T], [Phi, np.zeros((2, 2))]])
    expected = np.linalg.solve(K, -np.concatenate([J.T @ f, phi]))[:5]
    plain, _ = step(np.vstack([Phi, J]), np.append(phi, f), 2, damping)
    repeated, _ = step(
        np.vstack([Phi, Phi[:1] + Phi[1:], J]), np.concatenate([phi, [phi.sum()], f]), 3, damping
    )
    assert plain == pytest.approx(expected, abs=1e-11)
    assert repeated == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_a_bound_that_stops_one_unknown_leaves_the_minimum_of_the_others(seed):
    rng = np.random.default_rng(seed)
    A, f, n = rng.normal(size=(4, 6)), rng.normal(size=4), 6
    free, _ = step(A, f, damping=0.1)
    worst = int(np.argmax(np.abs(free)))
    low, high = np.full(n, -50.0), np.full(n, 50.0)
    low[worst], high[worst] = -0.3 * abs(free[worst]), 0.3 * abs(free[worst])
    found, held = step(A, f, 0, 0.1, low, high)
    stacked = np.vstack([A, np.sqrt(0.1) * np.eye(n)])
    expected = lsq_linear(stacked, -np.append(f, np.zeros(n)), (low, high), tol=1e-14).x
    assert found == pytest.approx(expected, abs=1e-6)
    assert np.flatnonzero(held).tolist() == [worst]


def test_a_step_is_the_same_in_plain_python():
    rng = np.random.default_rng(7)
    A, f = rng.normal(size=(5, 7)), rng.normal(size=5)
    compiled = step(A, f, 1, 0.1, -0.2, 0.2)
    interpreted = step(A, f, 1, 0.1, -0.2, 0.2, run=bounded_step.python)
    assert np.array_equal(compiled[0], interpreted[0])
    assert compiled[1].any()


@pytest.mark.parametrize("routine", [search_all, descend_all])
def test_the_search_is_printed_as_c(routine):
    text = routine.c()
    assert text.count("bounded_least_squares(") >= 2
    assert "malloc" not in text


@pytest.mark.parametrize(
    ("upper", "status"), [(np.inf, CONVERGED), (0.5, STALLED)], ids=["free", "bounded"]
)
def test_a_narrow_valley_is_followed_to_its_end_or_to_the_bound(upper, status):
    """Rosenbrock's function: the minimum is at (1, 1), or where x = 1/2 cuts the valley."""
    ws = bl.Workspace("valley")
    x, y = ws.symbols("x y")
    d = ws.symbols("dx dy")
    t, p = ws.symbol("clock"), ws.symbol("unused")
    rows = [10 * (y - x**2), 1 - x]
    evaluate = bl.Function(
        "rows",
        {"t": [t], "q": [x, y], "p": [p]},
        {"f": rows, "A": [[-20 * x, ws.atom(10)], [ws.atom(-1), ws.atom(0)]]},
    )
    move = bl.Function("move", {"q": [x, y], "d": list(d)}, {"moved": [x + d[0], y + d[1]]})
    q, f, info = np.array([-1.2, 1.0]), np.zeros(2), np.zeros(2, dtype=np.int64)
    bounds = np.array([-10.0, -10.0]), np.array([upper, np.inf])
    found = bounded_least_squares(
        *(2, 2, 1, 2, 0),
        *(np.zeros(1), q, np.zeros(1)),
        *(evaluate.native, move.native),
        *(np.arange(2), *bounds, np.ones(2), np.ones(2)),
        *(1e-12, 300, 0),
        np.zeros(2, dtype=np.int64),
        *(f, np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))),
        *(np.zeros(4), np.zeros(8), np.zeros(2)),
        info,
    )
    reference = least_squares(
        lambda q: [10 * (q[1] - q[0] ** 2), 1 - q[0]], [-1.2, 1.0], bounds=bounds, xtol=1e-15
    )
    assert found == status
    assert q == pytest.approx(reference.x, abs=1e-6)
    assert f == pytest.approx([10 * (q[1] - q[0] ** 2), 1 - q[0]], abs=1e-12)
