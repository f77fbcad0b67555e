from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from benchmarks.four_bars import (
    SaddlePoint,
    crank_acceleration,
    natural,
    reference_point,
    spatial,
)
from biela.errors import BielaError, DomainError, ShapeError, SingularityError
from biela.solvers import BlockLDLT, SparseLDLT, SymmetricPattern
from biela.solvers.sparse import block_plan

SIZES = {natural: (2, 1), reference_point: (3, 2), spatial: (6, 5)}


def rotation(seed: int) -> np.ndarray:
    Q, R = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def chain(make, loops: int, angle: float, *more: object) -> tuple[SaddlePoint, list[int]]:
    """A chain of four-bars and the sizes of its bodies, points and joints."""
    K = make(loops, angle, *more)
    body, joint = SIZES[make]
    n, m = K.unknowns, K.pattern.size - K.unknowns
    return K, [body] * (n // body) + [joint] * (m // joint)


def saddle_point(M: np.ndarray, Phi: np.ndarray) -> tuple[SymmetricPattern, np.ndarray, np.ndarray]:
    A = np.block([[M, Phi.T], [Phi, np.zeros((len(Phi), len(Phi)))]])
    pattern = SymmetricPattern.saddle_point(M, Phi)
    return pattern, A[pattern.rows, pattern.columns], A


def random_mechanism(
    rng: np.random.Generator, repeated: int = 0, massless: int = 0
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Bodies of one to six freedoms, some joined by inertia, and joints of one to three rows.

    `repeated` rows are sums of others; `massless` unknowns have no inertia and a row each.
    """
    sizes = rng.integers(1, 7, rng.integers(1, 8))
    first = np.concatenate([[0], np.cumsum(sizes)])
    n = int(first[-1])
    M = np.zeros((n + massless, n + massless))

    def columns(b: int) -> slice:
        return slice(first[b], first[b + 1])

    for b, size in enumerate(sizes):
        G = rng.standard_normal((size, size))
        M[columns(b), columns(b)] = G @ G.T + np.eye(size)
    for _ in range(len(sizes) // 2):
        g = np.zeros(len(M))
        for b in rng.choice(len(sizes), 2, replace=False):
            g[columns(b)] = rng.standard_normal(sizes[b])
        M += np.outer(g, g)
    rows, joints, free = [], [], n
    for _ in range(rng.integers(0, 6)):
        size = int(rng.integers(1, 4))
        if size > free // 3:
            break
        free -= 2 * size
        row = np.zeros((size, len(M)))
        for b in rng.choice(len(sizes), min(len(sizes), 2), replace=False):
            row[:, columns(b)] = rng.standard_normal((size, sizes[b]))
        rows.append(row)
        joints.append(size)
    Phi = np.vstack([np.zeros((0, len(M))), *rows])
    for _ in range(repeated if len(Phi) else 0):
        i, j = rng.integers(len(Phi), size=2)
        Phi = np.vstack([Phi, Phi[i] - 3 * Phi[j]])
        joints.append(1)
    for k in range(massless):
        row = np.zeros((1, len(M)))
        b = int(rng.integers(len(sizes)))
        row[0, columns(b)] = rng.standard_normal(sizes[b])
        row[0, n + k] = 1 + rng.random()
        Phi = np.vstack([Phi, row])
        joints.append(1)
    return M, Phi, [*sizes.tolist(), *[1] * massless, *joints]


def well_posed(Phi: np.ndarray) -> bool:
    values = np.linalg.svd(Phi, compute_uv=False)
    values = values[values > 1e-10 * values.max(initial=1.0)]
    return len(values) == 0 or bool(values.min() > 1e-2)


# --- regular systems ------------------------------------------------------------------------------


@pytest.mark.parametrize(("kinds", "first", "count"), [(0, 0, 600), (24, 5000, 10)])
def test_random_mechanisms_agree_with_dense_solutions(
    kinds: int, first: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = 0
    monkeypatch.setattr(block_plan, "AT_ONCE", 10**6)
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        repeated, massless = int(rng.integers(0, 3)), int(rng.integers(0, 3))
        M, Phi, blocks = random_mechanism(rng, repeated, massless)
        if not well_posed(Phi):
            continue
        pattern, values, A = saddle_point(M, Phi)
        n = len(M)
        # merging of fronts is a matter of speed: any limit must do
        monkeypatch.setattr(block_plan, "LARGEST", int(rng.integers(1, 30)))
        solver = BlockLDLT(
            pattern,
            range(n, len(A)),
            blocks=blocks if rng.random() < 0.5 else None,
            kinds=kinds,
        )
        b = A @ rng.standard_normal(len(A))
        x = solver.factor_solve(values, b)
        rank = np.linalg.matrix_rank(A, tol=1e-9)
        assert solver.rank == rank, seed
        assert len(solver.dropped) == len(A) - rank
        assert len(solver.pairs) == massless
        expected = np.linalg.lstsq(A, b, rcond=1e-11)[0]
        kept = np.setdiff1d(np.arange(len(A)), solver.dropped)
        condition = np.linalg.cond(A[np.ix_(kept, kept)])
        size = np.abs(expected).max()
        assert np.abs(x[:n] - expected[:n]).max() < 1e-14 * condition * size, seed
        assert np.abs(A @ x - b).max() < 1e-13 * np.abs(A).max() * np.abs(x).max()
        assert np.all(x[solver.dropped] == 0.0)
        np.testing.assert_allclose(solver.solve(b), x, atol=1e-14 * condition * size)
        assert solver.backward_error < 1e-13
        solved += 1
    assert solved > 0.8 * count


@pytest.mark.parametrize("make", [natural, reference_point])
@pytest.mark.parametrize("loops", [1, 7, 400])
def test_chain_of_four_bars_falls_as_the_closed_form_says(make, loops: int) -> None:
    K, blocks = chain(make, loops, 0.7)
    alpha = crank_acceleration(loops, 0.7)
    for sizes in (blocks, None):
        solver = BlockLDLT(K.pattern, K.multipliers, blocks=sizes)
        x = solver.factor_solve(K.values, K.right)
        assert solver.rank == K.pattern.size
        found = x[1 : K.unknowns : 2] / np.cos(0.7) if make is natural else x[2 : 3 * loops + 3 : 3]
        np.testing.assert_allclose(found, alpha, rtol=1e-12)


@pytest.mark.parametrize("make", [natural, reference_point])
def test_a_long_chain_agrees_with_superlu_and_its_kinds_are_few(make) -> None:
    K, blocks = chain(make, 3000, np.pi / 4)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks)
    fronts, native = solver.analysis.fronts
    assert native > fronts - 10
    assert solver.analysis.kinds <= 6
    i, j, v = K.pattern.rows, K.pattern.columns, K.values
    off = i != j
    ij = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    A = scipy.sparse.coo_array((np.concatenate([v, v[off]]), ij)).tocsc()
    for b in (K.right, np.ones(K.pattern.size)):
        x = solver.factor_solve(K.values, b)
        by_superlu = scipy.sparse.linalg.splu(A).solve(b)
        n = K.unknowns
        size = np.abs(by_superlu[:n]).max()
        np.testing.assert_allclose(x[:n], by_superlu[:n], atol=1e-7 * size)
        error = np.abs(b - A @ x).max() / (np.abs(v).max() * np.abs(x).max() + np.abs(b).max())
        assert error < 2e-15
        assert solver.backward_error == pytest.approx(error, rel=0.5)


def test_native_code_and_loops_give_the_same_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_plan, "AT_ONCE", 10**6)
    K, blocks = chain(spatial, 4, 0.7, rotation(1))
    b = np.random.default_rng(0).standard_normal(K.pattern.size)
    native, loops = (
        BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=kinds, sweeps=-1)
        for kinds in (24, 0)
    )
    assert native.analysis.fronts[1] == native.analysis.fronts[0]
    assert loops.analysis.fronts[1] == 0
    x, y = native.factor_solve(K.values, b), loops.factor_solve(K.values, b)
    assert native.backward_error is None
    np.testing.assert_array_equal(native.dropped, loops.dropped)
    np.testing.assert_allclose(x, y, atol=1e-9 * np.abs(y).max())


def test_multipliers_follow_the_unknowns_they_act_on() -> None:
    K, blocks = chain(reference_point, 20, 0.7)
    place = np.argsort(BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=0).order)
    for k, row in enumerate(K.jacobian):
        assert np.all(place[np.flatnonzero(row)] < place[K.unknowns + k])


def test_several_right_hand_sides() -> None:
    K, _ = chain(natural, 5, 0.7)
    solver = BlockLDLT(K.pattern, K.multipliers, kinds=0)
    solver.factor(K.values)
    B = np.random.default_rng(0).standard_normal((K.pattern.size, 3))
    np.testing.assert_allclose(K.dense @ solver.solve(B), B, atol=1e-12)


def test_entries_at_one_place_are_added_in_either_triangle() -> None:
    pattern = SymmetricPattern(2, np.array([0, 0, 1, 0, 0]), np.array([0, 0, 1, 1, 1]))
    for kinds in (0, 24):
        solver = BlockLDLT(pattern, kinds=kinds)
        x = solver.factor_solve([1.0, 3.0, 2.0, 0.5, 0.5], [1.0, 2.0])
        np.testing.assert_allclose(x, np.linalg.solve([[4.0, 1.0], [1.0, 2.0]], [1.0, 2.0]))


def test_a_dense_matrix_is_one_large_front() -> None:
    rng = np.random.default_rng(1)
    G = rng.standard_normal((90, 90))
    M = G @ G.T + np.eye(90)
    i, j = np.tril_indices(90)
    solver = BlockLDLT(SymmetricPattern(90, i, j))
    b = rng.standard_normal(90)
    np.testing.assert_allclose(solver.factor_solve(M[i, j], b), np.linalg.solve(M, b), rtol=1e-9)
    assert solver.analysis.fronts == (1, 0)


def test_a_compiled_driver_calls_the_routines() -> None:
    from numba import njit

    from biela.solvers.sparse.block_routines import (
        block_ldlt_back,
        block_ldlt_factor,
        block_ldlt_solve,
    )

    @njit
    def driver(plan, addresses, A, b, tolerance, W, x, y):
        # two right-hand sides, b on the way and y afterwards
        small = block_ldlt_factor(plan, addresses, A, b, tolerance, W, x)
        block_ldlt_back(plan, addresses, W, x)
        block_ldlt_solve(plan, addresses, W, y)
        return small

    K, blocks = chain(reference_point, 3, 0.7)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks)
    x, y = np.zeros(K.pattern.size), np.ones(K.pattern.size)
    code = solver.plan, solver.addresses
    assert driver(*code, K.values, K.right, 1e-12, solver.work, x, y) == 0
    np.testing.assert_allclose(x, np.linalg.solve(K.dense, K.right), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(K.dense @ y, np.ones(K.pattern.size), atol=1e-11)


# --- redundant rows and singular positions --------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("loops", "angle"), [(1, 0.7), (5, 0.7), (40, 0.7), (40, 1e-2)])
def test_spatial_four_bars_have_three_redundant_rows_a_loop(
    loops: int, angle: float, seed: int
) -> None:
    turn = rotation(seed)
    K, blocks = chain(spatial, loops, angle, turn)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks)
    x = solver.factor_solve(K.values, K.right)
    assert K.pattern.size - K.unknowns == 15 * loops + 5
    assert len(solver.dropped) == 3 * loops
    assert all(solver.dropped >= K.unknowns)
    alpha = crank_acceleration(loops, angle)
    np.testing.assert_allclose(x[3:6], alpha * turn[:, 2], atol=1e-9 * abs(alpha))
    # the rows that are left are independent: none was dropped in vain
    rows = np.setdiff1d(np.arange(K.unknowns, K.pattern.size), solver.dropped)
    if loops == 5:
        Phi = K.dense[rows][:, : K.unknowns]
        assert np.linalg.matrix_rank(Phi) == len(rows) == np.linalg.matrix_rank(K.jacobian)


def test_the_limit_moves_into_the_gap_where_rounding_exceeds_the_tolerance() -> None:
    K, _ = chain(spatial, 40, 0.7, rotation(1))
    solver = BlockLDLT(K.pattern, K.multipliers, tolerance=1e-16, kinds=0)
    solver.factor(K.values)
    assert len(solver.dropped) == 120
    assert solver.threshold > solver.tolerance


def bricard() -> tuple[np.ndarray, np.ndarray]:
    """M and Φ of six bars on a loop of unit edges of a cube, each revolute five rows.

    Twist coordinates (v, ω) of five moving bars at their centres; the axis of a joint is the common
    normal of the bars it joins.
    """
    points = np.array(
        [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float
    )
    edges = np.roll(points, -1, axis=0) - points
    centres = points + edges / 2
    rows = []
    for k in range(6):
        joint, before, after = points[k], k - 1, k
        axis = np.cross(edges[before], edges[after])
        across = [edges[before], edges[after]]
        block = np.zeros((5, 36))
        for body, sign in ((before % 6, 1.0), (after, -1.0)):
            r = joint - centres[body]
            block[:3, 6 * body : 6 * body + 3] = sign * np.eye(3)
            skew = np.array([[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]])
            block[:3, 6 * body + 3 : 6 * body + 6] = sign * skew
            block[3:, 6 * body + 3 : 6 * body + 6] = sign * np.array(across)
        assert np.abs(np.array(across) @ axis).max() == 0.0
        rows.append(block)
    Phi = np.vstack(rows)[:, :30]  # the last bar is the ground
    return np.kron(np.eye(5), np.diag([1, 1, 1, 1 / 12, 1 / 12, 1 / 12])), Phi


def test_the_bricard_mechanism_moves_though_one_row_is_redundant() -> None:
    M, Phi = bricard()
    pattern, values, A = saddle_point(M, Phi)
    solver = BlockLDLT(pattern, range(30, 60), blocks=[6] * 5 + [5] * 6)
    assert solver.factor(values) == 59
    assert len(solver.dropped) == 1
    b = np.concatenate([np.tile([0, -9.81, 0, 0, 0, 0], 5), np.zeros(30)])
    x = solver.solve(b)
    assert np.abs(Phi @ x[:30]).max() < 1e-14
    assert np.abs(x[:30]).max() > 0.1
    assert np.abs(A @ x - b).max() < 1e-13


@pytest.mark.parametrize("make", [natural, reference_point])
def test_near_a_singular_position_the_solution_keeps_its_digits(make) -> None:
    for angle, allowed in ((1e-2, 1e-13), (1e-4, 1e-12), (1e-5, 1e-9)):
        K, blocks = chain(make, 40, angle)
        solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=0)
        x = solver.factor_solve(K.values, K.right)
        assert solver.rank == K.pattern.size
        found = x[1] / np.cos(angle) if make is natural else x[2]
        assert abs(found / crank_acceleration(40, angle) - 1) < allowed


@pytest.mark.parametrize("make", [natural, reference_point])
def test_at_the_singular_position_one_row_a_loop_is_dropped(make) -> None:
    K, blocks = chain(make, 40, 0.0)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks)
    x = solver.factor_solve(K.values, K.right)
    assert len(solver.dropped) == 40
    assert solver.rank == np.linalg.matrix_rank(K.dense)
    assert np.abs(K.dense @ x - K.right).max() < 1e-13


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-3])
def test_rows_that_contradict_each_other_do_not_make_multipliers_grow(noise: float) -> None:
    K, blocks = chain(spatial, 10, 0.7, rotation(2))
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=0)
    exact = solver.factor_solve(K.values, K.right)
    n = K.unknowns
    b = K.right.copy()
    b[n:] += noise * np.random.default_rng(0).standard_normal(len(b) - n)
    x = solver.factor_solve(K.values, b)
    assert len(solver.dropped) == 30
    assert np.abs(x - exact).max() < 1e4 * noise
    # what is left over is there to see, in the dropped rows and nowhere else
    residual = solver.residual(b, x)
    kept = np.setdiff1d(np.arange(len(b)), solver.dropped)
    assert np.abs(residual[kept]).max() < 1e-11
    assert np.abs(residual[solver.dropped]).max() > 0.1 * noise
    assert solver.backward_error < 1e-13


def test_a_joint_given_twice_is_dropped_once() -> None:
    rng = np.random.default_rng(3)
    M, Phi = np.diag([2.0, 2.0, 0.5, 1.0, 1.0, 0.3]), rng.standard_normal((2, 6))
    pattern, values, A = saddle_point(M, np.vstack([Phi, Phi]))
    solver = BlockLDLT(pattern, range(6, 10), blocks=[3, 3, 2, 2])
    b = np.concatenate([rng.standard_normal(6), [0.1, 0.2, 0.1, 0.2]])
    x = solver.factor_solve(values, b)
    assert solver.rank == 8
    once = np.linalg.solve(A[:8, :8], b[:8])
    np.testing.assert_allclose(x[:6], once[:6], atol=1e-13)
    np.testing.assert_allclose(x[6:8] + x[8:], once[6:], atol=1e-13)


def test_rank_does_not_depend_on_units() -> None:
    K, blocks = chain(spatial, 6, 0.7, rotation(4))
    units = 10.0 ** np.random.default_rng(1).uniform(-8, 8, K.pattern.size)
    values = K.values * units[K.pattern.rows] * units[K.pattern.columns]
    for scaled in (False, True):
        solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks, scaled=scaled, kinds=0)
        solver.factor(values)
        assert len(solver.dropped) == 18


def test_scaling_avoids_overflow() -> None:
    pattern = SymmetricPattern(3, np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]))
    solver = BlockLDLT(pattern, [2], scaled=True, kinds=0)
    solver.factor([1e-200, 3e-200, 1e200, -1e200])
    np.testing.assert_allclose(solver.solve([4e-200, 0.0, 0.0])[:2], [1.0, 1.0], rtol=1e-14)


# --- unknowns without inertia ---------------------------------------------------------------------


def test_an_unknown_without_inertia_is_eliminated_with_its_constraint() -> None:
    # a mass, a massless slider s = 2 x, and a load on the slider
    M, Phi = np.diag([3.0, 0.0]), np.array([[2.0, -1.0]])
    pattern, values, A = saddle_point(M, Phi)
    for kinds in (0, 24):
        solver = BlockLDLT(pattern, [2], kinds=kinds)
        assert solver.pairs.tolist() == [[1, 2]]
        x = solver.factor_solve(values, [0.0, 1.5, 0.0])
        np.testing.assert_allclose(x, np.linalg.solve(A, [0.0, 1.5, 0.0]), atol=1e-15)


def test_pairs_are_found_where_unknowns_compete_for_constraints() -> None:
    # columns 1, 2, 3 are massless; only one assignment of the rows serves them all
    M = np.diag([1.0, 0.0, 0.0, 0.0])
    Phi = np.array([[1.0, 2.0, 1.0, 1.0], [0.5, 3.0, 0.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    pattern, values, A = saddle_point(M, Phi)
    solver = BlockLDLT(pattern, [4, 5, 6], kinds=0)
    assert solver.pairs.tolist() == [[1, 5], [2, 4], [3, 6]]
    b = np.arange(1.0, 8.0)
    np.testing.assert_allclose(solver.factor_solve(values, b), np.linalg.solve(A, b), rtol=1e-12)


def test_values_tell_which_diagonals_are_zero_and_which_constraint_weighs_most() -> None:
    M = np.diag([1.0, 2.0, 7.0])
    Phi = np.array([[1.0, 1.0, 1e-9], [0.0, 1.0, 1.0]])
    pattern, values, A = saddle_point(M, Phi)
    values = np.where((pattern.rows == 2) & (pattern.columns == 2), 0.0, values)
    A[2, 2] = 0.0
    solver = BlockLDLT(pattern, [3, 4], values=values, kinds=0)
    assert solver.pairs.tolist() == [[2, 4]]
    b = np.arange(1.0, 6.0)
    np.testing.assert_allclose(solver.factor_solve(values, b), np.linalg.solve(A, b), rtol=1e-12)


def test_a_pair_that_vanishes_is_dropped_and_named() -> None:
    # the constraint no longer acts on the massless unknown, and nothing else does
    pattern, _, _ = saddle_point(np.diag([3.0, 0.0]), np.array([[2.0, -1.0]]))
    for kinds in (0, 24):
        solver = BlockLDLT(pattern, [2], kinds=kinds)
        values = np.where((pattern.rows == 2) & (pattern.columns == 1), 0.0, [3.0, 2.0, -1.0])
        assert solver.factor(values) == 2
        assert solver.dropped.tolist() == [1]
        np.testing.assert_allclose(solver.solve([1.0, 0.0, 0.0]), [0.0, 0.0, 0.5], atol=1e-15)


def test_an_unknown_that_nothing_determines_is_dropped_and_named() -> None:
    pattern = SymmetricPattern(3, np.array([0, 2]), np.array([0, 0]))
    solver = BlockLDLT(pattern, [2], kinds=0)
    solver.factor([1.0, 1.0])
    assert solver.dropped.tolist() == [1]


def test_a_semidefinite_mass_matrix_is_found_short_of_rank() -> None:
    g = np.array([1.0, 2.0, -1.0])
    i, j = np.tril_indices(3)
    solver = BlockLDLT(SymmetricPattern(3, i, j), kinds=0)
    assert solver.factor(np.outer(g, g)[i, j]) == 1
    # what it can be pushed with has a solution, and nothing else has
    x = solver.solve(3.0 * g)
    np.testing.assert_allclose(np.outer(g, g) @ x, 3.0 * g, rtol=1e-14)
    with pytest.raises(SingularityError, match="no pivot is left in rows"):
        solver.solve([1.0, 0.0, 0.0])


# --- pivots that vanish in a regular matrix -------------------------------------------------------

REVOLUTE = np.array([[1.0, 0, 0.3, -1, 0, 0.2], [0, 1, 0.1, 0, -1, 0.4]])


@pytest.mark.parametrize("make", [BlockLDLT, SparseLDLT])
@pytest.mark.parametrize("massless", [[0], [2], [0, 1]])
def test_an_inertia_that_vanishes_after_the_analysis_is_no_wrong_solution(
    make, massless: list[int]
) -> None:
    pattern, _, K = saddle_point(np.diag([2.0, 2.0, 0.1, 1.0, 1.0, 0.05]), REVOLUTE)
    K[massless, massless] = 0.0
    values, expected = K[pattern.rows, pattern.columns], np.arange(1.0, 9.0)
    assert np.linalg.matrix_rank(K) == 8
    rows = ", ".join(map(str, massless))
    for sweeps in (3, 0):
        solver = make(pattern, [6, 7], sweeps=sweeps)
        solver.factor(values)
        assert solver.dropped.tolist() == massless
        with pytest.raises(SingularityError, match=f"no pivot is left in rows? {rows}, not red"):
            solver.solve(K @ expected)
    # the cure that the error names
    solver = BlockLDLT(pattern, [6, 7], values=values, kinds=0)
    np.testing.assert_allclose(solver.factor_solve(values, K @ expected), expected, rtol=1e-12)


def test_a_vanished_pivot_is_seen_without_refinement_and_in_any_units() -> None:
    pattern, _, K = saddle_point(np.diag([2.0, 2.0, 0.1, 1.0, 1.0, 0.05]), REVOLUTE)
    K[0, 0] = 0.0
    units = 10.0 ** np.random.default_rng(2).uniform(-5, 5, 8)
    units[0] = 1e-5  # its row is small beside the others
    for scale in (np.ones(8), units):
        A = K * np.outer(scale, scale)
        for options in ({"sweeps": -1}, {"scaled": True}, {}):
            solver = BlockLDLT(pattern, [6, 7], kinds=0, **options)
            with pytest.raises(SingularityError, match="row 0, not red"):
                solver.factor_solve(A[pattern.rows, pattern.columns], A @ (1 / scale))


@pytest.mark.parametrize("make", [BlockLDLT, SparseLDLT])
def test_regular_matrices_without_a_pivot_on_the_diagonal_are_refused(make) -> None:
    swap = make(SymmetricPattern(2, np.array([1]), np.array([0])))
    swap.factor([1.0])
    with pytest.raises(SingularityError, match="rows 0, 1"):
        swap.solve([2.0, 3.0])
    # the first pivot cancels the second
    i, j = np.array([0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2])
    solver = make(SymmetricPattern(3, i, j))
    solver.factor(np.ones(5))
    with pytest.raises(SingularityError, match=r"`late`"):
        solver.solve([3.0, 6.0, 5.0])


@pytest.mark.parametrize("make", [BlockLDLT, SparseLDLT])
def test_a_late_row_beside_a_vanished_pivot_is_not_taken_for_redundant(make) -> None:
    # x = 3 by a constraint, but x has lost its inertia: both pivots are zero
    solver = make(SymmetricPattern(2, np.array([0, 1]), np.array([0, 0])), [1])
    solver.factor([0.0, 1.0])
    with pytest.raises(SingularityError, match="contradicts row 1"):
        solver.solve([0.0, 3.0])
    assert solver.solve([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert solver.backward_error == 0.0


@pytest.mark.parametrize("make", [BlockLDLT, SparseLDLT])
def test_late_pivots_that_cancel_are_told_from_redundant_rows(make) -> None:
    # M is indefinite, and Φ M⁻¹ Φᵀ = [[0, 2], [2, 0]]
    M, Phi = np.diag([1.0, -1.0]), np.array([[1.0, 1.0], [1.0, -1.0]])
    pattern, values, K = saddle_point(M, Phi)
    assert np.linalg.matrix_rank(K) == 4
    solver = make(pattern, [2, 3])
    solver.factor(values)
    with pytest.raises(SingularityError, match="rows 2, 3, not redundant"):
        solver.solve(K @ [1.0, 2.0, 3.0, 4.0])
    # one row given twice is redundant with this M too, whatever is asked of it
    pattern, values, _ = saddle_point(np.diag([1.0, -2.0]), Phi[[0, 0]])
    solver = make(pattern, [2, 3])
    assert solver.factor(values) == 3
    assert solver.solve([0.0, 0.0, 1.0, 2.0]).shape == (4,)


def test_digits_that_small_pivots_lose_are_found_again_or_the_solution_is_refused() -> None:
    # without exchanges 1e-20 as first pivot swamps the rest
    i, j = np.array([0, 1, 1]), np.array([0, 0, 1])
    pattern, values, b = SymmetricPattern(2, i, j), [1e-20, 1.0, 1.0], [1.0, 3.0]
    for make in (BlockLDLT, SparseLDLT):
        solver = make(pattern)
        solver.factor(values)
        np.testing.assert_allclose(solver.solve(b), [2.0, 1.0], rtol=1e-14)
        solver = make(pattern, sweeps=0)
        solver.factor(values)
        with pytest.raises(SingularityError, match="backward error is"):
            solver.solve(b)


# --- what is not a number, and mistakes -----------------------------------------------------------


@pytest.mark.parametrize("kinds", [0, 24])
def test_nan_reaches_the_result_of_a_native_driver_and_does_not_stay(kinds: int) -> None:
    from biela.solvers.sparse.block_routines import block_ldlt_factor_solve

    K, blocks = chain(natural, 3, 0.7)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=kinds)
    good = solver.factor_solve(K.values, K.right)
    values = K.values.copy()
    values[2] = np.nan
    n = solver.size
    x, report = np.zeros(n), np.zeros(3)
    block_ldlt_factor_solve(
        *(solver.plan, solver.addresses, values, K.right, 1e-12, 3, solver.work),
        *(x, np.zeros(2 * n), np.zeros(n, dtype=np.int64), report),
    )
    assert np.any(np.isnan(x))
    assert np.isnan(report[1])
    np.testing.assert_array_equal(solver.factor_solve(K.values, K.right), good)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_and_the_last_factors_stay(bad: float) -> None:
    K, blocks = chain(natural, 3, 0.7)
    solver = BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=0)
    good = solver.factor_solve(K.values, K.right)
    values = K.values.copy()
    values[2] = bad
    place = rf"entry 2, at \({K.pattern.rows[2]}, {K.pattern.columns[2]}\), is {bad}"
    with pytest.raises(DomainError, match=place):
        solver.factor(values)
    with pytest.raises(DomainError, match=place):
        solver.factor_solve(values, K.right)
    with pytest.raises(DomainError, match=place):
        BlockLDLT(K.pattern, K.multipliers, values=values)
    np.testing.assert_allclose(solver.solve(K.right), good, rtol=1e-13, atol=1e-13)


def test_the_same_ranks_as_the_elimination_by_entries() -> None:
    for angle in (0.7, 1e-2, 0.0):
        K, blocks = chain(spatial, 12, angle, rotation(5))
        one, other = (
            SparseLDLT(K.pattern, K.multipliers),
            BlockLDLT(K.pattern, K.multipliers, blocks=blocks, kinds=0),
        )
        assert one.factor(K.values) == other.factor(K.values)


def test_mistakes_are_answered_in_words() -> None:
    K, _ = chain(natural, 1, 0.7)
    with pytest.raises(ShapeError, match="7 in all; these have 6"):
        BlockLDLT(K.pattern, K.multipliers, blocks=[2, 2, 2])
    with pytest.raises(ShapeError, match="late rows and others"):
        BlockLDLT(K.pattern, K.multipliers, blocks=[2, 3, 2])
    with pytest.raises(ShapeError, match="late row is not one of the 7"):
        BlockLDLT(K.pattern, [7])
    solver = BlockLDLT(K.pattern, K.multipliers, kinds=0)
    with pytest.raises(BielaError, match="call factor first"):
        solver.solve(np.zeros(7))
    with pytest.raises(ShapeError, match="'values' has shape"):
        solver.factor(np.zeros(3))
    solver.factor(K.values)
    with pytest.raises(ShapeError, match="'b' has shape"):
        solver.solve(np.zeros(6))
