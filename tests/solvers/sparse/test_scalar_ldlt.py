from __future__ import annotations

import ctypes

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.four_bars import (
    SaddlePoint,
    crank_acceleration,
    natural,
    reference_point,
    spatial,
)
from biela.errors import BielaError, ExportError, ShapeError
from biela.solvers import (
    DROP_TOLERANCE,
    SparseLDLT,
    SymmetricPattern,
    ldlt_factor,
    sparse_equilibrate,
    sparse_ldlt_factor,
    sparse_ldlt_refine,
    sparse_ldlt_residual,
    sparse_ldlt_solve,
)
from tests.routines_in_c import compile_c, same_bits


def rotation(seed: int) -> np.ndarray:
    Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def random_saddle_point(
    rng: np.random.Generator, n: int, m: int, repeated: int = 0
) -> tuple[SymmetricPattern, np.ndarray, np.ndarray]:
    """A sparse M > 0 and m sparse rows of Φ, and `repeated` sums of pairs of them."""
    G = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.2)
    M = G @ G.T + np.eye(n)
    Phi = np.zeros((m, n))
    for i in range(m):
        # one column of its own: the rows are independent
        Phi[i, rng.choice(n, 3)] = rng.integers(1, 5, 3)
        Phi[i, i] = 10.0
    extra = [Phi[rng.integers(m)] - 2 * Phi[rng.integers(m)] for _ in range(repeated)]
    Phi = np.vstack([Phi, *extra])
    A = np.block([[M, Phi.T], [Phi, np.zeros((len(Phi), len(Phi)))]])
    pattern = SymmetricPattern.saddle_point(M, Phi)
    return pattern, A[pattern.rows, pattern.columns], A


def solved(system: SaddlePoint, **options: float) -> tuple[SparseLDLT, np.ndarray]:
    solver = SparseLDLT(system.pattern, system.multipliers, **options)
    solver.factor(system.values)
    return solver, solver.solve(system.right)


def backward_error(A: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(b - A @ x) / (np.abs(A) @ np.abs(x) + np.abs(b) + 1e-300)))


# --- regular systems ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(3, 30), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_random_saddle_points_agree_with_a_dense_solution(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = min(m, n)
    pattern, values, A = random_saddle_point(rng, n, m)
    solver = SparseLDLT(pattern, range(n, n + m))
    assert solver.factor(values) == n + m
    b = rng.standard_normal(n + m)
    x = solver.solve(b)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-13 * np.linalg.cond(A))
    assert solver.dropped.tolist() == []


@pytest.mark.parametrize("system", [natural, reference_point])
@pytest.mark.parametrize("loops", [1, 7, 400])
def test_chain_of_four_bars_falls_as_the_closed_form_says(system, loops: int) -> None:
    angle = 0.7
    K = system(loops, angle)
    solver, x = solved(K)
    assert solver.rank == K.pattern.size
    alpha = crank_acceleration(loops, angle)
    if system is natural:
        expected = np.tile([-np.sin(angle) * alpha, np.cos(angle) * alpha], loops + 1)
        np.testing.assert_allclose(x[: K.unknowns], expected, rtol=1e-12)
    else:
        cranks = x[2 : 3 * (loops + 1) : 3]
        np.testing.assert_allclose(cranks, alpha, rtol=1e-12)


def test_long_chain_agrees_with_superlu_and_needs_no_refinement() -> None:
    K = natural(10_000, np.pi / 4)
    solver, x = solved(K)
    i, j, v = K.pattern.rows, K.pattern.columns, K.values
    off = i != j
    ij = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    A = scipy.sparse.coo_array((np.concatenate([v, v[off]]), ij)).tocsc()
    by_superlu = scipy.sparse.linalg.splu(A).solve(K.right)
    n = K.unknowns
    np.testing.assert_allclose(x[:n], by_superlu[:n], atol=1e-8)
    error = np.abs(K.right - A @ x) / (abs(A) @ np.abs(x) + np.abs(K.right))
    assert np.max(error) < 1e-14
    assert solver.fill + solver.size < 2.2 * len(v)
    assert solver.backward_error is None


