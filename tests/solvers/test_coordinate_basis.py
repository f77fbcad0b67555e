"""Bases of the motions that constraint rows allow."""

from __future__ import annotations

import numpy as np
import pytest

from biela.errors import ShapeError
from biela.solvers.coordinate_basis import PARTITIONS, choose_basis


def redundant_rows(seed: int, rank: int = 4, n: int = 9) -> np.ndarray:
    """Rows of very different length, two more than the rank."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(rank, n)) * 10.0 ** random.uniform(-3, 3, (rank, 1))
    mixed = random.normal(size=(2, rank)) @ rows
    return random.permutation(np.vstack([rows, mixed]))


@pytest.mark.parametrize("method", PARTITIONS)
@pytest.mark.parametrize("seed", range(5))
def test_independent_velocities_and_the_rows_kept_fix_all_others(method, seed):
    J = redundant_rows(seed)
    basis = choose_basis(J, method)
    assert (basis.rank, basis.freedoms) == (4, 5)
    np.testing.assert_allclose(basis.T.T @ basis.T, np.eye(9), atol=1e-14)
    # v = T (w, ż) is unique, and the rows left out are fulfilled with the others
    free = np.random.default_rng(seed + 100).normal(size=5)
    kept = J[list(basis.rows)]
    v = np.linalg.solve(np.vstack([kept, basis.B]), np.concatenate([np.zeros(4), free]))
    np.testing.assert_allclose(basis.B @ v, free, rtol=1e-9)
    assert np.abs(J @ v).max() < 1e-9 * np.abs(J).max() * np.abs(v).max()


@pytest.mark.parametrize("seed", range(5))
def test_no_choice_of_columns_is_steadier_than_the_null_space_itself(seed):
    """The singular vectors are the best basis there is; pivoting comes within a small factor."""
    J = redundant_rows(seed)
    best = choose_basis(J, "svd").steadiness(J)
    for method in ("pivoting", "qr"):
        assert 0.1 * best < choose_basis(J, method).steadiness(J) <= best * (1 + 1e-12)


def test_column_pivoting_takes_the_columns_of_the_reference_implementation():
    """Of unit rows, by the norms that the classical Gram-Schmidt process leaves."""
    J = np.random.default_rng(3).normal(size=(4, 7))
    left = J / np.linalg.norm(J, axis=1, keepdims=True)
    expected = []
    for _ in range(4):
        j = int(np.argmax((left**2).sum(axis=0)))
        expected.append(j)
        Q, _ = np.linalg.qr(left[:, [j]])
        left = left - Q @ (Q.T @ left)
    assert choose_basis(J, "qr").dependent == tuple(expected)


@pytest.mark.parametrize("method", ["pivoting", "qr"])
def test_preferred_columns_stay_independent_where_they_can(method):
    J = np.array([[100.0, 1.0, 0.5], [0.0, 0.0, 0.0]])
    assert choose_basis(J, method).independent == (1, 2)
    assert choose_basis(J, method, prefer_independent=[0, 1]).independent == (0, 1)
    # column 2 gives nothing here: the preferred one has to go
    dead = np.array([[100.0, 0.0, 0.0]])
    assert choose_basis(dead, method, prefer_independent=[0]).independent == (1, 2)


@pytest.mark.parametrize("method", PARTITIONS)
def test_a_known_rank_holds_against_rounding(method):
    J = redundant_rows(1)
    J[3] += 1e-6 * np.abs(J[3]).max() * np.random.default_rng(7).normal(size=9)
    assert choose_basis(J, method).rank == 5
    assert choose_basis(J, method, rank=4).rank == 4


def test_the_condition_grows_towards_a_dead_point():
    """One row (x, y), with y the dependent one: |J| / |y|."""
    basis = choose_basis([[0.1, 1.0]])
    assert basis.dependent == (1,)
    for angle in (0.3, 1.0, 1.5):
        row = 7.0 * np.array([[np.sin(angle), np.cos(angle)]])
        assert basis.condition(row) == pytest.approx(1 / np.cos(angle))


def test_unknown_ways_are_refused():
    with pytest.raises(ShapeError, match="pivoting, qr, svd"):
        choose_basis([[1.0, 2.0]], "lu")
