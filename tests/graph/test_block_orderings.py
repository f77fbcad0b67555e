from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.csgraph import structural_rank

from biela.errors import ShapeError
from biela.graph import Pattern
from biela.graph.ordering import (
    BlockForm,
    BlockValues,
    block_triangular,
    compare_orderings,
    dulmage_mendelsohn,
    markowitz,
    p3,
    p4,
    p5,
    rb3,
    transversal,
)
from tests.graph.reference_orderings import p3_reference, p5_reference, rb3_reference


def patterns(seed: int, count: int, largest: int = 16) -> Iterator[tuple[np.ndarray, Pattern]]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        m, n = rng.integers(1, largest, 2)
        A = rng.random((m, n)) < rng.choice([0.1, 0.2, 0.3, 0.5])
        yield A, Pattern.of_matrix(A)


def has_rank(A: np.ndarray) -> bool:
    """Whether a square pattern can be regular (Hall's condition)."""
    return structural_rank(sparse.csr_array(A.astype(float))) == len(A)


def check(A: np.ndarray, form: BlockForm, *, regular: bool = True) -> None:
    """Permutations, block lower triangular but for the border, blocks that can be regular."""
    assert sorted(form.rows.tolist()) == list(range(len(A)))
    assert sorted(form.columns.tolist()) == list(range(A.shape[1]))
    known = set(form.border)
    for rows, columns in form.blocks:
        assert len(rows) == len(columns) > 0
        known |= set(columns)
        for i in rows:
            assert set(np.flatnonzero(A[i])) <= known
        if regular:
            assert has_rank(A[np.ix_(rows, columns)])


def test_p5_is_the_one_played_with_sets() -> None:
    for A, pattern in patterns(0, 1000):
        form = p5(pattern)
        expected = p5_reference(pattern.row_lists(), A.shape[1])
        assert (form.blocks, form.border, form.band) == expected
        check(A, form)


def test_rb3_is_the_one_played_with_sets_with_all_hints() -> None:
    rng = np.random.default_rng(1)
    for A, pattern in patterns(1, 1000):
        m, n = A.shape
        relative = rng.permutation(n)[: rng.integers(0, 3)].tolist()
        closures = rng.permutation(m)[: rng.integers(0, 3)].tolist()
        constant = rng.permutation(m)[:2].tolist()
        form = rb3(pattern, relative=relative, closures=closures, constant=constant)
        expected = rb3_reference(pattern.row_lists(), n, relative, closures, constant)
        assert (form.blocks, form.border, form.band) == expected
        check(A, form)


def test_rb3_with_look_ahead_values_and_triangular_blocks_keeps_its_form() -> None:
    rng = np.random.default_rng(2)
    borders = np.zeros(3)
    for A, pattern in patterns(2, 150):
        numbers = A * rng.integers(-1, 2, (2, *A.shape))
        values = BlockValues.of_matrices(pattern, numbers)
        forms = [
            rb3(pattern),
            rb3(pattern, look_ahead=True),
            rb3(pattern, look_ahead=True, triangular_first=True),
        ]
        for form in forms:
            check(A, form)
        borders += [len(form.border) for form in forms]
        for form in (rb3(pattern, values=values), rb3(pattern, values=values, look_ahead=True)):
            check(A, form)
            for rows, columns in form.blocks:
                blocks = numbers[:, rows][:, :, columns].astype(float)
                assert np.linalg.svd(blocks, compute_uv=False)[:, -1].min() > 1e-3
    assert borders[1] < borders[0]
    assert borders[2] <= 1.01 * borders[1]


def test_transversals_are_maximum_matchings() -> None:
    for A, pattern in patterns(3, 1500):
        row_of = transversal(pattern)
        matched = np.flatnonzero(row_of >= 0)
        assert len(matched) == structural_rank(sparse.csr_array(A.astype(float)))
        assert A[row_of[matched], matched].all()
        assert len(set(row_of[matched].tolist())) == len(matched)


def test_dulmage_mendelsohn_sets_apart_what_is_over_and_under_determined() -> None:
    for A, pattern in patterns(4, 800):
        dm = dulmage_mendelsohn(pattern)
        parts = [dm.over, *dm.blocks, dm.under]
        assert sorted(np.concatenate([r for r, _ in parts]).tolist()) == list(range(len(A)))
        assert sorted(np.concatenate([c for _, c in parts]).tolist()) == list(range(A.shape[1]))
        known: set[int] = set()
        for rows, columns in parts:
            known |= set(columns.tolist())
            assert all(set(np.flatnonzero(A[i])) <= known for i in rows)
        (r, c), (s, d) = dm.over, dm.under
        assert len(r) > len(c) or len(r) == len(c) == 0
        assert len(s) < len(d) or len(s) == len(d) == 0
        for rows, columns in dm.blocks:
            block = A[np.ix_(rows, columns)]
            assert has_rank(block)
            # irreducible: without any one entry's row and column it can still be regular
            for i, j in zip(*np.nonzero(block), strict=True):
                assert has_rank(np.delete(np.delete(block, i, 0), j, 1))


