"""Rank and redundant rows of sparse systems, against singular values of the dense rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.four_bars import crank_acceleration, natural, spatial
from biela.solvers import BlockLDLT, SparseLDLT, SymmetricPattern
from biela.solvers.sparse import independence

SOLVERS = [BlockLDLT, SparseLDLT]


def solver_of(
    make: type[BlockLDLT] | type[SparseLDLT], M: np.ndarray, Phi: np.ndarray, **options: object
) -> tuple[BlockLDLT | SparseLDLT, np.ndarray, np.ndarray]:
    """A solver of [[M, Φᵀ], [Φ, 0]], the values of its entries, and the matrix."""
    n, m = len(M), len(Phi)
    pattern = SymmetricPattern.saddle_point(M, Phi)
    K = np.block([[M, Phi.T], [Phi, np.zeros((m, m))]])
    if make is BlockLDLT:
        options = {"kinds": 0, **options}
    return make(pattern, range(n, n + m), **options), K[pattern.rows, pattern.columns], K


def unit_rows(M: np.ndarray, Phi: np.ndarray) -> np.ndarray:
    """Φ L⁻ᵀ with M = L Lᵀ, each row of length 1."""
    scale = 1 / np.sqrt(np.diag(M))
    L = np.linalg.cholesky(M * np.outer(scale, scale))
    A = np.linalg.solve(L, (Phi * scale).T).T
    return A / np.linalg.norm(A, axis=1)[:, None]


def rank_by_gap(A: np.ndarray) -> tuple[int, bool]:
    """The rank of rows by their singular values, and whether there is one gap of 10⁶, or none."""
    found = np.linalg.svd(A, compute_uv=False)
    values = np.maximum(np.concatenate([found, np.zeros(len(A) - len(found))]), 1e-15)
    if values[-1] > 1e-5:
        return len(A), True
    gaps = np.where(values[1:] <= 1e-7, values[:-1] / values[1:], 0.0)
    k = int(np.argmax(gaps))
    clear = gaps[k] >= 1e6 and values[k] > 1e-5 and np.count_nonzero(gaps > 1e4) == 1
    return k + 1, bool(clear)


# --- random systems -------------------------------------------------------------------------------


def chain(seed: int, bodies: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Bodies of six freedoms, joints of five rows, and five times three rows over three bodies."""
    rng = np.random.default_rng(seed)
    n = 6 * bodies
    rows = [np.zeros((5, n)) for _ in range(bodies)]
    rows[0][:, :6] = rng.standard_normal((5, 6))
    for k in range(bodies - 1):
        rows[k + 1][:, 6 * k : 6 * k + 12] = rng.standard_normal((5, 12))
    for _ in range(5):
        k = 6 * int(rng.integers(bodies - 2))
        row = np.zeros((3, n))
        row[:, k : k + 18] = rng.standard_normal((3, 18))
        rows.append(row)
    return np.eye(n), np.vstack(rows)