def test_multipliers_follow_the_unknowns_they_act_on() -> None:
    K = reference_point(20, 0.7)
    solver = SparseLDLT(K.pattern, K.multipliers)
    place = np.argsort(solver.order)
    Phi = K.jacobian
    for k, row in enumerate(Phi):
        assert np.all(place[np.flatnonzero(row)] < place[K.unknowns + k])


def test_several_right_hand_sides() -> None:
    K = natural(5, 0.7)
    solver, _ = solved(K)
    B = np.random.default_rng(0).standard_normal((K.pattern.size, 3))
    np.testing.assert_allclose(K.dense @ solver.solve(B), B, atol=1e-12)


def test_entries_at_one_place_are_added_in_either_triangle() -> None:
    pattern = SymmetricPattern(2, np.array([0, 0, 1, 0, 0]), np.array([0, 0, 1, 1, 1]))
    solver = SparseLDLT(pattern)
    solver.factor([1.0, 3.0, 2.0, 0.5, 0.5])
    np.testing.assert_allclose(
        solver.solve([1.0, 2.0]), np.linalg.solve([[4.0, 1.0], [1.0, 2.0]], [1.0, 2.0])
    )


def test_same_pivots_as_the_dense_factorisation_in_the_same_order() -> None:
    rng = np.random.default_rng(5)
    pattern, values, A = random_saddle_point(rng, 12, 5, repeated=2)
    solver = SparseLDLT(pattern, range(12, 19))
    solver.factor(values)
    dense = A[np.ix_(solver.order, solver.order)]
    rank = ldlt_factor(19, dense, DROP_TOLERANCE)
    assert solver.rank == rank == 17
    np.testing.assert_allclose(solver._LD[:19], np.diag(dense), rtol=1e-10)


# --- redundant rows and singular positions --------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(6, 30), st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_rank_is_exact_with_rows_that_are_combinations_of_others(
    n: int, m: int, repeated: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    pattern, values, A = random_saddle_point(rng, n, m, repeated)
    solver = SparseLDLT(pattern, range(n, n + m + repeated))
    assert solver.factor(values) == n + m == np.linalg.matrix_rank(A)
    assert len(solver.dropped) == repeated
    assert all(solver.dropped >= n)
    # without the dropped rows the rest has full rank: they are redundant, and no other is
    Phi = np.delete(A[n:, :n], solver.dropped - n, axis=0)
    assert np.linalg.matrix_rank(Phi) == m
    b = A @ rng.standard_normal(len(A))
    x = solver.solve(b)
    assert backward_error(A, x, b) < 1e-12
    assert np.all(x[solver.dropped] == 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("loops", "angle"), [(1, 0.7), (5, 0.7), (40, 0.7), (40, 1e-2)])
def test_spatial_four_bars_have_three_redundant_rows_a_loop(
    loops: int, angle: float, seed: int
) -> None:
    turn = rotation(seed)
    K = spatial(loops, angle, turn)
    solver, x = solved(K)
    assert len(solver.dropped) == 3 * loops
    alpha = crank_acceleration(loops, angle)
    np.testing.assert_allclose(x[3:6], alpha * turn[:, 2], atol=1e-9 * abs(alpha))


def test_rank_of_the_longest_spatial_chain_is_exact() -> None:
    solver, _ = solved(spatial(150, 0.7, rotation(1)))
    assert len(solver.dropped) == 450


def test_the_limit_moves_into_the_gap_where_rounding_exceeds_the_tolerance() -> None:
    solver, _ = solved(spatial(40, 0.7, rotation(1)), tolerance=1e-16)
    assert len(solver.dropped) == 120


@pytest.mark.parametrize("system", [natural, reference_point])
def test_near_a_singular_position_the_solution_keeps_its_digits(system) -> None:
    for angle, allowed in ((1e-2, 1e-13), (1e-4, 1e-12), (1e-5, 1e-9)):
        K = system(40, angle)
        solver, x = solved(K)
        assert solver.rank == K.pattern.size
        alpha = crank_acceleration(40, angle)
        found = x[1] / np.cos(angle) if system is natural else x[2]
        assert abs(found / alpha - 1) < allowed
        assert solver.backward_error is not None


@pytest.mark.parametrize("system", [natural, reference_point])
def test_at_the_singular_position_one_row_a_loop_is_dropped(system) -> None:
    K = system(40, 0.0)
    solver, x = solved(K)
    assert len(solver.dropped) == 40
    assert solver.rank == np.linalg.matrix_rank(K.dense)
    assert backward_error(K.dense, x, K.right) < 1e-14