def test_the_triangular_form_of_a_square_matrix_has_the_strong_components_of_scipy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(2, 20))
        A = (rng.random((n, n)) < 0.12) | np.eye(n, dtype=bool)
        rows = rng.permutation(n)
        form = block_triangular(Pattern.of_matrix(A[rows]))
        check(A[rows], form)
        count, _ = sparse.csgraph.connected_components(
            sparse.csr_array(A.astype(float)), connection="strong"
        )
        assert len(form.blocks) == count


def test_p3_is_the_one_played_with_sets() -> None:
    for A, pattern in patterns(6, 500):
        form = p3(pattern)
        pivots, border, band = p3_reference(pattern.row_lists(), A.shape[1])
        rows = [i for block, _ in form.blocks for i in block]
        columns = [c for _, block in form.blocks for c in block]
        assert list(zip(rows, columns, strict=True)) == pivots
        assert (form.border, form.band) == (border, band)


def test_p4_is_p3_inside_each_block_of_the_triangular_form() -> None:
    larger = 0
    for A, pattern in patterns(9, 500):
        triangular, form = block_triangular(pattern), p4(pattern)
        pivots = []
        for rows, columns in triangular.blocks:
            larger += len(rows) > 1
            inner = [[columns.index(c) for c in np.flatnonzero(A[i]) if c in columns] for i in rows]
            found, _, _ = p3_reference(inner, len(columns))
            pivots += [(rows[i], columns[c]) for i, c in found]
        rows = [i for block, _ in form.blocks for i in block]
        columns = [c for _, block in form.blocks for c in block]
        assert list(zip(rows, columns, strict=True)) == pivots
        # a block of one row and column stays one, so what is reducible is kept apart
        assert len(form.blocks) == len(triangular.blocks)
    assert larger > 100


def test_pivots_of_p3_p4_and_markowitz_are_all_there_is() -> None:
    """As many as the structural rank by SciPy, and with random numbers none of them vanishes."""
    rng = np.random.default_rng(10)
    for A, pattern in patterns(6, 500):
        rank = structural_rank(sparse.csr_array(A.astype(float)))
        numbers = np.where(A, rng.choice([-1, 1], A.shape) * rng.uniform(1, 2, A.shape), 0.0)
        for form in (p3(pattern), p4(pattern), markowitz(pattern)):
            check(A, form, regular=False)
            rows = [i for block, _ in form.blocks for i in block]
            columns = [c for _, block in form.blocks for c in block]
            assert len(columns) == rank
            U = numbers[np.ix_(rows, columns)]
            for k in range(rank):
                assert abs(U[k, k]) > 1e-9
                U[k + 1 :] -= np.outer(U[k + 1 :, k] / U[k, k], U[k])


def test_pivots_by_values_factor_a_matrix_without_growth() -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        n = 25
        A = np.where(rng.random((n, n)) < 0.15, rng.standard_normal((n, n)), 0.0)
        A[np.arange(n), rng.permutation(n)] += 3.0
        pattern = Pattern.of_matrix(A)
        form = markowitz(pattern, A[pattern.entry_rows, pattern.entries])
        U = A[np.ix_(form.rows, form.columns)]
        largest = np.abs(U).max()
        for k in range(n):
            assert abs(U[k, k]) >= 0.1 * np.abs(U[k, k:]).max()
            U[k + 1 :] -= np.outer(U[k + 1 :, k] / U[k, k], U[k])
        assert np.abs(U).max() < 100 * largest


def test_markowitz_fills_less_than_the_natural_order() -> None:
    rng = np.random.default_rng(8)
    A = (rng.random((80, 80)) < 0.03) | np.eye(80, dtype=bool)
    reports = {r.name: r for r in compare_orderings(Pattern.of_matrix(A))}
    natural, best = reports["natural"].factors, reports["Markowitz"].factors
    assert natural is not None and best is not None
    assert best.fill < 0.5 * natural.fill


def test_wrong_hints_and_values_are_refused() -> None:
    pattern = Pattern.of_rows([{0, 1}, {1}], 2)
    with pytest.raises(ShapeError, match="column 2 is not one of the 2"):
        rb3(pattern, relative=[2])
    with pytest.raises(ShapeError, match="row -1 is not one of the 2"):
        rb3(pattern, closures=[-1])
    with pytest.raises(ShapeError, match="each of the 3 entries"):
        BlockValues(pattern, [1.0, 2.0])
    with pytest.raises(ShapeError, match="shape"):
        BlockValues.of_matrices(pattern, np.ones((3, 3)))
    with pytest.raises(ShapeError, match="3 entries"):
        markowitz(pattern, [1.0])
