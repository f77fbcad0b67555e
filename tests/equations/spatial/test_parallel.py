"""Recursions in log₂ n rounds against the same block by block."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biela.equations import spatial
from biela.equations.spatial import Operators
from biela.equations.spatial.parallel import block_tridiagonal, cyclic_reduction, scan
from biela.errors import ShapeError
from tests.equations.spatial.trees import chain_state, spatial_chain


def blocks(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A random positive definite block tridiagonal matrix, whole and by blocks."""
    random = np.random.default_rng(seed)
    half = np.zeros((5 * n, 5 * n))
    for i in range(n):
        half[5 * i : 5 * i + 5, 5 * max(0, i - 1) : 5 * i + 5] = random.normal(
            size=(5, 5 * (1 + (i > 0)))
        )
        half[5 * i : 5 * i + 5, 5 * i : 5 * i + 5] += 4 * np.eye(5)
    whole = half @ half.T
    cut = whole.reshape(n, 5, n, 5)
    diagonal = np.array([cut[i, :, i] for i in range(n)])
    lower = np.array([cut[i, :, i - 1] if i else np.zeros((5, 5)) for i in range(n)])
    return whole, diagonal, lower, random.normal(size=(n, 5))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 100])
def test_odd_even_reduction_solves_in_as_many_rounds_as_n_has_halves(n: int) -> None:
    whole, diagonal, lower, right = blocks(n, n)
    expected = np.linalg.solve(whole, right.ravel()).reshape(n, 5)
    found, rounds = cyclic_reduction(diagonal, lower, right)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    assert rounds == int(math.log2(n))
    np.testing.assert_allclose(block_tridiagonal(diagonal, lower, right), expected, atol=1e-11)


def test_the_motion_and_forces_of_a_chain_are_three_scans() -> None:
    n = 37
    q, v, a = chain_state(n)
    o = Operators(spatial_chain(n)).at(q, v)
    back = o.Phi.transpose(0, 2, 1)
    H = np.stack([o.H_blocks[k][:, k] for k in range(n)])
    V, rounds = scan(back, H * v[:, None])
    assert rounds == math.ceil(math.log2(n))
    np.testing.assert_allclose(V, o.V_blocks, atol=1e-11)
    upwards = np.concatenate([np.zeros(3), -o.gravity])
    h = H * a[:, None] + o.b
    h[0] += back[0] @ upwards
    acc, _ = scan(back, h)
    own = np.einsum("kij,kj->ki", o.I_blocks, acc) + o.gyr
    # from the tip: link i is reached from i + 1 by Φ of that
    carried = np.concatenate([o.Phi[1:], np.zeros((1, 6, 6))])[::-1]
    F, _ = scan(carried, own[::-1])
    tau = np.sum(H * F[::-1], axis=1)
    expected = spatial.inverse_dynamics(spatial_chain(n)).interpret(q, v, a)
    np.testing.assert_allclose(tau, expected, atol=1e-11 * np.abs(expected).max())


def test_the_constraint_forces_of_a_chain_follow_by_odd_even_reduction() -> None:
    n = 37
    q, v, a = chain_state(n)
    o = Operators(spatial_chain(n)).at(q, v)
    A, B, C = o.schur
    cut = A.reshape(n, 5, n, 5)
    diagonal = np.array([cut[i, :, i] for i in range(n)])
    lower = np.array([cut[i, :, i - 1] if i else np.zeros((5, 5)) for i in range(n)])
    forces = o.M @ a
    F_S, _ = cyclic_reduction(diagonal, lower, -(B @ forces).reshape(n, 5))
    np.testing.assert_allclose(C @ forces + B.T @ F_S.ravel(), a, atol=1e-9)


def test_blocks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="do not fit together"):
        cyclic_reduction(np.zeros((3, 5, 5)), np.zeros((2, 5, 5)), np.zeros((3, 5)))
