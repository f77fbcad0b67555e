"""The smallest reactions of rows, independent or not, and their self-stresses."""

from __future__ import annotations

import numpy as np
import pytest

from biela.analysis.free_bodies import _reactions


@pytest.mark.parametrize(
    ("m", "n", "rank"), [(6, 9, 6), (9, 9, 9), (7, 9, 5), (12, 9, 9), (12, 9, 4), (0, 3, 0)]
)
def test_reactions_are_the_smallest_that_balance_a_force(m: int, n: int, rank: int) -> None:
    random = np.random.default_rng(m + 20 * rank)
    rows = random.normal(size=(m, rank)) @ random.normal(size=(rank, n))
    smallest, stresses = _reactions(rows)
    force = rows.T @ random.normal(size=m)
    lam = smallest(force)
    assert lam == pytest.approx(np.linalg.pinv(rows.T) @ force, rel=1e-9, abs=1e-9)
    assert rows.T @ lam == pytest.approx(force, rel=1e-9, abs=1e-9)
    assert stresses.shape == (m, m - rank)
    assert stresses.T @ stresses == pytest.approx(np.eye(m - rank), abs=1e-12)
    assert rows.T @ stresses == pytest.approx(np.zeros((n, m - rank)), abs=1e-9)


def test_rows_that_are_nearly_dependent_are_left_to_the_singular_values() -> None:
    rows = np.array([[1.0, 0.0, 0.0], [1.0, 1e-11, 0.0]])
    _, stresses = _reactions(rows)
    assert stresses.shape == (2, 1)
    rows[1, 1] = 1e-4
    smallest, stresses = _reactions(rows)
    assert stresses.shape == (2, 0)
    assert smallest(np.array([3.0, 1e-4, 0.0])) == pytest.approx([2.0, 1.0], rel=1e-9)