def test_refinement_lowers_the_backward_error_and_leaves_dropped_multipliers_alone() -> None:
    K = spatial(40, 1e-4, rotation(1))
    plain, _ = solved(K, sweeps=0)
    refined, x = solved(K, sweeps=2)
    assert plain.backward_error is None
    y = plain.solve(K.right)
    kept = np.setdiff1d(np.arange(K.pattern.size), refined.dropped)
    scale = np.abs(K.dense) @ np.abs(x) + np.abs(K.right)
    before, after = (np.abs(s.residual(K.right, v))[kept] for s, v in ((plain, y), (refined, x)))
    assert np.max(after / scale[kept]) < 0.1 * np.max(before / scale[kept])
    assert np.all(x[refined.dropped] == 0)


def test_inconsistent_redundant_row_shows_in_its_own_residual_only() -> None:
    M, Phi = np.diag([2.0, 3.0]), np.array([[0.6, 0.8], [1.8, 2.4]])
    pattern = SymmetricPattern.saddle_point(M, Phi)
    A = np.block([[M, Phi.T], [Phi, np.zeros((2, 2))]])
    solver = SparseLDLT(pattern, [2, 3])
    solver.factor(A[pattern.rows, pattern.columns])
    (row,) = solver.dropped
    b = np.array([0.0, 0.0, 1.0, 3.0])
    b[row] += 0.25
    x = solver.solve(b)
    residual = solver.residual(b, x)
    assert residual[row] == pytest.approx(0.25)
    assert np.abs(np.delete(residual, row)).max() < 1e-15
    assert solver.backward_error < 1e-15


def test_unknown_without_inertia_is_dropped_and_named() -> None:
    pattern = SymmetricPattern(3, np.array([0, 2, 2]), np.array([0, 0, 1]))
    solver = SparseLDLT(pattern, [2])
    solver.factor([1.0, 1.0, 1.0])
    assert 1 in solver.dropped


def test_nan_reaches_the_result() -> None:
    K = natural(3, 0.7)
    values = K.values.copy()
    solver = SparseLDLT(K.pattern, K.multipliers)
    for bad in (np.nan, np.inf):
        values[2] = bad
        solver.factor(values)
        assert np.any(np.isnan(solver.solve(K.right)))


# --- scaling --------------------------------------------------------------------------------------


def test_scaling_changes_no_digit() -> None:
    K = spatial(6, 0.7, rotation(4))
    units = 10.0 ** np.random.default_rng(0).uniform(-6, 6, K.pattern.size)
    values = K.values * units[K.pattern.rows] * units[K.pattern.columns]
    plain = SparseLDLT(K.pattern, K.multipliers)
    scaled = SparseLDLT(K.pattern, K.multipliers, scaled=True)
    assert plain.factor(values) == scaled.factor(values)
    np.testing.assert_array_equal(plain.solve(K.right), scaled.solve(K.right))
    np.testing.assert_array_equal(plain.dropped, scaled.dropped)


def test_rank_does_not_depend_on_units() -> None:
    K = spatial(6, 0.7, rotation(4))
    units = 10.0 ** np.random.default_rng(1).uniform(-8, 8, K.pattern.size)
    solver = SparseLDLT(K.pattern, K.multipliers)
    solver.factor(K.values * units[K.pattern.rows] * units[K.pattern.columns])
    assert len(solver.dropped) == 18


def test_scaling_avoids_overflow() -> None:
    pattern = SymmetricPattern(3, np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]))
    values = np.array([1e-200, 3e-200, 1e200, -1e200])
    exact = np.array([1e200, 1e200, 3e-200]) / 1e200  # x = 1, 1; λ = 3, in these units
    scaled = SparseLDLT(pattern, [2], scaled=True)
    scaled.factor(values)
    np.testing.assert_allclose(scaled.solve([4e-200, 0.0, 0.0])[:2], exact[:2], rtol=1e-14)
    plain = SparseLDLT(pattern, [2])
    plain.factor(values)
    assert not np.allclose(plain.solve([4e-200, 0.0, 0.0])[:2], exact[:2])