def net(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Coupled inertias; rows over one to three bodies, combinations of others among them.

    Some of these miss by 1e-13 to 1e-9, some rows lie near another one, and some nets have
    coordinates and rows in units that differ by 10⁸.
    """
    rng = np.random.default_rng(seed)
    bodies, w = int(rng.integers(3, 14)), int(rng.integers(1, 7))
    n = w * bodies
    M = np.zeros((n, n))
    for b in range(bodies):
        G = rng.standard_normal((w, w))
        M[w * b : w * b + w, w * b : w * b + w] = G @ G.T + 10.0 ** -rng.uniform(0, 3) * np.eye(w)
    for _ in range(int(rng.integers(bodies))):
        g = np.zeros(n)
        for b in rng.choice(bodies, 2, replace=False):
            g[w * b : w * b + w] = rng.standard_normal(w)
        M += np.outer(g, g)
    rows: list[np.ndarray] = []
    for _ in range(int(n * rng.uniform(0.4, 1.1)) // max(w // 2, 1) + 1):
        count = min(int(rng.integers(1, 4)), bodies)
        first = int(rng.integers(bodies - count + 1))
        near = rng.random() < 0.8
        block = np.zeros((int(rng.integers(1, w + 1)), n))
        for b in first + np.arange(count) if near else rng.choice(bodies, count, replace=False):
            block[:, w * b : w * b + w] = rng.standard_normal((len(block), w))
        rows.extend(block)
    missed = float(rng.choice([0, 0, 1e-13, 1e-11, 1e-9]))
    for _ in range(int(rng.integers(6))):
        some = rng.choice(len(rows), min(len(rows), int(rng.integers(1, 5))), replace=False)
        row = sum(rng.standard_normal() * rows[k] for k in some)
        rows.append(row * (1 + missed * rng.standard_normal(n)))
    if rng.random() < 0.4:
        row = rows[int(rng.integers(len(rows)))]
        rows.append(row * (1 + 10.0 ** -rng.uniform(1, 4) * rng.standard_normal(n)))
    Phi = np.array(rows)[rng.permutation(len(rows))]
    if rng.random() < 0.5:
        units = 10.0 ** rng.uniform(-4, 4, n)
        M, Phi = M * np.outer(units, units), Phi * units
        Phi = Phi * 10.0 ** rng.uniform(-4, 4, (len(Phi), 1))
    return M, Phi


def systems(
    kind: Callable[[int], tuple[np.ndarray, np.ndarray]], count: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, int]]:
    """Systems whose rank is clear from their singular values."""
    found, seed = 0, -1
    while found < count:
        seed += 1
        M, Phi = kind(seed)
        A = unit_rows(M, Phi)
        rank, clear = rank_by_gap(A)
        if clear:
            found += 1
            yield seed, M, Phi, A, rank


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize(("kind", "count"), [(chain, 25), (net, 60)])
def test_rank_and_span_are_those_of_the_singular_values(make, kind, count: int) -> None:
    redundant = 0
    for seed, M, Phi, A, rank in systems(kind, count):
        n = len(M)
        solver, values, _ = solver_of(make, M, Phi)
        assert solver.factor(values) == n + rank, seed
        assert solver.gap > independence.SURE, seed
        assert len(solver.doubtful) == 0, seed
        # the rows kept span what all do
        kept = np.setdiff1d(np.arange(len(Phi)), solver.dropped - n)
        left, sigma, _ = np.linalg.svd(A[kept].T, full_matrices=False)
        assert len(kept) == rank
        assert sigma[-1] > 1e-6, seed
        assert np.abs(A.T - left @ (left.T @ A.T)).max() < 1e-7, seed
        redundant += rank < len(Phi)
    assert redundant > 0.6 * count


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize("kind", [chain, net])
def test_rows_that_contradict_each_other_are_told(make, kind) -> None:
    for seed, M, Phi, A, rank in systems(kind, 25):
        n, m = len(M), len(Phi)
        rng = np.random.default_rng(seed)
        solver, values, _ = solver_of(make, M, Phi)
        solver.factor(values)
        v = rng.standard_normal(n) / np.sqrt(np.diag(M))
        x = solver.solve(np.concatenate([M @ v, Phi @ v]))
        size = np.sqrt(np.diag(M))
        np.testing.assert_allclose(x[:n] * size, v * size, atol=1e-7)
        if rank == m or np.linalg.svd(A, compute_uv=False)[rank - 1] < 1e-3:
            continue
        assert len(solver.contradicted) == 0, seed
        # what is asked of the rows is random: no motion has it
        lengths = np.linalg.norm(Phi / size, axis=1)
        asked = rng.standard_normal(m) * lengths
        x = solver.solve(np.concatenate([np.zeros(n), asked]))
        assert len(solver.contradicted), seed
        assert set(solver.contradicted) <= set(solver.dropped)
        # a bounded answer: the inverse of the rows kept, squared
        kept = np.setdiff1d(np.arange(m), solver.dropped - n)
        least = np.linalg.svd(A[kept], compute_uv=False)[-1]
        assert np.abs(x[n:] * lengths).max() < 10 * np.linalg.norm(asked / lengths) / least**2


@pytest.mark.parametrize("make", SOLVERS)
def test_rounding_behind_nearly_dependent_rows_is_not_taken_for_a_pivot(make) -> None:
    # the pivot of a redundant row is 1e-7 here, larger than some that are needed
    M, Phi = chain(8)
    assert np.linalg.matrix_rank(Phi) == 59
    solver, values, K = solver_of(make, M, Phi)
    assert solver.factor(values) == 60 + 59
    b = np.random.default_rng(0).standard_normal(len(K))
    x = solver.solve(b)
    assert np.abs(x).max() < 1e5
    assert len(solver.contradicted)
    assert np.abs((K @ x - b)[np.setdiff1d(np.arange(len(K)), solver.dropped)]).max() < 1e-9


def test_native_code_is_examined_like_loops() -> None:
    M, Phi = chain(8, 10)
    blocks = [6] * 10 + [5] * 10 + [3] * 5
    solver, values, K = solver_of(BlockLDLT, M, Phi, kinds=24, blocks=blocks)
    assert solver.analysis.fronts[1] > 0
    b = np.concatenate([np.ones(60), Phi @ np.ones(60)])
    together = solver.factor_solve(values, b)
    assert solver.rank == 119
    np.testing.assert_allclose(together, solver.solve(b), atol=1e-9)
    np.testing.assert_allclose(K @ together, b, atol=1e-9)


# --- other patterns -------------------------------------------------------------------------------


def grid(rng: np.random.Generator, size: int) -> np.ndarray:
    """Differences along the edges of a net of points: every mesh has a row too many."""
    points = np.arange(size * size).reshape(size, size)
    across = zip(points[:, :-1].ravel(), points[:, 1:].ravel(), strict=True)
    down = zip(points[:-1].ravel(), points[1:].ravel(), strict=True)
    edges = [*across, *down]
    Phi = np.zeros((len(edges), size * size))
    for row, (i, j) in zip(Phi, edges, strict=True):
        row[i], row[j] = 1.0, -1.0
    return Phi


def arrow(rng: np.random.Generator, size: int) -> np.ndarray:
    """Rows between unknowns of their own and three that all of them share."""
    Phi = np.zeros((2 * size, 3 + 3 * size))
    Phi[:, :3] = rng.standard_normal((2 * size, 3))
    for k in range(size):
        Phi[2 * k : 2 * k + 2, 3 + 3 * k : 6 + 3 * k] = rng.standard_normal((2, 3))
    return Phi


def tree(rng: np.random.Generator, size: int) -> np.ndarray:
    """Two rows between each body of three unknowns and the one that carries it."""
    Phi = np.zeros((2 * size, 3 * size))
    for k in range(size):
        Phi[2 * k : 2 * k + 2, 3 * k : 3 * k + 3] = rng.standard_normal((2, 3))
        if k:
            parent = 3 * int(rng.integers(k))
            Phi[2 * k : 2 * k + 2, parent : parent + 3] = rng.standard_normal((2, 3))
    return Phi


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([grid, arrow, tree]),
    st.integers(2, 6),
    st.lists(st.sampled_from(["duplicate", "opposite", "sum", "near"]), max_size=5),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_redundant_rows_of_nets_arrows_and_trees_are_found(
    pattern: Callable[[np.random.Generator, int], np.ndarray],
    size: int,
    more: list[str],
    scaled: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    rows = list(pattern(rng, size))
    for kind in more:
        row = rows[int(rng.integers(len(rows)))]
        if kind == "sum":
            row = row + rows[int(rng.integers(len(rows)))] - rows[0]
        elif kind == "near":  # independent, if the other one is
            row = row * (1 + 1e-3 * rng.standard_normal(len(row)))
        rows.append(-row if kind == "opposite" else row)
    Phi = np.array(rows)[rng.permutation(len(rows))]
    Phi = Phi[np.abs(Phi).max(axis=1) > 1e-12]
    n, m = Phi.shape[1], len(Phi)
    M = np.diag(10.0 ** rng.uniform(-1, 1, n))
    if scaled:
        Phi = Phi * 10.0 ** rng.choice([-6, 0, 6], (m, 1))
    A = unit_rows(M, Phi)
    rank, clear = rank_by_gap(A)
    if not clear:
        return
    for make in SOLVERS:
        solver, values, _ = solver_of(make, M, Phi)
        assert solver.factor(values) == n + rank
        assert len(solver.doubtful) == 0
        kept = np.setdiff1d(np.arange(m), solver.dropped - n)
        assert np.linalg.matrix_rank(A[kept], 1e-6) == rank
        # a motion fulfils all rows; a change of one redundant row is told
        v = rng.standard_normal(n)
        x = solver.solve(np.concatenate([M @ v, Phi @ v]))
        np.testing.assert_allclose(x[:n], v, atol=1e-6)
        assert len(solver.contradicted) == 0
        if rank < m:
            wrong = Phi @ v
            wrong[solver.dropped[0] - n] += np.linalg.norm(Phi[solver.dropped[0] - n])
            solver.solve(np.concatenate([M @ v, wrong]))
            assert solver.contradicted.tolist() == [solver.dropped[0]]


def test_a_row_that_pivots_drop_by_mistake_is_kept_again() -> None:
    # forty four-bars 1e-3 rad from a singular position: pivots alone drop 121 rows, one too many
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    K = spatial(40, 1e-3, turn)
    solver = SparseLDLT(K.pattern, K.multipliers)
    solver.factor(K.values, examined=False)
    assert len(solver.dropped) == 121
    solver.factor(K.values)
    assert len(solver.dropped) == 120
    assert len(solver.doubtful) == 0


def test_many_small_pivots_with_a_clear_singular_value_need_no_last_front(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(independence, "_last_front", None)
    for K, dropped in ((natural(1000, 1e-3), 0), (spatial(40, 0.7, np.eye(3)), 120)):
        for make in SOLVERS:
            options = {"kinds": 0} if make is BlockLDLT else {}
            solver = make(K.pattern, K.multipliers, **options)
            solver.factor(K.values)
            assert len(solver.dropped) == dropped
            assert solver.gap > independence.SURE
            assert len(solver.doubtful) == 0


# --- single faults --------------------------------------------------------------------------------


@pytest.mark.parametrize("make", SOLVERS)
def test_rows_that_are_needed_are_kept_beside_redundant_ones(make) -> None:
    # 1e-6 rad from the position where 40 more rows become redundant: their pivots are 1e-12,
    # and accelerations with too few rows are wrong by 3 times their size
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    K = spatial(40, 1e-6, turn)
    alpha, found = crank_acceleration(40, 1e-6), []
    random = np.random.default_rng(0)
    for _ in range(9):
        # half a unit in the last place of the rows moves one solution of ten by a tenth, most by
        # a thousandth
        values = K.values * (1 + 1.1e-16 * random.uniform(-1, 1, len(K.values)))
        solver = make(K.pattern, K.multipliers)
        solver.factor(values)
        assert len(solver.dropped) == 120
        found.append(solver.solve(K.right)[3:6])
    expected = alpha * turn[:, 2]
    np.testing.assert_allclose(found, np.tile(expected, (9, 1)), atol=0.5 * abs(alpha))
    np.testing.assert_allclose(np.median(found, axis=0), expected, atol=0.02 * abs(alpha))


@pytest.mark.parametrize("make", SOLVERS)
def test_of_dependent_rows_those_are_kept_that_are_far_from_each_other(make) -> None:
    # in order the second row is kept, though it is nearly the first, and the third is dropped
    a, c = np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.3, -1.0, 2.0, 1.0])
    Phi = np.array([a, a + 1e-5 * c, c])
    solver, values, _ = solver_of(make, np.eye(4), Phi)
    assert solver.factor(values) == 4 + 2
    kept = np.setdiff1d(np.arange(3), solver.dropped - 4)
    assert np.linalg.svd(Phi[kept], compute_uv=False)[-1] > 0.5


@pytest.mark.parametrize("make", SOLVERS)
@pytest.mark.parametrize(("seed", "rank"), [(188, 4), (230, 6), (484, 11)])
def test_rows_are_not_exchanged_for_one_that_depends_on_others_exactly(
    make, seed: int, rank: int
) -> None:
    M, Phi = net(seed)
    assert rank_by_gap(unit_rows(M, Phi)) == (rank, True)
    solver, values, _ = solver_of(make, M, Phi)
    assert solver.factor(values) == len(M) + rank


@pytest.mark.parametrize("make", SOLVERS)
def test_a_rank_that_cannot_be_told_is_said_to_be_in_doubt(make) -> None:
    # row after row comes ten times nearer to the span of those before
    n = 16
    rng = np.random.default_rng(0)
    Phi = np.zeros((12, n))
    Phi[0] = rng.standard_normal(n)
    for k in range(1, 12):
        Phi[k] = rng.standard_normal(k) @ Phi[:k] + 10.0**-k * rng.standard_normal(n)
    solver, values, _ = solver_of(make, np.eye(n), Phi)
    solver.factor(values)
    assert solver.gap < independence.SURE
    assert len(solver.doubtful)
    # two gaps that are nearly as wide
    Phi = np.array([np.eye(n)[0], np.eye(n)[0] + 1e-7 * np.eye(n)[1], np.eye(n)[0]])
    solver, values, _ = solver_of(make, np.eye(n), Phi)
    solver.factor(values)
    assert len(solver.doubtful) == 1


@pytest.mark.parametrize("make", SOLVERS)
def test_what_would_be_too_much_work_is_said_to_be_in_doubt(
    make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(independence, "_NUMBERS", 0.0)
    M, Phi = chain(8)
    solver, values, _ = solver_of(make, M, Phi)
    solver.factor(values)
    assert solver.gap == 0.0
    assert len(solver.doubtful)


@pytest.mark.parametrize("make", SOLVERS)
def test_a_row_with_a_diagonal_of_its_own_is_not_redundant(make) -> None:
    # a compliance of 1e-10 in each of two equal rows: regular, however small it is
    K = np.array([[2.0, 1.0, 1.0], [1.0, -1e-10, 0.0], [1.0, 0.0, -1e-10]])
    i, j = np.array([0, 1, 1, 2, 2]), np.array([0, 0, 1, 0, 2])
    solver = make(SymmetricPattern(3, i, j), [1, 2])
    assert solver.factor(K[i, j]) == 3
    expected = np.array([1.0, 2.0, 2.0])
    np.testing.assert_allclose(solver.solve(K @ expected), expected, rtol=1e-5)


@pytest.mark.parametrize("make", SOLVERS)
def test_entries_that_are_added_up_count_as_their_sum(make) -> None:
    # 1e8 and -1e8 + 1 make 1: the row is short, and not redundant
    i, j = np.array([0, 1, 2, 2, 2, 3, 3]), np.array([0, 1, 0, 0, 1, 0, 1])
    values = np.array([1.0, 1.0, 1e8, 1.0 - 1e8, 1.0, 1.0, 1.0 + 1e-4])
    solver = make(SymmetricPattern(4, i, j), [2, 3])
    assert solver.factor(values) == 4
    assert len(solver.doubtful) == 0


def test_rows_that_are_known_need_not_be_examined() -> None:
    M, Phi = chain(8)
    solver, values, _ = solver_of(SparseLDLT, M, Phi)
    assert isinstance(solver, SparseLDLT)
    solver.factor(values, examined=False)
    assert np.isnan(solver.gap)
    solver, values, _ = solver_of(SparseLDLT, M, Phi[:10])
    solver.factor(values, examined=False)
    assert solver.gap == np.inf
