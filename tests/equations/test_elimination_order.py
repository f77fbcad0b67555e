"""Orders of elimination with multipliers before some of their coordinates, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import biela as bl
from biela.analysis.formulations.saddle import ordered, stiffening
from biela.analysis.one_start import start_state
from biela.equations.elimination import LEAST_PIVOT, Stiffening, constrained_matrix, factorise
from biela.equations.elimination_order import early_order
from examples.mechanisms.double_parallelogram import double_parallelogram
from examples.symbolic.four_bar import four_bar
from examples.symbolic.stewart import stewart

LEGS, HUB = 6, 6


def star(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, Φ_v and the pattern of legs of three coordinates that meet in a hub of six."""
    random = np.random.default_rng(seed)
    n, m = HUB + 3 * LEGS, 3 * LEGS
    M, J = np.zeros((n, n)), np.zeros((m, n))
    parts = [slice(0, HUB), *(slice(HUB + 3 * i, HUB + 3 * i + 3) for i in range(LEGS))]
    for part in parts:
        root = random.normal(size=(part.stop - part.start,) * 2)
        M[part, part] = root @ root.T + np.eye(len(root))
    for i, part in enumerate(parts[1:]):
        J[3 * i : 3 * i + 3, :HUB] = random.normal(size=(3, HUB))
        J[3 * i : 3 * i + 3, part] = random.normal(size=(3, 3)) + 2 * np.eye(3)
    return M, J, saddle(M, J) != 0


def saddle(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    return np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])


def solved(M: np.ndarray, J: np.ndarray, b: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """The solution by the symbolic factors, with all entries that are not zero as symbols."""
    ws = bl.Workspace()
    n = len(M)
    places = [(i, j) for i in range(n) for j in range(i + 1) if M[i, j]]
    masses = {place: ws.symbol(f"m{place[0]}_{place[1]}") for place in places}
    rows = {(k, j): ws.symbol(f"j{k}_{j}") for k, j in zip(*np.nonzero(J), strict=True)}
    zero = ws.atom(0)
    A = constrained_matrix(
        [[masses.get((max(i, j), min(i, j)), zero) for j in range(n)] for i in range(n)],
        [[rows.get((k, j), zero) for j in range(n)] for k in range(len(J))],
    )
    right = list(ws.symbols(f"b:{len(b)}"))
    factors = factorise(A, late=range(n, len(A)), drop=1e-12, order=order)
    inputs = {"M": list(masses.values()), "J": list(rows.values()), "b": right}
    f = bl.Function("solve", inputs, {"x": factors.solve(right)})
    return np.asarray(f([M[p] for p in masses], [J[p] for p in rows], b))


@pytest.mark.parametrize("seed", range(3))
def test_an_early_order_gives_the_solution_of_numpy(seed: int) -> None:
    M, J, pattern = star(seed)
    order = early_order(pattern, len(M), [saddle(M, J)])
    assert sorted(order) == list(range(len(pattern)))
    b = np.random.default_rng(seed).normal(size=len(pattern))
    expected = np.linalg.solve(saddle(M, J), b)
    assert solved(M, J, b, order) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_leg_that_cannot_move_its_end_costs_digits_and_no_more() -> None:
    M, J, pattern = star(0)
    order = early_order(pattern, len(M), [saddle(M, J)])
    # on the way, the first leg loses its motion along one constraint; the hub still has one
    J[0, HUB : HUB + 3] *= 1e-9
    b = np.random.default_rng(0).normal(size=len(pattern))
    expected = np.linalg.solve(saddle(M, J), b)
    error = np.abs(solved(M, J, b, order) - expected).max() / np.abs(expected).max()
    assert error < 100 * LEAST_PIVOT


def test_no_multiplier_goes_early_where_its_own_coordinates_do_not_hold_it() -> None:
    M, J, pattern = star(0)
    stuck = J.copy()
    stuck[:3, HUB : HUB + 3] *= 1e-6
    order = early_order(pattern, len(M), [saddle(M, J), saddle(M, stuck)])
    place = {row: k for k, row in enumerate(order)}
    A, n = saddle(M, stuck), len(M)
    for k in range(n, n + 3):  # those of the first leg wait for the hub
        before = list(order[: place[k]])
        hub = [i for i in before if i < HUB]
        assert hub, "its own leg does not hold it"
        # the pivot of a multiplier is a Schur complement: what stands before it in the order
        pivot = A[k, before] @ np.linalg.solve(A[np.ix_(before, before)], A[before, k])
        full = A[k, :n] @ np.linalg.solve(M, A[:n, k])
        assert pivot >= 0.01 * full


def test_dependent_constraints_keep_the_order_that_finds_them() -> None:
    M, J, pattern = star(0)
    J[1] = J[0]
    assert early_order(pattern, len(M), [saddle(M, J)]) == ()


@pytest.mark.parametrize("make", [four_bar, double_parallelogram])
def test_small_mechanisms_keep_the_order_that_is_safe_everywhere(make: object) -> None:
    system = make().equations().system
    q = np.array([e.value for e in system.q]) + 0.3
    place = (0.0, q, system.inputs, system.parameters)
    assert ordered(stiffening(system, *place), system, *place).order == ()


def test_the_legs_of_a_platform_are_eliminated_before_it() -> None:
    system = stewart().equations().system
    u, p = system.inputs, system.parameters
    q, _ = start_state(system, None, None, t=0.0, u=u, p=p)
    order = ordered(Stiffening(), system, 0.0, q, u, p).order
    first = min(order.index(i) for i in range(HUB))
    assert sum(row >= len(system.v) for row in order[:first]) >= 15