def test_equilibrated_matrix_has_diagonals_and_multiplier_rows_near_one() -> None:
    rng = np.random.default_rng(2)
    pattern, values, _ = random_saddle_point(rng, 15, 6)
    units = 10.0 ** rng.uniform(-5, 5, 21)
    values = values * units[pattern.rows] * units[pattern.columns]
    scale = np.zeros(21)
    sparse_equilibrate(21, len(values), pattern.rows, pattern.columns, values, scale, np.zeros(21))
    assert np.all(np.log2(scale) == np.round(np.log2(scale)))
    A = np.abs(pattern.dense(values * scale[pattern.rows] * scale[pattern.columns]))
    size = np.concatenate([np.diag(A)[:15], A[15:].max(axis=1)])
    assert np.all((size > 0.45) & (size < 2.2))


# --- routines and C -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "system", [natural(4, 0.7), reference_point(3, 1e-3), spatial(2, 0.7, rotation(1))]
)
def test_same_bits_by_numba_python_and_c(system: SaddlePoint) -> None:
    s = SparseLDLT(system.pattern, system.multipliers)
    n, fill, entries = s.size, s.fill, len(system.values)
    first, second, A = system.pattern.rows, system.pattern.columns, system.values
    LD, ratios, dropped = np.zeros(n + fill), np.zeros(n), np.zeros(n, dtype=np.int64)
    shape = s.start, s.rows, s.order
    sizes = n, fill, entries
    schedule = (*shape, s.targets, s.scatter)
    out = LD, np.zeros(n), ratios, dropped
    same_bits(sparse_ldlt_factor, *sizes, len(s.targets), *schedule, A, 1e-12, *out)
    b = system.right
    x, r, y = b.copy(), np.zeros(n), np.zeros(n)
    same_bits(sparse_ldlt_solve, n, fill, *shape, LD, x, y)
    same_bits(sparse_ldlt_residual, n, entries, first, second, A, dropped, b, x, r, y)
    tail = (first, second, A, dropped, LD, b, x, r, y)
    same_bits(sparse_ldlt_refine, *sizes, 2, *shape, *tail)
    same_bits(sparse_equilibrate, n, entries, first, second, A, r, y)


@pytest.mark.gcc
@pytest.mark.parametrize("system", [natural(6, 0.7), spatial(2, 0.7, rotation(2))])
def test_exported_c_solves_as_in_process(system: SaddlePoint) -> None:
    solver, x = solved(system)
    library = compile_c(solver.c("chain"))
    n, entries = solver.size, len(system.values)
    state = np.zeros(entries + n + solver.fill + 4 * n)  # more than the struct takes
    factor, solve = library.chain_factor, library.chain_solve
    factor.restype, solve.restype = ctypes.c_int32, ctypes.c_double
    out = np.zeros(n)
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in (state, system.values, system.right, out)]
    assert factor(pointers[0], pointers[1]) == solver.rank
    error = solve(pointers[0], pointers[2], pointers[3])
    assert error < 1e-14
    np.testing.assert_allclose(out, x, atol=1e-12 * np.abs(x).max())


def test_exported_c_needs_a_name_of_c() -> None:
    solver = SparseLDLT(natural(1, 0.7).pattern)
    with pytest.raises(ExportError, match="not a name in C"):
        solver.c("four bar")


# --- mistakes -------------------------------------------------------------------------------------


def test_mistakes_are_answered_in_words() -> None:
    with pytest.raises(ShapeError, match="both given"):
        SymmetricPattern(2, np.array([0, 1]), np.array([1, 0]))
    with pytest.raises(ShapeError, match="row 2 is outside"):
        SymmetricPattern(2, np.array([2]), np.array([0]))
    with pytest.raises(ShapeError, match="2 rows and 1 columns"):
        SymmetricPattern(2, np.array([0, 1]), np.array([0]))
    solver = SparseLDLT(natural(1, 0.7).pattern)
    with pytest.raises(BielaError, match="call factor first"):
        solver.solve(np.zeros(7))
    with pytest.raises(ShapeError, match="'values' has shape"):
        solver.factor(np.zeros(3))
    solver.factor(natural(1, 0.7).values)
    with pytest.raises(ShapeError, match="'b' has shape"):
        solver.solve(np.zeros(6))
